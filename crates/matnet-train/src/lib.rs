//! Training for matnet: a config in, a run folder out.
//!
//! - [`config`]: what a TOML file can say, checked key by key.
//! - [`data`]: data by name or path, transformed, split and ready to be dealt out in batches.
//! - [`model`]: every net there is behind one type; [`task`]: what it is asked to do with the data.
//! - [`graph`]: the same for nets on graphs, whose examples are nodes; [`stories`]: for memory nets, whose examples are
//!   questions; [`program`]: for nets that learn to copy and recall.
//! - [`train()`](train()): the loop, short enough to be read at one sitting.
//! - [`run`]: the folder of a run, and a trained net taken from it.
//! - [`evaluate`]: how well it does, class by class and answer by answer.
//!
//! A run is exact. All that is random is drawn from streams that the seed and the place in the run name, so a run is
//! the same bytes whatever the number of threads, and one that was killed ends as if it had been left alone.

#![forbid(unsafe_code)]

mod average;
pub mod compare;
pub mod config;
pub mod data;
mod error;
pub mod evaluate;
mod files;
pub mod graph;
pub mod inputs;
pub mod inspect;
pub mod model;
mod optimizer;
pub mod program;
pub mod run;
mod schedule;
mod sealed;
mod state;
pub mod stories;
pub mod task;
mod train;

pub use error::{Error, Result};
pub use files::{NewFile, write as write_file};
pub use run::Run;
pub use train::{Event, Observer, Options, Outcome, train};
