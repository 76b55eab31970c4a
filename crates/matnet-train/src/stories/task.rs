//! The answers to questions about stories.

use std::sync::Arc;

use burn::tensor::Device;
use matnet::Mode;
use matnet::random::SeededRng;
use serde::{Deserialize, Serialize};

use super::{PreparedStories, StoryDataConfig, StoryModel, StoryModelConfig};
use crate::config::{Loss, TrainConfig};
use crate::data::Part;
use crate::model::Output;
use crate::run::Facts;
use crate::task::{Measured, Task, judge_scores};
use crate::{Error, Result};

/// Questions per step, unless the config says how many.
const BATCH: usize = 32;
/// Questions that are measured at once.
const MEASURED: usize = 200;

/// What stands beside the weights: all that a user of them needs to know of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoryNote {
    /// The epoch of these weights, from 1.
    pub epoch: usize,
    /// The words, in the order of their numbers.
    pub words: Vec<String>,
}

/// Stories, and a net that learns to answer questions about them.
#[derive(Clone, Debug)]
pub struct StoryTask {
    /// The stories.
    pub data: Arc<PreparedStories>,
    /// The config of the net.
    pub model: StoryModelConfig,
}

impl StoryTask {
    /// The task of this net on these stories; fails if the training does not fit.
    pub fn new(data: Arc<PreparedStories>, model: StoryModelConfig, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let loss = format!("{loss:?}").to_lowercase();
            let what = format!("train.loss: {loss}; answers are learnt with \"cross-entropy\"");
            return Err(Error::Config(what));
        }
        let taught = matches!(model, StoryModelConfig::MemoryNetwork(_));
        let told = |&at: &usize| !data.question(&data.examples[at]).facts.is_empty();
        if taught && !data.part(Part::Train).is_empty() && !data.part(Part::Train).iter().any(told) {
            let what = format!(
                "model.kind: memory-network; {} does not say which sentences support an answer, end-to-end-memory learns without",
                data.config.source
            );
            return Err(Error::Config(what));
        }
        Ok(Self { data, model })
    }

    /// The error of each task, by number and name: wrong answers, of so many.
    pub fn by_task(&self, examples: &[usize], wrong: &[usize]) -> Vec<(usize, String, usize, usize)> {
        let count = |task: usize, examples: &[usize]| {
            examples.iter().filter(|&&at| self.data.examples[at].task == task).count()
        };
        let tasks = self.data.tasks.iter().enumerate();
        tasks
            .map(|(at, (number, name))| (*number, name.clone(), count(at, wrong), count(at, examples)))
            .filter(|(.., all)| *all > 0)
            .collect()
    }
}

impl Task for StoryTask {
    type Net = StoryModel;
    type Data = StoryDataConfig;
    type Model = StoryModelConfig;

    fn net(&self, rng: &mut SeededRng, device: &Device) -> Result<StoryModel> {
        self.model.init(rng, device)
    }

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    fn forward(&self, net: &StoryModel, examples: &[usize], mode: &mut Mode, _device: &Device) -> Output {
        Output::Scores(net.forward(self.data.batch(examples), mode))
    }

    fn judge(&self, output: Output, examples: &[usize], _device: &Device) -> Measured {
        match output {
            Output::Scores(scores) => judge_scores(scores, &self.classes(examples)),
            Output::Matrices(_) => unreachable!("nets on stories give scores"),
        }
    }

    /// A memory network learns from more than its answers: from the sentences it should have chosen.
    fn measure(&self, net: &StoryModel, examples: &[usize], mode: &mut Mode, device: &Device) -> Measured {
        match net {
            StoryModel::MemoryNetwork(net) if mode.is_train() => {
                let facts: Vec<Vec<usize>> = examples
                    .iter()
                    .map(|&at| self.data.question(&self.data.examples[at]).facts.clone())
                    .collect();
                let answers = self.classes(examples);
                let taught = net.loss(&self.data.batch(examples), &facts, &answers, mode);
                Measured { loss: taught.loss, ..judge_scores(taught.scores.detach(), &answers) }
            }
            _ => self.judge(self.forward(net, examples, mode, device), examples, device),
        }
    }

    /// Parts hold questions with an answer only.
    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        examples.iter().map(|&at| self.data.examples[at].answer.unwrap_or(0)).collect()
    }

    fn class_names(&self) -> &[String] {
        &self.data.vocabulary
    }

    fn loss(&self) -> Loss {
        Loss::CrossEntropy
    }

    fn batch(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH))
    }

    fn chunk(&self, wanted: Option<usize>) -> usize {
        wanted.unwrap_or(BATCH).max(MEASURED)
    }

    fn starts_linear(&self) -> bool {
        matches!(self.model, StoryModelConfig::EndToEnd(_))
    }

    fn with_softmax(&self, net: StoryModel, on: bool) -> StoryModel {
        match net {
            StoryModel::EndToEnd(net) => StoryModel::EndToEnd(net.with_softmax(on)),
            other => other,
        }
    }

    fn note(&self, epoch: usize) -> String {
        let words = self.data.vocabulary.clone();
        serde_json::to_string(&StoryNote { epoch, words }).expect("numbers and words")
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: self.model.kind(),
            form: "matrix".to_owned(),
            source: &self.data.config.source,
            checksum: &self.data.checksum,
            notes: &self.data.notes,
        }
    }

    fn configs(&self) -> (&StoryDataConfig, &StoryModelConfig) {
        (&self.data.config, &self.model)
    }
}
