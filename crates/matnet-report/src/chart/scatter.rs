//! Points in the plane, by class.

use super::frame::{Frame, TICK, Words};
use super::legend::{Legend, Sample};
use super::scale::{Extent, Scale};
use crate::Svg;
use crate::colour::{Role, marker};

/// Points of one class of a [`Scatter`].
#[derive(Clone, Debug)]
pub struct ScatterClass {
    name: String,
    points: Vec<[f64; 2]>,
}

impl ScatterClass {
    /// Named points; those that are not numbers are left out.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect() }
    }
}

/// Points in the plane, each class with its own colour and marker.
#[derive(Clone, Debug)]
pub struct Scatter {
    words: Words,
    classes: Vec<ScatterClass>,
}

impl Scatter {
    /// A chart without points.
    pub fn new(title: impl Into<String>) -> Self {
        let mut words = Words::new(title.into());
        words.set_size(640, 520);
        Self { words, classes: Vec::new() }
    }

    /// What the axes show, with units.
    pub fn with_axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        (self.words.x, self.words.y) = (x.into(), y.into());
        self
    }

    /// Width and height in pixels; 640 by 520 if nothing is said.
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.words.set_size(width, height);
        self
    }

    /// One more class.
    pub fn with_class(mut self, class: ScatterClass) -> Self {
        self.classes.push(class);
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let entries =
            self.classes.iter().enumerate().map(|(i, class)| (Sample::Marker(i), class.name.clone()));
        let legend = Legend::new(entries, Frame::legend_room(&self.words));
        let points = || self.classes.iter().flat_map(|class| &class.points);
        let extent = |axis: usize| Extent::of(points().map(|point| point[axis]), false).padded(0.02);
        let x = Scale::linear(extent(0), true, false, 6);
        let y = Scale::linear(extent(1), true, false, 6);
        let mut frame = Frame::new(&self.words, &legend, y.label_width(TICK) + 9.0, 22.0);
        let (x, y) = (x.placed(frame.left + 6.0, frame.right - 6.0), y.placed(frame.bottom - 6.0, frame.top));
        frame.y_axis(&y);
        frame.x_axis(&x);
        let radius = radius(points().count());
        let mut drawn = 0;
        for (place, class) in self.classes.iter().enumerate() {
            let at = class.points.iter().filter_map(|&[px, py]| Some((x.at(px)?, y.at(py)?)));
            let marks: Vec<String> = at.map(|(x, y)| marker(place, x, y, radius)).collect();
            drawn += marks.len();
            frame.drawing.fill(&marks.concat(), Role::Series(place), 0.8);
        }
        if drawn == 0 {
            frame.empty();
        }
        frame.drawing.finish()
    }
}

/// The more points, the smaller.
pub(super) fn radius(points: usize) -> f64 {
    match points {
        0..150 => 4.0,
        150..800 => 3.2,
        800..3000 => 2.5,
        _ => 1.8,
    }
}
