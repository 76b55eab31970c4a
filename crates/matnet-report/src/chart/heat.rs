//! A matrix as coloured cells.
//!
//! A cell is one colour, more or less of it, so that the paper of both themes shines through.

use crate::Svg;
use crate::colour::Role;
use crate::number::short;
use crate::svg::{Drawing, Letters};
use crate::text;

pub(super) const MARGIN: f64 = 14.0;
pub(super) const TITLE: f64 = 15.0;
pub(super) const NAME: f64 = 11.5;
/// Names are cut at this width, those of rows, which lie along them and may be sentences, at that.
const MOST_NAME: f64 = 150.0;
const MOST_ROW_NAME: f64 = 300.0;

/// Numbers that would be smaller than this are left to the hints.
const SMALLEST: f64 = 5.5;
/// Width of the bar of colours, and its steps.
const BAR: f64 = 121.0;
const STEPS: u32 = 10;

/// A cell of the drawing.
pub(super) struct Cell {
    /// Between −1 and 1.
    pub shade: f64,
    /// What is written in it.
    pub text: String,
    /// What is said when the pointer rests on it.
    pub hint: String,
}

/// Everything the drawing shows.
pub(super) struct Cells<'a> {
    pub title: &'a str,
    pub rows: &'a [String],
    pub cols: &'a [String],
    pub axes: (&'a str, &'a str),
    /// What the least and the most colour mean, and what the colour stands for.
    pub ends: (String, String, &'a str),
    pub signed: bool,
    pub cells: Vec<Vec<Cell>>,
}

/// A matrix of numbers as colours, with its numbers where they fit.
///
/// Positive and negative numbers have different colours, zero has none.
#[derive(Clone, Debug)]
pub struct HeatMap {
    title: String,
    axes: (String, String),
    rows: Vec<String>,
    cols: Vec<String>,
    values: Vec<Vec<f64>>,
    numbers: bool,
}

impl HeatMap {
    /// A row of values for each name of a row.
    pub fn new(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = impl Into<String>>,
        cols: impl IntoIterator<Item = impl Into<String>>,
        values: impl IntoIterator<Item = Vec<f64>>,
    ) -> Self {
        Self {
            title: title.into(),
            axes: Default::default(),
            rows: rows.into_iter().map(Into::into).collect(),
            cols: cols.into_iter().map(Into::into).collect(),
            values: values.into_iter().collect(),
            numbers: true,
        }
    }

    /// Colours alone; the hints still tell the numbers.
    pub fn without_numbers(mut self) -> Self {
        self.numbers = false;
        self
    }

    /// What columns and rows are.
    pub fn with_axes(mut self, cols: impl Into<String>, rows: impl Into<String>) -> Self {
        self.axes = (cols.into(), rows.into());
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let finite = || self.values.iter().flatten().copied().filter(|x| x.is_finite());
        let most = finite().map(f64::abs).fold(0.0, f64::max);
        let signed = finite().any(|x| x < 0.0);
        let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
        let cell = |row: usize, col: usize, value: f64| {
            let number = short(value);
            let at = format!("{} · {}", name(&self.rows, row), name(&self.cols, col));
            let shade = if value.is_finite() && most > 0.0 { value / most } else { 0.0 };
            let hint = format!("{at}: {number}");
            Cell { shade, hint, text: if self.numbers { number } else { String::new() } }
        };
        let cells = self.values.iter().enumerate().map(|(row, values)| {
            values.iter().enumerate().map(|(col, &value)| cell(row, col, value)).collect()
        });
        let least = if signed { short(-most) } else { "0".into() };
        draw(&Cells {
            title: &self.title,
            rows: &self.rows,
            cols: &self.cols,
            axes: (&self.axes.0, &self.axes.1),
            ends: (least, short(most), ""),
            signed,
            cells: cells.collect(),
        })
    }
}

