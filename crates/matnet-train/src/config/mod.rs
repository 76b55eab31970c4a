//! What a config can say.
//!
//! A config is TOML with three tables: `[data]`, `[model]`, `[train]`. Every key but `data.source`, `model.kind` and
//! the hidden sizes has a default; sizes that the data decide (`model.input`, `model.output`) are filled in. A
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

mod amount;
mod check;
mod comparable;
mod document;
mod precision;
mod schedule;
mod train;
mod tuned;
mod value;

pub use amount::Amount;
pub(crate) use comparable::{changes_measure, different_measure};
pub(crate) use document::is_part_name;
pub use document::{Document, FoldCount};
pub use precision::{Precision, SavedActivations};
pub use schedule::{LearningRates, Schedule};
pub use train::{ClassWeights, Loss, OptimizerKind, Reduction, TrainConfig};
pub use tuned::Tuned;
pub use value::keys_of;
pub(crate) use value::{fill_count, fill_sides, from_table, shown};

/// Names that an error lists.
const NAMED: usize = 60;

/// The nearest known name if one is near, else all of them.
pub(crate) fn suggestion(name: &str, known: &[String]) -> String {
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let more = if known.len() > NAMED { ", …" } else { "" };
            format!("there are {}{more}", known[..known.len().min(NAMED)].join(", "))
        }
    }
}

/// The known name that differs least from this one, if the difference may be a slip.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .filter(|(distance, other)| *distance <= 1 + other.len().min(name.len()) / 3)
        .min()
        .map(|(_, near)| near)
}
