//! The folder of a run, complete in itself.
//!
//! ```text
//! config.toml        everything that decided the run, defaults written out
//! from.json          with train.from: which weights of another run it started from
//! split.json         which examples are in which split
//! metrics.csv        one line per epoch and split
//! times.csv          seconds per epoch
//! best.safetensors   the weights of the best epoch, and the transforms of the inputs
//! last.safetensors   the newest saved weights
//! last.ckpt          all that exact resuming needs; previous.ckpt, the one before
//! result.json        the scores; there once the run is finished
//! report.html        curves, scores, pictures
//! ```

pub(crate) mod checksummed;
pub(crate) mod files;
mod history;
mod transfer;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use burn::tensor::{Device, TensorData};
use matnet::net::NetConfig;
use matnet::weights;
use matnet_data::files::{LockError, create_folder, open_alone, open_together, sweep};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::checksummed::hex;
pub use self::history::MetricsRow;
use self::transfer::TRANSFER;
pub use self::transfer::Transfer;
use crate::config::Document;
use crate::metrics::{Metric, MetricValues};
use crate::{Error, Result};

/// The weights of the best epoch.
pub const BEST: &str = "best.safetensors";
pub(crate) const METRICS: &str = "metrics.csv";
pub(crate) const TIMES: &str = "times.csv";

/// The files whose checksums `result.json` holds.
const COVERED: [&str; 3] = ["config.toml", "split.json", METRICS];

/// What stands for the checksum of `result.json` while it is computed.
const NO_CHECKSUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// feedforward, gcn, …
    pub kind: String,
    /// matrix or vector.
    pub form: String,
    /// Trainable parameters.
    pub parameters: usize,
    /// The seed.
    pub seed: u64,
    /// Epochs trained.
    pub epochs: usize,
    /// The epoch whose weights were kept, from 1.
    pub best_epoch: usize,
    /// The score of these weights on the training split.
    pub train: Option<Score>,
    /// On the validation split, which selected them.
    pub valid: Option<Score>,
    /// On the test split, which decided nothing.
    pub test: Option<Score>,
    /// Further metrics of the test split, by name.
    #[serde(flatten, with = "crate::number::by_name")]
    pub metrics: BTreeMap<String, f64>,
}

/// How well a net does on a split.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean loss; not finite if it overflowed.
    #[serde(with = "crate::number")]
    pub loss: f64,
    /// The error rate, where predictions are right or wrong.
    pub error: Option<f64>,
    /// How many examples.
    pub examples: usize,
    /// The other metrics of the task, where they are defined.
    #[serde(flatten)]
    pub metrics: MetricValues,
}

impl Score {
    /// The value of a metric, if it has one.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Loss => Some(self.loss),
            Metric::Error => self.error,
            other => self.metrics.get(other),
        }
    }
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct Run {
    folder: PathBuf,
}

