//! How well a net does: its score, its confusion matrix, and what it gets wrong.
//!
//! The score is computed in the batches of the training loop, so it is the one in `result.json` to the last bit.

use std::collections::BTreeMap;

use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use matnet::Mode;
use serde::{Deserialize, Serialize};

use super::{BatchScore, NetOf, Task, Wrong, predicted_classes, probabilities, to_vec};
use crate::config::TrainConfig;
use crate::metrics::{Metric, MetricValues, Outcomes, PerClass, PerValue, Targets};
use crate::run::Score;

/// Sums of losses and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    #[serde(with = "bits")]
    loss: f64,
    #[serde(with = "bits")]
    weight: f64,
    #[serde(with = "bits")]
    wrong: f64,
    #[serde(with = "bits")]
    predictions: f64,
    examples: u64,
}

impl Sums {
    /// Adds the score of a batch of so many examples.
    pub(crate) fn add(&mut self, score: BatchScore, examples: usize) {
        let loss = f64::from(score.loss.clone().into_scalar::<f32>());
        self.count(loss, &score, examples);
    }

    /// Adds the score of a batch, whose mean loss is known as a number.
    pub(crate) fn count(&mut self, loss: f64, score: &BatchScore, examples: usize) {
        self.loss += loss * score.weight;
        self.weight += score.weight;
        self.wrong += score.wrong.as_ref().map_or(0.0, Wrong::weight);
        self.predictions += score.predictions;
        self.examples += examples as u64;
    }

    /// Adds other sums.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        self.wrong += other.wrong;
        self.predictions += other.predictions;
        self.examples += other.examples;
    }

    /// The weight of all losses.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// The means.
    pub(crate) fn score(self, has_errors: bool) -> Score {
        let mean = |sum: f64, weight: f64| if weight > 0.0 { sum / weight } else { 0.0 };
        let error = has_errors.then(|| mean(self.wrong, self.predictions));
        let examples = self.examples as usize;
        Score { loss: mean(self.loss, self.weight), error, examples, metrics: MetricValues::default() }
    }
}

/// Numbers as their bits: text would round them.
pub(crate) mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        number.to_bits().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

/// How well a net does on some examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The mean loss, the error rate and all metrics that are defined.
    #[serde(flatten)]
    pub score: Score,
    /// Why the other metrics of the task are not defined.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub undefined: BTreeMap<&'static str, String>,
    /// The metrics of each class or label; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_class: Vec<PerClass>,
    /// The metrics of each target of a regression; empty if it is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_target: Vec<PerValue>,
    /// Which classes are predicted for which; only for nets that predict classes.
    pub confusion: Option<Confusion>,
    /// The wrong predictions, in the order of the examples; empty for nets that predict matrices.
    pub misclassified: Vec<Misclassified>,
    /// The first example for which the net's outputs are not finite, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_finite: Option<usize>,
    /// The score by task, by length, …; `None` if there is nothing to break it down by.
    pub breakdown: Option<Breakdown>,
    /// Further metrics, by name.
    #[serde(flatten, serialize_with = "crate::number::by_name::serialize")]
    pub metrics: BTreeMap<String, f64>,
    /// Targets and predictions, for curves; `None` if only the loss says how good an output is.
    #[serde(skip)]
    pub outcomes: Option<Outcomes>,
}

impl Evaluation {
    /// With nothing but a score.
    pub(crate) fn new(score: Score) -> Self {
        Self {
            score,
            undefined: BTreeMap::new(),
            per_class: Vec::new(),
            per_target: Vec::new(),
            confusion: None,
            misclassified: Vec::new(),
            not_finite: None,
            breakdown: None,
            metrics: BTreeMap::new(),
            outcomes: None,
        }
    }

    /// The same with everything that follows from targets and predictions.
    pub(crate) fn with_outcomes(mut self, outcomes: Outcomes) -> Self {
        let (values, undefined) = outcomes.metrics(outcomes.targets().metrics());
        self.score.metrics = values;
        let undefined = undefined.into_iter().map(|(metric, reason)| (metric.key(), reason.to_string()));
        self.undefined = undefined.collect();
        // Outputs that are not finite predict no class.
        if outcomes.first_not_finite().is_none() {
            self.per_class = outcomes.per_class();
            self.confusion = Confusion::of(&outcomes);
        }
        self.per_target = outcomes.per_value();
        self.outcomes = Some(outcomes);
        self
    }
}

/// The score of parts of the examples: a table with one row per part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    /// The names of the columns; the first names the part.
    pub columns: Vec<&'static str>,
    /// One row per part.
    pub rows: Vec<Vec<serde_json::Value>>,
}

