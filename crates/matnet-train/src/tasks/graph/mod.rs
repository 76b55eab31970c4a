//! Node classification: a net on a graph predicts the classes of its nodes.

mod config;
mod data;
mod packed;
#[cfg(feature = "report")]
mod report;
mod scores;

use std::sync::{Arc, Mutex, OnceLock};

use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::graph::{Features, GraphStore, Links, Sampler};
use matnet::net::{GraphNet, GraphNetConfig, Net};
use matnet_data::catalog::Cache;
use serde::{Deserialize, Serialize};
use toml::Table;

pub use self::config::{Directed, GraphDataConfig, GraphSplitConfig, GraphSplitRule, NormalizeFeatures};
pub use self::data::NodeData;
pub use self::packed::{NodeGraph, StoredGraph};
use self::scores::{EVAL_NODES, rows};
use crate::config::{Loss, TrainConfig, fill_count, from_table, keys_of};
use crate::ranks::Ranks;
use crate::task::{
    BatchScore, ClassLoss, ExampleShape, Loaded, NetOf, OtherData, PredictRequest, PredictedBatch,
    PredictionStream, Task, TaskData,
};
use crate::tasks::classes;
use crate::{Error, Result, Split};

/// What is stored beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphMetadata {
    /// How features are normalized.
    pub normalize: NormalizeFeatures,
    /// A name per class.
    pub classes: Vec<String>,
    /// A name per feature, where the table of nodes has names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// A name per relation, where the net distinguishes several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<String>,
    /// Whether a relation of the graph was directed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub directed: bool,
    /// The weights of the classes in the loss, where they are weighed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<f32>,
}

/// A net that learns the classes of nodes.
///
/// A training step aggregates from at most `data.num_neighbors` neighbours of a node, drawn for that step from those that
/// `data.edge_dropout` leaves; with `train.batch_size` it takes so many nodes and only the neighbourhood that they need. An
/// evaluation takes the whole graph with all neighbours, or with `data.eval_num_neighbors` of each node. A net with a fixed number of
/// neighbours then gets a draw that the data's seed decides.
///
/// A packed graph that stays in its folder is trained and evaluated by batches, with the same bits as in memory.
pub struct GraphTask<C: GraphNetConfig> {
    data: Arc<NodeData>,
    net: C,
    class_loss: ClassLoss,
    /// Whether a step takes some nodes, not all.
    batches: bool,
    /// Made when first needed, since the net decides what they are.
    links: OnceLock<Links>,
    sampler: OnceLock<Sampler>,
    eval_sampler: OnceLock<Sampler>,
    /// Those of each device they were asked for on: of training and of evaluation.
    features: Arc<Mutex<Vec<(Device, bool, Features)>>>,
}

/// Nodes of a stored graph that are predicted at once.
const PREDICT_NODES: usize = 1 << 14;

/// The names of nodes, which are asked for one after another.
enum NodeNames {
    /// All of them at once.
    All(Option<Vec<String>>),
    /// As many as are needed.
    Read(Option<Box<dyn Iterator<Item = matnet_data::Result<String>>>>),
}

impl NodeNames {
    fn take(&mut self, count: usize) -> Result<Option<Vec<String>>> {
        match self {
            Self::All(names) => Ok(names.take()),
            Self::Read(names) => {
                let some = names.as_mut().map(|names| names.take(count).collect::<matnet_data::Result<_>>());
                Ok(some.transpose()?)
            }
        }
    }
}

impl<C: GraphNetConfig> GraphTask<C> {
    /// A task on data that fit the net.
    fn build(data: Arc<NodeData>, net: C, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let expected = "classes are trained with \"cross-entropy\"";
            return Err(Error::config("train", "loss", loss.name(), expected));
        }
        if let NodeGraph::Stored(stored) = &data.graph {
            let blank = net.blank(&Device::flex()).map_err(crate::error::at("model"))?;
            let store: Arc<dyn GraphStore> = stored.clone();
            Sampler::stored(store, blank.linking(), blank.hops(), None)
                .map_err(|error| Error::Mismatch(format!("{}: {error}", data.config.source)))?;
        }
        let batches = train.batch_size.is_some();
        let mut counts = vec![0.0; data.class_names.len()];
        for &node in data.split(Split::Train) {
            let weight = data.weights.get(node).map_or(1.0, |&weight| weight.into());
            counts[data.labels[node].unwrap_or(0) as usize] += weight;
        }
        let class_loss = ClassLoss::of_classes(train, &data.class_names, &counts)?;
        let (links, sampler, eval_sampler) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { data, net, class_loss, batches, links, sampler, eval_sampler, features: Arc::default() })
    }

    /// The graph of a file, for predictions of a trained net.
    fn for_file(loaded: &Loaded<Self>, request: &PredictRequest) -> Result<Self> {
        let (source, edges) =
            (request.input.to_string_lossy(), request.edges.map(std::path::Path::to_string_lossy));
        let other = OtherData { source: &source, edges: edges.as_deref() };
        let data = NodeData::load_other(other, &loaded.data_config, &loaded.metadata, request.cache);
        let task = data.and_then(|data| Self::for_trained(data.unlabelled(), loaded));
        task.map_err(|error| request.about(error))
    }
}

