//! Groups of bars.

use super::frame::{Frame, TICK, Words};
use super::legend::{Legend, Sample};
use super::scale::{Extent, Scale};
use crate::colour::{Role, marker};
use crate::number::{fixed, short};
use crate::svg::Letters;
use crate::{Svg, text};

/// A bar is at most so wide.
const MOST_WIDTH: f64 = 62.0;
const LABEL: f64 = 11.5;
/// Half the width of a point.
const POINT: f64 = 5.0;

/// Bars of one colour, one in each group of a [`BarChart`].
#[derive(Clone, Debug)]
pub struct Bars {
    name: String,
    values: Vec<f64>,
    deviations: Vec<f64>,
    references: Vec<f64>,
}

impl Bars {
    /// A value for each group; NaN where there is none.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter().collect();
        Self { name: name.into(), values, deviations: Vec::new(), references: Vec::new() }
    }

    /// Standard deviations, drawn as whiskers.
    pub fn with_deviations(mut self, deviations: impl IntoIterator<Item = f64>) -> Self {
        self.deviations = deviations.into_iter().map(f64::abs).collect();
        self
    }

    /// A number to compare each bar with, such as the paper's, drawn as a line across it; NaN where there is none.
    pub fn with_references(mut self, references: impl IntoIterator<Item = f64>) -> Self {
        self.references = references.into_iter().collect();
        self
    }

    fn deviation(&self, group: usize) -> f64 {
        self.deviations.get(group).copied().filter(|d| d.is_finite()).unwrap_or(0.0)
    }
}

/// Bars in groups, each with its value written on top.
#[derive(Clone, Debug)]
pub struct BarChart {
    words: Words,
    groups: Vec<String>,
    bars: Vec<Bars>,
    reference: String,
    decimals: Option<usize>,
    most: f64,
    may_cut: bool,
}

