//! The Chebyshev network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{check_nodes, layers, run_layers};
use crate::config::config;
use crate::error::{ConfigError, check_total};
use crate::form::Form;
use crate::graph::{Features, GraphInput, LambdaMax, Linking};
use crate::init::Init;
use crate::layer::{Chebyshev, ChebyshevConfig, Dropout, drop_features};
use crate::mode::Mode;
use crate::net::{GraphNet, GraphNetConfig, Net, NetConfig};
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`ChebyshevNet`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let graph = Graph::new(4, &[(0, 1), (1, 2), (2, 0)], false)?;
    /// let net = ChebyshevNetConfig::new(8, [16], 3).with_order(3).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let links = net.links(&graph)?;
    /// let input = GraphInput::new(Tensor::ones([4, 8], &device), &links);
    /// assert_eq!(net.forward(input, &mut Mode::Eval).dims(), [4, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct ChebyshevNetConfig {
        /// How many features a node has.
        pub num_features: usize,
        /// The widths of the hidden layers; none is one layer from features to classes.
        pub hidden: Vec<usize>,
        /// The number of classes.
        pub num_classes: usize,
        /// The degree of the polynomials. Default: 2.
        pub order: usize = 2,
        /// The largest eigenvalue of the Laplacian. Default: 2.
        pub lambda_max: LambdaMax = LambdaMax::Two,
        /// σ of the hidden layers. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// Dropout of the features. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout of the inputs of the layers after the first. Default: 0.
        pub dropout: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A net with hidden layers of these widths and polynomials of degree 2.
    pub fn new(num_features: usize, hidden: impl Into<Vec<usize>>, num_classes: usize);
}

impl NetConfig for ChebyshevNetConfig {
    type Net = ChebyshevNet;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<ChebyshevNet, ConfigError> {
        let layers = layers(self.num_features, &self.hidden, self.num_classes, self.activation)?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let layer = |(from, to, activation)| {
            ChebyshevConfig::new(from, to, self.order).with_activation(activation).with_init(self.init)
        };
        let layers: Vec<ChebyshevConfig> = layers.into_iter().map(layer).collect();
        let numbers = layers.iter().map(ChebyshevConfig::numbers).sum::<Result<usize, _>>()?;
        check_total("order", numbers)?;
        Ok(ChebyshevNet {
            layer: layers.iter().map(|layer| layer.init(rng, device)).collect::<Result<_, _>>()?,
            num_features: self.num_features,
            order: self.order,
            lambda_max: self.lambda_max,
            input_dropout,
            dropout,
        })
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl GraphNetConfig for ChebyshevNetConfig {
    fn num_features(&self) -> usize {
        self.num_features
    }

    fn num_classes(&self) -> usize {
        self.num_classes
    }
}

/// The Chebyshev network of [Defferrard et al.](https://arxiv.org/abs/1606.09375), made with [`ChebyshevNetConfig`]: layers
/// Y = σ(Σₖ Tₖ(L̃) X Θₖ + b), the last without σ.
#[derive(Module, Debug)]
pub struct ChebyshevNet {
    /// The layers.
    pub layer: Vec<Chebyshev>,
    num_features: usize,
    order: usize,
    #[module(skip)]
    lambda_max: LambdaMax,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl ChebyshevNet {
    /// The output of the first `depth` layers: `[nodes, width]`.
    fn run(&self, input: &GraphInput, depth: usize, mode: &mut Mode) -> Tensor<2> {
        check_nodes("chebyshev net", input, self.num_features);
        let features = drop_features(&input.features, self.input_dropout, mode);
        let layer =
            |at: usize, state: &Features| self.layer[at].forward(&input.links, at * self.order, state);
        let state = run_layers(depth, features, self.dropout, mode, layer);
        match self.order {
            // No layer has aggregated, so none has reduced the state to the nodes of the batch.
            0 => state.narrow(0, 0, input.links.hop(0)[0].rows()),
            _ => state,
        }
    }
}

impl GraphNet for ChebyshevNet {
    fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2> {
        self.run(input, self.layer.len().saturating_sub(1).max(1), mode)
    }

    fn linking(&self) -> Linking {
        Linking::Laplacian(self.lambda_max)
    }

    /// The order times the number of layers. A net of order 0 still counts as one hop.
    fn hops(&self) -> usize {
        (self.order * self.layer.len()).max(1)
    }
}

impl Net for ChebyshevNet {
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
