//! What a net is asked to do: batches in, a loss and a count of wrong answers out.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet_data::{Array, Target};

use crate::config::{Loss, Monitor, TrainConfig};
use crate::data::{Part, Prepared};
use crate::model::{Input, Model, ModelConfig, Output, future};
use crate::{Error, Result};

/// A kind of work with examples of its own. What trains, measures and saves knows no more about nets than this.
pub trait Task {
    /// The net that does it.
    type Net: Module;

    /// The examples of a part, by number.
    fn examples(&self, part: Part) -> &[usize];

    /// The net's loss on some examples, and how well it does.
    fn measure(&self, net: &Self::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> Measured;

    /// Whether answers are right or wrong.
    fn has_errors(&self) -> bool;
}

/// How well a net does on some examples.
pub struct Measured {
    /// The mean loss; what learning makes small.
    pub loss: Tensor<1>,
    /// Wrong answers, where answers are right or wrong.
    pub wrong: Option<u64>,
    /// How many answers were given.
    pub answers: u64,
}

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

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    fn target_range(&self) -> (f32, f32) {
        let numbers = match &self.data.target {
            Target::Matrices(targets) if !matches!(self.model, ModelConfig::AutoEncoder(_)) => targets.data(),
            _ => self.data.inputs.data(),
        };
        numbers.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
    }

    /// The inputs of some examples as the net takes them.
    pub fn input(&self, examples: &[usize], device: &Device) -> Input {
        let given = match (&self.model, &self.data.target) {
            (ModelConfig::Seq2Seq(_), Target::Matrices(_)) => None,
            (ModelConfig::Seq2Seq(_), _) => self.data.config.past,
            _ => None,
        };
        gather(&self.data.inputs, examples, 0..given.unwrap_or(usize::MAX), device)
    }

