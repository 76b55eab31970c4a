//! What forward passes keep for their backward passes, and in which floats.
//!
//! In bfloat16 it takes half the memory. A block is computed in a few buffers that stay in the cache, rounded to where it is kept, and
//! widened again, part by part, when the backward pass comes to it.

use crate::pool::Buffer;
use crate::simd::{Element, Kernel, Level, Simd};

/// In which floats a forward pass keeps what its backward pass needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Not at all: no backward pass will come, or one that computes it again.
    Nothing,
    /// As it was computed.
    Full,
    /// Rounded to bfloat16.
    Bf16,
}

/// The upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bf16(u16);

impl Bf16 {
    /// The nearest one; of two, the one whose last bit is 0. NaN stays NaN.
    #[inline(always)]
    fn nearest(x: f32) -> Self {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
        // Rounding could carry a NaN over into a zero.
        let bits = if x.is_nan() { bits | 0x0040_0000 } else { rounded };
        Self((bits >> 16) as u16)
    }

    /// The same number.
    #[inline(always)]
    fn widened(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// What a forward pass leaves for its backward pass; of no use to anyone else.
#[derive(Debug)]
pub enum Kept<E: Element> {
    /// Nothing was kept.
    Nothing,
    /// As it was computed.
    Full(Buffer<E>),
    /// Rounded to bfloat16.
    Bf16(Buffer<Bf16>),
}

impl<E: Element> Kept<E> {
    /// Room for so many numbers.
    pub(crate) fn take(keep: Keep, len: usize) -> Self {
        match keep {
            Keep::Nothing => Self::Nothing,
            Keep::Full => Self::Full(Buffer::take(len)),
            Keep::Bf16 => Self::Bf16(Buffer::take(len)),
        }
    }

    /// Keeps numbers that were computed, in the floats that are asked for.
    pub fn new(level: Level, keep: Keep, computed: Buffer<E>) -> Self {
        match keep {
            Keep::Nothing => Self::Nothing,
            Keep::Full => Self::Full(computed),
            Keep::Bf16 => {
                let mut kept = Buffer::take(computed.len());
                round(level, &computed, &mut kept);
                Self::Bf16(kept)
            }
        }
    }

    /// Calls `work` with all that was kept.
    pub fn with<R>(&self, level: Level, work: impl FnOnce(&[E]) -> R) -> R {
        match self {
            Self::Nothing => work(&[]),
            Self::Full(kept) => work(kept),
            Self::Bf16(kept) => {
                let mut near = Buffer::take(kept.len());
                widen(level, kept, &mut near);
                work(&near)
            }
        }
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Full(kept) => size_of_val(&**kept),
            Self::Bf16(kept) => size_of_val(&**kept),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.part().len()
    }

    /// All of it, for reading.
    pub(crate) fn part(&self) -> Part<'_, E> {
        match self {
            Self::Nothing => Part::Full(&[]),
            Self::Full(kept) => Part::Full(kept),
            Self::Bf16(kept) => Part::Bf16(kept),
        }
    }

    /// All of it, for writing.
    pub(crate) fn part_mut(&mut self) -> PartMut<'_, E> {
        match self {
            Self::Nothing => PartMut::Nothing,
            Self::Full(kept) => PartMut::Full(kept),
            Self::Bf16(kept) => PartMut::Bf16(kept),
        }
    }
}

/// A part of what is kept.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a, E> {
    Full(&'a [E]),
    Bf16(&'a [Bf16]),
}

impl<'a, E: Element> Part<'a, E> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Full(kept) => kept.len(),
            Self::Bf16(kept) => kept.len(),
        }
    }

    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Self::Full(kept) => {
                let (before, after) = kept.split_at(at);
                (Self::Full(before), Self::Full(after))
            }
            Self::Bf16(kept) => {
                let (before, after) = kept.split_at(at);
                (Self::Bf16(before), Self::Bf16(after))
            }
        }
    }

    /// Piece number `at` of pieces of `len`.
    pub(crate) fn piece(self, at: usize, len: usize) -> Self {
        self.split_at(at * len).1.split_at(len).0
    }

    /// As many numbers as a buffer needs for this to be widened: none if it need not be.
    pub(crate) fn room(&self, len: usize) -> usize {
        match self {
            Self::Full(_) => 0,
            Self::Bf16(_) => len,
        }
    }

    /// The numbers: where they are kept, or widened into `room`.
    pub(crate) fn near(self, level: Level, room: &'a mut [E]) -> &'a [E] {
        if let Self::Bf16(kept) = self {
            widen(level, kept, &mut room[..kept.len()]);
        }
        self.or(room)
    }

    /// The numbers: where they are kept, or in `room`, where they stand already.
    pub(crate) fn or(self, room: &'a [E]) -> &'a [E] {
        match self {
            Self::Full(kept) => kept,
            Self::Bf16(kept) => &room[..kept.len()],
        }
    }

    /// The numbers if they are read where they are kept.
    pub(crate) fn in_place(self) -> &'a [E] {
        match self {
            Self::Full(kept) => kept,
            Self::Bf16(_) => &[],
        }
    }
}

