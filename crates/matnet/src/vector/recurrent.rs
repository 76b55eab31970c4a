//! The vector RNN, LSTM and GRU, with the equations of the matrix ones.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_finite, check_sides};
use crate::init::{Init, gate_bias, parameter};
use crate::ops::{Cell, Keep, MappedSteps, MatState, StateMaps, Steps, batched_product, recurrent_mapped};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`VecCell`].
    pub struct VecCellConfig {
        /// The recurrence.
        pub cell: Cell,
        /// The size of x.
        pub input: usize,
        /// The size of h.
        pub hidden: usize,
        /// The initial bias of the LSTM forget gate; with 1 the cell state is kept from the start. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A cell that reads `input` numbers into a state of `hidden` numbers.
    pub fn new(cell: Cell, input: usize, hidden: usize);
}

impl VecCellConfig {
    /// Checks the config and initialises the cell with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<VecCell, ConfigError> {
        let (input, hidden, gates) = (self.input, self.hidden, self.cell.gates());
        check_sides("input", &[gates, input])?;
        check_sides("hidden", &[gates, hidden, hidden])?;
        check_sides("hidden", &[gates, input, hidden])?;
        check_finite("forget_bias", self.forget_bias)?;
        Ok(VecCell {
            input_map: self.init.stacked([gates, input, hidden], 1.0, rng, device),
            state_map: self.init.stacked([gates, hidden, hidden], 1.0, rng, device),
            bias: parameter(gate_bias(self.cell, hidden, self.forget_bias), [gates, hidden], device),
            cell: self.cell,
        })
    }
}

/// The vector RNN, LSTM or GRU, made with [`VecCellConfig`].
///
/// The equations are those of [`Cell`] with Wᵀx + Sᵀh + b in the place of `mat2`. States and inputs are
/// matrices of one column, as everywhere between layers.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct VecCell {
    /// W: `[gates, input, hidden]`
    pub input_map: Param<Tensor<3>>,
    /// S: `[gates, hidden, hidden]`
    pub state_map: Param<Tensor<3>>,
    /// b: `[gates, hidden]`
    pub bias: Param<Tensor<2>>,
    /// The recurrence.
    #[module(skip)]
    pub cell: Cell,
}

impl VecCell {
    /// One step, (xₜ, state) → state: `[batch, input, 1]` → `[batch, hidden, 1]`.
    pub fn step(&self, input: Tensor<3>, state: MatState) -> MatState {
        self.sequence(Steps::Constant(input, 1), Some(state), Keep::Last).1
    }

    /// A whole sequence from a given state or from zeros: the hidden states `[batch, time, hidden, 1]`, and
    /// the last state.
    ///
    /// # Panics
    ///
    /// If the shapes do not fit together, or the batch or the time is empty.
    pub fn sequence(&self, steps: Steps, state: Option<MatState>, keep: Keep) -> (Tensor<4>, MatState) {
        let [gates, hidden]: [usize; 2] = self.bias.lazy_shape().dims();
        let bias = self.bias.val().reshape([gates, hidden, 1]);
        let maps = StateMaps {
            row_map: self.state_map.val(),
            col_map: Tensor::ones([gates, 1, 1], (&bias.device(), bias.dtype())),
            bias,
        };
        recurrent_mapped(self.cell, self.mapped(steps), state, maps, keep)
    }

    /// The zero state for a batch.
    pub fn zeros(&self, batch: usize) -> MatState {
        let bias = self.bias.val();
        let shape = [batch, bias.dims()[1], 1];
        let zeros = || Tensor::zeros(shape, (&bias.device(), bias.dtype()));
        MatState { hidden: zeros(), cell_state: self.cell.has_cell_state().then(zeros) }
    }

    /// Wᵀx of all steps that count, a product per gate.
    fn mapped(&self, steps: Steps) -> MappedSteps {
        let (input, time, lengths) = match steps {
            Steps::Sequence(input) => {
                let (input, lengths) = input.into_parts();
                let time = input.dims()[1];
                (input.squeeze_dim::<3>(3), time, lengths)
            }
            Steps::Constant(input, time) => (input.swap_dims(1, 2), time, None),
        };
        let [gates, expected, hidden]: [usize; 3] = self.input_map.lazy_shape().dims();
        let [batch, different, width] = input.dims();
        assert!(batch > 0, "recurrent: the input has an empty batch");
        assert!(time > 0, "recurrent: the input has no time step");
        assert_eq!(width, expected, "recurrent: the cell reads {expected} numbers, got {width}");
        let all = input.reshape([batch * different, width]);
        let product = |steps: Tensor<2>| batched_product(steps.unsqueeze::<3>(), self.input_map.val());
        match lengths {
            None => {
                let mapped = product(all).reshape([gates, batch, different, hidden, 1]);
                MappedSteps::All(mapped.expand([gates, batch, time, hidden, 1]))
            }
            Some(lengths) => {
                let mapped = product(lengths.pack(all));
                MappedSteps::Packed(mapped.unsqueeze_dim::<4>(3), lengths)
            }
        }
    }
}

impl Summarize for VecCell {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [gates, input, hidden]: [usize; 3] = self.input_map.lazy_shape().dims();
        let kind = match self.cell {
            Cell::Rnn(_) => "vector RNN cell",
            Cell::Lstm => "vector LSTM cell",
            Cell::Gru(_) => "vector GRU cell",
        };
        let row = LayerSummary::new(name, kind, uses)
            .with_weight("input_map", Some(&self.input_map))
            .with_weight("state_map", Some(&self.state_map))
            .with_parameter(Some(&self.bias))
            .with_shapes([input, 1], [hidden, 1])
            .with_flops(2 * (gates * hidden * (input + hidden)) as u64);
        vec![row]
    }
}

impl ModuleDisplay for VecCell {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [_, input, hidden]: [usize; 3] = self.input_map.lazy_shape().dims();
        content.add_debug_attribute("cell", &self.cell).add("input", &input).add("hidden", &hidden).optional()
    }
}
