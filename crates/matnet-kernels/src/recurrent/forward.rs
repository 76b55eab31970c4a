//! The forward pass of a recurrence.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{GruForward, LstmForward, Product};
use super::keep::{Places, Share, Shelf};
use super::{Cell, Members, Plan, Reads, Recurrent};
use crate::Activation;
use crate::kept::{Bf16, Keep, Kept, PartMut};
use crate::lanes;
use crate::parallel::{at_least, in_pool, with_scratch};
use crate::simd::{Element, Level};
use crate::spread::Shared;

impl<E: Element> Recurrent<'_, E> {
    /// The output of every sample, `batch ×` [`outputs`](Self::outputs) `× rows × cols`, and
    /// what [`backward`](Self::backward) wants to be given.
    pub fn forward(&self, level: Level, keep: Keep) -> (Vec<E>, Kept<E>) {
        let plan = self.plan(level, true);
        let all = Shelf::new(self, &plan, Places::AllSteps);
        let one = Shelf::new(self, &plan, Places::OneStep);
        let blocks = plan.batch.div_ceil(plan.per_block);
        let mut output = vec![E::ZERO; plan.batch * plan.out_size];
        let mut kept = Kept::take(keep, blocks * all.len());
        let least = self.gates_at_least(&plan, blocks);
        let out = Shared::new(&mut output);
        let run = || {
            let blocks = (0..blocks).into_par_iter().with_min_len(at_least());
            let passing = |block: usize, save: Option<(&Shelf, &mut [Bf16])>| {
                with_scratch([one.len()], |[share]| {
                    let members = plan.members(block);
                    self.forward_block(&plan, &one, members, Some(&out), share, save, least);
                });
            };
            match kept.part_mut() {
                PartMut::Nothing => blocks.for_each(|block| passing(block, None)),
                PartMut::Full(kept) => {
                    blocks.zip(kept.par_chunks_mut(all.len())).for_each(|(block, share)| {
                        let members = plan.members(block);
                        self.forward_block(&plan, &all, members, Some(&out), share, None, least);
                    });
                }
                PartMut::Bf16(kept) => {
                    let blocks = blocks.zip(kept.par_chunks_mut(all.len()));
                    blocks.for_each(|(block, share)| passing(block, Some((&all, share))));
                }
            }
        };
        in_pool(least == 1 || plan.is_shared(), run);
        (output, kept)
    }

    /// How many gates a thread takes at least: where there are fewer blocks than threads, a gate of some size is worth a thread of
    /// its own.
    pub(super) fn gates_at_least(&self, plan: &Plan<E>, blocks: usize) -> usize {
        let threads = rayon::current_num_threads();
        let worth = self.cell.gates() > 1 && blocks < threads && self.gate_is_work(plan.per_block);
        if worth { 1 } else { usize::MAX }
    }

    /// Whether a gate of so many samples is worth a thread.
    pub(super) fn gate_is_work(&self, samples: usize) -> bool {
        const WORTH: usize = 1 << 18;
        let [rows, cols] = self.state_size;
        rows * cols * (rows + cols) * samples >= WORTH
    }

    /// One block through all steps; its outputs go to `out`, and what `share` has no places for is rounded to `save`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn forward_block(
        &self,
        plan: &Plan<E>,
        shelf: &Shelf,
        members: Members,
        out: Option<&Shared<E>>,
        share: &mut [E],
        mut save: Option<(&Shelf, &mut [Bf16])>,
        gates_at_least: usize,
    ) {
        let Plan { level, x_size, h_size, out_size, .. } = *plan;
        let all = 0..members.samples.len();
        let (h, gate_count) = (plan.h.len(), self.cell.gates());
        let (x_block, x_mid) = plan.input_lengths();
        let h_mid = plan.state[0].middle.len();

        let starts = members.starts(all.clone(), |sample| sample * h_size);
        let Share { hidden, cell_state, .. } = shelf.cut(share);
        plan.h.gather_lanes(level, self.hidden, 0, &starts, slot(hidden, 0, h));
        if let Some(initial) = self.cell_state {
            plan.h.gather_lanes(level, initial, 0, &starts, slot(cell_state, 0, h));
        }
        // Lanes of matrix number `at` of the output.
        let give = |block: &[E], lanes: Range<usize>, at: usize| {
            let Some(out) = out else { return };
            let starts = members.starts(lanes.clone(), |sample| sample * out_size + at * h_size);
            // SAFETY: every sample is a member of one block, and this thread alone works on that.
            unsafe { plan.h.scatter_lanes(level, block, lanes.start, &starts, out) }
        };
        // Where the input never changes, its share of the gates is computed once.
        let constant = if self.reads == Reads::Constant { gate_count * h } else { 0 };
        with_scratch([constant], |[fixed]| {
            let from_input = |t: usize, gate: usize, x: &[E], middle: &mut [E], to: &mut [E], next: &[E]| {
                let at = shelf.input_slot(t);
                let x = &x[at * x_block..(at + 1) * x_block];
                plan.input[gate].forward(x, middle, to, false, None, Activation::Identity, next);
            };
            if self.reads == Reads::Constant {
                let Share { x, x_middle, .. } = shelf.cut(share);
                let starts = members.starts(all.clone(), |sample| sample * x_size);
                plan.input[0].input.gather_lanes(level, self.input, 0, &starts, slot(x, 0, x_block));
                for gate in 0..gate_count {
                    from_input(0, gate, x, slot(x_middle, gate, x_mid), slot(fixed, gate, h), &[]);
                }
            }
            for t in 0..members.steps() {
                let Share { x, hidden, cell_state, gates, reset, x_middle, h_middle } = shelf.cut(share);
                let alive = members.alive(t);
                if self.reads == Reads::Steps {
                    let starts = members.starts(0..alive, |sample| (sample * self.steps + t) * x_size);
                    let x = slot(x, shelf.input_slot(t), x_block);
                    plan.input[0].input.gather_lanes(level, self.input, 0, &starts, x);
                }
                let (now, next) = (shelf.state_slot(t), shelf.state_slot(t + 1));
                let [before, after] = two_slots(hidden, now, next, h);
                let step = shelf.step_slot(t);
                let gates = slot(gates, step, shelf.step_gates());
                let x_middle = slot(x_middle, shelf.input_slot(t), gate_count * x_mid);
                let h_middle = slot(h_middle, shelf.middle_slot(t), gate_count * h_mid);
                let run = |gate: usize, [x_middle, h_middle]: [&mut [E]; 2], state: &[E], to: &mut [E]| {
                    match self.reads {
                        // What is kept goes to memory far away; otherwise it was there a step ago.
                        Reads::Steps if shelf.keeps() => from_input(t, gate, x, x_middle, to, h_middle),
                        Reads::Steps => from_input(t, gate, x, x_middle, to, &[]),
                        Reads::Constant => to.copy_from_slice(&fixed[gate * h..(gate + 1) * h]),
                        Reads::Mapped => {
                            let starts = members.starts(0..alive, |sample| plan.mapped(gate, sample, t));
                            plan.h.gather_lanes(level, self.input, 0, &starts, to);
                        }
                    }
                    let bias = Some(&self.bias[gate * h_size..(gate + 1) * h_size]);
                    plan.state[gate].forward(
                        state,
                        h_middle,
                        to,
                        true,
                        bias,
                        self.cell.activation(gate),
                        &[],
                    );
                };
                // The first gates, which all read the same state.
                let run_first = |gates: &mut [E], middles: [&mut [E]; 2], state: &[E]| {
                    let work: Vec<_> = gates.chunks_mut(h).zip(pieces(middles, [x_mid, h_mid])).collect();
                    let work = work.into_par_iter().enumerate().with_min_len(gates_at_least);
                    work.for_each(|(gate, (to, middles))| run(gate, middles, state, to));
                };
                match self.cell {
                    Cell::Rnn(_) => {
                        run(0, [x_middle, &mut *h_middle], before, after);
                    }
                    Cell::Lstm => {
                        run_first(gates, [x_middle, &mut *h_middle], before);
                        let [into, forget, out, candidate] = split(gates, h);
                        let [before, cell_state] = two_slots(cell_state, now, next, h);
                        LstmForward { into, forget, out, candidate, before, cell_state, hidden: after }
                            .on(level);
                    }
                    Cell::Gru(_) => {
                        let (first, candidate) = gates.split_at_mut(2 * h);
                        run_first(first, [&mut *x_middle, &mut *h_middle], before);
                        let [update, reset_gate] = split(first, h);
                        let product = slot(reset, step, h);
                        Product { a: reset_gate, b: before, product }.on(level);
                        run(2, [slot(x_middle, 2, x_mid), slot(h_middle, 2, h_mid)], product, candidate);
                        GruForward { update, candidate, before, hidden: after }.on(level);
                    }
                }
                let ending = members.ending(t);
                match self.all {
                    true => give(after, 0..alive, t),
                    false => give(after, ending.clone(), 0),
                }
                let lstm = self.cell == Cell::Lstm;
                if lstm {
                    give(slot(cell_state, next, h), ending, self.outputs() - 1);
                }
                if alive < all.end {
                    // What ended lanes hold is nobody's, but must stay finite: the sums of the weight gradients meet it.
                    lanes::keep_first(level, after, alive);
                    if lstm {
                        lanes::keep_first(level, slot(cell_state, next, h), alive);
                    }
                    // One step after their end they have still read their last state.
                    if !members.ending(t - 1).is_empty() {
                        lanes::keep_first(level, gates, alive);
                        lanes::keep_first(level, h_middle, alive);
                        if matches!(self.cell, Cell::Gru(_)) {
                            lanes::keep_first(level, slot(reset, step, h), alive);
                        }
                    }
                }
                if let Some((all, kept)) = &mut save {
                    all.round_step(level, kept, (shelf, share), t);
                }
            }
        });
    }
}

