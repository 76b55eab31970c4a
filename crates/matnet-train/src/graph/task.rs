//! The classes of nodes, learnt from the graph they stand in.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::graph::{Features, Graph, GraphInput, Linking, Links, Sampler};
use matnet::random::Stream;
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
}

/// A graph, and a net that learns the classes of its nodes.
///
/// While learning, a step hears at most `data.neighbours` neighbours of a node, drawn for that step from those that
/// `data.edge_dropout` leaves; with `train.batch` it takes so many nodes and only what they hear. Measuring takes the whole graph with all neighbours. A net that takes a
/// fixed number of them then hears a draw that the data's seed decides.
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
    sparse: OnceLock<Option<Features>>,
}

impl NodeTask {
    /// The task of this net on this graph; fails if the training does not fit.
    pub fn new(data: Arc<PreparedGraph>, model: GraphModelConfig, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let loss = format!("{loss:?}").to_lowercase();
            let what = format!("train.loss: {loss}; classes are learnt with \"cross-entropy\"");
            return Err(Error::Config(what));
        }
        data.features(&Device::flex())?;
        let batches = train.batch.is_some();
        let (links, sampler, sparse) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { data, model, batches, links, sampler, sparse })
    }

    /// The features of all nodes. Sparse ones are made once; dense ones belong to a device.
    fn features(&self, device: &Device) -> Features {
        let made = || self.data.features(device).expect("checked when the task was made");
        let sparse =
            self.sparse.get_or_init(|| Some(made()).filter(|all| matches!(all, Features::Sparse(_))));
        sparse.clone().unwrap_or_else(made)
    }

    /// The whole graph, as a net in use hears it.
    pub fn whole(&self, net: &GraphModel, device: &Device) -> GraphInput {
        let links = self.links.get_or_init(|| match net.linking() {
            // Beyond the slots neighbours would be left out in order, not at random.
            Linking::Slots(slots) => {
                let stream = &mut Stream::new(self.data.config.seed, "neighbours");
                links(&self.data.graph, net, Some((slots, stream)))
            }
            _ => links(&self.data.graph, net, None),
        });
        GraphInput { features: self.features(device), links: links.clone() }
    }

    /// Whom nodes hear in one training step.
    fn thinned(&self, stream: &mut Stream) -> Option<Graph> {
        let rate = self.data.config.edge_dropout;
        (rate > 0.0).then(|| self.data.graph.thinned(rate, stream).expect("a rate that was checked"))
    }

    /// The graph as one training step hears it.
    fn learning(&self, net: &GraphModel, stream: &mut Stream, device: &Device) -> GraphInput {
        let slots = match net.linking() {
            Linking::Slots(slots) => Some(slots),
            _ => None,
        };
        let thinned = self.thinned(stream);
        let most = self.data.config.neighbours.into_iter().chain(slots).min();
        if thinned.is_none() && most.is_none() {
            return self.whole(net, device);
        }
        let graph = thinned.as_ref().unwrap_or(&self.data.graph);
        let links = links(graph, net, most.map(|most| (most, stream)));
        GraphInput { features: self.features(device), links }
    }

    fn sampler(&self, graph: &Graph, net: &GraphModel) -> Sampler {
        Sampler::new(graph, net.linking(), net.hops(), self.data.config.neighbours)
            .expect("the net has layers, and neighbours were checked")
    }

    /// Scores of some nodes, in a step that takes only these and what they hear.
    fn batch_scores(&self, net: &GraphModel, nodes: &[u32], mode: &mut Mode, device: &Device) -> Tensor<2> {
        let stream = mode.stream().expect("only learning takes batches");
        let thinned = self.thinned(stream).map(|graph| self.sampler(&graph, net));
        let sampler = match &thinned {
            Some(sampler) => sampler,
            None => self.sampler.get_or_init(|| self.sampler(&self.data.graph, net)),
        };
        let batch = sampler.batch(nodes, stream).expect("nodes of the graph, each once");
        let features = self.features(device).select(&batch.inputs);
        net.forward(GraphInput { features, links: batch.links }, mode)
    }

    /// The last hidden states of some nodes, `[nodes, hidden]`.
    pub fn hidden(&self, net: &GraphModel, nodes: &[usize], device: &Device) -> Tensor<2> {
        rows(net.hidden(&self.whole(net, device)), nodes)
    }
}

/// The links of a graph, with all neighbours or with at most so many drawn from a stream.
fn links(graph: &Graph, net: &GraphModel, draw: Option<(usize, &mut Stream)>) -> Links {
    let drawn = draw.map(|(most, stream)| graph.sampled(most, stream).expect("at least one neighbour"));
    net.linking().links(drawn.as_ref().unwrap_or(graph)).expect("a graph that was checked")
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

    fn net(&self, stream: &mut Stream, device: &Device) -> Result<GraphModel> {
        self.model.init(stream, device)
    }

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    fn forward(&self, net: &GraphModel, examples: &[usize], mode: &mut Mode, device: &Device) -> Output {
        if mode.is_train() && self.batches {
            let nodes: Vec<u32> = examples.iter().map(|&node| node as u32).collect();
            return Output::Scores(self.batch_scores(net, &nodes, mode, device));
        }
        let input = match mode.stream() {
            Some(stream) => self.learning(net, stream, device),
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
        let (normalise, classes) = (self.data.config.normalise, self.data.class_names.clone());
        serde_json::to_string(&NodeNote { epoch, normalise, classes }).expect("numbers and words")
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
