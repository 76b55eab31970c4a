//! What decides a run: a task and how it is trained.

use burn::tensor::Device;
use matnet::random::SeededRng;
use matnet::weights;
use matnet_data::cache::Cache;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::compare::Planner;
use crate::config::{Document, Loss, Monitor, TrainConfig};
use crate::data::Part;
use crate::graph::NodeTask;
use crate::program::ProgramTask;
use crate::sealed::hex;
use crate::stories::StoryTask;
use crate::task::{SampleTask, Task};
use crate::{Error, Result, inspect};

/// Everything that decides a run: a task, whatever its kind.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per run.
pub enum Plan {
    /// A net on matrices or sequences.
    Samples(Work<SampleTask>),
    /// A net on a graph.
    Nodes(Work<NodeTask>),
    /// A net that learns a program.
    Program(Work<ProgramTask>),
    /// A net on stories.
    Stories(Work<StoryTask>),
}

/// A task and how it is trained.
#[derive(Clone, Debug)]
pub struct Work<T> {
    /// The data, loaded; and the net on them.
    pub task: T,
    /// How it is trained, defaults written out.
    pub train: TrainConfig,
}

impl Plan {
    /// Understands a config, loading its data.
    pub fn new(document: &Document, cache: &Cache) -> Result<Self> {
        Planner::default().plan(document, cache)
    }

    /// How it is trained.
    pub fn train(&self) -> &TrainConfig {
        match self {
            Self::Samples(work) => &work.train,
            Self::Nodes(work) => &work.train,
            Self::Program(work) => &work.train,
            Self::Stories(work) => &work.train,
        }
    }

    /// The config as it stands in the run folder.
    pub fn config(&self) -> String {
        match self {
            Self::Samples(work) => work.config(),
            Self::Nodes(work) => work.config(),
            Self::Program(work) => work.config(),
            Self::Stories(work) => work.config(),
        }
    }

    /// Fails if the net cannot be built. Gives about how many operations its training takes, for comparing runs.
    pub fn check(&self) -> Result<f64> {
        let (layers, examples) = match self {
            Self::Samples(work) => {
                let (net, task) = (work.net(&Device::flex())?, &work.task);
                let layers = inspect::layers(&net, &task.model, task.steps());
                (layers, task.examples(Part::Train).len())
            }
            Self::Nodes(work) => {
                let net = work.net(&Device::flex())?;
                (inspect::graph_layers(&net, &work.task.model), work.task.data.graph.nodes())
            }
            Self::Stories(work) => {
                let net = work.net(&Device::flex())?;
                let layers = inspect::story_layers(&net, &work.task.model);
                (layers, work.task.examples(Part::Train).len())
            }
            Self::Program(work) => {
                let net = work.net(&Device::flex())?;
                let layers = inspect::program_layers(&net, work.task.data.config.test_steps());
                (layers, work.task.examples(Part::Train).len())
            }
        };
        let each: u64 = layers.iter().map(|layer| layer.flops).sum();
        Ok(3.0 * each as f64 * examples as f64 * self.train().epochs as f64)
    }
}

impl<T: Task> Work<T> {
    /// Understands how a task is to be trained.
    pub fn new(document: &Document, task: T) -> Result<Self> {
        let train = document.train()?;
        if task.examples(Part::Train).is_empty() {
            return Err(Error::Config("data.split: leaves nothing to train on".to_owned()));
        }
        if train.patience.is_some() && task.examples(Part::Valid).is_empty() {
            let what = "train.patience: needs a validation part to look at; data.split.valid is 0";
            return Err(Error::Config(what.to_owned()));
        }
        if let Some(epochs) = train.linear_start.filter(|_| !task.starts_linear()) {
            let what = format!(
                "train.linear_start: {epochs}; only end-to-end-memory has a softmax to begin without"
            );
            return Err(Error::Config(what));
        }
        let monitor = match task.loss() {
            Loss::CrossEntropy => Monitor::Error,
            _ => Monitor::Loss,
        };
        let batch = task.batch(train.batch_size);
        let train = train.resolved(task.loss(), train.monitor.unwrap_or(monitor), batch);
        Ok(Self { task, train })
    }

    /// The config as it stands in the run folder.
    pub fn config(&self) -> String {
        #[derive(Serialize)]
        struct RunFacts<'a> {
            version: &'a str,
            data_sha256: &'a str,
        }
        #[derive(Serialize)]
        struct Whole<'a, D: Serialize, M: Serialize> {
            run: RunFacts<'a>,
            data: &'a D,
            model: &'a M,
            train: &'a TrainConfig,
        }
        let run = RunFacts { version: env!("CARGO_PKG_VERSION"), data_sha256: self.task.facts().checksum };
        let ((data, model), train) = (self.task.configs(), &self.train);
        // Plain structs of numbers, words and lists.
        let text = toml::to_string(&Whole { run, data, model, train }).expect("a config that fits into TOML");
        format!("# Everything that decided this run. `matnet train` takes it as any other config.\n\n{text}")
    }

    /// The net at its beginning.
    pub fn net(&self, device: &Device) -> Result<T::Net> {
        let net = self.task.net(&mut SeededRng::new(self.train.seed, "init"), device)?;
        let names = weights::names(&net);
        if let Some(start) = &self.train.regularize_only
            && !names.iter().any(|name| name.starts_with(start))
        {
            let names = names.join(", ");
            let what = format!("train.regularize_only: {start}; no map of the net begins so, there are {names}");
            return Err(Error::Config(what));
        }
        for (word, factor) in &self.train.learning_rate_multipliers {
            if !names.iter().any(|name| name.contains(word)) {
                let names = names.join(", ");
                return Err(Error::Config(format!(
                    "train.learning_rate_multipliers.{word}: {factor}; no parameter has a name with this in it, there are {names}"
                )));
            }
        }
        Ok(net)
    }

    /// The checksum of the config.
    pub(crate) fn checksum(&self) -> String {
        hex(&Sha256::digest(self.config()))
    }
}

/// What results and reports say of a task.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// feedforward, gcn, …
    pub kind: &'static str,
    /// matrix or vector.
    pub form: String,
    /// The name or path of the data.
    pub source: &'a str,
    /// Over the data as they were loaded.
    pub checksum: &'a str,
    /// What a reader should know of them.
    pub notes: &'a [String],
}
