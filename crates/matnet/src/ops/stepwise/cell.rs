//! One step of a cell, forward and backward, with the maps of all its gates together.
//!
//! States are `[rows, batch, cols]`, what the gates are given `[gates, rows, batch, cols]`. In this order both sides of UᵀHV
//! are batched products over the gates, and nothing has to be moved between them.

use burn::backend::Backend;

use super::array::Array;
use crate::ops::{Activation, Cell};

/// H, and C of an LSTM.
pub(super) struct State<B: Backend> {
    pub(super) hidden: Array<B>,
    pub(super) cell_state: Option<Array<B>>,
}

impl<B: Backend> Clone for State<B> {
    fn clone(&self) -> Self {
        Self { hidden: self.hidden.clone(), cell_state: self.cell_state.clone() }
    }
}

/// The state maps of some gates, in the forms that the products take.
pub(super) struct Maps<B: Backend> {
    /// U: `[gates, rows, rows]`
    row: Array<B>,
    /// V: `[gates, cols, cols]`; states of one column need none.
    col: Option<Array<B>>,
    /// The U of all gates side by side: `[rows, gates · rows]`.
    rows_joined: Array<B>,
}

impl<B: Backend> Maps<B> {
    /// Those of the gates of a cell that read one and the same state: of a GRU the first two, and the last.
    pub(super) fn of(cell: Cell, row: &Array<B>, col: Option<&Array<B>>) -> Vec<Self> {
        // The gates before which a group ends.
        let ends: &[usize] = match cell {
            Cell::Rnn(_) => &[1],
            Cell::Lstm => &[4],
            Cell::Gru(_) => &[2, 3],
        };
        let all = ends.len() == 1;
        let pick = |maps: &Array<B>, gates| if all { maps.clone() } else { maps.clone().narrow(0, gates) };
        let group = |gates: std::ops::Range<usize>| {
            let row = pick(row, gates.clone());
            let [count, rows, _] = row.dims();
            let rows_joined = row.clone().permute(&[1, 0, 2]).reshape([rows, count * rows]);
            Self { rows_joined, row, col: col.map(|col| pick(col, gates)) }
        };
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(&start, &end)| group(start..end)).collect()
    }

    /// UᵀHV of every gate.
    fn forward(&self, hidden: Array<B>) -> Array<B> {
        let ([rows, batch, cols], [gates, ..]) = (hidden.dims(), self.row.dims::<3>());
        let right = self.right(hidden, rows * batch, cols).reshape_rows(gates, rows, batch * cols);
        self.row.clone().transpose().matmul(right).reshape([gates, rows, batch, cols])
    }

    /// HV of every gate, for `count` rows of H.
    fn right(&self, hidden: Array<B>, count: usize, cols: usize) -> Array<B> {
        let hidden = hidden.reshape([1, count, cols]);
        match &self.col {
            Some(col) => hidden.matmul(col.clone()),
            None => hidden,
        }
    }

    /// The gradient of H from that of every gate: Σ U(dG)Vᵀ. The sum over gates is that of the product on the left.
    fn backward(&self, gradient: Array<B>) -> Array<B> {
        let [gates, rows, batch, cols] = gradient.dims();
        let right = match &self.col {
            Some(col) => gradient.reshape([gates, rows * batch, cols]).matmul(col.clone().transpose()),
            None => gradient,
        };
        let joined = right.reshape([1, gates * rows, batch * cols]);
        let left = self.rows_joined.clone().reshape([1, rows, gates * rows]);
        left.matmul(joined).reshape([rows, batch, cols])
    }

    /// The gradients of U and V from those of the gates at all steps, `[gates, rows, steps, batch, cols]`, and the states
    /// that were read, `[rows, steps, batch, cols]`: one product over all steps for each.
    pub(super) fn gradients(&self, states: Array<B>, gradient: Array<B>) -> (Array<B>, Option<Array<B>>) {
        let [gates, rows, steps, batch, cols] = gradient.dims();
        let (count, length) = (rows * steps * batch, steps * batch * cols);
        let gradient = gradient.reshape([gates, rows, length]);
        let right = self.right(states.clone(), count, cols).reshape_rows(gates, rows, length);
        let row = right.matmul(gradient.clone().transpose());
        let col = self.col.as_ref().map(|_| {
            let left = self.row.clone().matmul(gradient).reshape([gates, count, cols]);
            states.reshape([1, count, cols]).transpose().matmul(left)
        });
        (row, col)
    }
}

impl<B: Backend> Array<B> {
    /// What the product on the right gave, of every gate or of all alike, as the rows of the product on the left.
    fn reshape_rows(self, gates: usize, rows: usize, length: usize) -> Self {
        let [different, ..] = self.dims::<3>();
        debug_assert!(different == gates || different == 1);
        self.reshape([different, rows, length])
    }
}

/// What the backward pass of a step needs.
#[derive(Debug)]
pub(super) struct Kept<B: Backend> {
    /// The gates with σ, activated.
    gates: Option<Array<B>>,
    /// The last gate, activated.
    candidate: Array<B>,
    /// H before the step.
    hidden: Array<B>,
    /// Of an LSTM: C before the step, and tanh of C after it.
    cell_states: Option<[Array<B>; 2]>,
    /// Of a GRU: R⊙H.
    pub(super) reset: Option<Array<B>>,
}