impl<C: GraphNetConfig + 'static> Task for GraphTask<C> {
    type DataConfig = GraphDataConfig;
    type Data = NodeData;
    type NetConfig = C;
    type Metadata = GraphMetadata;
    type Output = Tensor<2>;

    fn load(config: &GraphDataConfig, cache: &Cache, seed: u64, ranks: &Ranks) -> Result<NodeData> {
        NodeData::load(config, cache, seed, ranks)
    }

    fn load_other(
        other: OtherData,
        config: &GraphDataConfig,
        metadata: &GraphMetadata,
        cache: &Cache,
    ) -> Result<NodeData> {
        NodeData::load_other(other, config, metadata, cache)
    }

    fn split_per_seed(config: &GraphDataConfig) -> bool {
        config.split.per_seed
    }

    fn net_config(mut table: Table, data: &NodeData) -> Result<C> {
        if data.class_names.len() < 2 {
            let value = format!("{}: one class only", data.config.source);
            return Err(Error::config("data", "source", value, "at least two classes expected"));
        }
        classes::check(&data.indices, |node| data.labels[node], &data.class_names)?;
        let sizes = [
            ("num_features", data.width),
            ("num_classes", data.class_names.len()),
            ("num_relations", data.relations()),
        ];
        let known = keys_of::<C>();
        for (key, count) in sizes.into_iter().filter(|(key, _)| known.contains(key)) {
            fill_count(&mut table, key, count);
        }
        let config: C = from_table("model", table)?;
        let have = [Some(config.num_features()), Some(config.num_classes()), config.num_relations()];
        for ((key, wanted), have) in sizes.into_iter().zip(have) {
            if let Some(have) = have.filter(|&have| have != wanted) {
                let expected = format!("the data have {wanted}; leave it out");
                return Err(Error::config("model", key, have.to_string(), expected));
            }
        }
        Ok(config)
    }

    fn new(data: Arc<NodeData>, net: C, train: &TrainConfig, _ranks: &Ranks) -> Result<Self> {
        if matches!(data.graph, NodeGraph::Stored(_)) && train.batch_size.is_none() {
            let expected = "the graph stays in its folder, because it would not fit into memory, and is trained by \
                            mini-batches: set it, and data.num_neighbors";
            return Err(Error::config("train", "batch_size", "is missing", expected));
        }
        Self::build(data, net, train)
    }

    fn check_metadata(net: &C, metadata: &GraphMetadata) -> Result<(), String> {
        let (named, classes) = (metadata.classes.len(), net.num_classes());
        match named == classes {
            true => Ok(()),
            false => Err(format!("names {named} classes where the net has {classes}")),
        }
    }

    fn for_trained(data: NodeData, loaded: &Loaded<Self>) -> Result<Self> {
        let (net, have) = (&loaded.net_config, data.width);
        if net.num_features() != have {
            let takes = net.num_features();
            let what = format!("the net takes {takes} features per node, this graph has {have}");
            return Err(Error::Mismatch(what));
        }
        let have = data.relations();
        if let Some(takes) = net.num_relations().filter(|&takes| takes != have) {
            let what = format!(
                "the net takes a graph of {takes} relation{}, this one has {have}",
                if takes == 1 { "" } else { "s" }
            );
            return Err(Error::Mismatch(what));
        }
        let train = loaded.train.with_fitted_weights(&loaded.metadata.class_weights);
        Self::build(Arc::new(data.with_classes(&loaded.metadata.classes)?), net.clone(), &train)
    }

    fn data(&self) -> &Arc<NodeData> {
        &self.data
    }

    fn data_config(&self) -> &GraphDataConfig {
        &self.data.config
    }

    fn config(&self) -> &C {
        &self.net
    }

    fn metadata(&self) -> GraphMetadata {
        let relations = match self.net.num_relations() {
            Some(_) => self.data.relation_names.clone(),
            None => Vec::new(),
        };
        let (normalize, classes) = (self.data.config.normalize, self.data.class_names.clone());
        let class_weights = self.class_loss.weights.clone().unwrap_or_default();
        let directed = !self.data.graph.is_symmetric();
        let features = self.data.feature_names.clone();
        GraphMetadata { normalize, classes, features, relations, directed, class_weights }
    }

    fn example(&self) -> ExampleShape {
        let shape = format!("{} features per node", self.data.width);
        ExampleShape { shape, unit: "node", steps: 1, per_epoch: self.data.nodes() }
    }

    fn loss(&self) -> Loss {
        Loss::CrossEntropy
    }

    fn batch_size(&self, wanted: Option<usize>) -> Option<usize> {
        wanted
    }

    /// Nodes of a packed graph by their neighbourhoods; else all at once, since the whole graph goes through the net anyway.
    fn eval_batch_size(&self, _wanted: Option<usize>) -> usize {
        if self.data.packed { EVAL_NODES } else { usize::MAX }
    }

    fn forward(&self, net: &NetOf<Self>, nodes: &[usize], mode: &mut Mode, device: &Device) -> Tensor<2> {
        let places = self.data.places(nodes);
        if mode.is_train() && self.batches {
            return self.batch_scores(net, &places, mode, device);
        }
        match mode.rng() {
            Some(rng) => {
                let input = self.sampled(net, rng, device);
                rows(net.forward(input, mode), &places)
            }
            None => self.eval_scores(net, &places, mode, device),
        }
    }

    fn score(&self, scores: Tensor<2>, nodes: &[usize], _device: &Device) -> BatchScore {
        let weights = self.metric_weights(nodes);
        BatchScore::of_classes(scores, &self.classes(nodes), &self.class_loss, weights.as_deref())
    }

    fn class_scores<'a>(&self, scores: &'a Tensor<2>) -> Option<&'a Tensor<2>> {
        Some(scores)
    }

    fn metric_weights(&self, nodes: &[usize]) -> Option<Vec<f32>> {
        let weights = &self.data.weights;
        (!weights.is_empty()).then(|| nodes.iter().map(|&node| weights[node]).collect())
    }

    /// Splits hold nodes with a class only.
    fn classes(&self, nodes: &[usize]) -> Vec<u32> {
        nodes.iter().map(|&node| self.data.labels[node].unwrap_or(0)).collect()
    }

    fn class_names(&self) -> &[String] {
        &self.data.class_names
    }

    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>> {
        let layer = request.hidden_layer(loaded.kind)?;
        if request.batch_size.is_some() {
            return Err(Error::Mismatch(
                "a batch size was given; a graph is predicted as a whole".to_owned(),
            ));
        }
        let task = Self::for_file(loaded, request)?;
        let total = task.data.nodes();
        let classes = if layer.is_some() { Vec::new() } else { loaded.metadata.classes.clone() };
        let (at_once, mut names) = match &task.data.graph {
            // The same batches as from the folder.
            NodeGraph::Memory { .. } if task.data.packed => {
                let names = task.data.names()?.map(|names| names.into_iter().map(Ok));
                let names = names.map(|names| Box::new(names) as Box<dyn Iterator<Item = _>>);
                (PREDICT_NODES, NodeNames::Read(names))
            }
            NodeGraph::Memory { .. } => (total, NodeNames::All(task.data.names()?)),
            NodeGraph::Stored(stored) => {
                let names = stored.names()?.map(|names| Box::new(names) as Box<dyn Iterator<Item = _>>);
                (PREDICT_NODES, NodeNames::Read(names))
            }
        };
        let batch = (0..total).step_by(at_once).map(move |first| {
            let nodes: Vec<usize> = (first..(first + at_once).min(total)).collect();
            let places = task.data.places(&nodes);
            let predictions = task.predicted(&loaded.net, &places, layer.as_deref(), &loaded.device)?;
            Ok(PredictedBatch { predictions, names: names.take(nodes.len())? })
        });
        let columns = Vec::new();
        Ok(PredictionStream { unit: "node", total, classes, columns, batches: Box::new(batch) })
    }
}
