//! Checkpoints: all that exact resuming needs, in one file.
//!
//! `last.ckpt` holds the weights and their moving average, the optimizer's moments and the progress of the run. The checkpoint
//! before it stays as `previous.ckpt`, so that a file damaged later by something else does not cost the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::tensor::Device;
use matnet::weights;
use serde::{Deserialize, Serialize};

use super::precision::LossScale;
use super::{Moved, Optimizer, WeightAverage};
use crate::run::checksummed::{self, Decoded};
use crate::run::files;
use crate::task::{NetOf, Sums, Task};
use crate::{Error, Result};

const FORMAT: u32 = 2;
/// The newest checkpoint.
pub const LAST: &str = "last.ckpt";
/// The one about to become the newest.
const NEXT: &str = "next.ckpt";
/// The one before it.
pub const PREVIOUS: &str = "previous.ckpt";

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    format: u32,
    /// The checksum of the run's config, which the checkpoint belongs to.
    pub config: String,
    /// The SIMD level of the CPU that computed it last.
    pub simd: String,
    /// The device that computed it last.
    #[serde(default)]
    device: String,
    /// Where it was computed before, and where it resumes, if those differ.
    #[serde(skip)]
    pub moved: Option<Moved>,
    /// Epochs done.
    pub epoch: usize,
    /// Steps done in the current epoch.
    pub step: usize,
    /// Loss and errors of these steps.
    pub sums: Sums,
    /// The best epoch so far.
    pub best: Option<BestEpoch>,
    /// Epochs that pretraining took, once it is over.
    #[serde(default)]
    pub pretrained: Option<usize>,
    /// The lines of `metrics.csv` so far.
    pub metrics: Vec<String>,
    /// Whether the last epoch is done.
    pub finished: bool,
    /// Epochs and steps that were done on other data, before these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epochs_before: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_before: u64,
    /// With `train.precision = "16-mixed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_scale: Option<LossScale>,
    /// Optimizer steps of each parameter.
    steps: BTreeMap<String, usize>,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// The best epoch and what made it the best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestEpoch {
    /// Counted from 1.
    pub epoch: usize,
    /// What is compared first; lower is better.
    #[serde(with = "crate::task::bits")]
    pub first: f64,
    /// The tie-breaker.
    #[serde(with = "crate::task::bits")]
    pub second: f64,
}

/// A net in training: weights, optimizer, moving average and progress.
pub struct Checkpoint<T: Task> {
    pub net: NetOf<T>,
    pub optimizer: Optimizer,
    /// The moving average of the weights, with `train.ema_decay`.
    pub ema: Option<WeightAverage>,
    pub progress: Progress,
}

impl<T: Task> Checkpoint<T> {
    /// The start of a run.
    pub fn new(net: NetOf<T>, optimizer: Optimizer, ema: Option<WeightAverage>, config: String) -> Self {
        let (simd, device) = (matnet::simd_level(), device(&net));
        let progress = Progress { format: FORMAT, config, simd, device, ..Progress::default() };
        Self { net, optimizer, ema, progress }
    }

    /// The bytes of the newest checkpoint of a run.
    pub fn encode(&mut self, folder: &Path) -> Result<Vec<u8>> {
        let (moments, steps) = self.optimizer.save();
        self.progress.steps = steps;
        let mut tensors: Vec<_> = weights::named(&self.net)
            .into_iter()
            .map(|(name, data)| (format!("net.{name}"), data))
            .chain(moments)
            .collect();
        tensors.extend(self.ema.iter().flat_map(|ema| ema.save(&self.net)));
        let progress = serde_json::to_string(&self.progress).expect("numbers and strings");
        checksummed::encode(&tensors, &progress, &folder.join(LAST))
    }

    /// Saves it as the newest checkpoint of a run.
    pub fn save(&mut self, folder: &Path) -> Result<()> {
        write(folder, &self.encode(folder)?)
    }

    /// Restores a saved checkpoint of the same config, or of the `former` one of a run that is extended.
    pub fn restore(self, path: &Path, device: &Device, former: Option<&str>) -> Result<Self> {
        let decoded = checksummed::read(path)?;
        self.take(decoded, path, device, former)
    }

