//! What a run trains: a task and its training config.

use std::sync::Arc;

use burn::tensor::Device;
use matnet::net::{Net, NetConfig};
use matnet::summary::LayerSummary;
use matnet::{Regularizer, weights};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Options;
use super::memory::{self, MemoryNeed};
use crate::config::{Loss, Monitor, TrainConfig};
use crate::run::checksummed::hex;
use crate::run::{Run, RunResult};
use crate::task::{Dataset, Fitted, NetOf, Task};
use crate::{Error, Result, Split};

/// A task and how it is trained.
pub(crate) struct Planned<T: Task> {
    pub kind: &'static str,
    pub task: Arc<T>,
    pub train: Arc<TrainConfig>,
}

impl<T: Task> Planned<T> {
    /// Checks how a task is to be trained.
    pub fn new(kind: &'static str, train: TrainConfig, task: T) -> Result<Self> {
        let data = task.data();
        if data.split(Split::Train).is_empty() {
            return Err(Error::config(
                "data",
                "split",
                "leaves nothing to train on",
                "make valid and test smaller",
            ));
        }
        if let Some(patience) = train.patience.filter(|_| data.split(Split::Valid).is_empty()) {
            let expected = "needs a validation split; data.split.valid is 0";
            return Err(Error::config("train", "patience", patience.to_string(), expected));
        }
        let monitor = match task.loss() {
            Loss::CrossEntropy => Monitor::Error,
            _ => Monitor::Loss,
        };
        let batch_size = task.batch_size(train.batch_size);
        let train = train.resolved(task.loss(), train.monitor.unwrap_or(monitor), batch_size);
        Ok(Self { kind, task: Arc::new(task), train: Arc::new(train) })
    }

    /// The checksum of the config.
    pub fn checksum(&self) -> String {
        hex(&Sha256::digest(self.config_text()))
    }

    /// l1 and l2 on the weights that the config names.
    pub fn regularizer(&self, net: &NetOf<T>) -> Regularizer {
        let prefix = self.train.regularize_only.as_deref().unwrap_or_default();
        Regularizer::new(&net.summary(1), self.train.l1, self.train.l2).only(prefix)
    }

    /// Fails unless the names in the config are names of the net's parameters.
    pub fn check_names(&self, net: &NetOf<T>) -> Result<()> {
        let names = weights::names(net);
        let missing = |key: String, value: String, what: &str| {
            let expected = format!("no {what}; there are {}", names.join(", "));
            Err(Error::config("train", key, value, expected))
        };
        if let Some(prefix) = &self.train.regularize_only
            && self.regularizer(net).names().next().is_none()
        {
            return missing("regularize_only".to_owned(), prefix.clone(), "weight starts so");
        }
        for (word, factor) in &self.train.learning_rate_multipliers {
            if !names.iter().any(|name| name.contains(word)) {
                let key = format!("learning_rate_multipliers.{word}");
                return missing(key, factor.to_string(), "parameter has this in its name");
            }
        }
        Ok(())
    }

    /// Fails unless the memory suffices for the net, its optimizer and the activations of a batch.
    pub fn check_memory(&self, layers: &[LayerSummary]) -> Result<()> {
        let batch = self.train.batch_size.unwrap_or(self.task.example().per_epoch);
        let need = MemoryNeed::new(layers, &self.train, batch);
        let Some(available) = memory::available().filter(|&available| need.total() > available) else {
            return Ok(());
        };
        let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        let value = format!(
            "the net needs {} (weights {}, optimizer {}, activations of a batch {})",
            gib(need.total()),
            gib(need.weights),
            gib(need.optimizer),
            gib(need.activations)
        );
        let expected = format!(
            "{} are available; a smaller train.batch_size or smaller hidden sizes would fit",
            gib(available)
        );
        Err(Error::config("model", "hidden", value, expected))
    }

    /// The net with all parameters zero: for its layers and names.
    pub fn blank(&self) -> Result<NetOf<T>> {
        self.task.config().blank(&Device::flex()).map_err(crate::error::at("model"))
    }

    /// The text of `config.toml`.
    pub fn config_text(&self) -> String {
        #[derive(Serialize)]
        struct RunTable<'a> {
            version: &'a str,
            data_sha256: &'a str,
        }
        #[derive(Serialize)]
        struct ModelTable<'a, C: Serialize> {
            kind: &'static str,
            #[serde(flatten)]
            config: &'a C,
        }
        #[derive(Serialize)]
        struct Whole<'a, D: Serialize, C: Serialize> {
            run: RunTable<'a>,
            data: &'a D,
            model: ModelTable<'a, C>,
            train: &'a TrainConfig,
        }
        let run = RunTable { version: env!("CARGO_PKG_VERSION"), data_sha256: self.task.data().checksum() };
        let model = ModelTable { kind: self.kind, config: self.task.config() };
        let whole = Whole { run, data: self.task.data_config(), model, train: &self.train };
        // Plain structs of numbers, strings and lists.
        let text = toml::to_string(&whole).expect("a config that fits into TOML");
        format!("# Everything that decided this run. `matnet train` takes it as any other config.\n\n{text}")
    }

    /// The trained net with the dataset.
    pub fn fitted(&self, run: &Run, net: NetOf<T>, result: &RunResult, options: &Options) -> Fitted<T> {
        Fitted {
            kind: self.kind,
            task: Arc::clone(&self.task),
            net,
            train: Arc::clone(&self.train),
            epoch: result.best_epoch,
            run: run.clone(),
            device: options.device.clone(),
        }
    }
}
