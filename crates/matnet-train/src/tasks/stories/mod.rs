//! Question answering: a memory net answers questions about stories.

mod config;
mod data;
#[cfg(feature = "report")]
mod report;

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::net::{Net, StoryNet, StoryNetConfig};
use matnet_data::catalog::Cache;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toml::Table;

pub use self::config::{StoryDataConfig, StorySplitConfig};
pub use self::data::{QaData, QuestionExample};
use crate::config::{Loss, TrainConfig, fill_count, from_table, keys_of, shown};
use crate::ranks::Ranks;
use crate::task::{
    BatchScore, Breakdown, ClassLoss, EvalOptions, Evaluation, ExampleShape, FILES, Loaded, NetOf, OtherData,
    PredictRequest, PredictedBatch, PredictionStream, Predictions, Pretraining, Task, TaskData, evaluate,
    recorded_states,
};
use crate::{Error, Result, Split};

/// Questions per step, unless the config says how many.
const BATCH_SIZE: usize = 32;
/// Questions per batch of an evaluation, at least.
const EVAL_BATCH_SIZE: usize = 200;
/// Sentences in the memory, unless the config says how many.
const MEMORY_SIZE: usize = 50;

/// What is stored beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoryMetadata {
    /// The vocabulary, in the order of the words' numbers.
    pub words: Vec<String>,
}

/// A net that learns to answer questions about stories.
pub struct StoryTask<C: StoryNetConfig> {
    data: Arc<QaData>,
    net: C,
    class_loss: ClassLoss,
}

impl<C: StoryNetConfig> StoryTask<C> {
    /// The error of each task: number and name, wrong predictions, questions.
    fn by_task(&self, examples: &[usize], wrong: &[usize]) -> Vec<(String, usize, usize)> {
        let count = |task: usize, examples: &[usize]| {
            examples.iter().filter(|&&at| self.data.examples[at].task == task).count()
        };
        let tasks = self.data.tasks.iter().enumerate();
        tasks
            .map(|(at, (number, name))| (format!("{number} {name}"), count(at, wrong), count(at, examples)))
            .filter(|(_, _, questions)| *questions > 0)
            .collect()
    }
}

impl<C: StoryNetConfig + 'static> StoryTask<C> {
    /// The stories of a file whose questions a trained net is to answer.
    fn other_data(loaded: &Loaded<Self>, request: &PredictRequest) -> Result<QaData> {
        request.refuse_edges()?;
        let source = request.input.to_string_lossy();
        QaData::load_other(&source, &loaded.data_config, &loaded.metadata.words, request.cache)
            .map_err(|error| request.about(error))
    }
}