    /// The same from its bytes, as another rank has sent them.
    pub fn decode(self, bytes: &[u8], device: &Device) -> Result<Self> {
        let path = Path::new(LAST);
        self.take(checksummed::decode(bytes, path)?, path, device, None)
    }

    fn take(mut self, decoded: Decoded, path: &Path, device: &Device, former: Option<&str>) -> Result<Self> {
        let Decoded { mut tensors, text } = decoded;
        let damaged = |what: String| Error::damaged(path, what);
        let progress: Progress = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if progress.format != FORMAT {
            return Err(damaged(format!("has format {}; this matnet reads {FORMAT}", progress.format)));
        }
        if progress.config != self.progress.config && former != Some(&progress.config) {
            return Err(damaged("belongs to another config".to_owned()));
        }
        self.optimizer.load(&mut tensors, &progress.steps, device).map_err(damaged)?;
        if let Some(ema) = &mut self.ema {
            ema.load(&mut tensors, &self.net, device).map_err(damaged)?;
        }
        let named = tensors
            .into_iter()
            .filter_map(|(name, data)| Some((name.strip_prefix("net.")?.to_owned(), data)))
            .collect();
        self.net = weights::load(self.net, named).map_err(|error| damaged(error.to_string()))?;
        let Progress { config, simd, device, .. } = self.progress;
        let (before, now) = (place(&progress.device, &progress.simd), place(&device, &simd));
        let moved = (!progress.device.is_empty() && before != now).then_some(Moved { before, now });
        self.progress = match former {
            // Nothing is computed before it is saved again.
            Some(_) => Progress { config, ..progress },
            None => Progress { simd, device, moved, config, ..progress },
        };
        Ok(self)
    }
}

/// Writes the bytes of the newest checkpoint of a run.
pub fn write(folder: &Path, bytes: &[u8]) -> Result<()> {
    let [last, next, previous] = [LAST, NEXT, PREVIOUS].map(|name| folder.join(name));
    // Whoever reads the error knows the name that the file would have got.
    files::write(&next, bytes).map_err(|error| match error {
        Error::Io { source, .. } => Error::io(&last, source),
        error => error,
    })?;
    if last.exists() {
        files::rename(&last, &previous)?;
    }
    files::rename(&next, &last)
}

/// A device, as far as the bits of results depend on it.
fn place(device: &str, simd: &str) -> String {
    match device {
        "flex" => format!("flex ({simd})"),
        device => device.to_owned(),
    }
}

/// The device that a net is on.
fn device<M: Module>(net: &M) -> String {
    net.devices().first().map(matnet::device::name).unwrap_or_default()
}

/// The checkpoint to resume from, if there is one. A run killed between two renames has none called `last`.
pub fn newest(folder: &Path) -> Result<Option<PathBuf>> {
    let [last, next, previous] = [LAST, NEXT, PREVIOUS].map(|name| folder.join(name));
    if next.exists() {
        // It is complete, or it would not have its name.
        files::rename(&next, &last)?;
    }
    Ok([last, previous].into_iter().find(|path| path.exists()))
}

/// Whether there is a checkpoint.
pub fn any(folder: &Path) -> bool {
    [LAST, NEXT, PREVIOUS].iter().any(|name| folder.join(name).exists())
}

/// Removes the checkpoint before the newest.
pub fn remove_previous(folder: &Path) -> Result<()> {
    files::remove(&folder.join(PREVIOUS))
}

/// Adds to the error of a damaged checkpoint whether the one before it is intact.
pub fn advise(folder: &Path, error: Error) -> Error {
    let hint = match checksummed::read(&folder.join(PREVIOUS)) {
        Ok(_) => "the checkpoint before it is intact: --from previous resumes from there",
        Err(_) => "--fresh starts the run again",
    };
    match error {
        Error::Damaged { path, what } => Error::Damaged { path, what: format!("{what}; {hint}") },
        other => other,
    }
}
