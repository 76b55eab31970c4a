//! Batch norm on the kernels.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, tensor::FloatTensor};
use burn::tensor::ElementConversion;
use matnet_kernels::{BatchNorm, BatchStatistics, Keep, Level};

use super::{FusedOp, Number, Tracked, dims, fused_ops, numbers, tensor};
use crate::ops::Activation;

fused_ops! {
    /// Batch norm on CPU kernels.
    pub trait FusedNormOps {
        /// Mean and variance of a batch, `[2, rows, cols]`, as constants.
        fn batch_statistics([input]) = StatisticsOp;

        /// f(G ⊙ (X − M) / √(S + ε) + A); the statistics are M and S.
        fn batch_norm([input, scale, shift, statistics], options: NormOptions) = NormOp(options);
    }
}

/// How a batch is normalised, apart from its tensors.
#[derive(Clone, Copy, Debug)]
pub struct NormOptions {
    /// ε
    pub epsilon: f64,
    /// Whether the statistics are those of this batch, so that the gradient goes through them.
    pub of_batch: bool,
    /// f
    pub activation: Activation,
}

/// Mean and variance of a tensor X. What goes back through them is a part of the gradient of [`NormOp`].
#[derive(Clone, Copy, Debug)]
struct StatisticsOp;

impl FusedOp<1> for StatisticsOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, [input]: &[FlexTensor; 1], _: Keep) -> (FlexTensor, ()) {
        let [_, rows, cols] = dims(input);
        let BatchStatistics { mean, variance } =
            BatchStatistics::of(Level::best(), numbers::<E>(input), rows * cols);
        (tensor([mean, variance].concat(), &[2, rows, cols]), ())
    }

    fn backward<E: Number>(
        &self,
        _: &[FlexTensor; 1],
        _: &FlexTensor,
        _: &(),
        _: FlexTensor,
        _: [bool; 1],
    ) -> [Option<FlexTensor>; 1] {
        [None]
    }
}

/// Batch norm for tensors X, G, A, and M and S in one.
#[derive(Clone, Copy, Debug)]
struct NormOp(NormOptions);

impl NormOp {
    fn view<'a, E: Number>(
        &self,
        [input, scale, shift, statistics]: &'a [FlexTensor; 4],
    ) -> BatchNorm<'a, E> {
        let (mean, variance) = numbers(statistics).split_at(numbers::<E>(scale).len());
        BatchNorm {
            input: numbers(input),
            scale: numbers(scale),
            shift: numbers(shift),
            mean,
            variance,
            epsilon: self.0.epsilon.elem(),
            activation: self.0.activation.into(),
        }
    }
}

impl FusedOp<4> for NormOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 4], _: Keep) -> (FlexTensor, ()) {
        (tensor(self.view::<E>(inputs).forward(Level::best()), &dims::<3>(&inputs[0])), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 4],
        output: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        _: [bool; 4],
    ) -> [Option<FlexTensor>; 4] {
        let norm = self.view::<E>(inputs);
        let gradients = norm.backward(Level::best(), numbers(output), numbers(&gradient), self.0.of_batch);
        let [input, scale, shift, _] = inputs;
        [
            Some(tensor(gradients.input, &dims::<3>(input))),
            Some(tensor(gradients.scale, &dims::<2>(scale))),
            Some(tensor(gradients.shift, &dims::<2>(shift))),
            None,
        ]
    }
}
