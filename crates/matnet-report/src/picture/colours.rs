//! From numbers to colours.

use image::Rgb;

use super::Tile;

/// Which colours stand for numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// From black to white.
    Grey,
    /// Blue below zero, red above, white between: for weights.
    Signed,
    /// From black over violet and orange to light yellow: for strengths, where grey would hide steps.
    Heat,
}

/// Which numbers have the first and the last colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Each tile has its own: all but its most extreme hundredths fit.
    Each,
    /// One for all tiles, so that they can be compared.
    Shared,
    /// These two; for signed colours the one farther from zero counts.
    Fixed(f32, f32),
}

/// What is no number.
const NOT_A_NUMBER: Rgb<u8> = Rgb([214, 60, 190]);

/// From blue over white to red, evenly in lightness.
const SIGNED: [[f32; 3]; 9] = [
    [5.0, 48.0, 97.0],
    [33.0, 102.0, 172.0],
    [104.0, 164.0, 206.0],
    [190.0, 217.0, 233.0],
    [250.0, 250.0, 250.0],
    [250.0, 206.0, 184.0],
    [232.0, 134.0, 106.0],
    [178.0, 34.0, 46.0],
    [103.0, 0.0, 31.0],
];

/// From black to light yellow, ever lighter.
const HEAT: [[f32; 3]; 7] = [
    [8.0, 6.0, 24.0],
    [58.0, 15.0, 92.0],
    [120.0, 30.0, 109.0],
    [181.0, 54.0, 86.0],
    [229.0, 94.0, 48.0],
    [248.0, 160.0, 36.0],
    [252.0, 246.0, 178.0],
];

impl Range {
    /// Low and high for one tile among others.
    pub(super) fn ends(self, tile: &Tile, shared: (f32, f32)) -> (f32, f32) {
        match self {
            Self::Each => spread(tile.values.iter()),
            Self::Shared => shared,
            Self::Fixed(low, high) => (low, high),
        }
    }
}

/// The first and the last hundredth of what are numbers; if these are alike, the least and the most.
pub(super) fn spread<'a>(values: impl Iterator<Item = &'a f32>) -> (f32, f32) {
    let mut sorted: Vec<f32> = values.copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0.0);
    // Rounded outwards, so that nothing is cut off where a hundredth is less than one entry.
    let (low, high) = (at(last / 100), at((last * 99).div_ceil(100)));
    if high > low { (low, high) } else { (at(0), at(last)) }
}

impl Colours {
    /// The colour of a number between `low` and `high`; past them it stays what it is there.
    pub fn of(self, value: f32, low: f32, high: f32) -> Rgb<u8> {
        if value.is_nan() {
            return NOT_A_NUMBER;
        }
        match self {
            Self::Grey => {
                let room = if high > low { high - low } else { 1.0 };
                Rgb([((value - low) / room * 255.0).clamp(0.0, 255.0) as u8; 3])
            }
            Self::Signed => {
                let most = low.abs().max(high.abs());
                let part = if most > 0.0 { (value / most).clamp(-1.0, 1.0) } else { 0.0 };
                between(&SIGNED, (part + 1.0) / 2.0)
            }
            Self::Heat => {
                let room = if high > low { high - low } else { 1.0 };
                between(&HEAT, ((value - low) / room).clamp(0.0, 1.0))
            }
        }
    }
}

/// The colour at a part of the way from the first to the last.
fn between(colours: &[[f32; 3]], part: f32) -> Rgb<u8> {
    let place = part * (colours.len() - 1) as f32;
    let first = (place as usize).min(colours.len() - 2);
    let rest = place - first as f32;
    Rgb([0, 1, 2].map(|i| (colours[first][i] * (1.0 - rest) + colours[first + 1][i] * rest).round() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_colours() {
        assert_eq!(Colours::Grey.of(0.5, 0.0, 1.0), Rgb([127; 3]));
        assert_eq!(Colours::Grey.of(9.0, 0.0, 1.0), Rgb([255; 3]));
        assert_eq!(Colours::Signed.of(0.0, -3.0, 1.0), Rgb([250; 3]));
        assert_eq!(Colours::Signed.of(-3.0, -3.0, 1.0), Rgb([5, 48, 97]));
        assert_eq!(Colours::Signed.of(f32::INFINITY, -1.0, 1.0), Rgb([103, 0, 31]));
        assert_eq!(Colours::Grey.of(f32::NAN, 0.0, 1.0), NOT_A_NUMBER);
        assert_eq!(Colours::Signed.of(2.0, 0.0, 0.0), Rgb([250; 3]));
        assert_eq!(Colours::Heat.of(-1.0, 0.0, 2.0), Rgb([8, 6, 24]));
        assert_eq!(Colours::Heat.of(1.0, 0.0, 2.0), Rgb([181, 54, 86]));
        assert_eq!(Colours::Heat.of(2.0, 0.0, 2.0), Rgb([252, 246, 178]));
    }

    #[test]
    fn few_large_numbers_do_not_darken_the_rest() {
        let mut values = vec![0.0f32; 1000];
        values[..500].fill(1.0);
        values[0] = 1e6;
        values[1] = f32::NAN;
        assert_eq!(spread(values.iter()), (0.0, 1.0));
        // But where nearly all are alike the few are what there is to see.
        assert_eq!(spread([0.0; 500].iter().chain(&[7.0])), (0.0, 7.0));
        assert_eq!(spread([].iter()), (0.0, 0.0));
        assert_eq!(spread([3.0, 1.0, 2.0].iter()), (1.0, 3.0));
    }
}
