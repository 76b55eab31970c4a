//! The matrix RNN, LSTM and GRU over a whole sequence.
//!
//! A block of samples runs through all time steps on one thread, laid side by side from the first step
//! to the last. At each step every gate is f(UₓᵀXVₓ + UₕᵀHVₕ + B): two [`Pair`]s into one block, the
//! activation in the last store. Whatever the backward pass needs stays where it was computed.

mod backward;
mod cell;
mod forward;
mod keep;

use std::ops::Range;

use crate::Activation;
use crate::block::Layout;
use crate::map::batch;
use crate::pair::{MapSize, Pair, Purpose};
use crate::simd::{Element, Level};

pub use backward::RecurrentGradients;
pub use keep::Kept;

/// Which recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Hₜ = f(mat2(Xₜ, Hₜ₋₁))
    Rnn(Activation),
    /// Gates I, F, O, Ĉ
    Lstm,
    /// Gates Z, R, H̃
    Gru(Activation),
}

impl Cell {
    /// How many maps there are.
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn(_) => 1,
            Self::Lstm => 4,
            Self::Gru(_) => 3,
        }
    }

    /// What gate number `gate` goes through.
    fn activation(self, gate: usize) -> Activation {
        match (self, gate) {
            (Self::Rnn(f), _) | (Self::Gru(f), 2) => f,
            (Self::Lstm, 3) => Activation::Tanh,
            _ => Activation::Sigmoid,
        }
    }
}

/// What the input of a [`Recurrent`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// X of every step: `batch × steps × rows_in × cols_in`.
    Steps,
    /// One X for all steps: `batch × rows_in × cols_in`.
    Constant,
    /// No X, but what it would give each gate, UₓᵀXVₓ: `gates × batch × steps × rows × cols`. There are no
    /// input maps then. (For vectors, one large product of all steps is the better way to get there.)
    Mapped,
}

/// A recurrence with its weights, all gates stacked, and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Recurrent<'a, E> {
    /// Which.
    pub cell: Cell,
    /// Rows and columns of X.
    pub input_size: [usize; 2],
    /// Rows and columns of H.
    pub state_size: [usize; 2],
    /// How many steps.
    pub steps: usize,
    /// What is read.
    pub input: &'a [E],
    /// How to read it.
    pub reads: Reads,
    /// H₀: `batch × rows × cols`.
    pub hidden: &'a [E],
    /// C₀ of an LSTM.
    pub cell_state: Option<&'a [E]>,
    /// U of the input: `gates × rows_in × rows`.
    pub input_row_map: &'a [E],
    /// V of the input: `gates × cols_in × cols`.
    pub input_col_map: &'a [E],
    /// U of the state: `gates × rows × rows`.
    pub state_row_map: &'a [E],
    /// V of the state: `gates × cols × cols`.
    pub state_col_map: &'a [E],
    /// B: `gates × rows × cols`.
    pub bias: &'a [E],
    /// Give the hidden states of all steps, or of the last alone.
    pub all: bool,
}

/// Weights packed and sizes worked out.
struct Plan<'a, E> {
    level: Level,
    batch: usize,
    /// Samples a block.
    per_block: usize,
    /// Numbers in one X, in one H and in one sample's share of the output.
    x_size: usize,
    h_size: usize,
    out_size: usize,
    input: Vec<Pair<'a, E>>,
    state: Vec<Pair<'a, E>>,
    /// Layout of a block of hidden states (and of gates).
    h: Layout,
}

impl<E: Element> Plan<'_, E> {
    /// Lengths of a block of inputs and of their middle products; nothing where they come mapped.
    fn input_lengths(&self) -> (usize, usize) {
        self.input.first().map_or((0, 0), |pair| (pair.input.len(), pair.middle.len()))
    }

    /// The samples of a block.
    fn samples(&self, block: usize) -> Range<usize> {
        block * self.per_block..((block + 1) * self.per_block).min(self.batch)
    }
}

impl<'a, E: Element> Recurrent<'a, E> {
    /// Shape of the output of one sample: so many matrices, H of every step (or the last), then C of the
    /// last step for an LSTM.
    pub fn outputs(&self) -> usize {
        (if self.all { self.steps } else { 1 }) + usize::from(self.cell == Cell::Lstm)
    }

    /// How many different X there are.
    fn inputs(&self) -> usize {
        match self.reads {
            Reads::Steps => self.steps,
            Reads::Constant => 1,
            Reads::Mapped => 0,
        }
    }

    fn plan(&self, level: Level, purpose: impl FnOnce(usize) -> Purpose) -> Plan<'a, E> {
        let ([rows_in, cols_in], [rows, cols]) = (self.input_size, self.state_size);
        let gates = self.cell.gates();
        let (x_size, h_size) = (rows_in * cols_in, rows * cols);
        let mapped = self.reads == Reads::Mapped;
        let per_sample = if mapped { gates * self.steps * h_size } else { self.inputs() * x_size };
        let batch = batch(self.input.len(), per_sample);
        assert_eq!(self.hidden.len(), batch * h_size, "the hidden state is of another size");
        assert_eq!(self.cell_state.is_some(), self.cell == Cell::Lstm, "only an LSTM has a cell state");
        assert!(
            self.cell_state.is_none_or(|cell_state| cell_state.len() == batch * h_size),
            "the cell state has another size"
        );
        assert_eq!(self.bias.len(), gates * h_size, "the bias is of another size");
        let purpose = purpose(batch);
        let level = purpose.level(level, batch, x_size.max(h_size));
        let pairs =
            |[rows_in, cols_in]: [usize; 2], row_maps: &'a [E], col_maps: &'a [E]| -> Vec<Pair<'a, E>> {
                let size = MapSize { rows: rows_in, cols: cols_in, rows_out: rows, cols_out: cols };
                assert_eq!(row_maps.len(), gates * rows_in * rows, "the row maps are of another size");
                assert_eq!(col_maps.len(), gates * cols_in * cols, "the column maps are of another size");
                let maps = row_maps.chunks(rows_in * rows).zip(col_maps.chunks(cols_in * cols));
                maps.map(|(row_map, col_map)| Pair::new(level, size, row_map, col_map, purpose)).collect()
            };
        Plan {
            level,
            batch,
            per_block: purpose.block::<E>(level),
            x_size,
            h_size,
            out_size: self.outputs() * h_size,
            input: if mapped {
                Vec::new()
            } else {
                pairs(self.input_size, self.input_row_map, self.input_col_map)
            },
            state: pairs(self.state_size, self.state_row_map, self.state_col_map),
            h: purpose.layout::<E>(level, self.state_size),
        }
    }
}
