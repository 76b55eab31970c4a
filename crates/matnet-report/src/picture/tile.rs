//! A matrix that is to be seen.

use crate::ReportError;

/// A matrix that is to be seen, row after row.
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
    /// If there are more or fewer values than that.
    pub fn new(rows: usize, cols: usize, values: impl Into<Vec<f32>>) -> Result<Self, ReportError> {
        let values = values.into();
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(ReportError::Entries { rows, cols, found: values.len() });
        }
        Ok(Self { rows, cols, values })
    }

    /// Rank one: every entry of `down` times every entry of `across`.
    pub fn outer(down: &[f32], across: &[f32]) -> Self {
        let values = down.iter().flat_map(|u| across.iter().map(move |v| u * v)).collect();
        Self { rows: down.len(), cols: across.len(), values }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns it has.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One column.
    pub fn column(&self, col: usize) -> Vec<f32> {
        self.values.iter().skip(col).step_by(self.cols.max(1)).copied().collect()
    }

    /// Every entry times a number.
    pub fn scaled(&self, factor: f32) -> Self {
        Self { values: self.values.iter().map(|value| value * factor).collect(), ..self.clone() }
    }

    /// At most `most` rows and columns: of a larger one every second, third, … only.
    pub fn thinned(&self, most: usize) -> Self {
        let step = |side: usize| side.div_ceil(most.max(1)).max(1);
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
    fn thinning_keeps_every_second() {
        let tile = Tile::new(2, 5, (0..10).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        assert_eq!(tile.thinned(3).values, [0.0, 2.0, 4.0, 5.0, 7.0, 9.0]);
        assert_eq!(tile.thinned(5), tile);
        assert_eq!(Tile::new(0, 4, []).unwrap().thinned(2).values, []);
    }

    #[test]
    fn an_outer_product_has_rank_one() {
        let tile = Tile::outer(&[1.0, 2.0], &[3.0, 4.0, 5.0]);
        assert_eq!((tile.rows(), tile.cols()), (2, 3));
        assert_eq!(tile.values, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
        assert_eq!(tile.column(1), [4.0, 8.0]);
    }
}
