//! Batch norm, as Burn has it.

use burn::tensor::Tensor;
use burn::tensor::module;

use crate::ops::{Activation, NormMaps, NormStatistics};

/// See [`batch_norm`](crate::ops::batch_norm()).
pub fn batch_norm(
    input: Tensor<3>,
    NormMaps { scale, shift, epsilon }: NormMaps,
    NormStatistics { mean, variance }: NormStatistics,
    activation: Activation,
) -> Tensor<3> {
    let dims @ [batch, rows, cols] = input.dims();
    let input = input.reshape([batch, rows * cols]);
    let output = module::batch_norm(input, flat(scale), flat(shift), flat(mean), flat(variance), epsilon);
    activation.forward(output.reshape(dims))
}

/// See [`batch_norm_train`](crate::ops::batch_norm_train).
pub fn batch_norm_train(
    input: Tensor<3>,
    NormMaps { scale, shift, epsilon }: NormMaps,
    activation: Activation,
) -> (Tensor<3>, NormStatistics) {
    let dims @ [batch, rows, cols] = input.dims();
    let input = input.reshape([batch, rows * cols]);
    let result = module::batch_norm_train(input, flat(scale), flat(shift), epsilon);
    let [mean, variance] = [result.mean, result.variance].map(|entries| entries.reshape([rows, cols]));
    let statistics = NormStatistics { mean, variance };
    (activation.forward(result.output.reshape(dims)), statistics)
}

fn flat(entries: Tensor<2>) -> Tensor<1> {
    let [rows, cols] = entries.dims();
    entries.reshape([rows * cols])
}
