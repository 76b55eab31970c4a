//! Several labels at once: each applies to an example or not.

use super::{MetricResult, Undefined, mean_defined, weight};

/// The weight of each label: among the targets, among the predictions, and where both agree that it applies.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelWeights {
    support: Vec<f64>,
    predicted: Vec<f64>,
    correct: Vec<f64>,
    /// Of the examples whose labels are all right, and of all.
    exact: f64,
    total: f64,
}

impl LabelWeights {
    /// Of target and predicted labels `[n, labels]`.
    pub fn new(labels: usize, targets: &[bool], predicted: &[bool], weights: Option<&[f32]>) -> Self {
        let zeros = || vec![0.0; labels];
        let mut counts =
            Self { support: zeros(), predicted: zeros(), correct: zeros(), exact: 0.0, total: 0.0 };
        let rows = targets.chunks_exact(labels).zip(predicted.chunks_exact(labels));
        for (at, (targets, predicted)) in rows.enumerate() {
            let weight = weight(weights, at);
            counts.total += weight;
            counts.exact += if targets == predicted { weight } else { 0.0 };
            for (label, (&target, &predicted)) in targets.iter().zip(predicted).enumerate() {
                let apply = |yes: bool| if yes { weight } else { 0.0 };
                counts.support[label] += apply(target);
                counts.predicted[label] += apply(predicted);
                counts.correct[label] += apply(target && predicted);
            }
        }
        counts
    }

    /// The share of examples whose labels are all right (subset accuracy).
    pub fn exact_match(&self) -> MetricResult {
        if self.total > 0.0 { Ok(self.exact / self.total) } else { Err(Undefined::NoExamples) }
    }

    /// The F1 score of a label.
    pub fn f1_of(&self, label: usize) -> MetricResult {
        f1(self.correct[label], self.support[label], self.predicted[label])
    }

    /// correct / predicted
    pub fn precision_of(&self, label: usize) -> MetricResult {
        ratio(self.correct[label], self.predicted[label])
    }

    /// correct / support
    pub fn recall_of(&self, label: usize) -> MetricResult {
        ratio(self.correct[label], self.support[label])
    }

    /// The mean F1 score of the labels that are targets or predictions.
    pub fn f1_macro(&self) -> MetricResult {
        mean_defined((0..self.support.len()).map(|label| self.f1_of(label)))
    }

    /// The F1 score of all labels counted together.
    pub fn f1_micro(&self) -> MetricResult {
        let sum = |all: &[f64]| all.iter().sum::<f64>();
        f1(sum(&self.correct), sum(&self.support), sum(&self.predicted))
    }

    /// The mean F1 score, weighted by support.
    pub fn f1_weighted(&self) -> MetricResult {
        let total: f64 = self.support.iter().sum();
        let each =
            (0..self.support.len()).map(|label| self.support[label] * self.f1_of(label).unwrap_or(0.0));
        ratio(each.sum(), total)
    }
}

fn f1(correct: f64, support: f64, predicted: f64) -> MetricResult {
    ratio(2.0 * correct, support + predicted)
}

fn ratio(of: f64, all: f64) -> MetricResult {
    if all > 0.0 { Ok(of / all) } else { Err(Undefined::NeverUsed) }
}
