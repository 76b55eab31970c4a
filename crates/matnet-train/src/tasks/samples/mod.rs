//! Matrices and sequences of matrices, and what is learnt from them.

mod batch;
mod config;
mod data;
mod inputs;
mod net;
#[cfg(feature = "report")]
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::net::{Net, SampleTarget};
use matnet::ops::Activation;
use matnet_data::catalog::Cache;
use matnet_data::{Array, Target};
use serde::{Deserialize, Serialize};
use toml::Table;

pub use self::batch::{SampleConfig, SampleInput, SampleOutput};
pub use self::config::{SampleDataConfig, SampleSplitConfig, Scale, SplitRule};
pub use self::data::{Preprocess, SampleData};
pub use self::inputs::{Inputs, Occlusions};
pub(crate) use self::net::{describe, fits};
use crate::config::{Loss, Monitor, TrainConfig};
use crate::run::Score;
use crate::task::{
    BatchScore, ExampleShape, Loaded, OtherData, PredictRequest, PredictionStream, Predictions, Task,
    binary_cross_entropy, for_samples, renumber, to_vec,
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
    loss: Loss,
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
    pub target: TargetKind,
    /// Steps of a sequence that the net reads, where it predicts the rest.
    pub context_length: Option<usize>,
    /// Whether the net gives logits of matrices.
    pub logits: bool,
}

/// What a net was trained to give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A class per sample.
    #[default]
    Classes,
    /// A class per step.
    Steps,
    /// A matrix, or a sequence of them.
    Matrices,
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

    /// The inputs of some examples.
    fn input(&self, examples: &[usize], device: &Device) -> <C::Net as Net>::Input {
        let (inputs, steps) = (&self.data.inputs, 0..self.steps().unwrap_or(usize::MAX));
        batch::gather(inputs.shape(), examples, steps, device, |at, range, into| {
            let start = into.len();
            into.extend_from_slice(&inputs.sample_range(at, range));
            if let Some(occlusions) = &self.data.occlusions {
                occlusions.apply(at, &mut into[start..]);
            }
        })
    }

    /// The target matrices of some examples, those of sequences one after another.
    fn targets(&self, examples: &[usize], device: &Device) -> Tensor<3> {
        let inputs = &self.data.inputs;
        let from_inputs = |steps| {
            batch::gather_matrices(inputs.shape(), examples, steps, device, |at, range, into| {
                into.extend_from_slice(&inputs.sample_range(at, range));
            })
        };
        match &self.data.target {
            _ if C::TARGET == SampleTarget::Input => from_inputs(0..usize::MAX),
            Target::Matrices(targets) => {
                batch::gather_matrices(targets.shape(), examples, 0..usize::MAX, device, |at, range, into| {
                    into.extend_from_slice(&targets.sample(at)[range]);
                })
            }
            _ => {
                let (time, steps) = (self.data.time().unwrap_or(0), self.data.future().unwrap_or(0));
                from_inputs(time - steps..time)
            }
        }
    }

    /// The loss of every entry.
    fn losses(&self, output: Tensor<3>, targets: Tensor<3>) -> Tensor<3> {
        match self.loss {
            Loss::Mae => (output - targets).abs(),
            Loss::Bce => binary_cross_entropy(output, targets),
            Loss::Mse | Loss::CrossEntropy => (output - targets).square(),
        }
    }

    /// The mean loss on occluded entries; `None` without occlusions.
    fn occluded_loss(
        &self,
        net: &C::Net,
        examples: &[usize],
        batch_size: usize,
        device: &Device,
    ) -> Option<f64> {
        let occlusions = self.data.occlusions.as_ref()?;
        let (mut sum, mut occluded) = (0.0, 0_usize);
        for batch in examples.chunks(batch_size) {
            let SampleOutput::Matrices(output) = self.forward(net, batch, &mut Mode::Eval, device) else {
                return None;
            };
            let losses = to_vec(self.losses(output, self.targets(batch, device)));
            for (&at, losses) in batch.iter().zip(losses.chunks_exact(losses.len() / batch.len())) {
                for (_, loss) in losses.iter().enumerate().filter(|(entry, _)| occlusions.covers(at, *entry))
                {
                    sum += f64::from(*loss);
                    occluded += 1;
                }
            }
        }
        (occluded > 0).then(|| sum / occluded as f64)
    }

    fn target_range(&self) -> (f32, f32) {
        match &self.data.target {
            Target::Matrices(targets) if C::TARGET != SampleTarget::Input => inputs::range(targets.data()),
            _ => self.data.inputs.range(),
        }
    }

    fn gives_classes() -> bool {
        matches!(C::TARGET, SampleTarget::Class | SampleTarget::StepClass)
    }
}

