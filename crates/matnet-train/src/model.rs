//! Every net there is, behind one type.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use matnet::layer::{ClassHead, MatrixHead};
use matnet::net::{
    AutoEncoder, AutoEncoderConfig, FeedForward, FeedForwardConfig, Seq2Seq, Seq2SeqConfig,
    SequenceClassifier, SequenceClassifierConfig, SequenceLabeller, SequenceLabellerConfig,
};
use matnet::random::SeededRng;
use matnet::{ConfigError, Form, Mode, Net};
use matnet_data::Target;
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use crate::config::{Document, read_table, suggestion};
use crate::data::Prepared;
use crate::graph::GRAPH_KINDS;
use crate::program::PROGRAM_KINDS;
use crate::run::{Note, Wanted};
use crate::stories::STORY_KINDS;
use crate::{Error, Result};

/// The words for `model.kind`.
pub const KINDS: [&str; 5] =
    ["feedforward", "autoencoder", "sequence-classifier", "sequence-labeller", "seq2seq"];

/// The config of a net whose sizes are all known.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelConfig {
    /// A class for a matrix.
    Classes(FeedForwardConfig<usize>),
    /// A matrix for a matrix.
    Matrices(FeedForwardConfig<[usize; 2]>),
    /// A matrix for itself.
    AutoEncoder(AutoEncoderConfig),
    /// A class for a sequence.
    SequenceClasses(SequenceClassifierConfig),
    /// A class for each step.
    StepClasses(SequenceLabellerConfig<usize>),
    /// A matrix for each step.
    StepMatrices(SequenceLabellerConfig<[usize; 2]>),
    /// A sequence for a sequence.
    Seq2Seq(Seq2SeqConfig),
}

/// A net of any kind.
#[derive(Module, Debug)]
pub enum Model {
    /// A class for a matrix.
    Classes(FeedForward<ClassHead>),
    /// A matrix for a matrix.
    Matrices(FeedForward<MatrixHead>),
    /// A matrix for itself.
    AutoEncoder(AutoEncoder),
    /// A class for a sequence.
    SequenceClasses(SequenceClassifier),
    /// A class for each step.
    StepClasses(SequenceLabeller<ClassHead>),
    /// A matrix for each step.
    StepMatrices(SequenceLabeller<MatrixHead>),
    /// A sequence for a sequence.
    Seq2Seq(Seq2Seq),
}

/// What a net takes.
#[derive(Clone, Debug)]
pub enum Input {
    /// `[batch, rows, cols]`
    Matrices(Tensor<3>),
    /// `[batch, time, rows, cols]`
    Sequences(Tensor<4>),
}

/// What a net gives.
#[derive(Clone, Debug)]
pub enum Output {
    /// Scores `[batch, classes]`, or `[batch · time, classes]` for classes per step.
    Scores(Tensor<2>),
    /// Matrices `[batch, rows, cols]`, or `[batch · time, rows, cols]` for sequences.
    Matrices(Tensor<3>),
}

