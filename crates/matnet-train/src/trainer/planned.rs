//! What a run trains: a task and its training config.

use std::sync::Arc;

use burn::tensor::Device;
use matnet::net::{Net, NetConfig};
use matnet::summary::LayerSummary;
use matnet::{Regularizer, weights};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Options;
use super::checkpoint;
use super::memory::MemoryNeed;
use super::source::{SourceWeights, is_among};
use crate::config::{Document, Loss, TrainConfig, Tuned};
use crate::metrics::Metric;
use crate::run::checksummed::hex;
use crate::run::{Run, RunResult};
use crate::task::{Fitted, NetOf, Task, TaskData, available_metrics};
use crate::{Error, Result, Split};

/// What a process has in any case, in bytes.
const SMALL_NEED: u64 = 16 << 20;

/// A task and how it is trained.
pub(crate) struct Planned<T: Task> {
    pub kind: &'static str,
    pub task: Arc<T>,
    pub train: Arc<TrainConfig>,
    /// `[tuned]`
    pub tuned: Option<Tuned>,
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
        if train.log_test && data.split(Split::Test).is_empty() {
            return Err(Error::config("train", "log_test", "true", "there is no test split to evaluate"));
        }
        if let Some(buckets) = train.bucket_by_length.filter(|_| !task.lengths_differ()) {
            let expected = "only sequences of different lengths use it";
            return Err(Error::config("train", "bucket_by_length", buckets.to_string(), expected));
        }
        if !train.precision.is_full() {
            task.check_low_precision()
                .and(if train.shards > 1 { Err("32, since train.shards is above 1") } else { Ok(()) })
                .map_err(|expected| Error::config("train", "precision", train.precision.name(), expected))?;
        }
        if train.checkpointing && !task.config().keeps_intermediates() {
            let expected = "the layers of this net keep nothing that could be computed again; leave it out";
            return Err(Error::config("train", "checkpointing", "true", expected));
        }
        if !train.saved_activations.is_full() {
            let expected = match (task.config().keeps_intermediates(), train.checkpointing) {
                (false, _) => Some("32, since the layers of this net save nothing that could be rounded"),
                (true, true) => Some("32, since train.checkpointing saves no activations"),
                (true, false) if !train.precision.is_full() => {
                    Some("32, since train.precision makes all activations those of 16 bits")
                }
                _ => None,
            };
            if let Some(expected) = expected {
                let value = train.saved_activations.name();
                return Err(Error::config("train", "saved_activations", value, expected));
            }
        }
        if let Some(metric) = train.monitor {
            check_monitor(&task, metric)?;
        }
        let monitor = match task.loss() {
            Loss::CrossEntropy => Metric::Error,
            _ => Metric::Loss,
        };
        let batch_size = task.batch_size(train.batch_size);
        if train.shards > batch_size.unwrap_or(1) {
            let expected = match batch_size {
                Some(size) => {
                    format!("at most train.batch_size = {size}, since a shard is a part of a batch")
                }
                None => {
                    "a step takes the whole graph, which cannot be divided; set train.batch_size".to_owned()
                }
            };
            return Err(Error::config("train", "shards", train.shards.to_string(), expected));
        }
        let train = train.resolved(task.loss(), train.monitor.unwrap_or(monitor), batch_size);
        Ok(Self { kind, task: Arc::new(task), train: Arc::new(train), tuned: None })
    }

    /// The same task, trained in another way.
    pub fn with_train(&self, train: TrainConfig) -> Self {
        let (task, tuned) = (Arc::clone(&self.task), self.tuned.clone());
        Self { kind: self.kind, task, train: Arc::new(train), tuned }
    }

    /// The plan with the checksum of the weights that `train.from` names, and these weights. A run with a checkpoint has
    /// taken them already: it keeps the checksum that it has, and the file may have changed or be gone.
    pub fn with_source(&self, run: &Run) -> Result<(Self, Option<SourceWeights>)> {
        let mut train = (*self.train).clone();
        let Some(from) = train.from.clone() else { return Ok((self.with_train(train), None)) };
        if checkpoint::any(run.folder()) {
            let before = if run.exists() { run.document()?.train()?.from_sha256 } else { None };
            train.from_sha256 = train.from_sha256.or(before);
            return Ok((self.with_train(train), None));
        }
        let source = SourceWeights::read(&from)?;
        source.check_columns(&Document::parse(&self.config_text())?)?;
        if let Some(sum) = train.from_sha256.as_ref().filter(|sum| **sum != source.sha256) {
            let expected = format!("{from} has {}: these are other weights", source.sha256);
            return Err(Error::config("train", "from_sha256", sum.clone(), expected));
        }
        train.from_sha256 = Some(source.sha256.clone());
        Ok((self.with_train(train), Some(source)))
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
        for (at, of) in self.train.freeze.iter().enumerate() {
            if !names.iter().any(|name| is_among(name, std::slice::from_ref(of))) {
                let mut layers: Vec<&str> = names
                    .iter()
                    .map(|name| name.rsplit_once('.').map_or(&**name, |(layer, _)| layer))
                    .collect();
                layers.dedup();
                let expected =
                    format!("no parameter or layer has this name; there are {}", layers.join(", "));
                return Err(Error::config("train", format!("freeze.[{at}]"), of.clone(), expected));
            }
        }
        // Running statistics of batch norm are stored beside the parameters, but not trained.
        let mut trained = names.iter().filter(|name| !weights::is_running_statistic(name));
        if !self.train.freeze.is_empty() && trained.all(|name| is_among(name, &self.train.freeze)) {
            let value = self.train.freeze.join(", ");
            return Err(Error::config("train", "freeze", value, "leaves nothing to train"));
        }
        Ok(())
    }

    /// The memory that the training needs at least.
    pub fn memory_need(&self, layers: &[LayerSummary]) -> MemoryNeed {
        let all = self.task.example().per_epoch;
        let batch = self.train.batch_size.map_or(all, |size| size.min(all));
        // A process computes one shard after another.
        MemoryNeed::new(layers, &self.train, batch.div_ceil(self.train.shards))
    }

    /// Fails unless the weights that `train.from` names fit the net. That they are there is asked later: a run with a
    /// checkpoint does not need them.
    pub fn check_source(&self, net: NetOf<T>) -> Result<()> {
        match &self.train.from {
            Some(from) if SourceWeights::path(from).exists() => {
                SourceWeights::read(from)?.transfer(net).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Fails unless the memory suffices for the net, its optimizer and the activations of a batch.
    pub fn check_memory(&self, layers: &[LayerSummary]) -> Result<()> {
        let need = self.memory_need(layers);
        // Asking the system costs more than planning a small net, and a config may have a hundred thousand.
        let large = (need.total() > SMALL_NEED).then(matnet_data::memory::available).flatten();
        let Some(available) = large.filter(|&available| need.total() > available) else { return Ok(()) };
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

    /// The device that trains: with automatic differentiation, and checkpointing if it is asked for.
    pub fn training_device(&self, device: &Device) -> Device {
        let device = device.clone().autodiff();
        if self.train.checkpointing { device.gradient_checkpointing() } else { device }
    }

    /// The net with all parameters zero: for its layers and names.
    pub fn blank(&self) -> Result<NetOf<T>> {
        self.blank_on(&Device::flex())
    }

    /// The same on a device.
    pub fn blank_on(&self, device: &Device) -> Result<NetOf<T>> {
        self.task.config().blank(device).map_err(crate::error::at("model"))
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
            #[serde(skip_serializing_if = "Option::is_none")]
            tuned: Option<&'a Tuned>,
        }
        let run = RunTable { version: env!("CARGO_PKG_VERSION"), data_sha256: self.task.data().checksum() };
        let model = ModelTable { kind: self.kind, config: self.task.config() };
        let (data, tuned) = (self.task.data_config(), self.tuned.as_ref());
        let whole = Whole { run, data, model, train: &self.train, tuned };
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

/// Fails unless a task has this metric, and the targets of the validation split define it.
fn check_monitor<T: Task>(task: &T, metric: Metric) -> Result<()> {
    let wrong = |expected: String| Err(Error::config("train", "monitor", metric.name(), expected));
    let available = available_metrics(task);
    if !available.contains(&metric) {
        let names: Vec<&str> = available.into_iter().map(Metric::name).collect();
        return wrong(format!("this net has no such metric; it has {}", names.join(", ")));
    }
    let valid = task.data().split(Split::Valid);
    let undefined = task
        .metric_targets(valid)
        .filter(|_| !valid.is_empty())
        .and_then(|targets| targets.undefined(metric, task.target_names().len()));
    match undefined {
        Some(reason) => wrong(format!("undefined on the validation split: {reason}")),
        None => Ok(()),
    }
}
