//! Datasets for matnet: fetch, verify, parse, split, transform.

mod array;
mod dataset;
mod error;
pub mod format;
pub mod own;
pub mod source;

pub use array::Array;
pub use dataset::{GraphData, Samples, Split, Target};
pub use error::{Error, Result};
