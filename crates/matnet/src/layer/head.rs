//! The head of a net: from the last hidden state to a matrix, or to a score per class.

use burn::module::{Module, ModuleDisplay};
use burn::tensor::{Device, Tensor};
use serde::{Serialize, de::DeserializeOwned};

use super::{Map, MapConfig};
use crate::error::{ConfigError, check_count, check_sides};
use crate::form::Form;
use crate::init::Init;
use crate::mode::Mode;
use crate::ops::{Activation, Sequences};
use crate::output::{NetOutput, SampleTarget};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};
use crate::vector::{VecLinear, VecLinearConfig};

/// The last part of a net: from hidden states to the output.
pub trait Head: Module + ModuleDisplay + Summarize + Sync + 'static {
    /// The output for a batch of states.
    type Output;
    /// The output for a batch of sequences of states.
    type PerStep;

    /// From states `[batch, rows, cols]`.
    fn forward(&self, state: Tensor<3>, mode: &mut Mode) -> Self::Output;

    /// From sequences of states `[batch, time, rows, cols]`, each step alike; zeros where they are padded.
    fn per_step(&self, states: Sequences, mode: &mut Mode) -> Self::PerStep;

    /// The same head behind one more map, whose output has the shape of the head's states.
    fn with_projection(self, projection: Option<Map>) -> Self;
}

/// The `output` of a net's config: `[rows, cols]` for a matrix, or the number of classes or values.
pub trait HeadConfig:
    Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The head that computes it.
    type Head: Head;

    /// What a net with one output per sample learns.
    const TARGET: SampleTarget;
    /// What a net with one output per time step learns.
    const STEP_TARGET: SampleTarget;

    /// What a net with one output per sample returns.
    fn per_sample(&self) -> NetOutput;

    /// What a net with one output per time step returns.
    fn per_step(&self) -> NetOutput;

    /// Fails if no head has such an output.
    fn check(&self) -> Result<(), ConfigError>;

    /// The head on states of the shape `state`; σ is `activation`.
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

impl HeadConfig for [usize; 2] {
    type Head = MatrixHead;

    const TARGET: SampleTarget = SampleTarget::Matrix;
    const STEP_TARGET: SampleTarget = SampleTarget::StepMatrix;

    fn per_sample(&self) -> NetOutput {
        NetOutput::Matrix(*self)
    }

    fn per_step(&self) -> NetOutput {
        NetOutput::Sequence { steps: None, sides: *self }
    }

    fn check(&self) -> Result<(), ConfigError> {
        check_sides("output", self)
    }

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
        Ok(MatrixHead { projection: None, map: map.init(rng, device)?, form, shape: *self })
    }
}

impl HeadConfig for usize {
    type Head = ClassHead;

    const TARGET: SampleTarget = SampleTarget::Class;
    const STEP_TARGET: SampleTarget = SampleTarget::StepClass;

    fn per_sample(&self) -> NetOutput {
        NetOutput::Classes(*self)
    }

    fn per_step(&self) -> NetOutput {
        NetOutput::StepClasses(*self)
    }

    fn check(&self) -> Result<(), ConfigError> {
        check_count("output", *self, crate::MAX_NUMBERS)
    }

    fn head(
        &self,
        _form: Form,
        state: [usize; 2],
        activation: Activation,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<ClassHead, ConfigError> {
        self.check()?;
        if activation != Activation::Identity {
            let expected = "class scores and values have no activation: must be \"identity\"";
            return Err(ConfigError::new("output_activation", format!("{activation:?}"), expected));
        }
        ClassHead::new(state, *self, init, rng, device)
    }
}

/// A head that returns a matrix: Y = σ(mat1(H)), of the state or an optional projection of it; vector states are reshaped
/// to the matrix.
#[derive(Module, Debug)]
pub struct MatrixHead {
    /// The projection before the map.
    pub projection: Option<Map>,
    /// The map from the hidden state.
    pub map: Map,
    #[module(skip)]
    form: Form,
    /// Rows and columns of the matrix.
    #[module(skip)]
    pub shape: [usize; 2],
}

impl Summarize for MatrixHead {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.projection.summarize(&join(name, "projection"), uses);
        rows.extend(self.map.summarize(name, uses));
        rows
    }
}

impl Head for MatrixHead {
    /// Matrices `[batch, rows, cols]`.
    type Output = Tensor<3>;
    /// Sequences `[batch, time, rows, cols]`.
    type PerStep = Tensor<4>;

    fn forward(&self, state: Tensor<3>, _mode: &mut Mode) -> Tensor<3> {
        self.form.leave(self.map.forward(projected(&self.projection, state)), self.shape)
    }

    fn per_step(&self, states: Sequences, mode: &mut Mode) -> Tensor<4> {
        let [rows, cols] = self.shape;
        let output = states.each_step(|states| {
            let count = states.dims()[0];
            self.forward(states, mode).reshape([count, rows * cols])
        });
        let [batch, time, _] = output.dims();
        output.reshape([batch, time, rows, cols])
    }

    fn with_projection(self, projection: Option<Map>) -> Self {
        Self { projection, ..self }
    }
}

/// A head that returns a number per class or value: the state, or an optional projection of it, is flattened and mapped to so
/// many numbers.
///
/// Class scores are logits, before the softmax; a single score is the logit of a sigmoid. Values of a regression are the
/// numbers themselves.
#[derive(Module, Debug)]
pub struct ClassHead {
    /// The projection before flattening.
    pub projection: Option<Map>,
    /// From the flat state to the scores: `[rows · cols, classes]`.
    pub map: VecLinear,
}

impl ClassHead {
    /// Scores for `classes` classes from states of the shape `state`.
    pub fn new(
        state: [usize; 2],
        classes: usize,
        init: Init,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        check_count("classes", classes, crate::MAX_NUMBERS)?;
        let [rows, cols] = state;
        let map = VecLinearConfig::new(rows * cols, classes).with_init(init).init(rng, device)?;
        Ok(Self { projection: None, map })
    }
}

impl Summarize for ClassHead {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.projection.summarize(&join(name, "projection"), uses);
        rows.extend(self.map.summarize(name, uses));
        rows
    }
}

impl Head for ClassHead {
    /// Scores `[batch, classes]`.
    type Output = Tensor<2>;
    /// Scores `[batch, time, classes]`.
    type PerStep = Tensor<3>;

    fn forward(&self, state: Tensor<3>, _mode: &mut Mode) -> Tensor<2> {
        let state = projected(&self.projection, state);
        let [batch, rows, cols] = state.dims();
        self.map.forward(state.reshape([batch, rows * cols]))
    }

    fn per_step(&self, states: Sequences, mode: &mut Mode) -> Tensor<3> {
        states.each_step(|states| self.forward(states, mode))
    }

    fn with_projection(self, projection: Option<Map>) -> Self {
        Self { projection, ..self }
    }
}

fn projected(projection: &Option<Map>, state: Tensor<3>) -> Tensor<3> {
    match projection {
        Some(projection) => projection.forward(state),
        None => state,
    }
}
