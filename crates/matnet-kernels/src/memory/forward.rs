//! A step of one sample's memory.

use super::head::Head;
use super::vectors::{add, apply, dot, softmax};
use super::{BLANK, FLOOR, MemorySize};
use crate::Activation;
use crate::simd::{Element, Kernel, Simd};

pub(super) struct Forward<'a, E> {
    pub(super) size: MemorySize,
    pub(super) state: &'a [E],
    pub(super) addresses: &'a [E],
    pub(super) changes: &'a [E],
    pub(super) next: &'a mut [E],
    pub(super) kept: &'a mut [E],
    pub(super) scratch: [&'a mut [E]; 4],
}

/// A key, shifts, weights with their ends repeated, what is erased and added.
pub(super) fn scratch(size: &MemorySize) -> [usize; 4] {
    [size.width, 1 + 2 * size.shift, size.slots + 2 * size.shift, 2 * size.writes * size.width]
}

impl<E: Element> Kernel<E> for Forward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { size, state, addresses, changes, next, kept, scratch: [key, shifts, around, opened] } =
            self;
        let MemorySize { slots, width, reads, shift, .. } = size;
        let [_, before, memory] = size.cut(state);
        let [read, weights, after] = size.cut_mut(next);
        let (inverse, rows) = kept.split_at_mut(slots);
        inverse_lengths(memory, inverse);
        for (head, row) in rows.chunks_exact_mut(4 * slots).enumerate() {
            let params = Head::read(s, &size, super::part(addresses, head, size.address()), key, shifts);
            let (similar, row) = row.split_at_mut(slots);
            let (content, row) = row.split_at_mut(slots);
            let (shifted, log) = row.split_at_mut(slots);
            similar.fill(E::ZERO);
            for (&k, slot) in key.iter().zip(memory.chunks_exact(slots)) {
                add(similar, k, slot);
            }
            for (similar, &inverse) in similar.iter_mut().zip(&*inverse) {
                *similar = *similar * inverse * params.inverse;
            }
            softmax(s, params.strength, similar, content);
            let of_head = head * slots..(head + 1) * slots;
            mix(params.gate, content, &before[of_head.clone()], shift, around);
            shifted.fill(E::from_single(FLOOR));
            for (at, &share) in shifts.iter().enumerate() {
                add(shifted, share, &around[2 * shift - at..]);
            }
            for (log, &shifted) in log.iter_mut().zip(&*shifted) {
                *log = shifted.ln();
            }
            softmax(s, params.sharpness, log, &mut weights[of_head]);
        }
        let (erased, added) = open(s, changes, opened);
        let writing = &weights[reads * slots..];
        for (at, (from, to)) in memory.chunks_exact(slots).zip(after.chunks_exact_mut(slots)).enumerate() {
            to.copy_from_slice(from);
            for (head, weights) in writing.chunks_exact(slots).enumerate() {
                let erased = erased[head * width + at];
                for (to, &weight) in to.iter_mut().zip(weights) {
                    *to = *to - *to * weight * erased;
                }
            }
            for (head, weights) in writing.chunks_exact(slots).enumerate() {
                add(to, added[head * width + at], weights);
            }
            for (head, weights) in weights[..reads * slots].chunks_exact(slots).enumerate() {
                read[head * width + at] = dot(s, weights, to);
            }
        }
    }
}

/// 1/√(mₙᵀmₙ + ε) of every slot.
#[inline(always)]
fn inverse_lengths<E: Element>(memory: &[E], to: &mut [E]) {
    to.fill(E::from_single(BLANK));
    for row in memory.chunks_exact(to.len()) {
        for (to, &x) in to.iter_mut().zip(row) {
            *to += x * x;
        }
    }
    for to in to.iter_mut() {
        *to = E::ONE / to.sqrt();
    }
}

/// v = g c + (1 − g) w, and on both sides as many of its numbers again as a head can move.
#[inline(always)]
pub(super) fn mix<E: Element>(gate: E, content: &[E], before: &[E], shift: usize, around: &mut [E]) {
    let slots = content.len();
    let middle = &mut around[shift..shift + slots];
    for ((to, &c), &w) in middle.iter_mut().zip(content).zip(before) {
        *to = w + gate * (c - w);
    }
    wrap(around, shift, slots);
}

/// Repeats the ends of what stands in the middle; a memory may be smaller than a step.
#[inline(always)]
pub(super) fn wrap<E: Element>(around: &mut [E], shift: usize, slots: usize) {
    for at in 0..shift {
        around[at] = around[shift + slots - 1 - (shift - 1 - at) % slots];
        around[shift + slots + at] = around[shift + at % slots];
    }
}

/// The erase vectors, through the sigmoid, and the add vectors, through tanh.
#[inline(always)]
pub(super) fn open<'a, S: Simd>(
    s: S,
    changes: &[S::Elem],
    opened: &'a mut [S::Elem],
) -> (&'a [S::Elem], &'a [S::Elem]) {
    let (erase, add) = changes.split_at(changes.len() / 2);
    let (erased, added) = opened.split_at_mut(erase.len());
    apply(s, Activation::Sigmoid, erase, erased);
    apply(s, Activation::Tanh, add, added);
    (erased, added)
}
