//! The operations.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use matnet::graph::Sparse;
use matnet::ops::{
    self, Activation, Cell, Keep, Lengths, MappedSteps, Mat1Maps, Mat2Maps, MatState, MemorySize,
    MemoryState, NormMaps, NormStatistics, RecurrentMaps, Sequences, StateMaps, Steps,
};

use super::same_function;

const ACTIVATIONS: [Activation; 4] =
    [Activation::Identity, Activation::Relu, Activation::Sigmoid, Activation::Tanh];
const CELLS: [Cell; 5] = [
    Cell::Lstm,
    Cell::Rnn(Activation::Tanh),
    Cell::Gru(Activation::Tanh),
    Cell::Rnn(Activation::Relu),
    Cell::Gru(Activation::Sigmoid),
];

fn shaped<const D: usize>(tensors: &[Tensor<1>], shapes: &[Vec<usize>], at: usize) -> Tensor<D> {
    let shape: [usize; D] = shapes[at].clone().try_into().expect("as many sides");
    tensors[at].clone().reshape(shape)
}

#[test]
fn products() {
    let shapes = [vec![7, 6], vec![6, 5], vec![5, 6], vec![5]];
    same_function("product", &shapes[..2], |t| ops::product(shaped(t, &shapes, 0), shaped(t, &shapes, 1)));
    let turned = [vec![7, 6], vec![5, 6], vec![5]];
    same_function("product_transposed", &turned[..2], |t| {
        ops::product_transposed(shaped(t, &turned, 0), shaped(t, &turned, 1))
    });
    for f in ACTIVATIONS {
        let shapes = [vec![7, 6], vec![6, 5], vec![5]];
        same_function(&format!("linear {f:?}"), &shapes, |t| {
            ops::linear(shaped(t, &shapes, 0), shaped(t, &shapes, 1), Some(t[2].clone()), f)
        });
        same_function(&format!("linear_transposed {f:?}"), &turned, |t| {
            ops::linear_transposed(shaped(t, &turned, 0), shaped(t, &turned, 1), Some(t[2].clone()), f)
        });
    }
    for [a, b] in [[3, 3], [1, 3], [3, 1]] {
        let shapes = [vec![a, 4, 6], vec![b, 6, 5]];
        same_function(&format!("batched_product {a} {b}"), &shapes, |t| {
            ops::batched_product(shaped(t, &shapes, 0), shaped(t, &shapes, 1))
        });
        let shapes = [vec![a, 4, 6], vec![b, 5, 6]];
        same_function(&format!("batched_product_transposed {a} {b}"), &shapes, |t| {
            ops::batched_product_transposed(shaped(t, &shapes, 0), shaped(t, &shapes, 1))
        });
    }
}

#[test]
fn batch_norms() {
    for f in ACTIVATIONS {
        let shapes = [vec![9, 6, 4], vec![6, 4], vec![6, 4]];
        let maps = |t: &[Tensor<1>]| NormMaps {
            scale: shaped(t, &shapes, 1),
            shift: shaped(t, &shapes, 2),
            epsilon: 0.1,
        };
        same_function(&format!("batch_norm_train {f:?}"), &shapes, |t| {
            ops::batch_norm_train(shaped(t, &shapes, 0), maps(t), f).0
        });
        same_function(&format!("batch_norm {f:?}"), &shapes, |t| {
            let [mean, variance] = [1, 2].map(|at| shaped::<2>(t, &shapes, at).detach());
            let statistics = NormStatistics { mean, variance: variance.abs() };
            ops::batch_norm(shaped(t, &shapes, 0), maps(t), statistics, f)
        });
    }
}

