//! `[data.split]` of samples.

use matnet::ConfigError;
use serde::{Deserialize, Serialize};

use crate::config::Amount;

/// How samples are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SampleSplitConfig {
    /// The rule. Default: official where the dataset has an official test split, else stratified for classes and random for
    /// other targets.
    pub rule: Option<SplitRule>,
    /// The validation split: a fraction, or a number of samples. Default: 0.1.
    pub valid: Amount,
    /// The test split; an official one and those of folds decide this themselves. Default: 0.2.
    pub test: Option<Amount>,
    /// How many of the training samples are used: a fraction, or a number of samples. Default: all that the other splits leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<Amount>,
    /// Into how many folds k-fold and group-k-fold divide the samples. Default: 5.
    pub folds: Option<usize>,
    /// Which fold is the test split, from 0; for leave-one-group-out, which group. Default: 0.
    pub fold: Option<usize>,
    /// Whether each seed of a run has its own split. Default: no, all share one.
    pub per_seed: bool,
}

impl Default for SampleSplitConfig {
    fn default() -> Self {
        Self {
            rule: None,
            valid: Amount::Fraction(0.1),
            test: None,
            train: None,
            folds: None,
            fold: None,
            per_seed: false,
        }
    }
}

impl SampleSplitConfig {
    /// The number of folds, unless the groups decide it.
    pub fn folds(&self) -> usize {
        self.folds.unwrap_or(FOLDS)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        self.valid.check("split.valid")?;
        if let Some(test) = self.test {
            test.check("split.test")?;
            if self.rule.is_some_and(SplitRule::has_folds) {
                return wrong("split.test", test.to_string(), "one fold is the test split; leave it out");
            }
        }
        if let Some(train) = self.train {
            train.check("split.train")?;
            if train.fraction(1) == 0.0 {
                return wrong("split.train", train.to_string(), "must be above 0");
            }
        }
        let counted = matches!(self.rule, Some(SplitRule::KFold | SplitRule::GroupKFold));
        match self.folds {
            Some(folds) if !counted => {
                return wrong(
                    "split.folds",
                    folds.to_string(),
                    "only the rules k-fold and group-k-fold use it",
                );
            }
            Some(folds) if folds < 2 => return wrong("split.folds", folds.to_string(), "must be at least 2"),
            _ => {}
        }
        match self.fold {
            Some(fold) if !self.rule.is_some_and(SplitRule::has_folds) => {
                let expected = "only the rules k-fold, group-k-fold and leave-one-group-out use it";
                wrong("split.fold", fold.to_string(), expected)
            }
            Some(fold) if counted && fold >= self.folds() => {
                let expected = format!("0 to {}: there are {} folds", self.folds() - 1, self.folds());
                wrong("split.fold", fold.to_string(), &expected)
            }
            _ => Ok(()),
        }
    }
}

/// Folds, unless the config says how many.
const FOLDS: usize = 5;

/// The rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// At random, without regard to classes.
    Random,
    /// At random within each class, so that every split has the classes in the same shares.
    Stratified,
    /// The official test split; validation at random from the rest.
    Official,
    /// At random within each group (subject).
    WithinGroups,
    /// Whole groups together, stratified by class; `valid` and `test` may be numbers of groups.
    BetweenGroups,
    /// One of `folds` folds is the test split, each stratified by class; validation at random from the rest.
    KFold,
    /// The same with whole groups in each fold.
    GroupKFold,
    /// One group is the test split; validation groups from the rest.
    LeaveOneGroupOut,
    /// In the order of the data: training first, then validation, then test.
    Chronological,
}

impl SplitRule {
    /// Whether one of several folds is the test split.
    pub fn has_folds(self) -> bool {
        matches!(self, Self::KFold | Self::GroupKFold | Self::LeaveOneGroupOut)
    }

    /// Whether groups decide which samples may be together in a split.
    pub fn uses_groups(self) -> bool {
        matches!(self, Self::WithinGroups | Self::BetweenGroups | Self::GroupKFold | Self::LeaveOneGroupOut)
    }

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Stratified => "stratified",
            Self::Official => "official",
            Self::WithinGroups => "within-groups",
            Self::BetweenGroups => "between-groups",
            Self::KFold => "k-fold",
            Self::GroupKFold => "group-k-fold",
            Self::LeaveOneGroupOut => "leave-one-group-out",
            Self::Chronological => "chronological",
        }
    }
}
