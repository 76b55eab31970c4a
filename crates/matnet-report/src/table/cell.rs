//! What stands in a table.

use crate::number::{fixed, scientific};

/// What stands in a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing: no such measurement.
    #[default]
    Empty,
    /// Words.
    Text(String),
    /// A number with so many digits after the point.
    Number {
        /// The number.
        value: f64,
        /// Digits after the point.
        decimals: usize,
    },
    /// Mean and standard deviation over several runs.
    MeanSd {
        /// Their mean.
        mean: f64,
        /// Their standard deviation.
        sd: f64,
        /// Digits after the point, of both.
        decimals: usize,
    },
}

impl Cell {
    /// A number with so many digits after the point.
    pub fn number(value: f64, decimals: usize) -> Self {
        Self::Number { value, decimals }
    }

    /// A whole number.
    pub fn count(value: u64) -> Self {
        Self::Number { value: value as f64, decimals: 0 }
    }

    /// Mean and standard deviation, `97.1 ± 0.2`.
    pub fn mean_sd(mean: f64, sd: f64, decimals: usize) -> Self {
        Self::MeanSd { mean, sd, decimals }
    }

    /// The number that decides which cell is best and how rows are sorted.
    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Self::Empty | Self::Text(_) => None,
            Self::Number { value, .. } => Some(*value).filter(|value| value.is_finite()),
            Self::MeanSd { mean, .. } => Some(*mean).filter(|mean| mean.is_finite()),
        }
    }

    /// What is written, without the deviation: two cells with the same head are equally good.
    pub(super) fn head(&self) -> String {
        match self {
            Self::Empty => "–".into(),
            Self::Text(text) => text.clone(),
            Self::Number { value, decimals } | Self::MeanSd { mean: value, decimals, .. } => {
                written(*value, *decimals)
            }
        }
    }

    /// All that is written.
    pub(super) fn text(&self) -> String {
        match self {
            Self::MeanSd { sd, decimals, .. } => format!("{} ± {}", self.head(), written(*sd, *decimals)),
            cell => cell.head(),
        }
    }
}

/// As asked, but never a number that the digits hide or that fills the page.
fn written(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(12);
    let size = value.abs();
    let hidden = size > 0.0 && size < 0.5 * 10f64.powi(-(decimals as i32)) && decimals > 0;
    if value.is_finite() && (size >= 1e15 || hidden) { scientific(value, 1) } else { fixed(value, decimals) }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
