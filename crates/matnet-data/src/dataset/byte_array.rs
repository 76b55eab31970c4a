//! Grey images with one byte per pixel: a quarter of the memory that `f32` takes.

use std::ops::Range;

use crate::{Array, Error, Result, memory};

/// Grey levels from 0 to 255 in row-major order. They stand for numbers between 0 and 1; converting to numbers and
/// back is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteArray {
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl ByteArray {
    /// `count` samples of shape `sides`, all 0.
    pub fn zeros(count: usize, sides: &[usize]) -> Result<Self> {
        let shape: Vec<usize> = [count].iter().chain(sides).copied().collect();
        let size = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
        let size = size.filter(|&size| size <= isize::MAX as usize);
        let size = size.ok_or_else(|| Error::Invalid(format!("shape {shape:?}: too large")))?;
        let data = memory::filled(0, size, format_args!("{count} samples"))?;
        Ok(Self { shape, data })
    }

    /// Stores samples of numbers between 0 and 1 from sample `first` on.
    pub fn set_samples(&mut self, first: usize, samples: &Array) -> Result<()> {
        if samples.shape()[1..] != self.shape[1..] || first + samples.len() > self.shape[0] {
            let what =
                format!("samples {:?} from {first} on do not fit into {:?}", samples.shape(), self.shape);
            return Err(Error::Invalid(what));
        }
        let size = self.sample_size();
        let levels = &mut self.data[first * size..][..samples.data().len()];
        for (level, number) in levels.iter_mut().zip(samples.data()) {
            *level = (number * 255.0).round().clamp(0.0, 255.0) as u8;
        }
        Ok(())
    }

    /// The shape, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All grey levels; the last axis varies fastest.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The entries `range` of sample `index` as numbers.
    pub fn sample_range(&self, index: usize, range: Range<usize>) -> Vec<f32> {
        let size = self.sample_size();
        levels(&self.data[index * size..(index + 1) * size][range]).collect()
    }

    /// All samples as numbers.
    pub fn to_array(&self) -> Result<Array> {
        Array::new(self.shape.clone(), grey_to_f32(&self.data)?)
    }

    /// The samples at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        let mut selected = Self::zeros(indices.len(), &self.shape[1..])?;
        let size = self.sample_size();
        for (sample, &index) in selected.data.chunks_exact_mut(size.max(1)).zip(indices) {
            sample.copy_from_slice(&self.data[index * size..(index + 1) * size]);
        }
        Ok(selected)
    }

    fn sample_size(&self) -> usize {
        self.shape[1..].iter().product()
    }
}

/// Bytes as grey levels between 0 and 1.
pub(crate) fn grey_to_f32(pixels: &[u8]) -> Result<Vec<f32>> {
    memory::collect(levels(pixels), format_args!("{} pixels", pixels.len()))
}

fn levels(pixels: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    // dividing by 255 is not the same as multiplying by 1/255: a table keeps the division's values and is fast
    let levels: [f32; 256] = std::array::from_fn(|level| level as f32 / 255.0);
    pixels.iter().map(move |&level| levels[usize::from(level)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        let numbers = Array::new([2, 8, 16], grey_to_f32(&all).unwrap()).unwrap();
        let mut bytes = ByteArray::zeros(3, &[8, 16]).unwrap();
        bytes.set_samples(1, &numbers).unwrap();
        assert_eq!(bytes.to_array().unwrap().data()[128..], *numbers.data());
        assert_eq!(bytes.sample_range(2, 5..9), numbers.sample(1)[5..9]);
        assert_eq!(bytes.select(&[2, 0]).unwrap().data()[..128], all[128..]);
        assert!(bytes.set_samples(2, &numbers).is_err());
        assert!(ByteArray::zeros(usize::MAX, &[2]).is_err());
    }
}
