//! One long table of measurements in the order of time.

use super::Array;
use crate::{Error, Result};

/// A long table: a row per time, a column per channel. [`Windows`](crate::transform::windows::Windows) make samples of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableData {
    /// The values `[rows, columns]`.
    pub values: Array,
    /// A name per column; empty where they have none.
    pub column_names: Vec<String>,
    /// The days from one row to the next, where dates say them.
    pub row_step: Option<f64>,
    /// The rows of each split by the usual protocol of these data, if there is one.
    pub split: Option<RowCounts>,
}

impl TableData {
    /// A table without names and without a split of its own; fails unless `values` has two axes.
    pub fn new(values: Array) -> Result<Self> {
        match values.shape() {
            [_, _] => Ok(Self { values, column_names: Vec::new(), row_step: None, split: None }),
            shape => Err(Error::Invalid(format!("shape {shape:?} is no table; [rows, columns] expected"))),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.shape()[0]
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.values.shape()[1]
    }
}

/// The number of rows of a long table in each split, in the order of time; further rows are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCounts {
    /// The first rows.
    pub train: usize,
    /// The next rows.
    pub valid: usize,
    /// The rows after them.
    pub test: usize,
}
