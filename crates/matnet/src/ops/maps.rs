//! The parameters of operations that have many.

use burn::tensor::Tensor;

use super::Activation;

/// The parameters of [`mat2`](super::mat2()).
#[derive(Clone, Debug)]
pub struct Mat2Maps {
    /// Up: `[rows_p, rows_out]`
    pub p_row_map: Tensor<2>,
    /// Vp: `[cols_p, cols_out]`
    pub p_col_map: Tensor<2>,
    /// Uq: `[rows_q, rows_out]`
    pub q_row_map: Tensor<2>,
    /// Vq: `[cols_q, cols_out]`
    pub q_col_map: Tensor<2>,
    /// B, one for the sum: `[rows_out, cols_out]`
    pub bias: Option<Tensor<2>>,
}

/// The weights of a [`sparse_highway`](super::sparse_highway()) and its σ.
#[derive(Clone, Debug)]
pub struct HighwayMaps {
    /// V of the gate and of the candidate: `[2, width, width]`
    pub own_map: Tensor<3>,
    /// U of the gate and of the candidate, relation after relation: `[2, relations · width, width]`
    pub neighbor_map: Tensor<3>,
    /// b of the gate and of the candidate: `[2, width]`
    pub bias: Tensor<2>,
    /// σ of the candidate.
    pub activation: Activation,
}

/// Scale and shift of a batch norm, and what keeps its quotient finite.
#[derive(Clone, Debug)]
pub struct NormMaps {
    /// G: `[rows, cols]`
    pub scale: Tensor<2>,
    /// A: `[rows, cols]`
    pub shift: Tensor<2>,
    /// ε
    pub epsilon: f64,
}

/// What is subtracted, and the square of what is divided by.
#[derive(Clone, Debug)]
pub struct NormStatistics {
    /// M: `[rows, cols]`
    pub mean: Tensor<2>,
    /// S, biased: `[rows, cols]`
    pub variance: Tensor<2>,
}
