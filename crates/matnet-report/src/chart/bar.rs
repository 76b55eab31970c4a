//! Bar charts.

use super::frame::{ChartOptions, Frame, axes_and_size};
use super::legend::{Legend, LegendKey};
use super::scale::{Extent, Scale};
use crate::Svg;
use crate::color::{ColorRole, marker};
use crate::layout::{TICK_SIZE, ellipsize, text_width, widest};
use crate::svg::Label;
use crate::text::{fixed, number};

/// Largest and smallest width of a bar in pixels; groups that do not fit continue in a further row.
const MAX_BAR: f64 = 62.0;
const MIN_BAR: f64 = 20.0;
const VALUE_SIZE: f64 = 12.0;
/// Radius of a point.
const POINT: f64 = 5.0;
/// Group names are cut at this width.
const MAX_NAME: f64 = 150.0;
/// Pixels between rows.
const ROW_GAP: f64 = 12.0;

/// Bars of one colour, one in each group of a [`BarChart`].
#[derive(Clone, Debug)]
pub struct Bars {
    name: String,
    values: Vec<f64>,
    errors: Vec<f64>,
    references: Vec<f64>,
}

impl Bars {
    /// A value for each group; NaN where there is none.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter().collect();
        Self { name: name.into(), values, errors: Vec::new(), references: Vec::new() }
    }

    /// Standard deviations, drawn as error bars; none where the deviation is 0 or NaN.
    pub fn with_error_bars(mut self, deviations: impl IntoIterator<Item = f64>) -> Self {
        self.errors = deviations.into_iter().map(f64::abs).collect();
        self
    }

    /// A reference value for each bar, such as a published result, drawn as a line across it; NaN where there is none.
    pub fn with_references(mut self, references: impl IntoIterator<Item = f64>) -> Self {
        self.references = references.into_iter().collect();
        self
    }

    fn error(&self, group: usize) -> f64 {
        self.errors.get(group).copied().filter(|error| error.is_finite()).unwrap_or(0.0)
    }

    fn reference(&self, group: usize) -> Option<f64> {
        self.references.get(group).copied().filter(|reference| reference.is_finite())
    }
}

/// Bars in groups, each with its value written on top.
///
/// Groups that do not fit beside each other continue in further rows below.
#[derive(Clone, Debug)]
pub struct BarChart {
    options: ChartOptions,
    groups: Vec<String>,
    bars: Vec<Bars>,
    reference_name: String,
    decimals: Option<usize>,
    y_max: f64,
    may_truncate: bool,
}

/// What the rows of a chart share.
struct Layout {
    y: Scale,
    bar_width: f64,
    /// The lower part of the axis is left out, so values are points instead of bars.
    truncated: bool,
    /// Values are written upwards, because they are wider than a bar.
    upright: bool,
    /// Group names are slanted, because they are wider than a group.
    slanted: bool,
}

