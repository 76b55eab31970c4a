//! Dense products, and the dense layer.
//!
//! On the CPU every entry of a product is one chain of fused multiply-adds in the order of the inner dimension. A row of
//! the result then has the same bits alone and in any batch, which Burn's `matmul` does not promise.

use burn::backend::Dispatch;
use burn::tensor::{DType, Tensor};

use super::fused::{self, FusedProductOps};
use super::{Activation, composed};

/// A·B.
///
/// # Shapes
///
/// - `a` (A): `[m, k]`
/// - `b` (B): `[k, n]`
/// - output: `[m, n]`
///
/// # Panics
///
/// If the shapes do not fit together.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::ops::product;
///
/// let device = Device::flex();
/// let a = Tensor::<2>::from_floats([[1.0, 2.0]], &device);
/// let b = Tensor::<2>::from_floats([[3.0, 4.0], [5.0, 6.0]], &device);
/// assert_eq!(product(a, b).into_data().as_slice::<f32>().unwrap(), [13.0, 16.0]);
/// ```
pub fn product(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    let (a_shape, b_shape) = (a.dims(), b.dims());
    check("product", a_shape, b_shape, [a.dtype(), b.dtype()]);
    run_product(a, b, false)
}

/// A·Bᵀ, without a copy of Bᵀ.
///
/// # Shapes
///
/// - `a` (A): `[m, k]`
/// - `b` (B): `[n, k]`
/// - output: `[m, n]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn product_transposed(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    let (a_shape, [n, k]) = (a.dims(), b.dims());
    check("product_transposed", a_shape, [k, n], [a.dtype(), b.dtype()]);
    run_product(a, b, true)
}

fn run_product(a: Tensor<2>, b: Tensor<2>, transposed: bool) -> Tensor<2> {
    if !fused::available(&a) {
        return composed::product(a, if transposed { b.transpose() } else { b });
    }
    Tensor::from_dispatch(Dispatch::product(a.into_dispatch(), b.into_dispatch(), transposed))
}

/// σ(X·W + b).
///
/// # Shapes
///
/// - `input` (X): `[batch, input]`
/// - `weight` (W): `[input, output]`
/// - `bias` (b): `[output]`
/// - output: `[batch, output]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn linear(
    input: Tensor<2>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: Activation,
) -> Tensor<2> {
    check("linear", input.dims(), weight.dims(), [input.dtype(), weight.dtype()]);
    run_linear(input, weight, bias, activation, false)
}

/// σ(X·Wᵀ + b), without a copy of Wᵀ: `weight` is `[output, input]`.
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn linear_transposed(
    input: Tensor<2>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: Activation,
) -> Tensor<2> {
    let [n, k] = weight.dims();
    check("linear_transposed", input.dims(), [k, n], [input.dtype(), weight.dtype()]);
    run_linear(input, weight, bias, activation, true)
}

fn run_linear(
    input: Tensor<2>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: Activation,
    transposed: bool,
) -> Tensor<2> {
    let outputs = weight.dims()[usize::from(!transposed)];
    if let Some(bias) = &bias {
        assert!(bias.dims() == [outputs], "linear: bias has {:?} numbers, not {outputs}", bias.dims()[0]);
        assert!(
            bias.dtype() == input.dtype(),
            "linear: input holds {:?}, bias {:?}",
            input.dtype(),
            bias.dtype()
        );
    }
    if !fused::available(&input) {
        let weight = if transposed { weight.transpose() } else { weight };
        return composed::linear(input, weight, bias, activation);
    }
    let like = (&input.device(), input.dtype());
    let bias = match bias {
        Some(bias) => bias,
        None if activation == Activation::Identity => return run_product(input, weight, transposed),
        None => Tensor::zeros([outputs], like),
    };
    Tensor::from_dispatch(Dispatch::linear(
        input.into_dispatch(),
        weight.into_dispatch(),
        bias.into_dispatch(),
        transposed,
        activation,
    ))
}

/// Aᵢ·Bᵢ for every i of a batch. One of A and B may be a single matrix, which is multiplied with all of the other.
///
/// # Shapes
///
/// - `a` (A): `[batch, m, k]` or `[1, m, k]`
/// - `b` (B): `[batch, k, n]` or `[1, k, n]`
/// - output: `[batch, m, n]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn batched_product(a: Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    let [_, k, n] = b.dims();
    check_batches("batched_product", &a, &b, [k, n]);
    run_batched(a, b, false)
}

/// Aᵢ·Bᵢᵀ for every i of a batch: as [`batched_product`], with B `[batch, n, k]`, and without a copy of Bᵀ.
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn batched_product_transposed(a: Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    let [_, n, k] = b.dims();
    check_batches("batched_product_transposed", &a, &b, [k, n]);
    run_batched(a, b, true)
}

fn run_batched(a: Tensor<3>, b: Tensor<3>, transposed: bool) -> Tensor<3> {
    if !fused::available(&a) {
        return composed::batched_product(a, if transposed { b.swap_dims(1, 2) } else { b });
    }
    Tensor::from_dispatch(Dispatch::batched_product(a.into_dispatch(), b.into_dispatch(), transposed))
}

fn check_batches(op: &str, a: &Tensor<3>, b: &Tensor<3>, b_shape: [usize; 2]) {
    let ([a_batch, m, k], [b_batch, ..]) = (a.dims(), b.dims());
    assert!(
        a_batch == b_batch || a_batch == 1 || b_batch == 1,
        "{op}: a batch of {a_batch} and one of {b_batch}"
    );
    assert!(
        a_batch * b_batch * m * k * b_shape[1] > 0,
        "{op}: every side must be at least 1, got {:?} and {:?}",
        a.dims(),
        b.dims()
    );
    check(op, [m, k], b_shape, [a.dtype(), b.dtype()]);
}

fn check(op: &str, [m, k]: [usize; 2], [rows, n]: [usize; 2], dtypes: [DType; 2]) {
    assert!(k == rows, "{op}: {m}×{k} times {rows}×{n}: the inner sides differ");
    assert!(dtypes[0] == dtypes[1], "{op}: one factor holds {:?}, the other {:?}", dtypes[0], dtypes[1]);
}
