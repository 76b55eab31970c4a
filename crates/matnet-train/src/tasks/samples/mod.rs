//! Matrices and sequences of matrices, and what is learnt from them.

mod batch;
mod config;
mod data;
mod divide;
mod fit;
mod forecast;
mod gather;
mod inputs;
mod net;
mod predict;
mod preprocess;
mod range;
mod raw;
mod remarks;
#[cfg(feature = "report")]
mod report;
mod scan;
mod score;
mod stored;
mod target;

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{DType, Device, Tensor};
use matnet::Mode;
use matnet::net::{Net, SampleTarget};
use matnet::random::SeededRng;
use matnet_data::catalog::Cache;
use matnet_data::transform::augment::Mixup;
use matnet_data::{Array, Target};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use toml::Table;

use self::batch::float_dtype;
pub use self::batch::{SampleConfig, SampleInput, SampleOutput};
pub use self::config::{Columns, Missing, SampleDataConfig, SampleSplitConfig, Scale, SplitRule};
pub use self::data::SampleData;
use self::gather::Changes;
pub use self::inputs::{Inputs, Occlusions};
pub(crate) use self::net::{describe, fits};
pub use self::preprocess::Preprocess;
use self::range::range;
pub use self::stored::StoredInputs;
pub use self::target::TargetType;
use crate::config::{Loss, TrainConfig};
use crate::metrics::Targets;
use crate::ranks::Ranks;
use crate::run::Score;
use crate::task::{
    BatchScore, ClassLoss, ExampleShape, Interface, Loaded, OtherData, PredictRequest, PredictionStream,
    Predictions, ReadAhead, Task, Wanted,
};
use crate::{Error, Result};

/// The name of the mean loss on occluded entries (`data.occlusion`).
pub const OCCLUDED_LOSS: &str = "occluded_loss";
/// Samples per step, unless the config says how many.
const BATCH_SIZE: usize = 64;
/// Samples per batch of an evaluation, at least.
const EVAL_BATCH_SIZE: usize = 128;

/// A net that learns from matrices or sequences.
pub struct SampleTask<C: SampleConfig> {
    data: Arc<SampleData>,
    net: C,
    kind: TargetType,
    loss: Loss,
    huber_delta: f64,
    class_loss: ClassLoss,
    /// Whether batches hold samples of similar length.
    buckets: bool,
}

/// What is stored beside the weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleMetadata {
    /// The transforms of every input.
    pub preprocess: Preprocess,
    /// A name per class; empty without classes.
    pub classes: Vec<String>,
    /// What the net was trained to give.
    pub target: TargetType,
    /// Steps of a sequence that the net reads, where it predicts the rest.
    pub context_length: Option<usize>,
    /// Whether the net gives logits of matrices.
    pub logits: bool,
    /// Whether it was trained on sequences of different lengths.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lengths_differ: bool,
    /// A name per value or label; empty for other targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The weights of classes or labels in the loss, where they are weighed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<f32>,
}

impl<C: SampleConfig> SampleTask<C> {
    /// Steps of a sequence that the net reads; `None` if the samples are not sequences.
    fn steps(&self) -> Option<usize> {
        self.context_length().or(self.data.time())
    }

    /// Where the net predicts the rest of its own input: the steps that it reads.
    fn context_length(&self) -> Option<usize> {
        let own = C::TARGET == SampleTarget::Future && !matches!(self.data.target, Target::Matrices(_));
        self.data.config.context_length.filter(|_| own)
    }

    /// The output of the net for some examples.
    fn output(
        &self,
        net: &C::Net,
        examples: &[usize],
        changes: Option<&Changes>,
        mode: &mut Mode,
        device: &Device,
    ) -> SampleOutput {
        let lengths = self.data.lengths_of(examples);
        let input = self.input(examples, changes, device);
        // A net in training may be in 16 bits; the loss is in 32.
        let (input, low) = match float_dtype(net) {
            DType::F32 => (input, false),
            dtype => (input.cast(dtype), true),
        };
        let output = SampleOutput::new::<C>(net.forward(input, mode), lengths.as_deref());
        if low { output.in_32_bits() } else { output }
    }

    /// The data as the net takes them.
    fn seen(data: SampleData) -> Result<SampleData> {
        Ok(data.seen_as(net::takes_sequences::<C>())?.unwrap_or(data))
    }

