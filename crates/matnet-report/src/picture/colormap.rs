//! Colormaps: from numbers to colours.

use image::Rgb;

use super::Tile;

/// Maps numbers to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Colormap {
    /// From black to white.
    Gray,
    /// Blue below zero, white at zero, red above: for weights.
    Diverging,
    /// From black over violet and orange to light yellow: for intensities, where gray would hide steps.
    Heat,
}

/// The numbers that have the first and the last colour of the colormap.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColorRange {
    /// The 1st to the 99th percentile of each tile.
    PerTile,
    /// The 1st to the 99th percentile of all tiles, so that they can be compared.
    Shared,
    /// These two; a diverging colormap uses the larger absolute value for both sides.
    Fixed(f32, f32),
}

/// The colour of NaN.
const NAN_COLOR: Rgb<u8> = Rgb([214, 60, 190]);

/// From blue over white to red, with even steps of lightness.
const DIVERGING: [[f32; 3]; 9] = [
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

/// From black to light yellow, with increasing lightness.
const HEAT: [[f32; 3]; 7] = [
    [8.0, 6.0, 24.0],
    [58.0, 15.0, 92.0],
    [120.0, 30.0, 109.0],
    [181.0, 54.0, 86.0],
    [229.0, 94.0, 48.0],
    [248.0, 160.0, 36.0],
    [252.0, 246.0, 178.0],
];

impl ColorRange {
    /// Low and high end for one tile.
    pub(super) fn ends(self, tile: &Tile, shared: (f32, f32)) -> (f32, f32) {
        match self {
            Self::PerTile => percentiles(tile.values.iter()),
            Self::Shared => shared,
            Self::Fixed(low, high) => (low, high),
        }
    }
}

/// The 1st and the 99th percentile of the finite values; if these are equal, minimum and maximum.
pub(super) fn percentiles<'a>(values: impl Iterator<Item = &'a f32>) -> (f32, f32) {
    let mut sorted: Vec<f32> = values.copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0.0);
    // Rounded outwards, so that nothing is clipped if one percent is less than one value.
    let (low, high) = (at(last / 100), at((last * 99).div_ceil(100)));
    if high > low { (low, high) } else { (at(0), at(last)) }
}

impl Colormap {
    /// The colour of `value` in the range from `low` to `high`; values outside are clamped.
    pub fn color(self, value: f32, low: f32, high: f32) -> Rgb<u8> {
        if value.is_nan() {
            return NAN_COLOR;
        }
        match self {
            Self::Gray => {
                let range = if high > low { high - low } else { 1.0 };
                Rgb([((value - low) / range * 255.0).clamp(0.0, 255.0) as u8; 3])
            }
            Self::Diverging => {
                let most = low.abs().max(high.abs());
                let part = if most > 0.0 { (value / most).clamp(-1.0, 1.0) } else { 0.0 };
                interpolate(&DIVERGING, (part + 1.0) / 2.0)
            }
            Self::Heat => {
                let range = if high > low { high - low } else { 1.0 };
                interpolate(&HEAT, ((value - low) / range).clamp(0.0, 1.0))
            }
        }
    }
}

/// The colour at a fraction of the way from the first to the last.
fn interpolate(colors: &[[f32; 3]], fraction: f32) -> Rgb<u8> {
    let place = fraction * (colors.len() - 1) as f32;
    let first = (place as usize).min(colors.len() - 2);
    let rest = place - first as f32;
    Rgb([0, 1, 2].map(|i| (colors[first][i] * (1.0 - rest) + colors[first + 1][i] * rest).round() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_colors() {
        assert_eq!(Colormap::Gray.color(0.5, 0.0, 1.0), Rgb([127; 3]));
        assert_eq!(Colormap::Gray.color(9.0, 0.0, 1.0), Rgb([255; 3]));
        assert_eq!(Colormap::Diverging.color(0.0, -3.0, 1.0), Rgb([250; 3]));
        assert_eq!(Colormap::Diverging.color(-3.0, -3.0, 1.0), Rgb([5, 48, 97]));
        assert_eq!(Colormap::Diverging.color(f32::INFINITY, -1.0, 1.0), Rgb([103, 0, 31]));
        assert_eq!(Colormap::Gray.color(f32::NAN, 0.0, 1.0), NAN_COLOR);
        assert_eq!(Colormap::Diverging.color(2.0, 0.0, 0.0), Rgb([250; 3]));
        assert_eq!(Colormap::Heat.color(-1.0, 0.0, 2.0), Rgb([8, 6, 24]));
        assert_eq!(Colormap::Heat.color(1.0, 0.0, 2.0), Rgb([181, 54, 86]));
        assert_eq!(Colormap::Heat.color(2.0, 0.0, 2.0), Rgb([252, 246, 178]));
    }

    #[test]
    fn outliers_do_not_darken_the_rest() {
        let mut values = vec![0.0f32; 1000];
        values[..500].fill(1.0);
        values[0] = 1e6;
        values[1] = f32::NAN;
        assert_eq!(percentiles(values.iter()), (0.0, 1.0));
        // If nearly all values are equal, the range must include the few others.
        assert_eq!(percentiles([0.0; 500].iter().chain(&[7.0])), (0.0, 7.0));
        assert_eq!(percentiles([].iter()), (0.0, 0.0));
        assert_eq!(percentiles([3.0, 1.0, 2.0].iter()), (1.0, 3.0));
    }
}
