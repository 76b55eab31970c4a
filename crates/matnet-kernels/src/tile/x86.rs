//! Tiles of AVX2 with FMA, and of AVX-512F.

use super::{
    BlockArgs, InnerArgs, InnerTile, OuterArgs, Simd, Tile, block, inner_tile, inner_tiles, outer_tile,
    outer_tiles,
};
use crate::vector::{Avx2, Avx512};

/// Functions for tiles of 1 to 8 rows and 1 to 5 vectors. They are called through a table because the compiler, which would
/// otherwise put all of them into one function, runs out of registers there.
type Tiles<T> = [[unsafe fn(&T); 5]; 8];

/// A table of tiles of at most `$sums` sums.
macro_rules! tiles {
    ($name:ident, $kernel:ident($tile:ty), $features:literal, $sums:literal, $simd:expr) => {
        static $name: Tiles<$tile> = {
            /// # Safety
            /// As for the kernel, and the CPU has the features.
            #[target_feature(enable = $features)]
            unsafe fn one<const M: usize, const N: usize>(tile: &$tile) {
                if M * N <= $sums {
                    // SAFETY: the caller's promises are those of the callee.
                    unsafe { $kernel::<_, M, N>($simd, tile) }
                } else {
                    unreachable!("no tile of {M} rows and {N} vectors");
                }
            }
            [
                [one::<1, 1>, one::<1, 2>, one::<1, 3>, one::<1, 4>, one::<1, 5>],
                [one::<2, 1>, one::<2, 2>, one::<2, 3>, one::<2, 4>, one::<2, 5>],
                [one::<3, 1>, one::<3, 2>, one::<3, 3>, one::<3, 4>, one::<3, 5>],
                [one::<4, 1>, one::<4, 2>, one::<4, 3>, one::<4, 4>, one::<4, 5>],
                [one::<5, 1>, one::<5, 2>, one::<5, 3>, one::<5, 4>, one::<5, 5>],
                [one::<6, 1>, one::<6, 2>, one::<6, 3>, one::<6, 4>, one::<6, 5>],
                [one::<7, 1>, one::<7, 2>, one::<7, 3>, one::<7, 4>, one::<7, 5>],
                [one::<8, 1>, one::<8, 2>, one::<8, 3>, one::<8, 4>, one::<8, 5>],
            ]
        };
    };
}

tiles!(OUTER_AVX2, outer_tile(Tile<f32>), "avx2,fma", 12, Avx2::<false>::new());
tiles!(OUTER_HALF, outer_tile(Tile<f32>), "avx512f,avx512vl,avx2,fma", 24, Avx2::<true>::new());
tiles!(OUTER_AVX512, outer_tile(Tile<f32>), "avx512f,avx2,fma", 25, Avx512::new());
tiles!(INNER_AVX2, inner_tile(InnerTile<f32>), "avx2,fma", 12, Avx2::<false>::new());
tiles!(INNER_HALF, inner_tile(InnerTile<f32>), "avx512f,avx512vl,avx2,fma", 24, Avx2::<true>::new());
tiles!(INNER_AVX512, inner_tile(InnerTile<f32>), "avx512f,avx2,fma", 25, Avx512::new());

// SAFETY: a value proves the features, and the tables are entered with one only.
unsafe impl<const MANY: bool> Simd for Avx2<MANY> {
    #[inline(always)]
    unsafe fn outer(self, args: &OuterArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe {
            // With 16 registers: 12 sums, 2 samples, 2 weights.
            if MANY { outer_tiles::<Self, 4, 24>(self, args) } else { outer_tiles::<Self, 2, 12>(self, args) }
        }
    }

    #[inline(always)]
    unsafe fn outer_tile(self, [rows, cols]: [usize; 2], tile: &Tile<f32>) {
        let table = if MANY { &OUTER_HALF } else { &OUTER_AVX2 };
        // SAFETY: the caller's promises are those of the callee, `self` proves the features.
        unsafe { table[rows - 1][cols - 1](tile) }
    }

    #[inline(always)]
    unsafe fn product(self, args: &BlockArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { if MANY { block::<Self, 8, 3>(self, args) } else { block::<Self, 6, 2>(self, args) } }
    }

    #[inline(always)]
    unsafe fn inner(self, args: &InnerArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe {
            if MANY { inner_tiles::<Self, 6, 4>(self, args) } else { inner_tiles::<Self, 6, 2>(self, args) }
        }
    }

    #[inline(always)]
    unsafe fn inner_tile(self, [rows, cols]: [usize; 2], tile: &InnerTile<f32>) {
        let table = if MANY { &INNER_HALF } else { &INNER_AVX2 };
        // SAFETY: the caller's promises are those of the callee, `self` proves the features.
        unsafe { table[rows - 1][cols - 1](tile) }
    }
}

// SAFETY: as above.
unsafe impl Simd for Avx512 {
    #[inline(always)]
    unsafe fn outer(self, args: &OuterArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { outer_tiles::<Self, 5, 25>(self, args) }
    }

    #[inline(always)]
    unsafe fn outer_tile(self, [rows, cols]: [usize; 2], tile: &Tile<f32>) {
        // SAFETY: the caller's promises are those of the callee, `self` proves the features.
        unsafe { OUTER_AVX512[rows - 1][cols - 1](tile) }
    }

    #[inline(always)]
    unsafe fn product(self, args: &BlockArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee. 24 sums, 3 vectors of B, and one entry of A.
        unsafe { block::<Self, 8, 3>(self, args) }
    }

    #[inline(always)]
    unsafe fn inner(self, args: &InnerArgs<f32>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { inner_tiles::<Self, 5, 5>(self, args) }
    }

    #[inline(always)]
    unsafe fn inner_tile(self, [rows, cols]: [usize; 2], tile: &InnerTile<f32>) {
        // SAFETY: the caller's promises are those of the callee, `self` proves the features.
        unsafe { INNER_AVX512[rows - 1][cols - 1](tile) }
    }
}
