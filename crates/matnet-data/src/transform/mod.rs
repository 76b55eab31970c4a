//! Preprocessing: each transform is fitted or seeded, and can be stored with a run.

pub mod occlusion;
pub mod permute;
pub mod scale;
pub mod stft;

use crate::{Array, Error, Result};

/// The size of the matrices in an array: its last two axes.
fn matrix_sides(array: &Array) -> Result<(usize, usize)> {
    match array.shape() {
        [_, .., rows, cols] => Ok((*rows, *cols)),
        shape => Err(Error::Invalid(format!("shape {shape:?} holds no matrices; [n, rows, cols] expected"))),
    }
}
