//! Numbers: how far predictions lie from targets.

use super::{MetricResult, Undefined, mean_defined, weight};

/// Sums over the examples, for each target.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueErrors {
    targets: Vec<Sums>,
    weight: f64,
    examples: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    absolute: f64,
    squared: f64,
    /// Of the squared distances from the mean of the targets.
    spread: f64,
}

impl ValueErrors {
    /// Of targets and predictions `[n, width]`.
    pub fn new(width: usize, targets: &[f32], predicted: &[f32], weights: Option<&[f32]>) -> Self {
        let examples = targets.len() / width.max(1);
        let total: f64 = (0..examples).map(|at| weight(weights, at)).sum();
        let of_target = |target: usize| {
            let column = |at: usize| f64::from(targets[at * width + target]);
            let mean = (0..examples).map(|at| weight(weights, at) * column(at)).sum::<f64>() / total;
            // A mean is rounded, and a constant then lies a little beside its own mean.
            let mut counted = (0..examples).filter(|&at| weight(weights, at) > 0.0).map(column);
            let first = counted.next();
            let constant = counted.all(|value| Some(value) == first);
            let mut sums = Sums::default();
            for at in 0..examples {
                let (weight, error) =
                    (weight(weights, at), column(at) - f64::from(predicted[at * width + target]));
                sums.absolute += weight * error.abs();
                sums.squared += weight * error * error;
                sums.spread += if constant { 0.0 } else { weight * (column(at) - mean).powi(2) };
            }
            sums
        };
        Self { targets: (0..width).map(of_target).collect(), weight: total, examples }
    }

    fn mean_of(&self, sum: f64) -> MetricResult {
        if self.weight > 0.0 { Ok(sum / self.weight) } else { Err(Undefined::NoExamples) }
    }

    /// The mean absolute error of a target.
    pub fn mae_of(&self, target: usize) -> MetricResult {
        self.mean_of(self.targets[target].absolute)
    }

    /// The root mean squared error of a target.
    pub fn rmse_of(&self, target: usize) -> MetricResult {
        self.mean_of(self.targets[target].squared).map(f64::sqrt)
    }

    /// R² of a target: 1 − squared errors / squared distances from the mean.
    pub fn r2_of(&self, target: usize) -> MetricResult {
        let Sums { squared, spread, .. } = self.targets[target];
        match self.examples {
            0 => Err(Undefined::NoExamples),
            _ if spread > 0.0 => Ok(1.0 - squared / spread),
            _ => Err(Undefined::ConstantTargets),
        }
    }

    /// The mean over the targets.
    pub fn mae(&self) -> MetricResult {
        mean_defined((0..self.targets.len()).map(|target| self.mae_of(target)))
    }

    /// The mean over the targets.
    pub fn rmse(&self) -> MetricResult {
        mean_defined((0..self.targets.len()).map(|target| self.rmse_of(target)))
    }

    /// The mean over the targets that are not constant.
    pub fn r2(&self) -> MetricResult {
        mean_defined((0..self.targets.len()).map(|target| self.r2_of(target)))
    }
}
