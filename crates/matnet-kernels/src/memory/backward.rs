//! The gradients of a step of one sample's memory.

use super::MemorySize;
use super::forward::{mix, open, wrap};
use super::head::{Head, sigmoid};
use super::vectors::{add, dot, softmax_back};
use crate::simd::{Element, Kernel, Simd};

pub(super) struct Backward<'a, E> {
    pub(super) size: MemorySize,
    pub(super) state: &'a [E],
    pub(super) addresses: &'a [E],
    pub(super) changes: &'a [E],
    pub(super) next: &'a [E],
    pub(super) kept: &'a [E],
    pub(super) gradient: &'a [E],
    pub(super) d_state: &'a mut [E],
    pub(super) d_addresses: &'a mut [E],
    pub(super) d_changes: &'a mut [E],
    pub(super) scratch: [&'a mut [E]; 8],
}

/// Keys of all heads, shifts, what is erased and added, weights with their ends repeated; then gradients: of weights, of
/// similarities, of squared lengths, of shifted weights with their ends repeated.
pub(super) fn scratch(size: &MemorySize) -> [usize; 8] {
    let MemorySize { slots, width, writes, shift, .. } = *size;
    let (heads, around) = (size.heads(), slots + 2 * shift);
    [heads * width, 1 + 2 * shift, 2 * writes * width, around, heads * slots, heads * slots, slots, around]
}

impl<E: Element> Kernel<E> for Backward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(mut self, s: S) {
        self.read_and_write(s);
        self.find(s);
    }
}

