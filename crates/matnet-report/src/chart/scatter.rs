//! Scatter plots in the plane.

use super::frame::{ChartOptions, Frame, axes_and_size};
use super::legend::{Guide, Legend, LegendKey};
use super::scale::{Extent, Scale};
use crate::Svg;
use crate::color::{ColorRole, marker};

/// Radius of a point, and its opacity: where many lie, it is darker.
const RADIUS: f64 = 2.6;
const OPACITY: f64 = 0.5;

/// Points of one or more kinds, for example predicted against true values.
#[derive(Clone, Debug)]
pub struct Scatter {
    options: ChartOptions,
    series: Vec<(String, Vec<(f64, f64)>)>,
    guide: Option<Guide>,
}

impl Scatter {
    /// A plot without points.
    pub fn new(title: impl Into<String>) -> Self {
        Self { options: ChartOptions::new(title), series: Vec::new(), guide: None }
    }

    axes_and_size!("Width and height in pixels; 560 by 360 by default.");

    /// A dashed line to compare with, between two points; the axes show both.
    pub fn with_guide(mut self, name: impl Into<String>, from: (f64, f64), to: (f64, f64)) -> Self {
        self.guide = Some(Guide { name: name.into(), ends: [from, to] });
        self
    }

    /// Adds points; those that cannot be drawn are left out.
    pub fn with_points(
        mut self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.series.push((name.into(), points.into_iter().collect()));
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let entries = self.series.iter().enumerate();
        let entries = entries.map(|(place, (name, _))| (LegendKey::Marker(place), name.clone()));
        let entries = entries.chain(self.guide.as_ref().map(Guide::entry));
        let legend = Legend::new(entries, Frame::legend_room(&self.options));
        let ends = || self.guide.iter().flat_map(|guide| guide.ends);
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let wanted = |pixels: f64, each: f64| ((pixels / each) as usize).max(3);
        let x = Extent::of(points().chain(ends()).map(|point| point.0), false);
        let x = Scale::linear(x, true, false, wanted(self.options.width, 60.0));
        let y = Extent::of(points().chain(ends()).map(|point| point.1), false);
        let y = Scale::linear(y, true, false, wanted(self.options.height, 45.0));
        let mut frame = Frame::new(&self.options, &legend, y.label_width() + 9.0, 22.0);
        let x = x.placed(frame.left + 8.0, frame.right - 8.0);
        let y = y.placed(frame.bottom, frame.top);
        let marks: Vec<String> = self
            .series
            .iter()
            .enumerate()
            .map(|(place, (_, points))| {
                let pixels = points.iter().filter_map(|point| Some((x.at(point.0)?, y.at(point.1)?)));
                pixels.map(|(x, y)| marker(place, x, y, RADIUS)).collect()
            })
            .collect();
        if marks.iter().all(String::is_empty) {
            return frame.no_data();
        }
        frame.y_axis(&y);
        frame.x_axis(&x);
        if let Some(guide) = &self.guide {
            guide.draw(&mut frame.drawing, &x, &y);
        }
        for (place, marks) in marks.iter().enumerate() {
            frame.drawing.fill(marks, ColorRole::Series(place), OPACITY);
        }
        frame.drawing.finish()
    }
}
