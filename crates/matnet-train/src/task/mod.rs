//! What a net is asked to do: batches in, a loss and a count of wrong answers out.
//!
//! There are four kinds of work: [`SampleTask`] learns from matrices and sequences that stand on their own,
//! [`NodeTask`](crate::graph::NodeTask) from the nodes of a graph, [`StoryTask`](crate::stories::StoryTask) from questions
//! about stories, and [`ProgramTask`](crate::program::ProgramTask) from sequences that are drawn as it goes. The loop, the
//! run folder and the measuring know them by [`Task`] only.

mod samples;

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::random::SeededRng;
use serde::Serialize;
use toml::Value;

use crate::Result;
use crate::config::{Document, Loss};
use crate::data::Part;
use crate::graph::GRAPH_KINDS;
use crate::model::Output;
use crate::program::PROGRAM_KINDS;
use crate::run::{Facts, Score};
use crate::stories::STORY_KINDS;

pub use samples::{SampleTask, UNDER_PATCHES};

/// The kinds of work there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Matrices and sequences.
    Samples,
    /// The nodes of a graph.
    Nodes,
    /// Questions about stories.
    Stories,
    /// Sequences drawn for a program.
    Program,
}

impl Kind {
    /// The work of a net that `model.kind` names so.
    pub fn of_net(name: &str) -> Self {
        match name {
            name if GRAPH_KINDS.contains(&name) => Self::Nodes,
            name if STORY_KINDS.contains(&name) => Self::Stories,
            name if PROGRAM_KINDS.contains(&name) => Self::Program,
            _ => Self::Samples,
        }
    }

    /// The work that a config is about.
    pub fn of(document: &Document) -> Self {
        let table = document.model().unwrap_or_default();
        Self::of_net(table.get("kind").and_then(Value::as_str).unwrap_or_default())
    }
}

/// A kind of work with examples of its own. What trains, measures and saves knows no more about nets than this.
pub trait Task {
    /// The net that does it.
    type Net: Module + std::fmt::Debug;
    /// The config of the data.
    type Data: Serialize;
    /// The config of the net.
    type Model: Serialize;

    /// The net at its beginning.
    fn net(&self, rng: &mut SeededRng, device: &Device) -> Result<Self::Net>;

    /// The examples of a part, by number.
    fn examples(&self, part: Part) -> &[usize];

    /// What a net gives for some examples.
    fn forward(&self, net: &Self::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> Output;

    /// How good that is.
    fn judge(&self, output: Output, examples: &[usize], device: &Device) -> Measured;

    /// The net's loss on some examples, and how well it does.
    fn measure(&self, net: &Self::Net, examples: &[usize], mode: &mut Mode, device: &Device) -> Measured {
        self.judge(self.forward(net, examples, mode, device), examples, device)
    }

    /// What else is measured of a trained net with this score, by name; so many examples at once.
    fn also(
        &self,
        _net: &Self::Net,
        _examples: &[usize],
        _score: Option<Score>,
        _chunk: usize,
        _device: &Device,
    ) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    /// The classes that are right, those of steps one after another; nothing where matrices are wanted.
    fn classes(&self, examples: &[usize]) -> Vec<u32>;

    /// A name per class; empty where matrices are wanted.
    fn class_names(&self) -> &[String];

    /// Whether answers are right or wrong.
    fn has_errors(&self) -> bool {
        !self.class_names().is_empty()
    }

    /// Whether every step of an example has a class of its own.
    fn by_step(&self) -> bool {
        false
    }

    /// What is made small.
    fn loss(&self) -> Loss;

    /// How many examples a step learns from, when the config wants so many; `None` for all of them.
    fn batch(&self, wanted: Option<usize>) -> Option<usize>;

    /// How many are measured at once. Sums of `f32` depend on it in their last bits, so it is the same everywhere.
    fn chunk(&self, wanted: Option<usize>) -> usize;

    /// Whether its nets can begin without their softmax.
    fn starts_linear(&self) -> bool {
        false
    }

    /// A net with its softmax on, or off for a linear start.
    fn with_softmax(&self, net: Self::Net, _on: bool) -> Self::Net {
        net
    }

    /// What stands beside the weights of an epoch, as JSON.
    fn note(&self, epoch: usize) -> String;

    /// What results and reports say of it.
    fn facts(&self) -> Facts<'_>;

    /// `[data]` and `[model]`, all defaults written out.
    fn configs(&self) -> (&Self::Data, &Self::Model);
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

/// How good scores are, for these right classes.
pub(crate) fn judge_scores(scores: Tensor<2>, classes: &[u32]) -> Measured {
    let wrong = wrong(&scores, classes);
    let answers = classes.len() as u64;
    Measured { loss: cross_entropy(scores, classes), wrong: Some(wrong), answers }
}

/// The mean of −log p of the right class; one score is the logit of class 1.
fn cross_entropy(scores: Tensor<2>, classes: &[u32]) -> Tensor<1> {
    let [count, given] = scores.dims();
    let device = scores.device();
    if given == 1 {
        let right: Vec<f32> = classes.iter().map(|&class| class as f32).collect();
        let right = Tensor::<1>::from_data(TensorData::new(right, [count]), &device);
        return binary_cross_entropies(scores.reshape([count]), right).mean();
    }
    let classes: Vec<i64> = classes.iter().map(|&class| i64::from(class)).collect();
    let classes = Tensor::<2, Int>::from_data(TensorData::new(classes, [count, 1]), &device);
    -log_softmax(scores, 1).gather(1, classes).mean()
}

/// max(x, 0) − x·y + log(1 + e^−|x|), which is the binary cross entropy of σ(x) without its overflow.
pub(crate) fn binary_cross_entropies<const D: usize>(given: Tensor<D>, wanted: Tensor<D>) -> Tensor<D> {
    let tail = (-given.clone().abs()).exp().log1p();
    given.clone().clamp_min(0.0) - given * wanted + tail
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
