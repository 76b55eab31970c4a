//! Recurrences for GPUs: few launches per step, with a backward pass of their own.
//!
//! A GPU waits for launches more than for numbers, so
//!
//! - the input products of all steps and gates are two products,
//! - the state products of all gates of a step are two products; a GRU has two more for its candidate, and a state of one
//!   column needs one instead of two,
//! - the gradients of the maps are products over all steps at once, after the last step,
//! - nothing is read back from the device.
//!
//! The arguments are those of the functions of the same name in [`ops`](super), which check them. Any backend can run this;
//! the tests hold it against [`composed`](super::composed) in `f64`.

mod array;
mod cell;

use std::sync::Arc;

#[cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu"))]
use burn::backend::Cube;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{
    Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension, tensor::FloatTensor,
};
use burn::tensor::Tensor;

use self::array::{Array, ended};
use self::cell::{Kept, Maps, State, step, step_backward};
use super::{Cell, Keep, Lengths, MappedSteps, MatState, RecurrentMaps, StateMaps, Steps};

/// See [`recurrent`](super::recurrent()); here the initial state is required.
pub fn recurrent(
    cell: Cell,
    steps: Steps,
    state: MatState,
    maps: RecurrentMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let (input, time, lengths) = steps.into_parts();
    let [batch, different, rows_in, cols_in] = input.dims();
    let [gates, rows, cols] = maps.bias.dims();
    let length = different * batch;
    let flat = input.permute([2, 1, 0, 3]).reshape([1, rows_in * length, cols_in]);
    let right = flat.matmul(maps.input_col_map).reshape([gates, rows_in, length * cols]);
    let mapped = maps.input_row_map.swap_dims(1, 2).matmul(right);
    let mapped = mapped.reshape([gates, rows, different, batch, cols]);
    let maps = StateMaps { row_map: maps.state_row_map, col_map: maps.state_col_map, bias: maps.bias };
    run(cell, mapped, time, lengths, state, maps, keep)
}

/// See [`recurrent_mapped`](super::recurrent_mapped()); here the initial state is required.
pub fn recurrent_mapped(
    cell: Cell,
    mapped: MappedSteps,
    state: MatState,
    maps: StateMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let (mapped, lengths) = mapped.into_parts();
    let time = mapped.dims()[2];
    run(cell, mapped.permute([0, 3, 2, 1, 4]), time, lengths, state, maps, keep)
}

/// All steps, from the mapped input `[gates, rows, time, batch, cols]`.
fn run(
    cell: Cell,
    mapped: Tensor<5>,
    time: usize,
    lengths: Option<Lengths>,
    state: MatState,
    maps: StateMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let [gates, rows, _, batch, cols] = mapped.dims();
    let mapped = mapped + maps.bias.reshape([gates, rows, 1, 1, cols]);
    let mapped = mapped.expand([gates, rows, time, batch, cols]);
    let one_column = cols == 1;
    // Of one column, V is a number for each gate, and belongs to U as well.
    let row_map = if one_column { maps.row_map * maps.col_map.clone() } else { maps.row_map };
    let hidden = state.hidden.swap_dims(0, 1);
    let cell_state = match state.cell_state {
        Some(cell_state) => cell_state.swap_dims(0, 1),
        None => hidden.clone().detach(),
    };
    let schedule = Schedule { cell, time, all: keep == Keep::All, one_column, lengths: lengths.clone() };
    let output = Tensor::<4>::from_dispatch(Dispatch::steps(
        mapped.into_dispatch(),
        hidden.into_dispatch(),
        cell_state.into_dispatch(),
        row_map.into_dispatch(),
        maps.col_map.into_dispatch(),
        schedule.clone(),
    ));
    let kept = schedule.kept();
    let pick = |at: usize| output.clone().narrow(1, at, 1).squeeze_dim::<3>(1).swap_dims(0, 1);
    let last = MatState { hidden: pick(kept - 1), cell_state: cell.has_cell_state().then(|| pick(kept)) };
    let hidden = output.narrow(1, 0, kept).permute([2, 1, 0, 3]);
    let hidden = match lengths.filter(|_| keep == Keep::All) {
        None => hidden,
        Some(lengths) => {
            let padding = lengths.padding(&hidden.device()).reshape([batch, time, 1, 1]);
            hidden.mask_fill(padding.expand([batch, time, rows, cols]), 0)
        }
    };
    (hidden, last)
}

/// How a recurrence runs, apart from its tensors.
#[derive(Clone, Debug)]
pub struct Schedule {
    cell: Cell,
    time: usize,
    /// Hidden states of all steps, or of the last.
    all: bool,
    /// The states have one column, and U holds what V would do.
    one_column: bool,
    lengths: Option<Lengths>,
}

