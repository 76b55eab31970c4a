//! Attention along the edges of a graph.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::composed;
use super::fused::{self, FusedGraphOps};
use crate::graph::Sparse;

/// Yᵢₖ = Σⱼ Λᵢⱼₖ hⱼ with Λᵢⱼₖ = softmax over j ∈ N(i) of (qᵢₖ + bₖ)ᵀ hⱼ, for heads k.
///
/// With qᵢₖ = Wₖᵀ hᵢ this is the paper's bilinear score g(x, y) = xᵀWy + aᵀx + bᵀy + c: aᵀx and c are the same
/// for all neighbours y of x, so they cancel in the softmax. Every head's Λ takes the place of Uᵀ in a
/// [`mat1`](super::mat1()). The aggregate of a node without neighbours is 0.
///
/// Nothing of the size of the edges is kept: on the CPU each node's scores, softmax and sums are computed in one pass,
/// forward and backward.
///
/// # Shapes
///
/// - `matrix`: `[nodes, others]`; the entries of row i are N(i), their weights are ignored
/// - `query` (q): `[nodes, width, heads]`
/// - `bias` (b): `[width, heads]`
/// - `keys` (h): `[others, width]`
/// - output (Y): `[nodes, width, heads]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn edge_attention(matrix: &Sparse, query: Tensor<3>, bias: Tensor<2>, keys: Tensor<2>) -> Tensor<3> {
    let ([rows, width, heads], [others, key_width]) = (query.dims(), keys.dims());
    let op = "edge_attention";
    assert!(rows == matrix.rows(), "{op}: the matrix has {} rows, the query {rows}", matrix.rows());
    assert!(others == matrix.cols(), "{op}: the matrix has {} columns, {others} keys", matrix.cols());
    assert!(width == key_width, "{op}: the query asks for {width} numbers, keys have {key_width}");
    assert!(bias.dims() == [width, heads], "{op}: bias is {:?}, not {:?}", bias.dims(), [width, heads]);
    assert!(
        query.dtype() == keys.dtype() && bias.dtype() == keys.dtype(),
        "{op}: query, bias and keys hold different numbers"
    );
    if !fused::available(&query) {
        return composed::edge_attention(matrix, query, bias, keys);
    }
    Tensor::from_dispatch(Dispatch::edge_attention(
        query.into_dispatch(),
        bias.into_dispatch(),
        keys.into_dispatch(),
        matrix.clone(),
    ))
}

/// Y = \[H̃₁ … H̃ₙ\] V with H̃ₖ = Λₖ H: [`edge_attention`] of a graph's nodes to each other, with the maps before and after it.
///
/// Queries and H̃, which are as wide as all heads together, are recomputed in the backward pass, not stored.
///
/// # Shapes
///
/// - `matrix`: `[nodes, others]`; the first rows of the state are those of the nodes
/// - `state` (H): `[others, width]`
/// - `score_map` (W of all heads, the heads innermost): `[width, width · heads]`
/// - `bias` (b): `[width, heads]`
/// - `out_map` (V, the heads innermost among its rows): `[width · heads, output]`
/// - output: `[nodes, output]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn attention_map(
    matrix: &Sparse,
    state: Tensor<2>,
    score_map: Tensor<2>,
    bias: Tensor<2>,
    out_map: Tensor<2>,
) -> Tensor<2> {
    let ([others, width], [_, heads], [sources, _]) = (state.dims(), bias.dims(), out_map.dims());
    let op = "attention_map";
    assert!(others == matrix.cols(), "{op}: the matrix has {} columns, {others} states", matrix.cols());
    assert!(matrix.rows() <= others, "{op}: more nodes than states");
    let want = [width, width * heads];
    assert!(score_map.dims() == want, "{op}: the score map is {:?}, not {want:?}", score_map.dims());
    assert!(bias.dims()[0] == width, "{op}: bias is {:?} for states of {width}", bias.dims());
    assert!(sources == width * heads, "{op}: the map out takes {sources} numbers, not {}", width * heads);
    let dtype = state.dtype();
    assert!(
        [score_map.dtype(), bias.dtype(), out_map.dtype()] == [dtype; 3],
        "{op}: the tensors hold different numbers"
    );
    if !fused::available(&state) {
        return composed::attention_map(matrix, state, score_map, bias, out_map);
    }
    Tensor::from_dispatch(Dispatch::attention_map(
        state.into_dispatch(),
        score_map.into_dispatch(),
        bias.into_dispatch(),
        out_map.into_dispatch(),
        matrix.clone(),
    ))
}
