//! `[data]` of samples.

use matnet::ConfigError;
use matnet_data::catalog::{self, MovingSequences};
use matnet_data::local::{Layout, ReadOptions, TargetKind as TargetType};
use matnet_data::transform::augment::Augment;
use matnet_data::transform::log::Log;
use matnet_data::transform::mel::LogMel;
use matnet_data::transform::missing::FillMethod;
use matnet_data::transform::scale::{ScaleMethod, ScalePer};
use matnet_data::transform::stft::Stft;
use matnet_data::transform::windows::{NormalizeWindow, Windows};
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
    /// The validation samples, where they are data of their own. Default: drawn from the source.
    #[serde(default)]
    pub valid: Option<String>,
    /// The test samples, where they are data of their own. Default: those of the source, or drawn from it.
    #[serde(default)]
    pub test: Option<String>,
    /// Whether the source stands for itself alone, since other samples are named, too.
    #[serde(skip)]
    pub(super) alone: bool,
    /// What the targets are, where type and shape of `y` leave a choice. Default: they decide.
    #[serde(default)]
    pub target: Option<TargetType>,
    /// The columns of a table that are the targets.
    #[serde(default)]
    pub target_column: Option<Columns>,
    /// The columns of a table that are the features. Default: all columns of numbers that are no targets.
    #[serde(default)]
    pub columns: Option<Columns>,
    /// Rows and columns of the matrix that the features of a table fill, row by row. Default: one column.
    #[serde(default)]
    pub shape: Option<[usize; 2]>,
    /// Whether series, or their spectrograms, are sequences, or one matrix each. Default: sequences from `.ts` and from datasets with
    /// a name, matrices from folders.
    #[serde(default)]
    pub layout: Option<Layout>,
    /// Rows and columns to which pictures are resized. Default: they must have one size.
    #[serde(default)]
    pub image_size: Option<[usize; 2]>,
    /// Whether pictures keep their colours, as three matrices below each other. Default: no, grey levels.
    #[serde(default)]
    pub color: Option<bool>,
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
    /// Forecasting: rows of a long table that the net reads.
    #[serde(default)]
    pub window: Option<usize>,
    /// Forecasting: the next rows, which the net predicts.
    #[serde(default)]
    pub horizon: Option<usize>,
    /// Forecasting: take the level of each window out of it, and put it back into its prediction. Default: no.
    #[serde(default)]
    pub normalize_window: Option<NormalizeWindow>,
    /// What is done about missing values (NaN). Default: they are an error.
    #[serde(default, skip_serializing_if = "Missing::is_error")]
    pub missing: Missing,
    /// Whether rows that say which values were missing are appended to every matrix. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub missing_mask: bool,
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
    /// Whether targets are standardized for training, fitted on the training split, and predictions scaled back. Default: yes for
    /// values, no for matrices.
    #[serde(default)]
    pub scale_target: Option<bool>,
    /// Turns signals into spectrograms. Default: no.
    #[serde(default)]
    pub spectrogram: Option<Stft>,
    /// Turns signals into log-mel spectrograms. Default: no.
    #[serde(default)]
    pub log_mel: Option<LogMel>,
    /// Takes the logarithm of all values. Default: no.
    #[serde(default)]
    pub log: Option<Log>,
    /// Random changes of training samples. Default: none.
    #[serde(default)]
    pub augment: Option<Augment>,
    /// The splits.
    #[serde(default)]
    pub split: SampleSplitConfig,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What is done about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// They become 0.
    Zero,
    /// They become the mean of their channel in the training split.
    Mean,
    /// They become the last known value of their channel in the same sample; the mean where none is known yet.
    Forward,
}

impl Missing {
    fn is_error(&self) -> bool {
        *self == Self::Error
    }

    pub(super) fn method(self) -> Option<FillMethod> {
        match self {
            Self::Error => None,
            Self::Zero => Some(FillMethod::Zero),
            Self::Mean => Some(FillMethod::Mean),
            Self::Forward => Some(FillMethod::Forward),
        }
    }
}

/// One column of a table, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a column, or a list of names, expected")]
pub enum Columns {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Columns {
    fn names(columns: Option<&Self>) -> Vec<String> {
        match columns {
            None => Vec::new(),
            Some(Self::One(name)) => vec![name.clone()],
            Some(Self::Several(names)) => names.clone(),
        }
    }
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
    /// The rule. Default: official where the dataset has an official test split, else stratified for classes and random for
    /// other targets.
    pub rule: Option<SplitRule>,
    /// The validation split: a fraction, or a number of samples. Default: 0.1.
    pub valid: Amount,
    /// The test split; an official one and those of folds decide this themselves. Default: 0.2.
    pub test: Option<Amount>,
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

    fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        self.valid.check("split.valid")?;
        if let Some(test) = self.test {
            test.check("split.test")?;
            if self.rule.is_some_and(SplitRule::has_folds) {
                return wrong("split.test", test.to_string(), "one fold is the test split; leave it out");
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

impl SampleDataConfig {
    /// The same for another source, all of whose samples are used.
    pub(crate) fn for_source(&self, source: &str) -> Self {
        let sequences = self.sequences.filter(|_| self.source == source);
        let source = source.to_owned();
        let alone = self.alone || self.valid.is_some() || self.test.is_some();
        Self { source, sequences, valid: None, test: None, limit: None, alone, ..self.clone() }
    }

    /// How files are read.
    pub(super) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            target: self.target,
            layout: self.layout,
            signals: self.spectrogram.is_some() || self.log_mel.is_some(),
            // Where validation or test data are named, a half of a dataset is only itself.
            single_file: self.valid.is_some() || self.test.is_some() || self.alone,
            long_table: self.window.is_some(),
            image_size: self.image_size,
            color: self.color.unwrap_or(false),
            target_columns: Columns::names(self.target_column.as_ref()),
            columns: Columns::names(self.columns.as_ref()),
            shape: self.shape,
        }
    }

    /// Whether inputs are used as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.missing == Missing::Error
            && self.spectrogram.is_none()
            && self.log_mel.is_none()
            && self.log.is_none()
            && !self.permute
            && self.scale == Scale::None
    }

