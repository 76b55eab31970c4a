//! The backward pass of a recurrence.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{GruBackward, GruReset, LstmBackward, RnnBackward};
use super::forward::{slot, split};
use super::keep::{Places, Share, Shelf};
use super::{Cell, Members, Plan, Reads, Recurrent};
use crate::block::Layout;
use crate::kept::{Bf16, Kept, Part};
use crate::lanes;
use crate::pair::Pair;
use crate::parallel::{at_least, in_pool, parts, sum_parts, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};
use crate::spread::{Shared, Starts};

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

/// The gradients of X (empty if nobody asks), H₀ and C₀, each sample's written by the thread that has its block.
struct Given<'a, E> {
    input: Shared<'a, E>,
    hidden: Shared<'a, E>,
    cell_state: Shared<'a, E>,
}

/// The gradients of all weights, one after the other.
struct Sums<'a, E> {
    input_row_map: &'a mut [E],
    input_col_map: &'a mut [E],
    state_row_map: &'a mut [E],
    state_col_map: &'a mut [E],
    bias: &'a mut [E],
}

/// What a block kept: read where it stands, or widened step by step into a smaller room.
enum Read<'a, E> {
    Kept(&'a Shelf, &'a [E]),
    Widened { all: &'a Shelf, kept: &'a [Bf16], one: &'a Shelf, room: &'a mut [E] },
}

impl<E: Element> Read<'_, E> {
    /// What step `t` reads, and where it stands; `last` for the step that a backward pass begins with.
    fn step(&mut self, level: Level, t: usize, last: bool) -> (&Shelf, &[E]) {
        if let Self::Widened { all, kept, one, room } = self {
            all.widen_step(level, kept, (one, room), t, last);
        }
        self.share()
    }

    /// What is there now.
    fn share(&self) -> (&Shelf, &[E]) {
        match self {
            Self::Kept(all, share) => (all, share),
            Self::Widened { one, room, .. } => (one, room),
        }
    }
}

