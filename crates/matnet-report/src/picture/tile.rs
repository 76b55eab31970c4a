//! Matrices to be drawn.

use crate::ReportError;

/// A matrix to be drawn, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) values: Vec<f32>,
}

impl Tile {
    /// A matrix of `rows` by `cols` values.
    ///
    /// # Errors
    ///
    /// If there are not exactly `rows * cols` values.
    pub fn new(rows: usize, cols: usize, values: impl Into<Vec<f32>>) -> Result<Self, ReportError> {
        let values = values.into();
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(ReportError::TileSize { rows, cols, found: values.len() });
        }
        Ok(Self { rows, cols, values })
    }

    /// A tile without entries, which leaves its place in a grid empty.
    pub fn empty() -> Self {
        Self { rows: 0, cols: 0, values: Vec::new() }
    }

    /// The outer product of two vectors.
    pub(super) fn outer(down: &[f32], across: &[f32]) -> Self {
        let values = down.iter().flat_map(|u| across.iter().map(move |v| u * v)).collect();
        Self { rows: down.len(), cols: across.len(), values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One column.
    pub(super) fn column(&self, col: usize) -> Vec<f32> {
        self.values.iter().skip(col).step_by(self.cols.max(1)).copied().collect()
    }

    /// At most `max_side` rows and columns: of a larger matrix, every second, third, … row and column.
    pub fn subsampled(&self, max_side: usize) -> Self {
        let step = |side: usize| side.div_ceil(max_side.max(1)).max(1);
        let (down, across) = (step(self.rows), step(self.cols));
        let rows = self.values.chunks_exact(self.cols.max(1)).step_by(down);
        let values = rows.flat_map(|row| row.iter().step_by(across).copied()).collect();
        Self { rows: self.rows.div_ceil(down), cols: self.cols.div_ceil(across), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_filled_exactly() {
        assert!(Tile::new(2, 3, [0.0; 6]).is_ok());
        assert!(Tile::new(2, 3, [0.0; 5]).is_err());
        assert!(Tile::new(usize::MAX, 2, []).is_err());
    }

    #[test]
    fn subsampling_keeps_every_second() {
        let tile = Tile::new(2, 5, (0..10).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        assert_eq!(tile.subsampled(3).values, [0.0, 2.0, 4.0, 5.0, 7.0, 9.0]);
        assert_eq!(tile.subsampled(5), tile);
        assert_eq!(Tile::new(0, 4, []).unwrap().subsampled(2).values, []);
    }

    #[test]
    fn an_outer_product_has_rank_one() {
        let tile = Tile::outer(&[1.0, 2.0], &[3.0, 4.0, 5.0]);
        assert_eq!((tile.rows(), tile.cols()), (2, 3));
        assert_eq!(tile.values, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
        assert_eq!(tile.column(1), [4.0, 8.0]);
    }
}