impl Schedule {
    /// The number of hidden states that are returned.
    fn kept(&self) -> usize {
        if self.all { self.time } else { 1 }
    }
}

/// The recurrence as one operation.
#[backend_extension(
    Flex,
    Cube: cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu")),
    NdArray: cfg(feature = "ndarray"),
    LibTorch: cfg(feature = "tch"),
    Autodiff
)]
pub trait StepOps: Backend {
    /// From UᵀXV + B `[gates, rows, time, batch, cols]`, H and C `[rows, batch, cols]`, U and V: H of all steps (or the last),
    /// then C of an LSTM, `[rows, outputs, batch, cols]`. A sequence that has ended keeps its state.
    fn steps(
        mapped: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        cell_state: FloatTensor<Self>,
        row_map: FloatTensor<Self>,
        col_map: FloatTensor<Self>,
        schedule: Schedule,
    ) -> FloatTensor<Self>;
}

macro_rules! untracked {
    ($($(#[$cfg:meta])? $backend:ty),*) => {$(
        $(#[$cfg])?
        impl StepOps for $backend {
            fn steps(
                mapped: FloatTensor<Self>,
                hidden: FloatTensor<Self>,
                cell_state: FloatTensor<Self>,
                row_map: FloatTensor<Self>,
                col_map: FloatTensor<Self>,
                schedule: Schedule,
            ) -> FloatTensor<Self> {
                forward::<Self>(&[mapped, hidden, cell_state, row_map, col_map].map(Array), &schedule, false).0.0
            }
        }
    )*};
}

untracked!(
    Flex,
    #[cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu"))]
    Cube,
    #[cfg(feature = "ndarray")]
    burn::backend::NdArray,
    #[cfg(feature = "tch")]
    burn::backend::LibTorch
);

impl<B: Backend, C: CheckpointStrategy> StepOps for Autodiff<B, C> {
    fn steps(
        mapped: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        cell_state: FloatTensor<Self>,
        row_map: FloatTensor<Self>,
        col_map: FloatTensor<Self>,
        schedule: Schedule,
    ) -> FloatTensor<Self> {
        let tracked = [mapped, hidden, cell_state, row_map, col_map];
        let nodes = tracked.each_ref().map(FloatTensor::<Self>::node);
        let inputs = tracked.map(|tensor| Array::<B>(tensor.into_primitive()));
        match StepsBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (output, history) = forward(&inputs, &schedule, true);
                prep.finish(Arc::new((inputs, schedule, history)), output.0)
            }
            OpsKind::UnTracked(prep) => prep.finish(forward(&inputs, &schedule, false).0.0),
        }
    }
}

#[derive(Debug)]
struct StepsBackward;

impl<B: Backend> Backward<B, 5> for StepsBackward {
    type State = Arc<([Array<B>; 5], Schedule, History<B>)>;

    fn backward(self, ops: Ops<Self::State, 5>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = Array(grads.consume::<B>(&ops.node));
        let (inputs, schedule, history) = &*ops.state;
        let needs_maps = ops.parents[3].is_some() || ops.parents[4].is_some();
        let gradients = backward(inputs, schedule, history, gradient, needs_maps);
        for (parent, gradient) in ops.parents.iter().zip(gradients) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<B>(parent.id, gradient.0);
            }
        }
    }
}

/// What the forward pass keeps for the backward pass.
#[derive(Debug)]
struct History<B: Backend> {
    steps: Vec<Kept<B>>,
    /// H after every step: `[rows, time, batch, cols]`. `None` if no backward pass follows.
    hidden: Option<Array<B>>,
}

fn forward<B: Backend>(
    [mapped, hidden, cell_state, row_map, col_map]: &[Array<B>; 5],
    schedule: &Schedule,
    keep: bool,
) -> (Array<B>, History<B>) {
    let &Schedule { cell, time, all, one_column, .. } = schedule;
    let maps = Maps::of(cell, row_map, (!one_column).then_some(col_map));
    let [gates, rows, _, batch, cols] = mapped.dims();
    let masks =
        schedule.lengths.as_ref().map(|lengths| ended::<B>(lengths, [rows, batch, cols], &hidden.0.device()));
    let has_cell_state = cell.has_cell_state();
    let mut state = State { hidden: hidden.clone(), cell_state: has_cell_state.then(|| cell_state.clone()) };
    let (mut steps, mut hiddens) = (Vec::new(), Vec::new());
    for t in 0..time {
        let mapped = mapped.clone().narrow_to(t).reshape([gates, rows, batch, cols]);
        let (mut next, kept) = step(cell, &maps, mapped, state.clone());
        if let Some(masks) = &masks {
            let [ended, _] = &masks[t];
            next.hidden = next.hidden.or(ended, state.hidden);
            let cell_states = next.cell_state.zip(state.cell_state);
            next.cell_state = cell_states.map(|(next, before)| next.or(ended, before));
        }
        state = next;
        if keep {
            steps.push(kept);
        }
        if keep || all {
            hiddens.push(state.hidden.clone().reshape([rows, 1, batch, cols]));
        }
    }
    let last = |array: Array<B>| array.reshape([rows, 1, batch, cols]);
    let hiddens = (!hiddens.is_empty()).then(|| Array::join(hiddens, 1));
    let mut output = match (&hiddens, all) {
        (Some(hiddens), true) => vec![hiddens.clone()],
        _ => vec![last(state.hidden)],
    };
    output.extend(state.cell_state.map(last));
    (Array::join(output, 1), History { steps, hidden: hiddens })
}

