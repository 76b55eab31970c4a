//! Dense products on the kernels.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, tensor::FloatTensor};
use matnet_kernels::{self as kernels, BatchedProduct, Keep, Level, Linear, MatrixView};

use super::{FusedOp, Number, Tracked, dims, fused_ops, numbers, shaped, tensor};
use crate::ops::Activation;

fused_ops! {
    /// The dense products that have CPU kernels. With `transposed` the second factor is stored transposed.
    pub trait FusedProductOps {
        /// A·B
        fn product([a, b], transposed: bool) = LinearOp { transposed, activation: Activation::Identity };

        /// f(X·W + b)
        fn linear([input, weight, bias], transposed: bool, activation: Activation) = LinearOp { transposed, activation };

        /// Aᵢ·Bᵢ; one of A and B may be a single matrix.
        fn batched_product([a, b], transposed: bool) = BatchedOp { transposed };
    }
}

/// f(X·W + b) for tensors X, W and, if there are three, b.
#[derive(Clone, Copy, Debug)]
struct LinearOp {
    transposed: bool,
    activation: Activation,
}

impl LinearOp {
    fn view<'a, E: Number>(&self, inputs: &'a [FlexTensor]) -> Linear<'a, E> {
        let ([batch, width], [rows, cols]) = (dims(&inputs[0]), dims(&inputs[1]));
        let weight = MatrixView::new(numbers(&inputs[1]), rows, cols);
        Linear {
            input: MatrixView::new(numbers(&inputs[0]), batch, width),
            weight: if self.transposed { weight.transposed() } else { weight },
            bias: inputs.get(2).map(numbers),
            activation: kernels::Activation::from(self.activation),
        }
    }
}

impl<const N: usize> FusedOp<N> for LinearOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; N], _: Keep) -> (FlexTensor, ()) {
        let ([batch, _], [rows, cols]) = (dims(&inputs[0]), dims(&inputs[1]));
        let width = if self.transposed { rows } else { cols };
        (tensor(self.view::<E>(inputs).forward(Level::best()), &[batch, width]), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        output: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        need: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let gradients = self.view::<E>(inputs).backward(
            Level::best(),
            numbers(output),
            numbers(&gradient),
            need[0],
            need[1],
        );
        shaped(vec![gradients.input, gradients.weight, gradients.bias], inputs)
    }
}

/// Aᵢ·Bᵢ for tensors A, B.
#[derive(Clone, Copy, Debug)]
struct BatchedOp {
    transposed: bool,
}

impl BatchedOp {
    fn view<'a, E: Number>(&self, [a, b]: &'a [FlexTensor; 2]) -> BatchedProduct<'a, E> {
        let ([_, m, k], [_, rows, cols]) = (dims(a), dims(b));
        let n = if self.transposed { rows } else { cols };
        BatchedProduct { a: numbers(a), b: numbers(b), sizes: [m, k, n], transposed: self.transposed }
    }
}

impl FusedOp<2> for BatchedOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 2], _: Keep) -> (FlexTensor, ()) {
        let ([a, ..], [b, ..]) = (dims::<3>(&inputs[0]), dims::<3>(&inputs[1]));
        let product = self.view::<E>(inputs);
        let [m, _, n] = product.sizes;
        (tensor(product.forward(Level::best()), &[a.max(b), m, n]), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 2],
        _: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        need: [bool; 2],
    ) -> [Option<FlexTensor>; 2] {
        let gradients = self.view::<E>(inputs).backward(Level::best(), numbers(&gradient), need);
        shaped(gradients.into(), inputs)
    }
}
