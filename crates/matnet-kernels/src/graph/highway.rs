//! The highway of a column net: H′ = H + Z ⊙ (C − H), from what the maps give.

use rayon::prelude::*;

use super::GRAIN;
use crate::Activation;
use crate::parallel::{parts, sum_parts};
use crate::simd::{Element, Kernel, Level, Simd};

/// Z = sigm(P₁ + Q₁ + b₁), C = f(P₂ + Q₂ + b₂), H′ = H + Z ⊙ (C − H), for any number of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Highway<'a, E> {
    /// Numbers in a state.
    pub width: usize,
    /// \[P₁ P₂\] of every node, `nodes × 2·width`.
    pub own: &'a [E],
    /// \[Q₁ Q₂\] of every node, likewise.
    pub aggregated: &'a [E],
    /// \[b₁ b₂\], `2·width`.
    pub bias: &'a [E],
    /// H, `nodes × width`.
    pub state: &'a [E],
    /// f
    pub activation: Activation,
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct HighwayGradients<E> {
    /// Of P, and of Q too: the gradient of their sum.
    pub sum: Vec<E>,
    /// Of b.
    pub bias: Vec<E>,
    /// Of H.
    pub state: Vec<E>,
}

impl<E: Element> Highway<'_, E> {
    fn nodes(&self) -> usize {
        let nodes = self.state.len().checked_div(self.width).unwrap_or(0);
        assert_eq!(self.state.len(), nodes * self.width, "whole states");
        assert_eq!(self.own.len(), 2 * nodes * self.width, "two numbers per number of a state");
        assert_eq!(self.aggregated.len(), self.own.len(), "as many aggregated as own");
        assert_eq!(self.bias.len(), 2 * self.width, "one bias per number");
        nodes
    }

    /// H′ of every node.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        self.nodes();
        let mut next = vec![E::ZERO; self.state.len()];
        let at_once = (GRAIN / 16).div_ceil(self.width.max(1));
        let level = level.for_width(self.width);
        next.par_chunks_mut((at_once * self.width).max(1)).enumerate().for_each(|(group, next)| {
            level.run(Forward { highway: *self, first: group * at_once, next });
        });
        next
    }

    /// The gradients, from that of H′.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, gradient: &[E]) -> HighwayGradients<E> {
        let nodes = self.nodes();
        assert_eq!(gradient.len(), self.state.len(), "one gradient per number");
        let level = level.for_width(self.width);
        let (mut sum, mut state) = (vec![E::ZERO; self.own.len()], vec![E::ZERO; self.state.len()]);
        let shares = parts(nodes);
        // Which nodes share a partial sum of the bias depends on their number alone.
        let size = shares.first().map_or(1, ExactSizeIterator::len) * self.width.max(1);
        let biases = sum
            .par_chunks_mut(2 * size)
            .zip(state.par_chunks_mut(size))
            .zip(shares.par_iter())
            .map(|((sum, state), share)| {
                let mut bias = vec![E::ZERO; 2 * self.width];
                let first = share.start;
                level.run(Backward { highway: *self, gradient, first, sum, state, bias: &mut bias });
                bias
            })
            .collect();
        let mut bias = sum_parts(biases);
        bias.resize(2 * self.width, E::ZERO);
        HighwayGradients { sum, bias, state }
    }
}

struct Forward<'a, E> {
    highway: Highway<'a, E>,
    first: usize,
    next: &'a mut [E],
}

impl<E: Element> Kernel<E> for Forward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { highway, first, next } = self;
        let width = highway.width;
        for (node, next) in (first..).zip(next.chunks_exact_mut(width)) {
            for at in (0..width).step_by(S::LANES) {
                let count = S::LANES.min(width - at);
                // SAFETY: `nodes` has checked all lengths; `count` numbers are left in each row.
                unsafe {
                    let (gate, candidate, state) = open(s, &highway, node, at, count);
                    s.store_first(next.as_mut_ptr().add(at), mixed(s, state, gate, candidate), count);
                }
            }
        }
    }
}

/// H + Z ⊙ (C − H)
#[inline(always)]
pub(super) fn mixed<S: Simd>(s: S, state: S::V, gate: S::V, candidate: S::V) -> S::V {
    s.mul_add(gate, s.sub(candidate, state), state)
}

/// The gradients of H, and of what Z and C are made of, from that of H′; f is what C ends in.
#[inline(always)]
pub(super) fn unmixed<S: Simd>(
    s: S,
    f: Activation,
    g: S::V,
    [state, gate, candidate]: [S::V; 3],
) -> [S::V; 3] {
    let through = s.mul(g, gate);
    let to_gate = Activation::Sigmoid.backward(s, gate, s.mul(g, s.sub(candidate, state)));
    [s.sub(g, through), to_gate, f.backward(s, candidate, through)]
}

/// Z, C and H of some numbers of a node.
///
/// # Safety
/// The node is there, and `at + count` is at most the width.
#[inline(always)]
unsafe fn open<S: Simd>(
    s: S,
    highway: &Highway<S::Elem>,
    node: usize,
    at: usize,
    count: usize,
) -> (S::V, S::V, S::V) {
    let width = highway.width;
    // SAFETY: as the caller vouches; lengths were checked in `Highway::nodes`.
    unsafe {
        let state = s.load_first(highway.state.as_ptr().add(node * width + at), count);
        let gate = s.sigmoid(sum(s, highway, node, at, count));
        (gate, highway.activation.apply(s, sum(s, highway, node, width + at, count)), state)
    }
}

/// P + Q + b of some numbers of a node.
///
/// # Safety
/// The node is there, and `at + count` is at most twice the width.
#[inline(always)]
unsafe fn sum<S: Simd>(s: S, highway: &Highway<S::Elem>, node: usize, at: usize, count: usize) -> S::V {
    let place = 2 * node * highway.width + at;
    // SAFETY: as the caller vouches.
    unsafe {
        let own = s.load_first(highway.own.as_ptr().add(place), count);
        let aggregated = s.load_first(highway.aggregated.as_ptr().add(place), count);
        s.add(s.add(own, aggregated), s.load_first(highway.bias.as_ptr().add(at), count))
    }
}

struct Backward<'a, E> {
    highway: Highway<'a, E>,
    gradient: &'a [E],
    first: usize,
    sum: &'a mut [E],
    state: &'a mut [E],
    bias: &'a mut [E],
}

impl<E: Element> Kernel<E> for Backward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { highway, gradient, first, sum, state: d_state, bias } = self;
        let width = highway.width;
        let rows = sum.chunks_exact_mut(2 * width).zip(d_state.chunks_exact_mut(width));
        for (node, (sum, d_state)) in (first..).zip(rows) {
            for at in (0..width).step_by(S::LANES) {
                let count = S::LANES.min(width - at);
                // SAFETY: `nodes` has checked all lengths; `count` numbers are left in each row.
                unsafe {
                    let (gate, candidate, state) = open(s, &highway, node, at, count);
                    let g = s.load_first(gradient.as_ptr().add(node * width + at), count);
                    let [to_state, to_gate, to_candidate] =
                        unmixed(s, highway.activation, g, [state, gate, candidate]);
                    s.store_first(d_state.as_mut_ptr().add(at), to_state, count);
                    for (half, d) in [to_gate, to_candidate].into_iter().enumerate() {
                        let place = half * width + at;
                        s.store_first(sum.as_mut_ptr().add(place), d, count);
                        let total = s.add(s.load_first(bias.as_ptr().add(place), count), d);
                        s.store_first(bias.as_mut_ptr().add(place), total, count);
                    }
                }
            }
        }
    }
}
