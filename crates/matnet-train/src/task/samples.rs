//! Matrices or sequences, and what is to be learnt from them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::random::SeededRng;
use matnet_data::Target;

use super::{Measured, Task, binary_cross_entropies, judge_scores, numbers};
use crate::config::{DataConfig, Loss, Monitor, TrainConfig};
use crate::data::{Part, Prepared};
use crate::inputs::range;
use crate::model::{Input, Model, ModelConfig, Output, future};
use crate::run::{Facts, Note, Score};
use crate::{Error, Result};

/// What the mean loss on what a patch hides (`data.occlusion`) is called.
pub const UNDER_PATCHES: &str = "under_patches";
/// Samples per step, unless the config says how many.
const BATCH: usize = 64;
/// Samples that are measured at once, at least.
const MEASURED: usize = 128;

/// Matrices or sequences and what is to be learnt from them.
#[derive(Clone, Debug)]
pub struct SampleTask {
    /// The data.
    pub data: Arc<Prepared>,
    /// The config of the net.
    pub model: ModelConfig,
    loss: Loss,
}

impl SampleTask {
    /// The task of this net on these data; fails if the loss does not fit.
    pub fn new(data: Arc<Prepared>, model: ModelConfig, train: &TrainConfig) -> Result<Self> {
        let classes = model.classes().is_some();
        let loss = train.loss.unwrap_or(if classes { Loss::CrossEntropy } else { Loss::Mse });
        if classes != (loss == Loss::CrossEntropy) {
            let expected = match classes {
                true => "classes are learnt with \"cross-entropy\"",
                false => "matrices are learnt with \"mse\", \"mae\" or \"bce\"",
            };
            return Err(Error::Config(format!("train.loss: {}; {expected}", word(loss))));
        }
        if loss == Loss::Bce {
            let task = Self { data, model, loss };
            let (low, high) = task.target_range();
            if low < 0.0 || high > 1.0 {
                return Err(Error::Config(format!(
                    "train.loss: bce, but the targets lie between {low} and {high}; between 0 and 1 expected (data.scale = \"min-max\")"
                )));
            }
            return Ok(task);
        }
        if !classes && train.monitor == Some(Monitor::Error) {
            let what = "train.monitor: error; matrices are never right or wrong: must be \"loss\"";
            return Err(Error::Config(what.to_owned()));
        }
        Ok(Self { data, model, loss })
    }

    fn target_range(&self) -> (f32, f32) {
        match &self.data.target {
            Target::Matrices(targets) if !matches!(self.model, ModelConfig::AutoEncoder(_)) => {
                range(targets.data())
            }
            _ => self.data.inputs.range(),
        }
    }

    /// How many matrices of a sequence the net is given; `None` if the data are no sequences.
    pub fn steps(&self) -> Option<usize> {
        match (&self.model, &self.data.target) {
            (ModelConfig::Seq2Seq(_), Target::None | Target::Classes { .. } | Target::Steps { .. }) => {
                self.data.config.past
            }
            _ => self.data.time(),
        }
    }

    /// The inputs of some examples as the net takes them.
    pub fn input(&self, examples: &[usize], device: &Device) -> Input {
        let inputs = &self.data.inputs;
        gather(inputs.shape(), examples, 0..self.steps().unwrap_or(usize::MAX), device, |at, part, into| {
            let start = into.len();
            into.extend_from_slice(&inputs.part(at, part));
            if let Some(patches) = &self.data.patches {
                patches.hide(at, &mut into[start..]);
            }
        })
    }

    /// The matrices that are to come out, those of sequences one after another.
    pub fn wanted(&self, examples: &[usize], device: &Device) -> Tensor<3> {
        let inputs = &self.data.inputs;
        let from_inputs = |steps| {
            gather(inputs.shape(), examples, steps, device, |at, part, into| {
                into.extend_from_slice(&inputs.part(at, part));
            })
        };
        let wanted = match (&self.model, &self.data.target) {
            (ModelConfig::AutoEncoder(_), _) => from_inputs(0..usize::MAX),
            (_, Target::Matrices(targets)) => {
                gather(targets.shape(), examples, 0..usize::MAX, device, |at, part, into| {
                    into.extend_from_slice(&targets.sample(at)[part]);
                })
            }
            _ => {
                let (time, steps) = (self.data.time().unwrap_or(0), future(&self.data).unwrap_or(0));
                from_inputs(time - steps..time)
            }
        };
        match wanted {
            Input::Matrices(matrices) => matrices,
            Input::Sequences(sequences) => {
                let [batch, time, rows, cols] = sequences.dims();
                sequences.reshape([batch * time, rows, cols])
            }
        }
    }

    /// The loss of every entry.
    fn losses(&self, given: Tensor<3>, wanted: Tensor<3>) -> Tensor<3> {
        match self.loss {
            Loss::Mae => (given - wanted).abs(),
            Loss::Bce => binary_cross_entropies(given, wanted),
            Loss::Mse | Loss::CrossEntropy => (given - wanted).square(),
        }
    }

