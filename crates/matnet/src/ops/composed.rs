//! Every operation written with ordinary tensor operations: slow, obvious, and at home on every backend.
//!
//! Arguments are those of the functions of the same name in [`ops`](super), which check them.

use burn::tensor::Tensor;

use super::{Activation, Cell, Keep, Mat2Maps, MatState, RecurrentMaps, Steps};

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
    let mapped = two_sided(input, row_map, col_map);
    activation.forward(match bias {
        Some(bias) => mapped + bias.unsqueeze(),
        None => mapped,
    })
}

/// See [`mat2`](super::mat2()).
pub fn mat2(p: Tensor<3>, q: Tensor<3>, maps: Mat2Maps, activation: Activation) -> Tensor<3> {
    let sum = two_sided(p, maps.p_row_map, maps.p_col_map) + two_sided(q, maps.q_row_map, maps.q_col_map);
    activation.forward(match maps.bias {
        Some(bias) => sum + bias.unsqueeze(),
        None => sum,
    })
}

/// See [`recurrent`](super::recurrent()); here the first state is always given.
pub fn recurrent(
    cell: Cell,
    steps: Steps,
    state: MatState,
    maps: RecurrentMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let time = match &steps {
        Steps::Sequence(input) => input.dims()[1],
        Steps::Constant(_, time) => *time,
    };
    let mut state = state;
    let mut kept = Vec::new();
    for t in 0..time {
        let input = match &steps {
            Steps::Sequence(input) => input.clone().narrow(1, t, 1).squeeze_dim::<3>(1),
            Steps::Constant(input, _) => input.clone(),
        };
        state = step(cell, input, state, &maps);
        if keep == Keep::All || t + 1 == time {
            kept.push(state.hidden.clone());
        }
    }
    (Tensor::stack(kept, 1), state)
}

/// One step of a recurrence: (input, state) → state.
pub fn step(cell: Cell, input: Tensor<3>, state: MatState, maps: &RecurrentMaps) -> MatState {
    let gate = |index: usize, hidden: Tensor<3>, activation: Activation| {
        mat2(input.clone(), hidden, gate_maps(maps, index), activation)
    };
    let MatState { hidden, memory } = state;
    match (cell, memory) {
        (Cell::Rnn(f), _) => MatState { hidden: gate(0, hidden, f), memory: None },
        (Cell::Gru(f), _) => {
            let update = gate(0, hidden.clone(), Activation::Sigmoid);
            let reset = gate(1, hidden.clone(), Activation::Sigmoid);
            let candidate = gate(2, reset * hidden.clone(), f);
            MatState { hidden: hidden.clone() + update * (candidate - hidden), memory: None }
        }
        (Cell::Lstm, memory) => {
            let [into, forget, out] = [0, 1, 2].map(|g| gate(g, hidden.clone(), Activation::Sigmoid));
            let candidate = gate(3, hidden, Activation::Tanh);
            let written = into * candidate;
            let memory = match memory {
                Some(memory) => forget * memory + written,
                None => written,
            };
            MatState { hidden: out * memory.clone().tanh(), memory: Some(memory) }
        }
    }
}

/// The maps of one gate.
fn gate_maps(maps: &RecurrentMaps, index: usize) -> Mat2Maps {
    let pick = |stacked: &Tensor<3>| stacked.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
    Mat2Maps {
        p_row_map: pick(&maps.input_row_map),
        p_col_map: pick(&maps.input_col_map),
        q_row_map: pick(&maps.state_row_map),
        q_col_map: pick(&maps.state_col_map),
        bias: Some(pick(&maps.bias)),
    }
}
