//! A dense array of `f32`.

use crate::{Error, Result};

/// A dense array of `f32` in row-major order; the first axis counts the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    data: Vec<f32>,
}

impl Array {
    /// An array from its shape and its values; fails unless their number agrees.
    pub fn new(shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Result<Self> {
        let shape = shape.into();
        let count = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
        if count != Some(data.len()) {
            return Err(Error::Invalid(format!("shape {shape:?} does not hold {} numbers", data.len())));
        }
        Ok(Self { shape, data })
    }

    /// The shape, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All values; the last axis varies fastest.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// All values, mutably.
    pub fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// The values without their shape.
    pub fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// The size of the first axis: the number of samples.
    pub fn len(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same values in another shape; fails unless it holds as many.
    pub fn reshaped(self, shape: impl Into<Vec<usize>>) -> Result<Self> {
        Self::new(shape, self.data)
    }

    /// Some samples, in this order.
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        let mut shape = self.shape.clone();
        shape[0] = indices.len();
        Self::new(shape, indices.iter().flat_map(|&at| self.sample(at)).copied().collect())
    }

    /// The values of sample `index`.
    pub fn sample(&self, index: usize) -> &[f32] {
        let size = self.shape[1..].iter().product::<usize>();
        &self.data[index * size..(index + 1) * size]
    }
}
