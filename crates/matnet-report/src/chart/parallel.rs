//! Parallel coordinates.

use std::fmt::Write;

use super::frame::{draw_title, no_data};
use super::scale::{Extent, Scale};
use crate::Svg;
use crate::color::ColorRole;
use crate::layout::{MARGIN, TICK_SIZE, TITLE_SIZE, ellipsize, text_width};
use crate::svg::{Drawing, Label};
use crate::text::coordinate as c;

/// Pixels between two axes.
const APART: f64 = 132.0;
/// The longest name of a value, and of an axis.
const MAX_NAME: f64 = 96.0;
const MAX_AXIS: f64 = 2.0 * APART - 20.0;
const HEIGHT: f64 = 300.0;

/// From the best rank to the worst; all of them visible on light and dark backgrounds, and with any colour vision.
const RANKS: [[f64; 3]; 3] = [[0.0, 114.0, 178.0], [150.0, 158.0, 168.0], [213.0, 94.0, 0.0]];

/// An axis of a [`ParallelChart`].
#[derive(Clone, Debug)]
pub struct ParallelAxis {
    name: String,
    log: bool,
    /// Names in place of the numbers 0, 1, …
    names: Vec<String>,
}

impl ParallelAxis {
    /// An axis of numbers.
    pub fn numbers(name: impl Into<String>) -> Self {
        Self { name: name.into(), log: false, names: Vec::new() }
    }

    /// An axis with a name at each of the numbers 0, 1, …
    pub fn names(name: impl Into<String>, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { name: name.into(), log: false, names: names.into_iter().map(Into::into).collect() }
    }

    /// Makes the axis logarithmic.
    pub fn with_log(mut self) -> Self {
        self.log = true;
        self
    }
}

/// One line per example through its values on several vertical axes, coloured by rank: which settings do well.
///
/// ```
/// use matnet_report::chart::{ParallelAxis, ParallelChart};
///
/// let chart = ParallelChart::new("Trials")
///     .with_axis(ParallelAxis::numbers("learning rate").with_log())
///     .with_axis(ParallelAxis::names("optimizer", ["adam", "sgd"]))
///     .with_axis(ParallelAxis::numbers("error (%)"))
///     .with_line([1e-3, 0.0, 4.2], 4.2, 2.0, "trial 1")
///     .with_line([1e-1, 1.0, 9.1], 9.1, 2.0, "trial 2");
/// assert!(chart.svg().as_str().contains("learning rate"));
/// ```
#[derive(Clone, Debug)]
pub struct ParallelChart {
    title: String,
    axes: Vec<ParallelAxis>,
    lines: Vec<ParallelLine>,
}

#[derive(Clone, Debug)]
struct ParallelLine {
    values: Vec<f64>,
    /// Decides the colour; lower is better.
    score: f64,
    width: f64,
    tooltip: String,
}

