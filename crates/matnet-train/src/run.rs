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

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::random::Stream;
use matnet::{Mode, weights};
use matnet_data::cache::Cache;
use matnet_data::{Array, Target};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::compare::Planner;
use crate::config::{Document, Loss, Monitor, TrainConfig};
use crate::data::{Part, Prepared, Preprocess};
use crate::graph::{GraphModelConfig, NodeNote, NodeTask, TrainedOnGraph};
use crate::model::{Input, Model, ModelConfig, Output};
use crate::program::{ProgramModelConfig, ProgramNote, ProgramTask, TrainedProgram};
use crate::sealed::{self, Opened, hex};
use crate::stories::{StoryModelConfig, StoryNote, StoryTask, TrainedOnStories};
use crate::task::{self, Kind, SampleTask, Task};
use crate::{Error, Result, evaluate, files, inspect};

/// Everything that decides a run: a task, whatever its kind.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per run.
pub enum Plan {
    /// A net on matrices or sequences.
    Samples(Work<SampleTask>),
    /// A net on a graph.
    Nodes(Work<NodeTask>),
    /// A net that learns a program.
    Program(Work<ProgramTask>),
    /// A net on stories.
    Stories(Work<StoryTask>),
}

/// A task and how it is trained.
#[derive(Clone, Debug)]
pub struct Work<T> {
    /// The data, loaded; and the net on them.
    pub task: T,
    /// How it is trained, defaults written out.
    pub train: TrainConfig,
}

impl Plan {
    /// Understands a config, loading its data.
    pub fn new(document: &Document, cache: &Cache) -> Result<Self> {
        Planner::default().plan(document, cache)
    }

    /// How it is trained.
    pub fn train(&self) -> &TrainConfig {
        match self {
            Self::Samples(work) => &work.train,
            Self::Nodes(work) => &work.train,
            Self::Program(work) => &work.train,
            Self::Stories(work) => &work.train,
        }
    }

    /// The config as it stands in the run folder.
    pub fn config(&self) -> String {
        match self {
            Self::Samples(work) => work.config(),
            Self::Nodes(work) => work.config(),
            Self::Program(work) => work.config(),
            Self::Stories(work) => work.config(),
        }
    }

    /// Fails if the net cannot be built. Gives about how many operations its training takes, for comparing runs.
    pub fn check(&self) -> Result<f64> {
        let (layers, examples) = match self {
            Self::Samples(work) => {
                let (net, task) = (work.net(&Device::flex())?, &work.task);
                let layers = inspect::layers(&net, &task.model, task.steps());
                (layers, task.examples(Part::Train).len())
            }
            Self::Nodes(work) => {
                let net = work.net(&Device::flex())?;
                (inspect::graph_layers(&net, &work.task.model), work.task.data.graph.nodes())
            }
            Self::Stories(work) => {
                let net = work.net(&Device::flex())?;
                let layers = inspect::story_layers(&net, &work.task.model);
                (layers, work.task.examples(Part::Train).len())
            }
            Self::Program(work) => {
                let net = work.net(&Device::flex())?;
                let layers = inspect::program_layers(&net, work.task.data.config.test_steps());
                (layers, work.task.examples(Part::Train).len())
            }
        };
        let each: u64 = layers.iter().map(|layer| layer.flops).sum();
        Ok(3.0 * each as f64 * examples as f64 * self.train().epochs as f64)
    }
}

impl<T: Task> Work<T> {
    /// Understands how a task is to be trained.
    pub fn new(document: &Document, task: T) -> Result<Self> {
        let train = document.train()?;
        if task.examples(Part::Train).is_empty() {
            return Err(Error::Config("data.split: leaves nothing to train on".to_owned()));
        }
        if train.patience.is_some() && task.examples(Part::Valid).is_empty() {
            let what = "train.patience: needs a validation part to look at; data.split.valid is 0";
            return Err(Error::Config(what.to_owned()));
        }
        if let Some(epochs) = train.linear_start.filter(|_| !task.starts_linear()) {
            let what = format!(
                "train.linear_start: {epochs}; only end-to-end-memory has a softmax to begin without"
            );
            return Err(Error::Config(what));
        }
        let monitor = match task.loss() {
            Loss::CrossEntropy => Monitor::Error,
            _ => Monitor::Loss,
        };
        let batch = task.batch(train.batch);
        let train = train.resolved(task.loss(), train.monitor.unwrap_or(monitor), batch);
        Ok(Self { task, train })
    }