impl<E: Element> Backward<'_, E> {
    /// Back through reading, adding and erasing: to the erase and add vectors, the new weights, and the memory before.
    #[inline(always)]
    fn read_and_write<S: Simd<Elem = E>>(&mut self, s: S) {
        let Self { size, state, changes, next, gradient, d_state, d_changes, scratch, .. } = self;
        let [_, _, opened, around, d_weights, ..] = scratch;
        let MemorySize { slots, width, reads, writes, .. } = *size;
        let [_, _, memory] = size.cut(state);
        let [_, weights, after] = size.cut(next);
        let [d_read, d_given, d_after] = size.cut(gradient);
        let [d_read_before, _, d_memory] = size.cut_mut(d_state);
        // What was read before the step is not looked at.
        d_read_before.fill(E::ZERO);
        let (erased, added) = open(s, changes, opened);
        let (d_erased, d_added) = d_changes.split_at_mut(writes * width);
        d_weights.copy_from_slice(d_given);
        let (d_reading, d_writing) = d_weights.split_at_mut(reads * slots);
        let (reading, writing) = weights.split_at(reads * slots);
        for at in 0..width {
            let row = at * slots..(at + 1) * slots;
            let (memory, after) = (&memory[row.clone()], &after[row.clone()]);
            let d_row = &mut d_memory[row.clone()];
            d_row.copy_from_slice(&d_after[row]);
            for (head, weights) in reading.chunks_exact(slots).enumerate() {
                let d = d_read[head * width + at];
                add(d_row, d, weights);
                add(&mut d_reading[head * slots..(head + 1) * slots], d, after);
            }
            for (head, weights) in writing.chunks_exact(slots).enumerate() {
                let place = head * width + at;
                let d_head = &mut d_writing[head * slots..(head + 1) * slots];
                add(d_head, added[place], d_row);
                d_added[place] = dot(s, d_row, weights) * (E::ONE - added[place] * added[place]);
            }
            // d_row is that of what was left after erasing; each head erased what the others had left.
            for head in 0..writes {
                let mine = &mut around[..slots];
                for (mine, (&m, &d)) in mine.iter_mut().zip(memory.iter().zip(&*d_row)) {
                    *mine = m * d;
                }
                for other in (0..writes).filter(|&other| other != head) {
                    let erased = erased[other * width + at];
                    let weights = &writing[other * slots..(other + 1) * slots];
                    for (mine, &weight) in mine.iter_mut().zip(weights) {
                        *mine = *mine - *mine * weight * erased;
                    }
                }
                let place = head * width + at;
                let weights = &writing[head * slots..(head + 1) * slots];
                let e = erased[place];
                d_erased[place] = -dot(s, mine, weights) * e * (E::ONE - e);
                add(&mut d_writing[head * slots..(head + 1) * slots], -e, mine);
            }
            for (head, weights) in writing.chunks_exact(slots).enumerate() {
                let erased = erased[head * width + at];
                for (d, &weight) in d_row.iter_mut().zip(weights) {
                    *d = *d - *d * weight * erased;
                }
            }
        }
    }

    /// Back from the new weights to the addressing parameters, the weights before and the memory before.
    #[inline(always)]
    fn find<S: Simd<Elem = E>>(&mut self, s: S) {
        let Self { size, state, addresses, next, kept, d_state, d_addresses, scratch, .. } = self;
        let [keys, shifts, _, around, d_weights, d_similar, d_squares, d_around] = scratch;
        let MemorySize { slots, width, shift, .. } = *size;
        let [_, before, memory] = size.cut(state);
        let [_, weights, _] = size.cut(next);
        let [_, d_before, d_memory] = size.cut_mut(d_state);
        let (inverse, rows) = kept.split_at(slots);
        d_squares.fill(E::ZERO);
        for (head, row) in rows.chunks_exact(4 * slots).enumerate() {
            let (similar, row) = row.split_at(slots);
            let (content, row) = row.split_at(slots);
            let (shifted, log) = row.split_at(slots);
            let of_head = head * slots..(head + 1) * slots;
            let of_address = head * size.address()..(head + 1) * size.address();
            let address = &addresses[of_address.clone()];
            let key = &mut keys[head * width..(head + 1) * width];
            let params = Head::read(s, size, address, key, shifts);
            let (d_key, d_params) = d_addresses[of_address].split_at_mut(width);
            let d = &mut d_weights[of_head.clone()];
            let count = shifts.len();

            // Sharpening.
            softmax_back(s, &weights[of_head.clone()], d);
            d_params[2 + count] = dot(s, d, log) * sigmoid(address[width + 2 + count]);
            for (to, (&d, &shifted)) in d_around[shift..shift + slots].iter_mut().zip(d.iter().zip(shifted)) {
                *to = params.sharpness * d / shifted;
            }

            // Shift: its gradient moves the other way round.
            let before = &before[of_head.clone()];
            mix(params.gate, content, before, shift, around);
            for (at, d) in d_params[2..2 + count].iter_mut().enumerate() {
                *d = dot(s, &d_around[shift..shift + slots], &around[2 * shift - at..2 * shift - at + slots]);
            }
            softmax_back(s, shifts, &mut d_params[2..2 + count]);
            wrap(d_around, shift, slots);
            d.fill(E::ZERO);
            for (at, &share) in shifts.iter().enumerate() {
                add(d, share, &d_around[at..]);
            }

            // Interpolation.
            let d_gate = dot(s, d, content) - dot(s, d, before);
            d_params[1] = d_gate * params.gate * (E::ONE - params.gate);
            for (to, d) in d_before[of_head.clone()].iter_mut().zip(d.iter_mut()) {
                let through = params.gate * *d;
                *to = *d - through;
                *d = through;
            }

            // Content: β, then the cosine with its two lengths.
            softmax_back(s, content, d);
            let d_strength = dot(s, d, similar);
            d_params[0] = d_strength * sigmoid(address[width]);
            let of_key = params.strength * d_strength * params.inverse * params.inverse;
            let d_similar = &mut d_similar[of_head];
            let lengths = inverse.iter().zip(similar);
            for (((to, square), d), (&length, &similar)) in
                d_similar.iter_mut().zip(d_squares.iter_mut()).zip(&*d).zip(lengths)
            {
                let through = params.strength * *d * length;
                *to = through * params.inverse;
                *square = *square - through * similar * length;
            }
            for (d, (&k, memory)) in d_key.iter_mut().zip(key.iter().zip(memory.chunks_exact(slots))) {
                *d = (dot(s, d_similar, memory) - of_key * k) * (E::ONE - k * k);
            }
        }
        for (at, (d, memory)) in d_memory.chunks_exact_mut(slots).zip(memory.chunks_exact(slots)).enumerate()
        {
            for (head, d_similar) in d_similar.chunks_exact(slots).enumerate() {
                add(d, keys[head * width + at], d_similar);
            }
            for (d, (&m, &square)) in d.iter_mut().zip(memory.iter().zip(d_squares.iter())) {
                *d += m * square;
            }
        }
    }
}
