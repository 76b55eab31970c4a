//! Scatter plots in three dimensions.

use super::frame::{ChartOptions, Frame};
use super::legend::{Legend, LegendKey};
use crate::Svg;
use crate::color::{ColorRole, marker};
use crate::svg::Label;

/// Half the view in units of the cube's half side: √3 reaches its corners, the rest is room for the axis labels.
const REACH: f64 = 1.8;

/// The direction of view, in degrees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    /// Rotation around the vertical axis.
    pub azimuth: f64,
    /// Angle above the horizontal plane.
    pub elevation: f64,
}

/// Points of one class.
#[derive(Clone, Debug)]
pub(crate) struct PointClass {
    pub name: String,
    pub points: Vec<[f64; 3]>,
}

/// Points in three dimensions, each class with its own colour and marker.
///
/// [`Page::scatter3d`](crate::page::Page::scatter3d) shows it interactively.
#[derive(Clone, Debug)]
pub struct Scatter3d {
    pub(crate) options: ChartOptions,
    pub(crate) axes: [String; 3],
    pub(crate) camera: Camera,
    pub(crate) classes: Vec<PointClass>,
}

impl Scatter3d {
    /// A plot without points.
    pub fn new(title: impl Into<String>) -> Self {
        let mut options = ChartOptions::new(title);
        options.set_size(560, 480);
        let camera = Camera { azimuth: 35.0, elevation: 22.0 };
        Self { options, axes: Default::default(), camera, classes: Vec::new() }
    }

    /// Labels of the three axes; the last axis is vertical.
    pub fn with_axes(mut self, axes: [&str; 3]) -> Self {
        self.axes = axes.map(Into::into);
        self
    }

    /// The direction of view: degrees around the vertical axis.
    pub fn with_azimuth(mut self, degrees: f64) -> Self {
        self.camera.azimuth = degrees;
        self
    }

    /// Adds the points of a class; points that are not finite are left out.
    pub fn with_class(mut self, name: impl Into<String>, points: impl IntoIterator<Item = [f64; 3]>) -> Self {
        self.classes.push(PointClass { name: name.into(), points: points.into_iter().collect() });
        self
    }

    /// All points that can be drawn, with the index of their class, scaled alike in all directions to fit into [−1, 1].
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
            self.classes.iter().enumerate().map(|(i, class)| (LegendKey::Marker(i), class.name.clone()));
        let legend = Legend::new(entries, Frame::legend_room(&self.options));
        let mut frame = Frame::new(&self.options, &legend, 0.0, 0.0);
        let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        let unit = (frame.right - frame.left).min(frame.bottom - frame.top) / 2.0 / REACH;
        let project = |point: [f64; 3]| {
            let (x, y, depth) = self.camera.project(point);
            (middle.0 + x * unit, middle.1 - y * unit, depth)
        };
        let mut points: Vec<(usize, (f64, f64, f64))> =
            self.placed().into_iter().map(|(class, point)| (class, project(point))).collect();
        if points.is_empty() {
            return frame.no_data();
        }
        self.cube(&mut frame, &project);
        points.sort_by(|a, b| a.1.2.total_cmp(&b.1.2));
        let radius = radius(points.len());
        for (class, (x, y, depth)) in &points {
            // Nearer points are larger and more opaque.
            let near = (depth / 3f64.sqrt()).clamp(-1.0, 1.0);
            let mark = marker(*class, *x, *y, radius * (1.0 + 0.3 * near));
            frame.drawing.fill(&mark, ColorRole::Series(*class), 0.75 + 0.2 * near);
        }
        frame.drawing.finish()
    }

    fn cube(&self, frame: &mut Frame, project: &dyn Fn([f64; 3]) -> (f64, f64, f64)) {
        let ends = [-1.0, 1.0];
        for axis in 0..3 {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let corner = |at: f64| {
                    let mut point = [0.0; 3];
                    (point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3]) = (at, ends[a], ends[b]);
                    project(point)
                };
                let (from, to) = (corner(-1.0), corner(1.0));
                frame.drawing.line((from.0, from.1), (to.0, to.1), ColorRole::Gridline, 1.0);
            }
            let mut end = [-1.0; 3];
            end[axis] = 1.12;
            let (x, y, _) = project(end);
            let label = Label::new(x, y + 4.0, self.axes[axis].as_str()).middle().role(ColorRole::Muted);
            if !self.axes[axis].is_empty() {
                frame.drawing.write(&label);
            }
        }
    }
}

impl Camera {
    /// Coordinates to the right, upwards, and towards the viewer.
    fn project(&self, [x, y, z]: [f64; 3]) -> (f64, f64, f64) {
        let (sin, cos) = self.azimuth.to_radians().sin_cos();
        let (right, back) = (x * cos - y * sin, x * sin + y * cos);
        let (sin, cos) = self.elevation.to_radians().sin_cos();
        (right, z * cos + back * sin, z * sin - back * cos)
    }
}

/// The radius of a point: the more points, the smaller.
fn radius(points: usize) -> f64 {
    match points {
        0..150 => 4.0,
        150..800 => 3.2,
        800..3000 => 2.5,
        _ => 1.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_projects_along_its_direction() {
        let near = |a: (f64, f64, f64), b: (f64, f64, f64)| {
            assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() + (a.2 - b.2).abs() < 1e-12, "{a:?} {b:?}");
        };
        // From the front: x to the right, z up, y away from the viewer.
        let front = Camera { azimuth: 0.0, elevation: 0.0 };
        near(front.project([1.0, 2.0, 3.0]), (1.0, 3.0, -2.0));
        // From above: y is up.
        let above = Camera { azimuth: 0.0, elevation: 90.0 };
        near(above.project([1.0, 2.0, 3.0]), (1.0, 2.0, 3.0));
    }

    #[test]
    fn points_fill_the_cube_and_keep_their_shape() {
        let points = [[0.0, 0.0, 0.0], [10.0, 5.0, 0.0], [f64::NAN, 0.0, 0.0]];
        let placed = Scatter3d::new("").with_class("a", points).placed();
        assert_eq!(placed, [(0, [-1.0, -0.5, 0.0]), (0, [1.0, 0.5, 0.0])]);
    }
}
