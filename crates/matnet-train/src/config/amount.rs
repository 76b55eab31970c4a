//! The size of a split.

use matnet::ConfigError;
use matnet_report::text::counted;
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

    /// The same; a fraction above 0 that comes to none is an error.
    pub(crate) fn count_some(self, key: &str, total: usize, unit: &str) -> Result<usize, ConfigError> {
        match (self, self.count(total)) {
            (Self::Fraction(fraction), 0) if fraction > 0.0 => Err(ConfigError::new(
                key,
                format!("{fraction} of {} are none", counted(total, unit)),
                "a larger fraction, or 0 for no such split",
            )),
            (_, count) => Ok(count),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_few_is_some_or_an_error() {
        let of = |amount: Amount, total| amount.count_some("split.test", total, "story");
        assert_eq!(of(Amount::Fraction(0.2), 3).unwrap(), 1);
        assert_eq!(of(Amount::Fraction(0.0), 3).unwrap(), 0);
        assert_eq!(of(Amount::Count(0), 3).unwrap(), 0);
        let error = of(Amount::Fraction(0.2), 1).unwrap_err().to_string();
        assert_eq!(error, "split.test: 0.2 of 1 story are none; a larger fraction, or 0 for no such split");
    }
}
