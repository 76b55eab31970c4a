//! Scores that rank examples: ROC and precision–recall curves, and the areas under them.

use super::{MetricResult, Undefined, weight};

/// A curve as its points.
pub type Curve = Vec<(f64, f64)>;

/// The examples in the order of their scores, from the highest down; those with equal scores stand together.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// After each score: the weight of the positive and of the negative examples so far.
    steps: Vec<(f64, f64)>,
}

impl Ranking {
    /// Of examples that are positive or not, and their scores; NaN has no place in them.
    pub fn new(
        positive: impl IntoIterator<Item = bool>,
        scores: impl IntoIterator<Item = f32>,
        weights: Option<&[f32]>,
    ) -> Self {
        let rows = positive.into_iter().zip(scores).enumerate();
        let mut rows: Vec<(f32, bool, f64)> = rows
            // Both zeros are one score.
            .map(|(at, (positive, score))| (score + 0.0, positive, weight(weights, at)))
            .filter(|(_, _, weight)| *weight > 0.0)
            .collect();
        rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.total_cmp(&a.2)));
        let (mut steps, mut so_far) = (Vec::new(), (0.0, 0.0));
        for tied in rows.chunk_by(|a, b| a.0 == b.0) {
            for &(_, positive, weight) in tied {
                *(if positive { &mut so_far.0 } else { &mut so_far.1 }) += weight;
            }
            steps.push(so_far);
        }
        Self { steps }
    }

    /// The weight of all positive and of all negative examples.
    fn totals(&self) -> (f64, f64) {
        self.steps.last().copied().unwrap_or_default()
    }

    /// The area under the ROC curve: the chance that a positive example has a higher score than a negative one, ties half.
    pub fn auc(&self) -> MetricResult {
        let (positive, negative) = self.totals();
        if positive <= 0.0 || negative <= 0.0 {
            return Err(if self.steps.is_empty() { Undefined::NoExamples } else { Undefined::OneClass });
        }
        let mut area = 0.0;
        let mut before = (0.0, 0.0);
        for &step in &self.steps {
            area += (step.1 - before.1) * (step.0 + before.0) / 2.0;
            before = step;
        }
        Ok(area / positive / negative)
    }

    /// The sum of precision times the gain in recall, score by score.
    pub fn average_precision(&self) -> MetricResult {
        let (positive, _) = self.totals();
        if positive <= 0.0 {
            return Err(if self.steps.is_empty() { Undefined::NoExamples } else { Undefined::NoPositives });
        }
        let (mut sum, mut before) = (0.0, 0.0);
        for &(found, wrong) in &self.steps {
            sum += (found - before) * (found / (found + wrong));
            before = found;
        }
        Ok(sum / positive)
    }

    /// False positive rate against true positive rate, from (0, 0) to (1, 1). Empty where the area is undefined.
    pub fn roc(&self) -> Curve {
        let (positive, negative) = self.totals();
        if self.auc().is_err() {
            return Curve::new();
        }
        let points = self.steps.iter().map(|&(found, wrong)| (wrong / negative, found / positive));
        without_straight(std::iter::once((0.0, 0.0)).chain(points))
    }

    /// Recall against precision, from the highest score down. Empty where average precision is undefined.
    pub fn precision_recall(&self) -> Curve {
        let (positive, _) = self.totals();
        if self.average_precision().is_err() {
            return Curve::new();
        }
        self.steps.iter().map(|&(found, wrong)| (found / positive, found / (found + wrong))).collect()
    }
}

/// Without points on a horizontal or vertical line between their neighbours: a curve of many examples stays short.
fn without_straight(points: impl Iterator<Item = (f64, f64)>) -> Curve {
    let mut curve = Curve::new();
    for point in points {
        if let [.., a, b] = curve[..]
            && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
        {
            curve.pop();
        }
        curve.push(point);
    }
    curve
}
