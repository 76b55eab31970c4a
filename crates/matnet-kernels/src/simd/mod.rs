//! Vectors of the CPU at hand behind one trait, and the jump into code compiled for it.
//!
//! A kernel is a struct that implements [`Kernel`]: its `run` is written once, generic over [`Simd`].
//! [`Level::run`] enters a function compiled with the level's CPU features and calls it there, so that
//! everything marked `#[inline(always)]` below becomes straight vector code.

mod lanes;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::sync::OnceLock;

use lanes::Lanes;

use crate::math;

/// Whether every CPU of this kind multiplies and adds in one instruction; elsewhere `mul_add` would be a
/// call of a slow function.
const ONE_ROUNDING: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// A number the kernels work with.
pub trait Element:
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

    #[doc(hidden)]
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;

    #[doc(hidden)]
    fn lanes(level: Level) -> usize;

    #[doc(hidden)]
    fn tile_rows(level: Level) -> usize;
}

/// Vectors of one CPU: `LANES` numbers worked on at once.
///
/// # Safety
///
/// The methods may use instructions that only some CPUs have: a value of the implementing type may
/// exist only where [`Level`] found them. Pointers passed to `load` and `store` must be valid for
/// `LANES` elements; they need no alignment.
pub unsafe trait Simd: Copy {
    /// The numbers.
    type Elem: Element;
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

    /// The outer-product kernel with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`gemm::outer`](crate::gemm).
    unsafe fn outer(self, args: &crate::gemm::OuterArgs<Self::Elem>);

    /// One tile of the outer-product kernel, of so many rows and vectors.
    ///
    /// # Safety
    /// As for [`gemm::outer`](crate::gemm).
    unsafe fn outer_tile(self, sizes: [usize; 2], tile: &crate::gemm::Tile<Self::Elem>);

    /// A block of a dense product with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`product::block`](mod@crate::product).
    unsafe fn product(self, args: &crate::product::BlockArgs<Self::Elem>);

    /// The inner-product kernel with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`gemm::inner`](crate::gemm).
    unsafe fn inner(self, args: &crate::gemm::InnerArgs<Self::Elem>);

    /// One tile of the inner-product kernel, of so many rows and columns.
    ///
    /// # Safety
    /// As for [`gemm::inner`](crate::gemm).
    unsafe fn inner_tile(self, sizes: [usize; 2], tile: &crate::gemm::InnerTile<Self::Elem>);
}

/// Work to be done with the vectors of some CPU.
pub trait Kernel<E: Element> {
    /// What it gives back.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, or the CPU's features are lost.
    fn run<S: Simd<Elem = E>>(self, simd: S) -> Self::Output;
}

/// What the CPU at hand can do. A level can only be had for a CPU that was asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    vectors: Vectors,
    in_lanes: Option<InLanes>,
}

/// What lies in the lanes of vectors while maps and recurrences are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub enum InLanes {
    /// An entry of several samples.
    Samples,
    /// Columns of one sample.
    Columns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Vectors {
    /// What every CPU of its kind can do.
    Portable,
    /// AVX2 and FMA: 8 lanes of `f32`.
    Avx2,
    /// AVX-512 with 8 lanes of `f32`: half the width, all 32 registers.
    Avx512Half,
    /// AVX-512 with 16 lanes of `f32`.
    Avx512,
}

impl Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.vectors.fmt(f)?;
        self.in_lanes.map_or(Ok(()), |in_lanes| write!(f, " with {in_lanes:?}"))
    }
}

impl Level {
    /// Plain arrays, which every CPU has.
    pub const PORTABLE: Self = Self::of(Vectors::Portable);

    const fn of(vectors: Vectors) -> Self {
        Self { vectors, in_lanes: None }
    }

