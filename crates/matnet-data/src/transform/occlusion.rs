//! Occlusion: a rectangle of each image is hidden, to measure how well a net fills it in.

use rand::{Rng, RngExt};

use crate::{Error, Result};

/// A rectangle of a matrix that is set to black.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Occlusion {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of columns.
    pub width: usize,
}

impl Occlusion {
    /// A rectangle of `height`×`width` at a random position in a matrix of `rows`×`cols`; fails if it does not fit.
    pub fn random(
        (rows, cols): (usize, usize),
        (height, width): (usize, usize),
        rng: &mut impl Rng,
    ) -> Result<Self> {
        if height == 0 || width == 0 || height > rows || width > cols {
            let what = format!("an occlusion of {height}×{width} does not fit into {rows}×{cols}");
            return Err(Error::Invalid(what));
        }
        let (row, col) = (rng.random_range(0..=rows - height), rng.random_range(0..=cols - width));
        Ok(Self { row, col, height, width })
    }

    /// Whether the entry lies inside.
    pub fn contains(&self, row: usize, col: usize) -> bool {
        (self.row..self.row + self.height).contains(&row) && (self.col..self.col + self.width).contains(&col)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn impossible_sizes_are_refused() {
        let error =
            |size| Occlusion::random((4, 4), size, &mut SeededRng::new(0, "patch")).unwrap_err().to_string();
        assert_eq!(error((5, 5)), "an occlusion of 5×5 does not fit into 4×4");
        assert_eq!(error((0, 2)), "an occlusion of 0×2 does not fit into 4×4");
    }

    proptest! {
        #[test]
        fn an_occlusion_lies_inside_and_contains_its_area(rows in 5usize..12, cols in 5usize..12, seed: u64) {
            let draw = || Occlusion::random((rows, cols), (5, 4), &mut SeededRng::new(seed, "patch")).unwrap();
            let occlusion = draw();
            let entries = (0..rows * cols).filter(|entry| occlusion.contains(entry / cols, entry % cols));
            prop_assert_eq!(entries.count(), 20);
            prop_assert!(occlusion.row + 5 <= rows && occlusion.col + 4 <= cols);
            prop_assert_eq!(draw(), occlusion);
        }
    }
}
