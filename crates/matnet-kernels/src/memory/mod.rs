//! A memory and its heads: one step of a Neural Turing Machine, forward and backward.
//!
//! A sample's memory lies with its slots side by side, `[width][slots]`: scores, weights, erasing and writing are then loops over
//! neighbouring numbers, and only what is read is a sum over lanes. A sample belongs to one thread and touches no weights, so the
//! bits do not depend on the number of threads.

mod backward;
mod forward;
mod head;
mod vectors;

use rayon::prelude::*;

use crate::parallel::{at_least, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// Added to squared norms: the cosine similarity of an empty slot is 0, and no gradient is larger than 1/√BLANK.
const BLANK: f32 = 1e-2;
/// The least weight that is sharpened: its logarithm is finite.
const FLOOR: f32 = 1e-8;
/// So many numbers of all memories together are worth sharing among threads.
const GRAIN: usize = 1 << 15;

/// The sizes of a memory, and how many heads work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize {
    /// How many slots.
    pub slots: usize,
    /// Numbers in a slot.
    pub width: usize,
    /// How many read heads.
    pub reads: usize,
    /// How many write heads.
    pub writes: usize,
    /// How far a head shifts in a step, at most.
    pub shift: usize,
}

impl MemorySize {
    /// All heads, read heads first.
    pub fn heads(&self) -> usize {
        self.reads + self.writes
    }

    /// The addressing parameters of a head: key, key strength, interpolation gate, a score for each shift, sharpening.
    pub fn address(&self) -> usize {
        self.width + 4 + 2 * self.shift
    }

    /// The addressing parameters of all heads.
    pub fn addresses(&self) -> usize {
        self.heads() * self.address()
    }

    /// The erase vectors of the write heads, one head after another, then their add vectors.
    pub fn changes(&self) -> usize {
        2 * self.writes * self.width
    }

    /// Numbers of a state: what was read, the weights of all heads, the memory.
    pub fn state(&self) -> usize {
        self.reads * self.width + self.heads() * self.slots + self.width * self.slots
    }

    /// Numbers kept for the backward pass: the inverse lengths of the slots, and four rows per head.
    fn kept(&self) -> usize {
        self.slots * (1 + 4 * self.heads())
    }

    /// A state as what was read, weights, memory.
    fn cut<'a, E>(&self, state: &'a [E]) -> [&'a [E]; 3] {
        let (read, rest) = state.split_at(self.reads * self.width);
        let (weights, memory) = rest.split_at(self.heads() * self.slots);
        [read, weights, memory]
    }

    fn cut_mut<'a, E>(&self, state: &'a mut [E]) -> [&'a mut [E]; 3] {
        let (read, rest) = state.split_at_mut(self.reads * self.width);
        let (weights, memory) = rest.split_at_mut(self.heads() * self.slots);
        [read, weights, memory]
    }
}

/// One step of the memories of any number of samples.
///
/// Every head computes its weights from content and location, relative to its weights before; then the write heads erase and add, and the
/// read heads read the new memory. `head.rs` has the equations of a head.
#[derive(Clone, Copy, Debug)]
pub struct MemoryStep<'a, E> {
    /// The sizes.
    pub size: MemorySize,
    /// The states before the step, `samples ×` [`MemorySize::state`].
    pub state: &'a [E],
    /// The addressing parameters, before their activations: `samples ×` [`MemorySize::addresses`].
    pub addresses: &'a [E],
    /// Erase and add vectors, before their activations: `samples ×` [`MemorySize::changes`].
    pub changes: &'a [E],
}

/// The gradients of a [`MemoryStep`].
#[derive(Clone, Debug)]
pub struct MemoryGradients<E> {
    /// Of the states before the step.
    pub state: Vec<E>,
    /// Of the addressing parameters.
    pub addresses: Vec<E>,
    /// Of the erase and add vectors.
    pub changes: Vec<E>,
}

impl<E: Element> MemoryStep<'_, E> {
    fn check(&self) {
        let size = &self.size;
        assert!(size.slots > 0 && size.width > 0, "a memory has slots and numbers in them");
        assert!(size.reads > 0 && size.writes > 0, "heads that read and heads that write");
        let samples = self.state.len() / size.state();
        assert_eq!(self.state.len(), samples * size.state(), "whole states");
        assert_eq!(self.addresses.len(), samples * size.addresses(), "as many addresses as states");
        assert_eq!(self.changes.len(), samples * size.changes(), "as many changes as states");
    }

    /// The states after the step, and what [`backward`](Self::backward) needs of them.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> (Vec<E>, Buffer<E>) {
        self.check();
        let size = self.size;
        let level = level.for_width(size.slots);
        let mut next = vec![E::ZERO; self.state.len()];
        let mut kept = Buffer::take(self.state.len() / size.state() * size.kept());
        let work = |(sample, (next, kept)): (usize, (&mut [E], &mut [E]))| {
            with_scratch(forward::scratch(&size), |scratch| {
                level.run(forward::Forward {
                    size,
                    state: part(self.state, sample, size.state()),
                    addresses: part(self.addresses, sample, size.addresses()),
                    changes: part(self.changes, sample, size.changes()),
                    next,
                    kept,
                    scratch,
                });
            });
        };
        next.par_chunks_mut(size.state())
            .zip(kept.par_chunks_mut(size.kept()))
            .enumerate()
            .with_min_len(samples_at_least(self.state.len()))
            .for_each(work);
        (next, kept)
    }

    /// The gradients, from those of the states after the step.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, next: &[E], kept: &[E], gradient: &[E]) -> MemoryGradients<E> {
        self.check();
        assert_eq!(next.len(), self.state.len(), "as many states after the step as before");
        assert_eq!(gradient.len(), self.state.len(), "one gradient per number");
        let size = self.size;
        let level = level.for_width(size.slots);
        let mut state = vec![E::ZERO; self.state.len()];
        let mut addresses = vec![E::ZERO; self.addresses.len()];
        let mut changes = vec![E::ZERO; self.changes.len()];
        let work = |sample: usize, d_state: &mut [E], d_addresses: &mut [E], d_changes: &mut [E]| {
            with_scratch(backward::scratch(&size), |scratch| {
                level.run(backward::Backward {
                    size,
                    state: part(self.state, sample, size.state()),
                    addresses: part(self.addresses, sample, size.addresses()),
                    changes: part(self.changes, sample, size.changes()),
                    next: part(next, sample, size.state()),
                    kept: part(kept, sample, size.kept()),
                    gradient: part(gradient, sample, size.state()),
                    d_state,
                    d_addresses,
                    d_changes,
                    scratch,
                });
            });
        };
        state
            .par_chunks_mut(size.state())
            .zip(addresses.par_chunks_mut(size.addresses()))
            .zip(changes.par_chunks_mut(size.changes()))
            .enumerate()
            .with_min_len(samples_at_least(self.state.len()))
            .for_each(|(sample, ((state, addresses), changes))| work(sample, state, addresses, changes));
        MemoryGradients { state, addresses, changes }
    }
}

/// How many samples a thread takes at least: a handful of small memories is done before another thread has woken up.
fn samples_at_least(numbers: usize) -> usize {
    if numbers < GRAIN { usize::MAX } else { at_least() }
}

/// What belongs to one sample.
fn part<E>(all: &[E], sample: usize, length: usize) -> &[E] {
    &all[sample * length..(sample + 1) * length]
}
