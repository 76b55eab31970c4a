//! What the CPU at hand can do, and the jump into code compiled for it.
//!
//! A kernel is a struct that implements [`Kernel`]: its `run` is written once, generic over [`Simd`].
//! [`Level::run`] enters a function compiled with the level's CPU features and calls it there, so that
//! everything marked `#[inline(always)]` below becomes straight vector code.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt::Debug;
use std::sync::OnceLock;

pub use crate::tile::Simd;
#[cfg(target_arch = "x86_64")]
use crate::vector::cache_size;
use crate::vector::{Lanes, Number};

/// A number the kernels work with.
pub trait Element: Number {
    #[doc(hidden)]
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;

    #[doc(hidden)]
    fn lanes(level: Level) -> usize;

    #[doc(hidden)]
    fn tile_rows(level: Level) -> usize;
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

    /// Whether blocks of 16 samples whose matrices have at most `largest` entries stay near enough for 16 lanes to be worth it where
    /// 512 bits are one piece: a block fits into the second-level cache, and what a tile of a gradient reads, ten rows of vectors,
    /// mostly into the first. Measured with 48 KiB and 1 MiB (Zen 5); with 32 KiB and 1 MiB nothing was gained (Cascade Lake).
    pub(crate) fn is_near(self, largest: usize) -> bool {
        16 * largest * size_of::<f32>() <= second_level_cache() && first_level_cache() >= 48 << 10
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
            return *WHOLE.get_or_init(crate::vector::whole_512);
        }
        false
    }

    /// Bytes that a tile or its panel may read over and over: with 16 lanes most of the first-level cache, as loads are what it waits for.
    pub(crate) fn near_tile(self) -> usize {
        if self.vectors == Vectors::Avx512 { first_level_cache() / 8 * 7 } else { usize::MAX }
    }

    /// 8 lanes in place of 16.
    fn half(self) -> Self {
        let vectors = if self.vectors == Vectors::Avx512 { Vectors::Avx512Half } else { self.vectors };
        Self { vectors, ..self }
    }

    /// The level by name, and with AVX-512 what else of the CPU decides how sums over a batch are made: where two texts are equal, so are the
    /// bits of all gradients.
    pub fn describe(self) -> String {
        let name = format!("{self:?}").to_lowercase();
        if self.vectors != Vectors::Avx512 {
            return name;
        }
        let pieces = if self.whole_512() { "one piece" } else { "two pieces" };
        let [first, second] = [first_level_cache(), second_level_cache()].map(|bytes| bytes >> 10);
        format!("{name} in {pieces}, {first} + {second} KiB of cache, {} threads", cores())
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
    *SIZE.get_or_init(|| cache_size(2).unwrap_or(1 << 20))
}

/// Bytes of first-level data cache, found once; 32 KiB where the CPU does not say.
fn first_level_cache() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| cache_size(1).unwrap_or(32 << 10))
}

/// How many threads the CPU runs at once, found once; very many where it does not say. It is no matter of which of them this process
/// may use.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        if let Some(cores) = crate::vector::cores() {
            return cores;
        }
        1 << 16
    })
}

/// Only x86-64 is asked for its caches: elsewhere nothing depends on them.
#[cfg(not(target_arch = "x86_64"))]
fn cache_size(_level: u32) -> Option<usize> {
    None
}

impl Element for f32 {
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
            Vectors::Avx2 | Vectors::Avx512Half => 6,
            Vectors::Avx512 => 5,
        }
    }
}

impl Element for f64 {
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