/// One wrong prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Misclassified {
    /// The index of the example in the dataset.
    pub example: usize,
    /// The step of the sequence, for classes per step.
    pub step: Option<usize>,
    /// The target class.
    pub target: u32,
    /// The predicted class.
    pub predicted: u32,
    /// The probability of the predicted class.
    pub probability: f32,
    /// The probability of the target class.
    pub target_probability: f32,
}

/// A confusion matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    classes: Vec<String>,
    counts: Vec<Vec<u64>>,
}

/// The counts of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCounts {
    /// Examples (or steps) of this class.
    pub support: u64,
    /// Those of them that were predicted right.
    pub correct: u64,
    /// All that were predicted to be of this class.
    pub predicted: u64,
}

impl ClassCounts {
    /// correct / support
    pub fn recall(self) -> Option<f64> {
        (self.support > 0).then(|| self.correct as f64 / self.support as f64)
    }

    /// correct / predicted
    pub fn precision(self) -> Option<f64> {
        (self.predicted > 0).then(|| self.correct as f64 / self.predicted as f64)
    }
}

impl Confusion {
    /// An empty matrix.
    pub fn new(classes: Vec<String>) -> Self {
        let counts = vec![vec![0; classes.len()]; classes.len()];
        Self { classes, counts }
    }

    /// Of the outcomes of a split; `None` unless they are classes.
    pub fn of(outcomes: &Outcomes) -> Option<Self> {
        let (Targets::Classes(targets), Targets::Classes(predicted)) =
            (outcomes.targets(), outcomes.predicted())
        else {
            return None;
        };
        let mut confusion = Self::new(outcomes.names().to_vec());
        for (&target, &predicted) in targets.iter().zip(predicted) {
            confusion.add(target, predicted);
        }
        Some(confusion)
    }

    /// Without the classes that are neither targets nor predictions: of a thousand words few are answers.
    pub fn used(&self) -> Self {
        let used: Vec<usize> = (0..self.classes.len())
            .filter(|&class| {
                let counts = self.class(class);
                counts.support + counts.predicted > 0
            })
            .collect();
        let counts = used.iter().map(|&row| used.iter().map(|&col| self.counts[row][col]).collect());
        Self {
            classes: used.iter().map(|&class| self.classes[class].clone()).collect(),
            counts: counts.collect(),
        }
    }

    fn add(&mut self, target: u32, predicted: u32) {
        self.counts[target as usize][predicted as usize] += 1;
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Rows are target classes, columns predicted ones.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }

    /// The counts of one class.
    pub fn class(&self, class: usize) -> ClassCounts {
        ClassCounts {
            support: self.counts[class].iter().sum(),
            correct: self.counts[class][class],
            predicted: self.counts.iter().map(|row| row[class]).sum(),
        }
    }

    /// The most frequent confusions, `(target, predicted, count)`; ties in the order of the classes.
    pub fn most_frequent(&self) -> Vec<(usize, usize, u64)> {
        let mut all = Vec::new();
        for (target, row) in self.counts.iter().enumerate() {
            for (predicted, &count) in row.iter().enumerate() {
                if predicted != target && count > 0 {
                    all.push((target, predicted, count));
                }
            }
        }
        all.sort_by_key(|&(_, _, count)| std::cmp::Reverse(count));
        all
    }
}

/// The metrics that a task has: loss, error rate, and those of its targets.
pub(crate) fn available_metrics<T: Task>(task: &T) -> Vec<Metric> {
    let mut all = vec![Metric::Loss];
    all.extend(task.has_errors().then_some(Metric::Error));
    all.extend(task.metric_targets(&[]).iter().flat_map(Targets::metrics));
    all
}

/// The outcomes of a split, none as yet; `None` if only the loss says how good an output is.
pub(crate) fn no_outcomes<T: Task>(task: &T) -> Option<Outcomes> {
    Some(Outcomes::new(task.target_names().to_vec(), &task.metric_targets(&[])?))
}

/// What an evaluation finds out about a batch.
pub(crate) struct EvaluatedBatch {
    pub sums: Sums,
    /// See [`Task::metric_scores`].
    pub scores: Option<Tensor<2>>,
}

/// Evaluates a net on a batch.
pub(crate) fn evaluate_batch<T: Task>(
    task: &T,
    net: &NetOf<T>,
    batch: &[usize],
    device: &Device,
) -> EvaluatedBatch {
    let output = task.forward(net, batch, &mut Mode::Eval, device);
    let scores = task.metric_scores(&output);
    let mut sums = Sums::default();
    sums.add(task.score(output, batch, device), batch.len());
    EvaluatedBatch { sums, scores }
}

