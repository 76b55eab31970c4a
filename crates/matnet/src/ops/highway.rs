//! The highway of a column net.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::fused::{self, FusedGraphOps};
use super::{Activation, composed};

/// H′ = (1 − Z) ⊙ H + Z ⊙ C with Z = sigm(P₁ + Q₁ + b₁) and C = σ(P₂ + Q₂ + b₂), in one pass.
///
/// P comes from a node's own state, Q from the aggregate of its neighbours; each has a part for the gate and one for the candidate.
///
/// # Shapes
///
/// - `own` (P₁ and P₂ concatenated) and `aggregated` (Q): `[nodes, 2 · width]`
/// - `bias` (b): `[2, width]`
/// - `state` (H) and output: `[nodes, width]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn highway(
    own: Tensor<2>,
    aggregated: Tensor<2>,
    bias: Tensor<2>,
    state: Tensor<2>,
    activation: Activation,
) -> Tensor<2> {
    let [nodes, width] = state.dims();
    for (name, dims, want) in [
        ("own", own.dims(), [nodes, 2 * width]),
        ("aggregated", aggregated.dims(), [nodes, 2 * width]),
        ("bias", bias.dims(), [2, width]),
    ] {
        assert!(
            dims == want,
            "highway: {name} is {dims:?}, for a state of {nodes}×{width} it must be {want:?}"
        );
    }
    let dtype = state.dtype();
    assert!(
        own.dtype() == dtype && aggregated.dtype() == dtype && bias.dtype() == dtype,
        "highway: the tensors hold different numbers"
    );
    if !fused::available(&state) {
        return composed::highway(own, aggregated, bias, state, activation);
    }
    Tensor::from_dispatch(Dispatch::highway(
        own.into_dispatch(),
        aggregated.into_dispatch(),
        bias.into_dispatch(),
        state.into_dispatch(),
        activation,
    ))
}