impl BarChart {
    /// A chart with the names of its groups.
    pub fn new(title: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            options: ChartOptions::new(title),
            groups: groups.into_iter().map(Into::into).collect(),
            bars: Vec::new(),
            reference_name: "reference".into(),
            decimals: None,
            y_max: f64::INFINITY,
            may_truncate: false,
        }
    }

    axes_and_size!("Width, and height of one row, in pixels; 560 by 360 by default.");

    /// Adds bars of one more colour.
    pub fn with_bars(mut self, bars: Bars) -> Self {
        self.bars.push(bars);
        self
    }

    /// Name of the reference values in the legend; "reference" by default.
    pub fn with_reference_name(mut self, name: impl Into<String>) -> Self {
        self.reference_name = name.into();
        self
    }

    /// Digits after the point in the values on top; about four significant digits by default.
    pub fn with_decimals(mut self, decimals: usize) -> Self {
        self.decimals = Some(decimals.min(12));
        self
    }

    /// The largest possible value, such as 100 percent: the axis and the error bars end there.
    pub fn with_y_max(mut self, max: f64) -> Self {
        self.y_max = max;
        self
    }

    /// Truncates the axis if all values lie in its upper half, and says so. Values are then drawn as points, because the
    /// length of a bar would mislead.
    pub fn with_truncated_axis(mut self) -> Self {
        self.may_truncate = true;
        self
    }

    /// Whether the chart draws at least one error bar, so that a caption can explain them.
    pub fn has_error_bars(&self) -> bool {
        let has = |bars: &Bars| {
            bars.values.iter().enumerate().any(|(group, x)| x.is_finite() && bars.error(group) > 0.0)
        };
        self.bars.iter().any(has)
    }

    fn value_text(&self, value: f64) -> String {
        self.decimals.map_or_else(|| number(value), |decimals| fixed(value, decimals))
    }

    fn legend(&self, truncated: bool) -> Legend {
        let has_references = self.bars.iter().any(|bars| bars.references.iter().any(|r| r.is_finite()));
        let named = self.bars.len() > 1 || has_references;
        let bars = self.bars.iter().enumerate().filter(|_| named);
        let key = if truncated { LegendKey::Marker } else { LegendKey::Square };
        let bars = bars.map(|(place, bars)| (key(place), bars.name.clone()));
        let reference = has_references.then(|| (LegendKey::Reference, self.reference_name.clone()));
        Legend::new(bars.chain(reference), Frame::legend_room(&self.options))
    }

    /// All heights that the axis must show.
    fn heights(&self) -> Vec<f64> {
        let values = self.bars.iter().flat_map(|bars| {
            let ends = bars.values.iter().enumerate().flat_map(|(group, &value)| {
                let error = bars.error(group);
                [value - error, value, value + error]
            });
            ends.chain(bars.references.iter().copied())
        });
        values.filter(|value| value.is_finite()).map(|value| value.min(self.y_max)).collect()
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let heights = self.heights();
        let [low, high] = Extent::of(heights.iter().copied(), false).ends();
        let truncated = self.may_truncate && low > high / 2.0 && !heights.is_empty();
        let legend = self.legend(truncated);

        let series = self.bars.len().max(1) as f64;
        let room = self.options.width - 80.0;
        let fitting = (room / (series * MIN_BAR)).floor().max(1.0) as usize;
        let rows = self.groups.len().div_ceil(fitting).max(1);
        let per_row = self.groups.len().div_ceil(rows).max(1);
        let slot = room / per_row as f64;
        let bar_width = (slot * 0.84 / series).min(MAX_BAR);
        let values = self.bars.iter().flat_map(|bars| &bars.values).filter(|value| value.is_finite());
        let longest =
            values.map(|&value| text_width(&self.value_text(value), VALUE_SIZE)).fold(0.0, f64::max);
        let upright = longest > bar_width + 4.0;
        let value_room = if upright { longest + 8.0 } else { 18.0 };
        let names = widest(&self.groups, TICK_SIZE).min(MAX_NAME);
        let slanted = names > slot - 6.0;
        let below = if slanted { names * 0.64 + 22.0 } else { 22.0 };

        // Long values and names make the chart taller, not the bars shorter.
        let mut options = self.options.clone();
        let row_height = options.height + (value_room - 18.0) + (below - 22.0);
        options.height = row_height + (rows - 1) as f64 * (row_height - 60.0);
        if truncated {
            options.y.push_str("; the axis does not start at 0");
        }
        // Values are written outside the bars, so each end that has bars needs room for them.
        let under = if low < 0.0 { value_room } else { 0.0 };
        let base = (!truncated).then_some(0.0);
        let y = Scale::linear(Extent::of(heights.iter().copied().chain(base), false), true, false, 5);
        let mut frame = Frame::new(&options, &legend, y.label_width() + 9.0, below);
        if heights.is_empty() {
            return frame.no_data();
        }
        let plot_height = (frame.bottom - frame.top - (rows - 1) as f64 * (below + ROW_GAP)) / rows as f64;
        let first_top = frame.top;
        for row in 0..rows {
            frame.top = first_top + row as f64 * (plot_height + below + ROW_GAP);
            frame.bottom = frame.top + plot_height;
            let y = y.clone().placed(frame.bottom - under, frame.top + value_room);
            let groups = row * per_row..((row + 1) * per_row).min(self.groups.len());
            self.row(&mut frame, groups, per_row, Layout { y, bar_width, truncated, upright, slanted });
        }
        frame.drawing.finish()
    }

    fn row(&self, frame: &mut Frame, groups: std::ops::Range<usize>, per_row: usize, mut layout: Layout) {
        frame.y_axis(&layout.y);
        let slot = (frame.right - frame.left) / per_row as f64;
        layout.bar_width = layout.bar_width.min(slot * 0.84 / self.bars.len().max(1) as f64);
        for (place, group) in groups.enumerate() {
            let middle = frame.left + (place as f64 + 0.5) * slot;
            let start = middle - layout.bar_width * self.bars.len() as f64 / 2.0;
            for series in 0..self.bars.len() {
                self.bar(frame, &layout, (series, group), start + series as f64 * layout.bar_width);
            }
            let (name, y) = (&self.groups[group], frame.bottom + 17.0);
            let label = match layout.slanted {
                true => Label::new(middle + 4.0, y - 2.0, ellipsize(name, TICK_SIZE, MAX_NAME))
                    .end()
                    .rotated(-40.0),
                false => Label::new(middle, y, ellipsize(name, TICK_SIZE, slot)).middle(),
            };
            frame.drawing.write(&label.size(TICK_SIZE));
        }
        frame.base(if layout.truncated { frame.bottom } else { layout.y.clamped(0.0) });
    }

    fn bar(&self, frame: &mut Frame, layout: &Layout, (series, group): (usize, usize), left: f64) {
        let Layout { y, bar_width: width, truncated, upright, .. } = layout;
        let bars = &self.bars[series];
        let Some(&value) = bars.values.get(group) else { return };
        let reference = bars.reference(group);
        let middle = left + width / 2.0;
        // A reference line crosses a bar, but would hide a point.
        if *truncated {
            draw_reference(frame, y, reference, (left + width * 0.12, left + width * 0.88));
        }
        if let Some(end) = y.at(value) {
            let (error, zero) = (bars.error(group), y.clamped(0.0));
            let area = [left + 1.0, end.min(zero), width - 2.0, (end - zero).abs()];
            let opacity = if *truncated { 0.0 } else { 1.0 };
            frame.drawing.rect(area, ColorRole::Series(series), opacity, &self.tooltip(bars, group));
            let up = value >= 0.0;
            let mut tip = end;
            if error > 0.0 {
                let (low, high) = (y.clamped(value - error), y.clamped(value + error));
                frame.drawing.line((middle, low), (middle, high), ColorRole::Text, 1.2);
                for end in [low, high] {
                    frame.drawing.line((middle - 4.0, end), (middle + 4.0, end), ColorRole::Text, 1.2);
                }
                tip = if up { high } else { low };
            }
            if *truncated {
                frame.drawing.fill(&marker(series, middle, end, POINT), ColorRole::Series(series), 1.0);
                tip = tip.min(end - POINT);
            }
            // A reference just outside the bar would cross the value.
            let text = self.value_text(value);
            let length = if *upright { text_width(&text, VALUE_SIZE) + 6.0 } else { 18.0 };
            if let Some(mark) = reference.and_then(|r| y.at(r)) {
                let away = if up { tip - mark } else { mark - tip };
                if (-2.0..length).contains(&away) {
                    tip = mark;
                }
            }
            let label = match (upright, up) {
                (false, true) => Label::new(middle, tip - 5.0, text).middle(),
                (false, false) => Label::new(middle, tip + 13.0, text).middle(),
                (true, true) => Label::new(middle + 4.0, tip - 5.0, text).rotated(-90.0),
                (true, false) => Label::new(middle + 4.0, tip + 5.0, text).end().rotated(-90.0),
            };
            frame.drawing.write(&label.size(VALUE_SIZE));
        }
        if !truncated {
            draw_reference(frame, y, reference, (left - 1.0, left + width + 1.0));
        }
    }

    fn tooltip(&self, bars: &Bars, group: usize) -> String {
        let mut text =
            format!("{} {}: {}", self.groups[group], bars.name, self.value_text(bars.values[group]));
        if bars.error(group) > 0.0 {
            text.push_str(&format!(" ± {}", self.value_text(bars.error(group))));
        }
        if let Some(reference) = bars.reference(group) {
            text.push_str(&format!("\n{}: {}", self.reference_name, self.value_text(reference)));
        }
        text
    }
}

fn draw_reference(frame: &mut Frame, y: &Scale, reference: Option<f64>, (from, to): (f64, f64)) {
    if let Some(at) = reference.and_then(|reference| y.at(reference)) {
        frame.drawing.line((from, at), (to, at), ColorRole::Background, 5.0);
        frame.drawing.line((from, at), (to, at), ColorRole::Text, 2.5);
    }
}
