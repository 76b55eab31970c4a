//! The matrix RNN, LSTM and GRU: one cell, over one step or a sequence.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_finite, check_sides, show};
use crate::init::{Init, gate_bias, parameter};
use crate::ops::{Cell, Keep, MatState, RecurrentMaps, Steps, recurrent};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, two_sided_flops};

config! {
    /// The config of a [`MatCell`].
    pub struct MatCellConfig {
        /// The recurrence.
        pub cell: Cell,
        /// Rows and columns of X.
        pub input: [usize; 2],
        /// Rows and columns of H.
        pub hidden: [usize; 2],
        /// The initial bias of the LSTM forget gate; with 1 the cell state is kept from the start. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A cell that reads matrices of the shape `input` into a state of the shape `hidden`.
    pub fn new(cell: Cell, input: [usize; 2], hidden: [usize; 2]);
}

impl MatCellConfig {
    /// Checks the config and initialises the cell with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<MatCell, ConfigError> {
        let ([rows_in, cols_in], [rows, cols], gates) = (self.input, self.hidden, self.cell.gates());
        check_sides("input", &[gates, rows_in, cols_in])?;
        check_sides("hidden", &[gates, rows, cols])?;
        for [from, to] in [[rows_in, rows], [cols_in, cols], [rows, rows], [cols, cols]] {
            check_sides("hidden", &[gates, from, to])?;
        }
        check_finite("forget_bias", self.forget_bias)?;
        // Power 1: the state map is initialised as an isometry, so that states neither vanish nor explode over time.
        let mut maps = |from, to| self.init.stacked([gates, from, to], 1.0, rng, device);
        Ok(MatCell {
            input_row_map: maps(rows_in, rows),
            input_col_map: maps(cols_in, cols),
            state_row_map: maps(rows, rows),
            state_col_map: maps(cols, cols),
            bias: parameter(gate_bias(self.cell, rows * cols, self.forget_bias), [gates, rows, cols], device),
            cell: self.cell,
        })
    }
}

/// The matrix RNN, LSTM or GRU of Do, Tran & Venkatesh,
/// [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454), made with [`MatCellConfig`]; [`Cell`] has the
/// equations.
///
/// The maps of all gates are stacked, in the order of [`Cell`].
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MatCell {
    /// U of the input: `[gates, rows_in, rows]`
    pub input_row_map: Param<Tensor<3>>,
    /// V of the input: `[gates, cols_in, cols]`
    pub input_col_map: Param<Tensor<3>>,
    /// U of the state: `[gates, rows, rows]`
    pub state_row_map: Param<Tensor<3>>,
    /// V of the state: `[gates, cols, cols]`
    pub state_col_map: Param<Tensor<3>>,
    /// B: `[gates, rows, cols]`
    pub bias: Param<Tensor<3>>,
    /// The recurrence.
    #[module(skip)]
    pub cell: Cell,
}

impl MatCell {
    /// One step, (Xₜ, state) → state: `[batch, rows_in, cols_in]` → `[batch, rows, cols]`.
    pub fn step(&self, input: Tensor<3>, state: MatState) -> MatState {
        self.sequence(Steps::Constant(input, 1), Some(state), Keep::Last).1
    }

    /// A whole sequence from a given state or from zeros: the hidden states
    /// `[batch, time, rows, cols]`, and the last state.
    pub fn sequence(&self, steps: Steps, state: Option<MatState>, keep: Keep) -> (Tensor<4>, MatState) {
        recurrent(self.cell, steps, state, self.maps(), keep)
    }

    /// The zero state for a batch.
    pub fn zeros(&self, batch: usize) -> MatState {
        let bias = self.bias.val();
        let [_, rows, cols] = bias.dims();
        let zeros = || Tensor::zeros([batch, rows, cols], (&bias.device(), bias.dtype()));
        MatState { hidden: zeros(), cell_state: self.cell.has_cell_state().then(zeros) }
    }

    fn maps(&self) -> RecurrentMaps {
        RecurrentMaps {
            input_row_map: self.input_row_map.val(),
            input_col_map: self.input_col_map.val(),
            state_row_map: self.state_row_map.val(),
            state_col_map: self.state_col_map.val(),
            bias: self.bias.val(),
        }
    }
}

impl Summarize for MatCell {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [gates, r, p]: [usize; 3] = self.input_row_map.lazy_shape().dims();
        let [_, c, q]: [usize; 3] = self.input_col_map.lazy_shape().dims();
        let kind = match self.cell {
            Cell::Rnn(_) => "matrix RNN cell",
            Cell::Lstm => "matrix LSTM cell",
            Cell::Gru(_) => "matrix GRU cell",
        };
        let (input, hidden, gates) = ((r * c) as u64, (p * q) as u64, gates as u64);
        let row = LayerSummary::new(name, kind, uses)
            .with_weight("input_row_map", Some(&self.input_row_map))
            .with_weight("input_col_map", Some(&self.input_col_map))
            .with_weight("state_row_map", Some(&self.state_row_map))
            .with_weight("state_col_map", Some(&self.state_col_map))
            .with_parameter(Some(&self.bias))
            .with_shapes([r, c], [p, q])
            .with_flops(gates * (two_sided_flops([r, c], [p, q]) + two_sided_flops([p, q], [p, q])))
            .with_vector_weights(gates * (input * hidden + hidden * hidden), (gates * hidden) as usize);
        vec![row]
    }
}

impl ModuleDisplay for MatCell {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [_, rows_in, rows]: [usize; 3] = self.input_row_map.lazy_shape().dims();
        let [_, cols_in, cols]: [usize; 3] = self.input_col_map.lazy_shape().dims();
        content
            .add_debug_attribute("cell", &self.cell)
            .add("input", &show(&[rows_in, cols_in]))
            .add("hidden", &show(&[rows, cols]))
            .optional()
    }
}
