//! Batch norm with the activation behind it.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::fused::{self, FusedNormOps, NormOptions};
use super::{Activation, NormMaps, NormStatistics, composed};

/// Y = σ(G ⊙ (X − M) / √(S + ε) + A) for every X of the batch, with given statistics, which are constants: no gradient goes to them.
///
/// # Shapes
///
/// - `input` and output: `[batch, rows, cols]`
///
/// # Panics
///
/// If the shapes do not fit together or the batch is empty.
pub fn batch_norm(
    input: Tensor<3>,
    maps: NormMaps,
    statistics: NormStatistics,
    activation: Activation,
) -> Tensor<3> {
    check(&input, &maps, Some(&statistics));
    let (mean, variance) = (constant(statistics.mean), constant(statistics.variance));
    if !fused::available(&input) {
        return composed::batch_norm(input, maps, NormStatistics { mean, variance }, activation);
    }
    run(input, maps, Tensor::stack(vec![mean, variance], 0), false, activation)
}

/// The same with the mean and the biased variance of the batch itself, through which gradients go, too. The statistics that are
/// returned are constants.
///
/// # Panics
///
/// If the shapes do not fit together or the batch is empty.
pub fn batch_norm_train(
    input: Tensor<3>,
    maps: NormMaps,
    activation: Activation,
) -> (Tensor<3>, NormStatistics) {
    check(&input, &maps, None);
    if !fused::available(&input) {
        return composed::batch_norm_train(input, maps, activation);
    }
    let statistics =
        Tensor::<3>::from_dispatch(Dispatch::batch_statistics(constant(input.clone()).into_dispatch()));
    let output = run(input, maps, statistics.clone(), true, activation);
    let row = |at| statistics.clone().narrow(0, at, 1).squeeze_dim(0);
    (output, NormStatistics { mean: row(0), variance: row(1) })
}

fn run(
    input: Tensor<3>,
    NormMaps { scale, shift, epsilon }: NormMaps,
    statistics: Tensor<3>,
    of_batch: bool,
    activation: Activation,
) -> Tensor<3> {
    Tensor::from_dispatch(Dispatch::batch_norm(
        input.into_dispatch(),
        scale.into_dispatch(),
        shift.into_dispatch(),
        statistics.into_dispatch(),
        NormOptions { epsilon, of_batch, activation },
    ))
}

/// The numbers of a tensor. Burn's `detach` alone would leave that of a leaf another leaf, which the backward pass asks for its gradient.
fn constant<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    tensor.detach().set_require_grad(false)
}

fn check(input: &Tensor<3>, maps: &NormMaps, statistics: Option<&NormStatistics>) {
    let [batch, rows, cols] = input.dims();
    assert!(batch > 0 && rows > 0 && cols > 0, "batch norm: the input is empty");
    let statistics = statistics.map(|s| [("mean", &s.mean), ("variance", &s.variance)]);
    let tensors = [("scale", &maps.scale), ("shift", &maps.shift)];
    for (name, tensor) in tensors.into_iter().chain(statistics.into_iter().flatten()) {
        let dims = tensor.dims();
        assert!(dims == [rows, cols], "batch norm: {name} is {dims:?}, samples are {rows}×{cols}");
        assert!(tensor.dtype() == input.dtype(), "batch norm: the tensors hold different numbers");
    }
}
