//! The graph convolutional network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{check_nodes, widths};
use crate::config::{relu, setters};
use crate::error::{ConfigError, check_total};
use crate::form::Form;
use crate::graph::{Graph, GraphError, GraphInput, Linking, Links};
use crate::init::Init;
use crate::layer::{Dropout, GraphConv, GraphConvConfig, drop_features};
use crate::mode::Mode;
use crate::net::Net;
use crate::ops::Activation;
use crate::random::SeededRng;

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcnConfig {
    /// How many features a node has.
    pub features: usize,
    /// The widths of the hidden layers; none is one convolution from features to classes.
    pub hidden: Vec<usize>,
    /// How many classes.
    pub classes: usize,
    /// σ of the hidden layers. Default: ReLU.
    #[serde(default = "relu")]
    pub activation: Activation,
    /// Dropout of the features. Default: 0.
    #[serde(default)]
    pub input_dropout: f64,
    /// Dropout of what enters the layers after the first. Default: 0.
    #[serde(default)]
    pub dropout: f64,
    /// How the maps start. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

impl GcnConfig {
    /// A net with hidden layers of these widths.
    pub fn new(features: usize, hidden: impl Into<Vec<usize>>, classes: usize) -> Self {
        Self {
            features,
            hidden: hidden.into(),
            classes,
            activation: relu(),
            input_dropout: 0.0,
            dropout: 0.0,
            init: Init::default(),
        }
    }

    setters! {
        with_activation(activation: Activation);
        with_input_dropout(input_dropout: f64);
        with_dropout(dropout: f64);
        with_init(init: Init);
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Gcn, ConfigError> {
        let widths = widths(self.features, &self.hidden, self.classes)?;
        check_total("hidden", widths.windows(2).map(|pair| pair[0] * pair[1]).sum())?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let layer = widths.windows(2).enumerate().map(|(at, pair)| {
            let last = at + 2 == widths.len();
            GraphConvConfig::new(pair[0], pair[1])
                .with_activation(if last { Activation::Identity } else { self.activation })
                .with_init(self.init)
                .init(rng, device)
        });
        Ok(Gcn { layer: layer.collect::<Result<_, _>>()?, features: self.features, input_dropout, dropout })
    }
}

/// The graph convolutional network, made with [`GcnConfig`]: layers Y = σ(Â X Θ + b) of any number, the last without σ.
///
/// Â = D̃^−½ (A + I) D̃^−½ is fixed: each layer is `mat1` with Uᵀ = Â.
#[derive(Module, Debug)]
pub struct Gcn {
    /// The convolutions.
    pub layer: Vec<GraphConv>,
    features: usize,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl Gcn {
    /// How states must travel along the edges, for a [`Sampler`](crate::graph::Sampler).
    pub fn linking(&self) -> Linking {
        Linking::Renormalised
    }

    /// How far a node hears.
    pub fn hops(&self) -> usize {
        self.layer.len()
    }

    /// The links of a whole graph, made once and used for each pass.
    pub fn links(&self, graph: &Graph) -> Result<Links, GraphError> {
        self.linking().links(graph)
    }

    /// What the layers give up to the `depth`-th: `[nodes, width]`.
    fn run(&self, input: &GraphInput, depth: usize, mode: &mut Mode) -> Tensor<2> {
        check_nodes("gcn", input, self.features);
        let features = drop_features(&input.features, self.input_dropout, mode);
        let mut state = self.layer[0].forward(&input.links.hop(0)[0], &features);
        for hop in 1..depth {
            let dropped = self.dropout.forward(state, mode).into();
            state = self.layer[hop].forward(&input.links.hop(hop)[0], &dropped);
        }
        state
    }

    /// The last hidden states, `[nodes, hidden]`; of a net of one layer, the scores.
    pub fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2> {
        self.run(input, self.layer.len().saturating_sub(1).max(1), mode)
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
}
