//! Spoiling images on purpose: a black patch to be filled in, noise to be removed.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Normal};

use crate::transform::matrix_sides;
use crate::{Array, Error, Result};

/// A rectangle of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Patch {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
}

impl Patch {
    /// One of `height`×`width` at a random place of a matrix of `rows`×`cols`; fails if it does not fit.
    pub fn random(
        (rows, cols): (usize, usize),
        (height, width): (usize, usize),
        rng: &mut impl Rng,
    ) -> Result<Self> {
        if height == 0 || width == 0 || height > rows || width > cols {
            let what = format!("a patch of {height}×{width} does not fit into {rows}×{cols}");
            return Err(Error::Invalid(what));
        }
        let (row, col) = (rng.random_range(0..=rows - height), rng.random_range(0..=cols - width));
        Ok(Self { row, col, height, width })
    }

    /// Whether the place lies inside.
    pub fn contains(&self, row: usize, col: usize) -> bool {
        (self.row..self.row + self.height).contains(&row) && (self.col..self.col + self.width).contains(&col)
    }
}

/// Sets a patch of `height`×`width` at a random place of every matrix to `value`, and says where each lies.
pub fn patch(data: &mut Array, size: (usize, usize), value: f32, rng: &mut impl Rng) -> Result<Vec<Patch>> {
    let (rows, cols) = matrix_sides(data)?;
    let spoil = |matrix: &mut [f32]| {
        let patch = Patch::random((rows, cols), size, rng)?;
        for line in matrix.chunks_exact_mut(cols).skip(patch.row).take(patch.height) {
            line[patch.col..patch.col + patch.width].fill(value);
        }
        Ok(patch)
    };
    data.data_mut().chunks_exact_mut((rows * cols).max(1)).map(spoil).collect()
}

/// Adds a normal random number of standard deviation `deviation` to every entry.
pub fn additive_noise(data: &mut Array, deviation: f32, rng: &mut impl Rng) -> Result<()> {
    let normal = (deviation >= 0.0).then(|| Normal::new(0.0, deviation).ok()).flatten();
    let Some(normal) = normal else {
        return Err(Error::Invalid(format!(
            "noise of deviation {deviation}: must be a number of at least 0"
        )));
    };
    data.data_mut().iter_mut().for_each(|x| *x += normal.sample(rng));
    Ok(())
}

/// Sets each entry to 0 with probability `fraction`.
pub fn masking_noise(data: &mut Array, fraction: f64, rng: &mut impl Rng) -> Result<()> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::Invalid(format!("noise on a fraction {fraction}: must lie between 0 and 1")));
    }
    data.data_mut().iter_mut().for_each(|x| {
        if rng.random_bool(fraction) {
            *x = 0.0;
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SeededRng;

    fn rng(seed: u64) -> SeededRng {
        SeededRng::new(seed, "corrupt")
    }

    fn ones(shape: [usize; 3]) -> Array {
        Array::new(shape, vec![1.0; shape.iter().product()]).unwrap()
    }

    #[test]
    fn noise_has_the_size_asked_for() {
        let mut data = ones([10, 50, 40]);
        additive_noise(&mut data, 0.2, &mut rng(1)).unwrap();
        let mean = data.data().iter().sum::<f32>() / 20_000.0;
        let spread = (data.data().iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 20_000.0).sqrt();
        assert!((mean - 1.0).abs() < 0.01 && (spread - 0.2).abs() < 0.005, "{mean} {spread}");

        let mut data = ones([10, 50, 40]);
        masking_noise(&mut data, 0.2, &mut rng(1)).unwrap();
        let zeros = data.data().iter().filter(|&&x| x == 0.0).count();
        assert!((3_700..4_300).contains(&zeros), "{zeros}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let mut data = ones([1, 4, 4]);
        let message = patch(&mut data, (5, 5), 0.0, &mut rng(0)).unwrap_err().to_string();
        assert_eq!(message, "a patch of 5×5 does not fit into 4×4");
        let message = masking_noise(&mut data, 1.5, &mut rng(0)).unwrap_err().to_string();
        assert_eq!(message, "noise on a fraction 1.5: must lie between 0 and 1");
        for deviation in [-1.0, f32::NAN, f32::INFINITY] {
            assert!(additive_noise(&mut data, deviation, &mut rng(0)).is_err());
        }
        assert_eq!(data, ones([1, 4, 4]));
    }

    proptest! {
        #[test]
        fn a_patch_blackens_itself_and_nothing_else(rows in 5usize..12, cols in 5usize..12, seed: u64) {
            let mut data = ones([3, rows, cols]);
            let patches = patch(&mut data, (5, 4), 0.0, &mut rng(seed)).unwrap();
            prop_assert_eq!(patches.len(), 3);
            for (sample, patch) in patches.iter().enumerate() {
                for (place, &x) in data.sample(sample).iter().enumerate() {
                    prop_assert_eq!(x == 0.0, patch.contains(place / cols, place % cols));
                }
            }
            let mut again = ones([3, rows, cols]);
            prop_assert_eq!(patch_places(&mut again, seed), patches);
        }
    }

    fn patch_places(data: &mut Array, seed: u64) -> Vec<Patch> {
        patch(data, (5, 4), 0.0, &mut rng(seed)).unwrap()
    }
}
