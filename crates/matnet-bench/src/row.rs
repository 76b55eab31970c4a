//! The rows of the table: which net, on which input, and how many floating-point operations that takes.

use matnet::Form;
use matnet::layer::{Aggregation, CellKind};
use matnet::net::NetConfig;
use matnet::prelude::{
    ColumnNetConfig, FeedForwardConfig, GcnConfig, Seq2SeqConfig, SequenceClassifierConfig,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::graph::GraphSource;

/// The table, which `peers/bench` reads too.
const ROWS: &str = include_str!("../rows.json");

/// One benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// A short name.
    pub id: String,
    /// A line for the table.
    pub title: String,
    /// The kind of net.
    pub net: BenchNet,
    /// What is timed.
    pub mode: Timed,
    /// Samples; 0 for nets on graphs.
    #[serde(default)]
    pub batch: usize,
    /// Time steps; 0 for nets without time.
    #[serde(default)]
    pub time: usize,
    /// The graph, for nets on graphs; all its nodes are one batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphSource>,
    /// The config of the net.
    pub config: Value,
}

/// The nets in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchNet {
    /// Class scores, with the cross-entropy loss.
    Feedforward,
    /// One logit per sequence, with the binary cross-entropy loss.
    SequenceClassifier,
    /// A sequence for a sequence, with the mean squared error.
    Seq2seq,
    /// Class scores for the nodes of a graph, with the cross-entropy loss: column network.
    ColumnNet,
    /// The same with a graph convolutional network.
    Gcn,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timed {
    /// A training step: forward, loss, backward and Adam.
    Train,
    /// A forward pass without autodiff.
    Infer,
}

/// The rows of the table.
pub fn rows() -> Vec<Row> {
    serde_json::from_str(ROWS).expect("rows.json fits")
}

impl Row {
    /// The config of the net, parsed.
    pub fn config<C: serde::de::DeserializeOwned>(&self) -> Result<C, String> {
        serde_json::from_value(self.config.clone()).map_err(|error| format!("{}: {error}", self.id))
    }

    /// Fails with what is missing if the data of the row are not there.
    pub fn available(&self) -> Result<(), String> {
        self.graph.as_ref().map_or(Ok(()), GraphSource::available)
    }

    /// The graph of the row.
    pub fn source(&self) -> Result<&GraphSource, String> {
        self.graph.as_ref().ok_or_else(|| format!("{}: a net on graphs needs a graph", self.id))
    }

