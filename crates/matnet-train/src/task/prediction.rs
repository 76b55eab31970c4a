//! Predictions of a trained net, for arrays and for files.

use std::path::Path;

use burn::tensor::Tensor;
use matnet::{LayerState, Mode};
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::local::{self, ReadOptions, SampleChunk, SampleReader};

use super::{predicted_classes, probabilities, to_vec};
use crate::{Error, Result};

/// Numbers of input per batch, unless the user says how many samples: 16 MiB.
const NUMBERS: usize = 4 << 20;
/// More samples per batch are no faster.
const MAX_SAMPLES: usize = 1024;
/// Samples per batch where their size is not known before they are read.
pub(crate) const FILES: usize = 64;

/// What a trained net predicts for some examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Probabilities `[n, classes]` (`[n, time, classes]` for classes per step), values or probabilities of labels `[n, k]`, or
    /// matrices `[n, rows, cols]` or `[n, time, rows, cols]`. What follows the end of a shorter sequence is 0.
    pub values: Array,
    /// The most probable class of each example or step; empty without classes.
    pub classes: Vec<u32>,
    /// The steps of each sequence, where every step has a prediction and lengths differ.
    pub lengths: Vec<usize>,
}

impl Predictions {
    /// From class scores `[n, classes]`; `shape` is that of the probabilities.
    pub(crate) fn of_scores(scores: Tensor<2>, shape: impl FnOnce(usize) -> Vec<usize>) -> Result<Self> {
        let classes = predicted_classes(&to_vec(scores.clone()), scores.dims()[1]);
        let probabilities = probabilities(scores);
        let shape = shape(probabilities.dims()[1]);
        Ok(Self { values: Array::new(shape, to_vec(probabilities))?, classes, lengths: Vec::new() })
    }

    /// Without classes.
    pub(crate) fn of_values(values: Array) -> Self {
        Self { values, classes: Vec::new(), lengths: Vec::new() }
    }

    /// From rows `[steps, …]` of sequences one after another to `[n, time, …]`.
    pub(crate) fn padded(self, lengths: &[usize], time: usize) -> Result<Self> {
        let Self { values, classes, .. } = self;
        let sides = values.shape()[1..].to_vec();
        let size: usize = sides.iter().product();
        let (mut padded, mut row) = (Vec::with_capacity(lengths.len() * time * size), 0);
        for (at, &length) in lengths.iter().enumerate() {
            padded.extend_from_slice(&values.data()[row * size..(row + length) * size]);
            padded.resize((at + 1) * time * size, 0.0);
            row += length;
        }
        let shape = [vec![lengths.len(), time], sides].concat();
        Ok(Self { values: Array::new(shape, padded)?, classes, lengths: lengths.to_vec() })
    }
}

/// Fails unless there is a length for each sequence, or none.
pub(crate) fn check_lengths(shape: &[usize], lengths: &[usize]) -> Result<()> {
    let &[count, time, _, _] = shape else {
        return match lengths {
            [] => Ok(()),
            _ => Err(Error::Mismatch("lengths were given for single matrices".to_owned())),
        };
    };
    if !lengths.is_empty() && lengths.len() != count {
        return Err(Error::Mismatch(format!(
            "lengths: {} given; {count} expected, one per sequence",
            lengths.len()
        )));
    }
    match lengths.iter().position(|length| !(1..=time).contains(length)) {
        Some(at) => Err(Error::Mismatch(format!(
            "the length of sample {at} is {}; 1 to {time} expected",
            lengths[at]
        ))),
        None => Ok(()),
    }
}

/// What a net may be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Its predictions.
    #[default]
    Predictions,
    /// The states of a hidden layer, by its name in `matnet inspect`.
    Hidden(&'a str),
    /// The code of an auto-encoder.
    Code,
    /// The mean reconstruction error of an auto-encoder, by the loss that it was trained with.
    Score,
}

/// The states of a layer, by its name in the summary of the net, from a forward pass that recorded all of them. Of a layer that is used
/// several times these are the last.
pub(crate) fn recorded<'a>(mode: &'a Mode, layer: &str) -> Result<&'a LayerState> {
    // The layers of recurrent nets are counted within their part of the net; an encoder comes before its decoder.
    let is_it = |state: &&LayerState| {
        state.layer == layer || layer.strip_suffix(&state.layer).is_some_and(|part| part.ends_with('.'))
    };
    let found = match layer.starts_with("encoder.") {
        true => mode.recorded().iter().find(is_it),
        false => mode.recorded().iter().rev().find(is_it),
    };
    found.ok_or_else(|| {
        let mut names: Vec<&str> = mode.recorded().iter().map(|state| state.layer.as_str()).collect();
        names.dedup();
        let what = format!("no hidden layer is called `{layer}`; there are {}", names.join(", "));
        Error::Mismatch(what)
    })
}

/// The same as predictions, for a layer with a state per example.
pub(crate) fn recorded_states(mode: &Mode, layer: &str) -> Result<Predictions> {
    let LayerState { shape, values, .. } = recorded(mode, layer)?;
    Ok(Predictions::of_values(Array::new(shape.clone(), values.clone())?))
}

