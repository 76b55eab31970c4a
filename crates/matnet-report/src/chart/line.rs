//! Line charts.

use std::fmt::Write;

use super::frame::{ChartOptions, Frame, axes_and_size};
use super::legend::{Guide, Legend, LegendKey};
use super::scale::{Extent, Scale};
use super::series::ChartSeries;
use crate::Svg;
use crate::color::{ColorRole, dashes, marker};
use crate::text::{coordinate as c, number};

/// Series with at most this many points have a marker at every point.
const FEW: usize = 25;
/// Largest number of tooltips along the x axis.
const MAX_TOOLTIPS: usize = 300;

/// Several named lines, for example error rates over epochs.
///
/// In a browser, a tooltip shows the values under the pointer.
#[derive(Clone, Debug)]
pub struct LineChart {
    options: ChartOptions,
    log_x: bool,
    series: Vec<ChartSeries>,
    guide: Option<Guide>,
    /// Points that the axes must show.
    shown: Vec<(f64, f64)>,
    /// Whether the points of short series have markers.
    markers: bool,
}

impl LineChart {
    /// A chart without lines.
    pub fn new(title: impl Into<String>) -> Self {
        let options = ChartOptions::new(title);
        let (series, shown) = (Vec::new(), Vec::new());
        Self { options, log_x: false, series, guide: None, shown, markers: true }
    }

    axes_and_size!("Width and height in pixels; 560 by 360 by default.");

    /// Makes the x axis logarithmic. Values that are not positive leave a gap.
    pub fn with_log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// A dashed line to compare with, between two points; the axes show both.
    pub fn with_guide(mut self, name: impl Into<String>, from: (f64, f64), to: (f64, f64)) -> Self {
        self.guide = Some(Guide { name: name.into(), ends: [from, to] });
        self.shown.extend([from, to]);
        self
    }

    /// Axes that show at least the area between two points.
    pub fn with_area(mut self, from: (f64, f64), to: (f64, f64)) -> Self {
        self.shown.extend([from, to]);
        self
    }

    /// Leaves out the markers of short series, for curves whose points are nothing in themselves.
    pub fn without_markers(mut self) -> Self {
        self.markers = false;
        self
    }

    /// Adds a line.
    pub fn with_series(mut self, series: ChartSeries) -> Self {
        self.series.push(series);
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let key = if self.markers { LegendKey::Line } else { LegendKey::Curve };
        let entries = self.series.iter().enumerate().map(|(i, series)| (key(i), series.name.clone()));
        let entries = entries.chain(self.guide.as_ref().map(Guide::entry));
        let legend = Legend::new(entries, Frame::legend_room(&self.options));
        let points = self.series.iter().flat_map(|series| &series.points).chain(&self.shown);
        let xs = || points.clone().map(|point| point.0);
        let whole = xs().all(|x| !x.is_finite() || x.fract() == 0.0);
        let extent = Extent::of(xs(), self.log_x);
        let x = match self.log_x {
            true => Scale::log(extent),
            false => Scale::linear(extent, false, whole, (self.options.width / 60.0) as usize),
        };
        let y = self.y_scale();
        let mut frame = Frame::new(&self.options, &legend, y.label_width() + 9.0, 22.0);
        let x = x.placed(frame.left + 8.0, frame.right - 8.0);
        let y = y.placed(frame.bottom, frame.top);
        let few = if self.markers { FEW } else { 0 };
        let lines = self.series.iter().enumerate().map(|(place, series)| lines(place, series, few, &x, &y));
        let lines: Vec<(String, String)> = lines.collect();
        if lines.iter().all(|(path, marks)| path.is_empty() && marks.is_empty()) {
            return frame.no_data();
        }
        frame.y_axis(&y);
        frame.x_axis(&x);
        if let Some(guide) = &self.guide {
            guide.draw(&mut frame.drawing, &x, &y);
        }
        for (place, series) in self.series.iter().enumerate() {
            frame.drawing.fill(&band(series, &x, &y), ColorRole::Series(place), 0.16);
        }
        for (place, (path, marks)) in lines.iter().enumerate() {
            frame.drawing.stroke(path, ColorRole::Series(place), 2.0, dashes(place));
            frame.drawing.fill(marks, ColorRole::Series(place), 1.0);
        }
        self.tooltips(&mut frame, &x);
        frame.drawing.finish()
    }