/// The gradients of all inputs; those of the maps only if they are needed.
fn backward<B: Backend>(
    [mapped, hidden, _, row_map, col_map]: &[Array<B>; 5],
    schedule: &Schedule,
    history: &History<B>,
    gradient: Array<B>,
    needs_maps: bool,
) -> [Option<Array<B>>; 5] {
    let &Schedule { cell, time, all, one_column, .. } = schedule;
    let maps = Maps::of(cell, row_map, (!one_column).then_some(col_map));
    let [gates, rows, _, batch, cols] = mapped.dims();
    let masks =
        schedule.lengths.as_ref().map(|lengths| ended::<B>(lengths, [rows, batch, cols], &hidden.0.device()));
    let of_output = |at: usize| gradient.clone().narrow(1, at..at + 1).reshape([rows, batch, cols]);
    let mut state = State {
        hidden: of_output(schedule.kept() - 1),
        cell_state: cell.has_cell_state().then(|| of_output(schedule.kept())),
    };
    let mut given = Vec::with_capacity(time);
    for t in (0..time).rev() {
        if all && t + 1 < time {
            state.hidden = state.hidden + of_output(t);
        }
        let (mut after, mut carried) = (state, None);
        if let Some(masks) = &masks {
            // What a sequence that has ended is given goes past the step.
            let [ended, running] = &masks[t];
            let past = State {
                hidden: after.hidden.clone().or_zero(running),
                cell_state: after.cell_state.clone().map(|gradient| gradient.or_zero(running)),
            };
            carried = Some(past);
            after.hidden = after.hidden.or_zero(ended);
            after.cell_state = after.cell_state.map(|gradient| gradient.or_zero(ended));
        }
        let (mut before, of_gates) = step_backward(cell, &maps, &history.steps[t], after);
        if let Some(carried) = carried {
            before.hidden = before.hidden + carried.hidden;
            let cell_states = before.cell_state.zip(carried.cell_state);
            before.cell_state = cell_states.map(|(before, carried)| before + carried);
        }
        state = before;
        given.push(of_gates.reshape([gates, rows, 1, batch, cols]));
    }
    given.reverse();
    let given = Array::join(given, 2);
    let (row, col) = match needs_maps {
        true => map_gradients(cell, &maps, hidden, history, &given, [rows, time, batch, cols]),
        false => (None, None),
    };
    [Some(given), Some(state.hidden), state.cell_state, row, col]
}

/// The gradients of U and V.
fn map_gradients<B: Backend>(
    cell: Cell,
    maps: &[Maps<B>],
    hidden: &Array<B>,
    history: &History<B>,
    given: &Array<B>,
    [rows, time, batch, cols]: [usize; 4],
) -> (Option<Array<B>>, Option<Array<B>>) {
    let mut before = vec![hidden.clone().reshape([rows, 1, batch, cols])];
    if let Some(hiddens) = history.hidden.clone().filter(|_| time > 1) {
        before.push(hiddens.narrow(1, 0..time - 1));
    }
    let before = Array::join(before, 1);
    let groups = match cell {
        Cell::Gru(_) => {
            let reset = history.steps.iter().flat_map(|kept| kept.reset.clone());
            let reset = reset.map(|reset| reset.reshape([rows, 1, batch, cols])).collect();
            let [gates, candidate] = [0..2, 2..3].map(|gates| given.clone().narrow(0, gates));
            vec![maps[0].gradients(before, gates), maps[1].gradients(Array::join(reset, 1), candidate)]
        }
        _ => vec![maps[0].gradients(before, given.clone())],
    };
    let (row, col): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let col: Option<Vec<_>> = col.into_iter().collect();
    (Some(Array::join(row, 0)), col.map(|col| Array::join(col, 0)))
}

impl<B: Backend> Array<B> {
    /// What all gates are given at step t.
    fn narrow_to(self, t: usize) -> Self {
        self.narrow(2, t..t + 1)
    }
}