    /// The config as it stands in the run folder.
    pub fn config(&self) -> String {
        #[derive(Serialize)]
        struct RunFacts<'a> {
            version: &'a str,
            data_sha256: &'a str,
        }
        #[derive(Serialize)]
        struct Whole<'a, D: Serialize, M: Serialize> {
            run: RunFacts<'a>,
            data: &'a D,
            model: &'a M,
            train: &'a TrainConfig,
        }
        let run = RunFacts { version: env!("CARGO_PKG_VERSION"), data_sha256: self.task.facts().checksum };
        let ((data, model), train) = (self.task.configs(), &self.train);
        // Plain structs of numbers, words and lists.
        let text = toml::to_string(&Whole { run, data, model, train }).expect("a config that fits into TOML");
        format!("# Everything that decided this run. `matnet train` takes it as any other config.\n\n{text}")
    }

    /// The net at its beginning.
    pub fn net(&self, device: &Device) -> Result<T::Net> {
        let net = self.task.net(&mut Stream::new(self.train.seed, "init"), device)?;
        let names = weights::names(&net);
        if let Some(start) = &self.train.penalised
            && !names.iter().any(|name| name.starts_with(start))
        {
            let names = names.join(", ");
            let what = format!("train.penalised: {start}; no map of the net begins so, there are {names}");
            return Err(Error::Config(what));
        }
        for (word, factor) in &self.train.rate_factors {
            if !names.iter().any(|name| name.contains(word)) {
                let names = names.join(", ");
                return Err(Error::Config(format!(
                    "train.rate_factors.{word}: {factor}; no parameter has a name with this in it, there are {names}"
                )));
            }
        }
        Ok(net)
    }

    /// The checksum of the config.
    pub(crate) fn checksum(&self) -> String {
        hex(&Sha256::digest(self.config()))
    }
}

/// What results and reports say of a task.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// feedforward, gcn, …
    pub kind: &'static str,
    /// matrix or vector.
    pub form: String,
    /// The name or path of the data.
    pub source: &'a str,
    /// Over the data as they were loaded.
    pub checksum: &'a str,
    /// What a reader should know of them.
    pub notes: &'a [String],
}

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

    /// Empties the folder of what a run left, and of nothing else.
    pub fn clear(&self) -> Result<()> {
        let names = [
            "config.toml",
            "split.json",
            "metrics.csv",
            "times.csv",
            "best.safetensors",
            "last.safetensors",
            "last.state",
            "previous.state",
            "next.state",
            "result.json",
            "report.html",
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
    /// run here.
    pub fn difference(&self, now: &str) -> Option<String> {
        let before = fs::read_to_string(self.path("config.toml")).ok()?;
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
        let net = fill(config.init(&mut Stream::new(0, "init"), device)?, &opened, &path)?;
        Ok(Trained { net, config, note, device: device.clone() })
    }

    /// The same of a run on a graph.
    pub fn trained_on_graph(&self, weights_file: &str, device: &Device) -> Result<TrainedOnGraph> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: NodeNote = note(&opened, &path)?;
        let config = GraphModelConfig::of_run(&document)?;
        check_classes(&note.classes, config.classes(), &path)?;
        let net = fill(config.init(&mut Stream::new(0, "init"), device)?, &opened, &path)?;
        Ok(TrainedOnGraph { net, config, note, device: device.clone() })
    }

    /// The same of a run that learnt a program.
    pub fn trained_program(&self, weights_file: &str, device: &Device) -> Result<TrainedProgram> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: ProgramNote = note(&opened, &path)?;
        let config = ProgramModelConfig::of_run(&document)?;
        let net = config.0.init(&mut Stream::new(0, "init"), device)?;
        Ok(TrainedProgram { net: fill(net, &opened, &path)?, config, note, device: device.clone() })
    }

    /// The same of a run on stories.
    pub fn trained_on_stories(&self, weights_file: &str, device: &Device) -> Result<TrainedOnStories> {
        let (document, opened, path) = self.weights(weights_file)?;
        let note: StoryNote = note(&opened, &path)?;
        let config = StoryModelConfig::of_run(&document)?;
        check_classes(&note.words, config.vocabulary(), &path)?;
        let net = fill(config.init(&mut Stream::new(0, "init"), device)?, &opened, &path)?;
        Ok(TrainedOnStories { net, config, note, device: device.clone() })
    }

    /// The weights of a task that is at hand.
    pub(crate) fn best<T: Task>(&self, task: &T, device: &Device) -> Result<T::Net> {
        let (_, opened, path) = self.weights("best.safetensors")?;
        fill(task.net(&mut Stream::new(0, "init"), device)?, &opened, &path)
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

/// What stands beside the weights: all that a user of them needs to know of the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The epoch of these weights, from 1.
    pub epoch: usize,
    /// What is done to every input.
    pub preprocess: Preprocess,
    /// A name per class; empty without classes.
    pub classes: Vec<String>,
    /// Whether the classes are those of steps, or matrices are wanted: what the net was trained for.
    pub target: Wanted,
    /// How many matrices of a sequence the net was given, where it predicts the rest.
    pub past: Option<usize>,
    /// Whether its matrices stand before a σ.
    pub logits: bool,
}

