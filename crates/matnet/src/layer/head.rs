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
use crate::random::SeededRng;
use crate::vector::{VecLinear, VecLinearConfig};

/// The last part of a net: from hidden states to what the net gives.
pub trait Head: Module + ModuleDisplay {
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
    type Head: Head;

    /// The top on states of the shape `state`; σ is `activation`.
    fn head(
        &self,
        form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self::Head, ConfigError>;
}

impl Output for [usize; 2] {
    type Head = MatrixHead;

    fn head(
        &self,
        form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<MatrixHead, ConfigError> {
        let output = form.holding("output", *self)?;
        let map = MapConfig { activation, init, ..MapConfig::new(form, state, output) };
        Ok(MatrixHead { map: map.init(rng, device)?, form, shape: *self })
    }
}

impl Output for usize {
    type Head = ClassHead;

    fn head(
        &self,
        _form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<ClassHead, ConfigError> {
        check_count("output", *self, crate::MAX_NUMBERS)?;
        if activation != Activation::Identity {
            let expected = "classes are given as scores: must be \"identity\"";
            return Err(ConfigError::new("output_activation", format!("{activation:?}"), expected));
        }
        ClassHead::new(None, state, *self, init, rng, device)
    }
}

/// A matrix on head: Y = σ(mat1(H)), from vector states reshaped to the matrix.
#[derive(Module, Debug)]
pub struct MatrixHead {
    /// The map from the hidden state.
    pub map: Map,
    #[module(skip)]
    form: Form,
    #[module(skip)]
    shape: [usize; 2],
}

impl Head for MatrixHead {
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

/// A score per class on head: the state, through one more map if asked, is flattened and mapped to one
/// number per class.
///
/// The numbers are scores before the softmax; with one class, the score before the sigmoid (a logit).
#[derive(Module, Debug)]
pub struct ClassHead {
    /// The map before flattening.
    pub projection: Option<Map>,
    /// From the flat state to the scores: `[rows · cols, classes]`.
    pub map: VecLinear,
}

impl ClassHead {
    /// Scores for `classes` classes from states of the shape `state`, through `projection` if there is one.
    pub fn new(
        projection: Option<MapConfig>,
        state: [usize; 2],
        classes: usize,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        check_count("classes", classes, crate::MAX_NUMBERS)?;
        let projection = projection.map(|projection| projection.init(rng, device)).transpose()?;
        let [rows, cols] = projection.as_ref().map_or(state, Map::output);
        let map = VecLinearConfig::new(rows * cols, classes).with_init(init).init(rng, device)?;
        Ok(Self { projection, map })
    }
}

impl Head for ClassHead {
    /// Scores `[batch, classes]`.
    type Output = Tensor<2>;
    /// Scores `[batch, time, classes]`.
    type PerStep = Tensor<3>;

    fn forward(&self, state: Tensor<3>, _mode: &mut Mode) -> Tensor<2> {
        let state = match &self.projection {
            Some(projection) => projection.forward(state),
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
