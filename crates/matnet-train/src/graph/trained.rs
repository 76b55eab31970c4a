//! A trained net on graphs, ready to be used.

use std::sync::Arc;

use burn::tensor::Device;
use matnet::Mode;
use matnet_data::Array;

use super::{GraphModel, GraphModelConfig, NodeNote, NodeTask, PreparedGraph};
use crate::config::TrainConfig;
use crate::run::Answers;
use crate::task::{self, Task};
use crate::{Error, Result};

/// A trained net on graphs, and what belongs to it.
#[derive(Debug)]
pub struct TrainedOnGraph {
    /// The net.
    pub net: GraphModel,
    /// Its config.
    pub config: GraphModelConfig,
    /// What else there is to know.
    pub note: NodeNote,
    pub(crate) device: Device,
}

impl TrainedOnGraph {
    /// What the net was trained to do, on this graph; fails if that does not fit. Its classes are put in the order of the
    /// net's, by name.
    pub fn task(&self, data: PreparedGraph, train: &TrainConfig) -> Result<NodeTask> {
        let (takes, have) = (self.config.features(), data.width);
        if takes != have {
            let what = format!("the net takes {takes} features of a node, this graph has {have}");
            return Err(Error::Run(what));
        }
        let have = data.graph.relations();
        if let Some(takes) = self.config.relations().filter(|&takes| takes != have) {
            let what = format!("the net takes {takes} relation, this graph has {have}");
            return Err(Error::Run(what));
        }
        NodeTask::new(Arc::new(data.with_classes(&self.note.classes)?), self.config.clone(), train)
    }

    /// A class and the probabilities of all classes for every node, its own class known or not.
    pub fn answer(&self, task: &NodeTask) -> Result<Answers> {
        let nodes: Vec<usize> = (0..task.data.graph.nodes()).collect();
        let crate::model::Output::Scores(scores) =
            task.forward(&self.net, &nodes, &mut Mode::Eval, &self.device)
        else {
            unreachable!("nets on graphs give scores")
        };
        let given = scores.dims()[1];
        let classes = task::answers(&task::numbers(scores.clone()), given);
        let shares = task::probabilities(scores);
        let shape = shares.dims().to_vec();
        Ok(Answers { numbers: Array::new(shape, task::numbers(shares))?, classes })
    }
}