#[test]
fn maps() {
    for f in ACTIVATIONS {
        let shapes = [vec![9, 6, 4], vec![6, 5], vec![4, 7], vec![5, 7]];
        same_function(&format!("mat1 {f:?}"), &shapes, |t| {
            let bias = Some(shaped(t, &shapes, 3));
            ops::mat1(shaped(t, &shapes, 0), shaped(t, &shapes, 1), shaped(t, &shapes, 2), bias, f)
        });
        let shapes =
            [vec![9, 6, 4], vec![6, 5], vec![4, 7], vec![9, 3, 2], vec![3, 5], vec![2, 7], vec![5, 7]];
        same_function(&format!("mat2 {f:?}"), &shapes, |t| {
            let map = |at| shaped::<2>(t, &shapes, at);
            let maps = Mat2Maps {
                p_row_map: map(1),
                p_col_map: map(2),
                q_row_map: map(4),
                q_col_map: map(5),
                bias: Some(map(6)),
            };
            ops::mat2(shaped(t, &shapes, 0), shaped(t, &shapes, 3), maps, f)
        });
        let shapes = [vec![9, 6, 4], vec![6, 6], vec![4, 4], vec![6, 4]];
        same_function(&format!("mat1_chain {f:?}"), &shapes, |t| {
            let maps = |_| Mat1Maps {
                row_map: shaped(t, &shapes, 1),
                col_map: shaped(t, &shapes, 2),
                bias: Some(shaped(t, &shapes, 3)),
                activation: f,
            };
            ops::mat1_chain(shaped(t, &shapes, 0), (0..3).map(maps).collect())
        });
    }
}

/// Hidden states, final H and C in one tensor.
fn whole((hidden, last): (Tensor<4>, MatState)) -> Tensor<4> {
    let mut all = vec![hidden, last.hidden.unsqueeze_dim(1)];
    all.extend(last.cell_state.map(|cell_state| cell_state.unsqueeze_dim(1)));
    Tensor::cat(all, 1)
}

#[test]
fn recurrences() {
    let (batch, time, lengths) = (4, 6, [6, 1, 3, 5]);
    for cell in CELLS {
        for [rows, cols] in [[5, 3], [7, 1]] {
            for keep in [Keep::All, Keep::Last] {
                for kind in ["sequence", "padded", "constant"] {
                    let g = cell.gates();
                    let input = if kind == "constant" { vec![batch, 6, 4] } else { vec![batch, time, 6, 4] };
                    let state = vec![batch, rows, cols];
                    let shapes = [
                        input,
                        state.clone(),
                        state,
                        vec![g, 6, rows],
                        vec![g, 4, cols],
                        vec![g, rows, rows],
                        vec![g, cols, cols],
                        vec![g, rows, cols],
                    ];
                    same_function(
                        &format!("recurrent {cell:?} {rows}×{cols} {keep:?} {kind}"),
                        &shapes,
                        |t| {
                            let cube = |at| shaped::<3>(t, &shapes, at);
                            let steps = match kind {
                                "constant" => Steps::Constant(cube(0), time),
                                "padded" => Sequences::padded(shaped(t, &shapes, 0), lengths).into(),
                                _ => shaped::<4>(t, &shapes, 0).into(),
                            };
                            let cell_state = cell.has_cell_state().then(|| cube(2));
                            let maps = RecurrentMaps {
                                input_row_map: cube(3),
                                input_col_map: cube(4),
                                state_row_map: cube(5),
                                state_col_map: cube(6),
                                bias: cube(7),
                            };
                            let state = MatState { hidden: cube(1), cell_state };
                            whole(ops::recurrent(cell, steps, Some(state), maps, keep))
                        },
                    );
                }
            }
        }
    }
}

#[test]
fn recurrences_over_mapped_inputs() {
    let (batch, time, lengths) = (4, 6, [6, 1, 3, 5]);
    for cell in CELLS {
        for packed in [false, true] {
            let (g, rows, cols) = (cell.gates(), 5, 3);
            let input = match packed {
                true => vec![g, lengths.iter().sum(), rows, cols],
                false => vec![g, batch, time, rows, cols],
            };
            let state = vec![batch, rows, cols];
            let maps = [vec![g, rows, rows], vec![g, cols, cols], vec![g, rows, cols]];
            let shapes = [vec![input, state.clone(), state], maps.to_vec()].concat();
            same_function(&format!("recurrent_mapped {cell:?} packed {packed}"), &shapes, |t| {
                let cube = |at| shaped::<3>(t, &shapes, at);
                let mapped = match packed {
                    true => MappedSteps::Packed(shaped(t, &shapes, 0), Lengths::new(lengths, time)),
                    false => MappedSteps::All(shaped(t, &shapes, 0)),
                };
                let state = MatState { hidden: cube(1), cell_state: cell.has_cell_state().then(|| cube(2)) };
                let maps = StateMaps { row_map: cube(3), col_map: cube(4), bias: cube(5) };
                whole(ops::recurrent_mapped(cell, mapped, Some(state), maps, Keep::All))
            });
        }
    }
}

