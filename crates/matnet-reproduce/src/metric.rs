//! What is measured on the test split, and which of two numbers is better.

use matnet_report::table::Highlight;
use matnet_train::compare::{Spread, lowest_training_loss};
use matnet_train::run::RunResult;
use matnet_train::tasks::algorithms::{EXTRAPOLATION_WRONG_BITS, WRONG_BITS};
use matnet_train::tasks::samples::OCCLUDED_LOSS;
use matnet_train::{Result, Run, Split, metrics};
use serde::Deserialize;

/// The name of the largest rise of the error among the metrics of a result.
const LARGEST_ERROR_RISE: &str = "largest_error_rise";

/// The name of the training time among the metrics of a result.
const TRAIN_SECONDS: &str = "train_seconds";

/// Adds the training time: the number of epochs times the fastest of them, so that other programs on the machine hardly change it.
pub fn add_train_seconds(run: &Run, result: &mut RunResult) -> Result<()> {
    let times = run.times()?;
    if let Some(fastest) = times.iter().copied().reduce(f64::min) {
        result.metrics.insert(TRAIN_SECONDS.to_owned(), fastest * times.len() as f64);
    }
    Ok(())
}

/// Adds the largest rise of the test error from one epoch to the next, in percentage points, if the test split was logged.
pub fn add_largest_error_rise(run: &Run, result: &mut RunResult) -> Result<()> {
    let rows = run.metrics()?;
    let errors: Vec<f64> =
        rows.iter().filter(|row| row.split == Split::Test).filter_map(|row| row.error).collect();
    if !errors.is_empty() {
        let rises = errors.windows(2).map(|pair| 100.0 * (pair[1] - pair[0]));
        result.metrics.insert(LARGEST_ERROR_RISE.to_owned(), rises.fold(0.0, f64::max));
    }
    Ok(())
}

/// A metric of the test split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// In percent.
    Accuracy,
    /// The area under the ROC curve, in percent.
    Auc,
    /// The error rate, in percent.
    Error,
    /// The largest rise of the error rate from one epoch to the next, in percentage points.
    LargestErrorRise,
    /// The mean loss.
    Loss,
    /// The mean loss on occluded entries.
    OccludedLoss,
    /// Wrong bits per sequence.
    WrongBits,
    /// Wrong bits per sequence, for sequences longer than those of the training.
    ExtrapolationWrongBits,
    /// The number of parameters.
    Parameters,
    /// Epochs times the seconds of the fastest epoch.
    TrainSeconds,
}

impl Metric {
    /// Its name in file names, its title, its unit, and the decimals it is shown with.
    fn description(self) -> (&'static str, &'static str, &'static str, usize) {
        match self {
            Self::Accuracy => ("accuracy", "test accuracy", " (%)", 1),
            Self::Auc => ("auc", "test ROC AUC", " (%)", 2),
            Self::Error => ("error", "test error rate", " (%)", 2),
            Self::LargestErrorRise => (
                "largest-error-rise",
                "largest rise of the test error between epochs",
                " (percentage points)",
                2,
            ),
            Self::Loss => ("loss", "test loss", "", 4),
            Self::OccludedLoss => ("occluded-loss", "test loss on the occluded pixels", "", 4),
            Self::WrongBits => ("wrong-bits", "wrong bits per test sequence", "", 2),
            Self::ExtrapolationWrongBits => {
                ("extrapolation-wrong-bits", "wrong bits per sequence longer than in training", "", 2)
            }
            Self::Parameters => ("parameters", "number of parameters", "", 0),
            Self::TrainSeconds => {
                ("train-seconds", "training time, epochs times the fastest epoch", " (s)", 1)
            }
        }
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.description().0
    }

    /// The label of an axis.
    pub fn axis(self) -> String {
        let (_, title, unit, _) = self.description();
        format!("{title}{unit}")
    }

    /// The beginning of a caption: what is measured, and which direction is better.
    pub fn caption(self) -> String {
        let axis = self.axis();
        let (first, rest) = axis.split_at(1);
        let better = if self.higher_is_better() { "higher" } else { "lower" };
        format!("{}{rest}, {better} is better", first.to_uppercase())
    }

    /// Digits after the decimal point.
    pub fn decimals(self) -> usize {
        self.description().3
    }

    /// A number of this metric, as text.
    pub fn format(self, number: f64) -> String {
        format!("{number:.*}", self.decimals())
    }

    /// The largest possible value.
    pub fn max(self) -> f64 {
        match self {
            Self::Accuracy | Self::Auc | Self::Error => 100.0,
            _ => f64::INFINITY,
        }
    }

    /// The name of its value in an earlier report, among the metrics of a result.
    fn earlier_name(self) -> String {
        format!("earlier {}", self.name())
    }

    /// Adds its value in an earlier report, which is all that is known of a run.
    pub fn set_earlier(self, result: &mut RunResult, value: f64) {
        result.metrics.insert(self.earlier_name(), value);
    }

