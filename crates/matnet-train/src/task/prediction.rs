//! Predictions of a trained net, for arrays and for files.

use std::path::Path;

use burn::tensor::Tensor;
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::local::SampleReader;

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
    /// Probabilities `[n, classes]` (`[n, time, classes]` for classes per step), or matrices `[n, rows, cols]` or
    /// `[n, time, rows, cols]`.
    pub values: Array,
    /// The most probable class of each example or step; empty for matrices.
    pub classes: Vec<u32>,
}

impl Predictions {
    /// From class scores `[n, classes]`; `shape` is that of the probabilities.
    pub(crate) fn of_scores(scores: Tensor<2>, shape: impl FnOnce(usize) -> Vec<usize>) -> Result<Self> {
        let classes = predicted_classes(&to_vec(scores.clone()), scores.dims()[1]);
        let probabilities = probabilities(scores);
        let shape = shape(probabilities.dims()[1]);
        Ok(Self { values: Array::new(shape, to_vec(probabilities))?, classes })
    }
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
    /// A name per class; empty for matrices.
    pub classes: Vec<String>,
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

/// Predictions for samples in files, by a function from raw inputs to predictions.
pub(crate) fn for_samples<'a>(
    request: &PredictRequest,
    classes: &[String],
    predict: impl Fn(Array) -> Result<Predictions> + 'a,
) -> Result<PredictionStream<'a>> {
    request.refuse_edges()?;
    let mut chunks = SampleReader::open(request.input)?;
    let batch = request.batch_size.unwrap_or_else(|| match chunks.sample_size() {
        Some(size) => (NUMBERS / size.max(1)).clamp(1, MAX_SAMPLES),
        None => FILES,
    });
    let (total, input, mut done) = (chunks.len(), request.input.display().to_string(), 0);
    let batches = std::iter::from_fn(move || {
        let inputs = match chunks.next_chunk(batch) {
            Ok(inputs) => inputs?,
            Err(error) => return Some(Err(error.into())),
        };
        let count = inputs.len();
        let names = chunks.file_names().map(|names| names[done..done + count].to_vec());
        done += count;
        let predictions = predict(inputs).map_err(|error| match error {
            error @ (Error::Mismatch(_) | Error::Data(matnet_data::Error::Invalid(_))) => {
                error.within(input.clone())
            }
            other => other,
        });
        Some(predictions.map(|predictions| PredictedBatch { predictions, names }))
    });
    Ok(PredictionStream { unit: "sample", total, classes: classes.to_vec(), batches: Box::new(batches) })
}
