//! One layer of a column net: a highway over a node's own state and the aggregate of its neighbours.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{EdgeAttention, EdgeAttentionConfig, first_rows};
use crate::config::config;
use crate::error::{ConfigError, check_sides};
use crate::graph::{Linking, Sparse};
use crate::init::{self, Init};
use crate::layer::{Dropout, TRANSFORM_BIAS_INIT};
use crate::mode::Mode;
use crate::ops::{Activation, HighwayMaps, highway, product, slot_map, sparse_highway};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};

/// How a node aggregates from its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Their mean.
    #[default]
    Mean,
    /// Several attention heads, concatenated.
    Attention,
    /// A fixed number of neighbours concatenated to one vector; missing ones are zero.
    Concat,
}

/// Attention heads, by default.
pub(crate) const HEADS: usize = 10;
/// Neighbours that are concatenated, by default.
pub(crate) const NUM_NEIGHBORS: usize = 50;

config! {
    /// The config of a [`ColumnLayer`].
    pub struct ColumnLayerConfig {
        /// The size of a node's state.
        pub width: usize,
        /// How a node aggregates from its neighbours.
        pub aggregation: Aggregation,
        /// The number of attention heads; for attention only. Default: 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub heads: Option<usize> = None,
        /// How many neighbours are concatenated; for concatenation only. Default: 50.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub num_neighbors: Option<usize> = None,
        /// The number of relations of the graph. Default: 1.
        pub num_relations: usize = 1,
        /// σ of the candidate. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// Dropout of the inputs of the maps; the carried state is not dropped. Default: 0.
        pub dropout: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A layer on states of `width` numbers.
    pub fn new(width: usize, aggregation: Aggregation);
}

impl ColumnLayerConfig {
    /// The matrix that this layer multiplies states with.
    pub fn linking(&self) -> Linking {
        match self.aggregation {
            Aggregation::Mean => Linking::Mean,
            Aggregation::Attention => Linking::Adjacency,
            Aggregation::Concat => Linking::Slots(self.concatenated()),
        }
    }

    /// How many states are concatenated per relation.
    fn concatenated(&self) -> usize {
        match self.aggregation {
            Aggregation::Mean => 1,
            Aggregation::Attention => self.heads.unwrap_or(HEADS),
            Aggregation::Concat => self.num_neighbors.unwrap_or(NUM_NEIGHBORS),
        }
    }

    /// Fails if a key is given that the aggregation does not use.
    fn check_unused(&self) -> Result<(), ConfigError> {
        for (key, value, user, name) in [
            ("heads", self.heads, Aggregation::Attention, "attention"),
            ("num_neighbors", self.num_neighbors, Aggregation::Concat, "concat"),
        ] {
            if let Some(value) = value.filter(|_| self.aggregation != user) {
                let expected = format!("only aggregation = \"{name}\" uses it");
                return Err(ConfigError::new(key, value.to_string(), expected));
            }
        }
        Ok(())
    }

    /// The number of parameters; an error if one of them is too large.
    pub(crate) fn numbers(&self) -> Result<usize, ConfigError> {
        let Self { width, num_relations: relations, .. } = *self;
        check_sides("hidden", &[width])?;
        check_sides("num_relations", &[relations])?;
        self.check_unused()?;
        let key = match self.aggregation {
            Aggregation::Mean => "hidden",
            Aggregation::Attention => "heads",
            Aggregation::Concat => "num_neighbors",
        };
        check_sides(key, &[self.concatenated()])?;
        check_sides("hidden", &[2, width, width])?;
        check_sides(key, &[2, relations, self.concatenated(), width, width])?;
        let own = 2 * width * width;
        let scores = match self.aggregation {
            Aggregation::Attention => relations * self.concatenated() * (width * width + width),
            Aggregation::Mean | Aggregation::Concat => 0,
        };
        Ok(own + own * relations * self.concatenated() + 2 * width + scores)
    }

    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<ColumnLayer, ConfigError> {
        self.numbers()?;
        let Self { width, num_relations: relations, .. } = *self;
        let aggregated = relations * self.concatenated() * width;
        // The gate is a sigmoid, the candidate as configured; own and aggregated parts add up, so each has half the gain.
        let [gate, candidate] = [Activation::Sigmoid, self.activation].map(|f| init::gain(f) / 2.0);
        let mut stacked = |from: usize| {
            let mut numbers = self.init.draw([from, width], gate, rng);
            numbers.extend(self.init.draw([from, width], candidate, rng));
            init::parameter(numbers, [2, from, width], device)
        };
        let own_map = stacked(width);
        let neighbor_map = stacked(aggregated);
        let bias = [TRANSFORM_BIAS_INIT as f32, 0.0].map(|start| vec![start; width]).concat();
        let attention = match self.aggregation {
            Aggregation::Attention => {
                let config = EdgeAttentionConfig::new(width, self.concatenated()).with_init(self.init);
                (0..relations).map(|_| config.init(rng, device)).collect::<Result<_, _>>()?
            }
            Aggregation::Mean | Aggregation::Concat => Vec::new(),
        };
        Ok(ColumnLayer {
            own_map,
            neighbor_map,
            bias: init::parameter(bias, [2, width], device),
            attention,
            relations,
            aggregation: self.aggregation,
            activation: self.activation,
            dropout: Dropout::new("dropout", self.dropout)?,
        })
    }
}

/// One layer of a column net ([Pham et al.](https://arxiv.org/abs/1609.04508)), made with [`ColumnLayerConfig`]: a highway over
/// \[own, aggregated\].
///
/// Z = sigm(H V₁ + Σᵣ H̃ᵣ Uᵣ₁ + b₁), C = σ(H V₂ + Σᵣ H̃ᵣ Uᵣ₂ + b₂), H′ = (1 − Z) ⊙ H + Z ⊙ C, over relations r. H̃ is the
/// mean of the neighbours' states, or n attention heads concatenated, or the neighbours themselves concatenated.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct ColumnLayer {
    /// V of the gate and of the candidate: `[2, width, width]`
    pub own_map: Param<Tensor<3>>,
    /// U of the gate and of the candidate, relation after relation: `[2, relations · n · width, width]`
    pub neighbor_map: Param<Tensor<3>>,
    /// b of the gate and of the candidate: `[2, width]`
    pub bias: Param<Tensor<2>>,
    /// The attention of each relation; empty for other aggregations.
    pub attention: Vec<EdgeAttention>,
    relations: usize,
    #[module(skip)]
    aggregation: Aggregation,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    dropout: Dropout,
}