    /// A name per value or label; empty for other targets.
    fn output_names(&self) -> &[String] {
        match self.kind {
            TargetType::Values | TargetType::Labels => target::output_names(&self.data.target),
            _ => &[],
        }
    }

    fn target_range(&self, ranks: &Ranks) -> Result<(f32, f32)> {
        match &self.data.target {
            Target::Matrices(targets) if C::TARGET != SampleTarget::Input => Ok(range(targets.data())),
            _ => self.data.inputs.range(ranks),
        }
    }
}

impl<C: SampleConfig> Task for SampleTask<C> {
    type DataConfig = SampleDataConfig;
    type Data = SampleData;
    type NetConfig = C;
    type Metadata = SampleMetadata;
    type Output = SampleOutput;

    fn check_low_precision(&self) -> Result<(), &'static str> {
        // Its running statistics belong to the copy in 16 bits, and would be lost with it.
        let config = serde_json::to_value(self.config()).unwrap_or_default();
        match config.get("batch_norm").and_then(serde_json::Value::as_bool) {
            Some(true) => Err("batch norm computes in 32 bits; leave it out, or train in 32"),
            _ => Ok(()),
        }
    }

    fn load(config: &SampleDataConfig, cache: &Cache, seed: u64, ranks: &Ranks) -> Result<SampleData> {
        SampleData::load_together(config, cache, seed, ranks)
    }

    fn reload(
        config: &SampleDataConfig,
        cache: &Cache,
        seed: u64,
        metadata: &SampleMetadata,
    ) -> Result<SampleData> {
        Self::seen(SampleData::reload(config, cache, seed, &metadata.preprocess)?)
    }

    fn load_other(
        other: OtherData,
        config: &SampleDataConfig,
        metadata: &SampleMetadata,
        cache: &Cache,
    ) -> Result<SampleData> {
        other.refuse_edges()?;
        let config = SampleDataConfig { lengths_differ: metadata.lengths_differ, ..config.clone() };
        Self::seen(SampleData::load_other(other.source, &config, cache, &metadata.preprocess)?)
    }

    fn view(data: Arc<SampleData>) -> Result<Arc<SampleData>> {
        Ok(match data.seen_as(net::takes_sequences::<C>())? {
            Some(seen) => Arc::new(seen),
            None => data,
        })
    }

    fn continued(data: Arc<SampleData>, metadata: &SampleMetadata) -> Result<Arc<SampleData>> {
        match &metadata.preprocess.target_scaler {
            Some(scaler) => Ok(Arc::new(data.with_target_scaler(scaler.clone())?)),
            None => Ok(data),
        }
    }

    fn split_per_seed(config: &SampleDataConfig) -> bool {
        config.split.per_seed
    }

    fn net_config(table: Table, data: &SampleData) -> Result<C> {
        net::config(table, data)
    }

    fn new(data: Arc<SampleData>, net: C, train: &TrainConfig, ranks: &Ranks) -> Result<Self> {
        let kind = TargetType::new(C::TARGET, &data.target);
        let loss = kind.loss(train, net.output_activation())?;
        let class_loss = data.class_loss(kind, train)?;
        let buckets = train.bucket_by_length.unwrap_or(true) && !data.lengths.is_empty();
        let huber_delta = train.huber_delta.unwrap_or(1.0);
        gather::check_augment::<C>(&data)?;
        let task = Self { data, net, kind, loss, huber_delta, class_loss, buckets };
        if loss == Loss::Bce && kind == TargetType::Matrices {
            let (low, high) = task.target_range(ranks)?;
            if low < 0.0 || high > 1.0 {
                let value = format!("bce, but the targets lie between {low} and {high}");
                let expected = match &task.data.preprocess.scaler {
                    None => "between 0 and 1 expected (data.scale = \"min-max\")",
                    Some(_) => {
                        "between 0 and 1 expected; data.scale is fitted on the training split, and others may lie outside: train with \"mse\" or \"mae\""
                    }
                };
                return Err(Error::config("train", "loss", value, expected));
            }
        }
        Ok(task)
    }

    fn check_metadata(net: &C, metadata: &SampleMetadata) -> Result<(), String> {
        let outputs = net::classes(net).unwrap_or(0);
        let (named, wanted, what) = match metadata.target {
            TargetType::Values => (metadata.names.len(), outputs, "values"),
            TargetType::Labels => (metadata.names.len(), outputs, "labels"),
            TargetType::Classes | TargetType::Steps => (metadata.classes.len(), outputs.max(2), "classes"),
            TargetType::Matrices => (metadata.classes.len(), 0, "classes"),
        };
        match named == wanted {
            true => Ok(()),
            false => Err(format!("names {named} {what} where the net has {wanted}")),
        }
    }

    fn for_trained(data: SampleData, loaded: &Loaded<Self>) -> Result<Self> {
        let Loaded { net_config, metadata, .. } = loaded;
        net::check_inputs(net_config, data.inputs.shape())?;
        net::check_target(net_config, metadata.target, &data)?;
        let data = match metadata.target {
            TargetType::Classes | TargetType::Steps => data.with_names(&metadata.classes)?,
            TargetType::Values | TargetType::Labels => data.with_names(&metadata.names)?,
            TargetType::Matrices => data.with_scaled_target()?,
        };
        let train = loaded.train.with_fitted_weights(&metadata.class_weights);
        Self::new(Arc::new(data), net_config.clone(), &train, &Ranks::default())
    }

    fn data(&self) -> &Arc<SampleData> {
        &self.data
    }

    fn data_config(&self) -> &SampleDataConfig {
        &self.data.config
    }

    fn config(&self) -> &C {
        &self.net
    }

    fn metadata(&self) -> SampleMetadata {
        SampleMetadata {
            preprocess: self.data.preprocess.clone(),
            classes: self.class_names().to_vec(),
            target: self.kind,
            context_length: self.context_length(),
            logits: self.loss == Loss::Bce,
            lengths_differ: !self.data.lengths.is_empty(),
            names: self.output_names().to_vec(),
            class_weights: self.class_loss.weights.clone().unwrap_or_default(),
        }
    }

    fn example(&self) -> ExampleShape {
        let [rows, cols] = self.data.sides();
        let shape = match self.data.time() {
            Some(time) => match self.data.lengths.iter().min() {
                Some(least) => format!("{least} to {time} × {rows}×{cols}"),
                None => format!("{time} × {rows}×{cols}"),
            },
            None => format!("{rows}×{cols}"),
        };
        let per_epoch = self.data.indices.train.len();
        ExampleShape { shape, unit: "sample", steps: self.steps().unwrap_or(1), per_epoch }
    }

    fn loss(&self) -> Loss {
        self.loss
    }

    fn batch_size(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH_SIZE))
    }

    fn eval_batch_size(&self, wanted: Option<usize>) -> usize {
        wanted.unwrap_or(BATCH_SIZE).max(EVAL_BATCH_SIZE)
    }

    fn lengths_differ(&self) -> bool {
        !self.data.lengths.is_empty()
    }

    fn shuffle(&self, order: &mut [usize], rng: &mut SeededRng) {
        match self.data.config.shuffle_block {
            None => order.shuffle(rng),
            Some(block) => batch::shuffle_blocks(order, block, rng),
        }
    }

    fn read_ahead(&self, batches: &Arc<Vec<Vec<usize>>>, from: usize) -> Option<ReadAhead> {
        let Inputs::Stored(stored) = &self.data.inputs else { return None };
        let stored = stored.clone();
        Some(ReadAhead::start(Arc::clone(batches), from, move |batch| stored.touch(batch)))
    }

    fn batches(&self, order: &[usize], batch_size: usize, rng: &mut SeededRng) -> Vec<Vec<usize>> {
        match self.buckets {
            true => batch::by_length(order, batch_size, |at| self.data.length(at), rng),
            false => order.chunks(batch_size).map(<[usize]>::to_vec).collect(),
        }
    }

    fn forward(&self, net: &C::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> SampleOutput {
        let changes = self.changes(examples.len(), mode);
        self.output(net, examples, changes.as_ref(), mode, device)
    }

    /// With mix-up, the loss is that of both targets of each sample, in their shares.
    fn forward_loss(&self, net: &C::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> BatchScore {
        let changes = self.changes(examples.len(), mode);
        let output = self.output(net, examples, changes.as_ref(), mode, device);
        let Some(Mixup { partners, weights }) = changes.and_then(|changes| changes.mixup) else {
            return self.score(output, examples, device);
        };
        let partners: Vec<usize> = partners.into_iter().map(|place| examples[place]).collect();
        let rest: Vec<f32> = weights.iter().map(|weight| 1.0 - weight).collect();
        let own = self.weighed_score(output.clone(), examples, Some(&weights), device);
        let other = self.weighed_score(output, &partners, Some(&rest), device);
        let weight = own.weight + other.weight;
        let share = if weight > 0.0 { own.weight / weight } else { 1.0 };
        BatchScore { loss: own.loss.clone() * share + other.loss * (1.0 - share), weight, ..own }
    }

    fn score(&self, output: SampleOutput, examples: &[usize], device: &Device) -> BatchScore {
        self.weighed_score(output, examples, None, device)
    }

    fn class_scores<'a>(&self, output: &'a SampleOutput) -> Option<&'a Tensor<2>> {
        match output {
            SampleOutput::Scores(scores) if self.kind.has_classes() => Some(scores),
            _ => None,
        }
    }

    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        self.data.classes(examples)
    }

    fn class_names(&self) -> &[String] {
        if self.kind.has_classes() { self.data.class_names() } else { &[] }
    }

    fn metric_targets(&self, examples: &[usize]) -> Option<Targets> {
        match (self.kind, &self.data.target) {
            (TargetType::Classes | TargetType::Steps, _) => Some(Targets::Classes(self.classes(examples))),
            (TargetType::Labels, _) => Some(Targets::MultiLabels(self.flags(examples))),
            (TargetType::Values, Target::Values { values, .. }) => {
                let rows = examples.iter().flat_map(|&at| values.sample(at)).copied();
                Some(Targets::Values(rows.collect()))
            }
            _ => None,
        }
    }

    fn metric_scores(&self, output: &SampleOutput) -> Option<Tensor<2>> {
        let SampleOutput::Scores(scores) = output else { return None };
        match self.kind {
            TargetType::Values => {
                let scaler = self.data.preprocess.target_scaler.as_ref();
                let values = target::unscaled_values(scores.clone(), scaler).ok()?;
                Some(target::to_tensor(values, &scores.device()))
            }
            _ => Some(scores.clone()),
        }
    }

    fn metric_weights(&self, examples: &[usize]) -> Option<Vec<f32>> {
        let rows = examples.iter().map(|&at| self.metric_rows(at)).sum();
        self.row_weights(examples, rows, None)
    }

    fn target_names(&self) -> &[String] {
        match self.kind {
            TargetType::Values | TargetType::Labels => self.output_names(),
            _ => self.class_names(),
        }
    }

    fn by_step(&self) -> bool {
        C::TARGET == SampleTarget::StepClass
    }

    fn metric_rows(&self, example: usize) -> usize {
        if self.by_step() { self.data.length(example) } else { 1 }
    }

    fn extra_metrics(
        &self,
        net: &C::Net,
        examples: &[usize],
        _score: Option<Score>,
        batch_size: usize,
        device: &Device,
    ) -> BTreeMap<String, f64> {
        let loss = self.occluded_loss(net, examples, batch_size, device);
        let mut metrics: BTreeMap<String, f64> =
            loss.into_iter().map(|loss| (OCCLUDED_LOSS.to_owned(), loss)).collect();
        if let Some((mse, mae)) = self.forecast_errors(net, examples, batch_size, device) {
            metrics.extend([("mse".to_owned(), mse), ("mae".to_owned(), mae)]);
        }
        metrics
    }

    fn predict(loaded: &Loaded<Self>, inputs: Array, lengths: &[usize]) -> Result<Predictions> {
        predict::predict(loaded, inputs, lengths)
    }

    fn states(
        loaded: &Loaded<Self>,
        wanted: Wanted,
        inputs: Array,
        lengths: &[usize],
    ) -> Result<Predictions> {
        predict::states(loaded, wanted, inputs, lengths)
    }

    fn decode(loaded: &Loaded<Self>, codes: Array) -> Result<Array> {
        predict::decode(loaded, codes)
    }

    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>> {
        predict::predict_file(loaded, request)
    }

    fn steps(loaded: &Loaded<Self>, shape: &[usize]) -> usize {
        predict::steps(&loaded.metadata.preprocess, shape)
    }

    fn interface(loaded: &Loaded<Self>) -> Option<Interface> {
        Some(predict::interface(loaded))
    }
}
