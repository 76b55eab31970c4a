//! Recurrent cells: their parameters, states and inputs.

use burn::tensor::{Device, Tensor};

use super::{Activation, Lengths, Sequences};

/// A recurrent cell, with its activation f where the paper leaves it open.
///
/// | cell | gates, in the order of the stacked maps | state |
/// |---|---|---|
/// | `Rnn(f)` | Hₜ = f(mat2(Xₜ, Hₜ₋₁)) | H |
/// | `Lstm` | I, F, O = sigm(mat2), Ĉ = tanh(mat2); Cₜ = F⊙Cₜ₋₁ + I⊙Ĉ; Hₜ = O⊙tanh(Cₜ) | H, C |
/// | `Gru(f)` | Z, R = sigm(mat2(Xₜ, Hₜ₋₁)), H̃ = f(mat2(Xₜ, R⊙Hₜ₋₁)); Hₜ = (1−Z)⊙Hₜ₋₁ + Z⊙H̃ | H |
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// One map and one function.
    Rnn(Activation),
    /// Input, forget and output gate, and a cell state C.
    Lstm,
    /// Update and reset gate; the reset gate is applied before the map.
    Gru(Activation),
}

impl Cell {
    /// The number of gates, whose maps are stacked in [`RecurrentMaps`].
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn(_) => 1,
            Self::Lstm => 4,
            Self::Gru(_) => 3,
        }
    }

    /// Whether there is a cell state C.
    pub fn has_cell_state(self) -> bool {
        self == Self::Lstm
    }
}

/// The parameters of a recurrence, the gates stacked in the order of [`Cell`].
#[derive(Clone, Debug)]
pub struct RecurrentMaps {
    /// U of the input: `[gates, rows_in, rows]`
    pub input_row_map: Tensor<3>,
    /// V of the input: `[gates, cols_in, cols]`
    pub input_col_map: Tensor<3>,
    /// U of the state: `[gates, rows, rows]`
    pub state_row_map: Tensor<3>,
    /// V of the state: `[gates, cols, cols]`
    pub state_col_map: Tensor<3>,
    /// B: `[gates, rows, cols]`
    pub bias: Tensor<3>,
}

/// The state maps of [`RecurrentMaps`].
#[derive(Clone, Debug)]
pub struct StateMaps {
    /// U of the state: `[gates, rows, rows]`
    pub row_map: Tensor<3>,
    /// V of the state: `[gates, cols, cols]`
    pub col_map: Tensor<3>,
    /// B: `[gates, rows, cols]`
    pub bias: Tensor<3>,
}

/// The state of a recurrent cell.
#[derive(Clone, Debug)]
pub struct MatState {
    /// H: `[batch, rows, cols]`
    pub hidden: Tensor<3>,
    /// The cell state C of an LSTM, of the same shape.
    pub cell_state: Option<Tensor<3>>,
}

impl MatState {
    /// The zero state.
    pub fn zeros(cell: Cell, [batch, rows, cols]: [usize; 3], device: &Device) -> Self {
        let zeros = || Tensor::zeros([batch, rows, cols], device);
        Self { hidden: zeros(), cell_state: cell.has_cell_state().then(zeros) }
    }
}

/// The input of a recurrent cell.
#[derive(Clone, Debug)]
pub enum Steps {
    /// A matrix per step: `[batch, time, rows_in, cols_in]`, padded or not.
    Sequence(Sequences),
    /// The same matrix `[batch, rows_in, cols_in]` at each of so many steps, as in the decoder of the paper.
    Constant(Tensor<3>, usize),
}

impl Steps {
    /// The input `[batch, time or 1, rows_in, cols_in]` with zeros as padding, the number of steps, and the lengths.
    pub(super) fn into_parts(self) -> (Tensor<4>, usize, Option<Lengths>) {
        match self {
            Self::Sequence(input) => {
                let (input, lengths) = input.with_zeros().into_parts();
                let time = input.dims()[1];
                (input, time, lengths)
            }
            Self::Constant(input, time) => (input.unsqueeze_dim::<4>(1), time, None),
        }
    }
}

impl From<Tensor<4>> for Steps {
    fn from(input: Tensor<4>) -> Self {
        Self::Sequence(input.into())
    }
}

impl From<Sequences> for Steps {
    fn from(input: Sequences) -> Self {
        Self::Sequence(input)
    }
}

/// What the input gives each gate of a recurrent cell, UᵀXV.
#[derive(Clone, Debug)]
pub enum MappedSteps {
    /// Of every step: `[gates, batch, time, rows, cols]`.
    All(Tensor<5>),
    /// Of padded sequences, the steps that count, sequence after sequence: `[gates, steps, rows, cols]`.
    Packed(Tensor<4>, Lengths),
}

impl MappedSteps {
    /// What every step gives, `[gates, batch, time, rows, cols]`, with zeros as padding, and the lengths.
    pub(super) fn into_parts(self) -> (Tensor<5>, Option<Lengths>) {
        match self {
            Self::All(mapped) => (mapped, None),
            Self::Packed(mapped, lengths) => {
                let [gates, count, rows, cols] = mapped.dims();
                let (batch, time) = (lengths.as_slice().len(), lengths.time());
                let steps = mapped.swap_dims(0, 1).reshape([count, gates * rows * cols]);
                let all = lengths.unpack(steps).reshape([batch, time, gates, rows, cols]);
                (all.permute([2, 0, 1, 3, 4]), Some(lengths))
            }
        }
    }
}

/// Which hidden states are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All steps: `[batch, time, rows, cols]`, with zeros as padding.
    All,
    /// The last step of each sequence: `[batch, 1, rows, cols]`.
    Last,
}