impl ColumnLayer {
    /// σ of the candidate.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The number of relations of the graph.
    pub fn relations(&self) -> usize {
        self.relations
    }

    /// H → H′: `[others, width]` → `[nodes, width]`, along one matrix per relation.
    ///
    /// # Panics
    ///
    /// If there are not as many matrices as relations, or they do not fit the state.
    pub fn forward(&self, hop: &[Sparse], state: Tensor<2>, mode: &mut Mode) -> Tensor<2> {
        let relations = self.relations;
        assert!(
            hop.len() == relations,
            "column layer: built for a graph of {relations} relations, given {}",
            hop.len()
        );
        let [_, sources, width] = self.neighbor_map.val().dims();
        let (nodes, many) = (hop[0].rows(), sources / (relations * width));
        let entering = self.dropout.forward(state.clone(), mode);
        if self.aggregation == Aggregation::Mean {
            let maps = HighwayMaps {
                own_map: self.own_map.val(),
                neighbor_map: self.neighbor_map.val(),
                bias: self.bias.val(),
                activation: self.activation,
            };
            let state = self.dropout.drops(mode).then(|| first_rows(state, nodes));
            return sparse_highway(hop, entering, state, maps);
        }
        let state = first_rows(state, nodes);

        let own_map = self.own_map.val().swap_dims(0, 1).reshape([width, 2 * width]);
        let own = product(first_rows(entering.clone(), nodes), own_map);
        let neighbor_map = self.neighbor_map.val().reshape([2, relations, many * width, width]);
        let aggregated = hop.iter().enumerate().map(|(relation, matrix)| {
            assert_eq!(matrix.rows(), nodes, "column layer: relations differ in nodes");
            let map = neighbor_map.clone().narrow(1, relation, 1).reshape([2, many * width, width]);
            let map = map.swap_dims(0, 1).reshape([many * width, 2 * width]);
            match self.attention.get(relation) {
                Some(attention) => attention.mapped(matrix, entering.clone(), map),
                None => slot_map(matrix, entering.clone(), map),
            }
        });
        let aggregated = aggregated.reduce(|sum, relation| sum + relation).expect("at least one relation");
        highway(own, aggregated, self.bias.val(), state, self.activation)
    }
}

impl Summarize for ColumnLayer {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [_, aggregated, width] = self.neighbor_map.lazy_shape().dims();
        let row = LayerSummary::new(name, "column layer", uses)
            .with_weight("own_map", Some(&self.own_map))
            .with_weight("neighbor_map", Some(&self.neighbor_map))
            .with_parameter(Some(&self.bias))
            .with_shapes([width, 1], [width, 1])
            .with_flops(2 * (2 * width * (width + aggregated)) as u64);
        let mut rows = vec![row];
        rows.extend(self.attention.summarize(&join(name, "attention"), uses));
        rows
    }
}

impl ModuleDisplay for ColumnLayer {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [_, aggregated, width] = self.neighbor_map.lazy_shape().dims();
        content
            .add("width", &width)
            .add("aggregated", &aggregated)
            .add_debug_attribute("aggregation", &self.aggregation)
            .add_debug_attribute("activation", &self.activation)
            .optional()
    }
}
