//! A constant sparse matrix times a dense one, and concatenated neighbours.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::composed;
use super::fused::{self, FusedGraphOps};
use crate::graph::Sparse;

/// Y = A X for a constant sparse A: every row of Y is a weighted sum of rows of X.
///
/// With A in the place of Uᵀ this is [`mat1`](super::mat1()) without V and B: the mean over neighbours, GCN and sparse features
/// are all computed with it.
///
/// # Shapes
///
/// - `matrix` (A): `[rows, cols]`
/// - `input` (X): `[cols, width]`
/// - output: `[rows, width]`
///
/// # Panics
///
/// If `input` does not have a row for every column of the matrix.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::graph::Sparse;
/// use matnet::ops::sparse_product;
///
/// let matrix = Sparse::from_rows(3, &[0.5, 0.0, 0.5, 0.0, 0.0, 2.0])?;
/// let input = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &Device::flex());
/// let output = sparse_product(&matrix, input).into_data();
/// assert_eq!(output.as_slice::<f32>().unwrap(), [3.0, 4.0, 10.0, 12.0]);
/// # Ok::<(), matnet::graph::GraphError>(())
/// ```
pub fn sparse_product(matrix: &Sparse, input: Tensor<2>) -> Tensor<2> {
    let [rows, _] = input.dims();
    assert!(
        rows == matrix.cols(),
        "sparse_product: the matrix has {} columns, the input {rows} rows",
        matrix.cols()
    );
    if !fused::available(&input) {
        return composed::sparse_product(matrix, input);
    }
    Tensor::from_dispatch(Dispatch::sparse_product(input.into_dispatch(), matrix.clone()))
}

/// Y = \[H̃₁ … H̃ₖ\] V, where row i of H̃ₛ is the state of the s-th neighbour of node i, or 0: the neighbours of a node
/// concatenated, each slot with its own map.
///
/// On the CPU empty slots cost nothing.
///
/// # Shapes
///
/// - `matrix` (A): `[nodes, others]`, its entries all 1, at most `slots` in a row
/// - `state` (H): `[others, width]`
/// - `map` (V): `[slots · width, output]`
/// - output: `[nodes, output]`
///
/// # Panics
///
/// If the shapes do not fit together, or the matrix has weights.
pub fn slot_map(matrix: &Sparse, state: Tensor<2>, map: Tensor<2>) -> Tensor<2> {
    let ([others, width], [sources, _]) = (state.dims(), map.dims());
    let op = "slot_map";
    assert!(others == matrix.cols(), "{op}: the matrix has {} columns, {others} states", matrix.cols());
    assert!(matrix.matrix().1.is_none(), "{op}: the matrix has weights");
    assert!(
        width > 0 && sources > 0 && sources.is_multiple_of(width),
        "{op}: a map of {sources} numbers for states of {width}"
    );
    let slots = sources / width;
    let longest = matrix.longest_row();
    assert!(longest <= slots, "{op}: a node with {longest} neighbours for {slots} slots");
    assert!(state.dtype() == map.dtype(), "{op}: state and map hold different numbers");
    if !fused::available(&state) {
        return composed::slot_map(matrix, state, map);
    }
    Tensor::from_dispatch(Dispatch::slot_map(
        state.into_dispatch(),
        map.into_dispatch(),
        matrix.clone(),
        slots,
    ))
}
