//! The cells of a table.

use crate::text::{fixed, scientific};

/// A cell of a [`Table`](super::Table).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum TableCell {
    /// No value, written as `–`.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// A number.
    Number {
        /// The number.
        value: f64,
        /// Digits after the point.
        decimals: usize,
    },
    /// Mean and standard deviation over several runs.
    MeanStd {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
        /// Digits after the point, of both.
        decimals: usize,
    },
}

impl TableCell {
    /// A number with `decimals` digits after the point.
    pub fn number(value: f64, decimals: usize) -> Self {
        Self::Number { value, decimals }
    }

    /// A whole number.
    pub fn count(value: u64) -> Self {
        Self::Number { value: value as f64, decimals: 0 }
    }

    /// Mean and standard deviation, `97.1 ± 0.2`.
    pub fn mean_std(mean: f64, std: f64, decimals: usize) -> Self {
        Self::MeanStd { mean, std, decimals }
    }

    /// The number that decides which cell is highlighted.
    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Self::Empty | Self::Text(_) => None,
            Self::Number { value, .. } => Some(*value).filter(|value| value.is_finite()),
            Self::MeanStd { mean, .. } => Some(*mean).filter(|mean| mean.is_finite()),
        }
    }

    /// The text without the deviation: two cells with the same head are equally good.
    pub(super) fn head(&self) -> String {
        match self {
            Self::Empty => "–".into(),
            Self::Text(text) => text.clone(),
            Self::Number { value, decimals } | Self::MeanStd { mean: value, decimals, .. } => {
                written(*value, *decimals)
            }
        }
    }

    /// The text of the cell.
    pub(super) fn text(&self) -> String {
        match self {
            Self::MeanStd { std, decimals, .. } => format!("{} ± {}", self.head(), written(*std, *decimals)),
            cell => cell.head(),
        }
    }
}

/// The number with `decimals` digits, or in scientific notation if these would hide it or it is very long.
fn written(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(12);
    let size = value.abs();
    let hidden = size > 0.0 && size < 0.5 * 10f64.powi(-(decimals as i32)) && decimals > 0;
    if value.is_finite() && (size >= 1e15 || hidden) { scientific(value, 1) } else { fixed(value, decimals) }
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for TableCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
