//! `[data]` of samples.

mod check;
mod split;

use matnet_data::catalog;
use matnet_data::local::{self, Layout, ReadOptions, TargetKind};
use matnet_data::transform::augment::Augment;
use matnet_data::transform::log::Log;
use matnet_data::transform::mel::LogMel;
use matnet_data::transform::missing::FillMethod;
use matnet_data::transform::scale::{ScaleMethod, ScalePer};
use matnet_data::transform::stft::{Stft, StftValue};
use matnet_data::transform::windows::{NormalizeWindow, Windows};
use serde::{Deserialize, Serialize};

pub use self::split::{SampleSplitConfig, SplitRule};

/// Which dataset, its transforms and its splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
    /// The samples per second of the recordings that other files of a run must have, too.
    #[serde(skip)]
    pub(super) sample_rate: Option<u32>,
    /// The days from one row to the next that other tables of a run must have, too.
    #[serde(skip)]
    pub(super) row_step: Option<f64>,
    /// Whether the sequences of other files of a run are expected to have different lengths, too.
    #[serde(skip)]
    pub(super) lengths_differ: bool,
    /// What the targets are, where type and shape of `y` leave a choice. Default: they decide.
    #[serde(default)]
    pub target: Option<TargetKind>,
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
    /// Shuffle blocks of so many samples, and samples within some blocks, in place of all samples. Default: all.
    #[serde(default)]
    pub shuffle_block: Option<usize>,
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

impl SampleDataConfig {
    /// The same for another source, all of whose samples are used.
    pub(crate) fn for_source(&self, source: &str) -> Self {
        let sequences = self.sequences.filter(|_| self.source == source);
        let alone = self.alone || self.valid.is_some() || self.test.is_some();
        let columns = self.columns.clone().filter(|_| local::has_columns(source));
        let source = source.to_owned();
        Self { source, sequences, columns, valid: None, test: None, limit: None, alone, ..self.clone() }
    }

    /// The same with the columns of its table written down: other files of a run are read by these names.
    pub(super) fn with_columns(&self, names: &[String]) -> Self {
        let mut config = self.clone();
        let in_file = !names.is_empty() && catalog::get(&config.source).is_err();
        if in_file && config.columns.is_none() {
            config.columns = Some(Columns::Several(names.to_vec()));
        }
        config
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
            row_step: self.row_step,
            lengths_differ: self.lengths_differ,
            sample_rate: self.sample_rate.map(f64::from).or(self.transform_rate()),
            image_size: self.image_size,
            color: self.color.unwrap_or(false),
            target_columns: Columns::names(self.target_column.as_ref()),
            columns: Columns::names(self.columns.as_ref()),
            shape: self.shape,
        }
    }

    /// The samples per second that a transform counts on.
    fn transform_rate(&self) -> Option<f64> {
        let density = |stft: &&Stft| stft.value == StftValue::Density;
        let of_stft = self.spectrogram.as_ref().filter(density).map(|stft| stft.sample_rate);
        self.log_mel.as_ref().map(|mel| mel.sample_rate).or(of_stft)
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
}