/// A part of what is kept, to be written.
pub(crate) enum PartMut<'a, E> {
    Nothing,
    Full(&'a mut [E]),
    Bf16(&'a mut [Bf16]),
}

impl<E: Element> PartMut<'_, E> {
    /// Takes the first numbers away.
    pub(crate) fn split_off(&mut self, len: usize) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Full(kept) => Self::Full(kept.split_off_mut(..len).unwrap_or_default()),
            Self::Bf16(kept) => Self::Bf16(kept.split_off_mut(..len).unwrap_or_default()),
        }
    }
}

/// Rounds numbers to where they are kept.
pub(crate) fn round<E: Element>(level: Level, from: &[E], to: &mut [Bf16]) {
    struct Round<'a, E>(&'a [E], &'a mut [Bf16]);
    impl<E: Element> Kernel<E> for Round<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, _: S) {
            for (from, to) in self.0.iter().zip(self.1) {
                *to = Bf16::nearest(from.to_single());
            }
        }
    }
    assert_eq!(from.len(), to.len());
    level.run(Round(from, to));
}

/// The opposite of [`round`], but for what was lost.
pub(crate) fn widen<E: Element>(level: Level, from: &[Bf16], to: &mut [E]) {
    struct Widen<'a, E>(&'a [Bf16], &'a mut [E]);
    impl<E: Element> Kernel<E> for Widen<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, _: S) {
            for (from, to) in self.0.iter().zip(self.1) {
                *to = E::from_single(from.widened());
            }
        }
    }
    assert_eq!(from.len(), to.len());
    level.run(Widen(from, to));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(level: Level, numbers: &[f32]) -> Vec<f32> {
        let mut kept = vec![Bf16::default(); numbers.len()];
        round(level, numbers, &mut kept);
        let mut back = vec![0.0; numbers.len()];
        widen(level, &kept, &mut back);
        back
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        let ulp = 2.0_f32.powi(-7);
        let cases = [
            (0.0, 0.0),
            (1.0, 1.0),
            (-2.5, -2.5),
            (1.0 + 0.49 * ulp, 1.0),
            (1.0 + 0.51 * ulp, 1.0 + ulp),
            // Half-way: to the one whose last bit is 0.
            (1.0 + 0.5 * ulp, 1.0),
            (1.0 + 1.5 * ulp, 1.0 + 2.0 * ulp),
            (-1.0 - 1.5 * ulp, -1.0 - 2.0 * ulp),
            (f32::INFINITY, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
            (f32::MAX, f32::INFINITY),
            // 2⁻¹³⁰, which is subnormal, and one too small to be told from 0.
            (2.0_f32.powi(-130), 2.0_f32.powi(-130)),
            (f32::from_bits(1), 0.0),
        ];
        let numbers: Vec<f32> = cases.iter().map(|case| case.0).collect();
        let want: Vec<f32> = cases.iter().map(|case| case.1).collect();
        for level in Level::available() {
            assert_eq!(there_and_back(level, &numbers), want, "{level:?}");
            let zero = there_and_back(level, &[-0.0])[0];
            assert!(zero == 0.0 && zero.is_sign_negative(), "{level:?}");
            // NaNs of which all that is set would be rounded away, or carried over.
            for bits in [0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff] {
                assert!(there_and_back(level, &[f32::from_bits(bits)])[0].is_nan(), "{level:?} {bits:x}");
            }
        }
    }

    #[test]
    fn no_other_number_is_nearer() {
        for step in 0..200_000_u32 {
            let x = f32::from_bits(0x0080_0000 + step * 10_007);
            let kept = Bf16::nearest(x);
            let error = |bits: u16| (f64::from(Bf16(bits).widened()) - f64::from(x)).abs();
            assert!(error(kept.0) <= error(kept.0 + 1) && error(kept.0) <= error(kept.0 - 1), "{x:e}");
        }
    }
}
