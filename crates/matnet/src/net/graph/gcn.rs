//! The graph convolutional network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{check_nodes, layers, run_layers};
use crate::config::config;
use crate::error::{ConfigError, check_total};
use crate::form::Form;
use crate::graph::{Features, GraphInput, Linking};
use crate::init::Init;
use crate::layer::{Dropout, GraphConv, GraphConvConfig, drop_features};
use crate::mode::Mode;
use crate::net::{GraphNet, GraphNetConfig, Net, NetConfig};
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`Gcn`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let graph = Graph::new(4, &[(0, 1), (1, 2), (2, 0)], false)?;
    /// let net = GcnConfig::new(8, [16], 3).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let links = net.links(&graph)?;
    /// let input = GraphInput::new(Tensor::ones([4, 8], &device), &links);
    /// assert_eq!(net.forward(input, &mut Mode::Eval).dims(), [4, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct GcnConfig {
        /// How many features a node has.
        pub num_features: usize,
        /// The widths of the hidden layers; none is one convolution from features to classes.
        pub hidden: Vec<usize>,
        /// The number of classes.
        pub num_classes: usize,
        /// σ of the hidden layers. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// Dropout of the features. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout of the inputs of the layers after the first. Default: 0.
        pub dropout: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A net with hidden layers of these widths.
    pub fn new(num_features: usize, hidden: impl Into<Vec<usize>>, num_classes: usize);
}

impl NetConfig for GcnConfig {
    type Net = Gcn;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Gcn, ConfigError> {
        let layers = layers(self.num_features, &self.hidden, self.num_classes, self.activation)?;
        check_total("hidden", layers.iter().map(|(from, to, _)| from * to).sum())?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let layer = layers.into_iter().map(|(from, to, activation)| {
            let layer = GraphConvConfig::new(from, to).with_activation(activation).with_init(self.init);
            layer.init(rng, device)
        });
        Ok(Gcn {
            layer: layer.collect::<Result<_, _>>()?,
            num_features: self.num_features,
            input_dropout,
            dropout,
        })
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl GraphNetConfig for GcnConfig {
    fn num_features(&self) -> usize {
        self.num_features
    }

    fn num_classes(&self) -> usize {
        self.num_classes
    }
}

/// The graph convolutional network of [Kipf & Welling](https://arxiv.org/abs/1609.02907), made with [`GcnConfig`]: any
/// number of layers Y = σ(Â X Θ + b), the last without σ.
///
/// Â = D̃^−½ (A + I) D̃^−½ is fixed: each layer is `mat1` with Uᵀ = Â.
#[derive(Module, Debug)]
pub struct Gcn {
    /// The graph convolutions.
    pub layer: Vec<GraphConv>,
    num_features: usize,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl Gcn {
    /// The output of the first `depth` layers: `[nodes, width]`.
    fn run(&self, input: &GraphInput, depth: usize, mode: &mut Mode) -> Tensor<2> {
        check_nodes("gcn", input, self.num_features);
        let features = drop_features(&input.features, self.input_dropout, mode);
        let layer = |at: usize, state: &Features| self.layer[at].forward(&input.links.hop(at)[0], state);
        run_layers(depth, features, self.dropout, mode, layer)
    }
}

impl GraphNet for Gcn {
    fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2> {
        self.run(input, self.layer.len().saturating_sub(1).max(1), mode)
    }

    fn linking(&self) -> Linking {
        Linking::Renormalized
    }

    fn hops(&self) -> usize {
        self.layer.len()
    }
}

impl Net for Gcn {
    type Input = GraphInput;
    /// Scores `[nodes, classes]`.
    type Output = Tensor<2>;

    fn forward(&self, input: GraphInput, mode: &mut Mode) -> Tensor<2> {
        self.run(&input, self.layer.len(), mode)
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
    /// Operations are counted per node, without those of the sparse products.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        self.layer.summarize("layer", 1)
    }
}