impl BarChart {
    /// A chart with a place for each group.
    pub fn new(title: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            words: Words::new(title.into()),
            groups: groups.into_iter().map(Into::into).collect(),
            bars: Vec::new(),
            reference: "the paper's number".into(),
            decimals: None,
            most: f64::INFINITY,
            may_cut: false,
        }
    }

    /// What the axes show, with units.
    pub fn with_axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        (self.words.x, self.words.y) = (x.into(), y.into());
        self
    }

    /// Width and height in pixels; 720 by 400 if nothing is said.
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.words.set_size(width, height);
        self
    }

    /// Bars of one more colour.
    pub fn with_bars(mut self, bars: Bars) -> Self {
        self.bars.push(bars);
        self
    }

    /// What the legend calls the references; "the paper's number" if nothing is said.
    pub fn with_reference_name(mut self, name: impl Into<String>) -> Self {
        self.reference = name.into();
        self
    }

    /// Digits after the point in the values on top; about four digits that count if nothing is said.
    pub fn with_decimals(mut self, decimals: usize) -> Self {
        self.decimals = Some(decimals.min(12));
        self
    }

    /// The largest number there can be, such as 100 percent: the axis and its whiskers end there.
    pub fn with_most(mut self, most: f64) -> Self {
        self.most = most;
        self
    }

    /// If all values lie in the upper half of the axis, the lower half is left out, and the axis says so. They are
    /// points then: the length of a bar would tell a wrong story.
    pub fn with_cut(mut self) -> Self {
        self.may_cut = true;
        self
    }

    fn label(&self, value: f64) -> String {
        self.decimals.map_or_else(|| short(value), |decimals| fixed(value, decimals))
    }

    fn legend(&self, cut: bool) -> Legend {
        let named = self.bars.len() > 1 || self.has_references();
        let bars = self.bars.iter().enumerate().filter(|_| named);
        let sample = if cut { Sample::Marker } else { Sample::Square };
        let mut entries: Vec<(Sample, String)> =
            bars.map(|(place, bars)| (sample(place), bars.name.clone())).collect();
        if self.has_references() {
            entries.push((Sample::Reference, self.reference.clone()));
        }
        Legend::new(entries, Frame::legend_room(&self.words))
    }

    fn has_references(&self) -> bool {
        self.bars.iter().any(|bars| bars.references.iter().any(|r| r.is_finite()))
    }

    /// All heights that must fit.
    fn heights(&self) -> Vec<f64> {
        let values = self.bars.iter().flat_map(|bars| {
            let tops = bars.values.iter().enumerate().flat_map(|(group, &value)| {
                let room = bars.deviation(group);
                [value - room, value, value + room]
            });
            tops.chain(bars.references.iter().copied())
        });
        values.filter(|value| value.is_finite()).map(|value| value.min(self.most)).collect()
    }

    /// Whether the lower half of the axis would be empty.
    fn is_cut(&self, heights: &[f64]) -> bool {
        let [least, most] = Extent::of(heights.iter().copied(), false).ends();
        self.may_cut && !heights.is_empty() && least > most / 2.0
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let heights = self.heights();
        let cut = self.is_cut(&heights);
        let legend = self.legend(cut);
        let slot = (self.words.width - 80.0) / self.groups.len().max(1) as f64;
        let width = (slot * 0.84 / self.bars.len().max(1) as f64).min(MOST_WIDTH);
        let values = self.bars.iter().flat_map(|bars| &bars.values).filter(|value| value.is_finite());
        let longest = values.map(|&value| text::width(&self.label(value), LABEL)).fold(0.0, f64::max);
        let upright = longest > width + 4.0;
        let label_room = if upright { longest + 8.0 } else { 18.0 };
        let names = self.groups.iter().map(|name| text::width(name, TICK)).fold(0.0, f64::max).min(150.0);
        let slanted = names > slot - 6.0;
        let below = if slanted { names * 0.64 + 22.0 } else { 22.0 };
        let below_zero = heights.iter().any(|&height| height < 0.0);
        let base = (!cut).then_some(0.0);
        let y = Scale::linear(Extent::of(heights.into_iter().chain(base), false), true, false, 5);
        let mut words = self.words.clone();
        if cut {
            words.y.push_str("; the axis does not begin at 0");
        }
        let mut frame = Frame::new(&words, &legend, y.label_width(TICK) + 9.0, below);
        // Labels stand outside the bars, so each end that has bars needs room for them.
        let under = if below_zero { label_room } else { 0.0 };
        let y = y.placed(frame.bottom - under, frame.top + label_room);
        frame.y_axis(&y);
        let slot = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let width = width.min(slot * 0.84 / self.bars.len().max(1) as f64);
        for (group, name) in self.groups.iter().enumerate() {
            let middle = frame.left + (group as f64 + 0.5) * slot;
            let start = middle - width * self.bars.len() as f64 / 2.0;
            for (place, bars) in self.bars.iter().enumerate() {
                let left = start + place as f64 * width;
                self.bar(&mut frame, &y, (place, bars), group, (left, width), (upright, cut));
            }
            self.name(&mut frame, name, middle, slot, slanted);
        }
        frame.base(if cut { frame.bottom } else { y.clamped(0.0) });
        if self.groups.is_empty() || self.bars.is_empty() {
            frame.empty();
        }
        frame.drawing.finish()
    }

    fn name(&self, frame: &mut Frame, name: &str, middle: f64, slot: f64, slanted: bool) {
        let (x, y) = (middle, frame.bottom + 17.0);
        let letters = if slanted {
            Letters::new(x + 4.0, y - 2.0, text::fitted(name, TICK, 150.0)).end().turned(-40.0)
        } else {
            Letters::new(x, y, text::fitted(name, TICK, slot)).middle()
        };
        frame.drawing.write(&letters.size(TICK));
    }

    fn bar(
        &self,
        frame: &mut Frame,
        y: &Scale,
        (place, bars): (usize, &Bars),
        group: usize,
        (left, width): (f64, f64),
        (upright, cut): (bool, bool),
    ) {
        let Some(&value) = bars.values.get(group) else { return };
        let reference = bars.references.get(group).copied().filter(|r| r.is_finite());
        let (middle, zero) = (left + width / 2.0, y.clamped(0.0));
        // A bar is crossed by its reference, a point would be hidden.
        if cut {
            self.mark(frame, y, reference, (left + width * 0.12, left + width * 0.88));
        }
        if let Some(end) = y.at(value) {
            let deviation = bars.deviation(group);
            let mut hint = format!("{} {}: {}", self.groups[group], bars.name, self.label(value));
            if deviation > 0.0 {
                hint.push_str(&format!(" ± {}", self.label(deviation)));
            }
            if let Some(reference) = reference {
                hint.push_str(&format!("\n{}: {}", self.reference, self.label(reference)));
            }
            let area = [left + 1.0, end.min(zero), width - 2.0, (end - zero).abs()];
            frame.drawing.rect(area, Role::Series(place), if cut { 0.0 } else { 1.0 }, &hint);
            let up = value >= 0.0;
            let mut tip = end;
            if deviation > 0.0 {
                let (low, high) = (y.clamped(value - deviation), y.clamped(value + deviation));
                frame.drawing.line((middle, low), (middle, high), Role::Ink, 1.2);
                for end in [low, high] {
                    frame.drawing.line((middle - 4.0, end), (middle + 4.0, end), Role::Ink, 1.2);
                }
                tip = if up { high } else { low };
            }
            if cut {
                frame.drawing.fill(&marker(place, middle, end, POINT), Role::Series(place), 1.0);
                tip = tip.min(end - POINT);
            }
            // A reference just outside the bar would cross the value.
            let long = if upright { text::width(&self.label(value), LABEL) + 6.0 } else { 18.0 };
            if let Some(mark) = reference.and_then(|r| y.at(r)) {
                let away = if up { tip - mark } else { mark - tip };
                if (-2.0..long).contains(&away) {
                    tip = mark;
                }
            }
            let label = self.label(value);
            let letters = match (upright, up) {
                (false, true) => Letters::new(middle, tip - 5.0, label).middle(),
                (false, false) => Letters::new(middle, tip + 13.0, label).middle(),
                (true, true) => Letters::new(middle + 4.0, tip - 5.0, label).turned(-90.0),
                (true, false) => Letters::new(middle + 4.0, tip + 5.0, label).end().turned(-90.0),
            };
            frame.drawing.write(&letters.size(LABEL));
        }
        if !cut {
            self.mark(frame, y, reference, (left - 1.0, left + width + 1.0));
        }
    }

    fn mark(&self, frame: &mut Frame, y: &Scale, reference: Option<f64>, (from, to): (f64, f64)) {
        if let Some(mark) = reference.and_then(|r| y.at(r)) {
            frame.drawing.line((from, mark), (to, mark), Role::Paper, 5.0);
            frame.drawing.line((from, mark), (to, mark), Role::Ink, 2.5);
        }
    }
}
