//! Several matrices on one scale of colours.

use std::fmt::Write;

use super::heat::{MARGIN, NAME, TITLE, bar_with_words, heading, top_width};
use crate::Svg;
use crate::colour::Role;
use crate::number::short;
use crate::picture::Colours;
use crate::svg::{Drawing, Letters};
use crate::text;

/// About how large a panel is.
const SIDE: f64 = 168.0;
const GAP: f64 = 16.0;
/// Pixels of the bar of colours.
const BAR: f64 = 160.0;
/// Colours that are told apart.
const LEVELS: usize = 64;

/// A place on an axis and its name.
type Tick = (f64, String);
/// The name of a matrix, and its rows.
type Panel = (String, Vec<Vec<f64>>);

/// Matrices side by side whose colours mean the same numbers, with ticks at places of their rows and columns.
///
/// They are coloured areas, not cells: for pictures like spectrograms, where single numbers say little.
#[derive(Clone, Debug)]
pub struct HeatPanels {
    title: String,
    axes: (String, String),
    ticks: (Vec<Tick>, Vec<Tick>),
    meaning: String,
    range: (f64, f64),
    rows: Vec<Vec<Panel>>,
}

impl HeatPanels {
    /// Panels whose first colour means `low` and less, the last `high` and more; `meaning` says what they are.
    pub fn new(title: impl Into<String>, meaning: impl Into<String>, (low, high): (f64, f64)) -> Self {
        Self {
            title: title.into(),
            axes: Default::default(),
            ticks: Default::default(),
            meaning: meaning.into(),
            range: (low, high),
            rows: Vec::new(),
        }
    }

    /// What goes across and what goes up.
    pub fn with_axes(mut self, across: impl Into<String>, up: impl Into<String>) -> Self {
        self.axes = (across.into(), up.into());
        self
    }

    /// Places on the axes and their names; 0 is the middle of the left column, or of the lowest row.
    pub fn with_ticks(
        mut self,
        across: impl IntoIterator<Item = (f64, String)>,
        up: impl IntoIterator<Item = (f64, String)>,
    ) -> Self {
        self.ticks = (across.into_iter().collect(), up.into_iter().collect());
        self
    }

    /// One more row of panels, each with its name and the rows of its matrix from the lowest up.
    pub fn with_row(mut self, panels: impl IntoIterator<Item = (String, Vec<Vec<f64>>)>) -> Self {
        self.rows.push(panels.into_iter().collect());
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let panels = || self.rows.iter().flatten().map(|(_, values)| values);
        let down = panels().map(Vec::len).max().unwrap_or(0).max(1);
        let across = panels().flatten().map(Vec::len).max().unwrap_or(0).max(1);
        // Whole pixels leave no seams.
        let cell = [across, down].map(|count| (SIDE / count as f64).floor().max(1.0));
        let size = [across as f64 * cell[0], down as f64 * cell[1]];
        let most = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64;
        let names = self.ticks.1.iter().map(|(_, name)| text::width(name, NAME)).fold(0.0, f64::max);
        let left = (MARGIN + 22.0 + names + 8.0).ceil();
        let top = MARGIN + TITLE + 10.0 + 26.0;
        let step = [size[0] + GAP, size[1] + GAP + NAME + 6.0];
        let (low, high) = (short(self.range.0), short(self.range.1));
        let words = [&self.meaning[..], &low, &high];
        let inner = (left + most * step[0] - GAP).max(MARGIN + top_width(&self.title, words, BAR));
        let bottom = top + self.rows.len().max(1) as f64 * step[1];
        let mut drawing = Drawing::new(inner + MARGIN, bottom + 30.0, &self.title);
        heading(&mut drawing, &self.title, inner + MARGIN);
        let y = top - 21.0;
        bar_with_words(&mut drawing, y, words, |drawing, x| {
            // Whole pixels here as well.
            let (x, width) = (x.ceil(), BAR / LEVELS as f64);
            for level in 0..LEVELS {
                let x = x + level as f64 * width;
                drawing.paint(&format!("M{x} {y}h{width}v12h-{width}z"), colour(level));
            }
            x + BAR
        });
        for (row, panels) in self.rows.iter().enumerate() {
            let y = (top + row as f64 * step[1] + NAME + 6.0).ceil();
            for (col, (name, values)) in panels.iter().enumerate() {
                let x = left + col as f64 * step[0];
                let name = text::fitted(name, NAME, size[0] + GAP);
                drawing.write(&Letters::new(x, y - 5.0, name).size(NAME));
                self.panel(&mut drawing, values, [x, y], size, cell);
                if row + 1 == self.rows.len() {
                    self.ticks_below(&mut drawing, [x, y + size[1]], cell[0], across);
                }
            }
            for (place, name) in self.ticks.1.iter().filter(|(place, _)| inside(*place, down)) {
                let y = y + size[1] - (place + 0.5) * cell[1];
                drawing.line((left - 4.0, y), (left, y), Role::Soft, 1.0);
                drawing.write(&Letters::new(left - 7.0, y + 4.0, name).size(NAME).end().role(Role::Soft));
            }
            let up = Letters::new(MARGIN + 8.0, y + size[1] / 2.0, &self.axes.1).middle().turned(-90.0);
            drawing.write(&up.role(Role::Soft));
        }
        let middle = (left + inner) / 2.0;
        let words = Letters::new(middle, bottom + 20.0, &self.axes.0).middle();
        drawing.write(&words.role(Role::Soft));
        drawing.finish()
    }

    fn ticks_below(&self, drawing: &mut Drawing, [x, y]: [f64; 2], cell: f64, across: usize) {
        for (place, name) in self.ticks.0.iter().filter(|(place, _)| inside(*place, across)) {
            let x = x + (place + 0.5) * cell;
            drawing.line((x, y), (x, y + 4.0), Role::Soft, 1.0);
            drawing.write(&Letters::new(x, y + 16.0, name).size(NAME).middle().role(Role::Soft));
        }
    }

    /// One path for each colour, so that thousands of numbers stay a small file.
    fn panel(
        &self,
        drawing: &mut Drawing,
        values: &[Vec<f64>],
        [x, y]: [f64; 2],
        size: [f64; 2],
        cell: [f64; 2],
    ) {
        let mut paths = vec![String::new(); LEVELS];
        for (row, values) in values.iter().enumerate() {
            let y = y + size[1] - (row + 1) as f64 * cell[1];
            let mut from = 0;
            for alike in values.chunk_by(|&a, &b| self.level(a) == self.level(b)) {
                if let Some(level) = self.level(alike[0]) {
                    let (x, width) = (x + from as f64 * cell[0], alike.len() as f64 * cell[0]);
                    let _ = write!(paths[level], "M{x} {y}h{width}v{}h-{width}z", cell[1]);
                }
                from += alike.len();
            }
        }
        for (level, path) in paths.iter().enumerate() {
            drawing.paint(path, colour(level));
        }
    }

    /// The number of a value's colour; of none if it is no number.
    fn level(&self, value: f64) -> Option<usize> {
        let part = (value - self.range.0) / (self.range.1 - self.range.0);
        (!part.is_nan()).then(|| (part.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize)
    }
}

fn inside(place: f64, count: usize) -> bool {
    (-0.5..=count as f64 - 0.5).contains(&place)
}

fn colour(level: usize) -> [u8; 3] {
    Colours::Heat.of(level as f32, 0.0, (LEVELS - 1) as f32).0
}
