//! Elementwise work on blocks.

use std::ops::Range;

use rayon::prelude::*;

use crate::Activation;
use crate::block::Layout;
use crate::parallel::at_least;
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

/// Sets all lanes of a block but the first `count` to 0.
pub(crate) fn keep_first<E: Element>(level: Level, block: &mut [E], count: usize) {
    struct KeepFirst<'a, E>(&'a mut [E], usize);
    impl<E: Element> Kernel<E> for KeepFirst<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let count = self.1.min(S::LANES);
            for vector in self.0.chunks_exact_mut(S::LANES) {
                // SAFETY: the chunk is `LANES` long, and `count` is no more.
                unsafe { s.store(vector.as_mut_ptr(), s.load_first(vector.as_ptr(), count)) }
            }
        }
    }
    level.run(KeepFirst(block, count));
}

/// Sets some lanes of a block to 0.
pub(crate) fn clear<E: Element>(layout: &Layout, block: &mut [E], lanes: Range<usize>) {
    for vector in block.chunks_exact_mut(layout.lanes) {
        vector[lanes.clone()].fill(E::ZERO);
    }
}

/// g = g · f′ for every entry of a block; `y` are f's values.
pub(crate) fn through<E: Element>(level: Level, activation: Activation, y: &[E], g: &mut [E]) {
    struct Through<'a, E>(Activation, &'a [E], &'a mut [E]);
    impl<E: Element> Kernel<E> for Through<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self(activation, y, g) = self;
            for (y, g) in y.chunks_exact(S::LANES).zip(g.chunks_exact_mut(S::LANES)) {
                // SAFETY: both chunks are `LANES` long.
                unsafe {
                    let through = activation.backward(s, s.load(y.as_ptr()), s.load(g.as_ptr()));
                    s.store(g.as_mut_ptr(), through);
                }
            }
        }
    }
    assert_eq!(y.len(), g.len());
    if activation != Activation::Identity {
        level.run(Through(activation, y, g));
    }
}

/// x = f(x) for numbers in any layout.
pub(crate) fn activate<E: Element>(level: Level, activation: Activation, numbers: &mut [E]) {
    struct Activate<'a, E>(Activation, &'a mut [E]);
    impl<E: Element> Kernel<E> for Activate<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self(activation, numbers) = self;
            for vector in numbers.chunks_mut(S::LANES) {
                let count = vector.len();
                // SAFETY: the chunk has `count` numbers, at most `LANES`.
                unsafe {
                    let x = s.load_first(vector.as_ptr(), count);
                    s.store_first(vector.as_mut_ptr(), activation.apply(s, x), count);
                }
            }
        }
    }
    if activation != Activation::Identity {
        level.run(Activate(activation, numbers));
    }
}

/// g · f′ for numbers in any layout; `y` are f's values.
pub(crate) fn through_all<E: Element>(level: Level, activation: Activation, y: &[E], g: &[E]) -> Vec<E> {
    struct ThroughAll<'a, E>(Activation, &'a [E], &'a [E], &'a mut [E]);
    impl<E: Element> Kernel<E> for ThroughAll<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self(activation, y, g, to) = self;
            let whole = to.len() - to.len() % S::LANES;
            for at in (0..whole).step_by(S::LANES) {
                // SAFETY: `LANES` numbers of each begin here.
                unsafe {
                    let (y, g) = (s.load(y.as_ptr().add(at)), s.load(g.as_ptr().add(at)));
                    s.store(to.as_mut_ptr().add(at), activation.backward(s, y, g));
                }
            }
            let rest = to.len() - whole;
            // SAFETY: `rest` numbers of each are left.
            unsafe {
                let y = s.load_first(y.as_ptr().add(whole), rest);
                let g = s.load_first(g.as_ptr().add(whole), rest);
                s.store_first(to.as_mut_ptr().add(whole), activation.backward(s, y, g), rest);
            }
        }
    }
    const AT_ONCE: usize = 1 << 15;
    assert_eq!(y.len(), g.len());
    let mut all = vec![E::ZERO; g.len()];
    let parts = all.par_chunks_mut(AT_ONCE).zip(y.par_chunks(AT_ONCE)).zip(g.par_chunks(AT_ONCE));
    parts.with_min_len(at_least()).for_each(|((to, y), g)| level.run(ThroughAll(activation, y, g, to)));
    all
}

/// `sums[r, c]` += the sum of entry (r, c) over the samples of a block.
pub(crate) fn sum_lanes<E: Element>(level: Level, layout: &Layout, block: &[E], sums: &mut [E]) {
    struct SumRows<'a, E>(&'a Layout, &'a [E], &'a mut [E]);
    impl<E: Element> Kernel<E> for SumRows<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, _: S) {
            let Self(layout, block, sums) = self;
            for sample in block.chunks_exact(layout.one()) {
                for (row, sums) in sample.chunks_exact(layout.plane).zip(sums.chunks_exact_mut(layout.cols)) {
                    for (sum, entry) in sums.iter_mut().zip(row) {
                        *sum += *entry;
                    }
                }
            }
        }
    }
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
    if layout.columns.is_some() {
        level.run(SumRows(layout, block, sums));
    } else {
        level.run(SumLanes(layout, block, sums));
    }
}
