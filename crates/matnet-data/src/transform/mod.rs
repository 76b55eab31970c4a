//! Preprocessing and augmentation: each transform is fitted or seeded, and can be stored with a run.

pub mod augment;
pub mod join;
pub mod log;
pub mod mel;
pub mod missing;
pub mod occlusion;
pub mod permute;
pub mod scale;
pub mod stft;
pub mod windows;

use crate::{Array, Error, Result};

/// The size of the matrices in an array: its last two axes.
fn matrix_sides(array: &Array) -> Result<(usize, usize)> {
    match array.shape() {
        [_, .., rows, cols] => Ok((*rows, *cols)),
        shape => Err(Error::Invalid(format!("shape {shape:?} holds no matrices; [n, rows, cols] expected"))),
    }
}

/// Where the values of a channel are in a sample. In sequences `[n, time, rows, cols]` each entry of the matrices is a channel. In
/// signals `[n, channels, time]`, which are matrices, each row is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Channels {
    count: usize,
    steps: usize,
    sequence: bool,
}

impl Channels {
    fn of(array: &Array) -> Result<Self> {
        match array.shape() {
            &[_, rows, cols] => Ok(Self { count: rows, steps: cols, sequence: false }),
            &[_, time, rows, cols] => Ok(Self { count: rows * cols, steps: time, sequence: true }),
            shape => {
                let what = format!("shape {shape:?}: [n, rows, cols] or [n, time, rows, cols] expected");
                Err(Error::Invalid(what))
            }
        }
    }

    /// The place of a value in a sample.
    fn place(&self, channel: usize, step: usize) -> usize {
        match self.sequence {
            true => step * self.count + channel,
            false => channel * self.steps + step,
        }
    }

    /// The step of the value at a place in a sample.
    fn step(&self, place: usize) -> usize {
        match self.sequence {
            true => place / self.count,
            false => place % self.steps,
        }
    }

    /// The number of values of a sample.
    fn size(&self) -> usize {
        self.count * self.steps
    }

    /// The number of steps of each sample that are not padding: all of them where `lengths` is empty.
    fn used_steps(&self, array: &Array, lengths: &[usize]) -> Result<Vec<usize>> {
        if lengths.is_empty() {
            return Ok(vec![self.steps; array.len()]);
        }
        if lengths.len() != array.len() || lengths.iter().any(|&length| length > self.steps) {
            let most = lengths.iter().max().copied().unwrap_or(0);
            return Err(Error::Invalid(format!(
                "{} lengths of up to {most} steps for samples of shape {:?}",
                lengths.len(),
                array.shape()
            )));
        }
        Ok(lengths.to_vec())
    }
}