    /// The matrices that are to come out, those of sequences one after another.
    pub fn wanted(&self, examples: &[usize], device: &Device) -> Tensor<3> {
        let wanted = match (&self.model, &self.data.target) {
            (ModelConfig::AutoEncoder(_), _) => gather(&self.data.inputs, examples, 0..usize::MAX, device),
            (_, Target::Matrices(targets)) => gather(targets, examples, 0..usize::MAX, device),
            _ => {
                let (time, steps) = (self.data.time().unwrap_or(0), future(&self.data).unwrap_or(0));
                gather(&self.data.inputs, examples, time - steps..time, device)
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

    /// Matrices as a user wants them, from what the net gives: after the σ that belongs to the loss.
    pub fn finished(&self, given: Tensor<3>) -> Tensor<3> {
        match self.loss {
            Loss::Bce => burn::tensor::activation::sigmoid(given),
            Loss::Mse | Loss::Mae | Loss::CrossEntropy => given,
        }
    }

    /// The classes that are right, those of steps one after another.
    pub fn classes(&self, examples: &[usize]) -> Vec<u32> {
        match &self.data.target {
            Target::Classes { labels, .. } => examples.iter().map(|&at| labels[at]).collect(),
            Target::Steps { labels, .. } => {
                let time = self.data.time().unwrap_or(1);
                examples.iter().flat_map(|&at| &labels[at * time..(at + 1) * time]).copied().collect()
            }
            Target::None | Target::Matrices(_) => Vec::new(),
        }
    }
}

impl Task for SampleTask {
    type Net = Model;

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    fn measure(&self, net: &Model, examples: &[usize], mode: &mut Mode, device: &Device) -> Measured {
        self.judge(net.forward(self.input(examples, device), mode), examples, device)
    }

    fn has_errors(&self) -> bool {
        self.model.classes().is_some()
    }
}

impl SampleTask {
    /// How good an output is, for these examples.
    pub(crate) fn judge(&self, output: Output, examples: &[usize], device: &Device) -> Measured {
        match output {
            Output::Scores(scores) => {
                let classes = self.classes(examples);
                let wrong = wrong(&scores, &classes);
                let answers = classes.len() as u64;
                Measured { loss: cross_entropy(scores, &classes), wrong: Some(wrong), answers }
            }
            Output::Matrices(given) => {
                let wanted = self.wanted(examples, device);
                let loss = match self.loss {
                    Loss::Mae => (given - wanted).abs().mean(),
                    Loss::Bce => binary_cross_entropy(given, wanted),
                    Loss::Mse | Loss::CrossEntropy => (given - wanted).square().mean(),
                };
                Measured { loss, wrong: None, answers: examples.len() as u64 }
            }
        }
    }
}

/// Some samples, of sequences only the steps in `steps`.
pub(crate) fn gather(
    array: &Array,
    examples: &[usize],
    steps: std::ops::Range<usize>,
    device: &Device,
) -> Input {
    let shape = array.shape();
    match *shape {
        [_, time, rows, cols] => {
            let (from, to) = (steps.start.min(time), steps.end.min(time));
            let size = rows * cols;
            let numbers: Vec<f32> =
                examples.iter().flat_map(|&at| &array.sample(at)[from * size..to * size]).copied().collect();
            let shape = [examples.len(), to - from, rows, cols];
            Input::Sequences(Tensor::from_data(TensorData::new(numbers, shape), device))
        }
        _ => {
            let numbers: Vec<f32> = examples.iter().flat_map(|&at| array.sample(at)).copied().collect();
            let shape = [examples.len(), shape[1], shape[2]];
            Input::Matrices(Tensor::from_data(TensorData::new(numbers, shape), device))
        }
    }
}

/// The mean of −log p of the right class; one score is the logit of class 1.
fn cross_entropy(scores: Tensor<2>, classes: &[u32]) -> Tensor<1> {
    let [count, given] = scores.dims();
    let device = scores.device();
    if given == 1 {
        let right: Vec<f32> = classes.iter().map(|&class| class as f32).collect();
        let right = Tensor::<1>::from_data(TensorData::new(right, [count]), &device);
        return binary_cross_entropy(scores.reshape([count]), right);
    }
    let classes: Vec<i64> = classes.iter().map(|&class| i64::from(class)).collect();
    let classes = Tensor::<2, Int>::from_data(TensorData::new(classes, [count, 1]), &device);
    -log_softmax(scores, 1).gather(1, classes).mean()
}

/// The mean of max(x, 0) − x·y + log(1 + e^−|x|), which is the binary cross entropy of σ(x) without its overflow.
fn binary_cross_entropy<const D: usize>(given: Tensor<D>, wanted: Tensor<D>) -> Tensor<1> {
    let tail = (-given.clone().abs()).exp().log1p();
    (given.clone().clamp_min(0.0) - given * wanted + tail).mean()
}

/// The class with the highest score; one score is the logit of class 1.
pub fn answers(scores: &[f32], given: usize) -> Vec<u32> {
    let best = |row: &[f32]| match row {
        [logit] => u32::from(*logit > 0.0),
        row => {
            let mut best = 0;
            for (class, score) in row.iter().enumerate() {
                if *score > row[best] {
                    best = class;
                }
            }
            best as u32
        }
    };
    scores.chunks_exact(given.max(1)).map(best).collect()
}

fn wrong(scores: &Tensor<2>, classes: &[u32]) -> u64 {
    let given = scores.dims()[1];
    let numbers = numbers(scores.clone());
    answers(&numbers, given).iter().zip(classes).filter(|(given, right)| given != right).count() as u64
}

/// Probabilities `[n, classes]` from scores, two columns from a logit.
pub fn probabilities(scores: Tensor<2>) -> Tensor<2> {
    if scores.dims()[1] == 1 {
        let right = burn::tensor::activation::sigmoid(scores);
        return Tensor::cat(vec![1.0 - right.clone(), right], 1);
    }
    softmax(scores, 1)
}

/// The numbers of a tensor.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let data = tensor.into_data().convert::<f32>();
    data.try_into_vec::<f32>().expect("converted just now")
}

fn word(loss: Loss) -> &'static str {
    match loss {
        Loss::CrossEntropy => "cross-entropy",
        Loss::Mse => "mse",
        Loss::Mae => "mae",
        Loss::Bce => "bce",
    }
}
