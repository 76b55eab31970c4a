//! Tiles of plain arrays.

use super::{
    BlockArgs, InnerArgs, InnerTile, OuterArgs, Simd, Tile, block, inner_tile, inner_tiles, outer_tile,
    outer_tiles,
};
use crate::vector::{Lanes, Number};

/// Calls `$kernel` with the constants that fit a tile of `$m`×`$n`, of at most `SUMS` sums.
macro_rules! tile {
    ($m:expr, $n:expr, $kernel:ident::<$s:ty>($($arg:expr),*)) => {
        match $m {
            1 => tile!(@n $n, $kernel::<$s, 1>($($arg),*)),
            2 => tile!(@n $n, $kernel::<$s, 2>($($arg),*)),
            3 => tile!(@n $n, $kernel::<$s, 3>($($arg),*)),
            4 => tile!(@n $n, $kernel::<$s, 4>($($arg),*)),
            5 => tile!(@n $n, $kernel::<$s, 5>($($arg),*)),
            6 => tile!(@n $n, $kernel::<$s, 6>($($arg),*)),
            7 => tile!(@n $n, $kernel::<$s, 7>($($arg),*)),
            8 => tile!(@n $n, $kernel::<$s, 8>($($arg),*)),
            _ => unreachable!(),
        }
    };
    (@n $n:expr, $kernel:ident::<$s:ty, $m:literal>($($arg:expr),*)) => {
        match $n {
            1 if $m <= SUMS => $kernel::<$s, $m, 1>($($arg),*),
            2 if 2 * $m <= SUMS => $kernel::<$s, $m, 2>($($arg),*),
            3 if 3 * $m <= SUMS => $kernel::<$s, $m, 3>($($arg),*),
            4 if 4 * $m <= SUMS => $kernel::<$s, $m, 4>($($arg),*),
            _ => unreachable!(),
        }
    };
}
// SAFETY: only instructions that every CPU has are used.
unsafe impl<E: Number, const L: usize> Simd for Lanes<E, L> {
    #[inline(always)]
    unsafe fn outer(self, args: &OuterArgs<E>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { outer_tiles::<Self, 3, 12>(self, args) }
    }

    #[inline(always)]
    unsafe fn outer_tile(self, [rows, cols]: [usize; 2], tile: &Tile<E>) {
        const SUMS: usize = 12;
        // SAFETY: the caller's promises are those of the callee.
        unsafe { tile!(rows, cols, outer_tile::<Self>(self, tile)) }
    }

    #[inline(always)]
    unsafe fn product(self, args: &BlockArgs<E>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { block::<Self, 4, 2>(self, args) }
    }

    #[inline(always)]
    unsafe fn inner(self, args: &InnerArgs<E>) {
        // SAFETY: the caller's promises are those of the callee.
        unsafe { inner_tiles::<Self, 4, 3>(self, args) }
    }

    #[inline(always)]
    unsafe fn inner_tile(self, [rows, cols]: [usize; 2], tile: &InnerTile<E>) {
        const SUMS: usize = 12;
        // SAFETY: the caller's promises are those of the callee.
        unsafe { tile!(rows, cols, inner_tile::<Self>(self, tile)) }
    }
}
