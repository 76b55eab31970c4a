//! The controller of a Turing machine.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::form::Form;
use crate::init::Init;
use crate::layer::{Map, MapConfig, MatCellConfig, RecurrentCell};
use crate::ops::{Activation, Cell, MatState};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::VecCellConfig;

/// The kind of controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControllerKind {
    /// Hₜ = tanh(mat1(Xₜ, Rₜ₋₁)), without a state of its own.
    Feedforward,
    /// An LSTM.
    #[default]
    Lstm,
}

/// A controller in either form.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per net.
pub enum Controller {
    /// A map, without a state.
    Feedforward(Map),
    /// An LSTM cell.
    Lstm(RecurrentCell),
}

/// What a [`Controller`] is made from.
pub(super) struct ControllerConfig {
    pub(super) kind: ControllerKind,
    pub(super) form: Form,
    /// The shape of the input.
    pub(super) input: [usize; 2],
    /// The shape of H.
    pub(super) hidden: [usize; 2],
    pub(super) forget_bias: f64,
    pub(super) init: Init,
}

impl ControllerConfig {
    /// Initialises the controller with random numbers from `rng`.
    pub(super) fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Controller, ConfigError> {
        let Self { kind, form, input, hidden, forget_bias, init } = *self;
        if kind == ControllerKind::Feedforward && forget_bias != 0.0 {
            let expected = "only controller = \"lstm\" uses it";
            return Err(ConfigError::new("forget_bias", forget_bias.to_string(), expected));
        }
        match (kind, form) {
            (ControllerKind::Feedforward, form) => {
                let map =
                    MapConfig { activation: Activation::Tanh, init, ..MapConfig::new(form, input, hidden) };
                map.numbers("hidden")?;
                map.init(rng, device).map(Controller::Feedforward)
            }
            (ControllerKind::Lstm, Form::Matrix) => MatCellConfig::new(Cell::Lstm, input, hidden)
                .with_forget_bias(forget_bias)
                .with_init(init)
                .init(rng, device)
                .map(|cell| Controller::Lstm(RecurrentCell::Matrix(cell))),
            (ControllerKind::Lstm, Form::Vector) => VecCellConfig::new(Cell::Lstm, input[0], hidden[0])
                .with_forget_bias(forget_bias)
                .with_init(init)
                .init(rng, device)
                .map(|cell| Controller::Lstm(RecurrentCell::Vector(cell))),
        }
    }
}

impl Summarize for Controller {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        match self {
            Self::Feedforward(map) => map.summarize(name, uses),
            Self::Lstm(cell) => cell.summarize(name, uses),
        }
    }
}

impl Controller {
    /// One step: from the input `[batch, rows, cols]` and the state, `None` before the first step, to H and the new state.
    pub fn step(&self, input: Tensor<3>, state: Option<MatState>) -> (Tensor<3>, Option<MatState>) {
        match self {
            Self::Feedforward(map) => (map.forward(input), None),
            Self::Lstm(cell) => {
                let state = state.unwrap_or_else(|| cell.zeros(input.dims()[0]));
                let state = cell.step(input, state);
                (state.hidden.clone(), Some(state))
            }
        }
    }
}