/// Rows with no, one and several entries, one of them twice.
fn matrix(weights: bool) -> Sparse {
    let columns = vec![1, 2, 0, 0, 3, 4, 4];
    let weights = weights.then(|| (0..columns.len()).map(|at| 0.5 + at as f32).collect());
    Sparse::new(5, vec![0, 2, 3, 3, 6, 7], columns, weights).expect("a matrix")
}

#[test]
fn graphs() {
    for weights in [false, true] {
        same_function(&format!("sparse_product, weights {weights}"), &[vec![5, 3]], |t| {
            ops::sparse_product(&matrix(weights), t[0].clone().reshape([5, 3]))
        });
    }
    let shapes = [vec![5, 2], vec![6, 4]];
    same_function("slot_map", &shapes, |t| {
        ops::slot_map(&matrix(false), shaped(t, &shapes, 0), shaped(t, &shapes, 1))
    });
    let shapes = [vec![5, 3, 2], vec![3, 2], vec![5, 3]];
    same_function("edge_attention", &shapes, |t| {
        let [bias, keys] = [1, 2].map(|at| shaped::<2>(t, &shapes, at));
        ops::edge_attention(&matrix(false), shaped(t, &shapes, 0), bias, keys)
    });
    let shapes = [vec![5, 3], vec![3, 6], vec![3, 2], vec![6, 4]];
    same_function("attention_map", &shapes, |t| {
        let [state, score_map, bias, out_map] = [0, 1, 2, 3].map(|at| shaped::<2>(t, &shapes, at));
        ops::attention_map(&matrix(false), state, score_map, bias, out_map)
    });
    for f in ACTIVATIONS {
        let shapes = [vec![5, 6], vec![5, 6], vec![2, 3], vec![5, 3]];
        same_function(&format!("highway {f:?}"), &shapes, |t| {
            let [own, aggregated, bias, state] = [0, 1, 2, 3].map(|at| shaped::<2>(t, &shapes, at));
            ops::highway(own, aggregated, bias, state, f)
        });
        let shapes = [vec![5, 3], vec![2, 3, 3], vec![2, 6, 3], vec![2, 3], vec![5, 3]];
        for count in [4, 5] {
            same_function(&format!("sparse_highway {f:?} {count}"), &shapes[..count], |t| {
                let maps = ops::HighwayMaps {
                    own_map: shaped(t, &shapes, 1),
                    neighbor_map: shaped(t, &shapes, 2),
                    bias: shaped(t, &shapes, 3),
                    activation: f,
                };
                let state = (count > 4).then(|| shaped(t, &shapes, 4));
                ops::sparse_highway(&[matrix(true), matrix(false)], shaped(t, &shapes, 0), state, maps)
            });
        }
    }
}

#[test]
fn memory() {
    for (reads, writes, shift) in [(1, 1, 1), (2, 3, 0), (3, 2, 2)] {
        let size = MemorySize { slots: 9, width: 4, reads, writes, shift };
        let batch = 3;
        let shapes = [
            vec![batch, size.heads(), size.slots],
            vec![batch, size.slots, size.width],
            vec![batch, size.addresses()],
            vec![batch, size.changes()],
        ];
        same_function(&format!("memory_step {reads} {writes} {shift}"), &shapes, |t| {
            let memory = shaped::<3>(t, &shapes, 1);
            let read = Tensor::zeros([batch, reads, size.width], &memory.device());
            let state = MemoryState::new(size, read, softmax(shaped::<3>(t, &shapes, 0), 2), memory);
            let (addresses, changes) = (shaped::<2>(t, &shapes, 2), shaped::<2>(t, &shapes, 3));
            let state = ops::memory_step(state, addresses.clone(), changes.clone());
            let state = ops::memory_step(state, -addresses, changes);
            let parts = [state.read(), state.weights(), state.memory()];
            Tensor::cat(parts.map(|part| part.flatten::<2>(1, 2)).to_vec(), 1)
        });
    }
}
