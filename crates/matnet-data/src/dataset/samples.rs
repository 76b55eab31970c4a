//! Independent samples with their targets.

use std::ops::Range;

use super::{Array, SplitIndices};
use crate::{Error, Result};

/// The targets of supervised learning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// None: unsupervised, as for an autoencoder.
    None,
    /// One class per sample, below `names.len()`.
    Classes {
        /// The class of each sample.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// One class per step of each sequence, below `names.len()`.
    StepClasses {
        /// The classes, sample after sample, step after step; 0 at padded steps.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// Real values per sample, for regression.
    Values {
        /// `[n, k]`.
        values: Array,
        /// A name per value, k of them.
        names: Vec<String>,
    },
    /// Several labels at once: for each sample and label, whether the sample has it.
    MultiLabels {
        /// Sample after sample, k flags each.
        flags: Vec<bool>,
        /// A name per label, k of them.
        names: Vec<String>,
    },
    /// One matrix, or sequence of matrices, per sample.
    Matrices(Array),
}

impl Target {
    /// The targets of some of `count` samples.
    pub fn select(&self, indices: &[usize], count: usize) -> Result<Self> {
        fn pick<T: Copy>(all: &[T], indices: &[usize], count: usize) -> Vec<T> {
            let each = all.len() / count.max(1);
            indices.iter().flat_map(|&at| &all[at * each..(at + 1) * each]).copied().collect()
        }
        Ok(match self {
            Self::None => Self::None,
            Self::Classes { labels, names } => {
                Self::Classes { labels: pick(labels, indices, count), names: names.clone() }
            }
            Self::StepClasses { labels, names } => {
                Self::StepClasses { labels: pick(labels, indices, count), names: names.clone() }
            }
            Self::Values { values, names } => {
                Self::Values { values: values.select(indices)?, names: names.clone() }
            }
            Self::MultiLabels { flags, names } => {
                Self::MultiLabels { flags: pick(flags, indices, count), names: names.clone() }
            }
            Self::Matrices(matrices) => Self::Matrices(matrices.select(indices)?),
        })
    }
}

/// Independent samples: matrices `[n, rows, cols]` or sequences of matrices `[n, time, rows, cols]`, with their targets.
/// The inputs are in memory, or [stay in their file](crate::StoredArray).
#[derive(Clone, Debug, PartialEq)]
pub struct Samples<I = Array> {
    /// The inputs. Sequences that are shorter than the longest are followed by zeros.
    pub inputs: I,
    /// The number of steps of each sequence; empty where all have the same.
    pub lengths: Vec<usize>,
    /// The targets.
    pub target: Target,
    /// The weight of each sample in the loss; empty where all count the same.
    pub weights: Vec<f32>,
    /// The group of each sample (the subject of a trial, say), for splits by group; empty where there are none.
    pub groups: Vec<u32>,
    /// A name per group.
    pub group_names: Vec<String>,
    /// The columns of a table that fill each input, row by row; empty where the inputs are no rows of a table.
    pub column_names: Vec<String>,
    /// The samples per second of recordings.
    pub sample_rate: Option<u32>,
    /// The split that comes with the data, if there is one. An empty validation split is drawn from the training samples.
    pub split: Option<SplitIndices>,
}

impl<I> Samples<I> {
    /// Samples of one length, without groups, weights or a split of their own.
    pub fn new(inputs: I, target: Target) -> Self {
        Self {
            inputs,
            lengths: Vec::new(),
            target,
            weights: Vec::new(),
            groups: Vec::new(),
            group_names: Vec::new(),
            column_names: Vec::new(),
            sample_rate: None,
            split: None,
        }
    }
}

impl Samples {
    /// The same with an official test set; all other samples are for training and validation.
    pub(crate) fn with_official_test(mut self, test: Range<usize>) -> Self {
        let train = (0..self.inputs.len()).filter(|at| !test.contains(at)).collect();
        self.split = Some(SplitIndices { train, valid: Vec::new(), test: test.collect() });
        self
    }

    /// Appends the samples of `other`, which must have the same shape and the same classes; groups are dropped.
    pub(crate) fn concat(self, other: Self) -> Result<Self> {
        let mut shape = self.inputs.shape().to_vec();
        if shape[1..] != other.inputs.shape()[1..] {
            let what = format!("samples of shape {:?} after {:?}", &other.inputs.shape()[1..], &shape[1..]);
            return Err(Error::Invalid(what));
        }
        shape[0] += other.inputs.len();
        let mut data = self.inputs.into_data();
        data.extend_from_slice(other.inputs.data());
        let target = match (self.target, other.target) {
            (Target::Classes { mut labels, names }, Target::Classes { labels: more, .. }) => {
                labels.extend(more);
                Target::Classes { labels, names }
            }
            _ => Target::None,
        };
        Ok(Self::new(Array::new(shape, data)?, target))
    }
}
