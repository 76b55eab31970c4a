//! What a net is trained to do: the one interface between the pipeline and the kinds of data.
//!
//! A [`Task`] knows its configs, its dataset, its net, the loss of a batch, its metrics and its predictions. Training, checkpoints,
//! evaluation, prediction and reports are written once, against this trait. [`tasks`](crate::tasks) holds the implementations:
//! samples, graphs, stories and algorithms.

mod evaluation;
#[cfg(feature = "report")]
mod figure;
mod interface;
mod loss;
mod prediction;
mod read_ahead;
mod report;
mod score;
mod trained;
mod wrong;

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::net::NetConfig;
use matnet::random::SeededRng;
use matnet_data::Array;
use matnet_data::catalog::Cache;
use rand::seq::SliceRandom;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

pub use self::evaluation::{Breakdown, ClassCounts, Confusion, Evaluation, Misclassified};
pub(crate) use self::evaluation::{
    EvaluatedBatch, Sums, available_metrics, bits, evaluate, evaluate_batch, no_outcomes,
};
#[cfg(feature = "report")]
pub use self::figure::{ExampleMatrices, FigureKind, TaskFigure};
pub use self::interface::{Interface, OutputKind};
pub(crate) use self::loss::{
    ClassLoss, WeightedMean, binary_cross_entropy, entry_losses, entry_weighted_mean, label_cross_entropy,
    weighted_mean,
};
pub(crate) use self::prediction::{
    FILES, Reading, batch_of, check_lengths, for_samples, recorded, recorded_states,
};
pub use self::prediction::{PredictRequest, PredictedBatch, PredictionStream, Predictions, Wanted};
pub use self::read_ahead::ReadAhead;
pub use self::report::TaskReport;
pub(crate) use self::score::to_vec;
pub use self::score::{BatchScore, predicted_classes, probabilities};
pub(crate) use self::trained::{Fitted, Loaded};
pub use self::wrong::Wrong;
use crate::config::{Loss, TrainConfig};
use crate::metrics::Targets;
use crate::ranks::Ranks;
use crate::run::Score;
use crate::{Error, Result, Split};

/// The net of a task.
pub type NetOf<T> = <<T as Task>::NetConfig as NetConfig>::Net;

/// A dataset that is ready for training: loaded, transformed and split.
pub trait TaskData {
    /// The name or path it was loaded from.
    fn source(&self) -> &str;
    /// A checksum of the data as they were loaded.
    fn checksum(&self) -> &str;
    /// What a reader should know: examples left out, sequences generated, …
    fn notes(&self) -> &[String];
    /// The examples of a split, by index.
    fn split(&self, split: Split) -> &[usize];
    /// How many folds the split rule has, if one of several folds is the test split.
    fn fold_count(&self) -> Option<usize> {
        None
    }
    /// Where examples stay in their file: the first read that failed since this was asked. What was computed since is void.
    fn take_read_error(&self) -> Option<Error> {
        None
    }
}

/// Implements [`TaskData`] for a type with the fields `config.source`, `checksum`, `notes` and `indices`.
macro_rules! impl_task_data {
    ($type:ty $(, $($more:tt)+)?) => {
        impl crate::task::TaskData for $type {
            fn source(&self) -> &str {
                &self.config.source
            }

            fn checksum(&self) -> &str {
                &self.checksum
            }

            fn notes(&self) -> &[String] {
                &self.notes
            }

            fn split(&self, split: crate::Split) -> &[usize] {
                split.of(&self.indices)
            }

            $($($more)+)?
        }
    };
}
pub(crate) use impl_task_data;

/// Data other than those of the run, for evaluation or prediction.
#[derive(Clone, Copy, Debug)]
pub struct OtherData<'a> {
    /// A dataset's name or a path.
    pub source: &'a str,
    /// The edge list of a graph whose source is a table of nodes.
    pub edges: Option<&'a str>,
}

