//! Datasets for matnet: fetch, verify, parse, split, transform.

mod array;
pub mod cache;
pub mod catalog;
mod check;
mod dataset;
mod download;
mod error;
pub mod fetch;
pub mod format;
pub mod inputs;
mod levels;
pub mod moving_mnist;
pub mod named;
pub mod own;
pub mod shipped;
pub mod source;
pub mod split;
pub mod transform;

pub use matnet_random as random;

pub use array::Array;
pub use dataset::{GraphData, Samples, Split, Target};
pub use error::{Error, Result};
pub use levels::Levels;
