//! All that exact resume needs, in one file.
//!
//! `last.state` holds the weights and their mean, the optimiser's moments and the place in the run. The state before it stays as
//! `previous.state`, so that a file damaged later by something else does not cost the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet::weights;
use serde::{Deserialize, Serialize};

use crate::average::Average;
use crate::optimizer::Optimizer;
use crate::sealed::{self, Opened};
use crate::task::Task;
use crate::{Error, Result, files};

const FORMAT: u32 = 1;
/// The newest state.
pub const LAST: &str = "last.state";
/// The one about to become the newest.
const NEXT: &str = "next.state";
/// The one before it.
pub const PREVIOUS: &str = "previous.state";

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    format: u32,
    /// The checksum of the run's config, which a state belongs to.
    pub config: String,
    /// Epochs done.
    pub epoch: usize,
    /// Steps done in the epoch after them.
    pub step: usize,
    /// Over these steps.
    pub sums: Sums,
    /// The best epoch so far.
    pub best: Option<Best>,
    /// Epochs that the linear start took, once it is over.
    #[serde(default)]
    pub linear_start: Option<usize>,
    /// The lines of `metrics.csv` so far.
    pub metrics: Vec<String>,
    /// Whether the last epoch is done.
    pub finished: bool,
    /// How many steps the optimiser took with each parameter.
    steps: BTreeMap<String, usize>,
}

/// Loss and answers, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    #[serde(with = "bits")]
    pub loss: f64,
    pub wrong: u64,
    pub answers: u64,
    pub examples: u64,
}

/// The best epoch and why it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Counted from 1.
    pub epoch: usize,
    /// What was compared first; smaller is better.
    #[serde(with = "bits")]
    pub first: f64,
    /// What decided between equals.
    #[serde(with = "bits")]
    pub second: f64,
}

/// Numbers as their bits: text would round them.
mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        number.to_bits().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

/// A net, its optimiser and its place in the run.
pub struct State<T: Task> {
    pub net: T::Net,
    pub optimizer: Optimizer,
    /// The mean of the weights, if it is asked for.
    pub average: Option<Average>,
    pub place: Place,
}

impl<T: Task> State<T> {
    /// The beginning of a run.
    pub fn new(net: T::Net, optimizer: Optimizer, average: Option<Average>, config: String) -> Self {
        let place = Place { format: FORMAT, config, ..Place::default() };
        Self { net, optimizer, average, place }
    }

    /// Saves it as the newest state of a run.
    pub fn save(&mut self, folder: &Path) -> Result<()> {
        let (moments, steps) = self.optimizer.save();
        self.place.steps = steps;
        let weights = weights::named(&self.net).into_iter().map(|(name, data)| (format!("net.{name}"), data));
        let means = self.average.iter().flat_map(|average| average.save(&self.net));
        let tensors: Vec<_> = weights.chain(moments).chain(means).collect();
        let note = serde_json::to_string(&self.place).expect("numbers and words");
        let (last, previous) = (folder.join(LAST), folder.join(PREVIOUS));
        let bytes = sealed::seal(&tensors, &note);
        // The new state must be safe on the disk before the old one moves aside.
        let fresh = folder.join(NEXT);
        files::write(&fresh, &bytes)?;
        if last.exists() {
            files::rename(&last, &previous)?;
        }
        files::rename(&fresh, &last)
    }

    /// Goes on from a saved state: `self` is the beginning of the same run.
    pub fn resume(mut self, path: &Path, device: &Device) -> Result<Self> {
        let Opened { mut tensors, note, .. } = sealed::open(path)?;
        let damaged = |what: String| Error::damaged(path, what);
        let place: Place = serde_json::from_str(&note).map_err(|error| damaged(error.to_string()))?;
        if place.format != FORMAT {
            return Err(damaged(format!("is of format {}; this matnet reads {FORMAT}", place.format)));
        }
        if place.config != self.place.config {
            return Err(damaged("belongs to another config".to_owned()));
        }
        self.optimizer.load(&mut tensors, &place.steps, device).map_err(damaged)?;
        if let Some(average) = &mut self.average {
            average.load(&mut tensors, &self.net, device).map_err(damaged)?;
        }
        let named = tensors
            .into_iter()
            .filter_map(|(name, data)| Some((name.strip_prefix("net.")?.to_owned(), data)))
            .collect();
        self.net = weights::load(self.net, named).map_err(|error| damaged(error.to_string()))?;
        self.place = place;
        Ok(self)
    }
}

/// The state to go on from, if there is one. A run killed while names were changing has none called `last`.
pub fn newest(folder: &Path) -> Result<Option<PathBuf>> {
    let [last, next, previous] = [LAST, NEXT, PREVIOUS].map(|name| folder.join(name));
    if next.exists() {
        // It is complete, or it would not have its name.
        files::rename(&next, &last)?;
    }
    Ok([last, previous].into_iter().find(|path| path.exists()))
}

/// What to say about a damaged state: whether the one before it is good.
pub fn advise(folder: &Path, error: Error) -> Error {
    let previous = folder.join(PREVIOUS);
    let hint = match sealed::open(&previous) {
        Ok(_) => "the state before it is good: --from previous goes on from there",
        Err(_) => "--fresh starts the run again",
    };
    match error {
        Error::Damaged { path, what } => Error::Damaged { path, what: format!("{what}; {hint}") },
        other => other,
    }
}
