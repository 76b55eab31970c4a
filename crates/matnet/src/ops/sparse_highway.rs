//! The highway of a column net, with the maps before it.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::fused::{self, FusedGraphOps};
use super::{HighwayMaps, composed};
use crate::graph::Sparse;

/// H′ = (1 − Z) ⊙ H + Z ⊙ C with Z = sigm(X V₁ + Σᵣ Aᵣ X Uᵣ₁ + b₁) and C = σ(X V₂ + Σᵣ Aᵣ X Uᵣ₂ + b₂), for constant sparse Aᵣ.
///
/// On the CPU a few nodes at a time go all the way from X to H′, and nothing in between is stored but what the backward pass needs.
///
/// # Shapes
///
/// - `matrices` (Aᵣ): one or more of `[nodes, others]`, `nodes` ≤ `others`
/// - `input` (X): `[others, width]`
/// - `state` (H): `[nodes, width]`; without it, the first rows of X
/// - output: `[nodes, width]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn sparse_highway(
    matrices: &[Sparse],
    input: Tensor<2>,
    state: Option<Tensor<2>>,
    maps: HighwayMaps,
) -> Tensor<2> {
    let op = "sparse_highway";
    let ([others, width], relations) = (input.dims(), matrices.len());
    assert!(relations > 0, "{op}: at least one matrix is needed");
    let nodes = matrices[0].rows();
    for matrix in matrices {
        assert!(
            matrix.rows() == nodes && matrix.cols() == others && nodes <= others,
            "{op}: a matrix of {}×{} for {nodes} nodes and {others} states",
            matrix.rows(),
            matrix.cols()
        );
    }
    let HighwayMaps { own_map, neighbor_map, bias, activation: _ } = &maps;
    let check = |name: &str, dims: &[usize], want: &[usize]| {
        assert!(dims == want, "{op}: {name} is {dims:?}, for states of {width} it must be {want:?}");
    };
    check("own_map", &own_map.dims(), &[2, width, width]);
    check("neighbor_map", &neighbor_map.dims(), &[2, relations * width, width]);
    check("bias", &bias.dims(), &[2, width]);
    check("state", &state.as_ref().map_or([nodes, width], Tensor::dims), &[nodes, width]);
    let dtype = input.dtype();
    assert!(
        [own_map.dtype(), neighbor_map.dtype(), bias.dtype()].iter().all(|other| *other == dtype)
            && state.as_ref().is_none_or(|state| state.dtype() == dtype),
        "{op}: the tensors hold different numbers"
    );
    if !fused::available(&input) {
        return composed::sparse_highway(matrices, input, state, maps);
    }
    let HighwayMaps { own_map, neighbor_map, bias, activation } = maps;
    let (input, matrices) = (input.into_dispatch(), matrices.to_vec());
    let (own_map, neighbor_map) = (own_map.into_dispatch(), neighbor_map.into_dispatch());
    let bias = bias.into_dispatch();
    Tensor::from_dispatch(match state.map(Tensor::into_dispatch) {
        None => Dispatch::sparse_highway(input, own_map, neighbor_map, bias, matrices, activation),
        Some(state) => {
            Dispatch::sparse_highway_from(input, own_map, neighbor_map, bias, state, matrices, activation)
        }
    })
}
