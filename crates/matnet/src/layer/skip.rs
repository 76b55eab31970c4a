//! Skip connections: Hₜ = R ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ, and its cases.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, activation::softmax};
use serde::{Deserialize, Serialize};

use super::{Map, MapConfig, Unit, UnitConfig};
use crate::error::{ConfigError, check_count, show};
use crate::init::constant;
use crate::mode::Mode;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};

/// The initial bias of the transform gate of a highway: Z ≈ 0.12, so that an untrained layer carries most of its input.
pub const TRANSFORM_BIAS_INIT: f64 = -2.0;

/// The initial bias of a separate carry gate: R ≈ 0.98, so that a state survives many layers.
pub const CARRY_BIAS_INIT: f64 = 4.0;

/// The skip connections of a net.
///
/// | skip | Hₜ | source |
/// |---|---|---|
/// | `none` | H̃ₜ | |
/// | `gated` | R ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ, R and Z = sigm(mat1(Hₜ₋₁)), each with its own maps | [Do et al.](https://arxiv.org/abs/1703.01454) |
/// | `highway` | (1 − Z) ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ | [Srivastava et al.](https://arxiv.org/abs/1505.00387) |
/// | `residual` | Hₜ₋₁ + H̃ₜ | [He et al.](https://arxiv.org/abs/1512.03385) |
/// | `dense` | Σₖ Rₖ Hₜ₋ₖ + H̃ₜ, over several earlier layers, Σₖ Rₖ = 1 | after [Huang et al.](https://arxiv.org/abs/1608.06993) |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Skip {
    /// None.
    #[default]
    None,
    /// Two learned gates.
    Gated,
    /// One learned gate Z; the carry gate is 1 − Z.
    Highway,
    /// Both gates 1.
    Residual,
    /// Connections to several earlier layers.
    Dense,
}

/// A gate: constant, or learned from the state before.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // Two per layer at most, and Burn has no boxed modules.
pub enum Gate {
    /// The same number for all entries.
    Constant(f64),
    /// sigm(mat1(Hₜ₋₁)): `[batch, rows, cols]`.
    Learned(Map),
}

impl Gate {
    /// A learned gate with this initial bias.
    pub fn learned(
        layer: &UnitConfig,
        bias_init: f64,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        let map = MapConfig {
            activation: Activation::Sigmoid,
            bias_init,
            init: layer.init,
            ..MapConfig::new(layer.form, layer.input, layer.input)
        };
        Ok(Self::Learned(map.init(rng, device)?))
    }

    /// `value` times the gate for `state`.
    fn pass(&self, state: &Tensor<3>, value: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Constant(1.0) => value,
            Self::Constant(factor) => value * *factor,
            Self::Learned(map) => map.forward(state.clone()) * value,
        }
    }
}

/// The general gated skip Hₜ = R ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ.
///
/// H̃ₜ = F(Hₜ₋₁), where F is any chain of layers whose output has the shape of its input. The transform gate Z and the carry
/// gate R are constant or learned; without a carry gate R = 1 − Z. [`Skip`] lists the sources.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::layer::{GatedSkip, UnitConfig};
/// use matnet::{Form, Mode, random::SeededRng};
///
/// let (device, mut rng) = (Device::flex(), SeededRng::new(42, "init"));
/// let layer = UnitConfig::new(Form::Matrix, [20, 20], [20, 20]);
/// let highway = GatedSkip::highway(&[layer], &mut rng, &device)?;
/// let output = highway.forward(Tensor::ones([8, 20, 20], &device), &mut Mode::Eval);
/// assert_eq!(output.dims(), [8, 20, 20]);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Module, Debug)]
pub struct GatedSkip {
    /// F, layer after layer.
    pub candidate: Vec<Unit>,
    /// Z
    pub transform: Gate,
    /// R; if there is none, 1 − Z.
    pub carry: Option<Gate>,
}

impl GatedSkip {
    /// Two separate learned gates, initialised near Z = 0.12 and R = 0.98.
    pub fn gated(
        candidate: &[UnitConfig],
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        let first = check_chain(candidate)?;
        Ok(Self {
            transform: Gate::learned(first, TRANSFORM_BIAS_INIT, rng, device)?,
            carry: Some(Gate::learned(first, CARRY_BIAS_INIT, rng, device)?),
            candidate: build(candidate, rng, device)?,
        })
    }

    /// The highway: Z = sigm(mat1(Hₜ₋₁)), Hₜ = (1 − Z) ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ; the initial bias of Z is −2.
    pub fn highway(
        candidate: &[UnitConfig],
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        let first = check_chain(candidate)?;
        Ok(Self {
            transform: Gate::learned(first, TRANSFORM_BIAS_INIT, rng, device)?,
            carry: None,
            candidate: build(candidate, rng, device)?,
        })
    }

