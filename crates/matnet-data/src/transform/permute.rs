//! One fixed permutation of the rows and of the columns of every matrix.
//!
//! A matrix net is invariant to it: UᵀXV with permuted U and V is the same map.

use rand::Rng;
use rand::seq::SliceRandom;

use crate::transform::matrix_sides;
use crate::{Array, Error, Result};

/// A permutation of rows and columns.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Orders")]
pub struct Permutation {
    rows: Vec<usize>,
    cols: Vec<usize>,
}

/// A permutation as stored in a file, not yet checked.
#[derive(serde::Deserialize)]
struct Orders {
    rows: Vec<usize>,
    cols: Vec<usize>,
}

impl TryFrom<Orders> for Permutation {
    type Error = Error;

    fn try_from(orders: Orders) -> Result<Self> {
        Self::new(orders.rows, orders.cols)
    }
}

impl Permutation {
    /// New row `i` is old row `rows[i]`, likewise for columns; fails unless both are permutations.
    pub fn new(rows: Vec<usize>, cols: Vec<usize>) -> Result<Self> {
        for (name, order) in [("row", &rows), ("column", &cols)] {
            let mut seen = vec![false; order.len()];
            for &place in order {
                match seen.get_mut(place) {
                    Some(place) if !*place => *place = true,
                    _ => return Err(Error::Invalid(format!("{name} order {order:?} is not a permutation"))),
                }
            }
        }
        Ok(Self { rows, cols })
    }

    /// Where each row, and where each column, comes from.
    pub fn orders(&self) -> (&[usize], &[usize]) {
        (&self.rows, &self.cols)
    }

    /// A random permutation of `rows` rows and `cols` columns.
    pub fn random(rows: usize, cols: usize, rng: &mut impl Rng) -> Self {
        let mut order = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            order.shuffle(rng);
            order
        };
        Self { rows: order(rows), cols: order(cols) }
    }

    /// The inverse permutation.
    pub fn inverse(&self) -> Self {
        let invert = |order: &[usize]| {
            let mut back = vec![0; order.len()];
            for (new, &old) in order.iter().enumerate() {
                back[old] = new;
            }
            back
        };
        Self { rows: invert(&self.rows), cols: invert(&self.cols) }
    }

    /// Permutes every matrix of `data` in place.
    pub fn apply(&self, data: &mut Array) -> Result<()> {
        let (rows, cols) = matrix_sides(data)?;
        if (rows, cols) != (self.rows.len(), self.cols.len()) {
            return Err(Error::Invalid(format!(
                "permutation of {}×{} matrices, these are {rows}×{cols}",
                self.rows.len(),
                self.cols.len()
            )));
        }
        if rows * cols == 0 {
            return Ok(());
        }
        let mut old = vec![0.0; rows * cols];
        for matrix in data.data_mut().chunks_exact_mut(rows * cols) {
            old.copy_from_slice(matrix);
            for (row, &from_row) in matrix.chunks_exact_mut(cols).zip(&self.rows) {
                for (place, &from_col) in row.iter_mut().zip(&self.cols) {
                    *place = old[from_row * cols + from_col];
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn rows_and_columns_move_as_said() {
        let mut data = Array::new([1, 2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        Permutation::new(vec![1, 0], vec![2, 0, 1]).unwrap().apply(&mut data).unwrap();
        assert_eq!(data.data(), [6.0, 4.0, 5.0, 3.0, 1.0, 2.0]);
    }

    #[test]
    fn wrong_orders_are_refused() {
        let message = Permutation::new(vec![0, 1], vec![1, 1]).unwrap_err().to_string();
        assert_eq!(message, "column order [1, 1] is not a permutation");
        assert!(Permutation::new(vec![2, 0], vec![0]).is_err());
        assert!(serde_json::from_str::<Permutation>(r#"{"rows":[1,1],"cols":[0]}"#).is_err());
        let mut data = Array::new([1, 2, 2], vec![0.0; 4]).unwrap();
        let message =
            Permutation::new(vec![0], vec![0, 1]).unwrap().apply(&mut data).unwrap_err().to_string();
        assert_eq!(message, "permutation of 1×2 matrices, these are 2×2");
    }

    proptest! {
        #[test]
        fn the_inverse_brings_everything_back(rows in 1usize..9, cols in 1usize..9, seed: u64) {
            let data = Array::new([2, rows, cols], (0..2 * rows * cols).map(|i| i as f32).collect()).unwrap();
            let permutation = Permutation::random(rows, cols, &mut SeededRng::new(seed, "permute"));
            let mut moved = data.clone();
            permutation.apply(&mut moved).unwrap();
            permutation.inverse().apply(&mut moved).unwrap();
            prop_assert_eq!(moved, data);
        }
    }
}
