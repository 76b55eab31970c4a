//! Datasets for matrix nets: built-in data, download and verification, file formats, splits, transforms and generators.
//!
//! ```
//! use matnet_data::catalog::{self, Cache, LoadOptions};
//! use matnet_data::{Target, local};
//!
//! // by name …
//! let digits = catalog::load("optdigits", &Cache::standard()?, LoadOptions::default())?.into_samples()?;
//! assert_eq!(digits.inputs.shape(), [1797, 8, 8]);
//! assert!(matches!(digits.target, Target::Classes { .. }));
//! // … or your own files, by path
//! assert!(local::load("no-such-file.npz").is_err());
//! # Ok::<(), matnet_data::Error>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`catalog`] | datasets with a name: where they come from, download, checksums, [`catalog::load`] |
//! | [`local`] | the user's own files: [`local::load`] by path, and [`local::SampleReader`] for files larger than memory |
//! | [`pack`](mod@pack) | graphs larger than memory, as a folder |
//! | [`split`] | training, validation and test indices; folds |
//! | [`transform`] | spectrograms, scaling, missing values, windows over tables, permutation, occlusion, augmentation |
//! | [`generate`] | seeded generators: simulated EEG, stories, moving digits, algorithmic sequences |
//! | [`mod@format`] | one reader per file format; memory is bounded by the size of the file |
//!
//! The cargo feature `research-formats` adds readers that few programs need: pickle (Planetoid's graphs), MATLAB (Frey faces) and
//! the raw text of UCI's EEG database. The feature `columnar` adds Parquet and Arrow tables.

#![forbid(unsafe_code)]

pub mod catalog;
#[doc(hidden)]
pub mod checksum;
mod dataset;
mod error;
mod faults;
#[doc(hidden)]
pub mod files;
pub mod format;
pub mod generate;
pub mod local;
#[doc(hidden)]
pub mod memory;
pub mod pack;
#[doc(hidden)]
pub mod pieces;
pub mod split;
mod stored;
pub mod transform;

pub use matnet_random as random;

pub use dataset::{
    Array, ByteArray, Contents, Dataset, GraphData, QaTask, Question, Samples, SplitIndices, Story,
    StoryData, TableData, Target, tokenize,
};
pub use error::{Error, Result, describe};
pub use stored::StoredArray;
