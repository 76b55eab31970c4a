//! `mat1` of `mat1` of …: the plain layers of a deep net in one operation.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::fused::{self, FusedChainOps, LONGEST, Tensors};
use super::mat1::{check_map, no_bias};
use super::{Activation, mat1};

/// The weights of a `mat1` and its σ.
#[derive(Clone, Debug)]
pub struct Mat1Maps {
    /// U: `[rows, rows_out]`
    pub row_map: Tensor<2>,
    /// V: `[cols, cols_out]`
    pub col_map: Tensor<2>,
    /// B: `[rows_out, cols_out]`
    pub bias: Option<Tensor<2>>,
    /// σ
    pub activation: Activation,
}

/// A composition of [`mat1`]s, with the same result in less time.
///
/// On the CPU a few samples at a time pass through all maps, and the states in between are never gathered.
///
/// # Panics
///
/// If the shapes do not fit together or the batch is empty.
pub fn mat1_chain(input: Tensor<3>, maps: Vec<Mat1Maps>) -> Tensor<3> {
    if !fused::available(&input) {
        return maps
            .into_iter()
            .fold(input, |state, maps| mat1(state, maps.row_map, maps.col_map, maps.bias, maps.activation));
    }
    let mut state = input;
    let mut maps = maps.into_iter().peekable();
    while maps.peek().is_some() {
        let [batch, mut rows, mut cols] = state.dims();
        let (mut weights, mut activations) = (Vec::new(), Vec::new());
        for Mat1Maps { row_map, col_map, bias, activation } in maps.by_ref().take(LONGEST) {
            check_map(
                "mat1_chain",
                "state",
                ([batch, rows, cols], state.dtype()),
                &row_map,
                &col_map,
                bias.as_ref(),
            );
            [rows, cols] = [row_map.dims()[1], col_map.dims()[1]];
            let bias = bias.unwrap_or_else(|| no_bias(&row_map, &col_map));
            weights.extend([row_map, col_map, bias].map(Tensor::into_dispatch));
            activations.push(activation);
        }
        state = Tensor::from_dispatch(Dispatch::chain(state.into_dispatch(), Tensors(weights), activations));
    }
    state
}
