//! What the forward pass leaves for the backward pass, block by block.

use super::{Cell, Plan, Reads, Recurrent};
use crate::pool::Buffer;
use crate::simd::Element;

/// What [`Recurrent::forward`] leaves for [`Recurrent::backward`]; of no use to anyone else.
#[derive(Debug)]
pub struct Kept<E: Element>(pub(super) Buffer<E>);

/// Where things stand in one block's share.
#[derive(Clone, Copy)]
pub(super) struct Shelf {
    /// Inputs, or 1 where the same is read at every step.
    inputs: usize,
    /// Steps that are kept: all, or 1 where no backward pass will come.
    steps: usize,
    states: usize,
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
    pub(super) fn new<E: Element>(recurrent: &Recurrent<E>, plan: &Plan<E>, keep: bool) -> Self {
        let (x, x_middle) = plan.input_lengths();
        Self {
            inputs: if keep && recurrent.reads == Reads::Steps { plan.steps } else { 1 },
            steps: if keep { plan.steps } else { 1 },
            states: if keep { plan.steps + 1 } else { 2 },
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
            self.steps * self.gates * self.h_middle,
        ]
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