    /// The best this CPU offers, found once. `MATNET_SIMD=portable|avx2|avx512` asks for less.
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let most = match std::env::var("MATNET_SIMD").as_deref() {
                Ok("portable") => Vectors::Portable,
                Ok("avx2") => Vectors::Avx2,
                _ => Vectors::Avx512,
            };
            Self::available().into_iter().rev().find(|level| level.vectors <= most).unwrap_or(Self::PORTABLE)
        })
    }

    /// Everything this CPU can run, least first.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                let wide = [Self::of(Vectors::Avx512Half), Self::of(Vectors::Avx512)];
                return [[Self::PORTABLE, Self::of(Vectors::Avx2)], wide].concat();
            }
            return vec![Self::PORTABLE, Self::of(Vectors::Avx2)];
        }
        vec![Self::PORTABLE]
    }

    /// The same, with this in the lanes of maps and recurrences whatever their sizes are; for tests and timing.
    #[doc(hidden)]
    pub fn with(self, in_lanes: InLanes) -> Self {
        Self { in_lanes: Some(in_lanes), ..self }
    }

    /// What was asked to be in the lanes.
    pub(crate) fn in_lanes(self) -> Option<InLanes> {
        self.in_lanes
    }

    /// The level for `batch` samples, one a lane, whose matrices have at most `largest` entries: 16 lanes
    /// only where that leaves enough blocks to share among threads, and where the half dozen blocks of a
    /// backward pass still fit into half a second-level cache. It depends on the CPU and the shapes alone, so
    /// that results never depend on the number of threads.
    pub(crate) fn for_blocks(self, batch: usize, largest: usize) -> Self {
        let wide = batch >= 64 && 6 * largest * 16 * size_of::<f32>() <= second_level_cache() / 2;
        if wide { self } else { self.half() }
    }

    /// The level for rows of `width` numbers: 16 lanes only where they are not half empty.
    pub(crate) fn for_width(self, width: usize) -> Self {
        if width <= 8 { self.half() } else { self }
    }

    /// The level for columns in lanes: 16 only where the CPU works on them in one piece. Where it takes two, as Zen 4 does, 8 are as
    /// fast and leave fewer lanes empty.
    pub(crate) fn for_columns(self) -> Self {
        if self.whole_512() || self.in_lanes.is_some() { self } else { self.half() }
    }

    /// Whether the vectors have 512 bits and the CPU works on them in one piece.
    pub(crate) fn whole_512(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.vectors == Vectors::Avx512 {
            static WHOLE: OnceLock<bool> = OnceLock::new();
            return *WHOLE.get_or_init(x86::whole_512);
        }
        false
    }

    /// 8 lanes in place of 16.
    fn half(self) -> Self {
        let vectors = if self.vectors == Vectors::Avx512 { Vectors::Avx512Half } else { self.vectors };
        Self { vectors, ..self }
    }

    /// How many numbers a vector holds.
    pub fn lanes<E: Element>(self) -> usize {
        E::lanes(self)
    }

    /// How many rows the register tile of the outer-product kernel has.
    pub(crate) fn tile_rows<E: Element>(self) -> usize {
        E::tile_rows(self)
    }

    /// Runs a kernel compiled for this level.
    pub(crate) fn run<E: Element, K: Kernel<E>>(self, kernel: K) -> K::Output {
        E::dispatch(self, kernel)
    }
}

/// Bytes of second-level cache that a core has, found once; a megabyte where the CPU does not say.
fn second_level_cache() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        if let Some(size) = x86::cache_size(2) {
            return size;
        }
        1 << 20
    })
}

impl Element for f32 {
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

    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
        match level.vectors {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => x86::run_avx512(kernel),
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512Half => x86::run_avx512_half(kernel),
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => x86::run_avx2(kernel),
            _ => kernel.run(Lanes::<f32, 8>::new()),
        }
    }

    fn lanes(level: Level) -> usize {
        if level.vectors == Vectors::Avx512 { 16 } else { 8 }
    }

    fn tile_rows(level: Level) -> usize {
        match level.vectors {
            Vectors::Portable => 4,
            Vectors::Avx2 | Vectors::Avx512Half | Vectors::Avx512 => 6,
        }
    }
}

impl Element for f64 {
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

    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
        match level.vectors {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 | Vectors::Avx512Half | Vectors::Avx512 => x86::run_f64_avx2(kernel),
            _ => kernel.run(Lanes::<f64, 4>::new()),
        }
    }

    fn lanes(_: Level) -> usize {
        4
    }

    fn tile_rows(_: Level) -> usize {
        4
    }
}
