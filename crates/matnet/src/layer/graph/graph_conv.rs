//! The graph convolution of GCN.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{FeatureMap, activated};
use crate::config::config;
use crate::error::ConfigError;
use crate::graph::{Features, Sparse};
use crate::init::Init;
use crate::ops::{Activation, product, sparse_product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::VecLinearConfig;

config! {
    /// The config of a [`GraphConv`].
    pub struct GraphConvConfig {
        /// The input size of a node.
        pub input: usize,
        /// The output size of a node.
        pub output: usize,
        /// Whether there is a bias b. Default: yes.
        pub bias: bool = true,
        /// σ. Default: the identity.
        pub activation: Activation = Activation::Identity,
        /// How Θ is initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A convolution between these sizes.
    pub fn new(input: usize, output: usize);
}

impl GraphConvConfig {
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
