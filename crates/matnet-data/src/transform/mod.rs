//! Changes to data on their way to a net: each is seeded or fitted, and can be recorded with a run.

pub mod corrupt;
pub mod permute;
pub mod scale;
pub mod stft;

use crate::{Array, Error, Result};

/// Rows and columns of the matrices in an array: its last two sides.
fn matrix_sides(array: &Array) -> Result<(usize, usize)> {
    match array.shape() {
        [_, .., rows, cols] => Ok((*rows, *cols)),
        shape => Err(Error::Invalid(format!("shape {shape:?} holds no matrices: [n, rows, cols] is wanted"))),
    }
}
