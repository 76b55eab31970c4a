//! What the forward pass leaves for the backward pass, block by block.

use std::ops::Range;

use super::{Cell, Plan, Reads, Recurrent};
use crate::kept::{Bf16, round, widen};
use crate::simd::{Element, Level};

/// Which steps have places of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    /// All.
    AllSteps,
    /// One at a time.
    OneStep,
    /// One at a time, but all that are summed over at the end of a backward pass.
    OneStepBackward,
}

/// Where things stand in one block's share.
#[derive(Clone, Copy)]
pub(super) struct Shelf {
    /// Inputs, or 1 where the same is read at every step.
    inputs: usize,
    /// Steps that have places of their own: all or 1.
    steps: usize,
    states: usize,
    /// Steps whose middle products of states have.
    middles: usize,
    gates: usize,
    cell_state: bool,
    reset: bool,
    x: usize,
    h: usize,
    x_middle: usize,
    h_middle: usize,
}

/// One block's share, cut into what it holds.
pub(super) struct Share<S> {
    /// X of every step.
    pub(super) x: S,
    /// H₀, H₁, …
    pub(super) hidden: S,
    /// C₀, C₁, … of an LSTM
    pub(super) cell_state: S,
    /// Gates of every step, after their activation.
    pub(super) gates: S,
    /// R⊙H of every step of a GRU.
    pub(super) reset: S,
    /// Middle products of the inputs: step, gate.
    pub(super) x_middle: S,
    /// Middle products of the states: step, gate.
    pub(super) h_middle: S,
}

impl Shelf {
    pub(super) fn new<E: Element>(recurrent: &Recurrent<E>, plan: &Plan<E>, places: Places) -> Self {
        let (x, x_middle) = plan.input_lengths();
        let all = places == Places::AllSteps;
        let summed = places == Places::OneStepBackward && plan.state[0].of_columns();
        Self {
            inputs: if all && recurrent.reads == Reads::Steps { plan.steps } else { 1 },
            steps: if all { plan.steps } else { 1 },
            states: if all { plan.steps + 1 } else { 2 },
            middles: if all || summed { plan.steps } else { 1 },
            gates: recurrent.cell.gates(),
            cell_state: recurrent.cell == Cell::Lstm,
            reset: matches!(recurrent.cell, Cell::Gru(_)),
            x,
            h: plan.h.len(),
            x_middle,
            h_middle: plan.state[0].middle.len(),
        }
    }

    /// Whether every step has a place of its own.
    pub(super) fn keeps(&self) -> bool {
        self.steps > 1
    }

    /// Which slot input number `t` takes.
    pub(super) fn input_slot(&self, t: usize) -> usize {
        t % self.inputs
    }

    /// Which slot step `t` takes.
    pub(super) fn step_slot(&self, t: usize) -> usize {
        t % self.steps
    }

    /// Which slot the state after `t` steps takes.
    pub(super) fn state_slot(&self, t: usize) -> usize {
        t % self.states
    }

    /// Which slot the middle products of the state of step `t` take.
    pub(super) fn middle_slot(&self, t: usize) -> usize {
        t % self.middles
    }

    /// Numbers in the gates of a step; an RNN's only gate is H itself.
    pub(super) fn step_gates(&self) -> usize {
        if self.gates == 1 { 0 } else { self.gates * self.h }
    }

    fn lengths(&self) -> [usize; 7] {
        [
            self.inputs * self.x,
            self.states * self.h,
            if self.cell_state { self.states * self.h } else { 0 },
            self.steps * self.step_gates(),
            if self.reset { self.steps * self.h } else { 0 },
            self.inputs * self.gates * self.x_middle,
            self.middles * self.gates * self.h_middle,
        ]
    }

    /// Where things of step `t` stand: X, a state of the LSTM's two, gates, R⊙H, and the middle products; of the state, the one
    /// after `state` steps.
    fn of_step(&self, t: usize, state: usize) -> [Range<usize>; 7] {
        let (input, state, step) = (self.input_slot(t), self.state_slot(state), self.step_slot(t));
        let slots = [input, state, state, step, step, input, self.middle_slot(t)];
        let [x_middle, h_middle] = [self.x_middle, self.h_middle].map(|length| self.gates * length);
        let sizes = [self.x, self.h, self.h, self.step_gates(), self.h, x_middle, h_middle];
        let lengths = self.lengths();
        let mut end = 0;
        std::array::from_fn(|piece| {
            let start = end;
            end += lengths[piece];
            // A piece that a cell does not have is empty.
            let size = sizes[piece].min(lengths[piece]);
            start + slots[piece] * size..start + (slots[piece] + 1) * size
        })
    }

    /// Calls `each` with where things of step `t` stand here and on another shelf. With `first`, also for what others share with it: the
    /// state at its other end, and a constant input.
    fn both(
        &self,
        other: &Self,
        t: usize,
        [state, other_end]: [usize; 2],
        first: bool,
        mut each: impl FnMut(Range<usize>, Range<usize>),
    ) {
        let pairs = |state| self.of_step(t, state).into_iter().zip(other.of_step(t, state));
        for (piece, (here, there)) in pairs(state).enumerate() {
            let shared = self.inputs == 1 && (piece == 0 || piece == 5);
            if first || !shared {
                each(here, there);
            }
        }
        if first {
            pairs(other_end).skip(1).take(2).for_each(|(here, there)| each(here, there));
        }
    }

    /// Rounds what a forward pass has put on `from` at step `t` into a share of this shelf, which has places for all steps.
    pub(super) fn round_step<E: Element>(
        &self,
        level: Level,
        share: &mut [Bf16],
        from: (&Self, &[E]),
        t: usize,
    ) {
        self.both(from.0, t, [t + 1, t], t == 0, |here, there| {
            round(level, &from.1[there], &mut share[here])
        });
    }

    /// The opposite of [`round_step`](Self::round_step), for a backward pass; `last` for the step that it begins with.
    pub(super) fn widen_step<E: Element>(
        &self,
        level: Level,
        share: &[Bf16],
        to: (&Self, &mut [E]),
        t: usize,
        last: bool,
    ) {
        self.both(to.0, t, [t, t + 1], last, |here, there| widen(level, &share[here], &mut to.1[there]));
    }

    /// Numbers in one block's share.
    pub(super) fn len(&self) -> usize {
        self.lengths().iter().sum()
    }

    /// Cuts a block's share into its pieces.
    pub(super) fn cut<'a, E>(&self, mut share: &'a mut [E]) -> Share<&'a mut [E]> {
        self.pieces(|length| share.split_off_mut(..length).unwrap_or_default())
    }

    /// As [`cut`](Self::cut), for reading only.
    pub(super) fn read<'a, E>(&self, mut share: &'a [E]) -> Share<&'a [E]> {
        self.pieces(|length| share.split_off(..length).unwrap_or_default())
    }

    fn pieces<S>(&self, take: impl FnMut(usize) -> S) -> Share<S> {
        let [x, hidden, cell_state, gates, reset, x_middle, h_middle] = self.lengths().map(take);
        Share { x, hidden, cell_state, gates, reset, x_middle, h_middle }
    }
}
