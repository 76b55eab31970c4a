//! Node classification: a net on a graph predicts the classes of its nodes.

mod config;
mod data;
#[cfg(feature = "report")]
mod report;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::graph::{Features, GraphInput, Linking, Links, Sampler};
use matnet::net::{GraphNet, GraphNetConfig, Net};
use matnet::random::SeededRng;
use matnet_data::catalog::Cache;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use self::config::{Directed, GraphDataConfig, GraphSplitConfig, GraphSplitRule, NormalizeFeatures};
pub use self::data::NodeData;
use crate::config::{Loss, TrainConfig, from_table, keys_of};
use crate::task::{
    BatchScore, ClassLoss, Dataset, ExampleShape, Loaded, NetOf, OtherData, PredictRequest, PredictedBatch,
    PredictionStream, Predictions, Task, recorded_states,
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
/// A training step aggregates from at most `data.num_neighbors` neighbors of a node, drawn for that step from those that
/// `data.edge_dropout` leaves; with `train.batch_size` it takes so many nodes and only the neighborhood that they need. An
/// evaluation takes the whole graph with all neighbors. A net with a fixed number of neighbors then gets a draw that the data's
/// seed decides.
pub struct GraphTask<C: GraphNetConfig> {
    data: Arc<NodeData>,
    net: C,
    class_loss: ClassLoss,
    /// Whether a step takes some nodes, not all.
    batches: bool,
    /// Made when first needed, since the net decides what they are.
    links: OnceLock<Links>,
    sampler: OnceLock<Sampler>,
    /// Those of each device they were asked for on: of training and of evaluation.
    features: Arc<Mutex<Vec<(Device, Features)>>>,
}

impl<C: GraphNetConfig> GraphTask<C> {
    /// The features of all nodes, made once for a device.
    fn features(&self, device: &Device) -> Features {
        let mut made = self.features.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, features)) = made.iter().find(|(of, _)| of == device) {
            return features.clone();
        }
        let features = self.data.features(device);
        made.push((device.clone(), features.clone()));
        features
    }

    /// The whole graph, for an evaluation.
    fn whole(&self, net: &C::Net, device: &Device) -> GraphInput {
        let links = self.links.get_or_init(|| {
            match net.linking() {
                // Beyond the slots neighbors would be left out in order, not at random.
                linking @ Linking::Slots(_) => {
                    let sampler = Sampler::new(&self.data.graph, linking, net.hops(), None);
                    let rng = &mut SeededRng::new(self.data.config.seed, "neighbours");
                    sampler.and_then(|sampler| sampler.whole(rng))
                }
                linking => linking.links(&self.data.graph),
            }
            .expect("a graph and a net that were checked")
        });
        GraphInput { features: self.features(device), links: links.clone() }
    }

    /// Draws neighbors in training.
    fn sampler(&self, net: &C::Net) -> &Sampler {
        let config = &self.data.config;
        self.sampler.get_or_init(|| {
            Sampler::new(&self.data.graph, net.linking(), net.hops(), config.num_neighbors)
                .and_then(|sampler| sampler.with_dropout(config.edge_dropout))
                .expect("the net has layers, and the config was checked")
        })
    }

    /// The graph of one training step.
    fn sampled(&self, net: &C::Net, rng: &mut SeededRng, device: &Device) -> GraphInput {
        let sampler = self.sampler(net);
        if sampler.is_full_graph() {
            return self.whole(net, device);
        }
        let links = sampler.whole(rng).expect("rows of matrices make a matrix");
        GraphInput { features: self.features(device), links }
    }

    /// Scores of some nodes, in a step that takes only these and their neighborhood.
    fn batch_scores(&self, net: &C::Net, nodes: &[u32], mode: &mut Mode, device: &Device) -> Tensor<2> {
        let rng = mode.rng().expect("only training takes batches");
        let batch = self.sampler(net).batch(nodes, rng).expect("nodes of the graph, each once");
        let features = self.features(device).select(&batch.inputs);
        net.forward(GraphInput { features, links: batch.links }, mode)
    }
}

/// The rows of these nodes.
fn rows(all: Tensor<2>, nodes: &[usize]) -> Tensor<2> {
    let indices: Vec<i64> = nodes.iter().map(|&node| node as i64).collect();
    let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [nodes.len()]), &all.device());
    all.select(0, indices)
}

