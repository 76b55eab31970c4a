//! Trained nets of any kind: alone, for predictions, or with a dataset, for evaluations and reports.

use std::any::Any;

use burn::tensor::TensorData;
use matnet::net::Net;
use matnet::summary::LayerSummary;
use matnet::weights;
use matnet_data::Array;
use matnet_data::catalog::Cache;
#[cfg(feature = "report")]
use matnet_report::{chart::Scatter3d, page::Page};

use crate::task::{
    EvalOptions, Evaluation, Fitted, Interface, Loaded, OtherData, PredictRequest, PredictionStream,
    Predictions, Task, TaskData, Wanted, batch_of,
};
#[cfg(feature = "report")]
use crate::task::{ExampleMatrices, FigureKind, TaskFigure};
use crate::{Result, Split};

/// How often a forward pass holds its input: as it came, transformed, and gathered.
const INPUT_COPIES: u64 = 3;
/// How often it holds the output of a layer: the four gates of an LSTM, and the output itself.
const OUTPUT_COPIES: u64 = 5;

/// A trained net, ready to predict.
pub trait Predictor: Send + Sync {
    /// The epoch of its weights, from 1.
    fn epoch(&self) -> usize;
    /// Predictions for raw inputs, as they stand in the user's files: `[n, rows, cols]` or `[n, time, rows, cols]`.
    fn predict(&self, inputs: Array) -> Result<Predictions> {
        self.predict_sequences(inputs, &[])
    }
    /// The same for sequences `[n, time, rows, cols]` that are padded: `lengths` are the steps of each.
    fn predict_sequences(&self, inputs: Array, lengths: &[usize]) -> Result<Predictions>;
    /// Codes, hidden states or reconstruction errors for raw inputs; `lengths` as before.
    fn states(&self, wanted: Wanted, inputs: Array, lengths: &[usize]) -> Result<Predictions>;
    /// What an auto-encoder reconstructs from codes `[n, rows, cols]`.
    fn decode(&self, codes: Array) -> Result<Array>;
    /// What is stored beside the weights: classes, names, transforms.
    fn metadata(&self) -> serde_json::Value;
    /// Inputs per batch where the user does not say: as many as a few MiB hold.
    fn batch_size(&self, numbers_per_input: usize) -> usize {
        batch_of(numbers_per_input)
    }
    /// Bytes that the forward pass over one raw input of this shape takes, about: as much as any kind of net may need, which can be a few
    /// times what this one does.
    fn pass_bytes(&self, shape: &[usize]) -> u64;
    /// What the net takes and gives; `None` for nets on graphs and stories, whose inputs are not arrays of samples.
    fn interface(&self) -> Option<Interface>;
    /// Predictions for a file, a folder or a dataset, a batch at a time.
    fn predict_file(&self, request: &PredictRequest) -> Result<PredictionStream<'_>>;
    /// What the net attends to in the first `count` examples of a file, a figure for each; empty for nets without attention.
    #[cfg(feature = "report")]
    fn attention(&self, request: &PredictRequest, count: usize) -> Result<Vec<TaskFigure>>;
    /// The net with the dataset of its run, loaded again.
    fn with_run_data(self: Box<Self>, cache: &Cache) -> Result<Box<dyn Model>>;
    /// The net with other data, all of which are the test split.
    fn with_data(self: Box<Self>, other: OtherData, cache: &Cache) -> Result<Box<dyn Model>>;
    /// Its parameters by name.
    fn weights(&self) -> Vec<(String, TensorData)>;
    /// The net and what belongs to it, for programs that write it in another form.
    fn parts(&self) -> NetParts<'_>;
}

/// The parts of a trained net, each to be downcast.
#[derive(Clone, Copy)]
pub struct NetParts<'a> {
    /// The kind of net: feedforward, sequence-classifier, …
    pub kind: &'static str,
    /// A net of [`matnet::net`].
    pub net: &'a dyn Any,
    /// Its config.
    pub net_config: &'a dyn Any,
    /// What is stored beside the weights, like [`SampleMetadata`](crate::tasks::samples::SampleMetadata).
    pub metadata: &'a dyn Any,
    /// `[data]`, like [`SampleDataConfig`](crate::tasks::samples::SampleDataConfig).
    pub data_config: &'a dyn Any,
}

