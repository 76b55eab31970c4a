//! What a config can say.
//!
//! A config is TOML with three tables: `[data]`, `[model]`, `[train]`. Every key but `data.source`, `model.kind` and
//! the hidden sizes has a default; sizes that the data decide (`model.input`, `model.output`) are found from them. A
//! table `[variant.NAME]` holds other values for some keys, so that one file describes a comparison.
//!
//! ```
//! use matnet_train::config::Document;
//!
//! let text = "
//! [data]
//! source = 'digits'
//! [model]
//! kind = 'feedforward'
//! hidden = [20, 20]
//! [variant.matrix]
//! [variant.vector]
//! model.form = 'vector'
//! model.hidden = [50]
//! ";
//! let mut document = Document::parse(text)?;
//! document.set("train.epochs=3")?;
//! assert_eq!(document.variants(), ["matrix", "vector"]);
//! let vector = document.variant("vector")?;
//! assert_eq!(vector.train()?.epochs, 3);
//!
//! document.set("train.epoch=3")?;
//! let error = document.train().unwrap_err();
//! assert_eq!(error.to_string(), "train.epoch: no such key; did you mean `epochs`?");
//! # Ok::<(), matnet_train::Error>(())
//! ```

mod data;
mod document;
mod train;

pub use data::{Amount, DataConfig, Scale, SplitConfig, SplitRule};
pub use document::Document;
pub(crate) use document::{read_table, suggestion};
pub use train::{Loss, Monitor, OptimizerKind, TrainConfig};

pub use crate::schedule::Schedule;