    /// The mean loss on what patches hide from the net; `None` where there are none.
    fn loss_under_patches(
        &self,
        net: &Model,
        examples: &[usize],
        chunk: usize,
        device: &Device,
    ) -> Option<f64> {
        let patches = self.data.patches.as_ref()?;
        let (mut sum, mut hidden) = (0.0, 0_usize);
        for batch in examples.chunks(chunk) {
            let Output::Matrices(given) = self.forward(net, batch, &mut Mode::Eval, device) else {
                return None;
            };
            let losses = numbers(self.losses(given, self.wanted(batch, device)));
            for (&at, losses) in batch.iter().zip(losses.chunks_exact(losses.len() / batch.len())) {
                for (_, loss) in losses.iter().enumerate().filter(|(entry, _)| patches.hides(at, *entry)) {
                    sum += f64::from(*loss);
                    hidden += 1;
                }
            }
        }
        (hidden > 0).then(|| sum / hidden as f64)
    }

    /// Matrices as a user wants them, from what the net gives: after the σ that belongs to the loss.
    pub fn finished(&self, given: Tensor<3>) -> Tensor<3> {
        match self.loss {
            Loss::Bce => burn::tensor::activation::sigmoid(given),
            Loss::Mse | Loss::Mae | Loss::CrossEntropy => given,
        }
    }
}

impl Task for SampleTask {
    type Net = Model;
    type Data = DataConfig;
    type Model = ModelConfig;

    fn net(&self, rng: &mut SeededRng, device: &Device) -> Result<Model> {
        self.model.init(rng, device)
    }

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    fn forward(&self, net: &Model, examples: &[usize], mode: &mut Mode, device: &Device) -> Output {
        net.forward(self.input(examples, device), mode)
    }

    fn judge(&self, output: Output, examples: &[usize], device: &Device) -> Measured {
        match output {
            Output::Scores(scores) => judge_scores(scores, &self.classes(examples)),
            Output::Matrices(given) => {
                let loss = self.losses(given, self.wanted(examples, device)).mean();
                Measured { loss, wrong: None, answers: examples.len() as u64 }
            }
        }
    }

    /// The loss under patches, where the data carry some.
    fn also(
        &self,
        net: &Model,
        examples: &[usize],
        _score: Option<Score>,
        chunk: usize,
        device: &Device,
    ) -> BTreeMap<String, f64> {
        let loss = self.loss_under_patches(net, examples, chunk, device);
        loss.into_iter().map(|loss| (UNDER_PATCHES.to_owned(), loss)).collect()
    }

    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        match &self.data.target {
            Target::Classes { labels, .. } => examples.iter().map(|&at| labels[at]).collect(),
            Target::Steps { labels, .. } => {
                let time = self.data.time().unwrap_or(1);
                examples.iter().flat_map(|&at| &labels[at * time..(at + 1) * time]).copied().collect()
            }
            Target::None | Target::Matrices(_) => Vec::new(),
        }
    }

    fn class_names(&self) -> &[String] {
        match self.model.classes() {
            Some(_) => self.data.class_names(),
            None => &[],
        }
    }

    fn by_step(&self) -> bool {
        matches!(self.model, ModelConfig::StepClasses(_))
    }

    fn loss(&self) -> Loss {
        self.loss
    }

    fn batch(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH))
    }

    fn chunk(&self, wanted: Option<usize>) -> usize {
        wanted.unwrap_or(BATCH).max(MEASURED)
    }

    fn note(&self, epoch: usize) -> String {
        serde_json::to_string(&Note::new(self, epoch)).expect("numbers and words")
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: self.model.kind(),
            form: format!("{:?}", self.model.form()).to_lowercase(),
            source: &self.data.config.source,
            checksum: &self.data.checksum,
            notes: &self.data.notes,
        }
    }

    fn configs(&self) -> (&DataConfig, &ModelConfig) {
        (&self.data.config, &self.model)
    }
}

/// Some samples of an array of this shape, of sequences only the steps in `steps`; `read` gives some numbers of one.
fn gather(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    device: &Device,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> Input {
    let (time, rows, cols) = match *shape {
        [_, time, rows, cols] => (steps.end.min(time) - steps.start.min(time), rows, cols),
        _ => (1, shape[1], shape[2]),
    };
    let first = if shape.len() == 4 { steps.start.min(shape[1]) * rows * cols } else { 0 };
    let size = time * rows * cols;
    let mut numbers = Vec::with_capacity(examples.len() * size);
    for &at in examples {
        read(at, first..first + size, &mut numbers);
    }
    match shape.len() {
        4 => {
            let shape = [examples.len(), time, rows, cols];
            Input::Sequences(Tensor::from_data(TensorData::new(numbers, shape), device))
        }
        _ => {
            let shape = [examples.len(), rows, cols];
            Input::Matrices(Tensor::from_data(TensorData::new(numbers, shape), device))
        }
    }
}

fn word(loss: Loss) -> &'static str {
    match loss {
        Loss::CrossEntropy => "cross-entropy",
        Loss::Mse => "mse",
        Loss::Mae => "mae",
        Loss::Bce => "bce",
    }
}