/// What to predict for.
#[derive(Clone, Copy, Debug)]
pub struct PredictRequest<'a> {
    /// A file, a folder, or the name of a dataset.
    pub input: &'a Path,
    /// The edge list of a graph whose input is a table of nodes.
    pub edges: Option<&'a Path>,
    /// Examples per batch; by default as many as 16 MiB hold.
    pub batch_size: Option<usize>,
    /// What is asked for.
    pub wanted: Wanted<'a>,
    /// Where datasets are.
    pub cache: &'a Cache,
}

impl PredictRequest<'_> {
    /// An error, said of the input.
    pub(crate) fn about(&self, error: Error) -> Error {
        match error {
            error @ Error::Mismatch(_) => error.within(self.input.display().to_string()),
            other => other,
        }
    }

    /// The hidden layer that is asked for; fails if codes or scores are, which only auto-encoders have.
    pub(crate) fn hidden_layer(&self, kind: &str) -> Result<Option<String>> {
        match self.wanted {
            Wanted::Predictions => Ok(None),
            Wanted::Hidden(layer) => Ok(Some(layer.to_owned())),
            Wanted::Code | Wanted::Score => {
                let what = format!("{kind}: only an autoencoder has codes and reconstruction errors");
                Err(Error::Mismatch(what))
            }
        }
    }

    pub(crate) fn refuse_edges(&self) -> Result<()> {
        match self.edges {
            None => Ok(()),
            Some(_) => {
                Err(Error::Mismatch("an edge list was given; only nets on graphs take one".to_owned()))
            }
        }
    }
}

/// Predictions, a batch at a time.
pub struct PredictionStream<'a> {
    /// What one example is called: sample, node, question.
    pub unit: &'static str,
    /// How many there will be.
    pub total: usize,
    /// A name per class; empty without classes.
    pub classes: Vec<String>,
    /// A name per column, for values and labels; else empty.
    pub columns: Vec<String>,
    /// The batches.
    pub batches: Box<dyn Iterator<Item = Result<PredictedBatch>> + 'a>,
}

/// The predictions for some examples.
#[derive(Clone, Debug)]
pub struct PredictedBatch {
    /// The predictions.
    pub predictions: Predictions,
    /// A name per example, where they have names.
    pub names: Option<Vec<String>>,
}

/// Only nets on samples have states.
pub(crate) fn no_states() -> Error {
    Error::Mismatch(
        "hidden states, codes and scores were asked for; only nets on matrices and sequences have them"
            .to_owned(),
    )
}

/// Inputs per batch, where the user does not say: as many as 16 MiB hold.
pub(crate) fn batch_of(numbers_per_input: usize) -> usize {
    (NUMBERS / numbers_per_input.max(1)).clamp(1, MAX_SAMPLES)
}

/// How the samples of files are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Where files leave a choice.
    pub options: ReadOptions,
    /// Whether values may be missing.
    pub missing: bool,
}

/// Predictions for samples in files, by a function from raw inputs to predictions.
pub(crate) fn for_samples<'a>(
    request: &PredictRequest,
    classes: &[String],
    reading: Reading,
    predict: impl Fn(Array, &[usize]) -> Result<Predictions> + 'a,
) -> Result<PredictionStream<'a>> {
    request.refuse_edges()?;
    // The options are those of the run's own files; inputs of another kind may have no use for them.
    let chunks = match SampleReader::open_with(request.input, &reading.options) {
        Err(error @ (matnet_data::Error::Io { .. } | matnet_data::Error::Memory { .. })) => Err(error),
        // A table must have the columns of the run.
        Err(error) if !reading.options.columns.is_empty() && local::has_columns(request.input) => Err(error),
        Err(error) => SampleReader::open(request.input).map_err(|_| error),
        chunks => chunks,
    }?;
    let mut chunks = if reading.missing { chunks.keep_missing() } else { chunks };
    let batch = request.batch_size.unwrap_or_else(|| match chunks.sample_size() {
        Some(size) => batch_of(size),
        None => FILES,
    });
    let (total, input, mut done) = (chunks.len(), request.input.display().to_string(), 0);
    let batches = std::iter::from_fn(move || {
        let SampleChunk { inputs, lengths } = match chunks.next_chunk(batch) {
            Ok(chunk) => chunk?,
            Err(error) => return Some(Err(error.into())),
        };
        let count = inputs.len();
        let names = chunks.file_names().map(|names| names[done..done + count].to_vec());
        done += count;
        let predictions = predict(inputs, &lengths).map_err(|error| match error {
            error @ (Error::Mismatch(_) | Error::Data(matnet_data::Error::Invalid(_))) => {
                error.within(input.clone())
            }
            other => other,
        });
        Some(predictions.map(|predictions| PredictedBatch { predictions, names }))
    });
    let (classes, columns) = (classes.to_vec(), Vec::new());
    Ok(PredictionStream { unit: "sample", total, classes, columns, batches: Box::new(batches) })
}
