//! The column network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::check_nodes;
use crate::config::config;
use crate::error::{ConfigError, MAX_DEPTH, check_count, check_sides, check_total};
use crate::form::Form;
use crate::graph::{Graph, GraphError, GraphInput, Linking, Links};
use crate::init::Init;
use crate::layer::{
    Aggregation, ColumnLayer, ColumnLayerConfig, Dropout, FeatureMap, HEADS, NUM_NEIGHBORS, drop_features,
};
use crate::mode::Mode;
use crate::net::{GraphNet, GraphNetConfig, Net, NetConfig};
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::{VecLinear, VecLinearConfig};

config! {
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
    ///     .with_heads(Some(10))
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
    pub struct ColumnNetConfig {
        /// How many features a node has.
        pub num_features: usize,
        /// The hidden size: numbers in the state of a node.
        pub hidden: usize,
        /// The number of classes.
        pub num_classes: usize,
        /// The number of layers, which is the number of hops. Default: 5.
        pub depth: usize = 5,
        /// How a node aggregates from its neighbours. Default: by their mean.
        pub aggregation: Aggregation = Aggregation::Mean,
        /// The number of attention heads; for attention only. Default: 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub heads: Option<usize> = None,
        /// How many neighbours are concatenated; for concatenation only. Default: 50.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub num_neighbors: Option<usize> = None,
        /// The number of relations of the graph. Default: 1.
        pub num_relations: usize = 1,
        /// Whether all layers share their parameters. Default: no.
        pub tied: bool = false,
        /// σ of the input and of the candidates. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// Dropout of the features. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout of the inputs of the maps of each layer, and of the head. Default: 0.
        pub dropout: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A net of 5 layers that aggregate by the mean.
    pub fn new(num_features: usize, hidden: usize, num_classes: usize);
}

impl ColumnNetConfig {
    fn layer(&self) -> ColumnLayerConfig {
        ColumnLayerConfig::new(self.hidden, self.aggregation)
            .with_heads(self.heads)
            .with_num_neighbors(self.num_neighbors)
            .with_num_relations(self.num_relations)
            .with_activation(self.activation)
            .with_dropout(self.dropout)
            .with_init(self.init)
    }
}

impl NetConfig for ColumnNetConfig {
    type Net = ColumnNet;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<ColumnNet, ConfigError> {
        check_sides("num_features", &[self.num_features])?;
        check_sides("hidden", &[self.hidden])?;
        check_sides("hidden", &[self.num_features, self.hidden])?;
        check_count("num_classes", self.num_classes, crate::MAX_NUMBERS)?;
        check_sides("num_classes", &[self.hidden, self.num_classes])?;
        check_count("depth", self.depth, MAX_DEPTH)?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let layer = self.layer();
        let built = if self.tied { 1 } else { self.depth };
        check_total("depth", layer.numbers()?.saturating_mul(built))?;
        let dense = |from, to| VecLinearConfig::new(from, to).with_init(self.init);
        let input = dense(self.num_features, self.hidden).with_activation(self.activation);
        Ok(ColumnNet {
            input: FeatureMap { map: input.init(rng, device)? },
            layer: (0..built).map(|_| layer.init(rng, device)).collect::<Result<_, _>>()?,
            head: dense(self.hidden, self.num_classes).init(rng, device)?,
            depth: self.depth,
            num_features: self.num_features,
            num_relations: self.num_relations,
            linking: layer.linking(),
            input_dropout,
            dropout,
        })
    }

    fn resolved(&self) -> Self {
        let heads = (self.aggregation == Aggregation::Attention).then_some(HEADS);
        let num_neighbors = (self.aggregation == Aggregation::Concat).then_some(NUM_NEIGHBORS);
        Self {
            heads: self.heads.or(heads),
            num_neighbors: self.num_neighbors.or(num_neighbors),
            ..self.clone()
        }
    }

    fn keeps_intermediates(&self) -> bool {
        self.aggregation == Aggregation::Mean
    }

    /// Vector where the neighbours are concatenated.
    fn form(&self) -> Form {
        form(self.layer().linking())
    }
}

impl GraphNetConfig for ColumnNetConfig {
    fn num_features(&self) -> usize {
        self.num_features
    }

    fn num_classes(&self) -> usize {
        self.num_classes
    }

    fn num_relations(&self) -> Option<usize> {
        Some(self.num_relations)
    }
}

fn form(linking: Linking) -> Form {
    if matches!(linking, Linking::Slots(_)) { Form::Vector } else { Form::Matrix }
}

/// The column network of [Pham et al.](https://arxiv.org/abs/1609.04508), made with [`ColumnNetConfig`]: H⁰ = σ(X W + b), then
/// `depth` layers Hᵗ = F(Hᵗ⁻¹, H̃ᵗ⁻¹), where F is a highway layer over a node's own state and the aggregate of its
/// neighbours ([`ColumnLayer`]), then a score per class.
///
/// With [`Aggregation::Mean`] it is the CLN of Do, Tran & Venkatesh,
/// [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454), with [`Aggregation::Attention`] their
/// multi-attention CLN, with [`Aggregation::Concat`] the vector CLN.
#[derive(Module, Debug)]
pub struct ColumnNet {
    /// From the features to the first state H⁰.
    pub input: FeatureMap,
    /// The layers; one, if they are tied.
    pub layer: Vec<ColumnLayer>,
    /// From the last state to the scores: `[hidden, classes]`.
    pub head: VecLinear,
    depth: usize,
    num_features: usize,
    num_relations: usize,
    #[module(skip)]
    linking: Linking,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl GraphNet for ColumnNet {
    fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2> {
        check_nodes("column net", input, self.num_features);
        let features = drop_features(&input.features, self.input_dropout, mode);
        let mut state = self.input.forward(&features);
        mode.observe(|| "input".to_owned(), &state);
        for hop in 0..self.depth {
            let at = hop.min(self.layer.len() - 1);
            state = self.layer[at].forward(input.links.hop(hop), state, mode);
            mode.observe(|| format!("layer.{at}"), &state);
        }
        state
    }

    fn linking(&self) -> Linking {
        self.linking
    }

    fn hops(&self) -> usize {
        self.depth
    }

    fn links(&self, graph: &Graph) -> Result<Links, GraphError> {
        if graph.relations() != self.num_relations {
            return Err(GraphError::Relations { graph: graph.relations(), net: self.num_relations });
        }
        self.linking.links(graph)
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
        form(self.linking)
    }
    /// Operations are counted per node, without those of the sparse products.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        let tied = self.depth / self.layer.len();
        let mut rows = self.input.summarize("input", 1);
        rows.extend(self.layer.summarize("layer", tied));
        rows.extend(self.head.summarize("head", 1));
        rows
    }
}
