//! The numbers and the vectors of each CPU behind one trait, [`Vector`]: arithmetic, loads and stores, exp, sigmoid and tanh.

mod lanes;
mod math;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

pub(crate) use lanes::Lanes;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512, cache_size, cores, whole_512};

/// Whether every CPU of this kind multiplies and adds in one instruction; elsewhere `mul_add` would be a
/// call of a slow function.
const ONE_ROUNDING: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// What vectors are made of.
pub trait Number:
    Copy
    + Default
    + Debug
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;

    /// a · b + c, in one rounding where that is as fast as two
    #[doc(hidden)]
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// The same number.
    #[doc(hidden)]
    fn from_single(x: f32) -> Self;

    /// The nearest `f32`.
    #[doc(hidden)]
    fn to_single(self) -> f32;

    /// √x
    #[doc(hidden)]
    fn sqrt(self) -> Self;

    /// The natural logarithm of a positive number.
    #[doc(hidden)]
    fn ln(self) -> Self;

    #[doc(hidden)]
    fn exp<const L: usize>(x: [Self; L]) -> [Self; L];

    #[doc(hidden)]
    fn sigmoid<const L: usize>(x: [Self; L]) -> [Self; L];

    #[doc(hidden)]
    fn tanh<const L: usize>(x: [Self; L]) -> [Self; L];
}

/// Vectors of one CPU: `LANES` numbers worked on at once.
///
/// # Safety
///
/// The methods may use instructions that only some CPUs have: a value of the implementing type may
/// exist only where the CPU was asked for them. Pointers passed to `load` and `store` must be valid for
/// `LANES` elements; they need no alignment.
pub unsafe trait Vector: Copy {
    /// The numbers.
    type Elem: Number;
    /// A vector of them.
    type V: Copy;
    /// How many.
    const LANES: usize;

    /// Every lane the same.
    fn splat(self, value: Self::Elem) -> Self::V;
    /// Reads `LANES` numbers.
    ///
    /// # Safety
    /// `from` is valid for reading `LANES` numbers.
    unsafe fn load(self, from: *const Self::Elem) -> Self::V;
    /// Writes `LANES` numbers.
    ///
    /// # Safety
    /// `to` is valid for writing `LANES` numbers.
    unsafe fn store(self, to: *mut Self::Elem, value: Self::V);
    /// Reads `count` numbers, at most `LANES`; the other lanes are 0.
    ///
    /// # Safety
    /// `from` is valid for reading `count` numbers.
    unsafe fn load_first(self, from: *const Self::Elem, count: usize) -> Self::V;
    /// Writes the first `count` lanes, at most `LANES`.
    ///
    /// # Safety
    /// `to` is valid for writing `count` numbers.
    unsafe fn store_first(self, to: *mut Self::Elem, value: Self::V, count: usize);
    /// a + b
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b + c, in one rounding where the CPU can
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The larger of the two.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// exp(a); in `f32` within ±87, and the same beyond.
    fn exp(self, a: Self::V) -> Self::V;
    /// max(a, 0); NaN stays NaN
    fn relu(self, a: Self::V) -> Self::V;
    /// 0 where `y` ≤ 0, else a, also where `y` is NaN: the backward pass of ReLU, as in PyTorch
    fn where_positive(self, y: Self::V, a: Self::V) -> Self::V;
    /// 1 / (1 + exp(−a))
    fn sigmoid(self, a: Self::V) -> Self::V;
    /// tanh(a)
    fn tanh(self, a: Self::V) -> Self::V;
    /// The sum of all lanes, always in the same order.
    fn sum(self, a: Self::V) -> Self::Elem;

    /// The sums of all lanes of four vectors, each in the same order.
    #[inline(always)]
    fn sum_four(self, four: [Self::V; 4]) -> [Self::Elem; 4] {
        four.map(|a| self.sum(a))
    }

    /// Asks for the memory at `at` to be brought near; it need not be there at all.
    #[inline(always)]
    fn prefetch(self, _at: *const Self::Elem) {}

    /// Turns `LANES` rows of `LANES` numbers, `from_stride` apart, into columns, `to_stride` apart.
    ///
    /// # Safety
    /// Row i is valid at `from + i · from_stride` for reading `LANES` numbers, and at
    /// `to + i · to_stride` for writing.
    unsafe fn transpose(
        self,
        from: *const Self::Elem,
        from_stride: usize,
        to: *mut Self::Elem,
        to_stride: usize,
    );
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        if ONE_ROUNDING { self.mul_add(b, c) } else { self * b + c }
    }

    #[inline(always)]
    fn from_single(x: f32) -> Self {
        x
    }

    #[inline(always)]
    fn to_single(self) -> f32 {
        self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn ln(self) -> Self {
        math::ln(self)
    }

    #[inline(always)]
    fn exp<const L: usize>(x: [Self; L]) -> [Self; L] {
        math::exp(Lanes::new(), x)
    }

    #[inline(always)]
    fn sigmoid<const L: usize>(x: [Self; L]) -> [Self; L] {
        math::sigmoid(Lanes::new(), x)
    }

    #[inline(always)]
    fn tanh<const L: usize>(x: [Self; L]) -> [Self; L] {
        math::tanh(Lanes::new(), x)
    }
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        if ONE_ROUNDING { self.mul_add(b, c) } else { self * b + c }
    }

    #[inline(always)]
    fn from_single(x: f32) -> Self {
        x.into()
    }

    #[inline(always)]
    fn to_single(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.ln()
    }

    #[inline(always)]
    fn exp<const L: usize>(x: [Self; L]) -> [Self; L] {
        x.map(f64::exp)
    }

    #[inline(always)]
    fn sigmoid<const L: usize>(x: [Self; L]) -> [Self; L] {
        x.map(|x| 1.0 / (1.0 + (-x).exp()))
    }

    #[inline(always)]
    fn tanh<const L: usize>(x: [Self; L]) -> [Self; L] {
        x.map(f64::tanh)
    }
}