    /// Floating-point operations of the matrix products of one repetition; elementwise operations are not counted.
    pub fn flops(&self) -> Result<f64, String> {
        let mut count = Count { total: 0.0, train: self.mode == Timed::Train };
        let times = self.batch as f64;
        match self.net {
            BenchNet::Feedforward => {
                let config: FeedForwardConfig<usize> = self.config()?;
                let shapes = config.hidden.shapes(config.form, config.depth).map_err(|e| e.to_string())?;
                let mut before = config.form.holding("input", config.input).map_err(|e| e.to_string())?;
                for (index, &shape) in shapes.iter().enumerate() {
                    count.map(config.form, before, shape, times, index > 0);
                    before = shape;
                }
                count.product(before[0] * before[1], config.output, 1, times, true);
            }
            BenchNet::SequenceClassifier => {
                let config: SequenceClassifierConfig = self.config()?;
                let form = config.form;
                let input = form.holding("input", config.input).map_err(|e| e.to_string())?;
                let hidden = form.state("hidden", &config.hidden).map_err(|e| e.to_string())?;
                let steps = self.time as f64;
                count.cell(form, config.cell, input, hidden, times, steps, steps, false);
                let mut last = hidden;
                if let Some(projection) = config.projection {
                    let projection = form.state("projection", &projection).map_err(|e| e.to_string())?;
                    count.map(form, hidden, projection, times, true);
                    last = projection;
                }
                count.product(last[0] * last[1], config.output, 1, times, true);
            }
            BenchNet::Seq2seq => {
                let config: Seq2SeqConfig = self.config()?;
                let form = config.form;
                let input = form.holding("input", config.input).map_err(|e| e.to_string())?;
                let hidden = form.state("hidden", &config.hidden).map_err(|e| e.to_string())?;
                let (steps, given) = (self.time as f64, config.steps as f64);
                count.cell(form, config.cell, input, hidden, times, steps, steps, false);
                // The decoder reads the same matrix at every step: one product is enough.
                count.cell(form, config.cell, hidden, hidden, times, 1.0, given, true);
                let output = form.holding("output", config.output.unwrap_or(config.input));
                count.map(form, hidden, output.map_err(|e| e.to_string())?, times * given, true);
            }
            BenchNet::ColumnNet => {
                let config: ColumnNetConfig = self.config()?;
                let size = self.source()?.size()?;
                let (nodes, edges, width) = (size.nodes as f64, size.edges as f64, config.hidden);
                let (depth, attends) = (config.depth as f64, config.aggregation == Aggregation::Attention);
                let heads = if attends { config.resolved().heads.unwrap_or(1) } else { 1 };
                count.product(1, width, 1, size.filled as f64, false);
                count.product(width, 2 * width, 1, depth * nodes, true);
                count.product(heads * width, 2 * width, 1, depth * nodes, true);
                if attends {
                    count.product(width, heads * width, 1, depth * nodes, true);
                    // Scores, then sums.
                    count.product(width, heads, 1, depth * edges, true);
                }
                count.product(width, heads, 1, depth * edges, attends);
                count.product(width, config.num_classes, 1, nodes, true);
            }
            BenchNet::Gcn => {
                let config: GcnConfig = self.config()?;
                let size = self.source()?.size()?;
                let (nodes, edges) = (size.nodes as f64, (size.edges + size.nodes) as f64);
                let widths = [&[config.num_features], &config.hidden[..], &[config.num_classes]].concat();
                for (at, pair) in widths.windows(2).enumerate() {
                    match at {
                        0 => count.product(1, pair[1], 1, size.filled as f64, false),
                        _ => count.product(pair[0], pair[1], 1, nodes, true),
                    }
                    count.product(1, pair[1], 1, edges, false);
                }
            }
        }
        Ok(count.total)
    }
}

struct Count {
    total: f64,
    train: bool,
}

impl Count {
    /// `[rows, inner] · [inner, cols]`, `times` times. In training each product brings two more, for the
    /// gradients of its factors; `left` tells whether the gradient of the left one is needed.
    fn product(&mut self, inner: usize, cols: usize, rows: usize, times: f64, left: bool) {
        let products = if !self.train { 1.0 } else { 2.0 + f64::from(u8::from(left)) };
        self.total += 2.0 * (rows * inner * cols) as f64 * times * products;
    }

    /// A map between states, in the cheaper of its two orders; `left` as above, for the state that enters.
    fn map(&mut self, form: Form, [r, c]: [usize; 2], [p, q]: [usize; 2], times: f64, left: bool) {
        match form {
            Form::Vector => self.product(r, p, 1, times, left),
            Form::Matrix if p * r * c + p * c * q <= r * c * q + p * r * q => {
                self.product(r, p, c, times, left);
                self.product(c, q, p, times, true);
            }
            Form::Matrix => {
                self.product(c, q, r, times, left);
                self.product(r, p, q, times, true);
            }
        }
    }

    /// A recurrence: the input's maps `reads` times, those of the state `steps` times.
    #[allow(clippy::too_many_arguments)]
    fn cell(
        &mut self,
        form: Form,
        cell: CellKind,
        input: [usize; 2],
        hidden: [usize; 2],
        times: f64,
        reads: f64,
        steps: f64,
        left: bool,
    ) {
        let gates = cell.with(matnet::ops::Activation::Tanh).gates() as f64;
        self.map(form, input, hidden, times * reads * gates, left);
        // From the zero state there is nothing to map at the first step.
        self.map(form, hidden, hidden, times * (steps - 1.0) * gates, true);
    }
}