impl ParallelChart {
    /// A chart without axes and lines.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), axes: Vec::new(), lines: Vec::new() }
    }

    /// Adds an axis to the right of the others.
    pub fn with_axis(mut self, axis: ParallelAxis) -> Self {
        self.axes.push(axis);
        self
    }

    /// Adds a line of some width with a value for each axis; the lowest `score` has the best colour. A value that cannot be
    /// drawn interrupts the line.
    pub fn with_line(
        mut self,
        values: impl IntoIterator<Item = f64>,
        score: f64,
        width: f64,
        tooltip: impl Into<String>,
    ) -> Self {
        let (values, tooltip) = (values.into_iter().collect(), tooltip.into());
        self.lines.push(ParallelLine { values, score, width, tooltip });
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        if self.axes.is_empty() || self.lines.is_empty() {
            return no_data(&self.title);
        }
        let title = if self.title.is_empty() { 0.0 } else { TITLE_SIZE + 10.0 };
        // The names of neighbours stand in two rows, so that each has the room of two.
        let (top, left) = (MARGIN + title + 2.0 * 18.0 + 8.0, MARGIN + MAX_NAME);
        let width = left + APART * (self.axes.len() - 1) as f64 + MARGIN + 90.0;
        let bottom = top + HEIGHT;
        let mut drawing = Drawing::new(width, bottom + MARGIN + 6.0, &self.title);
        draw_title(&mut drawing, &self.title, width - 150.0);
        draw_ranks(&mut drawing, width);
        let scales: Vec<Scale> =
            (0..self.axes.len()).map(|at| self.scale(at).placed(bottom - 8.0, top + 8.0)).collect();
        let place = |at: usize| left + APART * at as f64;
        // The best lines come last, on top of the others.
        let mut order: Vec<&ParallelLine> = self.lines.iter().collect();
        order.sort_by(|a, b| a.score.total_cmp(&b.score));
        for (rank, line) in order.iter().enumerate().rev() {
            let mut path = String::new();
            let mut joined = false;
            for (at, scale) in scales.iter().enumerate() {
                let value = line.values.get(at).and_then(|&value| scale.at(value));
                if let Some(y) = value {
                    let _ = write!(path, "{}{} {}", if joined { "L" } else { "M" }, c(place(at)), c(y));
                }
                joined = value.is_some();
            }
            drawing.stroke_color(&path, color(rank, order.len()), line.width, &line.tooltip);
        }
        for (at, (axis, scale)) in self.axes.iter().zip(&scales).enumerate() {
            let x = place(at);
            drawing.line((x, top), (x, bottom), ColorRole::Text, 1.4);
            let ticks = match axis.names.is_empty() {
                true => scale.ticks(),
                false => {
                    let named = axis.names.iter().enumerate();
                    named.filter_map(|(at, name)| Some((scale.at(at as f64)?, name.clone()))).collect()
                }
            };
            for (y, label) in ticks {
                let label = ellipsize(&label, TICK_SIZE, MAX_NAME);
                if at + 1 == self.axes.len() {
                    // Nothing is drawn to the right of the last axis.
                    drawing.line((x, y), (x + 4.0, y), ColorRole::Text, 1.4);
                    drawing.write(&Label::new(x + 7.0, y + 4.0, label).size(TICK_SIZE));
                    continue;
                }
                drawing.line((x - 4.0, y), (x, y), ColorRole::Text, 1.4);
                let room = text_width(&label, TICK_SIZE);
                // Lines behind a label would make it hard to read.
                drawing.rect([x - 8.0 - room, y - 8.0, room + 3.0, 16.0], ColorRole::Background, 0.82, "");
                drawing.write(&Label::new(x - 6.5, y + 4.0, label).size(TICK_SIZE).end());
            }
            let row = MARGIN + title + if at % 2 == 0 { 13.0 } else { 31.0 };
            drawing.line((x, row + 5.0), (x, top), ColorRole::Gridline, 1.0);
            let name = ellipsize(&axis.name, TICK_SIZE, MAX_AXIS);
            let half = text_width(&name, TICK_SIZE) / 2.0;
            let x =
                x.clamp(MARGIN + half.min(width / 2.0 - MARGIN), (width - MARGIN - half).max(width / 2.0));
            drawing.write(&Label::new(x, row, name).size(TICK_SIZE).middle().bold());
        }
        drawing.finish()
    }

    fn scale(&self, at: usize) -> Scale {
        let axis = &self.axes[at];
        if !axis.names.is_empty() {
            let last = axis.names.len().saturating_sub(1) as f64;
            return Scale::linear(Extent::of([0.0, last], false), false, true, axis.names.len());
        }
        let values = || self.lines.iter().filter_map(|line| line.values.get(at).copied());
        let extent = Extent::of(values(), axis.log);
        let whole = values().all(|value| value.fract() == 0.0);
        if axis.log { Scale::log(extent) } else { Scale::linear(extent, false, whole, 6) }
    }
}

/// The colours from best to worst, in the corner.
fn draw_ranks(drawing: &mut Drawing, width: f64) {
    const STEPS: usize = 24;
    let (worst, y) = (width - MARGIN, MARGIN + 11.0);
    drawing.write(&Label::new(worst, y, "worst").size(TICK_SIZE).end().role(ColorRole::Muted));
    let right = worst - text_width("worst", TICK_SIZE) - 6.0;
    let left = right - 3.0 * STEPS as f64;
    for step in 0..STEPS {
        let path = format!("M{} {}h3v8h-3z", c(left + 3.0 * step as f64), c(y - 8.0));
        drawing.paint(&path, color(step, STEPS));
    }
    drawing.write(&Label::new(left - 6.0, y, "best").size(TICK_SIZE).end().role(ColorRole::Muted));
}

/// The colour of a rank among so many.
fn color(rank: usize, count: usize) -> [u8; 3] {
    let part = 2.0 * rank as f64 / count.saturating_sub(1).max(1) as f64;
    let (from, rest) = if part < 1.0 { (0, part) } else { (1, part - 1.0) };
    [0, 1, 2].map(|at| (RANKS[from][at] + (RANKS[from + 1][at] - RANKS[from][at]) * rest).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_go_from_blue_to_orange() {
        assert_eq!(color(0, 5), [0, 114, 178]);
        assert_eq!(color(2, 5), [150, 158, 168]);
        assert_eq!(color(4, 5), [213, 94, 0]);
        assert_eq!(color(0, 1), [0, 114, 178]);
    }
}
