//! `mat2`: Y = σ(Upᵀ P Vp + Uqᵀ Q Vq + B).

use burn::tensor::Tensor;

use burn::backend::Dispatch;

use super::fused::{self, FusedOps};
use super::mat1::{check_map, no_bias};
use super::{Activation, Mat2Maps, composed};

/// Y = σ(Upᵀ P Vp + Uqᵀ Q Vq + B) for every pair (P, Q) of the batch.
///
/// # Shapes
///
/// - `p`: `[batch, rows_p, cols_p]`
/// - `q`: `[batch, rows_q, cols_q]`
/// - output: `[batch, rows_out, cols_out]`
///
/// # Panics
///
/// If the shapes do not fit together or the batch is empty.
pub fn mat2(p: Tensor<3>, q: Tensor<3>, maps: Mat2Maps, activation: Activation) -> Tensor<3> {
    check_map("mat2", "p", (p.dims(), p.dtype()), &maps.p_row_map, &maps.p_col_map, maps.bias.as_ref());
    check_map("mat2", "q", (q.dims(), q.dtype()), &maps.q_row_map, &maps.q_col_map, maps.bias.as_ref());
    let (p_batch, q_batch) = (p.dims()[0], q.dims()[0]);
    assert!(p_batch == q_batch, "mat2: p has a batch of {p_batch}, q of {q_batch}");
    let (p_out, q_out) = (
        [maps.p_row_map.dims()[1], maps.p_col_map.dims()[1]],
        [maps.q_row_map.dims()[1], maps.q_col_map.dims()[1]],
    );
    assert!(p_out == q_out, "mat2: the maps of p give {p_out:?}, those of q {q_out:?}");
    if !fused::available(&p) {
        return composed::mat2(p, q, maps, activation);
    }
    let bias = maps.bias.unwrap_or_else(|| no_bias(&maps.p_row_map, &maps.p_col_map));
    Tensor::from_dispatch(Dispatch::mat2(
        p.into_dispatch(),
        maps.p_row_map.into_dispatch(),
        maps.p_col_map.into_dispatch(),
        q.into_dispatch(),
        maps.q_row_map.into_dispatch(),
        maps.q_col_map.into_dispatch(),
        bias.into_dispatch(),
        activation,
    ))
}
