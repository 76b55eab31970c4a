//! Several matrices on one colour scale.

use std::fmt::Write;

use super::frame::{draw_title, no_data};
use super::heat::{header_width, labelled_color_bar};
use crate::Svg;
use crate::color::ColorRole;
use crate::layout::{MARGIN, TICK_SIZE, TITLE_SIZE, ellipsize, text_width};
use crate::picture::Colormap;
use crate::svg::{Drawing, Label};
use crate::text::number;

/// Approximate width of all panels in a row, and limits of the side of one panel, in pixels.
const WIDTH: f64 = 520.0;
const SIDE: [f64; 2] = [140.0, 168.0];
const GAP: f64 = 16.0;
/// Width of the colour bar.
const BAR: f64 = 160.0;
/// Number of different colours.
const LEVELS: usize = 64;

/// Position and label of a tick.
type Tick = (f64, String);
/// The name of a matrix, and its rows.
type Panel = (String, Vec<Vec<f64>>);

/// Heat maps side by side that share one colour scale, with ticks along rows and columns.
///
/// They have coloured areas and no written numbers: for images such as spectrograms.
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
    /// Panels whose colours go from `low` to `high`; values outside have the colour of the nearer end. `meaning` labels
    /// the colour bar.
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

    /// Labels of the axes.
    pub fn with_axes(mut self, across: impl Into<String>, up: impl Into<String>) -> Self {
        self.axes = (across.into(), up.into());
        self
    }

    /// Positions and labels of the ticks; 0 is the middle of the left column, or of the lowest row.
    pub fn with_ticks(
        mut self,
        across: impl IntoIterator<Item = (f64, String)>,
        up: impl IntoIterator<Item = (f64, String)>,
    ) -> Self {
        self.ticks = (across.into_iter().collect(), up.into_iter().collect());
        self
    }

    /// Adds a row of panels, each with its name and the rows of its matrix from bottom to top.
    pub fn with_row(mut self, panels: impl IntoIterator<Item = (String, Vec<Vec<f64>>)>) -> Self {
        self.rows.push(panels.into_iter().collect());
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        if !self.rows.iter().flatten().flat_map(|(_, rows)| rows).flatten().any(|x| x.is_finite()) {
            return no_data(&self.title);
        }
        let panels = || self.rows.iter().flatten().map(|(_, values)| values);
        let down = panels().map(Vec::len).max().unwrap_or(0).max(1);
        let across = panels().flatten().map(Vec::len).max().unwrap_or(0).max(1);
        let most = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64;
        let side = (WIDTH / most - GAP).clamp(SIDE[0], SIDE[1]);
        // Cells of whole pixels leave no seams.
        let cell = [across, down].map(|count| (side / count as f64).floor().max(1.0));
        let size = [across as f64 * cell[0], down as f64 * cell[1]];
        let names = self.ticks.1.iter().map(|(_, name)| text_width(name, TICK_SIZE)).fold(0.0, f64::max);
        let left = (MARGIN + 22.0 + names + 8.0).ceil();
        let top = MARGIN + TITLE_SIZE + 10.0 + 26.0;
        let step = [size[0] + GAP, size[1] + GAP + TICK_SIZE + 6.0];
        let (low, high) = (number(self.range.0), number(self.range.1));
        let words = [&self.meaning[..], &low, &high];
        let inner = (left + most * step[0] - GAP).max(MARGIN + header_width(&self.title, words, BAR));
        let bottom = top + self.rows.len().max(1) as f64 * step[1];
        let mut drawing = Drawing::new(inner + MARGIN, bottom + 30.0, &self.title);
        draw_title(&mut drawing, &self.title, inner + MARGIN);
        let y = top - 21.0;
        labelled_color_bar(&mut drawing, y, words, |drawing, x| {
            // Whole pixels here too.
            let (x, width) = (x.ceil(), BAR / LEVELS as f64);
            for level in 0..LEVELS {
                let x = x + level as f64 * width;
                drawing.paint(&format!("M{x} {y}h{width}v12h-{width}z"), color(level));
            }
            x + BAR
        });
        let mut free = 0.0;
        for (row, panels) in self.rows.iter().enumerate() {
            let y = (top + row as f64 * step[1] + TICK_SIZE + 6.0).ceil();
            for (col, (name, values)) in panels.iter().enumerate() {
                let x = left + col as f64 * step[0];
                let name = ellipsize(name, TICK_SIZE, size[0] + GAP);
                drawing.write(&Label::new(x, y - 5.0, name).size(TICK_SIZE));
                self.panel(&mut drawing, values, [x, y], size, cell);
                if row + 1 == self.rows.len() {
                    free = self.ticks_below(&mut drawing, [x, y + size[1]], cell[0], across, free);
                }
            }
            for (place, name) in self.ticks.1.iter().filter(|(place, _)| inside(*place, down)) {
                let y = y + size[1] - (place + 0.5) * cell[1];
                drawing.line((left - 4.0, y), (left, y), ColorRole::Muted, 1.0);
                drawing.write(
                    &Label::new(left - 7.0, y + 4.0, name).size(TICK_SIZE).end().role(ColorRole::Muted),
                );
            }
            let up = Label::new(MARGIN + 8.0, y + size[1] / 2.0, &self.axes.1).middle().rotated(-90.0);
            drawing.write(&up.role(ColorRole::Muted));
        }
        let middle = (left + inner) / 2.0;
        let words = Label::new(middle, bottom + 20.0, &self.axes.0).middle();
        drawing.write(&words.role(ColorRole::Muted));
        drawing.finish()
    }

    /// Draws the ticks below a panel; labels that would start before `free` are left out. Returns the new `free`.
    fn ticks_below(
        &self,
        drawing: &mut Drawing,
        [x, y]: [f64; 2],
        cell: f64,
        across: usize,
        mut free: f64,
    ) -> f64 {
        for (place, name) in self.ticks.0.iter().filter(|(place, _)| inside(*place, across)) {
            let x = x + (place + 0.5) * cell;
            drawing.line((x, y), (x, y + 4.0), ColorRole::Muted, 1.0);
            let half = text_width(name, TICK_SIZE) / 2.0;
            if x - half >= free {
                free = x + half + 4.0;
                drawing.write(&Label::new(x, y + 16.0, name).size(TICK_SIZE).middle().role(ColorRole::Muted));
            }
        }
        free
    }

    /// One path for each colour, so that thousands of cells make a small file.
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
            drawing.paint(path, color(level));
        }
    }

    /// The index of a value's colour; none for NaN.
    fn level(&self, value: f64) -> Option<usize> {
        let part = (value - self.range.0) / (self.range.1 - self.range.0);
        (!part.is_nan()).then(|| (part.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize)
    }
}

fn inside(place: f64, count: usize) -> bool {
    (-0.5..=count as f64 - 0.5).contains(&place)
}

fn color(level: usize) -> [u8; 3] {
    Colormap::Heat.color(level as f32, 0.0, (LEVELS - 1) as f32).0
}
