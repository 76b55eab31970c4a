//! Axis scales: from numbers to pixels, with ticks at round numbers.

use crate::layout::{TICK_SIZE, text_width};
use crate::text::{fixed, number, scientific};

/// Larger numbers are not drawn: their differences may overflow.
const LARGEST: f64 = 1e300;

/// An axis: the numbers it shows and their pixels.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
    step: f64,
}

/// The range of values that an axis has to show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    low: f64,
    high: f64,
}

impl Extent {
    /// The range of all `values` that can be drawn.
    pub fn of(values: impl IntoIterator<Item = f64>, log: bool) -> Self {
        let mut extent = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for value in values.into_iter().filter(|&value| drawable(value, log)) {
            extent.low = extent.low.min(value);
            extent.high = extent.high.max(value);
        }
        extent
    }

    /// Its two ends.
    pub fn ends(self) -> [f64; 2] {
        [self.low, self.high]
    }
}

fn drawable(value: f64, log: bool) -> bool {
    value.is_finite() && value.abs() <= LARGEST && (!log || value >= 1.0 / LARGEST)
}

impl Scale {
    /// A linear axis with about `wanted` ticks. `round` extends it to the next ticks, `whole` keeps ticks at whole numbers.
    pub fn linear(extent: Extent, round: bool, whole: bool, wanted: usize) -> Self {
        let Extent { mut low, mut high } = extent;
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        if high - low <= size * 1e-9 || high - low < 1e-290 {
            // All values are equal: centre them, with room that shows their size.
            let room = if size < 1e-280 { 1.0 } else { size * 0.1 };
            let room = if whole { room.max(1.0) } else { room };
            (low, high) = (low - room, high + room);
        }
        let step = nice_step(high - low, wanted);
        let step = if whole { step.max(1.0) } else { step };
        if round {
            low = (low / step).floor() * step;
            high = (high / step).ceil() * step;
        }
        // A tolerance, so that rounding does not lose a tick at the very end.
        let (first, last) = ((low / step - 1e-6).ceil() as i64, (high / step + 1e-6).floor() as i64);
        let ticks = (first..=last).map(|k| k as f64 * step).collect();
        Self { log: false, low, high, from: 0.0, to: 1.0, ticks, step }
    }

    /// A logarithmic axis.
    pub fn log(extent: Extent) -> Self {
        let Extent { mut low, mut high } = extent;
        if low > high {
            (low, high) = (0.1, 10.0);
        }
        let decades = high.log10() - low.log10();
        let marks: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let every = ((decades / 8.0).ceil() as i32).max(1);
        let (first, last) = (low.log10().floor() as i32 - 1, high.log10().ceil() as i32 + 1);
        let all: Vec<f64> = (first..=last)
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| marks.iter().map(move |mark| mark * 10f64.powi(power)))
            .collect();
        let before = all.iter().copied().rfind(|&tick| tick <= low * 1.000_001).unwrap_or(low);
        let after = all.iter().copied().find(|&tick| tick >= high * 0.999_999).unwrap_or(high);
        (low, high) = (before, after);
        if high <= low * 1.000_001 {
            (low, high) = (low / 2.0, high * 2.0);
        }
        let ticks = all.into_iter().filter(|tick| (low * 0.999..=high * 1.001).contains(tick)).collect();
        Self { log: true, low, high, from: 0.0, to: 1.0, ticks, step: 0.0 }
    }

    /// The same axis between two pixels.
    pub fn placed(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    /// The pixel of a number, if it can be drawn.
    pub fn at(&self, value: f64) -> Option<f64> {
        drawable(value, self.log).then(|| self.clamped(value))
    }

    /// The pixel of a number, clamped to the ends of the axis.
    pub fn clamped(&self, value: f64) -> f64 {
        let value = if value.is_nan() { self.low } else { value.clamp(self.low, self.high) };
        let part = if self.log {
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part * (self.to - self.from)
    }

    /// Pixel and label of every tick.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        self.ticks.iter().map(|&tick| (self.clamped(tick), self.label(tick))).collect()
    }

    /// Width of the widest tick label.
    pub fn label_width(&self) -> f64 {
        self.ticks.iter().map(|&tick| text_width(&self.label(tick), TICK_SIZE)).fold(0.0, f64::max)
    }

    fn label(&self, tick: f64) -> String {
        let size = self.low.abs().max(self.high.abs());
        if self.log {
            return number(tick);
        }
        if size >= 1e7 || self.step < 1e-5 {
            return if tick == 0.0 { "0".into() } else { scientific(tick, 4) };
        }
        fixed(tick, (-self.step.log10().floor()).max(0.0) as usize)
    }
}

/// The step of 1, 2 or 5 times a power of ten that makes about `wanted` steps.
fn nice_step(range: f64, wanted: usize) -> f64 {
    let rough = range / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let mark = [1.0, 2.0, 5.0].into_iter().find(|mark| mark * power >= rough * 0.999);
    mark.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale::linear(Extent::of([0.13, 0.97], false), true, false, 5);
        assert_eq!(labels(&scale), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let scale = Scale::linear(Extent::of([1.0, 3.0], false), false, true, 6);
        assert_eq!(labels(&scale), ["1", "2", "3"]);
        let scale = Scale::linear(Extent::of([0.0, 160_601.0], false), true, false, 4);
        assert_eq!(labels(&scale), ["0", "50,000", "100,000", "150,000", "200,000"]);
        let scale = Scale::log(Extent::of([0.003, 20.0], true));
        assert_eq!(labels(&scale), ["0.001", "0.01", "0.1", "1", "10", "100"]);
        let scale = Scale::log(Extent::of([0.3, 0.9], true));
        assert_eq!(labels(&scale), ["0.2", "0.5", "1"]);
    }

    #[test]
    fn numbers_map_to_their_pixels() {
        let scale = Scale::linear(Extent::of([0.0, 10.0], false), true, false, 5).placed(100.0, 0.0);
        assert_eq!(scale.at(2.5), Some(75.0));
        assert_eq!(scale.at(f64::NAN), None);
        let scale = Scale::log(Extent::of([1.0, 1e4], true)).placed(0.0, 400.0);
        assert!((scale.at(100.0).unwrap() - 200.0).abs() < 1e-9);
        assert_eq!(scale.at(0.0), None);
    }

    #[test]
    fn odd_extents_have_a_few_ticks() {
        for values in [
            &[][..],
            &[5.0],
            &[0.0],
            &[1e15, 1e15 + 0.125],
            &[f64::NAN, f64::INFINITY],
            &[-1e308, 1e308],
            &[5e-324],
            &[-3e299, 3e299],
            &[1e-300, 1e300],
        ] {
            for log in [false, true] {
                let extent = Extent::of(values.iter().copied(), log);
                let scale = if log { Scale::log(extent) } else { Scale::linear(extent, true, false, 5) };
                let ticks = scale.placed(0.0, 100.0).ticks();
                assert!((1..=12).contains(&ticks.len()), "{values:?} {ticks:?}");
                assert!(
                    ticks.iter().all(|(place, _)| (-1e-6..=100.000_001).contains(place)),
                    "{values:?} {ticks:?}"
                );
            }
        }
    }
}