impl<C: GraphNetConfig + 'static> Task for GraphTask<C> {
    type DataConfig = GraphDataConfig;
    type Data = NodeData;
    type NetConfig = C;
    type Metadata = GraphMetadata;
    type Output = Tensor<2>;

    fn load(config: &GraphDataConfig, cache: &Cache, seed: u64) -> Result<NodeData> {
        NodeData::load(config, cache, seed)
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
            ("num_relations", data.graph.relations()),
        ];
        let known = keys_of::<C>();
        for (key, count) in sizes.iter().filter(|(key, _)| known.contains(key)) {
            if !table.contains_key(*key) {
                table.insert((*key).to_owned(), Value::Integer(*count as i64));
            }
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

    fn new(data: Arc<NodeData>, net: C, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let expected = "classes are trained with \"cross-entropy\"";
            return Err(Error::config("train", "loss", loss.name(), expected));
        }
        let batches = train.batch_size.is_some();
        let mut counts = vec![0; data.class_names.len()];
        for &node in data.split(Split::Train) {
            counts[data.labels[node].unwrap_or(0) as usize] += 1;
        }
        let class_loss = ClassLoss::of_classes(train, &data.class_names, &counts)?;
        let (links, sampler, features) = (OnceLock::new(), OnceLock::new(), Arc::default());
        Ok(Self { data, net, class_loss, batches, links, sampler, features })
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
        let have = data.graph.relations();
        if let Some(takes) = net.num_relations().filter(|&takes| takes != have) {
            let what = format!("the net takes {takes} relations, this graph has {have}");
            return Err(Error::Mismatch(what));
        }
        let train = loaded.train.with_fitted_weights(&loaded.metadata.class_weights);
        Self::new(Arc::new(data.with_classes(&loaded.metadata.classes)?), net.clone(), &train)
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
        GraphMetadata { normalize, classes, relations, directed, class_weights }
    }

    fn example(&self) -> ExampleShape {
        let shape = format!("{} features per node", self.data.width);
        ExampleShape { shape, unit: "node", steps: 1, per_epoch: self.data.graph.nodes() }
    }

    fn loss(&self) -> Loss {
        Loss::CrossEntropy
    }

    fn batch_size(&self, wanted: Option<usize>) -> Option<usize> {
        wanted
    }

    /// All at once: the whole graph goes through the net anyway.
    fn eval_batch_size(&self, _wanted: Option<usize>) -> usize {
        usize::MAX
    }

    fn forward(&self, net: &NetOf<Self>, nodes: &[usize], mode: &mut Mode, device: &Device) -> Tensor<2> {
        if mode.is_train() && self.batches {
            let nodes: Vec<u32> = nodes.iter().map(|&node| node as u32).collect();
            return self.batch_scores(net, &nodes, mode, device);
        }
        let input = match mode.rng() {
            Some(rng) => self.sampled(net, rng, device),
            None => self.whole(net, device),
        };
        rows(net.forward(input, mode), nodes)
    }

    fn score(&self, scores: Tensor<2>, nodes: &[usize], _device: &Device) -> BatchScore {
        BatchScore::of_classes(scores, &self.classes(nodes), &self.class_loss, None)
    }

    fn class_scores<'a>(&self, scores: &'a Tensor<2>) -> Option<&'a Tensor<2>> {
        Some(scores)
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
        let (source, edges) =
            (request.input.to_string_lossy(), request.edges.map(std::path::Path::to_string_lossy));
        let other = OtherData { source: &source, edges: edges.as_deref() };
        let data = NodeData::load_other(other, &loaded.data_config, &loaded.metadata, request.cache);
        let task = data.and_then(|data| Self::for_trained(data.unlabelled(), loaded));
        let task = task.map_err(|error| request.about(error))?;
        let nodes: Vec<usize> = (0..task.data.graph.nodes()).collect();
        let names = Some(task.data.node_names.clone()).filter(|names| !names.is_empty());
        let total = nodes.len();
        let classes = if layer.is_some() { Vec::new() } else { loaded.metadata.classes.clone() };
        let batch = std::iter::once_with(move || {
            let mut mode = if layer.is_some() { Mode::Eval.record() } else { Mode::Eval };
            let scores = task.forward(&loaded.net, &nodes, &mut mode, &loaded.device);
            let predictions = match &layer {
                Some(layer) => recorded_states(&mode, layer)?,
                None => Predictions::of_scores(scores, |classes| vec![total, classes])?,
            };
            Ok(PredictedBatch { predictions, names: names.clone() })
        });
        let columns = Vec::new();
        Ok(PredictionStream { unit: "node", total, classes, columns, batches: Box::new(batch) })
    }

    #[cfg(feature = "report")]
    fn report_facts(&self, _net: &NetOf<Self>) -> Vec<(&'static str, String)> {
        report::facts(&self.data)
    }

    #[cfg(feature = "report")]
    fn figures(
        &self,
        fitted: &crate::task::Fitted<Self>,
        kind: crate::task::FigureKind,
    ) -> Result<Vec<crate::task::TaskFigure>> {
        report::figures(self, fitted, kind)
    }
}
