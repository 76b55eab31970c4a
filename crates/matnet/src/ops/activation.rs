//! Activation functions.

use burn::tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};

/// An element-wise activation, which can be fused with the map before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// x
    #[default]
    Identity,
    /// max(x, 0)
    Relu,
    /// 1 / (1 + exp(−x))
    Sigmoid,
    /// tanh(x)
    Tanh,
}

impl Activation {
    /// Applies the function to every element, with tensor operations.
    pub fn forward<const D: usize>(self, input: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => input,
            Self::Relu => activation::relu(input),
            Self::Sigmoid => activation::sigmoid(input),
            Self::Tanh => input.tanh(),
        }
    }

    /// The same of the sum of a product and a bias, if there is one.
    pub(crate) fn of_sum<const D: usize, const B: usize>(
        self,
        product: Tensor<D>,
        bias: Option<Tensor<B>>,
    ) -> Tensor<D> {
        self.forward(match bias {
            Some(bias) => product + bias.unsqueeze(),
            None => product,
        })
    }
}
