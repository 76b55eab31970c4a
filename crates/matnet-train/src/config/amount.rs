//! The size of a split.

use matnet::ConfigError;
use serde::{Deserialize, Serialize};

/// The size of a split: a number of examples, or a fraction of all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a fraction below 1, or a whole number, expected")]
pub enum Amount {
    /// A number of examples.
    Count(usize),
    /// A fraction of all.
    Fraction(f64),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Fraction(fraction) => fraction.fmt(f),
        }
    }
}

impl Amount {
    /// As a fraction of `total`.
    pub(crate) fn fraction(self, total: usize) -> f64 {
        match self {
            Self::Fraction(fraction) => fraction,
            Self::Count(count) => count as f64 / total.max(1) as f64,
        }
    }

    /// As a number of `total`.
    pub(crate) fn count(self, total: usize) -> usize {
        match self {
            Self::Fraction(fraction) => (fraction * total as f64).round() as usize,
            Self::Count(count) => count,
        }
    }

    pub(crate) fn check(self, key: &str) -> Result<(), ConfigError> {
        match self {
            Self::Fraction(fraction) if !(0.0..1.0).contains(&fraction) => Err(ConfigError::new(
                key,
                fraction.to_string(),
                "a fraction below 1, or a whole number, expected",
            )),
            _ => Ok(()),
        }
    }
}
