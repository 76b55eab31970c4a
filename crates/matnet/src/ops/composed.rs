//! Every operation composed of tensor operations: slow, simple, and available on every backend.
//!
//! The arguments are those of the functions of the same name in [`ops`](super), which check them.

mod batch_norm;
mod graph;
mod memory;

use burn::tensor::Tensor;

use super::{
    Activation, Cell, Keep, Lengths, MappedSteps, Mat2Maps, MatState, RecurrentMaps, StateMaps, Steps,
};

pub use batch_norm::{batch_norm, batch_norm_train};
pub use graph::{attention_map, edge_attention, highway, slot_map, sparse_highway, sparse_product};
pub use memory::memory_step;

/// See [`product`](super::product()).
pub fn product(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    a.matmul(b)
}

/// See [`batched_product`](super::batched_product).
pub fn batched_product(a: Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    a.matmul(b)
}

/// See [`linear`](super::linear).
pub fn linear(
    input: Tensor<2>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: Activation,
) -> Tensor<2> {
    activation.of_sum(product(input, weight), bias)
}

/// Uᵀ X V for every X of the batch.
pub fn two_sided(input: Tensor<3>, row_map: Tensor<2>, col_map: Tensor<2>) -> Tensor<3> {
    let [batch, rows, cols] = input.dims();
    let cols_out = col_map.dims()[1];
    let right = input.reshape([batch * rows, cols]).matmul(col_map).reshape([batch, rows, cols_out]);
    row_map.transpose().unsqueeze::<3>().matmul(right)
}

/// See [`mat1`](super::mat1()).
pub fn mat1(
    input: Tensor<3>,
    row_map: Tensor<2>,
    col_map: Tensor<2>,
    bias: Option<Tensor<2>>,
    activation: Activation,
) -> Tensor<3> {
    activation.of_sum(two_sided(input, row_map, col_map), bias)
}

/// See [`mat2`](super::mat2()).
pub fn mat2(p: Tensor<3>, q: Tensor<3>, maps: Mat2Maps, activation: Activation) -> Tensor<3> {
    let sum = two_sided(p, maps.p_row_map, maps.p_col_map) + two_sided(q, maps.q_row_map, maps.q_col_map);
    activation.of_sum(sum, maps.bias)
}

/// See [`recurrent`](super::recurrent()); here the initial state is required. The input maps of all steps are
/// computed together.
pub fn recurrent(
    cell: Cell,
    steps: Steps,
    state: MatState,
    maps: RecurrentMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let (input, time, lengths) = steps.into_parts();
    let [batch, different, rows, cols] = input.dims();
    let [gates, rows_out, cols_out] = maps.bias.dims();
    let flat = input.reshape([batch * different, rows, cols]);
    let mapped = (0..gates)
        .map(|gate| {
            two_sided(flat.clone(), pick(&maps.input_row_map, gate), pick(&maps.input_col_map, gate))
                .reshape([1, batch, different, rows_out, cols_out])
        })
        .collect();
    let mapped = Tensor::cat(mapped, 0).expand([gates, batch, time, rows_out, cols_out]);
    let maps = StateMaps { row_map: maps.state_row_map, col_map: maps.state_col_map, bias: maps.bias };
    run_steps(cell, mapped, lengths.as_ref(), state, &maps, keep)
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
    run_steps(cell, mapped, lengths.as_ref(), state, &maps, keep)
}

/// All steps, one after the other. A sequence that has ended keeps its state.
fn run_steps(
    cell: Cell,
    mapped: Tensor<5>,
    lengths: Option<&Lengths>,
    state: MatState,
    maps: &StateMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let [gates, batch, time, rows, cols] = mapped.dims();
    let padding = lengths.map(|lengths| lengths.padding(&mapped.device()));
    let mut state = state;
    let mut kept = Vec::new();
    for t in 0..time {
        let mapped = mapped.clone().narrow(2, t, 1).reshape([gates, batch, rows, cols]);
        let next = step(cell, mapped, state.clone(), maps);
        let ended = padding.as_ref().map(|padding| {
            let ended = padding.clone().narrow(1, t, 1).reshape([batch, 1, 1]);
            ended.expand([batch, rows, cols])
        });
        state = match &ended {
            None => next,
            Some(ended) => MatState {
                hidden: next.hidden.mask_where(ended.clone(), state.hidden),
                cell_state: next
                    .cell_state
                    .zip(state.cell_state)
                    .map(|(next, before)| next.mask_where(ended.clone(), before)),
            },
        };
        if keep == Keep::All {
            let hidden = state.hidden.clone();
            kept.push(match ended {
                None => hidden,
                Some(ended) => hidden.mask_fill(ended, 0),
            });
        }
    }
    if keep == Keep::Last {
        kept.push(state.hidden.clone());
    }
    (Tensor::stack(kept, 1), state)
}

/// One step of a recurrence, (input, state) → state, from the mapped input of every gate, `[gates, batch, rows, cols]`.
fn step(cell: Cell, mapped: Tensor<4>, state: MatState, maps: &StateMaps) -> MatState {
    let gate = |index: usize, hidden: Tensor<3>, activation: Activation| {
        let from_input = mapped.clone().narrow(0, index, 1).squeeze_dim::<3>(0);
        let from_state = two_sided(hidden, pick(&maps.row_map, index), pick(&maps.col_map, index));
        activation.forward(from_input + from_state + pick(&maps.bias, index).unsqueeze())
    };
    let MatState { hidden, cell_state } = state;
    match cell {
        Cell::Rnn(f) => MatState { hidden: gate(0, hidden, f), cell_state: None },
        Cell::Gru(f) => {
            let update = gate(0, hidden.clone(), Activation::Sigmoid);
            let reset = gate(1, hidden.clone(), Activation::Sigmoid);
            let candidate = gate(2, reset * hidden.clone(), f);
            MatState { hidden: hidden.clone() + update * (candidate - hidden), cell_state: None }
        }
        Cell::Lstm => {
            let [into, forget, out] = [0, 1, 2].map(|g| gate(g, hidden.clone(), Activation::Sigmoid));
            let candidate = gate(3, hidden, Activation::Tanh);
            let written = into * candidate;
            let cell_state = match cell_state {
                Some(cell_state) => forget * cell_state + written,
                None => written,
            };
            MatState { hidden: out * cell_state.clone().tanh(), cell_state: Some(cell_state) }
        }
    }
}

/// One of several stacked matrices.
fn pick(stacked: &Tensor<3>, index: usize) -> Tensor<2> {
    stacked.clone().narrow(0, index, 1).squeeze_dim::<2>(0)
}
