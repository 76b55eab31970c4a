//! What a net gives for some nodes: on the whole graph, or on the neighbourhood that they need.

use std::sync::{Arc, PoisonError};

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::graph::{BatchLimit, Features, GraphError, GraphInput, GraphStore, Linking, Sampler};
use matnet::net::{GraphNet, GraphNetConfig, Net};
use matnet::random::SeededRng;

use super::packed::limit;
use super::{GraphTask, NodeGraph, StoredGraph};
use crate::task::{Predictions, TaskData, recorded_states};
use crate::{Error, Result};

/// Nodes of a packed graph that are evaluated at once, at most.
pub(super) const EVAL_NODES: usize = 2048;

impl<C: GraphNetConfig> GraphTask<C> {
    /// The features of all nodes of a graph in memory, made once for a device. Those of a packed graph are made for training and for evaluations
    /// apart: a device is equal to itself with gradients, but the softmax of a tensor with gradients has other last bits.
    fn features(&self, device: &Device, training: bool) -> Features {
        let training = training || !self.data.packed;
        let mut made = self.features.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., features)) = made.iter().find(|(of, with, _)| of == device && *with == training) {
            return features.clone();
        }
        let features = self.data.features(device).expect("a graph in memory");
        made.push((device.clone(), training, features.clone()));
        features
    }

    /// The features of some places.
    fn features_of(&self, places: &[u32], training: bool, device: &Device) -> Result<Features, GraphError> {
        match &self.data.graph {
            NodeGraph::Memory { .. } => Ok(self.features(device, training).select(places)),
            NodeGraph::Stored(stored) => stored.features(places, device),
        }
    }

    /// The whole graph, for an evaluation of a graph in memory.
    pub(super) fn whole(&self, net: &C::Net, device: &Device) -> GraphInput {
        let links = self.links.get_or_init(|| {
            let NodeGraph::Memory { graph, .. } = &self.data.graph else { unreachable!("a graph in memory") };
            let config = &self.data.config;
            match net.linking() {
                _ if config.eval_num_neighbors.is_some() => self.eval_sampler(net).fixed_whole(config.seed),
                // Beyond the slots neighbours would be left out in order, not at random.
                linking @ Linking::Slots(_) => {
                    let sampler = Sampler::new(graph, linking, net.hops(), None);
                    let rng = &mut SeededRng::new(config.seed, "neighbours");
                    sampler.and_then(|sampler| sampler.whole(rng))
                }
                linking => linking.links(graph),
            }
            .expect("a graph and a net that were checked")
        });
        GraphInput { features: self.features(device, true), links: links.clone() }
    }

    fn new_sampler(&self, net: &C::Net, num_neighbors: Option<usize>) -> Sampler {
        let (linking, hops) = (net.linking(), net.hops());
        let sampler = match &self.data.graph {
            NodeGraph::Memory { graph, .. } => Sampler::new(graph, linking, hops, num_neighbors),
            NodeGraph::Stored(stored) => {
                let store: Arc<dyn GraphStore> = stored.clone();
                Sampler::stored(store, linking, hops, num_neighbors)
            }
        };
        sampler.expect("the net has layers, and the config was checked")
    }

    /// Draws neighbours in training.
    fn sampler(&self, net: &C::Net) -> &Sampler {
        let config = &self.data.config;
        self.sampler.get_or_init(|| {
            let sampler = self.new_sampler(net, config.num_neighbors);
            sampler.with_dropout(config.edge_dropout).expect("the config was checked")
        })
    }

    /// Draws neighbours in evaluations, where not all are taken.
    fn eval_sampler(&self, net: &C::Net) -> &Sampler {
        self.eval_sampler.get_or_init(|| self.new_sampler(net, self.data.config.eval_num_neighbors))
    }

    /// The graph of one training step.
    pub(super) fn sampled(&self, net: &C::Net, rng: &mut SeededRng, device: &Device) -> GraphInput {
        let sampler = self.sampler(net);
        // Evaluations may take fewer neighbours.
        if sampler.is_full_graph() && self.data.config.eval_num_neighbors.is_none() {
            return self.whole(net, device);
        }
        let links = sampler.whole(rng).expect("rows of matrices make a matrix");
        GraphInput { features: self.features(device, true), links }
    }

    /// Scores of some places, in a step that takes only these and their neighbourhood.
    pub(super) fn batch_scores(
        &self,
        net: &C::Net,
        places: &[u32],
        mode: &mut Mode,
        device: &Device,
    ) -> Tensor<2> {
        let rng = mode.rng().expect("only training takes batches");
        let sampler = self.sampler(net);
        let batch = match &self.data.graph {
            NodeGraph::Memory { .. } => sampler.batch(places, rng),
            NodeGraph::Stored(stored) => {
                sampler.batch_within(places, rng, limit(self.data.width)).map_err(|error| {
                    too_large(
                        stored,
                        error,
                        "a training step",
                        "a smaller train.batch_size or data.num_neighbors",
                    )
                })
            }
        };
        let input = batch.and_then(|batch| {
            Ok(GraphInput { features: self.features_of(&batch.inputs, true, device)?, links: batch.links })
        });
        match (input, &self.data.graph) {
            (Ok(input), _) => net.forward(input, mode),
            // The error is kept; whoever asked for the scores asks for it.
            (Err(_), NodeGraph::Stored(_)) => nothing(places.len(), self.net.num_classes(), device),
            (Err(error), _) => panic!("nodes of the graph, each once: {error}"),
        }
    }

    /// What a net gives for some places of a packed graph, in batches that fit; `each` gets the input of each batch and the number of its
    /// places. `None` after a read that failed. In memory the same batches are made as from the folder: the last bits of a number may
    /// depend on how many rows are computed together.
    fn eval_batches(
        &self,
        net: &C::Net,
        places: &[u32],
        device: &Device,
        each: &mut dyn FnMut(GraphInput, usize) -> Tensor<2>,
    ) -> Option<Tensor<2>> {
        let (sampler, seed) = (self.eval_sampler(net), self.data.config.seed);
        let (mut at, mut size, mut found) = (0, EVAL_NODES, Vec::new());
        while at < places.len() {
            let some = &places[at..(at + size).min(places.len())];
            let limit = match (&self.data.graph, some.len()) {
                (NodeGraph::Memory { .. }, 1) => BatchLimit::NONE,
                _ => limit(self.data.width),
            };
            let input = sampler.fixed_batch(some, seed, limit).and_then(|batch| {
                Ok(GraphInput {
                    features: self.features_of(&batch.inputs, false, device)?,
                    links: batch.links,
                })
            });
            match (input, &self.data.graph) {
                (Ok(input), _) => found.push(each(input, some.len())),
                (Err(GraphError::BatchTooLarge), _) if some.len() > 1 => {
                    size = some.len().div_ceil(2);
                    continue;
                }
                (Err(error), NodeGraph::Stored(stored)) => {
                    too_large(stored, error, "the neighbourhood of a node", "data.eval_num_neighbors");
                    return None;
                }
                (Err(error), _) => panic!("nodes of the graph, each once: {error}"),
            }
            at += some.len();
        }
        Some(Tensor::cat(found, 0))
    }

    /// Scores of some places in an evaluation.
    pub(super) fn eval_scores(
        &self,
        net: &C::Net,
        places: &[u32],
        mode: &mut Mode,
        device: &Device,
    ) -> Tensor<2> {
        if !self.data.packed {
            return rows(net.forward(self.whole(net, device), mode), places);
        }
        let mut each = |input, _| net.forward(input, mode);
        let scores = self.eval_batches(net, places, device, &mut each);
        scores.unwrap_or_else(|| nothing(places.len(), self.net.num_classes(), device))
    }

    /// The last hidden states of some places.
    #[cfg(feature = "report")]
    pub(super) fn hidden(&self, net: &C::Net, places: &[u32], device: &Device) -> Result<Tensor<2>> {
        if !self.data.packed {
            return Ok(rows(net.hidden(&self.whole(net, device), &mut Mode::Eval), places));
        }
        let mut each = |input: GraphInput, count| net.hidden(&input, &mut Mode::Eval).narrow(0, 0, count);
        let hidden = self.eval_batches(net, places, device, &mut each);
        hidden.ok_or_else(|| self.data.take_read_error().unwrap_or(Error::Interrupted))
    }

    /// Predictions for some places, or the states of a layer.
    pub(super) fn predicted(
        &self,
        net: &C::Net,
        places: &[u32],
        layer: Option<&str>,
        device: &Device,
    ) -> Result<Predictions> {
        let Some(layer) = layer else {
            let scores = self.eval_scores(net, places, &mut Mode::Eval, device);
            self.data.take_read_error().map_or(Ok(()), Err)?;
            return Predictions::of_scores(scores, |classes| vec![places.len(), classes]);
        };
        let mut parts = Vec::new();
        let mut record = |input: GraphInput, wanted: &[usize]| -> Result<()> {
            let mut mode = Mode::Eval.record();
            net.forward(input, &mut mode);
            parts.push(recorded_states(&mode, layer)?.values.select(wanted)?);
            Ok(())
        };
        if self.data.packed {
            let mut outcome = Ok(());
            // The places that were asked for come first among all that a batch needs.
            self.eval_batches(net, places, device, &mut |input, count| {
                if outcome.is_ok() {
                    outcome = record(input, &(0..count).collect::<Vec<_>>());
                }
                nothing(1, 1, device)
            });
            self.data.take_read_error().map_or(Ok(()), Err)?;
            outcome?;
        } else {
            let wanted: Vec<usize> = places.iter().map(|&place| place as usize).collect();
            record(self.whole(net, device), &wanted)?;
        }
        let shape = [vec![places.len()], parts[0].shape()[1..].to_vec()].concat();
        let all = parts.into_iter().flat_map(matnet_data::Array::into_data).collect();
        Ok(Predictions::of_values(matnet_data::Array::new(shape, all)?))
    }
}

/// Keeps what is wrong with a batch that is too large; gives other errors back as they are.
fn too_large(stored: &StoredGraph, error: GraphError, what: &str, remedy: &str) -> GraphError {
    match error {
        GraphError::BatchTooLarge => stored.keep(matnet_data::Error::Invalid(format!(
            "{what} reaches more nodes and edges than fit into memory; set {remedy}"
        ))),
        other => other,
    }
}

/// In the place of scores that could not be computed.
fn nothing(rows: usize, columns: usize, device: &Device) -> Tensor<2> {
    Tensor::full([rows, columns], f32::NAN, device)
}

/// The rows of these places.
pub(super) fn rows(all: Tensor<2>, places: &[u32]) -> Tensor<2> {
    let indices: Vec<i64> = places.iter().map(|&place| place.into()).collect();
    let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [places.len()]), &all.device());
    all.select(0, indices)
}
