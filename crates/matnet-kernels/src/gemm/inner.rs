//! Products of vectors with vectors, the lanes summed.

use super::View;
use crate::simd::{Element, Kernel, Level, Simd};
use crate::tile::InnerArgs;

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
        near: level.near_tile(),
    }));
}