    /// Whether the steps of spectrograms are put beside each other, to one matrix per sample.
    pub(super) fn joins_spectra(&self) -> bool {
        self.layout == Some(Layout::Matrix) && (self.spectrogram.is_some() || self.log_mel.is_some())
    }

    /// The windows of a forecast, if it is one.
    pub(super) fn windows(&self) -> Option<Windows> {
        Some(Windows { window: self.window?, horizon: self.horizon? })
    }

    fn check_forecast(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        match (self.window, self.horizon) {
            (Some(window), None) => {
                return wrong(
                    "window",
                    window.to_string(),
                    "forecasting uses it, with data.horizon: the rows to predict",
                );
            }
            (None, Some(horizon)) => {
                return wrong(
                    "horizon",
                    horizon.to_string(),
                    "forecasting uses it, with data.window: the rows to read",
                );
            }
            (None, None) => {
                return match self.normalize_window {
                    Some(how) => {
                        let value = format!("{how:?}").to_lowercase();
                        wrong(
                            "normalize_window",
                            value,
                            "only forecasting uses it, with data.window and data.horizon",
                        )
                    }
                    None => Ok(()),
                };
            }
            (Some(_), Some(_)) => {}
        }
        let others = [
            ("valid", self.valid.is_some()),
            ("test", self.test.is_some()),
            ("limit", self.limit.is_some()),
            ("context_length", self.context_length.is_some()),
            ("occlusion", self.occlusion.is_some()),
            ("permute", self.permute),
            ("missing", self.missing != Missing::Error),
            ("spectrogram", self.spectrogram.is_some()),
            ("log_mel", self.log_mel.is_some()),
            ("log", self.log.is_some()),
            ("scale_per", self.scale_per.is_some()),
            ("scale_target", self.scale_target.is_some()),
            ("augment", self.augment.is_some()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => {
                wrong(key, "is given".to_owned(), "windows over a table do not use it; leave it out")
            }
            None => Ok(()),
        }
    }

    /// The first key that only files use, if one is given.
    fn file_key(&self) -> Option<&'static str> {
        let given = [
            ("target", self.target.is_some()),
            ("target_column", self.target_column.is_some()),
            ("columns", self.columns.is_some()),
            ("shape", self.shape.is_some()),
            ("image_size", self.image_size.is_some()),
            ("color", self.color.is_some()),
        ];
        given.into_iter().find_map(|(key, given)| given.then_some(key))
    }

    /// Everything that can be checked without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        self.split.check()?;
        if let Some(per) = self.scale_per.filter(|_| self.scale == Scale::None) {
            return wrong(
                "scale_per",
                format!("{per:?}").to_lowercase(),
                "only scale uses it, and there is none",
            );
        }
        self.check_forecast()?;
        if self.missing_mask && self.missing == Missing::Error {
            let expected = "only data.missing uses it, and that is \"error\"";
            return wrong("missing_mask", "true".to_owned(), expected);
        }
        if self.missing_mask && (self.spectrogram.is_some() || self.log_mel.is_some()) {
            return wrong(
                "missing_mask",
                "true".to_owned(),
                "a spectrogram has no missing values; leave it out",
            );
        }
        if self.spectrogram.is_some() && self.log_mel.is_some() {
            return wrong(
                "log_mel",
                "is given".to_owned(),
                "data.spectrogram is given, too; one of them expected",
            );
        }
        for (key, problem) in [
            ("log_mel", self.log_mel.and_then(|mel| mel.check().err())),
            ("log", self.log.and_then(|log| log.check().err())),
            ("augment", self.augment.and_then(|augment| augment.check().err())),
        ] {
            if let Some(problem) = problem {
                return wrong(key, problem.to_string(), "see the table of keys");
            }
        }
        for (key, value) in [
            ("limit", self.limit),
            ("sequences", self.sequences),
            ("context_length", self.context_length),
            ("window", self.window),
            ("horizon", self.horizon),
        ] {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        if let Some(key) = self.file_key().filter(|_| catalog::get(&self.source).is_ok()) {
            let value = format!("for {}", self.source);
            return wrong(key, value, "only files use it, and this is a dataset with a name");
        }
        let generated = MovingSequences::NAMES.contains(&self.source.as_str());
        if self.layout.is_some() && generated {
            let value = format!("for {}", self.source);
            return wrong("layout", value, "frames are matrices already; leave it out");
        }
        if let Some((key, path)) = [("valid", &self.valid), ("test", &self.test)]
            .into_iter()
            .find_map(|(key, path)| Some((key, path.as_ref()?)).filter(|_| generated))
        {
            let expected =
                format!("the sequences of {} are generated, and split as data.split says", self.source);
            return wrong(key, path.clone(), &expected);
        }
        // 0 is what a run writes down.
        let drawn = ![SampleSplitConfig::default().valid, Amount::Count(0)].contains(&self.split.valid);
        if self.valid.is_some() && drawn {
            let value = self.split.valid.to_string();
            return wrong("split.valid", value, "data.valid is the validation split; leave it out");
        }
        if let Some(test) = self.split.test.filter(|_| self.test.is_some()) {
            return wrong("split.test", test.to_string(), "data.test is the test split; leave it out");
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
