//! The graph convolution of GCN.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{FeatureMap, activated};
use crate::config::{setters, yes};
use crate::error::ConfigError;
use crate::graph::{Features, Sparse};
use crate::init::Init;
use crate::ops::{Activation, product, sparse_product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::VecLinearConfig;

/// The config of a [`GraphConv`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GraphConvConfig {
    /// The input size of a node.
    pub input: usize,
    /// The output size of a node.
    pub output: usize,
    /// Whether there is a bias b. Default: yes.
    #[serde(default = "yes")]
    pub bias: bool,
    /// σ. Default: the identity.
    #[serde(default)]
    pub activation: Activation,
    /// How Θ is initialised. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

impl GraphConvConfig {
    /// A convolution between these sizes.
    pub fn new(input: usize, output: usize) -> Self {
        Self { input, output, bias: true, activation: Activation::Identity, init: Init::default() }
    }

    setters! {
        with_bias(bias: bool);
        with_activation(activation: Activation);
        with_init(init: Init);
    }

    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<GraphConv, ConfigError> {
        let map = VecLinearConfig::new(self.input, self.output)
            .with_bias(self.bias)
            .with_activation(self.activation)
            .with_init(self.init);
        Ok(GraphConv { map: FeatureMap { map: map.init(rng, device)? } })
    }
}

/// The graph convolution of [Kipf & Welling](https://arxiv.org/abs/1609.02907), made with [`GraphConvConfig`]:
/// Y = σ(Â X Θ + b), which is `mat1` with a fixed U, Uᵀ = Â = D̃^−½ (A + I) D̃^−½.
#[derive(Module, Debug)]
pub struct GraphConv {
    /// Θ, b and σ.
    pub map: FeatureMap,
}

impl GraphConv {
    /// X → Y: `[others, input]` → `[nodes, output]`.
    ///
    /// # Panics
    ///
    /// If the features have another width, or not a row for every column of the matrix.
    pub fn forward(&self, matrix: &Sparse, features: &Features) -> Tensor<2> {
        let map = &self.map.map;
        let [input, output] = map.weight.val().dims();
        // Â(XΘ) or (ÂX)Θ, whichever has the narrower sparse product.
        let mapped = match features {
            Features::Dense(dense) if input < output => {
                product(sparse_product(matrix, dense.clone()), map.weight.val())
            }
            _ => sparse_product(matrix, self.map.product(features)),
        };
        activated(mapped, &map.bias, map.activation)
    }
}

impl Summarize for GraphConv {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.map.summarize(name, uses);
        rows.iter_mut().for_each(|row| row.kind = "graph convolution");
        rows
    }
}
