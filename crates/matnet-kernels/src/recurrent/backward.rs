//! The backward pass of a recurrence.

use rayon::prelude::*;

use super::cell::{GruBackward, GruReset, LstmBackward, RnnBackward};
use super::forward::{slot, split};
use super::keep::{Kept, Share, Shelf};
use super::{Cell, Plan, Reads, Recurrent};
use crate::lanes;
use crate::pair::Purpose;
use crate::parallel::{at_least, parts, sum_parts, with_scratch};
use crate::simd::{Element, Level};

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct RecurrentGradients<E> {
    /// Of X, if it was asked for.
    pub input: Option<Vec<E>>,
    /// Of H₀.
    pub hidden: Vec<E>,
    /// Of C₀, empty unless there is one.
    pub cell_state: Vec<E>,
    /// Of U of the input.
    pub input_row_map: Vec<E>,
    /// Of V of the input.
    pub input_col_map: Vec<E>,
    /// Of U of the state.
    pub state_row_map: Vec<E>,
    /// Of V of the state.
    pub state_col_map: Vec<E>,
    /// Of B.
    pub bias: Vec<E>,
}

/// What one part writes: its samples' pieces of the gradients of X, H₀ and C₀.
struct Pieces<'a, E> {
    /// One piece, or where the input came mapped one a gate.
    input: Vec<&'a mut [E]>,
    hidden: &'a mut [E],
    cell_state: &'a mut [E],
}

/// The gradients of all weights, one after the other.
struct Sums<'a, E> {
    input_row_map: &'a mut [E],
    input_col_map: &'a mut [E],
    state_row_map: &'a mut [E],
    state_col_map: &'a mut [E],
    bias: &'a mut [E],
}

