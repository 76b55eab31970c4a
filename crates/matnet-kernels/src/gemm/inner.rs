//! Products of vectors with vectors, the lanes summed.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use super::{View, even};
use crate::simd::{Element, Kernel, Level, Simd};

/// D\[m, n\] += Σₖ Σ_lanes P\[m, k\] · Q\[n, k\] for vectors P, Q and scalar D, stored row by row.
///
/// `p` is viewed as (m, k), `q` as (n, k); `sizes` are (m, n, k).
pub(crate) fn inner<E: Element>(
    level: Level,
    sizes: (usize, usize, usize),
    p: View<E>,
    q: View<E>,
    d: &mut [E],
) {
    struct Run<E>(InnerArgs<E>);
    impl<E: Element> Kernel<E> for Run<E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, simd: S) {
            // SAFETY: `inner` has checked every bound.
            unsafe { simd.inner(&self.0) }
        }
    }
    let (m, n, k) = sizes;
    let lanes = level.lanes::<E>();
    let last = |i: usize, strides: (usize, usize)| (i - 1) * strides.0 + (k - 1) * strides.1 + lanes;
    assert!(m > 0 && n > 0 && k > 0, "a product needs every side");
    assert!(last(m, p.strides) <= p.data.len(), "p is too short");
    assert!(last(n, q.strides) <= q.data.len(), "q is too short");
    assert!(m * n <= d.len(), "d is too short");
    level.run(Run(InnerArgs {
        sizes,
        p: p.data.as_ptr(),
        p_strides: p.strides,
        q: q.data.as_ptr(),
        q_strides: q.strides,
        d: d.as_mut_ptr(),
    }));
}

/// The arguments of [`inner`], checked.
pub struct InnerArgs<E> {
    sizes: (usize, usize, usize),
    p: *const E,
    p_strides: (usize, usize),
    q: *const E,
    q_strides: (usize, usize),
    d: *mut E,
}

/// Bytes of Q that [`inner`] holds near: most of a second-level cache.
const Q_NEAR: usize = 512 << 10;

/// [`inner`] with register tiles of at most `MR`×`NR`.
///
/// # Safety
/// All that the arguments point at is there, and D overlaps neither P nor Q.
#[inline(always)]
pub unsafe fn inner_tiles<S: Simd, const MR: usize, const NR: usize>(s: S, args: &InnerArgs<S::Elem>) {
    let (m_count, n_count, depth) = args.sizes;
    // Q passes by once for every few rows of P, so a piece of the depth is taken that lets all of Q stay near.
    let slice = n_count * S::LANES * size_of::<S::Elem>();
    for [k, k_end] in even((depth * slice).div_ceil(Q_NEAR), depth) {
        for [m, m_end] in even(m_count.div_ceil(MR), m_count) {
            for [n, n_end] in even(n_count.div_ceil(NR), n_count) {
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

/// One register tile of [`inner`], `M`×`N`; a function of its own, as [`outer_tile`](super::outer_tile) is, where it matters.
///
/// # Safety
/// As for [`inner`].
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
    for i in 0..M {
        let mut four = [zero; 4];
        four[..N].copy_from_slice(&sums[i]);
        let four = s.sum_four(four);
        for j in 0..N {
            // SAFETY: the entry lies within D, as the caller vouches.
            unsafe { *tile.d.add(i * tile.d_stride + j) += four[j] };
        }
    }
}
