//! What can be timed.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The usual one for Adam, and small enough that training on the same batch again and again does no harm.
pub const LEARNING_RATE: f64 = 1e-3;

/// Which implementation of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// matnet's kernels, Adam included.
    Fused,
    /// Ordinary Burn operations and Burn's Adam.
    Composed,
}

/// A benchmark that can be repeated.
pub trait Task {
    /// One training step or one forward pass; returns the loss before the step, or the sum of the output.
    fn step(&mut self) -> Tensor<1>;
    /// Weights, input and target as a safetensors file.
    fn export(&self) -> Vec<u8>;
    /// The number of parameters.
    fn parameters(&self) -> usize;
}
