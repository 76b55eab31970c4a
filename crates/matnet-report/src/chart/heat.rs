//! Heat maps.
//!
//! A cell has one colour with an opacity, so that the same drawing works on the background of both themes.

use super::frame::{draw_title, no_data};
use crate::Svg;
use crate::color::ColorRole;
use crate::layout::{MARGIN, TICK_SIZE, TITLE_SIZE, ellipsize, text_width, widest};
use crate::svg::{Drawing, Label};
use crate::text::number;

/// Column names and row names are cut at these widths; row names may be sentences.
const MAX_COL_NAME: f64 = 150.0;
const MAX_ROW_NAME: f64 = 300.0;

/// Numbers that would be smaller than this are shown in the tooltips only.
const MIN_SIZE: f64 = 5.5;
/// Width of the colour bar, and its steps.
const BAR: f64 = 121.0;
const STEPS: u32 = 10;

/// A cell of a heat map.
pub(super) struct HeatCell {
    /// Between −1 and 1.
    pub shade: f64,
    pub text: String,
    pub tooltip: String,
}

/// Everything a heat map shows.
pub(super) struct HeatGrid<'a> {
    pub title: &'a str,
    pub rows: &'a [String],
    pub cols: &'a [String],
    pub axes: (&'a str, &'a str),
    /// The values at both ends of the colour bar, and the meaning of the colour.
    pub ends: (String, String, &'a str),
    pub signed: bool,
    pub cells: Vec<Vec<HeatCell>>,
}

/// A matrix of numbers as colours, with the numbers written where they fit.
///
/// Positive and negative numbers have different colours, zero has none.
#[derive(Clone, Debug)]
pub struct HeatMap {
    title: String,
    axes: (String, String),
    rows: Vec<String>,
    cols: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl HeatMap {
    /// Names of rows and columns, and a row of values for each row name.
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
        }
    }

    /// Labels of the axes.
    pub fn with_axes(mut self, cols: impl Into<String>, rows: impl Into<String>) -> Self {
        self.axes = (cols.into(), rows.into());
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        if !self.values.iter().flatten().any(|x| x.is_finite()) {
            return no_data(&self.title);
        }
        let finite = || self.values.iter().flatten().copied().filter(|x| x.is_finite());
        let most = finite().map(f64::abs).fold(0.0, f64::max);
        let signed = finite().any(|x| x < 0.0);
        let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
        let cell = |row: usize, col: usize, value: f64| {
            let at = format!("{} · {}", name(&self.rows, row), name(&self.cols, col));
            let shade = if value.is_finite() && most > 0.0 { value / most } else { 0.0 };
            HeatCell { shade, tooltip: format!("{at}: {}", number(value)), text: number(value) }
        };
        let cells = self.values.iter().enumerate().map(|(row, values)| {
            values.iter().enumerate().map(|(col, &value)| cell(row, col, value)).collect()
        });
        let least = if signed { number(-most) } else { "0".into() };
        draw(&HeatGrid {
            title: &self.title,
            rows: &self.rows,
            cols: &self.cols,
            axes: (&self.axes.0, &self.axes.1),
            ends: (least, number(most), ""),
            signed,
            cells: cells.collect(),
        })
    }
}

