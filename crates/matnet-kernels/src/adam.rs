//! One step of Adam over all numbers of a parameter, in one pass.

use rayon::prelude::*;

use crate::parallel::at_least;
use crate::simd::{Kernel, Level, Simd};

/// So many numbers are worth a thread of their own.
const CHUNK: usize = 1 << 15;

/// The factors of one step of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Share of the old first moment.
    pub beta_1: f32,
    /// Share of the old second moment.
    pub beta_2: f32,
    /// Learning rate over the bias of the first moment: lr / (1 − β₁ᵗ).
    pub rate: f32,
    /// One over the bias of the second moment: 1 / (1 − β₂ᵗ).
    pub correction: f32,
    /// What keeps the quotient finite.
    pub epsilon: f32,
}

impl AdamStep {
    /// m = β₁m + (1−β₁)g; v = β₂v + (1−β₂)g²; w −= rate · m / (√(v · correction) + ε)
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn run(
        self,
        level: Level,
        weights: &mut [f32],
        gradient: &[f32],
        first: &mut [f32],
        second: &mut [f32],
    ) {
        let len = weights.len();
        assert!(
            gradient.len() == len && first.len() == len && second.len() == len,
            "slices differ in length"
        );
        if len <= CHUNK {
            return level.run(Chunk { step: self, w: weights, g: gradient, m: first, v: second });
        }
        let moments = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
        let chunks = weights.par_chunks_mut(CHUNK).zip(gradient.par_chunks(CHUNK)).zip(moments);
        chunks
            .with_min_len(at_least())
            .for_each(|((w, g), (m, v))| level.run(Chunk { step: self, w, g, m, v }));
    }
}

struct Chunk<'a> {
    step: AdamStep,
    w: &'a mut [f32],
    g: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
}

impl Kernel<f32> for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = f32>>(self, _: S) {
        let AdamStep { beta_1, beta_2, rate, correction, epsilon } = self.step;
        let moments = self.m.iter_mut().zip(self.v);
        for ((w, &g), (m, v)) in self.w.iter_mut().zip(self.g).zip(moments) {
            *m = beta_1 * *m + (1.0 - beta_1) * g;
            *v = beta_2 * *v + (1.0 - beta_2) * g * g;
            *w -= rate * *m / ((*v * correction).sqrt() + epsilon);
        }
    }
}