    /// The residual layer: Hₜ = Hₜ₋₁ + F(Hₜ₋₁).
    pub fn residual(
        candidate: &[UnitConfig],
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        check_chain(candidate)?;
        Ok(Self {
            transform: Gate::Constant(1.0),
            carry: Some(Gate::Constant(1.0)),
            candidate: build(candidate, rng, device)?,
        })
    }

    /// Hₜ₋₁ → Hₜ, both `[batch, rows, cols]`.
    pub fn forward(&self, state: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
        let candidate = run(&self.candidate, state.clone(), mode);
        match &self.carry {
            Some(carry) => carry.pass(&state, state.clone()) + self.transform.pass(&state, candidate),
            None => state.clone() + self.transform.pass(&state, candidate - state.clone()),
        }
    }
}

/// A skip connection to several earlier layers: Hₜ = Σₖ Rₖ Hₜ₋ₖ + H̃ₜ for k = 1 … reach.
///
/// H̃ₜ = F(Hₜ₋₁). The gates Rₖ are a softmax over learned scores, one per earlier layer. They are initialised as equal, which
/// gives the mean, and sum to 1, so that the sum does not grow with depth. Where fewer than `reach` earlier layers exist, the
/// softmax is over those.
#[derive(Module, Debug)]
pub struct DenseSkip {
    /// F, layer after layer.
    pub candidate: Vec<Unit>,
    /// One score per earlier layer, the nearest first: `[reach]`.
    pub scores: Param<Tensor<1>>,
}

impl DenseSkip {
    /// A skip connection to the last `reach` layers.
    pub fn new(
        candidate: &[UnitConfig],
        reach: usize,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        check_chain(candidate)?;
        check_count("reach", reach, crate::MAX_DEPTH)?;
        Ok(Self { candidate: build(candidate, rng, device)?, scores: constant(0.0, [reach], device) })
    }

    /// Hₜ from all earlier states in order, each `[batch, rows, cols]`.
    ///
    /// # Panics
    ///
    /// If there is no earlier state.
    pub fn forward(&self, earlier: &[Tensor<3>], mode: &mut Mode) -> Tensor<3> {
        let last = earlier.last().expect("a dense skip needs an earlier state").clone();
        let scores = self.scores.val();
        let reached = scores.dims()[0].min(earlier.len());
        let gates = softmax(scores.narrow(0, 0, reached), 0);
        let nearest_first = earlier.iter().rev().take(reached).enumerate();
        nearest_first.fold(run(&self.candidate, last, mode), |sum, (k, state)| {
            sum + state.clone() * gates.clone().narrow(0, k, 1).reshape([1, 1, 1])
        })
    }
}

impl Summarize for Gate {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Learned(map) => map.summarize(name, uses),
        }
    }
}

impl Summarize for GatedSkip {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.candidate.summarize(&join(name, "candidate"), uses);
        rows.extend(self.transform.summarize(&join(name, "transform"), uses));
        rows.extend(self.carry.summarize(&join(name, "carry"), uses));
        rows
    }
}

impl Summarize for DenseSkip {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let mut rows = self.candidate.summarize(&join(name, "candidate"), uses);
        rows.push(LayerSummary::new(name, "dense skip", uses).with_parameter(Some(&self.scores)));
        rows
    }
}

/// Layer after layer.
fn run(layers: &[Unit], state: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
    layers.iter().fold(state, |state, layer| layer.forward(state, mode))
}

fn build(layers: &[UnitConfig], rng: &mut SeededRng, device: &Device) -> Result<Vec<Unit>, ConfigError> {
    layers.iter().map(|layer| layer.init(rng, device)).collect()
}

/// Checks that the chain is not empty, that its shapes fit, and that its output has the shape of its input.
fn check_chain(layers: &[UnitConfig]) -> Result<&UnitConfig, ConfigError> {
    let [first, ..] = layers else {
        return Err(ConfigError::new("candidate", "no layer", "a skip goes around at least one layer"));
    };
    let mut shape = first.input;
    for layer in layers {
        if layer.input != shape {
            let value = format!("{} after {}", show(&layer.input), show(&shape));
            return Err(ConfigError::new("candidate", value, "a layer takes what the one before gives"));
        }
        shape = layer.output;
    }
    if shape != first.input {
        let value = format!("from {} to {}", show(&first.input), show(&shape));
        return Err(ConfigError::new("candidate", value, "a skip needs the same shape before and after"));
    }
    Ok(first)
}
