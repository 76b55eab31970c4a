//! What is measured in the test, and which of two numbers is the better one.

use matnet_report::table::Best;
use matnet_train::Run;
use matnet_train::compare::{Spread, least_training_loss};
use matnet_train::data::Part;
use matnet_train::program::{WRONG_BITS, WRONG_BITS_FAR};
use matnet_train::run::RunResult;
use matnet_train::task::UNDER_PATCHES;
use serde::Deserialize;

use crate::commands::report::curves::points;

/// The name of the largest rise among the other numbers of a run.
const LARGEST_RISE: &str = "largest rise";

/// Notes by how many points the wrong answers in the test rise at most from one epoch to the next, where they were watched.
pub fn note_rise(run: &Run, result: &mut RunResult) {
    let errors: Vec<f64> = points(run, Part::Test).iter().filter_map(|point| point.error).collect();
    if !errors.is_empty() {
        let rises = errors.windows(2).map(|pair| 100.0 * (pair[1] - pair[0]));
        result.also.insert(LARGEST_RISE.to_owned(), rises.fold(0.0, f64::max));
    }
}

/// What a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Right answers, in percent.
    Right,
    /// Wrong answers, in percent.
    Wrong,
    /// By how many points the wrong answers rise at most from one epoch to the next.
    Rise,
    /// The mean loss.
    Loss,
    /// The mean loss on what a patch hides.
    UnderPatch,
    /// Wrong bits in a sequence.
    WrongBits,
    /// The same in sequences that are longer than those learnt from.
    WrongBitsFar,
}

impl Measure {
    /// This measure of a run.
    pub fn of(self, result: &RunResult) -> Option<f64> {
        match self {
            Self::Right => Some(100.0 * (1.0 - result.test?.error?)),
            Self::Wrong => Some(100.0 * result.test?.error?),
            Self::Rise => result.also.get(LARGEST_RISE).copied(),
            Self::Loss => Some(result.test?.loss),
            Self::UnderPatch => result.also.get(UNDER_PATCHES).copied(),
            Self::WrongBits => result.also.get(WRONG_BITS).copied(),
            Self::WrongBitsFar => result.also.get(WRONG_BITS_FAR).copied(),
        }
    }

    /// What an axis says.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Right => "right answers (%)",
            Self::Wrong => "wrong answers (%)",
            Self::Rise => "largest rise of wrong answers (points)",
            Self::Loss => "test loss",
            Self::UnderPatch => "test loss under the patch",
            Self::WrongBits => "wrong bits per sequence",
            Self::WrongBitsFar => "wrong bits per longer sequence",
        }
    }

    /// What a caption says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "Right answers in the test, in percent",
            Self::Wrong => "Wrong answers in the test, in percent",
            Self::Rise => {
                "Largest rise of the wrong answers in the test from one epoch to the next, in points"
            }
            Self::Loss => "Loss in the test",
            Self::UnderPatch => "Loss in the test under the patch",
            Self::WrongBits => "Wrong bits per sequence in the test",
            Self::WrongBitsFar => {
                "Wrong bits per sequence, where sequences are longer than any that were learnt from"
            }
        }
    }

    /// A word for the names of files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Rise => "rise",
            Self::Loss => "loss",
            Self::UnderPatch => "patch",
            Self::WrongBits => "bits",
            Self::WrongBitsFar => "far",
        }
    }

    /// Digits after the point.
    pub fn decimals(self) -> usize {
        match self {
            Self::Right => 1,
            Self::Wrong | Self::Rise | Self::WrongBits | Self::WrongBitsFar => 2,
            Self::Loss | Self::UnderPatch => 4,
        }
    }

    /// Whether more is better.
    pub fn rises(self) -> bool {
        self == Self::Right
    }

    /// Which number of a column is set in bold.
    pub fn best(self) -> Best {
        if self.rises() { Best::Highest } else { Best::Lowest }
    }

    /// Whether the first number is as good as the second, or short of it by no more than `within`.
    pub fn reaches(self, first: f64, second: f64, within: f64) -> bool {
        if self.rises() { first >= second - within } else { first <= second + within }
    }

    /// Whether the first number is better than the second, not only as good.
    pub fn beats(self, first: f64, second: f64) -> bool {
        if self.rises() { first > second } else { first < second }
    }

    /// What is worse than every number.
    pub fn worst(self) -> f64 {
        if self.rises() { f64::NEG_INFINITY } else { f64::INFINITY }
    }

    /// The better one.
    pub fn better(self, first: f64, second: f64) -> f64 {
        if self.rises() { first.max(second) } else { first.min(second) }
    }

    /// A number as the sentences say it.
    pub fn said(self, number: f64) -> String {
        format!("{number:.*}", self.decimals())
    }
}

/// The mean, if there is any number and none is missing.
pub fn mean(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Mean and deviation of some runs, and the best of them by a measure.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub spread: Spread,
    pub best: f64,
    /// That of the run with the least training loss.
    pub chosen: f64,
}

impl Summary {
    /// Of some runs; `None` if nothing was measured.
    pub fn of<'a>(measure: Measure, runs: impl Iterator<Item = &'a RunResult>) -> Option<Self> {
        let measured: Vec<&RunResult> = runs.filter(|result| measure.of(result).is_some()).collect();
        let numbers = || measured.iter().filter_map(|result| measure.of(result));
        let best = numbers().reduce(|a, b| measure.better(a, b))?;
        let chosen = least_training_loss(measured.iter().copied()).or(measured.first().copied())?;
        Some(Self { spread: Spread::of(numbers())?, best, chosen: measure.of(chosen)? })
    }
}

#[cfg(test)]
mod tests {
    use matnet_train::run::Score;

    use super::*;

    fn result(train: Option<f64>, test: f64) -> RunResult {
        let score = |loss: f64| Score { loss, error: None, examples: 1 };
        RunResult {
            kind: String::new(),
            form: String::new(),
            parameters: 1,
            seed: 1,
            epochs: 1,
            best_epoch: 1,
            train: train.map(score),
            valid: None,
            test: Some(score(test)),
            also: [].into(),
        }
    }

    #[test]
    fn the_largest_rise_is_between_epochs_of_the_test() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        let mut result = result(None, 1.0);
        note_rise(&run, &mut result);
        assert_eq!(Measure::Rise.of(&result), None, "nothing was watched");
        let lines =
            ["epoch,part,loss,error", "1,test,1,0.5", "1,valid,1,0.1", "2,test,1,0.125", "3,test,1,0.25"];
        std::fs::write(run.path("metrics.csv"), lines.join("\n")).unwrap();
        note_rise(&run, &mut result);
        assert_eq!(Measure::Rise.of(&result), Some(12.5));
    }

    #[test]
    fn the_chosen_run_is_the_first_with_the_least_training_loss() {
        let chosen = |runs: &[(Option<f64>, f64)]| {
            let results: Vec<RunResult> = runs.iter().map(|(train, test)| result(*train, *test)).collect();
            Summary::of(Measure::Loss, results.iter()).map(|summary| summary.chosen)
        };
        assert_eq!(chosen(&[(Some(2.0), 0.1), (Some(1.0), 0.3), (Some(1.0), 0.2)]), Some(0.3));
        assert_eq!(chosen(&[(None, 0.1), (Some(1.0), 0.3)]), Some(0.3));
        assert_eq!(chosen(&[(None, 0.4), (None, 0.3)]), Some(0.4), "nothing says which");
        assert_eq!(chosen(&[]), None);
    }
}
