//! The column network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::check_nodes;
use crate::config::{fifty, one, relu, setters, ten};
use crate::error::{ConfigError, MAX_DEPTH, check_count, check_sides, check_total};
use crate::form::Form;
use crate::graph::{Graph, GraphError, GraphInput, Linking, Links};
use crate::init::Init;
use crate::layer::{ColumnLayer, ColumnLayerConfig, Dropout, FeatureMap, Aggregation, drop_features};
use crate::mode::Mode;
use crate::net::Net;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::vector::{VecLinear, VecLinearConfig};

/// The config of a [`ColumnNet`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::prelude::*;
///
/// let device = Device::flex();
/// let graph = Graph::new(4, &[(0, 1), (1, 2), (2, 0)], false)?;
/// let net = ColumnNetConfig::new(8, 20, 3)
///     .with_aggregation(Aggregation::Attention)
///     .with_heads(10)
///     .init(&mut SeededRng::new(42, "init"), &device)?;
///
/// // All nodes at once.
/// let features = Features::from(Tensor::ones([4, 8], &device));
/// let links = net.links(&graph)?;
/// let scores = net.forward(GraphInput::new(features.clone(), &links), &mut Mode::Eval);
/// assert_eq!(scores.dims(), [4, 3]);
///
/// // A mini-batch of two nodes, with at most 50 neighbours each.
/// let sampler = Sampler::new(&graph, net.linking(), net.hops(), Some(50))?;
/// let batch = sampler.batch(&[2, 3], &mut SeededRng::new(42, "sample"))?;
/// let input = GraphInput::new(features.select(&batch.inputs), &batch.links);
/// assert_eq!(net.forward(input, &mut Mode::Eval).dims(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnNetConfig {
    /// How many features a node has.
    pub features: usize,
    /// Numbers in a state.
    pub hidden: usize,
    /// How many classes.
    pub classes: usize,
    /// How many layers, which is how far a node hears. Default: 5.
    #[serde(default = "five")]
    pub height: usize,
    /// How neighbours are heard. Default: by their mean.
    #[serde(default)]
    pub aggregation: Aggregation,
    /// How many heads the attention has. Default: 10.
    #[serde(default = "ten")]
    pub heads: usize,
    /// How many neighbours a vector takes. Default: 50.
    #[serde(default = "fifty")]
    pub neighbours: usize,
    /// How many relations the graph has. Default: 1.
    #[serde(default = "one")]
    pub relations: usize,
    /// Whether all layers share their parameters. Default: no.
    #[serde(default)]
    pub tied: bool,
    /// σ of the input and of the candidates. Default: ReLU.
    #[serde(default = "relu")]
    pub activation: Activation,
    /// Dropout of the features. Default: 0.
    #[serde(default)]
    pub input_dropout: f64,
    /// Dropout of what enters the maps of each layer, and the top. Default: 0.
    #[serde(default)]
    pub dropout: f64,
    /// How the maps start. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

fn five() -> usize {
    5
}

impl ColumnNetConfig {
    /// A net of height 5 that hears its neighbours' mean.
    pub fn new(features: usize, hidden: usize, classes: usize) -> Self {
        Self {
            features,
            hidden,
            classes,
            height: five(),
            aggregation: Aggregation::Mean,
            heads: ten(),
            neighbours: fifty(),
            relations: 1,
            tied: false,
            activation: relu(),
            input_dropout: 0.0,
            dropout: 0.0,
            init: Init::default(),
        }
    }

    setters! {
        with_height(height: usize);
        with_aggregation(aggregation: Aggregation);
        with_heads(heads: usize);
        with_neighbours(neighbours: usize);
        with_relations(relations: usize);
        with_tied(tied: bool);
        with_activation(activation: Activation);
        with_input_dropout(input_dropout: f64);
        with_dropout(dropout: f64);
        with_init(init: Init);
    }

    fn layer(&self) -> ColumnLayerConfig {
        ColumnLayerConfig::new(self.hidden, self.aggregation)
            .with_heads(self.heads)
            .with_neighbours(self.neighbours)
            .with_relations(self.relations)
            .with_activation(self.activation)
            .with_dropout(self.dropout)
            .with_init(self.init)
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<ColumnNet, ConfigError> {
        check_sides("features", &[self.features])?;
        check_sides("hidden", &[self.hidden])?;
        check_sides("hidden", &[self.features, self.hidden])?;
        check_count("classes", self.classes, crate::MAX_NUMBERS)?;
        check_sides("classes", &[self.hidden, self.classes])?;
        check_count("height", self.height, MAX_DEPTH)?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let layer = self.layer();
        let built = if self.tied { 1 } else { self.height };
        check_total("height", layer.numbers()?.saturating_mul(built))?;
        let dense = |from, to| VecLinearConfig::new(from, to).with_init(self.init);
        let input = dense(self.features, self.hidden).with_activation(self.activation);
        Ok(ColumnNet {
            input: FeatureMap { map: input.init(rng, device)? },
            layer: (0..built).map(|_| layer.init(rng, device)).collect::<Result<_, _>>()?,
            head: dense(self.hidden, self.classes).init(rng, device)?,
            height: self.height,
            features: self.features,
            relations: self.relations,
            linking: layer.linking(),
            input_dropout,
            dropout,
        })
    }
}

/// The column network, made with [`ColumnNetConfig`]: H⁰ = σ(X W + b), then `height` layers Hᵗ = F(Hᵗ⁻¹, H̃ᵗ⁻¹), F a highway
/// over a node's own state and what it hears from its neighbours ([`ColumnLayer`]), then a score per class.
///
/// With [`Aggregation::Mean`] it is the paper's CLN, with [`Aggregation::Attention`] the multi-attention CLN, with
/// [`Aggregation::Concat`] the vector CLN.
#[derive(Module, Debug)]
pub struct ColumnNet {
    /// From the features to the first state.
    pub input: FeatureMap,
    /// The layers; tied, the one that is used again and again.
    pub layer: Vec<ColumnLayer>,
    /// From the last state to the scores: `[hidden, classes]`.
    pub head: VecLinear,
    height: usize,
    features: usize,
    relations: usize,
    #[module(skip)]
    linking: Linking,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl ColumnNet {
    /// How states must travel along the edges, for a [`Sampler`](crate::graph::Sampler).
    pub fn linking(&self) -> Linking {
        self.linking
    }

    /// How far a node hears.
    pub fn hops(&self) -> usize {
        self.height
    }

    /// The links of a whole graph, made once and used for each pass.
    /// An error if the graph has another number of relations than the net was built for.
    pub fn links(&self, graph: &Graph) -> Result<Links, GraphError> {
        if graph.relations() != self.relations {
            return Err(GraphError::Relations { graph: graph.relations(), net: self.relations });
        }
        self.linking.links(graph)
    }

    /// The last hidden states: `[nodes, hidden]`.
    pub fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2> {
        check_nodes("column net", input, self.features);
        let features = drop_features(&input.features, self.input_dropout, mode);
        let first = self.input.forward(&features);
        (0..self.height).fold(first, |state, hop| {
            let layer = &self.layer[hop.min(self.layer.len() - 1)];
            layer.forward(input.links.hop(hop), state, mode)
        })
    }
}

impl Net for ColumnNet {
    type Input = GraphInput;
    /// Scores `[nodes, classes]`.
    type Output = Tensor<2>;

    fn forward(&self, input: GraphInput, mode: &mut Mode) -> Tensor<2> {
        let hidden = self.hidden(&input, mode);
        self.head.forward(self.dropout.forward(hidden, mode))
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}