impl<C: StoryNetConfig + 'static> Task for StoryTask<C> {
    type DataConfig = StoryDataConfig;
    type Data = QaData;
    type NetConfig = C;
    type Metadata = StoryMetadata;
    type Output = Tensor<2>;

    fn load(config: &StoryDataConfig, cache: &Cache, seed: u64, _: &Ranks) -> Result<QaData> {
        QaData::load(config, cache, seed)
    }

    fn load_other(
        other: OtherData,
        config: &StoryDataConfig,
        metadata: &StoryMetadata,
        cache: &Cache,
    ) -> Result<QaData> {
        other.refuse_edges()?;
        let mut data = QaData::load_other(other.source, config, &metadata.words, cache)?;
        // Only questions with an answer can be scored.
        let known = |at: &usize| data.examples[*at].answer.is_some();
        data.indices.test = data.indices.test.iter().copied().filter(known).collect();
        Ok(data)
    }

    fn split_per_seed(config: &StoryDataConfig) -> bool {
        config.split.per_seed
    }

    fn net_config(mut table: Table, data: &QaData) -> Result<C> {
        let mut sizes = vec![
            ("vocab_size", data.vocabulary.len()),
            ("sentence_length", data.sentence_length),
            ("memory_size", data.story_length.min(MEMORY_SIZE)),
        ];
        if C::NEEDS_FACTS {
            sizes.push(("hops", data.max_facts));
        }
        let known = keys_of::<C>();
        for (key, count) in sizes.into_iter().filter(|(key, _)| known.contains(key)) {
            fill_count(&mut table, key, count);
        }
        let config: C = from_table("model", table)?;
        let (have, words) = (config.vocab_size(), data.vocabulary.len());
        if have != words {
            let expected = format!("the stories have {words} words; leave it out");
            return Err(Error::config("model", "vocab_size", have.to_string(), expected));
        }
        Ok(config)
    }

    fn new(data: Arc<QaData>, net: C, train: &TrainConfig, _ranks: &Ranks) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::CrossEntropy) {
            let expected = "answers are trained with \"cross-entropy\"";
            return Err(Error::config("train", "loss", loss.name(), expected));
        }
        if C::NEEDS_FACTS {
            ClassLoss::refuse(train, "a net that learns which sentences support an answer does not use it")?;
        } else if let Some(weights) = &train.class_weights {
            let expected = "only classes use it; an answer may be any word";
            return Err(Error::config("train", "class_weights", shown(weights), expected));
        }
        let class_loss = ClassLoss { weights: None, smoothing: train.label_smoothing };
        let train = data.split(Split::Train);
        let supported = |&at: &usize| !data.question(&data.examples[at]).facts.is_empty();
        if C::NEEDS_FACTS && !train.is_empty() && !train.iter().any(supported) {
            let expected = format!(
                "{} does not say which sentences support an answer; end-to-end-memory learns without",
                data.config.source
            );
            return Err(Error::config("model", "kind", "memory-network", expected));
        }
        Ok(Self { data, net, class_loss })
    }

    fn check_metadata(net: &C, metadata: &StoryMetadata) -> Result<(), String> {
        let (named, words) = (metadata.words.len(), net.vocab_size());
        match named == words {
            true => Ok(()),
            false => Err(format!("names {named} words where the net has {words}")),
        }
    }

    fn for_trained(data: QaData, loaded: &Loaded<Self>) -> Result<Self> {
        if data.vocabulary != loaded.metadata.words {
            let what = format!("{} has another vocabulary than the net was trained with", data.config.source);
            return Err(Error::Mismatch(what));
        }
        Self::new(Arc::new(data), loaded.net_config.clone(), &loaded.train, &Ranks::default())
    }

    fn data(&self) -> &Arc<QaData> {
        &self.data
    }

    fn data_config(&self) -> &StoryDataConfig {
        &self.data.config
    }

    fn config(&self) -> &C {
        &self.net
    }

    fn metadata(&self) -> StoryMetadata {
        StoryMetadata { words: self.data.vocabulary.clone() }
    }

    fn example(&self) -> ExampleShape {
        let (sentences, words) = (self.net.memory_size(), self.data.vocabulary.len());
        let shape = format!("stories of up to {sentences} sentences, {words} words");
        ExampleShape { shape, unit: "question", steps: 1, per_epoch: self.data.indices.train.len() }
    }

    fn loss(&self) -> Loss {
        Loss::CrossEntropy
    }

    fn batch_size(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH_SIZE))
    }

    fn eval_batch_size(&self, wanted: Option<usize>) -> usize {
        wanted.unwrap_or(BATCH_SIZE).max(EVAL_BATCH_SIZE)
    }

    fn forward(&self, net: &NetOf<Self>, examples: &[usize], mode: &mut Mode, _device: &Device) -> Tensor<2> {
        net.forward(self.data.batch(examples), mode)
    }

    fn score(&self, scores: Tensor<2>, examples: &[usize], _device: &Device) -> BatchScore {
        BatchScore::of_classes(scores, &self.classes(examples), &self.class_loss, None)
    }

    /// A net with supervision is trained on the sentences it should have chosen, too.
    fn forward_loss(
        &self,
        net: &NetOf<Self>,
        examples: &[usize],
        mode: &mut Mode,
        device: &Device,
    ) -> BatchScore {
        if C::NEEDS_FACTS && mode.is_train() {
            let facts: Vec<Vec<usize>> = examples
                .iter()
                .map(|&at| self.data.question(&self.data.examples[at]).facts.clone())
                .collect();
            let answers = self.classes(examples);
            if let Some(supervised) = net.supervised_loss(&self.data.batch(examples), &facts, &answers, mode)
            {
                let score =
                    BatchScore::of_classes(supervised.scores.detach(), &answers, &self.class_loss, None);
                return BatchScore { loss: supervised.loss, ..score };
            }
        }
        self.score(self.forward(net, examples, mode, device), examples, device)
    }

    fn class_scores<'a>(&self, scores: &'a Tensor<2>) -> Option<&'a Tensor<2>> {
        Some(scores)
    }

    /// Splits hold questions with an answer only.
    fn classes(&self, examples: &[usize]) -> Vec<u32> {
        examples.iter().map(|&at| self.data.examples[at].answer.unwrap_or(0)).collect()
    }

    fn class_names(&self) -> &[String] {
        &self.data.vocabulary
    }

    fn pretraining(&self) -> Option<Pretraining> {
        let (epochs, patience) = self.net.linear_start()?;
        Some(Pretraining { epochs, patience })
    }

    /// Pretraining goes without the softmax of the attention.
    fn with_pretraining(&self, net: NetOf<Self>, on: bool) -> NetOf<Self> {
        net.with_softmax(!on)
    }

    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>> {
        let layer = request.hidden_layer(loaded.kind)?;
        let data = Self::other_data(loaded, request)?;
        let total = data.indices.test.len();
        let batch_size = request.batch_size.unwrap_or(FILES);
        let starts = (0..total).step_by(batch_size);
        let classes = if layer.is_some() { Vec::new() } else { loaded.metadata.words.clone() };
        let batches = starts.map(move |start| {
            let examples = &data.indices.test[start..total.min(start + batch_size)];
            let mut mode = if layer.is_some() { Mode::Eval.record() } else { Mode::Eval };
            let scores = loaded.net.forward(data.batch(examples), &mut mode);
            let predictions = match &layer {
                Some(layer) => recorded_states(&mode, layer)?,
                None => Predictions::of_scores(scores, |words| vec![examples.len(), words])?,
            };
            let names = examples.iter().map(|&at| data.question(&data.examples[at]).text.clone()).collect();
            Ok(PredictedBatch { predictions, names: Some(names) })
        });
        let columns = Vec::new();
        Ok(PredictionStream { unit: "question", total, classes, columns, batches: Box::new(batches) })
    }

    fn evaluate(
        &self,
        net: &NetOf<Self>,
        split: Split,
        train: &TrainConfig,
        options: &EvalOptions,
        device: &Device,
    ) -> Result<Evaluation> {
        options.check_none()?;
        let examples = self.data.split(split);
        let mut evaluation = evaluate(self, net, examples, train, device);
        evaluation.confusion = evaluation.confusion.map(|confusion| confusion.used());
        evaluation.per_class.retain(|class| class.support + class.predicted > 0);
        let wrong: Vec<usize> = evaluation.misclassified.iter().map(|wrong| wrong.example).collect();
        let tasks = self.by_task(examples, &wrong);
        if tasks.len() > 1 {
            let error = |wrong: usize, questions: usize| wrong as f64 / questions.max(1) as f64;
            let mean = tasks.iter().map(|(_, wrong, questions)| error(*wrong, *questions)).sum::<f64>()
                / tasks.len() as f64;
            let mut rows: Vec<Vec<serde_json::Value>> = tasks
                .into_iter()
                .map(|(name, wrong, questions)| {
                    vec![json!(name), json!(questions), json!(wrong), json!(error(wrong, questions))]
                })
                .collect();
            rows.push(vec![json!("mean"), json!(null), json!(null), json!(mean)]);
            evaluation.breakdown =
                Some(Breakdown { columns: vec!["task", "questions", "wrong", "error"], rows });
        }
        Ok(evaluation)
    }
}
