//! Training for matnet: a config in, a run folder out.
//!
//! The modules, each built on those before it:
//!
//! - [`config`]: what a TOML file can say, checked key by key.
//! - [`metrics`]: how good predictions are, as functions of numbers.
//! - [`run`]: the folder of a run; [`stats`]: means and confidence intervals over seeds; [`compare`]: several runs that belong
//!   together.
//! - [`task`]: the one interface to datasets, nets, losses and predictions; [`tasks`]: its implementations for samples, graphs,
//!   stories and algorithms.
//! - `report`: HTML reports (feature `report`); [`model`]: trained nets of any kind.
//! - [`ranks`]: several processes that train one run; [`trainer`]: the training loop, optimizers and checkpoints.
//! - [`plan`]: from a config to a run that can be trained; [`registry`]: every kind of net.
//! - [`tune`]: the search for the values of a config that do best on the validation split.
//!
//! ```no_run
//! use burn::tensor::Device;
//! use matnet_data::catalog::Cache;
//! use matnet_train::{Document, Options, Planner, Run};
//!
//! let document = Document::read("digits.toml".as_ref())?;
//! let plan = Planner::default().plan(&document, &Cache::standard()?)?;
//! let run = Run::at("runs/digits");
//! let outcome = plan.train(&run, &Options::default(), &mut ())?;
//! println!("test error {:?}", outcome.result.test.and_then(|test| test.error));
//! let net = run.load("best.safetensors", &Device::flex())?;
//! # Ok::<(), matnet_train::Error>(())
//! ```
//!
//! A run is exact. Everything random is drawn from generators that the seed and the progress of the run name, so a run gives
//! the same bytes whatever the number of threads, and one that was killed ends as if it had been left alone.

#![forbid(unsafe_code)]

pub mod compare;
pub mod config;
pub mod csv;
#[cfg(feature = "report")]
pub mod draw;
mod error;
pub mod metrics;
pub mod model;
mod number;
pub mod part;
pub mod plan;
pub mod ranks;
pub mod registry;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
mod split;
pub mod stats;
pub mod task;
pub mod tasks;
pub mod trainer;
pub mod tune;

pub use config::Document;
pub use error::{Error, Result};
pub use matnet_data::files::AtomicFile;
pub use model::{Model, Predictor};
pub use part::Part;
pub use plan::{Plan, Planner};
pub use ranks::Ranks;
pub use run::Run;
pub use run::files::write as write_file;
pub use split::Split;
pub use trainer::{Event, Moved, Observer, Options, Outcome};