/// Keeps other processes out of a run folder until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl Run {
    /// The folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the folder.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or(self.folder.as_os_str()).to_string_lossy().into_owned()
    }

    /// Which fold of a cross-validation it is, by the name of its folder: `fold-3`.
    pub fn fold(&self) -> Option<usize> {
        self.name().strip_prefix("fold-")?.parse().ok()
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether there is a run here, or something that was one.
    pub fn exists(&self) -> bool {
        self.path("config.toml").exists()
    }

    /// How it ended, if it has.
    pub fn result(&self) -> Result<Option<RunResult>> {
        let path = self.path("result.json");
        let Some(text) = files::read_text(&path)? else { return Ok(None) };
        let written: ResultFile =
            serde_json::from_str(&text).map_err(|error| Error::damaged(&path, error.to_string()))?;
        if hex(&Sha256::digest(text.replace(&written.result_sha256, NO_CHECKSUM))) != written.result_sha256 {
            return Err(Error::damaged(path, "damaged: its checksum does not match"));
        }
        for name in COVERED {
            if self.sha256(name)?.as_ref() != written.sha256.get(name) {
                let what = "is missing, damaged or was edited: its checksum is not the one in result.json";
                return Err(Error::damaged(self.path(name), what));
            }
        }
        Ok(Some(written.result))
    }

    /// Writes how it ended.
    pub(crate) fn write_result(&self, result: &RunResult) -> Result<()> {
        let mut sums = BTreeMap::new();
        for name in COVERED {
            sums.extend(self.sha256(name)?.map(|sum| (name.to_owned(), sum)));
        }
        let file = ResultFile { result: result.clone(), sha256: sums, result_sha256: NO_CHECKSUM.to_owned() };
        let text = serde_json::to_string_pretty(&file).expect("numbers and strings") + "\n";
        let text = text.replace(NO_CHECKSUM, &hex(&Sha256::digest(&text)));
        files::write(&self.path("result.json"), text.as_bytes())
    }

    /// The checksum of a file of the run; `None` if it is not there.
    pub fn sha256(&self, name: &str) -> Result<Option<String>> {
        let path = self.path(name);
        match path.exists() {
            true => Ok(Some(hex(&Sha256::digest(files::read(&path)?)))),
            false => Ok(None),
        }
    }

    /// Creates the folder, if need be, and keeps other processes out until the lock is dropped.
    pub fn lock(&self) -> Result<RunLock> {
        let lock = self.locked_by(open_alone)?;
        sweep(&self.folder);
        Ok(lock)
    }

    /// The same for one of several processes that work here together; keeps out those that want the folder alone.
    pub fn lock_together(&self) -> Result<RunLock> {
        self.locked_by(open_together)
    }

    fn locked_by(&self, open: impl FnOnce(&Path) -> Result<File, LockError>) -> Result<RunLock> {
        create_folder(&self.folder)?;
        match open(&self.path(".lock")) {
            Ok(file) => Ok(RunLock { _file: file }),
            Err(LockError::Taken) => Err(Error::Busy(self.folder.clone())),
            Err(LockError::Failed(error)) => Err(error.into()),
        }
    }

    /// Removes the files of a run, and nothing else; fails if another process is training it. The result goes first and the
    /// config last: whatever is left when this is interrupted is not taken for a finished run, nor for one with other settings.
    pub fn clear(&self) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let names = [
            "result.json",
            "next.ckpt",
            "last.ckpt",
            "previous.ckpt",
            "best.safetensors",
            "last.safetensors",
            "metrics.csv",
            "times.csv",
            "split.json",
            TRANSFER,
            "report.html",
            "config.toml",
        ];
        for name in names {
            files::remove(&self.path(name))?;
        }
        Ok(())
    }

    /// The checksum of the dataset it was trained on.
    pub fn data_checksum(&self) -> Result<String> {
        let path = self.path("config.toml");
        let text = files::read_text(&path)?.unwrap_or_default();
        let table = text.parse::<toml::Table>().ok();
        let checksum = table.as_ref().and_then(|table| table.get("run")?.get("data_sha256")?.as_str());
        checksum.map(str::to_owned).ok_or_else(|| Error::damaged(path, "has no run.data_sha256"))
    }

    /// The examples of its test split, as text; `None` if they are not written down. Of a forecast, the first rows that they predict: windows
    /// of another length begin elsewhere.
    pub(crate) fn test_split(&self, document: &Document) -> Result<Option<String>> {
        let Some(text) = files::read_text(&self.path("split.json"))? else { return Ok(None) };
        let split: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let Some(mut test) = split.and_then(|mut split| Some(split.get_mut("test")?.take())) else {
            return Ok(None);
        };
        if let Some(window) = document.get("data", "window").and_then(toml::Value::as_integer) {
            for at in test.as_array_mut().into_iter().flatten() {
                *at = at.as_i64().map(|at| at.saturating_add(window)).into();
            }
        }
        Ok(Some(test.to_string()))
    }

    /// The config it was trained with.
    pub fn document(&self) -> Result<Document> {
        if !self.exists() {
            return Err(Error::run(&self.folder, "there is no run here (no config.toml)"));
        }
        Document::read(&self.path("config.toml"))
    }

    /// Where its config differs from another, like `train.epochs = 100, now 6`; `None` if it does not, or if there is no
    /// run here. A result without a config belongs to unknown settings.
    pub fn difference(&self, now: &str) -> Option<String> {
        let before = match fs::read_to_string(self.path("config.toml")) {
            Ok(text) => text,
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Some(format!("config.toml: {error}"));
            }
            Err(_) => {
                let result = self.path("result.json").exists();
                return result.then(|| "it has a result.json but no config.toml".to_owned());
            }
        };
        text_difference(&before, now)
    }

    /// Removes weights and checkpoints, and keeps what was measured.
    pub(crate) fn remove_weights(&self) -> Result<()> {
        let _lock = self.lock()?;
        for name in ["next.ckpt", "last.ckpt", "previous.ckpt", BEST, "last.safetensors", "split.json", TIMES]
        {
            files::remove(&self.path(name))?;
        }
        Ok(())
    }

    /// Fails if the weights of the best epoch are missing or damaged.
    pub fn check_weights(&self) -> Result<()> {
        self.weights(BEST).map(drop)
    }

    /// A net with the weights of the best epoch.
    pub(crate) fn best<C: NetConfig>(&self, config: &C, device: &Device) -> Result<C::Net> {
        let Weights { path, tensors, .. } = self.weights(BEST)?;
        fill(config, tensors, &path, device)
    }

    /// A file of weights with its epoch and metadata.
    pub(crate) fn weights(&self, weights_file: &str) -> Result<Weights> {
        let path = self.path(weights_file);
        if !path.exists() {
            let what = match self.path("result.json").exists() {
                true => return Err(Error::damaged(path, "is missing")),
                false => format!("has no {weights_file} yet; `matnet train` resumes the run"),
            };
            return Err(Error::run(&self.folder, what));
        }
        let decoded = checksummed::read(&path)?;
        let mut metadata: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&decoded.text).map_err(|error| Error::damaged(&path, error.to_string()))?;
        let epoch = metadata.remove("epoch").and_then(|epoch| epoch.as_u64());
        let epoch = epoch.ok_or_else(|| Error::damaged(&path, "its metadata name no epoch"))? as usize;
        let config = metadata.remove("config").and_then(|sum| sum.as_str().map(str::to_owned));
        if config != self.sha256("config.toml")? {
            let what =
                "is damaged or was edited: it is not the config of these weights, whose checksum they hold";
            return Err(Error::damaged(self.path("config.toml"), what));
        }
        Ok(Weights { path, tensors: decoded.tensors, epoch, metadata: metadata.into() })
    }
}

