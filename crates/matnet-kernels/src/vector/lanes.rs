//! Vectors as plain arrays: correct on every CPU, and what the compiler makes of them is often good.

use std::array;
use std::marker::PhantomData;

use super::{Number, Vector, math};

/// `L` numbers side by side.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<E, const L: usize>(PhantomData<E>);

impl<E, const L: usize> Lanes<E, L> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

// SAFETY: only instructions that every CPU has are used.
unsafe impl<E: Number, const L: usize> Vector for Lanes<E, L> {
    type Elem = E;
    type V = [E; L];
    const LANES: usize = L;

    #[inline(always)]
    fn splat(self, value: E) -> [E; L] {
        [value; L]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const E) -> [E; L] {
        // SAFETY: the caller vouches for L readable numbers; arrays need no more alignment than these.
        unsafe { from.cast::<[E; L]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut E, value: [E; L]) {
        // SAFETY: the caller vouches for L writable numbers.
        unsafe { to.cast::<[E; L]>().write(value) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const E, count: usize) -> [E; L] {
        // SAFETY: the caller vouches for `count` readable numbers.
        array::from_fn(|i| if i < count { unsafe { *from.add(i) } } else { E::ZERO })
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut E, value: [E; L], count: usize) {
        for (i, &value) in value.iter().enumerate().take(count) {
            // SAFETY: the caller vouches for `count` writable numbers.
            unsafe { *to.add(i) = value }
        }
    }

    #[inline(always)]
    fn add(self, a: [E; L], b: [E; L]) -> [E; L] {
        array::from_fn(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn sub(self, a: [E; L], b: [E; L]) -> [E; L] {
        array::from_fn(|i| a[i] - b[i])
    }

    #[inline(always)]
    fn mul(self, a: [E; L], b: [E; L]) -> [E; L] {
        array::from_fn(|i| a[i] * b[i])
    }

    #[inline(always)]
    fn mul_add(self, a: [E; L], b: [E; L], c: [E; L]) -> [E; L] {
        array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn max(self, a: [E; L], b: [E; L]) -> [E; L] {
        array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn exp(self, a: [E; L]) -> [E; L] {
        E::exp(a)
    }

    #[inline(always)]
    fn relu(self, a: [E; L]) -> [E; L] {
        array::from_fn(|i| if a[i] <= E::ZERO { E::ZERO } else { a[i] })
    }

    #[inline(always)]
    fn where_positive(self, y: [E; L], a: [E; L]) -> [E; L] {
        array::from_fn(|i| if y[i] <= E::ZERO { E::ZERO } else { a[i] })
    }

    #[inline(always)]
    fn sigmoid(self, a: [E; L]) -> [E; L] {
        E::sigmoid(a)
    }

    #[inline(always)]
    fn tanh(self, a: [E; L]) -> [E; L] {
        E::tanh(a)
    }

    #[inline(always)]
    fn sum(self, a: [E; L]) -> E {
        a.into_iter().fold(E::ZERO, |sum, x| sum + x)
    }

    #[inline(always)]
    unsafe fn transpose(self, from: *const E, from_stride: usize, to: *mut E, to_stride: usize) {
        for i in 0..L {
            for j in 0..L {
                // SAFETY: the caller vouches for L rows of L numbers on both sides.
                unsafe { *to.add(j * to_stride + i) = *from.add(i * from_stride + j) }
            }
        }
    }
}

impl<const L: usize> math::Exponent for Lanes<f32, L> {
    #[inline(always)]
    fn clamp(self, a: [f32; L], low: f32, high: f32) -> [f32; L] {
        a.map(|a| a.clamp(low, high))
    }

    #[inline(always)]
    fn round(self, a: [f32; L]) -> [f32; L] {
        a.map(f32::round_ties_even)
    }

    #[inline(always)]
    fn power_of_two(self, n: [f32; L]) -> [f32; L] {
        n.map(|n| f32::from_bits(((n as i32 + 127) as u32) << 23))
    }

    #[inline(always)]
    fn div(self, a: [f32; L], b: [f32; L]) -> [f32; L] {
        array::from_fn(|i| a[i] / b[i])
    }

    #[inline(always)]
    fn select_small(self, a: [f32; L], limit: f32, small: [f32; L], large: [f32; L]) -> [f32; L] {
        array::from_fn(|i| if a[i].abs() < limit { small[i] } else { large[i] })
    }
}