impl ModelConfig {
    /// Reads `[model]` and fills in the sizes that the data decide.
    pub fn read(document: &Document, data: &Prepared) -> Result<Self> {
        let mut table = document.model()?;
        let kind = match table.remove("kind") {
            Some(Value::String(kind)) => kind,
            Some(other) => return Err(Error::Config(format!("model.kind: {other}; {}", kinds()))),
            None => return Err(Error::Config(format!("model.kind: is missing; {}", kinds()))),
        };
        let wrong = |key: &str, value: &str, expected: String| {
            Err(Error::key("model", ConfigError::new(key, value, expected)))
        };
        let sequences = data.time().is_some();
        let wants_sequences = match kind.as_str() {
            "feedforward" | "autoencoder" => false,
            "sequence-classifier" | "sequence-labeller" | "seq2seq" => true,
            other => return Err(unknown(other)),
        };
        if sequences != wants_sequences {
            let expected = match sequences {
                true => {
                    "these data are sequences of matrices, which sequence-classifier, sequence-labeller and seq2seq take"
                }
                false => "these data are single matrices, which feedforward and autoencoder take",
            };
            return wrong("kind", &kind, expected.to_owned());
        }
        fill(&mut table, "input", &[data.sides()[0], data.sides()[1]]);
        let config = match (kind.as_str(), &data.target) {
            ("autoencoder", _) => Self::AutoEncoder(read_table("model", table)?),
            ("feedforward", Target::Classes { names, .. }) => {
                fill_count(&mut table, "output", names.len());
                Self::Classes(read_table("model", table)?)
            }
            ("feedforward", Target::Matrices(targets)) if targets.shape().len() == 3 => {
                fill(&mut table, "output", &targets.shape()[1..]);
                Self::Matrices(read_table("model", table)?)
            }
            ("sequence-classifier", Target::Classes { names, .. }) => {
                fill_count(&mut table, "output", names.len());
                Self::SequenceClasses(read_table("model", table)?)
            }
            ("sequence-labeller", Target::Steps { names, .. }) => {
                fill_count(&mut table, "output", names.len());
                Self::StepClasses(read_table("model", table)?)
            }
            ("sequence-labeller", Target::Matrices(targets))
                if targets.shape().len() == 4 && Some(targets.shape()[1]) == data.time() =>
            {
                fill(&mut table, "output", &targets.shape()[2..]);
                Self::StepMatrices(read_table("model", table)?)
            }
            ("seq2seq", Target::Matrices(targets)) if targets.shape().len() == 4 => {
                fill(&mut table, "output", &targets.shape()[2..]);
                fill_count(&mut table, "steps", targets.shape()[1]);
                Self::Seq2Seq(read_table("model", table)?)
            }
            ("seq2seq", _) => {
                let time = data.time().unwrap_or(0);
                let Some(past) = data.config.past.filter(|&past| past < time) else {
                    let value = data.config.past.map_or("missing".to_owned(), |past| past.to_string());
                    let expected =
                        format!("how many of the {time} steps are given, between 1 and {}", time - 1);
                    return Err(Error::key("data", ConfigError::new("past", value, expected)));
                };
                fill_count(&mut table, "steps", time - past);
                Self::Seq2Seq(read_table("model", table)?)
            }
            (_, target) => {
                let (have, fits) = match target {
                    Target::None => ("nothing to be learnt", "autoencoder, or seq2seq for sequences,"),
                    Target::Classes { .. } => ("a class per sample", "feedforward, or sequence-classifier,"),
                    Target::Steps { .. } => ("a class per step", "sequence-labeller"),
                    Target::Matrices(_) => {
                        ("matrices to be learnt", "feedforward, sequence-labeller or seq2seq")
                    }
                };
                return wrong("kind", &kind, format!("the data have {have}; {fits} learns from such"));
            }
        };
        config.check(data)?;
        Ok(config)
    }

    /// Reads `[model]` of a run, where all sizes are written out.
    pub(crate) fn of_run(document: &Document, note: &Note) -> Result<Self> {
        let mut table = document.model()?;
        let kind = match table.remove("kind") {
            Some(Value::String(kind)) => kind,
            _ => return Err(Error::Config(format!("model.kind: is missing; {}", kinds()))),
        };
        Ok(match (kind.as_str(), note.target) {
            ("feedforward", Wanted::Matrices) => Self::Matrices(read_table("model", table)?),
            ("feedforward", _) => Self::Classes(read_table("model", table)?),
            ("autoencoder", _) => Self::AutoEncoder(read_table("model", table)?),
            ("sequence-classifier", _) => Self::SequenceClasses(read_table("model", table)?),
            ("sequence-labeller", Wanted::Matrices) => Self::StepMatrices(read_table("model", table)?),
            ("sequence-labeller", _) => Self::StepClasses(read_table("model", table)?),
            ("seq2seq", _) => Self::Seq2Seq(read_table("model", table)?),
            (other, _) => return Err(Error::Config(format!("model.kind: {other}; {}", kinds()))),
        })
    }

