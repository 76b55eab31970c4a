//! Lines over a common axis.

use std::fmt::Write;

use super::frame::{Frame, TICK, Words};
use super::legend::{Legend, Sample};
use super::scale::{Extent, Scale};
use super::series::Series;
use crate::Svg;
use crate::colour::{Role, dashes, marker};
use crate::number::{coordinate as c, short};

/// Series of at most so many points have their points marked.
const FEW: usize = 25;
/// So many places on the x axis at most say their values.
const MOST_HINTS: usize = 300;

/// Several named lines, for example errors over epochs.
///
/// In a browser, resting on the chart shows the values at that place.
#[derive(Clone, Debug)]
pub struct LineChart {
    words: Words,
    log_x: bool,
    log_y: bool,
    series: Vec<Series>,
}

impl LineChart {
    /// A chart without lines.
    pub fn new(title: impl Into<String>) -> Self {
        Self { words: Words::new(title.into()), log_x: false, log_y: false, series: Vec::new() }
    }

    /// What the axes show, with units: `"epoch"`, `"error (%)"`.
    pub fn with_axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        (self.words.x, self.words.y) = (x.into(), y.into());
        self
    }

    /// Equal factors instead of equal steps on the x axis. What is not positive leaves a gap.
    pub fn with_log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Equal factors instead of equal steps on the y axis. What is not positive leaves a gap.
    pub fn with_log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Width and height in pixels; 720 by 400 if nothing is said.
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.words.set_size(width, height);
        self
    }

    /// One more line.
    pub fn with_series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let entries =
            self.series.iter().enumerate().map(|(i, series)| (Sample::Line(i), series.name.clone()));
        let legend = Legend::new(entries, Frame::legend_room(&self.words));
        let xs = || self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let whole = xs().all(|x| !x.is_finite() || x.fract() == 0.0);
        let extent = Extent::of(xs(), self.log_x);
        let x = match self.log_x {
            true => Scale::log(extent),
            false => Scale::linear(extent, false, whole, (self.words.width / 60.0) as usize),
        };
        let y = self.y_scale();
        let mut frame = Frame::new(&self.words, &legend, y.label_width(TICK) + 9.0, 22.0);
        let x = x.placed(frame.left + 8.0, frame.right - 8.0);
        let y = y.placed(frame.bottom, frame.top);
        frame.y_axis(&y);
        frame.x_axis(&x);
        for (place, series) in self.series.iter().enumerate() {
            frame.drawing.fill(&band(series, &x, &y), Role::Series(place), 0.16);
        }
        let mut anything = false;
        for (place, series) in self.series.iter().enumerate() {
            let (path, marks) = lines(place, series, &x, &y);
            anything |= !path.is_empty() || !marks.is_empty();
            frame.drawing.stroke(&path, Role::Series(place), 2.0, dashes(place));
            frame.drawing.fill(&marks, Role::Series(place), 1.0);
        }
        if anything {
            self.hints(&mut frame, &x);
        } else {
            frame.empty();
        }
        frame.drawing.finish()
    }

    fn y_scale(&self) -> Scale {
        let all = self.series.iter().flat_map(|series| {
            series.points.iter().zip(series.bounds()).filter(|((x, y), _)| x.is_finite() && y.is_finite())
        });
        // A band that reaches below zero has no lower end on a log axis.
        let extent = Extent::of(all.flat_map(|(_, bounds)| bounds), self.log_y);
        if self.log_y {
            Scale::log(extent)
        } else {
            Scale::linear(extent, true, false, ((self.words.height / 45.0) as usize).max(3))
        }
    }

    /// Columns that say all values at their place.
    fn hints(&self, frame: &mut Frame, scale: &Scale) {
        let mut xs: Vec<f64> =
            self.series.iter().flat_map(|series| series.points.iter().map(|p| p.0)).collect();
        xs.retain(|&x| scale.at(x).is_some());
        xs.sort_unstable_by(f64::total_cmp);
        xs.dedup();
        let every = xs.len().div_ceil(MOST_HINTS).max(1);
        let xs: Vec<f64> = xs.into_iter().step_by(every).collect();
        let at: Vec<f64> = xs.iter().map(|&x| scale.clamped(x)).collect();
        for (i, (x, middle)) in xs.iter().zip(&at).enumerate() {
            let from = if i == 0 { frame.left } else { (at[i - 1] + middle) / 2.0 };
            let to = at.get(i + 1).map_or(frame.right, |next| (middle + next) / 2.0);
            let mut hint = format!("{} {}", self.words.x, short(*x)).trim().to_string();
            for series in &self.series {
                let found = series.points.iter().zip(series.bounds()).find(|((place, _), _)| place == x);
                if let Some(((_, y), [_, _, high])) = found {
                    let _ = write!(hint, "\n{}: {}", series.name, short(*y));
                    if high > *y {
                        let _ = write!(hint, " ± {}", short(high - y));
                    }
                }
            }
            frame.drawing.hint([from, frame.top, to - from, frame.bottom - frame.top], *middle, &hint);
        }
    }
}

/// The line as a path, and the markers: at every point of a short series, and where a point stands alone.
fn lines(place: usize, series: &Series, x: &Scale, y: &Scale) -> (String, String) {
    let (mut path, mut marks) = (String::new(), String::new());
    for run in runs(series, x, y) {
        for (step, &(x, y, _)) in run.iter().enumerate() {
            if run.len() > 1 {
                let _ = write!(path, "{}{} {}", if step == 0 { "M" } else { "L" }, c(x), c(y));
            }
            if run.len() == 1 || series.points.len() <= FEW {
                marks.push_str(&marker(place, x, y, 3.5));
            }
        }
    }
    (path, marks)
}

/// The band as closed outlines.
fn band(series: &Series, x: &Scale, y: &Scale) -> String {
    let mut path = String::new();
    if series.band.is_empty() {
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

/// Points without a gap between them: where they are, and the values of the band.
fn runs(series: &Series, x: &Scale, y: &Scale) -> impl Iterator<Item = Vec<(f64, f64, [f64; 3])>> {
    let mut all = vec![Vec::new()];
    for (&(px, py), bounds) in series.points.iter().zip(series.bounds()) {
        match (x.at(px), y.at(py), all.last_mut()) {
            (Some(px), Some(py), Some(run)) => run.push((px, py, bounds)),
            _ => all.push(Vec::new()),
        }
    }
    all.into_iter().filter(|run| !run.is_empty())
}
