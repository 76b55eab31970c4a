//! A trained net of a task, without and with a dataset.

use std::sync::Arc;

use burn::tensor::Device;

use super::{NetOf, Task};
use crate::config::{Document, TrainConfig};
use crate::run::{Run, Weights, fill};
use crate::{Error, Result};

/// A trained net, without a dataset.
pub struct Loaded<T: Task> {
    /// The kind of net.
    pub kind: &'static str,
    /// The net.
    pub net: NetOf<T>,
    /// `[model]`.
    pub net_config: T::NetConfig,
    /// `[data]`.
    pub data_config: T::DataConfig,
    /// `[train]`.
    pub train: TrainConfig,
    /// What is stored beside the weights.
    pub metadata: T::Metadata,
    /// The epoch of the weights, from 1.
    pub epoch: usize,
    /// The run.
    pub run: Run,
    /// Where the net lives.
    pub device: Device,
}

impl<T: Task> Loaded<T> {
    /// From the config and a file of weights of a run.
    pub(crate) fn new(
        kind: &'static str,
        run: &Run,
        document: &Document,
        weights: Weights,
        device: &Device,
    ) -> Result<Self> {
        let path = weights.path.clone();
        let net_config: T::NetConfig = crate::config::from_table("model", document.model()?)?;
        let metadata: T::Metadata = serde_json::from_value(weights.metadata.clone())
            .map_err(|error| Error::damaged(&path, format!("damaged: {error}")))?;
        T::check_metadata(&net_config, &metadata).map_err(|what| Error::damaged(&path, what))?;
        let (data_config, train, epoch) = (document.data()?, document.train()?, weights.epoch);
        let net = fill(&net_config, weights.tensors, &path, device)?;
        let (run, device) = (run.clone(), device.clone());
        Ok(Self { kind, net, net_config, data_config, train, metadata, epoch, run, device })
    }

    /// The same with a dataset.
    pub(crate) fn with(self, data: T::Data) -> Result<Fitted<T>> {
        let task = T::for_trained(data, &self)?;
        let Self { kind, net, train, epoch, run, device, .. } = self;
        Ok(Fitted { kind, task: Arc::new(task), net, train: Arc::new(train), epoch, run, device })
    }
}

/// A trained net with a dataset.
pub struct Fitted<T: Task> {
    /// The kind of net.
    pub kind: &'static str,
    /// The task.
    pub task: Arc<T>,
    /// The net.
    pub net: NetOf<T>,
    /// `[train]`.
    pub train: Arc<TrainConfig>,
    /// The epoch of the weights, from 1.
    pub epoch: usize,
    /// The run.
    pub run: Run,
    /// Where the net lives.
    pub device: Device,
}
