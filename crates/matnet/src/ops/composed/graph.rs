//! Sparse products, edge attention and the highway with ordinary tensor operations.

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData, activation};

use crate::graph::Sparse;
use crate::ops::{Activation, HighwayMaps};

/// See [`sparse_product`](crate::ops::sparse_product).
pub fn sparse_product(matrix: &Sparse, input: Tensor<2>) -> Tensor<2> {
    let [_, width] = input.dims();
    let (device, dtype) = (input.device(), input.dtype());
    let zeros = Tensor::zeros([matrix.rows(), width], (&device, dtype));
    if matrix.entries() == 0 {
        return zeros;
    }
    let (from, to) = ends(matrix, &device);
    let mut sources = input.select(0, from);
    if let (_, Some(weights)) = matrix.matrix() {
        let weights = TensorData::new(weights.to_vec(), [weights.len(), 1]);
        sources = sources * Tensor::from_data(weights, (&device, dtype));
    }
    zeros.select_assign(0, to, sources, IndexingUpdateOp::Add)
}

/// See [`slot_map`](crate::ops::slot_map).
pub fn slot_map(matrix: &Sparse, state: Tensor<2>, map: Tensor<2>) -> Tensor<2> {
    let ([_, width], [sources, _]) = (state.dims(), map.dims());
    let (nodes, device) = (matrix.rows(), state.device());
    let mut side_by_side = Tensor::zeros([nodes * sources / width, width], (&device, state.dtype()));
    if matrix.entries() > 0 {
        let slots =
            |node: usize| (0..matrix.row(node).0.len()).map(move |slot| node * sources / width + slot);
        let slots = places((0..nodes).flat_map(slots).map(|slot| slot as i64).collect(), &device);
        let (from, _) = ends(matrix, &device);
        side_by_side = side_by_side.select_assign(0, slots, state.select(0, from), IndexingUpdateOp::Add);
    }
    side_by_side.reshape([nodes, sources]).matmul(map)
}

/// See [`edge_attention`](crate::ops::edge_attention).
pub fn edge_attention(matrix: &Sparse, query: Tensor<3>, bias: Tensor<2>, keys: Tensor<2>) -> Tensor<3> {
    let [rows, width, heads] = query.dims();
    let (device, dtype) = (query.device(), query.dtype());
    let zeros = |sides: [usize; 3]| Tensor::<3>::zeros(sides, (&device, dtype));
    if matrix.entries() == 0 {
        return zeros([rows, width, heads]);
    }
    let (from, to) = ends(matrix, &device);
    // [entries, width, 1]
    let neighbours = keys.select(0, from).unsqueeze_dim::<3>(2);
    let query = (query + bias.unsqueeze()).select(0, to.clone());
    let scores = (query * neighbours.clone()).sum_dim(1);
    // Subtracting a constant does not change a softmax, so no gradient flows through the largest score.
    let least = zeros([rows, 1, heads]) + f64::from(f32::MIN);
    let largest = least.select_assign(0, to.clone(), scores.clone().detach(), IndexingUpdateOp::Max);
    let exponents = (scores - largest.select(0, to.clone())).exp();
    let add_up = |numbers: Tensor<3>| {
        let [_, sides, _] = numbers.dims();
        zeros([rows, sides, heads]).select_assign(0, to.clone(), numbers, IndexingUpdateOp::Add)
    };
    let weights = exponents.clone() / add_up(exponents).select(0, to.clone());
    add_up(weights * neighbours)
}

/// See [`attention_map`](crate::ops::attention_map).
pub fn attention_map(
    matrix: &Sparse,
    state: Tensor<2>,
    score_map: Tensor<2>,
    bias: Tensor<2>,
    out_map: Tensor<2>,
) -> Tensor<2> {
    let ([width, heads], nodes) = (bias.dims(), matrix.rows());
    let query = state.clone().narrow(0, 0, nodes).matmul(score_map).reshape([nodes, width, heads]);
    edge_attention(matrix, query, bias, state).reshape([nodes, width * heads]).matmul(out_map)
}

/// See [`highway`](crate::ops::highway).
pub fn highway(
    own: Tensor<2>,
    aggregated: Tensor<2>,
    bias: Tensor<2>,
    state: Tensor<2>,
    activation: Activation,
) -> Tensor<2> {
    let [_, width] = state.dims();
    let sum = own + aggregated + bias.reshape([1, 2 * width]);
    let gate = activation::sigmoid(sum.clone().narrow(1, 0, width));
    let candidate = activation.forward(sum.narrow(1, width, width));
    state.clone() + gate * (candidate - state)
}

/// See [`sparse_highway`](crate::ops::sparse_highway).
pub fn sparse_highway(
    matrices: &[Sparse],
    input: Tensor<2>,
    state: Option<Tensor<2>>,
    maps: HighwayMaps,
) -> Tensor<2> {
    let ([_, width], nodes) = (input.dims(), matrices[0].rows());
    let side_by_side = |map: Tensor<3>| {
        let [_, from, to] = map.dims();
        map.swap_dims(0, 1).reshape([from, 2 * to])
    };
    let (own_map, neighbor_map) = (side_by_side(maps.own_map), side_by_side(maps.neighbor_map));
    let first = input.clone().narrow(0, 0, nodes);
    let aggregated = matrices.iter().enumerate().map(|(relation, matrix)| {
        let map = neighbor_map.clone().narrow(0, relation * width, width);
        sparse_product(matrix, input.clone()).matmul(map)
    });
    let aggregated = aggregated.reduce(|sum, relation| sum + relation).expect("at least one relation");
    let own = first.clone().matmul(own_map);
    highway(own, aggregated, maps.bias, state.unwrap_or(first), maps.activation)
}

/// Column and row of every entry, for selecting.
fn ends(matrix: &Sparse, device: &Device) -> (Tensor<1, Int>, Tensor<1, Int>) {
    let rows = (0..matrix.rows()).flat_map(|row| std::iter::repeat_n(row as i64, matrix.row(row).0.len()));
    let columns = matrix.matrix().0.columns().iter().map(|&column| column.into());
    (places(columns.collect(), device), places(rows.collect(), device))
}

fn places(numbers: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}
