//! The vector RNN, LSTM and GRU, with the equations of the matrix ones.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::config::setters;
use crate::error::{ConfigError, check_finite, check_sides};
use crate::init::{Init, gate_bias, parameter};
use crate::ops::{Activation, Cell, Keep, MatState, Steps};
use crate::random::Stream;

/// The config of a [`VecCell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VecCellConfig {
    /// Which recurrence.
    pub cell: Cell,
    /// Numbers of x.
    pub input: usize,
    /// Numbers of h.
    pub hidden: usize,
    /// The first bias of an LSTM's forget gate; 1 lets it remember from the start. Default: 0.
    #[serde(default)]
    pub forget_bias: f64,
    /// How the maps start. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

impl VecCellConfig {
    /// A cell that reads `input` numbers into a state of `hidden` numbers.
    pub fn new(cell: Cell, input: usize, hidden: usize) -> Self {
        Self { cell, input, hidden, forget_bias: 0.0, init: Init::default() }
    }

    setters! {
        with_forget_bias(forget_bias: f64);
        with_init(init: Init);
    }

    /// Draws the first maps from `stream`.
    pub fn init(&self, stream: &mut Stream, device: &Device) -> Result<VecCell, ConfigError> {
        let (input, hidden, gates) = (self.input, self.hidden, self.cell.gates());
        check_sides("input", &[gates, input])?;
        check_sides("hidden", &[gates, hidden, hidden])?;
        check_sides("hidden", &[gates, input, hidden])?;
        check_finite("forget_bias", self.forget_bias)?;
        Ok(VecCell {
            input_map: self.init.stacked([gates, input, hidden], 1.0, stream, device),
            state_map: self.init.stacked([gates, hidden, hidden], 1.0, stream, device),
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
    #[module(skip)]
    cell: Cell,
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
        let (input_sums, time) = self.input_sums(steps);
        let [batch, summed, _] = input_sums.dims();
        let [_, width] = self.bias.dims();
        let state_map = side_by_side(self.state_map.val());
        let flat = |column: Tensor<3>| {
            assert_eq!(column.dims(), [batch, width, 1], "recurrent: the state does not fit");
            column.squeeze_dim::<2>(2)
        };
        let state = state.unwrap_or_else(|| self.zeros(batch));
        let (mut h, mut memory) = (flat(state.hidden), state.memory.map(flat));
        let mut kept = Vec::new();
        for t in 0..time {
            let x = input_sums.clone().narrow(1, t.min(summed - 1), 1).squeeze_dim::<2>(1);
            (h, memory) = self.update(x, h, memory, &state_map, width);
            if keep == Keep::All || t + 1 == time {
                kept.push(h.clone());
            }
        }
        let column = |flat: Tensor<2>| flat.unsqueeze_dim::<3>(2);
        let states = Tensor::stack::<3>(kept, 1).unsqueeze_dim::<4>(3);
        (states, MatState { hidden: column(h), memory: memory.map(column) })
    }

    /// The zero state for a batch.
    pub fn zeros(&self, batch: usize) -> MatState {
        let bias = self.bias.val();
        let shape = [batch, bias.dims()[1], 1];
        let zeros = || Tensor::zeros(shape, (&bias.device(), bias.dtype()));
        MatState { hidden: zeros(), memory: self.cell.has_memory().then(zeros) }
    }

    /// Wᵀx + b of all steps and gates in one product: `[batch, time, gates · hidden]`, time 1 for a
    /// constant input. Also the number of steps.
    fn input_sums(&self, steps: Steps) -> (Tensor<3>, usize) {
        let (input, time) = match steps {
            Steps::Sequence(input) => {
                let time = input.dims()[1];
                (input.squeeze_dim::<3>(3), time)
            }
            Steps::Constant(input, time) => (input.swap_dims(1, 2), time),
        };
        let ([batch, steps, width], [_, expected, _]) = (input.dims(), self.input_map.dims());
        assert!(batch > 0, "recurrent: the input has an empty batch");
        assert!(time > 0, "recurrent: the input has no time step");
        assert_eq!(width, expected, "recurrent: the cell reads {expected} numbers, got {width}");
        let map = side_by_side(self.input_map.val());
        let width_out = map.dims()[1];
        let bias = self.bias.val().reshape([1, width_out]);
        let product = input.reshape([batch * steps, width]).matmul(map) + bias;
        (product.reshape([batch, steps, width_out]), time)
    }

    /// The next h and c; `x` is Wᵀx + b of all gates.
    fn update(
        &self,
        x: Tensor<2>,
        h: Tensor<2>,
        memory: Option<Tensor<2>>,
        state_map: &Tensor<2>,
        width: usize,
    ) -> (Tensor<2>, Option<Tensor<2>>) {
        let gate = |of: &Tensor<2>, index: usize| of.clone().narrow(1, index * width, width);
        match self.cell {
            Cell::Rnn(f) => (f.forward(x + h.matmul(state_map.clone())), None),
            Cell::Lstm => {
                let sums = x + h.matmul(state_map.clone());
                let [into, forget, out] = [0, 1, 2].map(|i| Activation::Sigmoid.forward(gate(&sums, i)));
                let written = into * gate(&sums, 3).tanh();
                let memory = match memory {
                    Some(memory) => forget * memory + written,
                    None => written,
                };
                (out * memory.clone().tanh(), Some(memory))
            }
            Cell::Gru(f) => {
                let (two, one) = (
                    state_map.clone().narrow(1, 0, 2 * width),
                    state_map.clone().narrow(1, 2 * width, width),
                );
                let sums = x.clone().narrow(1, 0, 2 * width) + h.clone().matmul(two);
                let [update, reset] = [0, 1].map(|i| Activation::Sigmoid.forward(gate(&sums, i)));
                let candidate = f.forward(gate(&x, 2) + (reset * h.clone()).matmul(one));
                (h.clone() + update * (candidate - h), None)
            }
        }
    }
}

/// `[gates, from, to]` → `[from, gates · to]`
fn side_by_side(stacked: Tensor<3>) -> Tensor<2> {
    let [gates, from, to] = stacked.dims();
    stacked.swap_dims(0, 1).reshape([from, gates * to])
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
