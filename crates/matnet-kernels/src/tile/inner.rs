//! Register tiles of products of vectors with vectors.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use super::{Simd, even};
use crate::vector::Number;

/// The arguments of [`inner_tiles`], checked.
pub struct InnerArgs<E> {
    pub(crate) sizes: (usize, usize, usize),
    pub(crate) p: *const E,
    pub(crate) p_strides: (usize, usize),
    pub(crate) q: *const E,
    pub(crate) q_strides: (usize, usize),
    pub(crate) d: *mut E,
    /// Bytes that what a tile reads may take.
    pub(crate) near: usize,
}

/// Bytes of Q that [`inner_tiles`] holds near: most of a second-level cache.
const Q_NEAR: usize = 512 << 10;

/// Products of vectors with vectors, their lanes summed, by register tiles of at most `MR`×`NR`.
///
/// # Safety
/// All that the arguments point at is there, and D overlaps neither P nor Q.
#[inline(always)]
pub unsafe fn inner_tiles<S: Simd, const MR: usize, const NR: usize>(s: S, args: &InnerArgs<S::Elem>) {
    let (m_count, n_count, depth) = args.sizes;
    // Q passes by once for every few rows of P, so a piece of the depth is taken that lets all of Q stay near.
    let vector = S::LANES * size_of::<S::Elem>();
    let pieces =
        (depth * n_count * vector).div_ceil(Q_NEAR).max((depth * (MR + NR) * vector).div_ceil(args.near));
    for [k, k_end] in even(pieces, depth) {
        for [m, m_end] in even(m_count.div_ceil(MR), m_count) {
            let tiles = n_count.div_ceil(NR);
            for (at, [n, n_end]) in even(tiles, n_count).enumerate() {
                if S::LANES == 16 {
                    // The next rows of P may lie far away: a few of their lines with each tile.
                    for k in k + (k_end - k) * at / tiles..k + (k_end - k) * (at + 1) / tiles {
                        for i in m_end..(m_end + MR).min(m_count) {
                            s.prefetch(args.p.wrapping_add(i * args.p_strides.0 + k * args.p_strides.1));
                        }
                    }
                }
                let tile = InnerTile {
                    k: k_end - k,
                    p: args.p.wrapping_add(m * args.p_strides.0 + k * args.p_strides.1),
                    p_strides: args.p_strides,
                    q: args.q.wrapping_add(n * args.q_strides.0 + k * args.q_strides.1),
                    q_strides: args.q_strides,
                    d: args.d.wrapping_add(m * n_count + n),
                    d_stride: n_count,
                };
                // SAFETY: the tile lies within D, as the caller vouches.
                unsafe { s.inner_tile([m_end - m, n_end - n], &tile) }
            }
        }
    }
}

/// What a register tile reads and adds to.
pub struct InnerTile<E> {
    k: usize,
    p: *const E,
    p_strides: (usize, usize),
    q: *const E,
    q_strides: (usize, usize),
    d: *mut E,
    d_stride: usize,
}

/// One register tile of [`inner_tiles`], `M`×`N`; a function of its own, as [`outer_tile`](super::outer_tile) is, where it matters.
///
/// # Safety
/// As for [`inner_tiles`].
#[inline(always)]
pub unsafe fn inner_tile<S: Simd, const M: usize, const N: usize>(s: S, tile: &InnerTile<S::Elem>) {
    let zero = s.splat(S::Elem::ZERO);
    let mut sums = [[zero; N]; M];
    let (mut p, mut q) = (tile.p, tile.q);
    for _ in 0..tile.k {
        let mut column = [zero; N];
        // SAFETY: all offsets are of entries that the caller vouches for.
        unsafe {
            for j in 0..N {
                column[j] = s.load(q.add(j * tile.q_strides.0));
            }
            for i in 0..M {
                let row = s.load(p.add(i * tile.p_strides.0));
                for j in 0..N {
                    sums[i][j] = s.mul_add(row, column[j], sums[i][j]);
                }
            }
        }
        p = p.wrapping_add(tile.p_strides.1);
        q = q.wrapping_add(tile.q_strides.1);
    }
    let add = |i: usize, j: usize, sum| {
        // SAFETY: the entry lies within D, as the caller vouches.
        unsafe { *tile.d.add(i * tile.d_stride + j) += sum }
    };
    for i in 0..M {
        let mut four = [zero; 4];
        let cols = N.min(4);
        four[..cols].copy_from_slice(&sums[i][..cols]);
        let four = s.sum_four(four);
        for j in 0..cols {
            add(i, j, four[j]);
        }
    }
    // A fifth column, four rows at a time.
    for j in 4..N {
        let mut four = [zero; 4];
        for i in 0..M.min(4) {
            four[i] = sums[i][j];
        }
        let four = s.sum_four(four);
        for i in 0..M.min(4) {
            add(i, j, four[i]);
        }
        for i in 4..M {
            add(i, j, s.sum(sums[i][j]));
        }
    }
}