/// (input, state) → state; `mapped` is UᵀXV + B of every gate.
pub(super) fn step<B: Backend>(
    cell: Cell,
    maps: &[Maps<B>],
    mapped: Array<B>,
    state: State<B>,
) -> (State<B>, Kept<B>) {
    let State { hidden, cell_state } = state;
    match cell {
        Cell::Rnn(f) => {
            let [_, rows, batch, cols] = mapped.dims();
            let sum = (mapped + maps[0].forward(hidden.clone())).reshape([rows, batch, cols]);
            let next = sum.activate(f);
            let kept = Kept { gates: None, candidate: next.clone(), hidden, cell_states: None, reset: None };
            (State { hidden: next, cell_state: None }, kept)
        }
        Cell::Lstm => {
            let sum = mapped + maps[0].forward(hidden.clone());
            let gates = sum.clone().narrow(0, 0..3).sigmoid();
            let candidate = one(&sum, 3).tanh();
            let [into, forget, out] = [0, 1, 2].map(|gate| one(&gates, gate));
            let before = cell_state.expect("an LSTM has a cell state");
            let after = forget * before.clone() + into * candidate.clone();
            let tanh = after.clone().tanh();
            let next = State { hidden: out * tanh.clone(), cell_state: Some(after) };
            let cell_states = Some([before, tanh]);
            (next, Kept { gates: Some(gates), candidate, hidden, cell_states, reset: None })
        }
        Cell::Gru(f) => {
            let gates = mapped.clone().narrow(0, 0..2) + maps[0].forward(hidden.clone());
            let gates = gates.sigmoid();
            let [update, reset] = [0, 1].map(|gate| one(&gates, gate));
            let reset = reset * hidden.clone();
            let [rows, batch, cols] = hidden.dims();
            let sum = mapped.narrow(0, 2..3) + maps[1].forward(reset.clone());
            let candidate = sum.reshape([rows, batch, cols]).activate(f);
            let next = hidden.clone() + update * (candidate.clone() - hidden.clone());
            let reset = Some(reset);
            let kept = Kept { gates: Some(gates), candidate, hidden, cell_states: None, reset };
            (State { hidden: next, cell_state: None }, kept)
        }
    }
}

/// The gradients of the state before a step and of what each gate was given, from those of the state after it.
pub(super) fn step_backward<B: Backend>(
    cell: Cell,
    maps: &[Maps<B>],
    kept: &Kept<B>,
    gradient: State<B>,
) -> (State<B>, Array<B>) {
    let State { hidden: gradient, cell_state } = gradient;
    let [rows, batch, cols] = gradient.dims();
    let candidate = kept.candidate.clone();
    // For `join`: one gate of what will be several.
    let gate = |gradient: Array<B>| gradient.reshape([1, rows, batch, cols]);
    match cell {
        Cell::Rnn(f) => {
            let given = gate(candidate.before(f, gradient));
            (State { hidden: maps[0].backward(given.clone()), cell_state: None }, given)
        }
        Cell::Lstm => {
            let gates = kept.gates.clone().expect("kept");
            let [before, tanh] = kept.cell_states.clone().expect("kept");
            let [into, forget, out] = [0, 1, 2].map(|gate| one(&gates, gate));
            let through = tanh.clone().before(Activation::Tanh, gradient.clone() * out);
            let inner = match cell_state {
                Some(later) => later + through,
                None => through,
            };
            let [d_into, d_forget, d_out] =
                [inner.clone() * candidate.clone(), inner.clone() * before, gradient * tanh];
            let d_gates = Array::join([d_into, d_forget, d_out].map(gate).into(), 0);
            let d_candidate = candidate.before(Activation::Tanh, inner.clone() * into);
            let d_gates = gates.before(Activation::Sigmoid, d_gates);
            let given = Array::join(vec![d_gates, gate(d_candidate)], 0);
            let hidden = maps[0].backward(given.clone());
            (State { hidden, cell_state: Some(inner * forget) }, given)
        }
        Cell::Gru(f) => {
            let gates = kept.gates.clone().expect("kept");
            let hidden = kept.hidden.clone();
            let [update, reset] = [0, 1].map(|gate| one(&gates, gate));
            let d_update = gradient.clone() * (candidate.clone() - hidden.clone());
            let d_candidate = gradient.clone() * update;
            let carried = gradient - d_candidate.clone();
            let d_candidate = gate(candidate.before(f, d_candidate));
            let d_reset = maps[1].backward(d_candidate.clone());
            let carried = carried + d_reset.clone() * reset;
            let d_gates = Array::join([d_update, d_reset * hidden].map(gate).into(), 0);
            let d_gates = gates.before(Activation::Sigmoid, d_gates);
            let hidden = carried + maps[0].backward(d_gates.clone());
            (State { hidden, cell_state: None }, Array::join(vec![d_gates, d_candidate], 0))
        }
    }
}

/// One of the gates.
fn one<B: Backend>(gates: &Array<B>, gate: usize) -> Array<B> {
    let [_, rows, batch, cols] = gates.dims();
    gates.clone().narrow(0, gate..gate + 1).reshape([rows, batch, cols])
}
