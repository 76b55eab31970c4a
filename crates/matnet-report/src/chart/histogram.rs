//! Histograms.

use super::frame::{ChartOptions, Frame, axes_and_size};
use super::legend::Legend;
use super::scale::{Extent, Scale};
use crate::Svg;
use crate::color::ColorRole;
use crate::text::{count, number};

/// How many values lie in each of some intervals of equal width.
#[derive(Clone, Debug)]
pub struct Histogram {
    options: ChartOptions,
    /// The ends of all intervals together.
    range: [f64; 2],
    counts: Vec<u64>,
}

impl Histogram {
    /// Of values, in `bins` intervals from the lowest to the highest. Values that are not finite are left out.
    pub fn new(title: impl Into<String>, values: impl IntoIterator<Item = f64>, bins: usize) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let [low, high] = Extent::of(values.iter().copied(), false).ends();
        if low > high {
            return Self { options: ChartOptions::new(title), range: [0.0, 1.0], counts: Vec::new() };
        }
        let room = if high > low { 0.0 } else { low.abs().max(1.0) * 0.05 };
        Self::between(title, values, bins, [low - room, high + room])
    }

    /// The same with intervals from `low` to `high`; values outside are left out.
    pub fn between(
        title: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        bins: usize,
        [low, high]: [f64; 2],
    ) -> Self {
        let mut counts = vec![0; bins.max(1)];
        for value in values.into_iter().filter(|value| (low..=high).contains(value)) {
            let bin = (value - low) / (high - low) * counts.len() as f64;
            let last = counts.len() - 1;
            counts[(bin as usize).min(last)] += 1;
        }
        Self { options: ChartOptions::new(title), range: [low, high], counts }
    }

    axes_and_size!("Width and height in pixels; 560 by 360 by default.");

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let tallest = self.counts.iter().copied().max().unwrap_or(0) as f64;
        let wanted = ((self.options.height / 45.0) as usize).max(3);
        let y = Scale::linear(Extent::of([0.0, tallest.max(1.0)], false), true, true, wanted);
        let [low, high] = self.range;
        let x =
            Scale::linear(Extent::of(self.range, false), false, false, (self.options.width / 80.0) as usize);
        let mut frame = Frame::new(&self.options, &Legend::new([], 0.0), y.label_width() + 9.0, 22.0);
        if tallest == 0.0 {
            return frame.no_data();
        }
        let x = x.placed(frame.left + 8.0, frame.right - 8.0);
        let y = y.placed(frame.bottom, frame.top);
        frame.y_axis(&y);
        let edge = |bin: usize| low + (high - low) * bin as f64 / self.counts.len() as f64;
        for (bin, &values) in self.counts.iter().enumerate() {
            let (from, to) = (x.clamped(edge(bin)), x.clamped(edge(bin + 1)));
            let top = y.clamped(values as f64);
            let tooltip =
                format!("{} to {}: {}", number(edge(bin)), number(edge(bin + 1)), count(values as usize));
            let area = [from + 0.5, top, to - from - 1.0, frame.bottom - top];
            frame.drawing.rect(area, ColorRole::Series(0), 1.0, &tooltip);
        }
        frame.x_axis(&x);
        frame.drawing.finish()
    }
}
