//! What is measured in the test, and which of two numbers is the better one.

use matnet_report::table::Best;
use matnet_train::compare::Spread;
use matnet_train::run::RunResult;
use serde::Deserialize;

/// What a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Right answers, in percent.
    Right,
    /// Wrong answers, in percent.
    Wrong,
    /// The mean loss.
    Loss,
    /// The mean loss on what a patch hides.
    UnderPatch,
}

impl Measure {
    /// This measure of a run.
    pub fn of(self, result: &RunResult) -> Option<f64> {
        match self {
            Self::Right => Some(100.0 * (1.0 - result.test?.error?)),
            Self::Wrong => Some(100.0 * result.test?.error?),
            Self::Loss => Some(result.test?.loss),
            Self::UnderPatch => result.under_patches,
        }
    }

    /// What an axis says.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Right => "right answers (%)",
            Self::Wrong => "wrong answers (%)",
            Self::Loss => "test loss",
            Self::UnderPatch => "test loss under the patch",
        }
    }

    /// What a caption says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "Right answers in the test, in percent",
            Self::Wrong => "Wrong answers in the test, in percent",
            Self::Loss => "Loss in the test",
            Self::UnderPatch => "Loss in the test under the patch",
        }
    }

    /// A word for the names of files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Loss => "loss",
            Self::UnderPatch => "patch",
        }
    }

    /// Digits after the point.
    pub fn decimals(self) -> usize {
        match self {
            Self::Right => 1,
            Self::Wrong => 2,
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

    /// The better one.
    pub fn better(self, first: f64, second: f64) -> f64 {
        if self.rises() { first.max(second) } else { first.min(second) }
    }

    /// A number as the sentences say it.
    pub fn said(self, number: f64) -> String {
        format!("{number:.*}", self.decimals())
    }
}

/// Mean and deviation of some runs, and the best of them by a measure.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub spread: Spread,
    pub best: f64,
}

impl Summary {
    /// Of some numbers; `None` if there are none.
    pub fn of(measure: Measure, numbers: &[f64]) -> Option<Self> {
        let best = numbers.iter().copied().reduce(|a, b| measure.better(a, b))?;
        Some(Self { spread: Spread::of(numbers.iter().copied())?, best })
    }
}
