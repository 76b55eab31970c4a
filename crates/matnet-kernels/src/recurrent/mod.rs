//! The matrix RNN, LSTM and GRU over a whole sequence.
//!
//! A block of samples runs through all time steps on one thread, laid side by side from the first step
//! to the last. At each step every gate is f(UₓᵀXVₓ + UₕᵀHVₕ + B): two [`Pair`]s into one block, the
//! activation in the last store. Whatever the backward pass needs stays where it was computed.
//!
//! Sequences may end earlier than others. Samples are then sorted by length, the longest first, so that a block ends with the
//! longest of similar ones. In a block the lanes that are still read are always the first ones; the others are kept at 0.

mod backward;
mod cell;
mod forward;
mod keep;

use std::ops::Range;

use crate::Activation;
use crate::block::Layout;
use crate::map::batch;
use crate::pair::{Lay, MapSize, Pair};
use crate::simd::{Element, Level};
use crate::spread::Starts;

pub use backward::RecurrentGradients;

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
    /// No X, but what it would give each gate, UₓᵀXVₓ: `gates × batch × steps × rows × cols`, or where there are lengths, of the
    /// steps that count only, sample after sample. There are no input maps then. (For vectors, one large product of all
    /// steps is the better way to get there.)
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
    /// How many of them count, for each sample: 1 to `steps`. Without it all do.
    pub lengths: Option<&'a [usize]>,
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
    /// Give the hidden states of all steps, with zeros after the last that counts, or of the last alone.
    pub all: bool,
}

/// Weights packed and sizes worked out.
struct Plan<'a, E: Element> {
    level: Level,
    batch: usize,
    /// Samples a block.
    per_block: usize,
    /// All samples, the longest first.
    order: Vec<usize>,
    /// Their lengths, in the same order.
    ends: Vec<usize>,
    /// The greatest of them.
    steps: usize,
    /// Of a mapped input: where each sample's steps begin, and how many there are altogether.
    rows: Vec<usize>,
    all_rows: usize,
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

    /// Whether threads share products.
    fn is_shared(&self) -> bool {
        self.input.iter().chain(&self.state).any(Pair::is_shared)
    }

    /// The samples of a block.
    fn members(&self, block: usize) -> Members<'_> {
        let range = block * self.per_block..((block + 1) * self.per_block).min(self.batch);
        Members { samples: &self.order[range.clone()], ends: &self.ends[range] }
    }
}

/// The samples of a block, the longest first, one a lane; or one sample whose columns lie in the lanes.
#[derive(Clone, Copy)]
struct Members<'a> {
    samples: &'a [usize],
    ends: &'a [usize],
}

impl<'a> Members<'a> {
    /// The steps of the longest.
    fn steps(&self) -> usize {
        self.ends[0]
    }

    /// How many lanes are still read at step `t`: the first so many.
    fn alive(&self, t: usize) -> usize {
        self.ends.partition_point(|&end| end > t)
    }

    /// The lanes whose last step is `t`.
    fn ending(&self, t: usize) -> Range<usize> {
        self.alive(t + 1)..self.alive(t)
    }

    /// Where matrices of some lanes begin: at `at` of their sample.
    fn starts(&self, lanes: Range<usize>, at: impl Fn(usize) -> usize) -> Starts {
        Starts::new(&self.samples[lanes], at)
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

    fn plan(&self, level: Level, forward: bool) -> Plan<'a, E> {
        let ([rows_in, cols_in], [rows_out, cols_out]) = (self.input_size, self.state_size);
        let gates = self.cell.gates();
        let (x_size, h_size) = (rows_in * cols_in, rows_out * cols_out);
        let mapped = self.reads == Reads::Mapped;
        let per_sample = if mapped { gates * self.steps * h_size } else { self.inputs() * x_size };
        let batch = match self.lengths {
            Some(lengths) => lengths.len(),
            None => batch(self.input.len(), per_sample),
        };
        let ends: Vec<usize> = match self.lengths {
            Some(lengths) => lengths.to_vec(),
            None => vec![self.steps; batch],
        };
        assert!(
            ends.iter().all(|&end| (1..=self.steps).contains(&end)),
            "a length is not 1 to {}",
            self.steps
        );
        let rows = ends.iter().scan(0, |next, &end| Some(std::mem::replace(next, *next + end)));
        let (rows, all_rows) = (rows.collect(), ends.iter().sum());
        let inputs = if mapped { gates * all_rows * h_size } else { batch * per_sample };
        assert!(inputs > 0 && self.input.len() == inputs, "the input is of another size");
        let mut order: Vec<usize> = (0..batch).collect();
        order.sort_by_key(|&sample| std::cmp::Reverse(ends[sample]));
        let ends: Vec<usize> = order.iter().map(|&sample| ends[sample]).collect();
        assert_eq!(self.hidden.len(), batch * h_size, "the hidden state is of another size");
        assert_eq!(self.cell_state.is_some(), self.cell == Cell::Lstm, "only an LSTM has a cell state");
        assert!(
            self.cell_state.is_none_or(|cell_state| cell_state.len() == batch * h_size),
            "the cell state has another size"
        );
        assert_eq!(self.bias.len(), gates * h_size, "the bias is of another size");
        let size = |[rows, cols]: [usize; 2]| MapSize { rows, cols, rows_out, cols_out };
        let sizes = [size(self.state_size), size(self.input_size)];
        // The gates of an LSTM are work for several threads, forward and backward.
        let shared = self.cell == Cell::Lstm && cols_out > 1 && self.gate_is_work(level.lanes::<E>());
        let pieces = if shared { gates } else { 1 };
        let sizes = &sizes[..if mapped { 1 } else { 2 }];
        let lay = Lay::choose::<E>(level, batch, pieces, sizes).one_by_one();
        let pairs =
            |[rows_in, cols_in]: [usize; 2], row_maps: &'a [E], col_maps: &'a [E]| -> Vec<Pair<'a, E>> {
                let size = size([rows_in, cols_in]);
                assert_eq!(row_maps.len(), gates * rows_in * rows_out, "the row maps are of another size");
                assert_eq!(col_maps.len(), gates * cols_in * cols_out, "the column maps are of another size");
                let maps = row_maps.chunks(rows_in * rows_out).zip(col_maps.chunks(cols_in * cols_out));
                maps.map(|(row_map, col_map)| Pair::new(lay, size, row_map, col_map, forward)).collect()
            };
        Plan {
            level: lay.level,
            batch,
            per_block: lay.per_block::<E>(),
            steps: ends[0],
            order,
            ends,
            rows,
            all_rows,
            x_size,
            h_size,
            out_size: self.outputs() * h_size,
            input: if mapped {
                Vec::new()
            } else {
                pairs(self.input_size, self.input_row_map, self.input_col_map)
            },
            state: pairs(self.state_size, self.state_row_map, self.state_col_map),
            h: lay.layout::<E>(self.state_size),
        }
    }
}