impl EvaluatedBatch {
    /// Adds to the sums and to the outcomes of a split.
    pub(crate) fn add_to<T: Task>(
        self,
        task: &T,
        batch: &[usize],
        sums: &mut Sums,
        outcomes: Option<&mut Outcomes>,
    ) {
        if let (Some(outcomes), Some(targets), Some(scores)) =
            (outcomes, task.metric_targets(batch), self.scores)
        {
            let (predicted, probabilities) = match targets {
                Targets::Classes(_) => {
                    let predicted = predicted_classes(&to_vec(scores.clone()), scores.dims()[1]);
                    (Targets::Classes(predicted), to_vec(probabilities(scores)))
                }
                Targets::MultiLabels(_) => {
                    let predicted = to_vec(scores.clone()).into_iter().map(|logit| logit > 0.0).collect();
                    (Targets::MultiLabels(predicted), to_vec(sigmoid(scores)))
                }
                Targets::Values(_) => (Targets::Values(to_vec(scores)), Vec::new()),
            };
            outcomes.add(targets, predicted, probabilities, task.metric_weights(batch));
        }
        sums.merge(&self.sums);
    }
}

/// Evaluates a net on some examples, in batches as large as while training.
pub(crate) fn evaluate<T: Task>(
    task: &T,
    net: &NetOf<T>,
    examples: &[usize],
    train: &TrainConfig,
    device: &Device,
) -> Evaluation {
    let (mut sums, mut outcomes) = (Sums::default(), no_outcomes(task));
    let mut misclassified = Vec::new();
    let batch_size = task.eval_batch_size(train.batch_size);
    for batch in examples.chunks(batch_size) {
        let before = outcomes.as_ref().map_or(0, Outcomes::rows);
        evaluate_batch(task, net, batch, device).add_to(task, batch, &mut sums, outcomes.as_mut());
        if let Some(outcomes) = &outcomes {
            misclassified.extend(misclassified_in(task, outcomes, before, batch));
        }
    }
    let mut evaluation = Evaluation::new(sums.score(task.has_errors()));
    if let Some(outcomes) = outcomes {
        let place = outcomes.first_not_finite().and_then(|row| places(task, examples).nth(row));
        evaluation = evaluation.with_outcomes(outcomes);
        evaluation.not_finite = place.map(|(example, _)| example);
    }
    evaluation.misclassified = misclassified;
    evaluation.metrics = task.extra_metrics(net, examples, Some(evaluation.score), batch_size, device);
    evaluation
}

/// The example and the step of each row of a batch.
fn places<T: Task>(task: &T, batch: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    batch.iter().flat_map(|&example| (0..task.metric_rows(example)).map(move |step| (example, step)))
}

/// The wrong predictions of the batch whose rows begin at `first`.
fn misclassified_in<T: Task>(
    task: &T,
    outcomes: &Outcomes,
    first: usize,
    batch: &[usize],
) -> Vec<Misclassified> {
    let (Targets::Classes(targets), Targets::Classes(predicted)) = (outcomes.targets(), outcomes.predicted())
    else {
        return Vec::new();
    };
    let probability =
        |row: usize, class: u32| outcomes.probabilities()[row * outcomes.width() + class as usize];
    let rows = (first..targets.len()).zip(places(task, batch));
    rows.filter(|&(row, _)| targets[row] != predicted[row] || probability(row, predicted[row]).is_nan())
        .map(|(row, (example, step))| Misclassified {
            example,
            step: task.by_step().then_some(step),
            target: targets[row],
            predicted: predicted[row],
            probability: probability(row, predicted[row]),
            target_probability: probability(row, targets[row]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_confusion_matrix_counts() {
        let mut confusion = Confusion::new(names(&["a", "b", "c"]));
        for (target, predicted) in [(0, 0), (0, 1), (0, 1), (1, 1), (1, 0), (1, 2)] {
            confusion.add(target, predicted);
        }
        assert_eq!(confusion.counts(), [vec![1, 2, 0], vec![1, 1, 1], vec![0, 0, 0]]);
        let counts = confusion.class(1);
        assert_eq!(counts, ClassCounts { support: 3, correct: 1, predicted: 3 });
        assert_eq!((counts.recall(), counts.precision()), (Some(1.0 / 3.0), Some(1.0 / 3.0)));
        assert_eq!((confusion.class(2).recall(), confusion.class(2).precision()), (None, Some(0.0)));
        assert_eq!(confusion.most_frequent(), [(0, 1, 2), (1, 0, 1), (1, 2, 1)]);
        let mut rare = Confusion::new(names(&["a", "b", "c"]));
        rare.add(0, 2);
        assert_eq!(
            (rare.used().classes(), rare.used().counts()),
            (&names(&["a", "c"])[..], &[vec![0, 1], vec![0, 0]][..])
        );
    }
}