/// Where one config differs from another, like `train.epochs = 100, now 6`; `None` if it does not.
pub(crate) fn text_difference(before: &str, now: &str) -> Option<String> {
    if before == now {
        return None;
    }
    let flat = |text: &str| text.parse::<toml::Table>().map(|table| flat(&table)).unwrap_or_default();
    let (before, now) = (flat(before), flat(now));
    // A run may get more epochs, so that these are not the reason if the data differ, too. Another version is mentioned only if nothing
    // else differs.
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
    keys.sort_by_key(|key| match key.as_str() {
        "run.data_sha256" => 1,
        "train.epochs" => 2,
        key if key.starts_with("run.") => 3,
        _ => 0,
    });
    let key = keys.into_iter().find(|key| before.get(*key) != now.get(*key));
    let show = |value: Option<&String>| value.map_or("not given", String::as_str).to_owned();
    Some(match key {
        Some(key) => format!("{key} = {}, now {}", show(before.get(key)), show(now.get(key))),
        None => "it was edited".to_owned(),
    })
}

/// `result.json`: a result, and checksums over it and over other files of the run.
#[derive(Serialize, Deserialize)]
struct ResultFile {
    #[serde(flatten)]
    result: RunResult,
    /// Of files of the run, by name.
    sha256: BTreeMap<String, String>,
    /// Over the text of the file, with [`NO_CHECKSUM`] in this place.
    result_sha256: String,
}

/// A file of weights, read.
pub(crate) struct Weights {
    pub path: PathBuf,
    pub tensors: HashMap<String, TensorData>,
    pub epoch: usize,
    pub metadata: serde_json::Value,
}

/// The bytes of a file of weights, with its epoch, the checksum of its config, and metadata.
pub(crate) fn encode_weights<M: Serialize>(
    tensors: &[(String, TensorData)],
    epoch: usize,
    config: &str,
    metadata: &M,
) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Text<'a, M> {
        epoch: usize,
        config: &'a str,
        #[serde(flatten)]
        metadata: &'a M,
    }
    let text = serde_json::to_string(&Text { epoch, config, metadata }).expect("numbers and strings");
    checksummed::encode(tensors, &text, Path::new("weights"))
}

/// A net with the weights of a file.
pub(crate) fn fill<C: NetConfig>(
    config: &C,
    tensors: HashMap<String, TensorData>,
    path: &Path,
    device: &Device,
) -> Result<C::Net> {
    let net = config.blank(device).map_err(crate::error::at("model"))?;
    weights::load(net, tensors)
        .map_err(|error| Error::damaged(path, format!("does not fit config.toml: {error}")))
}

/// Every value of a table under its path of keys.
fn flat(table: &toml::Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                all.extend(flat(inner).into_iter().map(|(path, value)| (format!("{key}.{path}"), value)));
            }
            value => {
                all.insert(key.clone(), value.to_string());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_clear_leaves_no_result_for_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        for name in ["config.toml", "result.json", "last.ckpt", "best.safetensors"] {
            fs::write(run.path(name), "a = 1").unwrap();
        }
        // A file that cannot be removed stands for a kill; those before it in the list are gone.
        fs::create_dir(run.path("metrics.csv")).unwrap();
        assert!(run.clear().is_err());
        let left = ["result.json", "last.ckpt", "best.safetensors", "config.toml"];
        assert_eq!(left.map(|name| run.path(name).exists()), [false, false, false, true]);
        assert_eq!(run.difference("a = 2").unwrap(), "a = 1, now 2");
        fs::remove_dir(run.path("metrics.csv")).unwrap();
        run.clear().unwrap();
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.file_name()).collect();
        assert_eq!(left, [".lock"]);
    }

    #[test]
    fn a_result_without_a_config_belongs_to_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        assert_eq!(run.difference("a = 1"), None);
        fs::write(run.path("result.json"), "{}").unwrap();
        assert_eq!(run.difference("a = 1").unwrap(), "it has a result.json but no config.toml");
        fs::write(run.path("config.toml"), [0xff]).unwrap();
        assert!(run.difference("a = 1").unwrap().starts_with("config.toml: "));
        fs::write(run.path("config.toml"), "a = 1").unwrap();
        assert_eq!(run.difference("a = 1"), None);
    }
}
