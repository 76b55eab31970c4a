//! Elementwise work on blocks.

use crate::block::Layout;
use crate::simd::{Element, Kernel, Level, Simd};

/// `to` += `from`
pub(crate) fn add_to<E: Element>(level: Level, to: &mut [E], from: &[E]) {
    struct AddTo<'a, E>(&'a mut [E], &'a [E]);
    impl<E: Element> Kernel<E> for AddTo<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, _: S) {
            for (to, from) in self.0.iter_mut().zip(self.1) {
                *to += *from;
            }
        }
    }
    assert_eq!(to.len(), from.len());
    level.run(AddTo(to, from));
}

/// `sums[r, c]` += the sum over the lanes of entry (r, c).
pub(crate) fn sum_lanes<E: Element>(level: Level, layout: &Layout, block: &[E], sums: &mut [E]) {
    struct SumLanes<'a, E>(&'a Layout, &'a [E], &'a mut [E]);
    impl<E: Element> Kernel<E> for SumLanes<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self(layout, block, sums) = self;
            for (row, sums) in block.chunks(layout.plane).zip(sums.chunks_mut(layout.cols)) {
                for (entry, sum) in row.chunks_exact(S::LANES).zip(sums) {
                    // SAFETY: the chunk is `LANES` long.
                    *sum += s.sum(unsafe { s.load(entry.as_ptr()) });
                }
            }
        }
    }
    assert_eq!(layout.lanes, level.lanes::<E>());
    level.run(SumLanes(layout, block, sums));
}