/// Draws cells with names, axes and a colour bar.
pub(super) fn draw(map: &HeatGrid) -> Svg {
    let across = map.cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let down = map.cells.len().max(1);
    let side = (460.0 / across.max(down) as f64).clamp(18.0, 64.0);
    let cols = widest(map.cols, TICK_SIZE).min(MAX_COL_NAME);
    let upright = cols > side - 4.0;
    let rows = widest(map.rows, TICK_SIZE).min(MAX_ROW_NAME);
    let left = MARGIN + if map.axes.1.is_empty() { 0.0 } else { 22.0 } + rows + 8.0;
    let top = MARGIN + if map.title.is_empty() { 0.0 } else { TITLE_SIZE + 10.0 } + 26.0;
    let (right, bottom) = (left + across as f64 * side, top + down as f64 * side);
    let below = if upright { cols + 12.0 } else { 20.0 };
    let height = bottom + below + if map.axes.0.is_empty() { 4.0 } else { 24.0 } + MARGIN / 2.0;
    let (low, high, meaning) = &map.ends;
    let width = (right + MARGIN).max(header_width(map.title, [meaning, low, high], BAR) + 2.0 * MARGIN);
    let mut drawing = Drawing::new(width, height, map.title);
    draw_title(&mut drawing, map.title, width);
    draw_color_bar(&mut drawing, map, top - 21.0);
    // All numbers in one size, so that a long one does not look less important than a short one.
    let fits = |cell: &HeatCell| (side - 4.0) / text_width(&cell.text, 1.0).max(0.1);
    let sizes = map.cells.iter().flatten().map(fits).filter(|&size| size >= MIN_SIZE);
    let size = sizes.fold((side * 0.4).min(13.0), f64::min);
    for (row, cells) in map.cells.iter().enumerate() {
        for (col, cell) in cells.iter().enumerate() {
            draw_cell(&mut drawing, cell, [left + col as f64 * side, top + row as f64 * side], side, size);
        }
    }
    for (row, name) in map.rows.iter().enumerate().take(down) {
        let y = top + (row as f64 + 0.5) * side + 4.0;
        drawing.write(
            &Label::new(left - 7.0, y, ellipsize(name, TICK_SIZE, MAX_ROW_NAME)).size(TICK_SIZE).end(),
        );
    }
    for (col, name) in map.cols.iter().enumerate().take(across) {
        let x = left + (col as f64 + 0.5) * side;
        let name = ellipsize(name, TICK_SIZE, MAX_COL_NAME);
        drawing.write(&if upright {
            Label::new(x + 4.0, bottom + 7.0, name).size(TICK_SIZE).end().rotated(-90.0)
        } else {
            Label::new(x, bottom + 16.0, name).size(TICK_SIZE).middle()
        });
    }
    let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    if !map.axes.0.is_empty() {
        drawing.write(&Label::new(x, height - MARGIN + 2.0, map.axes.0).middle().role(ColorRole::Muted));
    }
    if !map.axes.1.is_empty() {
        drawing
            .write(&Label::new(MARGIN + 8.0, y, map.axes.1).middle().rotated(-90.0).role(ColorRole::Muted));
    }
    drawing.finish()
}

fn draw_cell(drawing: &mut Drawing, cell: &HeatCell, [x, y]: [f64; 2], side: f64, size: f64) {
    let area = [x, y, side - 1.0, side - 1.0];
    drawing.rect(area, ColorRole::Gridline, 0.35, "");
    let role = if cell.shade < 0.0 { ColorRole::Negative } else { ColorRole::Positive };
    let strength = cell.shade.abs().min(1.0);
    drawing.rect(area, role, strength * 0.999, &cell.tooltip);
    if cell.text.is_empty() || text_width(&cell.text, size) > side - 3.0 {
        return;
    }
    // In the light theme weak colours are lighter than the text; in the dark theme the text is light anyway.
    let role = if strength > 0.7 { ColorRole::OnColor } else { ColorRole::Text };
    let (x, y) = (x + (side - 1.0) / 2.0, y + (side - 1.0) / 2.0 + size * 0.36);
    drawing.write(&Label::new(x, y, cell.text.as_str()).size(size).middle().role(role));
}

/// The width that the title and the colour bar with its labels need.
pub(super) fn header_width(title: &str, words: [&str; 3], bar: f64) -> f64 {
    let words = words.map(|words| text_width(words, TICK_SIZE) + 7.0).iter().sum::<f64>();
    text_width(title, TITLE_SIZE * 1.06).min(600.0).max(words + bar)
}

/// A colour bar between the values at its ends. `paint` draws the bar from its start and returns its end.
pub(super) fn labelled_color_bar(
    drawing: &mut Drawing,
    y: f64,
    [meaning, low, high]: [&str; 3],
    paint: impl FnOnce(&mut Drawing, f64) -> f64,
) {
    let mut x = MARGIN;
    let say = |drawing: &mut Drawing, x: &mut f64, words: &str| {
        if !words.is_empty() {
            drawing.write(&Label::new(*x, y + 10.0, words).size(TICK_SIZE).role(ColorRole::Muted));
            *x += text_width(words, TICK_SIZE) + 7.0;
        }
    };
    say(drawing, &mut x, meaning);
    say(drawing, &mut x, low);
    x = paint(drawing, x) + 7.0;
    say(drawing, &mut x, high);
}

fn draw_color_bar(drawing: &mut Drawing, map: &HeatGrid, y: f64) {
    let (low, high, meaning) = &map.ends;
    labelled_color_bar(drawing, y, [meaning, low, high], |drawing, mut x| {
        let width = BAR / f64::from(STEPS + 1);
        for step in 0..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            let shade = if map.signed { 2.0 * part - 1.0 } else { part };
            let role = if shade < 0.0 { ColorRole::Negative } else { ColorRole::Positive };
            drawing.rect([x, y, width, 12.0], ColorRole::Gridline, 0.35, "");
            drawing.rect([x, y, width, 12.0], role, shade.abs() * 0.999, "");
            x += width;
        }
        x
    });
}
