//! The classes of nodes, learnt from the graph they stand in.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::graph::{Features, GraphInput, Linking, Links, Sampler};
use matnet::random::SeededRng;
use serde::{Deserialize, Serialize};

use super::{GraphDataConfig, GraphModel, GraphModelConfig, PreparedGraph};
use crate::config::{Loss, TrainConfig};
use crate::data::Part;
use crate::model::Output;
use crate::run::Facts;
use crate::task::{Measured, Task, judge_scores};
use crate::{Error, Result};

/// What stands beside the weights: all that a user of them needs to know of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeNote {
    /// The epoch of these weights, from 1.
    pub epoch: usize,
    /// What is done to the features of every node.
    pub normalise: super::Normalise,
    /// A name per class.
    pub classes: Vec<String>,
    /// A name per relation, where the net tells several apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<String>,
}

/// A graph, and a net that learns the classes of its nodes.
///
/// While learning, a step hears at most `data.num_neighbors` neighbours of a node, drawn for that step from those that
/// `data.edge_dropout` leaves; with `train.batch_size` it takes so many nodes and only what they hear. Measuring takes the whole graph with
/// all neighbours. A net that takes a fixed number of them then hears a draw that the data's seed decides.
#[derive(Clone, Debug)]
pub struct NodeTask {
    /// The graph.
    pub data: Arc<PreparedGraph>,
    /// The config of the net.
    pub model: GraphModelConfig,
    /// Whether a step takes some nodes, not all.
    batches: bool,
    /// Made when first needed, since the net decides what they are.
    links: OnceLock<Links>,
    sampler: OnceLock<Sampler>,
    /// Those of each device they were asked for on: of the one that learns, and of the one that measures.
    features: Arc<Mutex<Vec<(Device, Features)>>>,
}

impl NodeTask {
    /// The task of this net on this graph; fails if the training does not fit.
    pub fn new(data: Arc<PreparedGraph>, model: GraphModelConfig, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let loss = format!("{loss:?}").to_lowercase();
            let what = format!("train.loss: {loss}; classes are learnt with \"cross-entropy\"");
            return Err(Error::Config(what));
        }
        let batches = train.batch_size.is_some();
        let (links, sampler, features) = (OnceLock::new(), OnceLock::new(), Arc::default());
        Ok(Self { data, model, batches, links, sampler, features })
    }

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

    /// The whole graph, as a net in use hears it.
    pub fn whole(&self, net: &GraphModel, device: &Device) -> GraphInput {
        let links = self.links.get_or_init(|| {
            match net.linking() {
                // Beyond the slots neighbours would be left out in order, not at random.
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

    /// Whom nodes hear while a net learns.
    fn sampler(&self, net: &GraphModel) -> &Sampler {
        let config = &self.data.config;
        self.sampler.get_or_init(|| {
            Sampler::new(&self.data.graph, net.linking(), net.hops(), config.neighbours)
                .and_then(|sampler| sampler.with_dropout(config.edge_dropout))
                .expect("the net has layers, and the config was checked")
        })
    }

    /// The graph as one training step hears it.
    fn learning(&self, net: &GraphModel, rng: &mut SeededRng, device: &Device) -> GraphInput {
        let sampler = self.sampler(net);
        if sampler.leaves_out_nobody() {
            return self.whole(net, device);
        }
        let links = sampler.whole(rng).expect("rows of matrices make a matrix");
        GraphInput { features: self.features(device), links }
    }

    /// Scores of some nodes, in a step that takes only these and what they hear.
    fn batch_scores(&self, net: &GraphModel, nodes: &[u32], mode: &mut Mode, device: &Device) -> Tensor<2> {
        let rng = mode.rng().expect("only learning takes batches");
        let batch = self.sampler(net).batch(nodes, rng).expect("nodes of the graph, each once");
        let features = self.features(device).select(&batch.inputs);
        net.forward(GraphInput { features, links: batch.links }, mode)
    }

    /// The last hidden states of some nodes, `[nodes, hidden]`.
    pub fn hidden(&self, net: &GraphModel, nodes: &[usize], device: &Device) -> Tensor<2> {
        rows(net.hidden(&self.whole(net, device)), nodes)
    }
}

/// The rows of these nodes.
fn rows(all: Tensor<2>, nodes: &[usize]) -> Tensor<2> {
    let places: Vec<i64> = nodes.iter().map(|&node| node as i64).collect();
    let places = Tensor::<1, Int>::from_data(TensorData::new(places, [nodes.len()]), &all.device());
    all.select(0, places)
}

impl Task for NodeTask {
    type Net = GraphModel;
    type Data = GraphDataConfig;
    type Model = GraphModelConfig;

    fn net(&self, rng: &mut SeededRng, device: &Device) -> Result<GraphModel> {
        self.model.init(rng, device)
    }

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    fn forward(&self, net: &GraphModel, examples: &[usize], mode: &mut Mode, device: &Device) -> Output {
        if mode.is_train() && self.batches {
            let nodes: Vec<u32> = examples.iter().map(|&node| node as u32).collect();
            return Output::Scores(self.batch_scores(net, &nodes, mode, device));
        }
        let input = match mode.rng() {
            Some(rng) => self.learning(net, rng, device),
            None => self.whole(net, device),
        };
        Output::Scores(rows(net.forward(input, mode), examples))
    }

    fn judge(&self, output: Output, examples: &[usize], _device: &Device) -> Measured {
        match output {
            Output::Scores(scores) => judge_scores(scores, &self.classes(examples)),
            Output::Matrices(_) => unreachable!("nets on graphs give scores"),
        }
    }

    /// Parts hold nodes with a class only.
    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        examples.iter().map(|&node| self.data.labels[node].unwrap_or(0)).collect()
    }

    fn class_names(&self) -> &[String] {
        &self.data.class_names
    }

    fn loss(&self) -> Loss {
        Loss::CrossEntropy
    }

    fn batch(&self, wanted: Option<usize>) -> Option<usize> {
        wanted
    }

    /// All at once: the whole graph goes through the net anyway.
    fn chunk(&self, _wanted: Option<usize>) -> usize {
        usize::MAX
    }

    fn note(&self, epoch: usize) -> String {
        let relations = match self.model.relations() {
            Some(_) => self.data.relation_names.clone(),
            None => Vec::new(),
        };
        let (normalise, classes) = (self.data.config.normalise, self.data.class_names.clone());
        serde_json::to_string(&NodeNote { epoch, normalise, classes, relations }).expect("numbers and words")
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: self.model.kind(),
            form: self.model.form().to_owned(),
            source: &self.data.config.source,
            checksum: &self.data.checksum,
            notes: &self.data.notes,
        }
    }

    fn configs(&self) -> (&GraphDataConfig, &GraphModelConfig) {
        (&self.data.config, &self.model)
    }
}