impl<C: SampleConfig> Task for SampleTask<C> {
    type DataConfig = SampleDataConfig;
    type Data = SampleData;
    type NetConfig = C;
    type Metadata = SampleMetadata;
    type Output = SampleOutput;

    fn load(config: &SampleDataConfig, cache: &Cache, seed: u64) -> Result<SampleData> {
        SampleData::load(config, cache, seed)
    }

    fn reload(
        config: &SampleDataConfig,
        cache: &Cache,
        seed: u64,
        metadata: &SampleMetadata,
    ) -> Result<SampleData> {
        SampleData::reload(config, cache, seed, &metadata.preprocess)
    }

    fn load_other(
        other: OtherData,
        config: &SampleDataConfig,
        metadata: &SampleMetadata,
        cache: &Cache,
    ) -> Result<SampleData> {
        other.refuse_edges()?;
        SampleData::load_other(other.source, config, cache, &metadata.preprocess)
    }

    fn split_per_seed(config: &SampleDataConfig) -> bool {
        config.split.per_seed
    }

    fn net_config(table: Table, data: &SampleData) -> Result<C> {
        net::config(table, data)
    }

    fn new(data: Arc<SampleData>, net: C, train: &TrainConfig) -> Result<Self> {
        let classes = Self::gives_classes();
        let loss = train.loss.unwrap_or(if classes { Loss::CrossEntropy } else { Loss::Mse });
        if classes != (loss == Loss::CrossEntropy) {
            let expected = match classes {
                true => "classes are trained with \"cross-entropy\"",
                false => "matrices are trained with \"mse\", \"mae\" or \"bce\"",
            };
            return Err(Error::config("train", "loss", loss.name(), expected));
        }
        let activation = net.output_activation();
        if loss == Loss::Bce && activation != Activation::Identity {
            let value = format!("bce, but model.output_activation is {activation:?}").to_lowercase();
            let expected =
                "bce takes logits: leave model.output_activation out, or train with \"mse\" or \"mae\"";
            return Err(Error::config("train", "loss", value, expected));
        }
        if !classes && train.monitor == Some(Monitor::Error) {
            let expected = "matrices have no error rate; must be \"loss\"";
            return Err(Error::config("train", "monitor", "error", expected));
        }
        let task = Self { data, net, loss };
        if loss == Loss::Bce {
            let (low, high) = task.target_range();
            if low < 0.0 || high > 1.0 {
                let value = format!("bce, but the targets lie between {low} and {high}");
                let expected = "between 0 and 1 expected (data.scale = \"min-max\")";
                return Err(Error::config("train", "loss", value, expected));
            }
        }
        Ok(task)
    }

    fn check_metadata(net: &C, metadata: &SampleMetadata) -> Result<(), String> {
        let classes = net::classes(net).map_or(0, |classes| classes.max(2));
        match metadata.classes.len() == classes {
            true => Ok(()),
            false => Err(format!("names {} classes where the net has {classes}", metadata.classes.len())),
        }
    }

    fn for_trained(mut data: SampleData, loaded: &Loaded<Self>) -> Result<Self> {
        net::check_inputs(&loaded.net_config, data.inputs.shape())?;
        if Self::gives_classes() {
            data.target = with_classes(data.target, &loaded.metadata.classes)?;
        }
        net::check_target(&loaded.net_config, &data)?;
        Self::new(Arc::new(data), loaded.net_config.clone(), &loaded.train)
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
        let target = match C::TARGET {
            SampleTarget::Class => TargetKind::Classes,
            SampleTarget::StepClass => TargetKind::Steps,
            _ => TargetKind::Matrices,
        };
        SampleMetadata {
            preprocess: self.data.preprocess.clone(),
            classes: self.class_names().to_vec(),
            target,
            context_length: self.context_length(),
            logits: self.loss == Loss::Bce,
        }
    }

    fn example(&self) -> ExampleShape {
        let [rows, cols] = self.data.sides();
        let shape = match self.data.time() {
            Some(time) => format!("{time} × {rows}×{cols}"),
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

    fn forward(&self, net: &C::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> SampleOutput {
        SampleOutput::new::<C>(net.forward(self.input(examples, device), mode))
    }

    fn score(&self, output: SampleOutput, examples: &[usize], device: &Device) -> BatchScore {
        match output {
            SampleOutput::Scores(scores) => BatchScore::of_classes(scores, &self.classes(examples)),
            SampleOutput::Matrices(output) => {
                let loss = self.losses(output, self.targets(examples, device)).mean();
                BatchScore { loss, wrong: None, predictions: examples.len() as u64 }
            }
        }
    }

    fn class_scores<'a>(&self, output: &'a SampleOutput) -> Option<&'a Tensor<2>> {
        match output {
            SampleOutput::Scores(scores) => Some(scores),
            SampleOutput::Matrices(_) => None,
        }
    }

    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        match &self.data.target {
            Target::Classes { labels, .. } => examples.iter().map(|&at| labels[at]).collect(),
            Target::StepClasses { labels, .. } => {
                let time = self.data.time().unwrap_or(1);
                examples.iter().flat_map(|&at| &labels[at * time..(at + 1) * time]).copied().collect()
            }
            Target::None | Target::Matrices(_) => Vec::new(),
        }
    }

