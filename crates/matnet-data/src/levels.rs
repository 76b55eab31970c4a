//! Grey pictures with a byte per pixel: a quarter of the room that numbers take.

use std::ops::Range;

use crate::source::mnist::grey;
use crate::{Array, Error, Result};

/// Grey levels from 0 to 255 in row-major order with their shape; they stand for numbers between 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    shape: Vec<usize>,
    levels: Vec<u8>,
}

impl Levels {
    /// Room for `count` samples whose sides are `sides`, all black.
    pub fn black(count: usize, sides: &[usize]) -> Result<Self> {
        let shape: Vec<usize> = [count].iter().chain(sides).copied().collect();
        let size = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
        let size = size.filter(|&size| size <= isize::MAX as usize);
        let size = size.ok_or_else(|| Error::Invalid(format!("shape {shape:?}: too large")))?;
        Ok(Self { shape, levels: vec![0; size] })
    }

    /// Puts numbers between 0 and 1 into the places of the samples from `first` on. What was a grey level comes back as
    /// the same number.
    pub fn put(&mut self, first: usize, numbers: &Array) -> Result<()> {
        if numbers.shape()[1..] != self.shape[1..] || first + numbers.len() > self.shape[0] {
            let what =
                format!("samples {:?} from {first} on do not fit into {:?}", numbers.shape(), self.shape);
            return Err(Error::Invalid(what));
        }
        let size = self.sample_size();
        let places = &mut self.levels[first * size..][..numbers.data().len()];
        for (place, number) in places.iter_mut().zip(numbers.data()) {
            *place = (number * 255.0).round().clamp(0.0, 255.0) as u8;
        }
        Ok(())
    }

    /// The sides, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All levels, the last side running fastest.
    pub fn levels(&self) -> &[u8] {
        &self.levels
    }

    /// Numbers `part` of sample `index`.
    pub fn numbers(&self, index: usize, part: Range<usize>) -> Vec<f32> {
        let size = self.sample_size();
        grey(&self.levels[index * size..(index + 1) * size][part])
    }

    /// All of them as numbers.
    pub fn to_array(&self) -> Result<Array> {
        Array::new(self.shape.clone(), grey(&self.levels))
    }

    /// These samples only.
    pub fn take(&self, order: &[usize]) -> Result<Self> {
        let mut taken = Self::black(order.len(), &self.shape[1..])?;
        let size = self.sample_size();
        for (place, &index) in taken.levels.chunks_exact_mut(size.max(1)).zip(order) {
            place.copy_from_slice(&self.levels[index * size..(index + 1) * size]);
        }
        Ok(taken)
    }

    fn sample_size(&self) -> usize {
        self.shape[1..].iter().product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_comes_back_as_the_same_number() {
        let all: Vec<u8> = (0..=255).collect();
        let numbers = Array::new([2, 8, 16], grey(&all)).unwrap();
        let mut levels = Levels::black(3, &[8, 16]).unwrap();
        levels.put(1, &numbers).unwrap();
        assert_eq!(levels.to_array().unwrap().data()[128..], *numbers.data());
        assert_eq!(levels.numbers(2, 5..9), numbers.sample(1)[5..9]);
        assert_eq!(levels.take(&[2, 0]).unwrap().levels()[..128], all[128..]);
        assert!(levels.put(2, &numbers).is_err());
        assert!(Levels::black(usize::MAX, &[2]).is_err());
    }
}
