//! Points in space, seen from one side.

use super::frame::{Frame, Words};
use super::legend::{Legend, Sample};
use super::scatter::radius;
use crate::Svg;
use crate::colour::{Role, marker};
use crate::svg::Letters;

/// The corner of a cube is the root of three from its middle; a little more for the names of the axes.
const REACH: f64 = 1.8;

/// Points of one class of a [`Scatter3`].
#[derive(Clone, Debug)]
pub struct Scatter3Class {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 3]>,
}

impl Scatter3Class {
    /// Named points; those that are not numbers are left out.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = [f64; 3]>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect() }
    }
}

/// From where points in space are seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Degrees around the upright axis.
    pub around: f64,
    /// Degrees above the ground.
    pub above: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { around: 35.0, above: 22.0 }
    }
}

/// Points in space, each class with its own colour and marker; on a page they can be turned.
#[derive(Clone, Debug)]
pub struct Scatter3 {
    pub(crate) words: Words,
    pub(crate) axes: [String; 3],
    pub(crate) camera: Camera,
    pub(crate) classes: Vec<Scatter3Class>,
}

impl Scatter3 {
    /// A chart without points.
    pub fn new(title: impl Into<String>) -> Self {
        let mut words = Words::new(title.into());
        words.set_size(640, 520);
        Self { words, axes: Default::default(), camera: Camera::default(), classes: Vec::new() }
    }

    /// Names of the three axes, the last of which stands upright.
    pub fn with_axes(mut self, axes: [&str; 3]) -> Self {
        self.axes = axes.map(Into::into);
        self
    }

    /// From where to look.
    pub fn with_camera(mut self, camera: Camera) -> Self {
        self.camera = camera;
        self
    }

    /// Width and height in pixels; 640 by 520 if nothing is said.
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.words.set_size(width, height);
        self
    }

    /// One more class.
    pub fn with_class(mut self, class: Scatter3Class) -> Self {
        self.classes.push(class);
        self
    }

    /// All points between −1 and 1, alike in all directions, with the number of their class; what cannot be drawn is
    /// left out.
    pub(crate) fn placed(&self) -> Vec<(usize, [f64; 3])> {
        let all: Vec<(usize, [f64; 3])> = self
            .classes
            .iter()
            .enumerate()
            .flat_map(|(place, class)| class.points.iter().map(move |&point| (place, point)))
            .filter(|(_, point)| point.iter().all(|x| x.abs() < 1e300))
            .collect();
        let ends = [0, 1, 2].map(|axis| {
            let values = all.iter().map(|(_, point)| point[axis]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        });
        let half = ends.iter().map(|(low, high)| (high - low) / 2.0).fold(0.0, f64::max);
        let half = if half > 0.0 { half } else { 1.0 };
        let place = |point: [f64; 3]| [0, 1, 2].map(|i| (point[i] - (ends[i].0 + ends[i].1) / 2.0) / half);
        all.into_iter().map(|(class, point)| (class, place(point))).collect()
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let entries =
            self.classes.iter().enumerate().map(|(i, class)| (Sample::Marker(i), class.name.clone()));
        let legend = Legend::new(entries, Frame::legend_room(&self.words));
        let mut frame = Frame::new(&self.words, &legend, 0.0, 0.0);
        let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        let unit = (frame.right - frame.left).min(frame.bottom - frame.top) / 2.0 / REACH;
        let seen = |point: [f64; 3]| {
            let (x, y, depth) = self.camera.see(point);
            (middle.0 + x * unit, middle.1 - y * unit, depth)
        };
        self.cube(&mut frame, &seen);
        let mut points: Vec<(usize, (f64, f64, f64))> =
            self.placed().into_iter().map(|(class, point)| (class, seen(point))).collect();
        points.sort_by(|a, b| a.1.2.total_cmp(&b.1.2));
        let radius = radius(points.len());
        for (class, (x, y, depth)) in &points {
            // What is nearer is larger and stronger.
            let near = (depth / 3f64.sqrt()).clamp(-1.0, 1.0);
            let mark = marker(*class, *x, *y, radius * (1.0 + 0.3 * near));
            frame.drawing.fill(&mark, Role::Series(*class), 0.75 + 0.2 * near);
        }
        if points.is_empty() {
            frame.empty();
        }
        frame.drawing.finish()
    }

    fn cube(&self, frame: &mut Frame, seen: &dyn Fn([f64; 3]) -> (f64, f64, f64)) {
        let ends = [-1.0, 1.0];
        for axis in 0..3 {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let corner = |at: f64| {
                    let mut point = [0.0; 3];
                    (point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3]) = (at, ends[a], ends[b]);
                    seen(point)
                };
                let (from, to) = (corner(-1.0), corner(1.0));
                frame.drawing.line((from.0, from.1), (to.0, to.1), Role::Rule, 1.0);
            }
            let mut end = [-1.0; 3];
            end[axis] = 1.12;
            let (x, y, _) = seen(end);
            let letters = Letters::new(x, y + 4.0, self.axes[axis].as_str()).middle().role(Role::Soft);
            if !self.axes[axis].is_empty() {
                frame.drawing.write(&letters);
            }
        }
    }
}

impl Camera {
    /// Right, up, and towards the eye.
    fn see(&self, [x, y, z]: [f64; 3]) -> (f64, f64, f64) {
        let (sin, cos) = self.around.to_radians().sin_cos();
        let (right, back) = (x * cos - y * sin, x * sin + y * cos);
        let (sin, cos) = self.above.to_radians().sin_cos();
        (right, z * cos + back * sin, z * sin - back * cos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_looks_where_it_should() {
        let near = |a: (f64, f64, f64), b: (f64, f64, f64)| {
            assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() + (a.2 - b.2).abs() < 1e-12, "{a:?} {b:?}");
        };
        // From the front: x to the right, z up, y away from the eye.
        let front = Camera { around: 0.0, above: 0.0 };
        near(front.see([1.0, 2.0, 3.0]), (1.0, 3.0, -2.0));
        // From above: y is up.
        let above = Camera { around: 0.0, above: 90.0 };
        near(above.see([1.0, 2.0, 3.0]), (1.0, 2.0, 3.0));
    }

    #[test]
    fn points_fill_the_cube_and_keep_their_shape() {
        let class = Scatter3Class::new("a", [[0.0, 0.0, 0.0], [10.0, 5.0, 0.0], [f64::NAN, 0.0, 0.0]]);
        let placed = Scatter3::new("").with_class(class).placed();
        assert_eq!(placed, [(0, [-1.0, -0.5, 0.0]), (0, [1.0, 0.5, 0.0])]);
    }
}