/// A kind of dataset with a kind of net on it.
pub trait Task: TaskReport + Sized + 'static {
    /// `[data]`.
    type DataConfig: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The dataset.
    type Data: TaskData + 'static;
    /// `[model]`.
    type NetConfig: NetConfig;
    /// What is stored beside the weights: all that a prediction needs.
    type Metadata: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What the net gives for a batch.
    type Output;

    // ---- Loading ----

    /// Loads the dataset of a config; `seed` is that of the run, for splits that depend on it. Ranks that load it together do the same
    /// in the same order, so that each can read a share.
    fn load(config: &Self::DataConfig, cache: &Cache, seed: u64, ranks: &Ranks) -> Result<Self::Data>;

    /// Loads the dataset of a run again, with the transforms that its net was trained with.
    fn reload(config: &Self::DataConfig, cache: &Cache, seed: u64, _: &Self::Metadata) -> Result<Self::Data> {
        Self::load(config, cache, seed, &Ranks::default())
    }

    /// Loads other data for a trained net; all of them become the test split.
    fn load_other(
        other: OtherData,
        config: &Self::DataConfig,
        metadata: &Self::Metadata,
        cache: &Cache,
    ) -> Result<Self::Data>;

    /// The dataset in the form that this kind of net takes, where several are possible.
    fn view(data: Arc<Self::Data>) -> Result<Arc<Self::Data>> {
        Ok(data)
    }

    /// The dataset for a net that continues a run with this metadata: what was fitted there to the targets is not fitted anew.
    fn continued(data: Arc<Self::Data>, _metadata: &Self::Metadata) -> Result<Arc<Self::Data>> {
        Ok(data)
    }

    /// Whether every seed has a split of its own.
    fn split_per_seed(config: &Self::DataConfig) -> bool;

    /// Reads `[model]` and fills in the sizes that the data decide.
    fn net_config(table: Table, data: &Self::Data) -> Result<Self::NetConfig>;

    /// The task of this net on these data; fails if they, or the training config, do not fit. What must be read for that is divided among the
    /// ranks.
    fn new(data: Arc<Self::Data>, net: Self::NetConfig, train: &TrainConfig, ranks: &Ranks) -> Result<Self>;

    /// Fails unless the metadata fit the net.
    fn check_metadata(_net: &Self::NetConfig, _metadata: &Self::Metadata) -> Result<(), String> {
        Ok(())
    }

    /// The task of a trained net on these data, whose classes are put in the order of the net's.
    fn for_trained(data: Self::Data, loaded: &Loaded<Self>) -> Result<Self> {
        Self::new(Arc::new(data), loaded.net_config.clone(), &loaded.train, &Ranks::default())
    }

    // ---- Description ----

    /// The dataset.
    fn data(&self) -> &Arc<Self::Data>;
    /// `[data]` with all defaults written out.
    fn data_config(&self) -> &Self::DataConfig;
    /// `[model]` with all sizes known.
    fn config(&self) -> &Self::NetConfig;
    /// matrix or vector.
    fn form(&self) -> String {
        format!("{:?}", self.config().form()).to_lowercase()
    }
    /// Whether its net can be trained in 16 bits; if not, what can.
    fn check_low_precision(&self) -> Result<(), &'static str> {
        Err("only nets on samples can be trained in 16 bits")
    }
    /// What is stored beside the weights of an epoch.
    fn metadata(&self) -> Self::Metadata;
    /// What one example is: its shape in words, what it is called, and its time steps (1 without time).
    fn example(&self) -> ExampleShape;

    // ---- Batches, loss and metrics ----

    /// The loss.
    fn loss(&self) -> Loss;
    /// Examples per step; `None` for all of them.
    fn batch_size(&self, wanted: Option<usize>) -> Option<usize>;
    /// Examples per batch of an evaluation. Sums of `f32` depend on it in their last bits, so it is the same everywhere.
    fn eval_batch_size(&self, wanted: Option<usize>) -> usize;

    /// Whether examples are sequences of different lengths.
    fn lengths_differ(&self) -> bool {
        false
    }

    /// Puts the examples of an epoch into random order.
    fn shuffle(&self, order: &mut [usize], rng: &mut SeededRng) {
        order.shuffle(rng);
    }

    /// Starts to read the batches of an epoch from step `from` on before their turn, where examples stay in their file.
    fn read_ahead(&self, _batches: &Arc<Vec<Vec<usize>>>, _from: usize) -> Option<ReadAhead> {
        None
    }

    /// The batches of an epoch, from its examples in random order.
    fn batches(&self, order: &[usize], batch_size: usize, _rng: &mut SeededRng) -> Vec<Vec<usize>> {
        order.chunks(batch_size).map(<[usize]>::to_vec).collect()
    }

    /// What the net gives for some examples.
    fn forward(
        &self,
        net: &NetOf<Self>,
        examples: &[usize],
        mode: &mut Mode,
        device: &Device,
    ) -> Self::Output;

    /// The loss and the errors of an output.
    fn score(&self, output: Self::Output, examples: &[usize], device: &Device) -> BatchScore;

    /// Forward pass and loss. Tasks whose training loss is more than the score of their output override it.
    fn forward_loss(
        &self,
        net: &NetOf<Self>,
        examples: &[usize],
        mode: &mut Mode,
        device: &Device,
    ) -> BatchScore {
        self.score(self.forward(net, examples, mode, device), examples, device)
    }

    /// The class scores `[n, classes]` in an output, if the net gives classes.
    fn class_scores<'a>(&self, output: &'a Self::Output) -> Option<&'a Tensor<2>>;

    /// The target classes of some examples, step by step if every step has one.
    fn classes(&self, examples: &[usize]) -> Vec<u32>;

    /// A name per class; empty without classes.
    fn class_names(&self) -> &[String];

    /// Whether predictions are right or wrong, so that there is an error rate.
    fn has_errors(&self) -> bool {
        !self.class_names().is_empty()
    }

    /// Whether every step of an example has a class of its own.
    fn by_step(&self) -> bool {
        false
    }

    /// The targets of some examples as [`metrics`](crate::metrics) compare them: a row for each example, or for each step.
    /// `None` if only the loss says how good an output is. No examples ask for the kind of targets alone.
    fn metric_targets(&self, examples: &[usize]) -> Option<Targets> {
        (!self.class_names().is_empty()).then(|| Targets::Classes(self.classes(examples)))
    }

    /// How many of these rows are those of one example: its steps, if every step has a target.
    fn metric_rows(&self, _example: usize) -> usize {
        1
    }

    /// What an output says about these targets, with as many rows: the scores of the classes, the logits of the labels, or
    /// the values in the units of the data.
    fn metric_scores(&self, output: &Self::Output) -> Option<Tensor<2>> {
        self.class_scores(output).cloned()
    }

    /// The weight of each of these rows in the metrics; `None` for equal weights.
    fn metric_weights(&self, _examples: &[usize]) -> Option<Vec<f32>> {
        None
    }

    /// A name for each class, label or value that the targets are made of.
    fn target_names(&self) -> &[String] {
        self.class_names()
    }

    /// Further metrics of a split, by name.
    fn extra_metrics(
        &self,
        _net: &NetOf<Self>,
        _examples: &[usize],
        _score: Option<Score>,
        _batch: usize,
        _device: &Device,
    ) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    // ---- Pretraining ----

    /// A phase before the epochs of the config, if the net has one.
    fn pretraining(&self) -> Option<Pretraining> {
        None
    }

    /// The net as it is used during pretraining, or after it.
    fn with_pretraining(&self, net: NetOf<Self>, _on: bool) -> NetOf<Self> {
        net
    }

    // ---- Prediction and evaluation of a trained net ----

    /// Predictions for raw inputs, as they stand in the user's files; `lengths` are the steps of each sequence, none if all of
    /// them count.
    fn predict(_loaded: &Loaded<Self>, _inputs: Array, _lengths: &[usize]) -> Result<Predictions> {
        Err(Error::Mismatch("this kind of net does not take arrays; give it a file".to_owned()))
    }

    /// Codes, hidden states or reconstruction errors for raw inputs.
    fn states(
        loaded: &Loaded<Self>,
        wanted: Wanted,
        inputs: Array,
        lengths: &[usize],
    ) -> Result<Predictions> {
        match wanted {
            Wanted::Predictions => Self::predict(loaded, inputs, lengths),
            _ => Err(prediction::no_states()),
        }
    }

    /// What an auto-encoder reconstructs from codes.
    fn decode(_loaded: &Loaded<Self>, _codes: Array) -> Result<Array> {
        Err(Error::Mismatch("only an autoencoder reconstructs from codes".to_owned()))
    }

    /// Predictions for a file or folder, a batch at a time.
    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>>;

    /// What the net takes and gives; `None` for nets whose inputs are not arrays of samples.
    fn interface(_loaded: &Loaded<Self>) -> Option<Interface> {
        None
    }

    /// How many time steps a net on sequences makes of one raw input of this shape, at most.
    fn steps(_loaded: &Loaded<Self>, shape: &[usize]) -> usize {
        shape.first().copied().unwrap_or(1)
    }

    /// Evaluates a split; `options` may ask for more.
    fn evaluate(
        &self,
        net: &NetOf<Self>,
        split: Split,
        train: &TrainConfig,
        options: &EvalOptions,
        device: &Device,
    ) -> Result<Evaluation> {
        options.check_none()?;
        let evaluation = evaluate(self, net, self.data().split(split), train, device);
        self.data().take_read_error().map_or(Ok(evaluation), Err)
    }
}