impl<E: Element> Plan<'_, E> {
    /// Where a mapped input's share of a gate at step `t` of a sample begins.
    pub(super) fn mapped(&self, gate: usize, sample: usize, t: usize) -> usize {
        (gate * self.all_rows + self.rows[sample] + t) * self.h_size
    }
}

/// Pieces of two slices side by side, each of its length, as many as are asked for.
fn pieces<E>(mut slices: [&mut [E]; 2], lengths: [usize; 2]) -> impl Iterator<Item = [&mut [E]; 2]> {
    std::iter::repeat_with(move || {
        let [a, b] = &mut slices;
        [a.split_off_mut(..lengths[0]).unwrap_or_default(), b.split_off_mut(..lengths[1]).unwrap_or_default()]
    })
}

/// Piece number `at` of pieces of `len`.
pub(super) fn slot<E>(data: &mut [E], at: usize, len: usize) -> &mut [E] {
    &mut data[at * len..(at + 1) * len]
}

/// Two different pieces at once: the first for reading, the second for writing.
fn two_slots<E>(data: &mut [E], read: usize, write: usize, len: usize) -> [&mut [E]; 2] {
    let [a, b] = data
        .get_disjoint_mut([read * len..(read + 1) * len, write * len..(write + 1) * len])
        .expect("two states of different steps");
    [a, b]
}

/// The gates of one step.
pub(super) fn split<E, const N: usize>(gates: &[E], len: usize) -> [&[E]; N] {
    std::array::from_fn(|gate| &gates[gate * len..(gate + 1) * len])
}