    fn class_names(&self) -> &[String] {
        if Self::gives_classes() { self.data.class_names() } else { &[] }
    }

    fn by_step(&self) -> bool {
        C::TARGET == SampleTarget::StepClass
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
        loss.into_iter().map(|loss| (OCCLUDED_LOSS.to_owned(), loss)).collect()
    }

    fn predict(loaded: &Loaded<Self>, inputs: Array) -> Result<Predictions> {
        let Loaded { net, net_config, metadata, device, .. } = loaded;
        if metadata.preprocess.spectrogram.is_none() {
            net::check_inputs(net_config, inputs.shape())?;
        }
        let inputs = metadata.preprocess.apply(inputs)?;
        net::check_inputs(net_config, inputs.shape())?;
        let shape = inputs.shape().to_vec();
        let steps = 0..metadata.context_length.unwrap_or(usize::MAX);
        let all: Vec<usize> = (0..shape[0]).collect();
        let input = batch::gather(&shape, &all, steps, device, |at, range, into| {
            into.extend_from_slice(&inputs.sample(at)[range]);
        });
        match SampleOutput::new::<C>(net.forward(input, &mut Mode::Eval)) {
            SampleOutput::Scores(scores) => {
                Predictions::of_scores(scores, |classes| match C::TARGET == SampleTarget::StepClass {
                    true => vec![shape[0], shape[1], classes],
                    false => vec![shape[0], classes],
                })
            }
            SampleOutput::Matrices(output) => {
                let output = if metadata.logits { sigmoid(output) } else { output };
                let [count, rows, cols] = output.dims();
                let shape = match shape.len() {
                    4 => vec![shape[0], count / shape[0].max(1), rows, cols],
                    _ => vec![shape[0], rows, cols],
                };
                Ok(Predictions { values: Array::new(shape, to_vec(output))?, classes: Vec::new() })
            }
        }
    }

    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>> {
        for_samples(request, &loaded.metadata.classes, |inputs| Self::predict(loaded, inputs))
    }

    #[cfg(feature = "report")]
    fn report_facts(&self, _net: &C::Net) -> Vec<(&'static str, String)> {
        report::facts(&self.data)
    }

    #[cfg(feature = "report")]
    fn report_sections(
        &self,
        fitted: &crate::task::Fitted<Self>,
        evaluation: Option<(&crate::task::Evaluation, crate::Split)>,
        page: &mut matnet_report::page::Page,
    ) -> Result<()> {
        report::sections(self, fitted, evaluation, page)
    }

    #[cfg(feature = "report")]
    fn matrices(
        &self,
        net: &C::Net,
        examples: &[usize],
        device: &Device,
    ) -> Result<Option<crate::task::ExampleMatrices>> {
        report::matrices(self, net, examples, device)
    }
}

/// A target whose classes are numbered as the net's are.
fn with_classes(target: Target, classes: &[String]) -> Result<Target> {
    let renumbered = |labels: Vec<u32>, names: Vec<String>| -> Result<Vec<u32>> {
        labels.into_iter().map(|label| renumber(label, &names, classes)).collect()
    };
    let all = classes.to_vec();
    Ok(match target {
        Target::Classes { labels, names } => {
            Target::Classes { labels: renumbered(labels, names)?, names: all }
        }
        Target::StepClasses { labels, names } => {
            Target::StepClasses { labels: renumbered(labels, names)?, names: all }
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn classes_of_other_data_are_matched_by_name() {
        let target = Target::Classes { labels: vec![0, 1, 1], names: names(&["dog", "cat"]) };
        let Ok(Target::Classes { labels, names: all }) = with_classes(target, &names(&["ape", "cat", "dog"]))
        else {
            panic!("classes expected")
        };
        assert_eq!((labels, all), (vec![2, 1, 1], names(&["ape", "cat", "dog"])));
        // A name nobody uses does no harm, one in use does.
        let target = |labels| Target::Classes { labels, names: names(&["ape", "elk"]) };
        assert!(with_classes(target(vec![0, 0]), &names(&["ape"])).is_ok());
        let error = with_classes(target(vec![0, 1]), &names(&["ape", "cat"])).unwrap_err();
        assert_eq!(error.to_string(), "the data have a class `elk`, the net knows ape, cat");
    }
}
