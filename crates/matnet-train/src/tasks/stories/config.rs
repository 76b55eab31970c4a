//! `[data]` of stories.

use std::collections::BTreeSet;

use matnet::ConfigError;
use matnet_data::catalog::readers::babi::BabiSize;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::config::Amount;
use crate::error::at;

/// Which stories, and how their questions are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StoryDataConfig {
    /// `babi`, `stories`, or a path: a folder or an archive of bAbI, or a text file.
    pub source: String,
    /// The tasks by number; one net learns them all. Default: all.
    #[serde(default)]
    pub tasks: Option<Vec<usize>>,
    /// The training questions per task of bAbI: 1k or 10k. Default: 1k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<BabiSize>,
    /// Seeds the split, and stories that are generated. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// The splits.
    #[serde(default)]
    pub split: StorySplitConfig,
}

/// How questions are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct StorySplitConfig {
    /// Validation questions, drawn from those to train on: a number, or a fraction. Default: 0.1.
    pub valid: Amount,
    /// Whole stories for the test split, where the source has none. Default: 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Amount>,
    /// Whether every seed has its own split. Default: no, all share one.
    pub per_seed: bool,
}

impl Default for StorySplitConfig {
    fn default() -> Self {
        Self { valid: Amount::Fraction(0.1), test: None, per_seed: false }
    }
}

impl StoryDataConfig {
    /// Everything that can be checked without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        self.split.valid.check("split.valid")?;
        if let Some(test) = self.split.test {
            test.check("split.test")?;
        }
        match &self.tasks {
            Some(tasks) if tasks.is_empty() => {
                Err(ConfigError::new("tasks", "[]", "name at least one; leave it out for all"))
            }
            Some(tasks) if tasks.iter().collect::<BTreeSet<_>>().len() < tasks.len() => {
                Err(ConfigError::new("tasks", format!("{tasks:?}"), "each once"))
            }
            _ => Ok(()),
        }
    }
}
