//! `[data]` of samples.

use matnet::ConfigError;
use matnet_data::catalog::MovingSequences;
use matnet_data::transform::scale::{ScaleMethod, ScalePer};
use matnet_data::transform::stft::Stft;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::config::Amount;
use crate::error::at;

/// Which dataset, its transforms and its splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleDataConfig {
    /// A dataset's name (`matnet data list`), or the path of your own data.
    pub source: String,
    /// Seeds what is generated, permuted and split at random. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Use so many samples, drawn at random. Default: all.
    #[serde(default)]
    pub limit: Option<usize>,
    /// How many sequences of moving digits. Default: 10,000.
    #[serde(default)]
    pub sequences: Option<usize>,
    /// Steps of a sequence that a seq2seq net reads; it predicts the others. For sequences without targets.
    #[serde(default)]
    pub context_length: Option<usize>,
    /// Rows and columns of an occlusion: a black patch at a random place of every validation and test matrix. The target stays
    /// whole. Default: none.
    #[serde(default)]
    pub occlusion: Option<[usize; 2]>,
    /// Shuffle rows and columns, in the same way for every matrix. Default: no.
    #[serde(default)]
    pub permute: bool,
    /// How values are scaled; fitted on the training split. Default: not at all.
    #[serde(default)]
    pub scale: Scale,
    /// Which values share a scale. Default: all.
    #[serde(default)]
    pub scale_per: Option<ScalePer>,
    /// Turns signals into spectrograms. Default: no.
    #[serde(default)]
    pub spectrogram: Option<Stft>,
    /// The splits.
    #[serde(default)]
    pub split: SampleSplitConfig,
}

/// How values are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Not at all.
    #[default]
    None,
    /// To mean 0 and standard deviation 1.
    Standardize,
    /// To minimum 0 and maximum 1.
    MinMax,
}

impl Scale {
    pub(crate) fn method(self) -> Option<ScaleMethod> {
        match self {
            Self::None => None,
            Self::Standardize => Some(ScaleMethod::Standardize),
            Self::MinMax => Some(ScaleMethod::MinMax),
        }
    }
}

/// How samples are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleSplitConfig {
    /// The rule. Default: official where the dataset has an official test split, else random.
    pub rule: Option<SplitRule>,
    /// The validation split: a fraction, or a number of samples. Default: 0.1.
    pub valid: Amount,
    /// The test split; an official one decides this itself. Default: 0.2.
    pub test: Option<Amount>,
    /// Whether each seed of a run has its own split. Default: no, all share one.
    pub per_seed: bool,
}

impl Default for SampleSplitConfig {
    fn default() -> Self {
        Self { rule: None, valid: Amount::Fraction(0.1), test: None, per_seed: false }
    }
}

/// The rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// At random.
    Random,
    /// The official test split; validation at random from the rest.
    Official,
    /// At random within each group (subject).
    WithinGroups,
    /// Whole groups together, stratified by class; `valid` and `test` may be numbers of groups.
    BetweenGroups,
}

impl SampleDataConfig {
    /// Everything that can be checked without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        self.split.valid.check("split.valid")?;
        if let Some(test) = self.split.test {
            test.check("split.test")?;
        }
        if let Some(per) = self.scale_per.filter(|_| self.scale == Scale::None) {
            return wrong(
                "scale_per",
                format!("{per:?}").to_lowercase(),
                "only scale uses it, and there is none",
            );
        }
        for (key, value) in
            [("limit", self.limit), ("sequences", self.sequences), ("context_length", self.context_length)]
        {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        if self.sequences.is_some() && !MovingSequences::NAMES.contains(&self.source.as_str()) {
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
