//! What stands on top of the last hidden state: a matrix, or a score per class.

use burn::module::{Module, ModuleDisplay};
use burn::tensor::{Device, Tensor};
use serde::{Serialize, de::DeserializeOwned};

use super::{Map, MapConfig};
use crate::error::{ConfigError, check_count};
use crate::form::Form;
use crate::init::Init;
use crate::mode::Mode;
use crate::ops::Activation;
use crate::random::Stream;
use crate::vector::{VecLinear, VecLinearConfig};

/// The last part of a net: from hidden states to what the net gives.
pub trait Top: Module + ModuleDisplay {
    /// What is given for a batch of states.
    type Output;
    /// What is given for a batch of sequences of states.
    type PerStep;

    /// From states `[batch, rows, cols]`.
    fn forward(&self, state: Tensor<3>, mode: &mut Mode) -> Self::Output;

    /// From sequences of states `[batch, time, rows, cols]`, each step alike.
    fn per_step(&self, states: Tensor<4>, mode: &mut Mode) -> Self::PerStep;
}

/// What a net gives, as the `output` of its config: `[rows, cols]` for a matrix, a number for classes.
pub trait Output: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned {
    /// The top that gives it.
    type Top: Top;

    /// The top on states of the shape `state`; σ is `activation`.
    fn top(
        &self,
        form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        stream: &mut Stream,
        device: &Device,
    ) -> Result<Self::Top, ConfigError>;
}

impl Output for [usize; 2] {
    type Top = MatrixTop;

    fn top(
        &self,
        form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        stream: &mut Stream,
        device: &Device,
    ) -> Result<MatrixTop, ConfigError> {
        let output = form.holding("output", *self)?;
        let map = MapConfig { activation, init, ..MapConfig::new(form, state, output) };
        Ok(MatrixTop { map: map.init(stream, device)?, form, shape: *self })
    }
}

impl Output for usize {
    type Top = ClassTop;

    fn top(
        &self,
        _form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        stream: &mut Stream,
        device: &Device,
    ) -> Result<ClassTop, ConfigError> {
        check_count("output", *self, crate::MAX_NUMBERS)?;
        if activation != Activation::Identity {
            let expected = "classes are given as scores: must be \"identity\"";
            return Err(ConfigError::new("output_activation", format!("{activation:?}"), expected));
        }
        ClassTop::new(None, state, *self, init, stream, device)
    }
}

/// A matrix on top: Y = σ(mat1(H)), from vector states reshaped to the matrix.
#[derive(Module, Debug)]
pub struct MatrixTop {
    /// The map from the hidden state.
    pub map: Map,
    #[module(skip)]
    form: Form,
    #[module(skip)]
    shape: [usize; 2],
}

impl Top for MatrixTop {
    /// Matrices `[batch, rows, cols]`.
    type Output = Tensor<3>;
    /// Sequences `[batch, time, rows, cols]`.
    type PerStep = Tensor<4>;

    fn forward(&self, state: Tensor<3>, _mode: &mut Mode) -> Tensor<3> {
        self.form.leave(self.map.forward(state), self.shape)
    }

    fn per_step(&self, states: Tensor<4>, mode: &mut Mode) -> Tensor<4> {
        let [batch, time, rows, cols] = states.dims();
        let output = self.forward(states.reshape([batch * time, rows, cols]), mode);
        output.reshape([batch, time, self.shape[0], self.shape[1]])
    }
}

/// A score per class on top: the state, through one more map if asked, is flattened and mapped to one
/// number per class.
///
/// The numbers are scores before the softmax; with one class, the score before the sigmoid (a logit).
#[derive(Module, Debug)]
pub struct ClassTop {
    /// The map before flattening.
    pub via: Option<Map>,
    /// From the flat state to the scores: `[rows · cols, classes]`.
    pub map: VecLinear,
}

impl ClassTop {
    /// Scores for `classes` classes from states of the shape `state`, through `via` if there is one.
    pub fn new(
        via: Option<MapConfig>,
        state: [usize; 2],
        classes: usize,
        init: Init,
        stream: &mut Stream,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        check_count("classes", classes, crate::MAX_NUMBERS)?;
        let via = via.map(|via| via.init(stream, device)).transpose()?;
        let [rows, cols] = via.as_ref().map_or(state, Map::output);
        let map = VecLinearConfig::new(rows * cols, classes).with_init(init).init(stream, device)?;
        Ok(Self { via, map })
    }
}

impl Top for ClassTop {
    /// Scores `[batch, classes]`.
    type Output = Tensor<2>;
    /// Scores `[batch, time, classes]`.
    type PerStep = Tensor<3>;

    fn forward(&self, state: Tensor<3>, _mode: &mut Mode) -> Tensor<2> {
        let state = match &self.via {
            Some(via) => via.forward(state),
            None => state,
        };
        let [batch, rows, cols] = state.dims();
        self.map.forward(state.reshape([batch, rows * cols]))
    }

    fn per_step(&self, states: Tensor<4>, mode: &mut Mode) -> Tensor<3> {
        let [batch, time, rows, cols] = states.dims();
        let scores = self.forward(states.reshape([batch * time, rows, cols]), mode);
        let classes = scores.dims()[1];
        scores.reshape([batch, time, classes])
    }
}
