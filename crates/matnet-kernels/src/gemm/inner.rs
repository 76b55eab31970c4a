//! Products of vectors with vectors, the lanes summed.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use super::{View, even, tile};
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

/// [`inner`] with a register tile of `MR`×`NR`, `SUMS` sums in all.
///
/// # Safety
/// All that the arguments point at is there, and D overlaps neither P nor Q.
#[inline(always)]
pub unsafe fn inner_tiles<S: Simd, const MR: usize, const NR: usize, const SUMS: usize>(
    s: S,
    args: &InnerArgs<S::Elem>,
) {
    const { assert!(MR * NR == SUMS) }
    let (m_count, n_count, depth) = args.sizes;
    // Q passes by once for every few rows of P, so a piece of the depth is taken that lets all of Q stay near.
    let slice = n_count * S::LANES * size_of::<S::Elem>();
    for k in even((depth * slice).div_ceil(Q_NEAR), depth) {
        for m in (0..m_count).step_by(MR) {
            for n in (0..n_count).step_by(NR) {
                let (rows, cols) = ((m_count - m).min(MR), (n_count - n).min(NR));
                // SAFETY: the tile lies within D, as the caller vouches.
                unsafe { tile!(rows, cols, inner_tile::<S>(s, args, m, n, k)) }
            }
        }
    }
}

/// One register tile of [`inner`], `M`×`N` at (m0, n0), over a piece of the depth.
///
/// # Safety
/// As for [`inner`].
#[inline(always)]
unsafe fn inner_tile<S: Simd, const M: usize, const N: usize>(
    s: S,
    args: &InnerArgs<S::Elem>,
    m0: usize,
    n0: usize,
    [k0, end]: [usize; 2],
) {
    let zero = s.splat(S::Elem::ZERO);
    let mut sums = [[zero; N]; M];
    let (_, n_count, _) = args.sizes;
    // SAFETY: all offsets are of entries that the caller vouches for.
    unsafe {
        let mut p = args.p.add(m0 * args.p_strides.0 + k0 * args.p_strides.1);
        let mut q = args.q.add(n0 * args.q_strides.0 + k0 * args.q_strides.1);
        for _ in k0..end {
            let mut column = [zero; N];
            for j in 0..N {
                column[j] = s.load(q.add(j * args.q_strides.0));
            }
            for i in 0..M {
                let row = s.load(p.add(i * args.p_strides.0));
                for j in 0..N {
                    sums[i][j] = s.mul_add(row, column[j], sums[i][j]);
                }
            }
            p = p.wrapping_add(args.p_strides.1);
            q = q.wrapping_add(args.q_strides.1);
        }
        for i in 0..M {
            for j in 0..N {
                *args.d.add((m0 + i) * n_count + n0 + j) += s.sum(sums[i][j]);
            }
        }
    }
}
