//! A trained net on matrices or sequences, and what stands beside its weights.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet_data::{Array, Target};
use serde::{Deserialize, Serialize};

use crate::config::{Loss, TrainConfig};
use crate::data::{Prepared, Preprocess};
use crate::model::{Input, Model, ModelConfig, Output};
use crate::task::{self, SampleTask, Task};
use crate::{Result, evaluate};

/// What stands beside the weights: all that a user of them needs to know of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The epoch of these weights, from 1.
    pub epoch: usize,
    /// What is done to every input.
    pub preprocess: Preprocess,
    /// A name per class; empty without classes.
    pub classes: Vec<String>,
    /// Whether the classes are those of steps, or matrices are wanted: what the net was trained for.
    pub target: Wanted,
    /// How many matrices of a sequence the net was given, where it predicts the rest.
    pub past: Option<usize>,
    /// Whether its matrices stand before a σ.
    pub logits: bool,
}

/// What a net was trained to give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// A class per sample.
    #[default]
    Classes,
    /// A class per step.
    Steps,
    /// A matrix, or a sequence of them.
    Matrices,
}

impl Note {
    /// The note for the weights of an epoch of this task.
    pub(crate) fn new(task: &SampleTask, epoch: usize) -> Self {
        let target = match &task.model {
            ModelConfig::Classes(_) | ModelConfig::SequenceClasses(_) => Wanted::Classes,
            ModelConfig::StepClasses(_) => Wanted::Steps,
            _ => Wanted::Matrices,
        };
        let classes = match target {
            Wanted::Matrices => Vec::new(),
            _ => task.data.class_names().to_vec(),
        };
        let preprocess = task.data.preprocess.clone();
        let past = match (&task.model, &task.data.target) {
            (ModelConfig::Seq2Seq(_), Target::None | Target::Classes { .. } | Target::Steps { .. }) => {
                task.data.config.past
            }
            _ => None,
        };
        let logits = task.loss() == Loss::Bce;
        Self { epoch, preprocess, classes, target, past, logits }
    }
}

/// A trained net, ready to be used.
#[derive(Debug)]
pub struct Trained {
    /// The net.
    pub net: Model,
    /// Its config.
    pub config: ModelConfig,
    /// What else there is to know.
    pub note: Note,
    pub(super) device: Device,
}

/// What a trained net answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Probabilities `[n, classes]` (`[n, time, classes]` for classes per step), or matrices `[n, rows, cols]` or
    /// `[n, time, rows, cols]`.
    pub numbers: Array,
    /// The most probable class of each sample or step; empty for matrices.
    pub classes: Vec<u32>,
}

impl Trained {
    /// What the net was trained to do, with these data; fails if they do not fit. Their classes are put in the order of
    /// the net's, by name.
    pub fn task(&self, mut data: Prepared, train: &TrainConfig) -> Result<SampleTask> {
        self.config.check_inputs(data.inputs.shape())?;
        if self.note.target != Wanted::Matrices {
            data.target = evaluate::with_classes(data.target, &self.note.classes)?;
        }
        evaluate::check_target(&self.config, &data)?;
        SampleTask::new(Arc::new(data), self.config.clone(), train)
    }

    /// Where the net lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Answers for raw inputs, as they stand in the user's files.
    pub fn answer(&self, inputs: Array) -> Result<Answers> {
        if self.note.preprocess.spectrogram.is_none() {
            self.config.check_inputs(inputs.shape())?;
        }
        let inputs = self.note.preprocess.apply(inputs)?;
        self.config.check_inputs(inputs.shape())?;
        let (shape, sequences) = (inputs.shape().to_vec(), self.config.sequences());
        let count = shape[0];
        let data = TensorData::new(inputs.into_data(), shape.clone());
        let input = match sequences {
            false => Input::Matrices(Tensor::from_data(data, &self.device)),
            true => {
                let sequences = Tensor::<4>::from_data(data, &self.device);
                Input::Sequences(match self.note.past {
                    Some(past) if past < shape[1] => sequences.slice([0..count, 0..past]),
                    _ => sequences,
                })
            }
        };
        match self.net.forward(input, &mut Mode::Eval) {
            Output::Scores(scores) => {
                let given = scores.dims()[1];
                let classes = task::answers(&task::numbers(scores.clone()), given);
                let shares = task::probabilities(scores);
                let columns = shares.dims()[1];
                let shape = match self.config {
                    ModelConfig::StepClasses(_) => vec![count, shape[1], columns],
                    _ => vec![count, columns],
                };
                Ok(Answers { numbers: Array::new(shape, task::numbers(shares))?, classes })
            }
            Output::Matrices(matrices) => {
                let matrices = match self.note.logits {
                    true => burn::tensor::activation::sigmoid(matrices),
                    false => matrices,
                };
                let [given, rows, cols] = matrices.dims();
                let shape = match sequences {
                    true => vec![count, given / count.max(1), rows, cols],
                    false => vec![count, rows, cols],
                };
                Ok(Answers { numbers: Array::new(shape, task::numbers(matrices))?, classes: Vec::new() })
            }
        }
    }
}