impl<E: Element> Recurrent<'_, E> {
    /// All gradients from that of the output. `kept` is what [`forward`](Self::forward) left. If it kept nothing, every block
    /// goes through its steps once more, to the same bits.
    pub fn backward(
        &self,
        level: Level,
        kept: &Kept<E>,
        gradient: &[E],
        need_input: bool,
    ) -> RecurrentGradients<E> {
        let plan = self.plan(level, false);
        let all = Shelf::new(self, &plan, Places::AllSteps);
        let one = Shelf::new(self, &plan, Places::OneStepBackward);
        let again = matches!(kept, Kept::Nothing).then(|| self.plan(level, true));
        assert_eq!(gradient.len(), plan.batch * plan.out_size, "the gradient is of another size");
        let lstm = self.cell == Cell::Lstm;
        let mut d_input = vec![E::ZERO; if need_input { self.input.len() } else { 0 }];
        let mut d_hidden = vec![E::ZERO; self.hidden.len()];
        let mut d_cell_state = vec![E::ZERO; if lstm { self.hidden.len() } else { 0 }];
        let blocks = plan.batch.div_ceil(plan.per_block);
        let share_gates = lstm && !plan.state[0].of_columns() && self.gates_at_least(&plan, blocks) == 1;
        let parts = parts(blocks);
        let given = Given {
            input: Shared::new(&mut d_input),
            hidden: Shared::new(&mut d_hidden),
            cell_state: Shared::new(&mut d_cell_state),
        };
        let sums = parts.into_par_iter().with_min_len(at_least()).map(|part| {
            let mut sums = vec![E::ZERO; self.weights(&plan).iter().sum()];
            for block in part {
                let fresh = again.as_ref().map(|again| {
                    let mut fresh = Buffer::take(all.len());
                    let members = again.members(block);
                    self.forward_block(again, &all, members, None, &mut fresh, None, usize::MAX);
                    fresh
                });
                let share = match &fresh {
                    Some(fresh) => Part::Full(&fresh[..]),
                    None => kept.part().piece(block, all.len()),
                };
                let (members, sums) = (plan.members(block), self.cut(&plan, &mut sums));
                with_scratch([share.room(one.len())], |[room]| {
                    let read = match share {
                        Part::Full(share) => Read::Kept(&all, share),
                        Part::Bf16(kept) => Read::Widened { all: &all, kept, one: &one, room },
                    };
                    self.backward_block(&plan, members, read, gradient, &given, sums, share_gates);
                });
            }
            sums
        });
        let sums = in_pool(share_gates || plan.is_shared(), || sum_parts(sums.collect()));
        let mut rest = &sums[..];
        let [input_rows, input_cols, state_rows, state_cols, bias] =
            self.weights(&plan).map(|length| rest.split_off(..length).unwrap_or_default());
        let [input_row_map, input_col_map] = without_gaps(&plan.input, input_rows, input_cols);
        let [state_row_map, state_col_map] = without_gaps(&plan.state, state_rows, state_cols);
        RecurrentGradients {
            input: need_input.then_some(d_input),
            hidden: d_hidden,
            cell_state: d_cell_state,
            input_row_map,
            input_col_map,
            state_row_map,
            state_col_map,
            bias: bias.to_vec(),
        }
    }

    /// How many numbers the gradients of all weights take while they are summed.
    fn weights(&self, plan: &Plan<E>) -> [usize; 5] {
        let of = |pairs: &[Pair<E>], at: usize| pairs.iter().map(|pair| pair.gradients()[at]).sum();
        let (input, state) = (&plan.input, &plan.state);
        [of(input, 0), of(input, 1), of(state, 0), of(state, 1), self.bias.len()]
    }

    fn cut<'a>(&self, plan: &Plan<E>, mut sums: &'a mut [E]) -> Sums<'a, E> {
        let [input_row_map, input_col_map, state_row_map, state_col_map, bias] =
            self.weights(plan).map(|length| sums.split_off_mut(..length).unwrap_or_default());
        Sums { input_row_map, input_col_map, state_row_map, state_col_map, bias }
    }

    #[allow(clippy::too_many_arguments)]
    fn backward_block(
        &self,
        plan: &Plan<E>,
        members: Members,
        mut read: Read<E>,
        gradient: &[E],
        given: &Given<E>,
        sums: Sums<E>,
        share_gates: bool,
    ) {
        let Plan { level, x_size, h_size, out_size, .. } = *plan;
        let (steps, all) = (members.steps(), 0..members.samples.len());
        let (h, gate_count) = (plan.h.len(), self.cell.gates());
        let (x_len, x_mid) = plan.input_lengths();
        let h_mid = plan.state[0].middle.len();
        // Where matrix number `at` of some lanes' output gradients begins.
        let outputs =
            |lanes: Range<usize>, at: usize| members.starts(lanes, |sample| sample * out_size + at * h_size);
        let scatter = |layout: &Layout, block: &[E], starts: Starts, to: &Shared<E>| {
            // SAFETY: every sample is a member of one block, and this thread alone works on that.
            unsafe { layout.scatter_lanes(level, block, 0, &starts, to) }
        };
        let need_input = !given.input.is_empty();
        let Sums { input_row_map, input_col_map, state_row_map, state_col_map, bias } = sums;
        let (ux, vx) = (input_row_map.len() / gate_count, input_col_map.len() / gate_count);
        let (uh, vh) = (state_row_map.len() / gate_count, state_col_map.len() / gate_count);

        // Where states are columns, the gradients of the gates are kept, for U's to be summed over all steps at once.
        let columns = plan.state[0].of_columns();
        let kept_steps = if columns { steps } else { 1 };
        // Gates that threads share have products of their own, which are added up in the order of the gates.
        let shares = if share_gates { gate_count } else { 0 };
        let (s_len, d_read_len) = (x_mid.max(h_mid), h.max(x_len));
        let lengths = [
            h,
            h,
            h,
            kept_steps * gate_count * h,
            gate_count * h,
            shares.max(1) * s_len,
            x_len,
            shares * d_read_len,
        ];
        with_scratch(lengths, |[d_hidden, d_cell_state, d_before, d_steps, d_total, s, d_x, d_reads]| {
            d_hidden.fill(E::ZERO);
            d_cell_state.fill(E::ZERO);
            d_total.fill(E::ZERO);
            for t in (0..steps).rev() {
                let (alive, ending) = (members.alive(t), members.ending(t));
                // Lanes that begin here held nothing but zeros, of any sign.
                if !ending.is_empty() && t + 1 < steps {
                    lanes::clear(&plan.h, d_hidden, ending.clone());
                }
                if self.cell == Cell::Lstm && !ending.is_empty() {
                    let starts = outputs(ending.clone(), self.outputs() - 1);
                    match t + 1 == steps {
                        true => plan.h.gather_lanes(level, gradient, 0, &starts, d_cell_state),
                        false => plan.h.replace_lanes(gradient, ending.start, &starts, d_cell_state),
                    }
                }
                let (lanes, at) = if self.all { (0..alive, t) } else { (ending, 0) };
                if !lanes.is_empty() {
                    let starts = outputs(lanes.clone(), at);
                    plan.h.gather_lanes(level, gradient, lanes.start, &starts, d_before);
                    lanes::add_to(level, d_hidden, d_before);
                }
                let (shelf, share) = read.step(level, t, t + 1 == steps);
                let Share { x, hidden, cell_state, gates, reset, x_middle, h_middle } = shelf.read(share);
                let [now, next] = [t, t + 1].map(|t| {
                    let at = shelf.state_slot(t);
                    at * h..(at + 1) * h
                });
                let (before, after, step) = (&hidden[now.clone()], &hidden[next.clone()], shelf.step_slot(t));
                let gates = &gates[step * shelf.step_gates()..(step + 1) * shelf.step_gates()];
                let d_gates = slot(d_steps, t % kept_steps, gate_count * h);
                // What is kept lies far away: each map asks for the middle product that the next one will read.
                let h_middle_at = |at: usize| h_middle.get(at * h_mid..(at + 1) * h_mid).unwrap_or_default();
                let x_middle_at = |at: usize| x_middle.get(at * x_mid..(at + 1) * x_mid).unwrap_or_default();
                let middle_of = |t: usize| shelf.middle_slot(t) * gate_count;
                let step_before = t.checked_sub(1).map_or(&[][..], |t| h_middle_at(middle_of(t)));
                let input = shelf.input_slot(t);
                // Through the state's half of one gate: weights, and the gradient of what it read.
                let through_state = |gate: usize,
                                     read: &[E],
                                     d_gate: &[E],
                                     s: &mut [E],
                                     maps: [&mut [E]; 2],
                                     d_read: &mut [E],
                                     add| {
                    let at = middle_of(t) + gate;
                    let last = gate + 1 == gate_count;
                    let next = match self.reads {
                        _ if !last => h_middle_at(at + 1),
                        Reads::Steps => x_middle_at(input * gate_count),
                        _ => step_before,
                    };
                    let [d_row_map, d_col_map] = maps;
                    plan.state[gate].backward(
                        read,
                        h_middle_at(at),
                        d_gate,
                        s,
                        (!columns).then_some(d_row_map),
                        d_col_map,
                        false,
                        Some((d_read, add)),
                        next,
                    );
                };
                let mut through_one =
                    |gate: usize, read: &[E], d_gate: &[E], s: &mut [E], d_read: &mut [E], add| {
                        let maps = [slot(state_row_map, gate, uh), slot(state_col_map, gate, vh)];
                        through_state(gate, read, d_gate, s, maps, d_read, add);
                    };
                match self.cell {
                    Cell::Rnn(f) => {
                        RnnBackward { hidden: after, d_hidden, d_gate: d_gates, f }.on(level);
                        through_one(0, before, d_gates, s, d_hidden, false);
                    }
                    Cell::Lstm => {
                        let [into, forget, out, candidate] = split(gates, h);
                        let [d_into, d_forget, d_out, d_candidate] = split_mut(d_gates, h);
                        LstmBackward {
                            into,
                            forget,
                            out,
                            candidate,
                            before: &cell_state[now],
                            cell_state: &cell_state[next],
                            d_hidden,
                            d_cell_state,
                            d_into,
                            d_forget,
                            d_out,
                            d_candidate,
                        }
                        .on(level);
                        if share_gates {
                            let maps = state_row_map.chunks_mut(uh).zip(state_col_map.chunks_mut(vh));
                            let room = s.chunks_mut(s_len).zip(d_reads.chunks_mut(d_read_len));
                            let work: Vec<_> = d_gates.chunks(h).zip(maps).zip(room).enumerate().collect();
                            work.into_par_iter().for_each(|(gate, ((d_gate, (u, v)), (s, d_read)))| {
                                through_state(gate, before, d_gate, s, [u, v], &mut d_read[..h], false);
                            });
                            add_up(level, d_reads, d_read_len, d_hidden);
                        } else {
                            for (gate, d_gate) in d_gates.chunks(h).enumerate() {
                                through_one(gate, before, d_gate, s, d_hidden, gate > 0);
                            }
                        }
                    }
                    Cell::Gru(f) => {
                        let [update, reset_gate, candidate] = split(gates, h);
                        let [d_update, d_reset, d_candidate] = split_mut(d_gates, h);
                        GruBackward { update, candidate, before, d_hidden, d_update, d_candidate, f }
                            .on(level);
                        let product = &reset[step * h..(step + 1) * h];
                        through_one(2, product, d_candidate, s, d_before, false);
                        GruReset { reset: reset_gate, before, d_product: d_before, d_hidden, d_reset }
                            .on(level);
                        through_one(0, before, d_update, s, d_hidden, true);
                        through_one(1, before, d_reset, s, d_hidden, true);
                    }
                }
                lanes::add_to(level, d_total, d_gates);
                // Through the input's half: at every step, or once at the end where it never changes.
                let from: Option<&[E]> = match (self.reads, t) {
                    (Reads::Steps, _) => Some(d_gates),
                    (Reads::Constant, 0) => Some(d_total),
                    (Reads::Constant, _) => None,
                    (Reads::Mapped, _) => {
                        if need_input {
                            for (gate, d_gate) in d_gates.chunks(h).enumerate() {
                                let starts = members.starts(0..alive, |sample| plan.mapped(gate, sample, t));
                                scatter(&plan.h, d_gate, starts, &given.input);
                            }
                        }
                        None
                    }
                };
                if let Some(from) = from {
                    let (inputs, at, lanes) = match self.reads {
                        Reads::Constant => (1, 0, all.clone()),
                        _ => (self.steps, t, 0..alive),
                    };
                    let through_input =
                        |gate: usize,
                         d_gate: &[E],
                         s: &mut [E],
                         [u, v]: [&mut [E]; 2],
                         d_x: Option<(&mut [E], bool)>| {
                            let middle = input * gate_count + gate;
                            let last = gate + 1 == gate_count;
                            plan.input[gate].backward(
                                &x[input * x_len..(input + 1) * x_len],
                                x_middle_at(middle),
                                d_gate,
                                s,
                                Some(u),
                                v,
                                false,
                                d_x,
                                if last { step_before } else { x_middle_at(middle + 1) },
                            );
                        };
                    let maps = input_row_map.chunks_mut(ux).zip(input_col_map.chunks_mut(vx));
                    let gates = from.chunks(h).zip(maps).enumerate();
                    if share_gates {
                        let room = s.chunks_mut(s_len).zip(d_reads.chunks_mut(d_read_len));
                        let work: Vec<_> = gates.zip(room).collect();
                        work.into_par_iter().for_each(|((gate, (d_gate, (u, v))), (s, d_read))| {
                            let d_x = need_input.then_some((&mut d_read[..x_len], false));
                            through_input(gate, d_gate, s, [u, v], d_x);
                        });
                        if need_input {
                            add_up(level, d_reads, d_read_len, d_x);
                        }
                    } else {
                        for (gate, (d_gate, (u, v))) in gates {
                            let d_x = need_input.then_some((&mut *d_x, gate > 0));
                            through_input(gate, d_gate, s, [u, v], d_x);
                        }
                    }
                    if need_input {
                        let starts = members.starts(lanes, |sample| (sample * inputs + at) * x_size);
                        scatter(&plan.input[0].input, d_x, starts, &given.input);
                    }
                }
            }
            if columns {
                let (shelf, share) = read.share();
                let Share { h_middle, .. } = shelf.read(share);
                for (gate, d_row_map) in state_row_map.chunks_mut(uh).enumerate() {
                    let middle = (&h_middle[gate * h_mid..], gate_count * h_mid);
                    let d_gate = (&d_steps[gate * h..], gate_count * h);
                    plan.state[gate].row_map_of_steps(steps, middle, d_gate, d_row_map);
                }
            }
            for (d_gate, bias) in d_total.chunks(h).zip(bias.chunks_mut(h_size)) {
                lanes::sum_lanes(level, &plan.h, d_gate, bias);
            }
            let starts = members.starts(all.clone(), |sample| sample * h_size);
            scatter(&plan.h, d_hidden, starts, &given.hidden);
            if self.cell == Cell::Lstm {
                scatter(&plan.h, d_cell_state, starts, &given.cell_state);
            }
        });
    }
}

/// What the gates give, as far apart as `.1` says, added up in their order.
fn add_up<E: Element>(level: Level, of_gates: &[E], length: usize, to: &mut [E]) {
    let count = to.len();
    let mut of_gates = of_gates.chunks(length).map(|one| &one[..count]);
    to.copy_from_slice(of_gates.next().unwrap_or_default());
    of_gates.for_each(|one| lanes::add_to(level, to, one));
}

/// The gradients of the maps of all gates from their sums.
fn without_gaps<E: Element>(pairs: &[Pair<E>], mut rows: &[E], mut cols: &[E]) -> [Vec<E>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for pair in pairs {
        let [u, v] = pair.gradients();
        let sums = [rows.split_off(..u), cols.split_off(..v)].map(Option::unwrap_or_default);
        for (all, mut one) in all.iter_mut().zip(pair.without_gaps(sums)) {
            all.append(&mut one);
        }
    }
    all
}

/// The gradients of the gates of one step.
fn split_mut<E, const N: usize>(gates: &mut [E], len: usize) -> [&mut [E]; N] {
    let mut chunks = gates.chunks_mut(len);
    std::array::from_fn(|_| chunks.next().unwrap_or_default())
}
