//! The matrix RNN, LSTM and GRU over a whole sequence.

use burn::tensor::{DType, Tensor};

use burn::backend::Dispatch;

use super::fused::{self, FusedOps, Schedule};
use super::{Cell, Keep, MappedSteps, MatState, RecurrentMaps, StateMaps, Steps, stepwise};

/// Runs a recurrent cell over a sequence; returns the hidden states and the last state.
///
/// The initial state is `state`, or zeros. Padded sequences end after their own length, and so does the work on them.
///
/// # Panics
///
/// If the shapes do not fit together, or the batch or the time is empty.
pub fn recurrent(
    cell: Cell,
    steps: Steps,
    state: Option<MatState>,
    maps: RecurrentMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let [batch, rows, cols] = check(cell, &steps, state.as_ref(), &maps);
    let state = state.unwrap_or_else(|| zero_state(cell, [batch, rows, cols], &maps.bias));
    if !fused::available(&maps.bias) {
        return stepwise::recurrent(cell, steps, state, maps, keep);
    }
    let (input, steps, constant, lengths) = match steps {
        Steps::Sequence(input) => {
            let (input, lengths) = input.into_parts();
            let steps = input.dims()[1];
            (input.into_dispatch(), steps, false, lengths)
        }
        Steps::Constant(input, steps) => (input.into_dispatch(), steps, true, None),
    };
    let schedule = Schedule { cell, steps, constant, all: keep == Keep::All, lengths };
    let cell_state = cell_state_or_placeholder(&state);
    let output = Dispatch::recurrent(
        input,
        state.hidden.into_dispatch(),
        cell_state.into_dispatch(),
        maps.input_row_map.into_dispatch(),
        maps.input_col_map.into_dispatch(),
        maps.state_row_map.into_dispatch(),
        maps.state_col_map.into_dispatch(),
        maps.bias.into_dispatch(),
        schedule.clone(),
    );
    take_apart(Tensor::from_dispatch(output), schedule)
}

/// As [`recurrent`], with the mapped input UᵀXV of every gate.
///
/// # Panics
///
/// If the shapes do not fit together, or the batch or the time is empty.
pub fn recurrent_mapped(
    cell: Cell,
    mapped: MappedSteps,
    state: Option<MatState>,
    maps: StateMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let (gates, batch, steps, rows, cols, dtype) = match &mapped {
        MappedSteps::All(mapped) => {
            let [gates, batch, steps, rows, cols] = mapped.dims();
            (gates, batch, steps, rows, cols, mapped.dtype())
        }
        MappedSteps::Packed(mapped, lengths) => {
            let [gates, count, rows, cols] = mapped.dims();
            let total = lengths.total();
            assert!(count == total, "recurrent: {count} packed steps, the lengths have {total}");
            (gates, lengths.as_slice().len(), lengths.time(), rows, cols, mapped.dtype())
        }
    };
    check_steps(batch, steps);
    let got = maps.bias.dims();
    let want = [cell.gates(), rows, cols];
    assert!(
        got == want && gates == want[0],
        "recurrent: bias {got:?} and input {gates} gates, expected {want:?}"
    );
    check_state_maps(&maps.row_map, &maps.col_map, &maps.bias);
    check_dtypes(("input", dtype), state.as_ref(), &maps.bias);
    check_state(cell, state.as_ref(), [batch, rows, cols]);
    let state = state.unwrap_or_else(|| zero_state(cell, [batch, rows, cols], &maps.bias));
    if !fused::available(&maps.bias) {
        return stepwise::recurrent_mapped(cell, mapped, state, maps, keep);
    }
    let (mapped, lengths) = match mapped {
        MappedSteps::All(mapped) => (mapped.into_dispatch(), None),
        MappedSteps::Packed(mapped, lengths) => (mapped.into_dispatch(), Some(lengths)),
    };
    let schedule = Schedule { cell, steps, constant: false, all: keep == Keep::All, lengths };
    let cell_state = cell_state_or_placeholder(&state);
    let output = Dispatch::recurrent_mapped(
        mapped,
        state.hidden.into_dispatch(),
        cell_state.into_dispatch(),
        maps.row_map.into_dispatch(),
        maps.col_map.into_dispatch(),
        maps.bias.into_dispatch(),
        schedule.clone(),
    );
    take_apart(Tensor::from_dispatch(output), schedule)
}

