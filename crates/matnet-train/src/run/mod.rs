//! The folder of a run, complete in itself.
//!
//! ```text
//! config.toml        everything that decided the run, defaults written out
//! split.json         which examples are in which part
//! metrics.csv        one line per epoch and part
//! times.csv          how long each epoch took
//! best.safetensors   the weights of the best epoch, and what is done to inputs before they reach the net
//! last.safetensors   the weights of the newest saved step
//! last.state         all that exact resume needs; previous.state, the one before
//! result.json        how it ended; there once the run is finished
//! report.html        to look at
//! ```

mod plan;
mod trained;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::tensor::Device;
use matnet::random::SeededRng;
use matnet::weights;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::plan::{Facts, Plan, Work};
pub use self::trained::{Answers, Note, Trained, Wanted};
use crate::config::Document;
use crate::graph::{GraphModelConfig, NodeNote, TrainedOnGraph};
use crate::model::ModelConfig;
use crate::program::{ProgramModelConfig, ProgramNote, TrainedProgram};
use crate::sealed::{self, Opened};
use crate::stories::{StoryModelConfig, StoryNote, TrainedOnStories};
use crate::task::{Kind, Task};
use crate::{Error, Result, files};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// feedforward, gcn, …
    pub kind: String,
    /// matrix or vector.
    pub form: String,
    /// How many numbers were learnt.
    pub parameters: usize,
    /// The seed.
    pub seed: u64,
    /// Epochs gone through.
    pub epochs: usize,
    /// The epoch whose weights were kept, from 1.
    pub best_epoch: usize,
    /// How well these do on each part.
    pub train: Option<Score>,
    /// On what decided when to stop.
    pub valid: Option<Score>,
    /// On what nothing was decided with.
    pub test: Option<Score>,
    /// What else was measured in the test, by name.
    #[serde(flatten)]
    pub also: BTreeMap<String, f64>,
}

