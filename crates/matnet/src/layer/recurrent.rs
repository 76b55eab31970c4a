//! Recurrent layers over sequences: stacked, unidirectional or bidirectional.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{Dropout, MapConfig, MatCell, MatCellConfig};
use crate::config::config;
use crate::error::{ConfigError, MAX_DEPTH, check_count, check_total};
use crate::form::Form;
use crate::init::Init;
use crate::mode::Mode;
use crate::ops::{Activation, Cell, Keep, MatState, Sequences, Steps};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};
use crate::vector::{VecCell, VecCellConfig};

/// The kind of a recurrent cell. The f of RNN and GRU is an option of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// Hₜ = f(mat2(Xₜ, Hₜ₋₁))
    Rnn,
    /// Three gates and a cell state ([Hochreiter & Schmidhuber](https://doi.org/10.1162/neco.1997.9.8.1735)).
    #[default]
    Lstm,
    /// Two gates ([Cho et al.](https://arxiv.org/abs/1406.1078)).
    Gru,
}

impl CellKind {
    /// The cell with this f; the LSTM always has tanh.
    pub fn with(self, f: Activation) -> Cell {
        match self {
            Self::Rnn => Cell::Rnn(f),
            Self::Lstm => Cell::Lstm,
            Self::Gru => Cell::Gru(f),
        }
    }
}

/// A matrix or vector cell.
#[derive(Module, Debug)]
pub enum RecurrentCell {
    /// Its state is a matrix.
    Matrix(MatCell),
    /// Its state is a vector, a matrix of one column.
    Vector(VecCell),
}

impl RecurrentCell {
    /// One step: (input, state) → state.
    pub fn step(&self, input: Tensor<3>, state: MatState) -> MatState {
        match self {
            Self::Matrix(cell) => cell.step(input, state),
            Self::Vector(cell) => cell.step(input, state),
        }
    }

    /// The zero state for a batch.
    pub fn zeros(&self, batch: usize) -> MatState {
        match self {
            Self::Matrix(cell) => cell.zeros(batch),
            Self::Vector(cell) => cell.zeros(batch),
        }
    }

    /// A whole sequence from a given state or from zeros: the hidden states, and the last state.
    pub fn sequence(&self, steps: Steps, state: Option<MatState>, keep: Keep) -> (Tensor<4>, MatState) {
        match self {
            Self::Matrix(cell) => cell.sequence(steps, state, keep),
            Self::Vector(cell) => cell.sequence(steps, state, keep),
        }
    }
}

config! {
    /// The config of a [`Recurrent`] layer.
    pub struct RecurrentConfig {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of the inputs; `[n, 1]` for vectors.
        pub input: [usize; 2],
        /// The sides of H: `[rows, cols]` for matrices, `[n]` for vectors.
        pub hidden: Vec<usize>,
        /// The recurrence. Default: LSTM.
        pub cell: CellKind = CellKind::Lstm,
        /// f of an RNN or GRU. Default: tanh.
        pub activation: Activation = Activation::Tanh,
        /// The number of stacked layers. Default: 1.
        pub layers: usize = 1,
        /// Whether a second chain reads the sequence backwards. Default: no.
        pub bidirectional: bool = false,
        /// Dropout between layers. Default: 0.
        pub dropout: f64 = 0.0,
        /// The initial bias of the LSTM forget gate. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// An LSTM layer of matrices.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>);
}

impl RecurrentConfig {
    /// Checks the config and initialises the layers with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Recurrent, ConfigError> {
        self.check_unused()?;
        let hidden = self.form.state("hidden", &self.hidden)?;
        check_count("layers", self.layers, MAX_DEPTH)?;
        let dropout = Dropout::new("dropout", self.dropout)?;
        let output = self.output()?;
        self.check_total(hidden, output)?;
        let mut chain = |backward: bool| -> Result<Vec<RecurrentCell>, ConfigError> {
            if backward && !self.bidirectional {
                return Ok(Vec::new());
            }
            (0..self.layers)
                .map(|layer| {
                    let input = if layer == 0 { self.input } else { output };
                    self.build(input, hidden, rng, device)
                })
                .collect()
        };
        Ok(Recurrent { layer: chain(false)?, backward: chain(true)?, dropout, output })
    }

    /// Fails if a key has a value that the cell does not use.
    fn check_unused(&self) -> Result<(), ConfigError> {
        let lstm = self.cell == CellKind::Lstm;
        if lstm && self.activation != Activation::Tanh {
            let value = format!("{:?}", self.activation).to_lowercase();
            return Err(ConfigError::new("activation", value, "an LSTM has tanh; only RNN and GRU use it"));
        }
        if !lstm && self.forget_bias != 0.0 {
            let value = self.forget_bias.to_string();
            return Err(ConfigError::new("forget_bias", value, "only cell = \"lstm\" uses it"));
        }
        Ok(())
    }

    fn build(
        &self,
        input: [usize; 2],
        hidden: [usize; 2],
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<RecurrentCell, ConfigError> {
        let cell = self.cell.with(self.activation);
        match self.form {
            Form::Matrix => MatCellConfig::new(cell, input, hidden)
                .with_forget_bias(self.forget_bias)
                .with_init(self.init)
                .init(rng, device)
                .map(RecurrentCell::Matrix),
            Form::Vector => VecCellConfig::new(cell, input[0], hidden[0])
                .with_forget_bias(self.forget_bias)
                .with_init(self.init)
                .init(rng, device)
                .map(RecurrentCell::Vector),
        }
    }

    /// Rows and columns of the output states; those of two directions are stacked.
    pub fn output(&self) -> Result<[usize; 2], ConfigError> {
        let [rows, cols] = self.form.state("hidden", &self.hidden)?;
        Ok([if self.bidirectional { 2 * rows } else { rows }, cols])
    }

    /// Checks the number of parameters of all cells together.
    fn check_total(&self, hidden: [usize; 2], between: [usize; 2]) -> Result<(), ConfigError> {
        let numbers = |input| {
            let input = MapConfig::new(self.form, input, hidden).numbers("hidden")?;
            Ok(input.saturating_add(MapConfig::new(self.form, hidden, hidden).numbers("hidden")?))
        };
        let (first, other): (usize, usize) = (numbers(self.input)?, numbers(between)?);
        let chain = first.saturating_add(other.saturating_mul(self.layers - 1));
        let gates = self.cell.with(self.activation).gates();
        check_total("layers", chain.saturating_mul(gates * (1 + usize::from(self.bidirectional))))
    }
}

/// Recurrent layers over a sequence, made with [`RecurrentConfig`].
///
/// A layer reads the hidden states of the one below, after dropout. If the layers are bidirectional, the rows of the backward
/// states follow those of the forward states: `[2 · rows, cols]`. (Rows, so that a vector remains a matrix of one column.)
#[derive(Module, Debug)]
pub struct Recurrent {
    /// The forward cells, lowest layer first.
    pub layer: Vec<RecurrentCell>,
    /// The backward cells; empty if the layers are unidirectional.
    pub backward: Vec<RecurrentCell>,
    #[module(skip)]
    dropout: Dropout,
    #[module(skip)]
    output: [usize; 2],
}

impl Summarize for RecurrentCell {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        match self {
            Self::Matrix(cell) => cell.summarize(name, uses),
            Self::Vector(cell) => cell.summarize(name, uses),
        }
    }
}