/// What one example of a task is.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleShape {
    /// In words: 28×28, or 100 × 2×3.
    pub shape: String,
    /// What one is called: sample, node, question, sequence.
    pub unit: &'static str,
    /// Time steps; 1 without time.
    pub steps: usize,
    /// How many of them an epoch goes through.
    pub per_epoch: usize,
}

/// A training phase before the epochs of the config: a constant learning rate, the best epoch by validation loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pretraining {
    /// Epochs, at most.
    pub epochs: usize,
    /// Epochs without a lower validation loss that end it.
    pub patience: usize,
}

/// What an evaluation may be asked for beyond a split.
#[derive(Clone, Debug, Default)]
pub struct EvalOptions {
    /// Algorithmic tasks: test sequences of these lengths.
    pub lengths: Vec<usize>,
    /// Algorithmic tasks: test sequences repeated so often, for repeat-copy.
    pub repeats: Option<usize>,
}

impl OtherData<'_> {
    /// Fails if an edge list is given, for tasks that have none.
    pub(crate) fn refuse_edges(&self) -> Result<()> {
        match self.edges {
            None => Ok(()),
            Some(_) => {
                Err(Error::Mismatch("an edge list was given; only nets on graphs take one".to_owned()))
            }
        }
    }
}

impl EvalOptions {
    /// Fails unless nothing was asked for, which is all that most tasks understand.
    pub(crate) fn check_none(&self) -> Result<()> {
        match self.lengths.is_empty() && self.repeats.is_none() {
            true => Ok(()),
            false => Err(Error::Mismatch("length and repeats: only algorithmic tasks have them".to_owned())),
        }
    }
}

/// The names of a dataset's classes that the net does not know are an error; the others get the net's numbers.
pub(crate) fn renumber(label: u32, names: &[String], classes: &[String]) -> Result<u32> {
    let name = &names[label as usize];
    match classes.iter().position(|class| class == name) {
        Some(at) => Ok(at as u32),
        None => {
            let first: Vec<&str> = classes.iter().take(12).map(String::as_str).collect();
            let more = if classes.len() > 12 { ", …" } else { "" };
            let known = format!("{}{more}", first.join(", "));
            Err(Error::Mismatch(format!("the data have a class `{name}`, the net knows {known}")))
        }
    }
}
