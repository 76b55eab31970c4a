//! The first map of a net on graphs, from features to states.

use burn::module::Module;
use burn::tensor::Tensor;

use super::activated;
use crate::graph::Features;
use crate::layer::Dropout;
use crate::mode::Mode;
use crate::ops::{self, sparse_product};
use crate::summary::{LayerSummary, Summarize};
use crate::vector::VecLinear;

/// σ(X W + b) for dense or sparse features X.
///
/// Sparse features are multiplied as a sparse matrix, whose cost is that of the non-zero entries: one in a hundred on Cora.
#[derive(Module, Debug)]
pub struct FeatureMap {
    /// W, b and σ.
    pub map: VecLinear,
}

impl FeatureMap {
    /// X → σ(X W + b): `[nodes, features]` → `[nodes, output]`.
    pub fn forward(&self, features: &Features) -> Tensor<2> {
        match features {
            Features::Dense(features) => self.map.forward(features.clone()),
            Features::Sparse(_) => activated(self.product(features), &self.map.bias, self.map.activation),
        }
    }

    /// X W, without b and σ.
    pub(super) fn product(&self, features: &Features) -> Tensor<2> {
        product(features, self.map.weight.val())
    }
}

impl Summarize for FeatureMap {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        self.map.summarize(name, uses)
    }
}

/// X W for dense or sparse X.
pub(super) fn product(features: &Features, weight: Tensor<2>) -> Tensor<2> {
    match features {
        Features::Dense(features) => ops::product(features.clone(), weight),
        Features::Sparse(features) => sparse_product(features, weight),
    }
}

/// Dropout of features. Zeros stay zero, so for sparse rows random numbers are drawn for the non-zero entries only.
pub(crate) fn drop_features(features: &Features, dropout: Dropout, mode: &mut Mode) -> Features {
    match features {
        Features::Dense(features) => Features::Dense(dropout.forward(features.clone(), mode)),
        Features::Sparse(sparse) => match mode.rng() {
            Some(rng) if dropout.rate() > 0.0 => {
                let rate = dropout.rate();
                let kept = (1.0 / (1.0 - rate)) as f32;
                let mut drop = |weight: f32| if rng.chance(rate) { 0.0 } else { kept * weight };
                let weights = match sparse.matrix().1 {
                    Some(weights) => weights.iter().map(|&weight| drop(weight)).collect(),
                    None => (0..sparse.entries()).map(|_| drop(1.0)).collect(),
                };
                Features::Sparse(sparse.with_weights(weights))
            }
            _ => features.clone(),
        },
    }
}