impl Summarize for Recurrent {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.layer.summarize(&join(name, "layer"), uses);
        rows.extend(self.backward.summarize(&join(name, "backward"), uses));
        rows
    }
}

impl Recurrent {
    /// Rows and columns of the output states.
    pub fn output(&self) -> [usize; 2] {
        self.output
    }

    /// The hidden states of the highest layer, and the last state of every cell: forward cells first, lowest layer first.
    ///
    /// `start` has as many states, or is `None` for zeros. [`Keep::Last`] returns the state after the whole sequence, for each
    /// direction. Padded sequences are read within their own length, in both directions.
    ///
    /// # Panics
    ///
    /// If the shapes do not fit together, or the batch or the time is empty.
    pub fn forward(
        &self,
        steps: Steps,
        start: Option<Vec<MatState>>,
        keep: Keep,
        mode: &mut Mode,
    ) -> (Tensor<4>, Vec<MatState>) {
        let cells = self.layer.len() + self.backward.len();
        if let Some(start) = &start {
            assert_eq!(start.len(), cells, "recurrent: {} states given to {cells} cells", start.len());
        }
        let begin = |cell: usize| start.as_ref().map(|start| start[cell].clone());
        let lengths = match &steps {
            Steps::Sequence(input) => input.lengths().cloned(),
            Steps::Constant(..) => None,
        };
        let mut steps = steps;
        let (mut ends, mut backward_ends) = (Vec::new(), Vec::new());
        let mut output = None;
        for (index, cell) in self.layer.iter().enumerate() {
            if let Some(states) = output.take() {
                let states = self.dropout.forward(states, mode);
                steps = Steps::Sequence(Sequences::new(states, lengths.clone()));
            }
            let highest = index + 1 == self.layer.len();
            let keep = if highest { keep } else { Keep::All };
            let (states, end) = match self.backward.get(index) {
                None => cell.sequence(steps.clone(), begin(index), keep),
                Some(backward) => {
                    let (ahead, end) = cell.sequence(steps.clone(), begin(index), keep);
                    let start = begin(self.layer.len() + index);
                    let (back, back_end) = backward.sequence(reversed(steps.clone()), start, keep);
                    backward_ends.push(back_end);
                    let back = match keep {
                        Keep::All => Sequences::new(back, lengths.clone()).reversed().into_parts().0,
                        Keep::Last => back,
                    };
                    (Tensor::cat(vec![ahead, back], 2), end)
                }
            };
            mode.observe(|| format!("layer.{index}"), &states);
            ends.push(end);
            output = Some(states);
        }
        ends.extend(backward_ends);
        (output.expect("at least one layer"), ends)
    }
}

/// The same steps in reverse order, those of each sequence within its own length.
fn reversed(steps: Steps) -> Steps {
    match steps {
        Steps::Sequence(input) => Steps::Sequence(input.reversed()),
        constant => constant,
    }
}