/// What a net was trained to give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// A class per sample.
    #[default]
    Classes,
    /// A class per step.
    Steps,
    /// A matrix, or a sequence of them.
    Matrices,
}

impl Note {
    /// The note for the weights of an epoch of this task.
    pub(crate) fn new(task: &SampleTask, epoch: usize) -> Self {
        let target = match &task.model {
            ModelConfig::Classes(_) | ModelConfig::SequenceClasses(_) => Wanted::Classes,
            ModelConfig::StepClasses(_) => Wanted::Steps,
            _ => Wanted::Matrices,
        };
        let classes = match target {
            Wanted::Matrices => Vec::new(),
            _ => task.data.class_names().to_vec(),
        };
        let preprocess = task.data.preprocess.clone();
        let past = match (&task.model, &task.data.target) {
            (ModelConfig::Seq2Seq(_), Target::None | Target::Classes { .. } | Target::Steps { .. }) => {
                task.data.config.past
            }
            _ => None,
        };
        let logits = task.loss() == Loss::Bce;
        Self { epoch, preprocess, classes, target, past, logits }
    }
}

/// A trained net, ready to be used.
#[derive(Debug)]
pub struct Trained {
    /// The net.
    pub net: Model,
    /// Its config.
    pub config: ModelConfig,
    /// What else there is to know.
    pub note: Note,
    device: Device,
}

/// What a trained net answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Probabilities `[n, classes]` (`[n, time, classes]` for classes per step), or matrices `[n, rows, cols]` or
    /// `[n, time, rows, cols]`.
    pub numbers: Array,
    /// The most probable class of each sample or step; empty for matrices.
    pub classes: Vec<u32>,
}

impl Trained {
    /// What the net was trained to do, with these data; fails if they do not fit. Their classes are put in the order of
    /// the net's, by name.
    pub fn task(&self, mut data: Prepared, train: &TrainConfig) -> Result<SampleTask> {
        self.config.check_inputs(data.inputs.shape())?;
        if self.note.target != Wanted::Matrices {
            data.target = evaluate::with_classes(data.target, &self.note.classes)?;
        }
        evaluate::check_target(&self.config, &data)?;
        SampleTask::new(Arc::new(data), self.config.clone(), train)
    }

    /// Where the net lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Answers for raw inputs, as they stand in the user's files.
    pub fn answer(&self, inputs: Array) -> Result<Answers> {
        if self.note.preprocess.spectrogram.is_none() {
            self.config.check_inputs(inputs.shape())?;
        }
        let inputs = self.note.preprocess.apply(inputs)?;
        self.config.check_inputs(inputs.shape())?;
        let (shape, sequences) = (inputs.shape().to_vec(), self.config.sequences());
        let count = shape[0];
        let data = TensorData::new(inputs.into_data(), shape.clone());
        let input = match sequences {
            false => Input::Matrices(Tensor::from_data(data, &self.device)),
            true => {
                let sequences = Tensor::<4>::from_data(data, &self.device);
                Input::Sequences(match self.note.past {
                    Some(past) if past < shape[1] => sequences.slice([0..count, 0..past]),
                    _ => sequences,
                })
            }
        };
        match self.net.forward(input, &mut Mode::Eval) {
            Output::Scores(scores) => {
                let given = scores.dims()[1];
                let classes = task::answers(&task::numbers(scores.clone()), given);
                let shares = task::probabilities(scores);
                let columns = shares.dims()[1];
                let shape = match self.config {
                    ModelConfig::StepClasses(_) => vec![count, shape[1], columns],
                    _ => vec![count, columns],
                };
                Ok(Answers { numbers: Array::new(shape, task::numbers(shares))?, classes })
            }
            Output::Matrices(matrices) => {
                let matrices = match self.note.logits {
                    true => burn::tensor::activation::sigmoid(matrices),
                    false => matrices,
                };
                let [given, rows, cols] = matrices.dims();
                let shape = match sequences {
                    true => vec![count, given / count.max(1), rows, cols],
                    false => vec![count, rows, cols],
                };
                Ok(Answers { numbers: Array::new(shape, task::numbers(matrices))?, classes: Vec::new() })
            }
        }
    }
}
