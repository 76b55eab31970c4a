//! Sums, products and softmax over the slots of a memory.
//!
//! Plain loops, no closures: what is not inlined loses the instructions of the CPU it was meant for.

use crate::Activation;
use crate::vector::{Number, Vector};

/// A vector of the numbers from `at` on; beyond the end there are zeros.
#[inline(always)]
fn get<S: Vector>(s: S, from: &[S::Elem], at: usize) -> S::V {
    let from = &from[at..];
    // SAFETY: as many numbers are read as there are.
    unsafe {
        match from.len() >= S::LANES {
            true => s.load(from.as_ptr()),
            false => s.load_first(from.as_ptr(), from.len()),
        }
    }
}

/// Writes a vector to the places from `at` on, as far as there are any.
#[inline(always)]
fn put<S: Vector>(s: S, to: &mut [S::Elem], at: usize, value: S::V) {
    let to = &mut to[at..];
    // SAFETY: as many numbers are written as there are places.
    unsafe {
        match to.len() >= S::LANES {
            true => s.store(to.as_mut_ptr(), value),
            false => s.store_first(to.as_mut_ptr(), value, to.len()),
        }
    }
}

/// `to` = f(`from`)
#[inline(always)]
pub(super) fn apply<S: Vector>(s: S, f: Activation, from: &[S::Elem], to: &mut [S::Elem]) {
    for at in (0..from.len()).step_by(S::LANES) {
        put(s, to, at, f.apply(s, get(s, from, at)));
    }
}

/// Σ aᵢbᵢ
#[inline(always)]
pub(super) fn dot<S: Vector>(s: S, a: &[S::Elem], b: &[S::Elem]) -> S::Elem {
    let mut sum = s.splat(S::Elem::ZERO);
    for at in (0..a.len()).step_by(S::LANES) {
        sum = s.mul_add(get(s, a, at), get(s, b, at), sum);
    }
    s.sum(sum)
}

/// `to` += factor · `from`
#[inline(always)]
pub(super) fn add<E: Number>(to: &mut [E], factor: E, from: &[E]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The highest of some numbers.
#[inline(always)]
fn highest<S: Vector>(s: S, of: &[S::Elem]) -> S::Elem {
    let mut best = [of[0]; 16];
    let whole = of.chunks_exact(S::LANES);
    let rest = whole.remainder();
    let mut most = s.splat(of[0]);
    for some in whole {
        most = s.max(most, get(s, some, 0));
    }
    put(s, &mut best[..S::LANES], 0, most);
    let mut highest = of[0];
    for &x in best.iter().chain(rest) {
        highest = if x > highest { x } else { highest };
    }
    highest
}

/// `to` = softmax(factor · `scores`)
#[inline(always)]
pub(super) fn softmax<S: Vector>(s: S, factor: S::Elem, scores: &[S::Elem], to: &mut [S::Elem]) {
    // The factor is not negative, so that the highest score stays the highest.
    let (factor, below) = (s.splat(factor), s.splat(highest(s, scores)));
    for at in (0..scores.len()).step_by(S::LANES) {
        put(s, to, at, s.exp(s.mul(factor, s.sub(get(s, scores, at), below))));
    }
    let mut sum = s.splat(S::Elem::ZERO);
    for at in (0..to.len()).step_by(S::LANES) {
        sum = s.add(sum, get(s, to, at));
    }
    let share = S::Elem::ONE / s.sum(sum);
    for x in to.iter_mut() {
        *x = *x * share;
    }
}

/// From the gradient of a softmax to that of what it was taken of: `gradient` = p ⊙ (g − Σ p g).
#[inline(always)]
pub(super) fn softmax_back<S: Vector>(s: S, shares: &[S::Elem], gradient: &mut [S::Elem]) {
    let mean = dot(s, shares, gradient);
    for (g, &p) in gradient.iter_mut().zip(shares) {
        *g = p * (*g - mean);
    }
}