/// How well a net does on a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean loss.
    pub loss: f64,
    /// The share of wrong answers, where answers are right or wrong.
    pub error: Option<f64>,
    /// How many examples.
    pub examples: usize,
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct Run {
    folder: PathBuf,
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
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
        serde_json::from_str(&text).map(Some).map_err(|error| Error::damaged(path, error.to_string()))
    }

    /// Makes the folder, if need be, and keeps other processes out until what is returned is dropped.
    pub(crate) fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        let path = self.path(".lock");
        let file = File::create(&path).map_err(|error| Error::io(&path, error))?;
        match file.try_lock() {
            Ok(()) => {
                files::sweep(&self.folder);
                Ok(file)
            }
            Err(fs::TryLockError::WouldBlock) => {
                Err(Error::Run(format!("{}: another process is training here", self.folder.display())))
            }
            // Some file systems know no locks; a user who starts two runs there can only be asked not to.
            Err(fs::TryLockError::Error(_)) => Ok(file),
        }
    }

    /// Empties the folder of what a run left, and of nothing else. The result goes first and the config last: whatever
    /// is left when this is cut short is not taken for a finished run, nor for one with other settings.
    pub fn clear(&self) -> Result<()> {
        let names = [
            "result.json",
            "next.state",
            "last.state",
            "previous.state",
            "best.safetensors",
            "last.safetensors",
            "metrics.csv",
            "times.csv",
            "split.json",
            "report.html",
            "config.toml",
        ];
        for path in names.map(|name| self.path(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The checksum of the data it was made with.
    pub fn data_checksum(&self) -> Result<String> {
        let path = self.path("config.toml");
        let text = fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
        let table = text.parse::<toml::Table>().ok();
        let checksum = table.as_ref().and_then(|table| table.get("run")?.get("data_sha256")?.as_str());
        checksum.map(str::to_owned).ok_or_else(|| Error::damaged(path, "has no run.data_sha256"))
    }

    /// The config it was made with.
    pub fn document(&self) -> Result<Document> {
        let path = self.path("config.toml");
        if !path.exists() {
            let what = format!("{}: there is no run here (no config.toml)", self.folder.display());
            return Err(Error::Run(what));
        }
        Document::read(&path)
    }

    /// Where its config differs from another, like `train.epochs = 100, now 6`; `None` if it does not, or if there is no
    /// run here. A result without a config is one of settings that nobody knows.
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
        if before == now {
            return None;
        }
        let said = |text: &str| flat(&text.parse().unwrap_or_default());
        let (before, now) = (said(&before), said(now));
        // Another version is said only if nothing else is.
        let order = |key: &&String| key.starts_with("run.");
        let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
        keys.sort_by_key(order);
        let key = keys.into_iter().find(|key| before.get(*key) != now.get(*key));
        let word = |said: Option<&String>| said.map_or("not said", String::as_str).to_owned();
        Some(match key {
            Some(key) => format!("{key} = {}, now {}", word(before.get(key)), word(now.get(key))),
            None => "it was edited".to_owned(),
        })
    }

    /// Fails if the weights of the best epoch are missing or not what was written.
    pub fn check_weights(&self) -> Result<()> {
        let path = self.path("best.safetensors");
        match path.exists() {
            true => sealed::open(&path).map(drop),
            false => Err(missing(path)),
        }
    }

    /// What kind of work it is about.
    pub fn kind(&self) -> Result<Kind> {
        Ok(Kind::of(&self.document()?))
    }

    /// The trained net, from `best.safetensors` (or another file of weights in the folder).
    pub fn trained(&self, weights_file: &str, device: &Device) -> Result<Trained> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: Note = note(&opened, &path)?;
        let config = ModelConfig::of_run(&document, &note)?;
        let classes = config.classes().map_or(0, |classes| classes.max(2));
        check_classes(&note.classes, classes, &path)?;
        let net = fill(config.init(&mut SeededRng::new(0, "init"), device)?, &opened, &path)?;
        Ok(Trained { net, config, note, device: device.clone() })
    }

    /// The same of a run on a graph.
    pub fn trained_on_graph(&self, weights_file: &str, device: &Device) -> Result<TrainedOnGraph> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: NodeNote = note(&opened, &path)?;
        let config = GraphModelConfig::of_run(&document)?;
        check_classes(&note.classes, config.classes(), &path)?;
        let net = fill(config.init(&mut SeededRng::new(0, "init"), device)?, &opened, &path)?;
        Ok(TrainedOnGraph { net, config, note, device: device.clone() })
    }

    /// The same of a run that learnt a program.
    pub fn trained_program(&self, weights_file: &str, device: &Device) -> Result<TrainedProgram> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: ProgramNote = note(&opened, &path)?;
        let config = ProgramModelConfig::of_run(&document)?;
        let net = config.0.init(&mut SeededRng::new(0, "init"), device)?;
        Ok(TrainedProgram { net: fill(net, &opened, &path)?, config, note, device: device.clone() })
    }

    /// The same of a run on stories.
    pub fn trained_on_stories(&self, weights_file: &str, device: &Device) -> Result<TrainedOnStories> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: StoryNote = note(&opened, &path)?;
        let config = StoryModelConfig::of_run(&document)?;
        check_classes(&note.words, config.vocabulary(), &path)?;
        let net = fill(config.init(&mut SeededRng::new(0, "init"), device)?, &opened, &path)?;
        Ok(TrainedOnStories { net, config, note, device: device.clone() })
    }

    /// The weights of a task that is at hand.
    pub(crate) fn best<T: Task>(&self, task: &T, device: &Device) -> Result<T::Net> {
        let path = self.path("best.safetensors");
        if !path.exists() {
            return Err(missing(path));
        }
        let (_, opened, path) = self.weights("best.safetensors")?;
        fill(task.net(&mut SeededRng::new(0, "init"), device)?, &opened, &path)
    }

    /// A config and a file of weights.
    fn weights(&self, weights_file: &str) -> Result<(Document, Opened, PathBuf)> {
        let text = fs::read_to_string(self.path("config.toml")).map_err(|_| {
            Error::Run(format!("{}: there is no run here (no config.toml)", self.folder.display()))
        })?;
        let path = self.path(weights_file);
        if !path.exists() {
            let what = format!(
                "{}: has no {weights_file} yet; `matnet train` goes on with the run",
                self.folder.display()
            );
            return Err(Error::Run(what));
        }
        let opened = sealed::open(&path)?;
        let document = Document::parse(&text)
            .map_err(|error| Error::damaged(self.path("config.toml"), error.to_string()))?;
        Ok((document, opened, path))
    }
}

/// A finished run had this file.
fn missing(path: PathBuf) -> Error {
    Error::damaged(path, "is missing")
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

fn note<N: DeserializeOwned>(opened: &Opened, path: &Path) -> Result<N> {
    serde_json::from_str(&opened.note).map_err(|error| Error::damaged(path, format!("damaged: {error}")))
}

fn check_classes(named: &[String], classes: usize, path: &Path) -> Result<()> {
    if named.len() != classes {
        let what = format!("names {} classes where the net has {classes}", named.len());
        return Err(Error::damaged(path, what));
    }
    Ok(())
}

fn fill<M: Module>(net: M, opened: &Opened, path: &Path) -> Result<M> {
    weights::load_safetensors(net, &opened.bytes)
        .map_err(|error| Error::damaged(path, format!("does not fit config.toml: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_that_is_cut_short_leaves_no_result_for_other_settings() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        for name in ["config.toml", "result.json", "last.state", "best.safetensors"] {
            fs::write(run.path(name), "a = 1").unwrap();
        }
        // A file that cannot be removed stands for a kill; those before it in the list are gone.
        fs::create_dir(run.path("metrics.csv")).unwrap();
        assert!(run.clear().is_err());
        let left = ["result.json", "last.state", "best.safetensors", "config.toml"];
        assert_eq!(left.map(|name| run.path(name).exists()), [false, false, false, true]);
        assert_eq!(run.difference("a = 2").unwrap(), "a = 1, now 2");
        fs::remove_dir(run.path("metrics.csv")).unwrap();
        run.clear().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_result_without_a_config_is_one_of_other_settings() {
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