impl<E: Element> Recurrent<'_, E> {
    /// All gradients from that of the output. `kept` is what [`forward`](Self::forward) left.
    pub fn backward(
        &self,
        level: Level,
        kept: &Kept<E>,
        gradient: &[E],
        need_input: bool,
    ) -> RecurrentGradients<E> {
        let plan = self.plan(level, |_| Purpose::Backward);
        let shelf = Shelf::new(self, &plan, true);
        assert_eq!(gradient.len(), plan.batch * plan.out_size, "the gradient is of another size");
        let lstm = self.cell == Cell::Lstm;
        let mut d_input = vec![E::ZERO; if need_input { self.input.len() } else { 0 }];
        let mut d_hidden = vec![E::ZERO; self.hidden.len()];
        let mut d_cell_state = vec![E::ZERO; if lstm { self.hidden.len() } else { 0 }];
        let parts = parts(plan.batch.div_ceil(plan.per_block));
        let per_part = parts[0].len() * plan.per_block;
        let mapped = self.reads == Reads::Mapped;
        let per_sample = if mapped { self.steps * plan.h_size } else { self.inputs() * plan.x_size };
        let mut inputs: Vec<_> = if need_input {
            let whole = d_input.chunks_mut(plan.batch * per_sample);
            whole.map(|gate| gate.chunks_mut(per_part * per_sample)).collect()
        } else {
            Vec::new()
        };
        let mut hiddens = d_hidden.chunks_mut(per_part * plan.h_size);
        let mut d_cell_states = d_cell_state.chunks_mut(per_part * plan.h_size);
        let pieces: Vec<_> = parts
            .iter()
            .map(|_| Pieces {
                input: inputs.iter_mut().filter_map(Iterator::next).collect(),
                hidden: hiddens.next().unwrap_or_default(),
                cell_state: d_cell_states.next().unwrap_or_default(),
            })
            .collect();
        let sums = parts.into_par_iter().zip(pieces).with_min_len(at_least()).map(|(part, mut pieces)| {
            let mut sums = vec![E::ZERO; self.weights().iter().sum()];
            for block in part {
                let share = &kept.0[block * shelf.len()..(block + 1) * shelf.len()];
                self.backward_block(&plan, &shelf, block, share, gradient, &mut pieces, self.cut(&mut sums));
            }
            sums
        });
        let mut rest = sum_parts(sums.collect());
        let [input_row_map, input_col_map, state_row_map, state_col_map, bias] =
            self.weights().map(|length| rest.drain(..length).collect());
        RecurrentGradients {
            input: need_input.then_some(d_input),
            hidden: d_hidden,
            cell_state: d_cell_state,
            input_row_map,
            input_col_map,
            state_row_map,
            state_col_map,
            bias,
        }
    }

    fn weights(&self) -> [usize; 5] {
        [self.input_row_map, self.input_col_map, self.state_row_map, self.state_col_map, self.bias]
            .map(<[E]>::len)
    }

    fn cut<'a>(&self, mut sums: &'a mut [E]) -> Sums<'a, E> {
        let [input_row_map, input_col_map, state_row_map, state_col_map, bias] =
            self.weights().map(|length| sums.split_off_mut(..length).unwrap_or_default());
        Sums { input_row_map, input_col_map, state_row_map, state_col_map, bias }
    }

    #[allow(clippy::too_many_arguments)]
    fn backward_block(
        &self,
        plan: &Plan<E>,
        shelf: &Shelf,
        block: usize,
        share: &[E],
        gradient: &[E],
        pieces: &mut Pieces<E>,
        sums: Sums<E>,
    ) {
        let Plan { level, x_size, h_size, out_size, .. } = *plan;
        let samples = plan.samples(block);
        let Share { x, hidden, cell_state, gates, reset, x_middle, h_middle } = shelf.read(share);
        let (h, gate_count) = (plan.h.len(), self.cell.gates());
        let (x_len, x_mid) = plan.input_lengths();
        let h_mid = plan.state[0].middle.len();
        let gradient = &gradient[samples.start * out_size..samples.end * out_size];
        let given = |at: usize| &gradient[at * h_size..gradient.len() - (out_size - (at + 1) * h_size)];
        let per_sample =
            if self.reads == Reads::Mapped { self.steps * h_size } else { self.inputs() * x_size };
        let mut d_inputs: Vec<_> = pieces
            .input
            .iter_mut()
            .map(|piece| piece.split_off_mut(..samples.len() * per_sample).unwrap_or_default())
            .collect();
        let need_input = !d_inputs.is_empty();
        let Sums { input_row_map, input_col_map, state_row_map, state_col_map, bias } = sums;
        let (ux, vx) = (input_row_map.len() / gate_count, input_col_map.len() / gate_count);
        let (uh, vh) = (state_row_map.len() / gate_count, state_col_map.len() / gate_count);

        // Where states are columns, the gradients of the gates are kept, for U's to be summed over all steps at once.
        let columns = plan.state[0].of_columns();
        let kept_steps = if columns { self.steps } else { 1 };
        let lengths = [h, h, h, kept_steps * gate_count * h, gate_count * h, x_mid.max(h_mid), x_len];
        with_scratch(lengths, |[d_hidden, d_cell_state, d_before, d_steps, d_total, s, d_x]| {
            d_hidden.fill(E::ZERO);
            d_cell_state.fill(E::ZERO);
            d_total.fill(E::ZERO);
            if self.cell == Cell::Lstm {
                plan.h.gather(level, given(self.outputs() - 1), out_size, d_cell_state);
            }
            for t in (0..self.steps).rev() {
                if self.all || t + 1 == self.steps {
                    plan.h.gather(level, given(if self.all { t } else { 0 }), out_size, d_before);
                    lanes::add_to(level, d_hidden, d_before);
                }
                let before = &hidden[t * h..(t + 1) * h];
                let after = &hidden[(t + 1) * h..(t + 2) * h];
                let gates = &gates[t * shelf.step_gates()..(t + 1) * shelf.step_gates()];
                let d_gates = slot(d_steps, t % kept_steps, gate_count * h);
                // Through the state's half of one gate: weights, and the gradient of what it read.
                let mut through_state =
                    |gate: usize, read: &[E], d_gate: &[E], s: &mut [E], d_read: &mut [E], add: bool| {
                        let at = t * gate_count + gate;
                        plan.state[gate].backward(
                            read,
                            &h_middle[at * h_mid..(at + 1) * h_mid],
                            d_gate,
                            s,
                            (!columns).then(|| slot(state_row_map, gate, uh)),
                            slot(state_col_map, gate, vh),
                            Some((d_read, add)),
                            &[],
                        );
                    };
                match self.cell {
                    Cell::Rnn(f) => {
                        RnnBackward { hidden: after, d_hidden, d_gate: d_gates, f }.on(level);
                        through_state(0, before, d_gates, s, d_hidden, false);
                    }
                    Cell::Lstm => {
                        let [into, forget, out, candidate] = split(gates, h);
                        let [d_into, d_forget, d_out, d_candidate] = split_mut(d_gates, h);
                        LstmBackward {
                            into,
                            forget,
                            out,
                            candidate,
                            before: &cell_state[t * h..(t + 1) * h],
                            cell_state: &cell_state[(t + 1) * h..(t + 2) * h],
                            d_hidden,
                            d_cell_state,
                            d_into,
                            d_forget,
                            d_out,
                            d_candidate,
                        }
                        .on(level);
                        for (gate, d_gate) in d_gates.chunks(h).enumerate() {
                            through_state(gate, before, d_gate, s, d_hidden, gate > 0);
                        }
                    }
                    Cell::Gru(f) => {
                        let [update, reset_gate, candidate] = split(gates, h);
                        let [d_update, d_reset, d_candidate] = split_mut(d_gates, h);
                        GruBackward { update, candidate, before, d_hidden, d_update, d_candidate, f }
                            .on(level);
                        let product = &reset[t * h..(t + 1) * h];
                        through_state(2, product, d_candidate, s, d_before, false);
                        GruReset { reset: reset_gate, before, d_product: d_before, d_hidden, d_reset }
                            .on(level);
                        through_state(0, before, d_update, s, d_hidden, true);
                        through_state(1, before, d_reset, s, d_hidden, true);
                    }
                }
                lanes::add_to(level, d_total, d_gates);
                // Through the input's half: at every step, or once at the end where it never changes.
                let from: Option<&[E]> = match (self.reads, t) {
                    (Reads::Steps, _) => Some(d_gates),
                    (Reads::Constant, 0) => Some(d_total),
                    (Reads::Constant, _) => None,
                    (Reads::Mapped, _) => {
                        for (d_gate, to) in d_gates.chunks(h).zip(&mut d_inputs) {
                            let end = to.len() - (self.steps - 1 - t) * h_size;
                            plan.h.scatter(level, d_gate, &mut to[t * h_size..end], per_sample);
                        }
                        None
                    }
                };
                if let Some(from) = from {
                    let at = if self.reads == Reads::Constant { 0 } else { t };
                    for (gate, d_gate) in from.chunks(h).enumerate() {
                        let middle = at * gate_count + gate;
                        plan.input[gate].backward(
                            &x[at * x_len..(at + 1) * x_len],
                            &x_middle[middle * x_mid..(middle + 1) * x_mid],
                            d_gate,
                            s,
                            Some(slot(input_row_map, gate, ux)),
                            slot(input_col_map, gate, vx),
                            need_input.then_some((&mut *d_x, gate > 0)),
                            &[],
                        );
                    }
                    if let Some(to) = d_inputs.first_mut() {
                        let end = to.len() - (self.inputs() - 1 - at) * x_size;
                        plan.input[0].input.scatter(level, d_x, &mut to[at * x_size..end], per_sample);
                    }
                }
            }
            if columns {
                for (gate, d_row_map) in state_row_map.chunks_mut(uh).enumerate() {
                    let middle = (&h_middle[gate * h_mid..], gate_count * h_mid);
                    let d_gate = (&d_steps[gate * h..], gate_count * h);
                    plan.state[gate].row_map_of_steps(self.steps, middle, d_gate, d_row_map);
                }
            }
            for (d_gate, bias) in d_total.chunks(h).zip(bias.chunks_mut(h_size)) {
                lanes::sum_lanes(level, &plan.h, d_gate, bias);
            }
            let to = pieces.hidden.split_off_mut(..samples.len() * h_size).unwrap_or_default();
            plan.h.scatter(level, d_hidden, to, h_size);
            if self.cell == Cell::Lstm {
                let to = pieces.cell_state.split_off_mut(..samples.len() * h_size).unwrap_or_default();
                plan.h.scatter(level, d_cell_state, to, h_size);
            }
        });
    }
}

/// The gradients of the gates of one step.
fn split_mut<E, const N: usize>(gates: &mut [E], len: usize) -> [&mut [E]; N] {
    let mut chunks = gates.chunks_mut(len);
    std::array::from_fn(|_| chunks.next().unwrap_or_default())
}