/// A trained net with a dataset, ready to be evaluated and drawn.
pub trait Model {
    /// The epoch of its weights, from 1.
    fn epoch(&self) -> usize;
    /// The name or path of the dataset.
    fn source(&self) -> &str;
    /// Whether the dataset is, by its checksum, the one the run was trained on.
    fn same_data(&self) -> Result<bool>;
    /// The examples of a split.
    fn examples(&self, split: Split) -> &[usize];
    /// Scores a split. The test score of a run is that of its `result.json`, to the last bit.
    fn evaluate(&self, split: Split, options: &EvalOptions) -> Result<Evaluation>;
    /// The layers of the net.
    fn summary(&self) -> Vec<LayerSummary>;
    /// Its parameters by name.
    fn weights(&self) -> Vec<(String, TensorData)>;
    /// The report of the run; `embedding` adds the hidden states of nodes, which take a while to be placed.
    #[cfg(feature = "report")]
    fn report(&self, embedding: Option<&Scatter3d>) -> Result<Page>;
    /// Inputs, targets and outputs of some examples, if they are matrices.
    #[cfg(feature = "report")]
    fn matrices(&self, examples: &[usize]) -> Result<Option<ExampleMatrices>>;
    /// Figures of one kind; empty if the task has none.
    #[cfg(feature = "report")]
    fn figures(&self, kind: FigureKind) -> Result<Vec<TaskFigure>>;
    /// The dataset, to be downcast to [`SampleData`](crate::tasks::samples::SampleData) or another.
    fn dataset(&self) -> &dyn Any;
}

impl<T: Task> Predictor for Loaded<T> {
    fn epoch(&self) -> usize {
        self.epoch
    }

    fn predict_sequences(&self, inputs: Array, lengths: &[usize]) -> Result<Predictions> {
        T::predict(self, inputs, lengths)
    }

    fn states(&self, wanted: Wanted, inputs: Array, lengths: &[usize]) -> Result<Predictions> {
        T::states(self, wanted, inputs, lengths)
    }

    fn decode(&self, codes: Array) -> Result<Array> {
        T::decode(self, codes)
    }

    fn metadata(&self) -> serde_json::Value {
        // It was read from JSON.
        serde_json::to_value(&self.metadata).unwrap_or_default()
    }

    fn pass_bytes(&self, shape: &[usize]) -> u64 {
        let input = shape.iter().fold(1_u64, |count, &side| count.saturating_mul(side as u64));
        let layers = self.net.summary(T::steps(self, shape));
        let outputs = layers.iter().map(LayerSummary::output_numbers).fold(0_u64, u64::saturating_add);
        let numbers =
            input.saturating_mul(INPUT_COPIES).saturating_add(outputs.saturating_mul(OUTPUT_COPIES));
        numbers.saturating_mul(4)
    }

    fn interface(&self) -> Option<Interface> {
        T::interface(self)
    }

    fn predict_file(&self, request: &PredictRequest) -> Result<PredictionStream<'_>> {
        T::predict_file(self, request)
    }

    #[cfg(feature = "report")]
    fn attention(&self, request: &PredictRequest, count: usize) -> Result<Vec<TaskFigure>> {
        T::attention(self, request, count)
    }

    fn with_run_data(self: Box<Self>, cache: &Cache) -> Result<Box<dyn Model>> {
        let data = T::reload(&self.data_config, cache, self.train.seed, &self.metadata)?;
        Ok(Box::new(self.with(data)?))
    }

    fn with_data(self: Box<Self>, other: OtherData, cache: &Cache) -> Result<Box<dyn Model>> {
        let data = T::load_other(other, &self.data_config, &self.metadata, cache)?;
        Ok(Box::new(self.with(data)?))
    }

    fn weights(&self) -> Vec<(String, TensorData)> {
        weights::named(&self.net)
    }

    fn parts(&self) -> NetParts<'_> {
        let Self { kind, net, net_config, metadata, data_config, .. } = self;
        NetParts { kind, net, net_config, metadata, data_config }
    }
}

impl<T: Task> Model for Fitted<T> {
    fn epoch(&self) -> usize {
        self.epoch
    }

    fn source(&self) -> &str {
        self.task.data().source()
    }

    fn same_data(&self) -> Result<bool> {
        Ok(self.task.data().checksum() == self.run.data_checksum()?)
    }

    fn examples(&self, split: Split) -> &[usize] {
        self.task.data().split(split)
    }

    fn evaluate(&self, split: Split, options: &EvalOptions) -> Result<Evaluation> {
        self.task.evaluate(&self.net, split, &self.train, options, &self.device)
    }

    fn summary(&self) -> Vec<LayerSummary> {
        self.net.summary(self.task.example().steps)
    }

    fn weights(&self) -> Vec<(String, TensorData)> {
        weights::named(&self.net)
    }

    #[cfg(feature = "report")]
    fn report(&self, embedding: Option<&Scatter3d>) -> Result<Page> {
        crate::report::page(self, embedding)
    }

    #[cfg(feature = "report")]
    fn matrices(&self, examples: &[usize]) -> Result<Option<ExampleMatrices>> {
        self.task.matrices(&self.net, examples, &self.device)
    }

    #[cfg(feature = "report")]
    fn figures(&self, kind: FigureKind) -> Result<Vec<TaskFigure>> {
        self.task.figures(self, kind)
    }

    fn dataset(&self) -> &dyn Any {
        &**self.task.data()
    }
}
