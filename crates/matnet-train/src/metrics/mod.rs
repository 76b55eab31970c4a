//! Metrics: how good predictions are, as scikit-learn computes it. Pure functions of numbers, without a net.
//!
//! | file | of |
//! |---|---|
//! | `classes.rs` | one class per example |
//! | `ranking.rs` | scores of a class or label: ROC, precision and recall |
//! | `calibration.rs` | probabilities as frequencies |
//! | `labels.rs` | several labels at once |
//! | `values.rs` | numbers |
//! | `outcomes.rs` | all examples of a split together, and every metric of them |
//!
//! Each function takes one weight per example, or `None` for equal weights. Where scikit-learn warns and gives 0 or NaN, a
//! value is left out and [`Undefined`] says why.

mod calibration;
mod classes;
mod labels;
mod metric;
mod outcomes;
mod ranking;
mod values;

pub use self::calibration::{CalibrationBin, calibration};
pub use self::classes::{ClassWeights, log_loss};
pub use self::labels::LabelWeights;
pub use self::metric::{Metric, MetricResult, MetricValues, Undefined};
pub use self::outcomes::{Outcomes, PerClass, PerValue, Targets};
pub use self::ranking::{Curve, Ranking};
pub use self::values::ValueErrors;

/// The weight of an example.
fn weight(weights: Option<&[f32]>, at: usize) -> f64 {
    weights.map_or(1.0, |weights| f64::from(weights[at]))
}

/// The mean of those that are defined, or why none is.
fn mean_defined(all: impl IntoIterator<Item = MetricResult>) -> MetricResult {
    let (mut sum, mut count, mut reason) = (0.0, 0_usize, Undefined::NoExamples);
    for one in all {
        match one {
            Ok(value) => {
                sum += value;
                count += 1;
            }
            Err(undefined) => reason = undefined,
        }
    }
    if count > 0 { Ok(sum / count as f64) } else { Err(reason) }
}