    /// The sizes fit the data.
    fn check(&self, data: &Prepared) -> Result<()> {
        let wrong = |key: &str, value: String, expected: String| {
            Err(Error::key("model", ConfigError::new(key, value, expected)))
        };
        let [rows, cols] = data.sides();
        if self.input() != [rows, cols] {
            let [r, c] = self.input();
            return wrong("input", format!("{r}×{c}"), format!("the data are {rows}×{cols}; leave it out"));
        }
        let classes = data.class_names().len();
        if let Some(output) = self.classes()
            && output != classes
            && (output, classes) != (1, 2)
        {
            let or = if classes == 2 { ", or 1 for a logit" } else { "" };
            return wrong("output", output.to_string(), format!("the data have {classes} classes{or}"));
        }
        let sides = match (self, &data.target) {
            (Self::Matrices(config), Target::Matrices(targets)) => {
                Some((config.output, [targets.shape()[1], targets.shape()[2]]))
            }
            (Self::StepMatrices(config), Target::Matrices(targets)) => {
                Some((config.output, [targets.shape()[2], targets.shape()[3]]))
            }
            (Self::Seq2Seq(config), Target::Matrices(targets)) => {
                Some((config.output.unwrap_or(config.input), [targets.shape()[2], targets.shape()[3]]))
            }
            (Self::Seq2Seq(config), _) => Some((config.output.unwrap_or(config.input), [rows, cols])),
            _ => None,
        };
        if let Some(([r, c], [rows, cols])) = sides.filter(|(have, want)| have != want) {
            return wrong(
                "output",
                format!("{r}×{c}"),
                format!("the targets are {rows}×{cols}; leave it out"),
            );
        }
        if let (Self::Seq2Seq(config), Some(steps)) = (self, future(data))
            && config.steps != steps
        {
            return wrong(
                "steps",
                config.steps.to_string(),
                format!("the data have {steps} to predict; leave it out"),
            );
        }
        Ok(())
    }

    /// Draws the first values.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Model> {
        let model = match self {
            Self::Classes(config) => config.init(rng, device).map(Model::Classes),
            Self::Matrices(config) => config.init(rng, device).map(Model::Matrices),
            Self::AutoEncoder(config) => config.init(rng, device).map(Model::AutoEncoder),
            Self::SequenceClasses(config) => config.init(rng, device).map(Model::SequenceClasses),
            Self::StepClasses(config) => config.init(rng, device).map(Model::StepClasses),
            Self::StepMatrices(config) => config.init(rng, device).map(Model::StepMatrices),
            Self::Seq2Seq(config) => config.init(rng, device).map(Model::Seq2Seq),
        };
        model.map_err(|error| Error::key("model", error))
    }

    /// The word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Classes(_) | Self::Matrices(_) => "feedforward",
            Self::AutoEncoder(_) => "autoencoder",
            Self::SequenceClasses(_) => "sequence-classifier",
            Self::StepClasses(_) | Self::StepMatrices(_) => "sequence-labeller",
            Self::Seq2Seq(_) => "seq2seq",
        }
    }

    /// Matrix or vector.
    pub fn form(&self) -> Form {
        match self {
            Self::Classes(config) => config.form,
            Self::Matrices(config) => config.form,
            Self::AutoEncoder(config) => config.form,
            Self::SequenceClasses(config) => config.form,
            Self::StepClasses(config) => config.form,
            Self::StepMatrices(config) => config.form,
            Self::Seq2Seq(config) => config.form,
        }
    }

    /// Rows and columns of the input.
    pub fn input(&self) -> [usize; 2] {
        match self {
            Self::Classes(config) => config.input,
            Self::Matrices(config) => config.input,
            Self::AutoEncoder(config) => config.input,
            Self::SequenceClasses(config) => config.input,
            Self::StepClasses(config) => config.input,
            Self::StepMatrices(config) => config.input,
            Self::Seq2Seq(config) => config.input,
        }
    }

    /// Whether it takes sequences, not single matrices.
    pub fn sequences(&self) -> bool {
        match self {
            Self::Classes(_) | Self::Matrices(_) | Self::AutoEncoder(_) => false,
            Self::SequenceClasses(_) | Self::StepClasses(_) | Self::StepMatrices(_) | Self::Seq2Seq(_) => {
                true
            }
        }
    }

    /// Fails unless inputs of this shape are what it takes.
    pub fn check_inputs(&self, shape: &[usize]) -> Result<()> {
        let [rows, cols] = self.input();
        let (wanted, fits) = match self.sequences() {
            true => {
                let fits = matches!(*shape, [_, time, r, c] if time > 0 && [r, c] == [rows, cols]);
                (format!("[n, time, {rows}, {cols}]"), fits)
            }
            false => (format!("[n, {rows}, {cols}]"), matches!(*shape, [_, r, c] if [r, c] == [rows, cols])),
        };
        match fits {
            true => Ok(()),
            false => Err(Error::Run(format!("the net takes {wanted}, these inputs are {shape:?}"))),
        }
    }

    /// How many scores it gives, if it gives scores.
    pub fn classes(&self) -> Option<usize> {
        match self {
            Self::Classes(config) => Some(config.output),
            Self::SequenceClasses(config) => Some(config.output),
            Self::StepClasses(config) => Some(config.output),
            Self::Matrices(_) | Self::AutoEncoder(_) | Self::StepMatrices(_) | Self::Seq2Seq(_) => None,
        }
    }
}

