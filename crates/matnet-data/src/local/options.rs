//! What the files do not say themselves.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What the targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A class per sample or, where they are as many as steps, per step.
    Class,
    /// One or several real values per sample.
    Value,
    /// Several labels at once: 0 or 1 for each.
    Labels,
    /// A matrix, or a sequence of matrices, per sample.
    Matrix,
}

/// How series are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A sequence of columns, one per step: `[n, time, channels, 1]`. Lengths may differ.
    Sequence,
    /// One matrix per series: `[n, channels, time]`, or as the file has it. All have the same length.
    Matrix,
}

/// How to read samples, where the files leave a choice. An option without effect on what is read is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What the targets are; `None`: their type and shape decide.
    pub target: Option<TargetKind>,
    /// How series are laid out; `None`: sequences from `.ts`, matrices from folders of tables and of `.wav`.
    pub layout: Option<Layout>,
    /// The samples are signals that become spectrograms: series are read as `[n, channels, time]`, and
    /// [`Samples::lengths`](crate::Samples::lengths) counts along the last axis. It never is an error.
    pub signals: bool,
    /// Read only the file that is named, and not the other half of a `.ts` dataset that lies beside it. It never is an error.
    pub single_file: bool,
    /// The file is one long table, of which windows are made: see [`load_table`](super::load_table). It never is an error.
    pub long_table: bool,
    /// The samples per second that recordings must have; those with another rate are an error. It never is an error itself.
    pub sample_rate: Option<f64>,
    /// The days from one row of a long table to the next; one whose dates have another step is an error. It never is an error itself.
    pub row_step: Option<f64>,
    /// The sequences that were trained on had different lengths; in arrays without lengths, sequences that end in zeros are an error. It never is
    /// an error itself.
    pub lengths_differ: bool,
    /// Rows and columns to which pictures are resized.
    pub image_size: Option<[usize; 2]>,
    /// Pictures keep their colours, as three matrices below each other: `[n, 3 * rows, cols]`.
    pub color: bool,
    /// The columns of a table that are the targets. With it, or with `columns` or `shape`, a text table has a sample per row.
    pub target_columns: Vec<String>,
    /// The columns of a table that are the features; empty: all columns of numbers that are no targets.
    pub columns: Vec<String>,
    /// Rows and columns of the matrix that the features of a table fill, row by row; `None`: one column.
    pub shape: Option<[usize; 2]>,
}

/// The options by the names of their keys in a config, and where each has an effect.
const PLACES: [(&str, &str); 7] = [
    ("target", "targets"),
    ("layout", "series: .ts, .wav, and folders of tables or .npy"),
    ("image_size", "pictures"),
    ("color", "pictures"),
    ("target_column", "tables with a sample per row"),
    ("columns", "tables with a sample per row"),
    ("shape", "tables with a sample per row"),
];

impl ReadOptions {
    /// Whether they ask for a table with a sample per row.
    pub(super) fn ask_for_rows(&self) -> bool {
        !self.target_columns.is_empty() || !self.columns.is_empty() || self.shape.is_some()
    }

    /// Fails if an option is set that is not among those that `what` takes.
    pub(super) fn allow(&self, path: &Path, what: &str, allowed: &[&str]) -> Result<()> {
        let set = [
            self.target.is_some(),
            self.layout.is_some(),
            self.image_size.is_some(),
            self.color,
            !self.target_columns.is_empty(),
            !self.columns.is_empty(),
            self.shape.is_some(),
        ];
        let mut keys = PLACES.iter().zip(set).filter(|((key, _), set)| *set && !allowed.contains(key));
        match keys.next() {
            None => Ok(()),
            Some(((key, place), _)) => {
                Err(Error::format(path, format!("`{key}` has no effect on {what}; it is for {place}")))
            }
        }
    }
}