/// The zero state, on the device and of the data type of the maps.
fn zero_state(cell: Cell, shape: [usize; 3], like: &Tensor<3>) -> MatState {
    let zeros = || Tensor::zeros(shape, (&like.device(), like.dtype()));
    MatState { hidden: zeros(), cell_state: cell.has_cell_state().then(zeros) }
}

/// Cells without a cell state are given the hidden state in its place, which they ignore.
fn cell_state_or_placeholder(state: &MatState) -> Tensor<3> {
    state.cell_state.clone().unwrap_or_else(|| state.hidden.clone().detach())
}

/// The kernels' output as hidden states and final state.
fn take_apart(output: Tensor<4>, schedule: Schedule) -> (Tensor<4>, MatState) {
    let kept = if schedule.all { schedule.steps } else { 1 };
    let pick = |at: usize| output.clone().narrow(1, at, 1).squeeze_dim::<3>(1);
    let last = match schedule.lengths.filter(|_| schedule.all) {
        None => pick(kept - 1),
        Some(lengths) => {
            let [batch, outputs, rows, cols] = output.dims();
            let all = output.clone().reshape([batch * outputs, rows * cols]);
            lengths.last(all, outputs).reshape([batch, rows, cols])
        }
    };
    let has_cell_state = schedule.cell.has_cell_state();
    let state = MatState { hidden: last, cell_state: has_cell_state.then(|| pick(kept)) };
    let hidden = if has_cell_state { output.narrow(1, 0, kept) } else { output };
    (hidden, state)
}

/// Panics unless all shapes fit; returns that of the state.
fn check(cell: Cell, steps: &Steps, state: Option<&MatState>, maps: &RecurrentMaps) -> [usize; 3] {
    let (batch, time, rows_in, cols_in, dtype) = match steps {
        Steps::Sequence(input) => {
            let [batch, time, rows, cols] = input.values().dims();
            (batch, time, rows, cols, input.values().dtype())
        }
        Steps::Constant(input, time) => {
            let [batch, rows, cols] = input.dims();
            (batch, *time, rows, cols, input.dtype())
        }
    };
    check_steps(batch, time);
    let [gates, rows, cols] = maps.bias.dims();
    assert!(gates == cell.gates(), "recurrent: {cell:?} takes {} stacked maps, got {gates}", cell.gates());
    check_map("input row map", &maps.input_row_map, [gates, rows_in, rows], &maps.bias);
    check_map("input column map", &maps.input_col_map, [gates, cols_in, cols], &maps.bias);
    check_state_maps(&maps.state_row_map, &maps.state_col_map, &maps.bias);
    check_dtypes(("input", dtype), state, &maps.bias);
    check_state(cell, state, [batch, rows, cols]);
    [batch, rows, cols]
}

fn check_steps(batch: usize, time: usize) {
    assert!(batch > 0, "recurrent: the input has an empty batch");
    assert!(time > 0, "recurrent: the input has no time step");
}

fn check_map(name: &str, map: &Tensor<3>, want: [usize; 3], bias: &Tensor<3>) {
    let got = map.dims();
    assert!(got == want, "recurrent: the {name} is {got:?}, expected {want:?}");
    check_dtypes((name, map.dtype()), None, bias);
}

fn check_state_maps(row_map: &Tensor<3>, col_map: &Tensor<3>, bias: &Tensor<3>) {
    let [gates, rows, cols] = bias.dims();
    check_map("state row map", row_map, [gates, rows, rows], bias);
    check_map("state column map", col_map, [gates, cols, cols], bias);
}

fn check_dtypes(first: (&str, DType), state: Option<&MatState>, bias: &Tensor<3>) {
    let hidden = state.map(|state| ("hidden state", state.hidden.dtype()));
    let cell_state = state.and_then(|state| Some(("cell state", state.cell_state.as_ref()?.dtype())));
    for (name, got) in [first].into_iter().chain(hidden).chain(cell_state) {
        let want = bias.dtype();
        assert!(got == want, "recurrent: the {name} holds {got:?}, the bias {want:?}");
    }
}

fn check_state(cell: Cell, state: Option<&MatState>, want: [usize; 3]) {
    let Some(state) = state else { return };
    let got = state.hidden.dims();
    assert!(got == want, "recurrent: the hidden state is {got:?}, expected {want:?}");
    assert!(
        state.cell_state.is_some() == cell.has_cell_state(),
        "recurrent: the state of an LSTM has a cell state, other states have none"
    );
    if let Some(cell_state) = &state.cell_state {
        let got = cell_state.dims();
        assert!(got == want, "recurrent: the cell state is {got:?}, expected {want:?}");
    }
}