    /// Its value for a run.
    pub fn of(self, result: &RunResult) -> Option<f64> {
        let extra = |name: &str| result.metrics.get(name).copied();
        if let Some(earlier) = extra(&self.earlier_name()) {
            return Some(earlier);
        }
        match self {
            Self::Accuracy => Some(100.0 * (1.0 - result.test?.error?)),
            Self::Auc => Some(100.0 * result.test?.metric(metrics::Metric::Auc)?),
            Self::Error => Some(100.0 * result.test?.error?),
            Self::LargestErrorRise => extra(LARGEST_ERROR_RISE),
            Self::Loss => Some(result.test?.loss),
            Self::OccludedLoss => extra(OCCLUDED_LOSS),
            Self::WrongBits => extra(WRONG_BITS),
            Self::ExtrapolationWrongBits => extra(EXTRAPOLATION_WRONG_BITS),
            Self::Parameters => Some(result.parameters as f64),
            Self::TrainSeconds => extra(TRAIN_SECONDS),
        }
    }

    /// Whether it is what a net costs, and not what it scores on the test split.
    pub fn is_cost(self) -> bool {
        matches!(self, Self::Parameters | Self::TrainSeconds)
    }

    fn higher_is_better(self) -> bool {
        matches!(self, Self::Accuracy | Self::Auc)
    }

    /// Which number of a column is highlighted.
    pub fn highlight(self) -> Highlight {
        if self.higher_is_better() { Highlight::Max } else { Highlight::Min }
    }

    /// How much better the first number is than the second; negative if it is worse.
    pub fn advantage(self, first: f64, second: f64) -> f64 {
        if self.higher_is_better() { first - second } else { second - first }
    }

    /// Whether the first number is better than the second, not only as good.
    pub fn is_better(self, first: f64, second: f64) -> bool {
        if self.higher_is_better() { first > second } else { first < second }
    }

    /// Whether the first number is as good as the second, or worse by at most `within`.
    pub fn reaches(self, first: f64, second: f64, within: f64) -> bool {
        if self.higher_is_better() { first >= second - within } else { first <= second + within }
    }

    /// Worse than every number.
    pub fn worst(self) -> f64 {
        if self.higher_is_better() { f64::NEG_INFINITY } else { f64::INFINITY }
    }
}

/// The mean, if there is any number and none is missing.
pub fn mean(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A metric over the seeds of a net.
#[derive(Clone, Copy, Debug)]
pub struct SeedSummary {
    pub spread: Spread,
    /// The best seed.
    pub best: f64,
    /// The seed with the lowest training loss.
    pub selected: f64,
}

impl SeedSummary {
    /// Of some runs; `None` if none of them has the metric.
    pub fn of<'a>(metric: Metric, runs: impl Iterator<Item = &'a RunResult>) -> Option<Self> {
        let runs: Vec<&RunResult> = runs.filter(|result| metric.of(result).is_some()).collect();
        let numbers = || runs.iter().filter_map(|result| metric.of(result));
        let best = numbers().reduce(|a, b| if metric.is_better(b, a) { b } else { a })?;
        let selected = lowest_training_loss(runs.iter().copied()).or(runs.first().copied())?;
        Some(Self { spread: Spread::of(numbers())?, best, selected: metric.of(selected)? })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use matnet_train::metrics::MetricValues;
    use matnet_train::run::Score;

    use super::*;

    /// A result with these losses of training and test, and this error rate.
    pub(crate) fn result(seed: u64, train: Option<f64>, test: f64, error: Option<f64>) -> RunResult {
        let score = |loss, error| Score { loss, error, examples: 1, metrics: MetricValues::default() };
        RunResult {
            kind: String::new(),
            form: String::new(),
            parameters: 1,
            seed,
            epochs: 1,
            best_epoch: 1,
            train: train.map(|loss| score(loss, None)),
            valid: None,
            test: Some(score(test, error)),
            metrics: [].into(),
        }
    }

    #[test]
    fn the_largest_rise_is_between_epochs_of_the_test() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        let mut result = result(1, None, 1.0, None);
        add_largest_error_rise(&run, &mut result).unwrap();
        assert_eq!(Metric::LargestErrorRise.of(&result), None, "the test split was not logged");
        let lines =
            ["epoch,split,loss,error", "1,test,1,0.5", "1,valid,1,0.1", "2,test,1,0.125", "3,test,1,0.25"];
        std::fs::write(run.path("metrics.csv"), lines.join("\n")).unwrap();
        add_largest_error_rise(&run, &mut result).unwrap();
        assert_eq!(Metric::LargestErrorRise.of(&result), Some(12.5));
    }

    #[test]
    fn the_selected_seed_is_the_first_with_the_lowest_training_loss() {
        let selected = |runs: &[(Option<f64>, f64)]| {
            let results: Vec<RunResult> =
                runs.iter().map(|&(train, test)| result(1, train, test, None)).collect();
            SeedSummary::of(Metric::Loss, results.iter()).map(|summary| summary.selected)
        };
        assert_eq!(selected(&[(Some(2.0), 0.1), (Some(1.0), 0.3), (Some(1.0), 0.2)]), Some(0.3));
        assert_eq!(selected(&[(None, 0.1), (Some(1.0), 0.3)]), Some(0.3));
        assert_eq!(selected(&[(None, 0.4), (None, 0.3)]), Some(0.4), "no training loss selects");
        assert_eq!(selected(&[]), None);
    }

    #[test]
    fn captions_name_the_metric_and_the_better_direction() {
        assert_eq!(Metric::Accuracy.caption(), "Test accuracy (%), higher is better");
        assert_eq!(Metric::WrongBits.caption(), "Wrong bits per test sequence, lower is better");
    }
}
