//! One class per example.

use super::{MetricResult, Undefined, mean_defined, weight};

/// The weight of each class: among the targets, among the predictions, and where both agree. All metrics of predicted
/// classes follow from these, without a confusion matrix, which a large vocabulary would not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassWeights {
    support: Vec<f64>,
    predicted: Vec<f64>,
    correct: Vec<f64>,
}

impl ClassWeights {
    /// Of target and predicted classes.
    pub fn new(classes: usize, targets: &[u32], predicted: &[u32], weights: Option<&[f32]>) -> Self {
        let zeros = || vec![0.0; classes];
        let mut counts = Self { support: zeros(), predicted: zeros(), correct: zeros() };
        for (at, (&target, &predicted)) in targets.iter().zip(predicted).enumerate() {
            let weight = weight(weights, at);
            counts.support[target as usize] += weight;
            counts.predicted[predicted as usize] += weight;
            if target == predicted {
                counts.correct[target as usize] += weight;
            }
        }
        counts
    }

    fn total(&self) -> f64 {
        self.support.iter().sum()
    }

    fn of_total(&self, value: impl Fn(f64) -> MetricResult) -> MetricResult {
        match self.total() {
            total if total > 0.0 => value(total),
            _ => Err(Undefined::NoExamples),
        }
    }

    /// The share of right predictions.
    pub fn accuracy(&self) -> MetricResult {
        self.of_total(|total| Ok(self.correct.iter().sum::<f64>() / total))
    }

    /// The mean recall of the classes among the targets.
    pub fn balanced_accuracy(&self) -> MetricResult {
        self.of_total(|_| mean_defined((0..self.support.len()).map(|class| self.recall_of(class))))
    }

    /// The F1 score of a class: 2 · correct / (support + predicted).
    pub fn f1_of(&self, class: usize) -> MetricResult {
        match self.support[class] + self.predicted[class] {
            sum if sum > 0.0 => Ok(2.0 * self.correct[class] / sum),
            _ => Err(Undefined::NeverUsed),
        }
    }

    /// correct / predicted
    pub fn precision_of(&self, class: usize) -> MetricResult {
        match self.predicted[class] {
            predicted if predicted > 0.0 => Ok(self.correct[class] / predicted),
            _ => Err(Undefined::NeverUsed),
        }
    }

    /// correct / support
    pub fn recall_of(&self, class: usize) -> MetricResult {
        match self.support[class] {
            support if support > 0.0 => Ok(self.correct[class] / support),
            _ => Err(Undefined::NeverUsed),
        }
    }

    /// The mean F1 score of the classes that are targets or predictions.
    pub fn f1_macro(&self) -> MetricResult {
        self.of_total(|_| mean_defined((0..self.support.len()).map(|class| self.f1_of(class))))
    }

    /// The F1 score of all classes counted together; with one class per example it is the accuracy.
    pub fn f1_micro(&self) -> MetricResult {
        self.accuracy()
    }

    /// The mean F1 score, weighted by support.
    pub fn f1_weighted(&self) -> MetricResult {
        let weighted =
            (0..self.support.len()).map(|class| self.support[class] * self.f1_of(class).unwrap_or(0.0));
        self.of_total(|total| Ok(weighted.clone().sum::<f64>() / total))
    }

    /// Cohen's κ: how far the agreement lies above that by chance, 1 where it is perfect.
    pub fn kappa(&self) -> MetricResult {
        self.of_total(|total| {
            let chance: f64 = self.support.iter().zip(&self.predicted).map(|(a, b)| a * b / total).sum();
            let correct: f64 = self.correct.iter().sum();
            match total - chance {
                left if left > 0.0 => Ok(1.0 - (total - correct) / left),
                _ => Err(Undefined::PerfectByChance),
            }
        })
    }
}

/// The mean of −log p of the target class. Probabilities `[n, classes]` are clipped to [ε, 1 − ε], ε that of `f64`, as
/// scikit-learn does: so a wrong prediction without a doubt costs 36, not ∞.
pub fn log_loss(
    classes: usize,
    targets: &[u32],
    probabilities: &[f32],
    weights: Option<&[f32]>,
) -> MetricResult {
    let (mut sum, mut total) = (0.0, 0.0);
    for (at, (row, &target)) in probabilities.chunks_exact(classes).zip(targets).enumerate() {
        let clipped = f64::from(row[target as usize]).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        sum -= weight(weights, at) * clipped.ln();
        total += weight(weights, at);
    }
    if total > 0.0 { Ok(sum / total) } else { Err(Undefined::NoExamples) }
}
