//! `[data]`

use matnet::ConfigError;
use matnet_data::source::moving::Moving;
use matnet_data::transform::scale::{Kind, Per};
use matnet_data::transform::stft::Stft;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which data, what is done to them, and how they are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// A dataset's name (`matnet data list`), or the path of your own data.
    pub source: String,
    /// The seed of what is generated, permuted and split. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Take so many samples at random, not all. Default: all.
    #[serde(default)]
    pub limit: Option<usize>,
    /// How many sequences of moving digits. Default: 10,000.
    #[serde(default)]
    pub sequences: Option<usize>,
    /// Of a sequence without targets, how many matrices are given; the others are to be predicted.
    #[serde(default)]
    pub past: Option<usize>,
    /// Rows and columns of a black patch that the matrices of the validation and test parts carry, at a random place;
    /// what was there is still what is wanted. Default: none.
    #[serde(default)]
    pub patch: Option<[usize; 2]>,
    /// Shuffle the rows and the columns, in the same way for every matrix. Default: no.
    #[serde(default)]
    pub permute: bool,
    /// How numbers are scaled; fitted on the training part. Default: not at all.
    #[serde(default)]
    pub scale: Scale,
    /// Which numbers share a scale. Default: all.
    #[serde(default = "whole")]
    pub scale_per: Per,
    /// Signals become spectrograms, as the table says. Default: they do not.
    #[serde(default)]
    pub spectrogram: Option<Stft>,
    /// The parts.
    #[serde(default)]
    pub split: SplitConfig,
}

fn whole() -> Per {
    Per::Whole
}

/// How numbers are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Not at all.
    #[default]
    None,
    /// To mean 0 and deviation 1.
    Standardise,
    /// To smallest 0 and largest 1.
    MinMax,
}

impl Scale {
    pub(crate) fn kind(self) -> Option<Kind> {
        match self {
            Self::None => None,
            Self::Standardise => Some(Kind::Standardise),
            Self::MinMax => Some(Kind::MinMax),
        }
    }
}

/// How the data are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SplitConfig {
    /// The rule. Default: official where the data come with a test half, else fraction.
    pub rule: Option<SplitRule>,
    /// What decides when to stop: a fraction, or a count. Default: 0.1.
    pub valid: Amount,
    /// What the result is measured on; an official test half decides this itself. Default: 0.2.
    pub test: Amount,
    /// Whether each seed of a run has its own split. Default: no, all share one.
    pub per_run: bool,
}

impl Default for SplitConfig {
    fn default() -> Self {
        Self { rule: None, valid: Amount::Share(0.1), test: Amount::Share(0.2), per_run: false }
    }
}

/// The rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// At random.
    Fraction,
    /// The test half that came with the data; validation at random from the rest.
    Official,
    /// At random within each group (subject).
    WithinGroups,
    /// Whole groups.
    BetweenGroups,
}

/// A part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a fraction below 1, or a whole number, expected")]
pub enum Amount {
    /// So many.
    Count(usize),
    /// A fraction of all.
    Share(f64),
}

impl Amount {
    /// As a fraction of `total`.
    pub(crate) fn share(self, total: usize) -> f64 {
        match self {
            Self::Share(share) => share,
            Self::Count(count) => count as f64 / total.max(1) as f64,
        }
    }

    /// As a number of `total`.
    pub(crate) fn count(self, total: usize) -> usize {
        match self {
            Self::Share(share) => (share * total as f64).round() as usize,
            Self::Count(count) => count,
        }
    }

    pub(crate) fn check(self, key: &str) -> Result<(), ConfigError> {
        match self {
            Self::Share(share) if !(0.0..1.0).contains(&share) => Err(ConfigError::new(
                key,
                share.to_string(),
                "a fraction below 1, or a whole number, expected",
            )),
            _ => Ok(()),
        }
    }
}

impl DataConfig {
    /// Everything that can be checked without the data.
    pub fn check(&self) -> Result<()> {
        let wrong = |key: &str, value: String, expected: &str| {
            Err(Error::key("data", ConfigError::new(key, value, expected)))
        };
        self.split.valid.check("split.valid").map_err(|error| Error::key("data", error))?;
        self.split.test.check("split.test").map_err(|error| Error::key("data", error))?;
        for (key, value) in [("limit", self.limit), ("sequences", self.sequences), ("past", self.past)] {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        if self.sequences.is_some() && !Moving::NAMES.contains(&self.source.as_str()) {
            let value = format!("for {}", self.source);
            return wrong(
                "sequences",
                value,
                "only moving-mnist and moving-digits generate sequences; `limit` takes fewer samples",
            );
        }
        Ok(())
    }
}
