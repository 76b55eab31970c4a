//! The matrix RNN, LSTM and GRU over a whole sequence.

use burn::tensor::{Device, Tensor};

use burn::backend::Dispatch;

use super::fused::{self, FusedOps, Schedule};
use super::{Activation, composed};

/// Which recurrence runs, and with which function where the paper leaves it open.
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
    /// Input, forget and output gate and a cell beside the hidden state.
    Lstm,
    /// Update and reset gate, the reset applied before the map.
    Gru(Activation),
}

impl Cell {
    /// How many maps are stacked in [`RecurrentMaps`].
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn(_) => 1,
            Self::Lstm => 4,
            Self::Gru(_) => 3,
        }
    }

    /// Whether the state has a cell C beside H.
    pub fn has_memory(self) -> bool {
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

/// What a recurrence carries from step to step.
#[derive(Clone, Debug)]
pub struct MatState {
    /// H: `[batch, rows, cols]`
    pub hidden: Tensor<3>,
    /// C of an LSTM, of the same shape.
    pub memory: Option<Tensor<3>>,
}

impl MatState {
    /// The zero state.
    pub fn zeros(cell: Cell, [batch, rows, cols]: [usize; 3], device: &Device) -> Self {
        let zeros = || Tensor::zeros([batch, rows, cols], device);
        Self { hidden: zeros(), memory: cell.has_memory().then(zeros) }
    }
}

/// What the recurrence reads.
#[derive(Clone, Debug)]
pub enum Steps {
    /// A matrix per step: `[batch, time, rows_in, cols_in]`.
    Sequence(Tensor<4>),
    /// The same matrix `[batch, rows_in, cols_in]` at each of so many steps, as the decoder of the
    /// paper's encoder–decoder does.
    Constant(Tensor<3>, usize),
}

/// Which hidden states are given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those of all steps: `[batch, time, rows, cols]`.
    All,
    /// That of the last step only: `[batch, 1, rows, cols]`.
    Last,
}

/// Runs a recurrence over a sequence; gives back the hidden states and the final state.
///
/// The state starts as `state`, or as zeros.
///
/// # Panics
///
/// If the shapes do not fit together, or the batch or the time is empty.
pub fn recurrent(
    cell: Cell,
    steps: Steps,
    state: Option<MatState>,
    maps: RecurrentMaps,
    keep: Keep,
) -> (Tensor<4>, MatState) {
    let [batch, rows, cols] = check(cell, &steps, state.as_ref(), &maps);
    let state = state.unwrap_or_else(|| {
        let zeros = || Tensor::zeros([batch, rows, cols], (&maps.bias.device(), maps.bias.dtype()));
        MatState { hidden: zeros(), memory: cell.has_memory().then(zeros) }
    });
    if !fused::available(&maps.bias) {
        return composed::recurrent(cell, steps, state, maps, keep);
    }
    let all = keep == Keep::All;
    let (input, schedule) = match steps {
        Steps::Sequence(input) => {
            let steps = input.dims()[1];
            (input.into_dispatch(), Schedule { cell, steps, constant: false, all })
        }
        Steps::Constant(input, steps) => {
            (input.into_dispatch(), Schedule { cell, steps, constant: true, all })
        }
    };
    // Cells without a memory are handed the hidden state in its place and do not look at it.
    let memory = state.memory.unwrap_or_else(|| state.hidden.clone().detach());
    let output = Tensor::<4>::from_dispatch(Dispatch::recurrent(
        input,
        state.hidden.into_dispatch(),
        memory.into_dispatch(),
        maps.input_row_map.into_dispatch(),
        maps.input_col_map.into_dispatch(),
        maps.state_row_map.into_dispatch(),
        maps.state_col_map.into_dispatch(),
        maps.bias.into_dispatch(),
        schedule,
    ));
    let kept = if all { schedule.steps } else { 1 };
    let pick = |at: usize| output.clone().narrow(1, at, 1).squeeze_dim::<3>(1);
    let state = MatState { hidden: pick(kept - 1), memory: cell.has_memory().then(|| pick(kept)) };
    let hidden = if cell.has_memory() { output.narrow(1, 0, kept) } else { output };
    (hidden, state)
}

/// Panics unless everything fits; returns the shape of the state.
fn check(cell: Cell, steps: &Steps, state: Option<&MatState>, maps: &RecurrentMaps) -> [usize; 3] {
    let (batch, time, rows_in, cols_in) = match steps {
        Steps::Sequence(input) => {
            let [batch, time, rows, cols] = input.dims();
            (batch, time, rows, cols)
        }
        Steps::Constant(input, time) => {
            let [batch, rows, cols] = input.dims();
            (batch, *time, rows, cols)
        }
    };
    assert!(batch > 0, "recurrent: the input has an empty batch");
    assert!(time > 0, "recurrent: the input has no time step");
    let [gates, rows, cols] = maps.bias.dims();
    assert!(gates == cell.gates(), "recurrent: {cell:?} takes {} stacked maps, got {gates}", cell.gates());
    let expected = [
        ("input row map", maps.input_row_map.dims(), [gates, rows_in, rows]),
        ("input column map", maps.input_col_map.dims(), [gates, cols_in, cols]),
        ("state row map", maps.state_row_map.dims(), [gates, rows, rows]),
        ("state column map", maps.state_col_map.dims(), [gates, cols, cols]),
    ];
    for (name, got, want) in expected {
        assert!(got == want, "recurrent: the {name} is {got:?}, expected {want:?}");
    }
    let input_dtype = match steps {
        Steps::Sequence(input) => input.dtype(),
        Steps::Constant(input, _) => input.dtype(),
    };
    let states = state.map(|state| ("hidden state", state.hidden.dtype()));
    let memories = state.and_then(|state| Some(("memory", state.memory.as_ref()?.dtype())));
    let dtypes = [
        ("input", input_dtype),
        ("input row map", maps.input_row_map.dtype()),
        ("input column map", maps.input_col_map.dtype()),
        ("state row map", maps.state_row_map.dtype()),
        ("state column map", maps.state_col_map.dtype()),
    ];
    for (name, got) in dtypes.into_iter().chain(states).chain(memories) {
        let want = maps.bias.dtype();
        assert!(got == want, "recurrent: the {name} holds {got:?}, the bias {want:?}");
    }
    if let Some(state) = state {
        let want = [batch, rows, cols];
        let got = state.hidden.dims();
        assert!(got == want, "recurrent: the hidden state is {got:?}, expected {want:?}");
        assert!(
            state.memory.is_some() == cell.has_memory(),
            "recurrent: an LSTM state has a memory, no other has one"
        );
        if let Some(memory) = &state.memory {
            let got = memory.dims();
            assert!(got == want, "recurrent: the memory is {got:?}, expected {want:?}");
        }
    }
    [batch, rows, cols]
}
