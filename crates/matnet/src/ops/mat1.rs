//! `mat1`: Y = σ(Uᵀ X V + B).

use burn::backend::Dispatch;
use burn::tensor::{DType, Tensor};

use super::fused::{self, FusedOps};
use super::{Activation, composed};

/// Y = σ(Uᵀ X V + B) for every X of the batch.
///
/// # Shapes
///
/// - `input`: `[batch, rows, cols]`
/// - `row_map` (U): `[rows, rows_out]`
/// - `col_map` (V): `[cols, cols_out]`
/// - `bias` (B): `[rows_out, cols_out]`
/// - output: `[batch, rows_out, cols_out]`
///
/// # Panics
///
/// If the shapes do not fit together or the batch is empty.
pub fn mat1(
    input: Tensor<3>,
    row_map: Tensor<2>,
    col_map: Tensor<2>,
    bias: Option<Tensor<2>>,
    activation: Activation,
) -> Tensor<3> {
    check_map("mat1", "input", (input.dims(), input.dtype()), &row_map, &col_map, bias.as_ref());
    if !fused::available(&input) {
        return composed::mat1(input, row_map, col_map, bias, activation);
    }
    let bias = bias.unwrap_or_else(|| no_bias(&row_map, &col_map));
    Tensor::from_dispatch(Dispatch::mat1(
        input.into_dispatch(),
        row_map.into_dispatch(),
        col_map.into_dispatch(),
        bias.into_dispatch(),
        activation,
    ))
}

/// The bias that changes nothing.
pub(super) fn no_bias(row_map: &Tensor<2>, col_map: &Tensor<2>) -> Tensor<2> {
    Tensor::zeros([row_map.dims()[1], col_map.dims()[1]], (&row_map.device(), row_map.dtype()))
}

/// Panics with the name of the operation and of the argument that does not fit.
pub(super) fn check_map(
    op: &str,
    name: &str,
    ([batch, rows, cols], dtype): ([usize; 3], DType),
    row_map: &Tensor<2>,
    col_map: &Tensor<2>,
    bias: Option<&Tensor<2>>,
) {
    let ([u_in, rows_out], [v_in, cols_out]) = (row_map.dims(), col_map.dims());
    assert!(batch > 0, "{op}: {name} has an empty batch");
    assert!(
        rows > 0 && cols > 0 && rows_out > 0 && cols_out > 0,
        "{op}: every side must be at least 1, got {name} {rows}×{cols} mapped to {rows_out}×{cols_out}"
    );
    assert!(u_in == rows, "{op}: row map takes {u_in} rows, {name} has {rows}");
    assert!(v_in == cols, "{op}: column map takes {v_in} columns, {name} has {cols}");
    for (part, other) in [("row map", row_map), ("column map", col_map)] {
        let other = other.dtype();
        assert!(dtype == other, "{op}: {name} holds {dtype:?}, {part} {other:?}");
    }
    if let Some(bias) = bias {
        assert!(dtype == bias.dtype(), "{op}: {name} holds {dtype:?}, bias {:?}", bias.dtype());
        let [b_rows, b_cols] = bias.dims();
        assert!(
            b_rows == rows_out && b_cols == cols_out,
            "{op}: bias is {b_rows}×{b_cols}, the maps give {rows_out}×{cols_out}"
        );
    }
}
