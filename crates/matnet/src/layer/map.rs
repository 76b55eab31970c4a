//! A map between states, matrices or vectors.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::{MatLinear, MatLinearConfig};
use crate::config::options;
use crate::error::{ConfigError, check_sides};
use crate::form::Form;
use crate::init::Init;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::{VecLinear, VecLinearConfig};

options! {
    /// The config of a [`Map`].
    pub struct MapConfig {
        /// Matrix or vector.
        pub form: Form,
        /// The shape of the input; `[n, 1]` for a vector.
        pub input: [usize; 2],
        /// The shape of the output.
        pub output: [usize; 2],
        /// Whether there is a bias. Default: yes.
        pub bias: bool = true,
        /// The initial value of every entry of the bias. Default: 0.
        pub bias_init: f64 = 0.0,
        /// σ. Default: the identity.
        pub activation: Activation = Activation::Identity,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
        /// The variance of the output relative to that of the input, before σ. Default: chosen by σ.
        pub gain: Option<f64> = None,
    }

    /// A map between these shapes.
    pub fn new(form: Form, input: [usize; 2], output: [usize; 2]);
}

impl MapConfig {
    /// The number of parameters; an error that names `key` if a parameter is too large.
    pub fn numbers(&self, key: &str) -> Result<usize, ConfigError> {
        let ([rows, cols], [rows_out, cols_out]) = (self.input, self.output);
        let parts = match self.form {
            Form::Matrix => vec![[rows, rows_out], [cols, cols_out], [rows_out, cols_out]],
            Form::Vector => vec![[rows, rows_out], [rows_out, 1]],
        };
        parts.iter().try_for_each(|sides| check_sides(key, sides))?;
        Ok(parts.iter().map(|[a, b]| a * b).sum())
    }

    /// Checks the config and initialises the map with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Map, ConfigError> {
        match self.form {
            Form::Matrix => MatLinearConfig::new(self.input, self.output)
                .with_bias(self.bias)
                .with_bias_init(self.bias_init)
                .with_activation(self.activation)
                .with_init(self.init)
                .with_gain(self.gain)
                .init(rng, device)
                .map(Map::Matrix),
            Form::Vector => VecLinearConfig::new(self.input[0], self.output[0])
                .with_bias(self.bias)
                .with_bias_init(self.bias_init)
                .with_activation(self.activation)
                .with_init(self.init)
                .with_gain(self.gain)
                .init(rng, device)
                .map(Map::Vector),
        }
    }
}

/// σ(UᵀXV + B) between matrices, or σ(Wᵀx + b) between states of one column.
#[derive(Module, Debug)]
pub enum Map {
    /// Between matrices.
    Matrix(MatLinear),
    /// Between vectors.
    Vector(VecLinear),
}

impl Map {
    /// `[batch, rows, cols]` → `[batch, rows_out, cols_out]`
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Matrix(map) => map.forward(input),
            Self::Vector(map) => column(map.forward(vector(input))),
        }
    }

    /// The transposed map with another bias `[rows, cols]` and another σ:
    /// `[batch, rows_out, cols_out]` → `[batch, rows, cols]`.
    pub fn transposed(&self, input: Tensor<3>, bias: Tensor<2>, activation: Activation) -> Tensor<3> {
        match self {
            Self::Matrix(map) => map.transposed(input, bias, activation),
            Self::Vector(map) => {
                let bias = bias.squeeze_dim::<1>(1);
                column(map.transposed(vector(input), bias, activation))
            }
        }
    }

    /// The shape of the input.
    pub fn input(&self) -> [usize; 2] {
        match self {
            Self::Matrix(map) => map.input(),
            Self::Vector(map) => [weight_dims(&map.weight)[0], 1],
        }
    }

    /// The shape of the output.
    pub fn output(&self) -> [usize; 2] {
        match self {
            Self::Matrix(map) => map.output(),
            Self::Vector(map) => [weight_dims(&map.weight)[1], 1],
        }
    }
}

impl Summarize for Map {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        match self {
            Self::Matrix(map) => map.summarize(name, uses),
            Self::Vector(map) => map.summarize(name, uses),
        }
    }
}

fn weight_dims(weight: &Param<Tensor<2>>) -> [usize; 2] {
    weight.lazy_shape().dims()
}

/// `[batch, n, 1]` → `[batch, n]`
fn vector(state: Tensor<3>) -> Tensor<2> {
    state.squeeze_dim::<2>(2)
}

/// `[batch, n]` → `[batch, n, 1]`
fn column(vector: Tensor<2>) -> Tensor<3> {
    vector.unsqueeze_dim::<3>(2)
}