    fn y_scale(&self) -> Scale {
        let all = self.series.iter().flat_map(|series| {
            series.points.iter().zip(series.bounds()).filter(|((x, y), _)| x.is_finite() && y.is_finite())
        });
        let shown = self.shown.iter().map(|point| point.1);
        let extent = Extent::of(all.flat_map(|(_, bounds)| bounds).chain(shown), false);
        Scale::linear(extent, true, false, ((self.options.height / 45.0) as usize).max(3))
    }

    /// Invisible columns whose tooltips show all values at their place.
    fn tooltips(&self, frame: &mut Frame, scale: &Scale) {
        let mut xs: Vec<f64> =
            self.series.iter().flat_map(|series| series.points.iter().map(|p| p.0)).collect();
        xs.retain(|&x| scale.at(x).is_some());
        xs.sort_unstable_by(f64::total_cmp);
        xs.dedup();
        let every = xs.len().div_ceil(MAX_TOOLTIPS).max(1);
        let xs: Vec<f64> = xs.into_iter().step_by(every).collect();
        let at: Vec<f64> = xs.iter().map(|&x| scale.clamped(x)).collect();
        for (i, (x, middle)) in xs.iter().zip(&at).enumerate() {
            let from = if i == 0 { frame.left } else { (at[i - 1] + middle) / 2.0 };
            let to = at.get(i + 1).map_or(frame.right, |next| (middle + next) / 2.0);
            let mut text = format!("{} {}", self.options.x, number(*x)).trim().to_string();
            for series in &self.series {
                let found = series.points.iter().zip(series.bounds()).find(|((place, _), _)| place == x);
                if let Some(((_, y), [_, _, high])) = found {
                    let _ = write!(text, "\n{}: {}", series.name, number(*y));
                    if high > *y {
                        let _ = write!(text, " ± {}", number(high - y));
                    }
                }
            }
            frame.drawing.tooltip([from, frame.top, to - from, frame.bottom - frame.top], *middle, &text);
        }
    }
}

/// The line as a path, and the markers: at every point of a series of at most `few` points, and at points without neighbours.
fn lines(place: usize, series: &ChartSeries, few: usize, x: &Scale, y: &Scale) -> (String, String) {
    let (mut path, mut marks) = (String::new(), String::new());
    for run in runs(series, x, y) {
        for (step, &(x, y, _)) in run.iter().enumerate() {
            if run.len() > 1 {
                let _ = write!(path, "{}{} {}", if step == 0 { "M" } else { "L" }, c(x), c(y));
            }
            if run.len() == 1 || series.points.len() <= few {
                marks.push_str(&marker(place, x, y, 3.5));
            }
        }
    }
    (path, marks)
}

/// The error band as closed outlines; empty if all deviations are 0.
fn band(series: &ChartSeries, x: &Scale, y: &Scale) -> String {
    let mut path = String::new();
    if !series.band.iter().any(|&deviation| deviation > 0.0) {
        return path;
    }
    for run in runs(series, x, y).filter(|run| run.len() > 1) {
        let upper = run.iter().map(|&(x, _, [_, _, high])| (x, y.clamped(high)));
        let lower = run.iter().rev().map(|&(x, _, [low, ..])| (x, y.clamped(low)));
        for (step, (x, y)) in upper.chain(lower).enumerate() {
            let _ = write!(path, "{}{} {}", if step == 0 { "M" } else { "L" }, c(x), c(y));
        }
        path.push('z');
    }
    path
}

/// Runs of points without a gap: their pixels, and the bounds of the band.
fn runs(series: &ChartSeries, x: &Scale, y: &Scale) -> impl Iterator<Item = Vec<(f64, f64, [f64; 3])>> {
    let mut all = vec![Vec::new()];
    for (&(px, py), bounds) in series.points.iter().zip(series.bounds()) {
        match (x.at(px), y.at(py), all.last_mut()) {
            (Some(px), Some(py), Some(run)) => run.push((px, py, bounds)),
            _ => all.push(Vec::new()),
        }
    }
    all.into_iter().filter(|run| !run.is_empty())
}