/// Draws cells with names, axes and a bar of colours.
pub(super) fn draw(map: &Cells) -> Svg {
    let across = map.cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let down = map.cells.len().max(1);
    let side = (460.0 / across.max(down) as f64).clamp(18.0, 64.0);
    let widest = |names: &[String], most: f64| {
        names.iter().map(|name| text::width(name, NAME)).fold(0.0, f64::max).min(most)
    };
    let cols = widest(map.cols, MOST_NAME);
    let upright = cols > side - 4.0;
    let rows = widest(map.rows, MOST_ROW_NAME);
    let left = MARGIN + if map.axes.1.is_empty() { 0.0 } else { 22.0 } + rows + 8.0;
    let top = MARGIN + if map.title.is_empty() { 0.0 } else { TITLE + 10.0 } + 26.0;
    let (right, bottom) = (left + across as f64 * side, top + down as f64 * side);
    let below = if upright { cols + 12.0 } else { 20.0 };
    let height = bottom + below + if map.axes.0.is_empty() { 4.0 } else { 24.0 } + MARGIN / 2.0;
    let (low, high, meaning) = &map.ends;
    let width = (right + MARGIN).max(top_width(map.title, [meaning, low, high], BAR) + 2.0 * MARGIN);
    let mut drawing = Drawing::new(width, height, map.title);
    if !map.title.is_empty() {
        heading(&mut drawing, map.title, width);
    }
    colour_bar(&mut drawing, map, top - 21.0);
    // All numbers in one size, so that a long one does not look less than a short one.
    let fits = |cell: &Cell| (side - 4.0) / text::width(&cell.text, 1.0).max(0.1);
    let letters = map.cells.iter().flatten().map(fits).filter(|&size| size >= SMALLEST);
    let size = letters.fold((side * 0.4).min(13.0), f64::min);
    for (row, cells) in map.cells.iter().enumerate() {
        for (col, cell) in cells.iter().enumerate() {
            draw_cell(&mut drawing, cell, [left + col as f64 * side, top + row as f64 * side], side, size);
        }
    }
    for (row, name) in map.rows.iter().enumerate().take(down) {
        let y = top + (row as f64 + 0.5) * side + 4.0;
        drawing.write(&Letters::new(left - 7.0, y, text::fitted(name, NAME, MOST_ROW_NAME)).size(NAME).end());
    }
    for (col, name) in map.cols.iter().enumerate().take(across) {
        let x = left + (col as f64 + 0.5) * side;
        let name = text::fitted(name, NAME, MOST_NAME);
        drawing.write(&if upright {
            Letters::new(x + 4.0, bottom + 7.0, name).size(NAME).end().turned(-90.0)
        } else {
            Letters::new(x, bottom + 16.0, name).size(NAME).middle()
        });
    }
    let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    if !map.axes.0.is_empty() {
        drawing.write(&Letters::new(x, height - MARGIN + 2.0, map.axes.0).middle().role(Role::Soft));
    }
    if !map.axes.1.is_empty() {
        drawing.write(&Letters::new(MARGIN + 8.0, y, map.axes.1).middle().turned(-90.0).role(Role::Soft));
    }
    drawing.finish()
}

fn draw_cell(drawing: &mut Drawing, cell: &Cell, [x, y]: [f64; 2], side: f64, size: f64) {
    let area = [x, y, side - 1.0, side - 1.0];
    drawing.rect(area, Role::Rule, 0.35, "");
    let role = if cell.shade < 0.0 { Role::Cold } else { Role::Warm };
    let strength = cell.shade.abs().min(1.0);
    drawing.rect(area, role, strength * 0.999, &cell.hint);
    if cell.text.is_empty() || text::width(&cell.text, size) > side - 3.0 {
        return;
    }
    // On light paper weaker colours are lighter than the letters, on dark paper the letters are light anyway.
    let ink = if strength > 0.7 { Role::Light } else { Role::Ink };
    let (x, y) = (x + (side - 1.0) / 2.0, y + (side - 1.0) / 2.0 + size * 0.36);
    drawing.write(&Letters::new(x, y, cell.text.as_str()).size(size).middle().role(ink));
}

/// How wide the title is, or the words of the bar of colours and a bar of this width.
pub(super) fn top_width(title: &str, words: [&str; 3], bar: f64) -> f64 {
    let words = words.map(|words| text::width(words, NAME) + 7.0).iter().sum::<f64>();
    text::width(title, TITLE * 1.06).min(600.0).max(words + bar)
}

/// The title of a drawing of this width.
pub(super) fn heading(drawing: &mut Drawing, title: &str, width: f64) {
    let title = text::fitted(title, TITLE * 1.06, width - 2.0 * MARGIN);
    drawing.write(&Letters::new(MARGIN, MARGIN + TITLE * 0.85, title).size(TITLE).bold());
}

/// What the colours stand for and what the first of them means, then the bar, which `paint` draws from a place to where it ends,
/// then what the last means.
pub(super) fn bar_with_words(
    drawing: &mut Drawing,
    y: f64,
    [meaning, low, high]: [&str; 3],
    paint: impl FnOnce(&mut Drawing, f64) -> f64,
) {
    let mut x = MARGIN;
    let say = |drawing: &mut Drawing, x: &mut f64, words: &str| {
        if !words.is_empty() {
            drawing.write(&Letters::new(*x, y + 10.0, words).size(NAME).role(Role::Soft));
            *x += text::width(words, NAME) + 7.0;
        }
    };
    say(drawing, &mut x, meaning);
    say(drawing, &mut x, low);
    x = paint(drawing, x) + 7.0;
    say(drawing, &mut x, high);
}

fn colour_bar(drawing: &mut Drawing, map: &Cells, y: f64) {
    let (low, high, meaning) = &map.ends;
    bar_with_words(drawing, y, [meaning, low, high], |drawing, mut x| {
        let width = BAR / f64::from(STEPS + 1);
        for step in 0..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            let shade = if map.signed { 2.0 * part - 1.0 } else { part };
            let role = if shade < 0.0 { Role::Cold } else { Role::Warm };
            drawing.rect([x, y, width, 12.0], Role::Rule, 0.35, "");
            drawing.rect([x, y, width, 12.0], role, shade.abs() * 0.999, "");
            x += width;
        }
        x
    });
}