/// The config of a net as a table of a config file, `kind` first.
#[derive(Serialize)]
pub(crate) struct WithKind<'a, C: Serialize> {
    /// The word for the net.
    pub kind: &'static str,
    /// All its other keys.
    #[serde(flatten)]
    pub config: &'a C,
}

impl Serialize for ModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind();
        match self {
            Self::Classes(config) => WithKind { kind, config }.serialize(serializer),
            Self::Matrices(config) => WithKind { kind, config }.serialize(serializer),
            Self::AutoEncoder(config) => WithKind { kind, config }.serialize(serializer),
            Self::SequenceClasses(config) => WithKind { kind, config }.serialize(serializer),
            Self::StepClasses(config) => WithKind { kind, config }.serialize(serializer),
            Self::StepMatrices(config) => WithKind { kind, config }.serialize(serializer),
            Self::Seq2Seq(config) => WithKind { kind, config }.serialize(serializer),
        }
    }
}

impl Model {
    /// From input to output.
    ///
    /// # Panics
    ///
    /// If the input is of the wrong kind or has other sides; the config was checked against the data.
    pub fn forward(&self, input: Input, mode: &mut Mode) -> Output {
        let flat = |sequences: Tensor<4>| {
            let [batch, time, rows, cols] = sequences.dims();
            sequences.reshape([batch * time, rows, cols])
        };
        match (self, input) {
            (Self::Classes(net), Input::Matrices(input)) => Output::Scores(net.forward(input, mode)),
            (Self::Matrices(net), Input::Matrices(input)) => Output::Matrices(net.forward(input, mode)),
            (Self::AutoEncoder(net), Input::Matrices(input)) => Output::Matrices(net.forward(input, mode)),
            (Self::SequenceClasses(net), Input::Sequences(input)) => Output::Scores(net.forward(input, mode)),
            (Self::StepClasses(net), Input::Sequences(input)) => {
                let scores = net.forward(input, mode);
                let [batch, time, classes] = scores.dims();
                Output::Scores(scores.reshape([batch * time, classes]))
            }
            (Self::StepMatrices(net), Input::Sequences(input)) => {
                Output::Matrices(flat(net.forward(input, mode)))
            }
            (Self::Seq2Seq(net), Input::Sequences(input)) => Output::Matrices(flat(net.forward(input, mode))),
            (_, Input::Matrices(input)) => panic!("sequences expected, got {:?}", input.dims()),
            (_, Input::Sequences(input)) => panic!("matrices expected, got {:?}", input.dims()),
        }
    }
}

/// How many matrices of a sequence are to be predicted.
pub(crate) fn future(data: &Prepared) -> Option<usize> {
    match (&data.target, data.time()) {
        (Target::Matrices(targets), _) if targets.shape().len() == 4 => Some(targets.shape()[1]),
        (_, Some(time)) => data.config.past.map(|past| time.saturating_sub(past)),
        _ => None,
    }
}

/// Fails if there is no net of the kind a config names. That decides what all other keys mean, so it comes first.
pub(crate) fn check_kind(document: &Document) -> Result<()> {
    let table = document.model().unwrap_or_default();
    match table.get("kind").and_then(Value::as_str) {
        Some(kind) if !all_kinds().any(|known| known == kind) => Err(unknown(kind)),
        _ => Ok(()),
    }
}

/// The words for all nets there are.
fn all_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().chain(GRAPH_KINDS).chain(PROGRAM_KINDS).chain(STORY_KINDS)
}

fn unknown(kind: &str) -> Error {
    let known: Vec<String> = all_kinds().map(str::to_owned).collect();
    Error::key("model", ConfigError::new("kind", kind, suggestion(kind, &known)))
}

fn kinds() -> String {
    format!("one of {}", KINDS.join(", "))
}

fn fill(table: &mut Table, key: &str, sides: &[usize]) {
    if !table.contains_key(key) {
        let sides = sides.iter().map(|&side| Value::Integer(side as i64)).collect();
        table.insert(key.to_owned(), Value::Array(sides));
    }
}

fn fill_count(table: &mut Table, key: &str, count: usize) {
    if !table.contains_key(key) {
        table.insert(key.to_owned(), Value::Integer(count as i64));
    }
}
