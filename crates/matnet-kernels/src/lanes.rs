//! Elementwise work on blocks.

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

/// x = f(x + B) on a sample that lies alone, its columns in the lanes; `bias` stands as it was given.
pub(crate) fn finish_alone<E: Element>(
    level: Level,
    layout: &Layout,
    block: &mut [E],
    bias: Option<&[E]>,
    activation: Activation,
) {
    struct FinishAlone<'a, E>(&'a mut [E], usize, usize, Option<&'a [E]>, Activation);
    impl<E: Element> Kernel<E> for FinishAlone<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self(block, plane, cols, bias, activation) = self;
            if let Some(bias) = bias {
                for (row, bias) in block.chunks_exact_mut(plane).zip(bias.chunks_exact(cols)) {
                    for (x, b) in row.iter_mut().zip(bias) {
                        *x += *b;
                    }
                }
            }
            if activation != Activation::Identity {
                for vector in block.chunks_exact_mut(S::LANES) {
                    // SAFETY: the chunk is `LANES` long.
                    unsafe {
                        let x = s.load(vector.as_ptr());
                        s.store(vector.as_mut_ptr(), activation.apply(s, x));
                    }
                }
            }
        }
    }
    level.run(FinishAlone(block, layout.plane, layout.cols, bias, activation));
}
