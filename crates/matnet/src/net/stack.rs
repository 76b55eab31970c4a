//! The hidden layers of a deep net, with their skips and tying.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::error::{ConfigError, MAX_DEPTH, MAX_TOTAL, check_count, show};
use crate::form::Form;
use crate::layer::{DenseSkip, GatedSkip, Skip, Unit, UnitConfig};
use crate::mode::Mode;
use crate::random::Stream;

/// A hidden layer with what leads around it.
#[derive(Module, Debug)]
pub enum StackLayer {
    /// H̃ₜ alone.
    Plain(Unit),
    /// R ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ
    Skip(GatedSkip),
    /// Σₖ Rₖ Hₜ₋ₖ + H̃ₜ
    Dense(DenseSkip),
}

/// What the hidden layers are made from.
pub(super) struct Stack<'a> {
    /// The shape of the state that enters.
    pub input: [usize; 2],
    /// The shapes of the layers, at least one.
    pub shapes: &'a [[usize; 2]],
    /// What all layers share; its shapes do not matter.
    pub unit: UnitConfig,
    pub skip: Skip,
    /// How many layers a skip goes around.
    pub block: usize,
    /// How many earlier layers a dense skip reaches.
    pub reach: Option<usize>,
    pub tied: bool,
}

impl Stack<'_> {
    /// The layers; tied, the second stands for all that follow.
    pub fn init(&self, stream: &mut Stream, device: &Device) -> Result<Vec<StackLayer>, ConfigError> {
        self.check()?;
        let depth = self.shapes.len();
        let built = if self.tied { depth.min(2) } else { depth };
        let mut layers = Vec::new();
        let mut before = self.input;
        for (index, &shape) in self.shapes[..built].iter().enumerate() {
            layers.push(self.layer(index, before, shape, stream, device)?);
            before = shape;
        }
        Ok(layers)
    }

    fn layer(
        &self,
        index: usize,
        input: [usize; 2],
        output: [usize; 2],
        stream: &mut Stream,
        device: &Device,
    ) -> Result<StackLayer, ConfigError> {
        let depth = self.shapes.len();
        let unit = UnitConfig { input, output, ..self.unit.clone() };
        if index == 0 || self.skip == Skip::None {
            return unit.init(stream, device).map(StackLayer::Plain);
        }
        // Where outputs add up, each brings its share, or depth would multiply the signal. The outputs of
        // a ReLU are positive, so their sum over a chain of residual layers grows like its length.
        let share = match self.skip {
            Skip::Residual => 1.0 / (depth * depth) as f64,
            Skip::Dense => 1.0 / depth as f64,
            Skip::None | Skip::Gated | Skip::Highway => 1.0,
        };
        let unit = UnitConfig { share, ..unit };
        let candidate = vec![unit; self.block];
        Ok(match self.skip {
            Skip::None | Skip::Gated => StackLayer::Skip(GatedSkip::gated(&candidate, stream, device)?),
            Skip::Highway => StackLayer::Skip(GatedSkip::highway(&candidate, stream, device)?),
            Skip::Residual => StackLayer::Skip(GatedSkip::residual(&candidate, stream, device)?),
            Skip::Dense => {
                let reach = self.reach.unwrap_or(depth).min(depth);
                StackLayer::Dense(DenseSkip::new(&candidate, reach, stream, device)?)
            }
        })
    }

    /// Everything that could go wrong, before memory is taken.
    fn check(&self) -> Result<(), ConfigError> {
        check_count("block", self.block, MAX_DEPTH)?;
        if let Some(reach) = self.reach {
            check_count("reach", reach, MAX_DEPTH)?;
            if self.skip != Skip::Dense {
                return Err(ConfigError::new(
                    "reach",
                    reach.to_string(),
                    "only skip = \"dense\" has a reach",
                ));
            }
        }
        if self.block > 1 && self.skip == Skip::None {
            return Err(ConfigError::new("block", self.block.to_string(), "must be 1 without a skip"));
        }
        let first = self.shapes[0];
        if let Some(at) = self.shapes.iter().position(|&shape| shape != first) {
            let value = format!("{} at layer {}, {} before", show(&self.shapes[at]), at + 1, show(&first));
            if self.skip != Skip::None {
                let word = format!("{:?}", self.skip).to_lowercase();
                let expected = format!("skip = \"{word}\" needs one shape for all hidden layers");
                return Err(ConfigError::new("hidden", value, expected));
            }
            if self.tied {
                return Err(ConfigError::new("hidden", value, "tied layers need one shape"));
            }
        }
        self.check_total()
    }

    /// The maps and biases of all layers together hold at most [`MAX_TOTAL`] numbers.
    fn check_total(&self) -> Result<(), ConfigError> {
        let maps = match self.skip {
            Skip::None => 1,
            Skip::Residual | Skip::Dense => self.block,
            Skip::Highway => self.block + 1,
            Skip::Gated => self.block + 2,
        };
        let built = if self.tied { self.shapes.len().min(2) } else { self.shapes.len() };
        let mut before = self.input;
        let mut total: usize = 0;
        for &[rows, cols] in &self.shapes[..built] {
            let numbers = match self.unit.form {
                Form::Matrix => [[before[0], rows], [before[1], cols], [rows, cols]],
                Form::Vector => [[before[0], rows], [rows, 1], [0, 0]],
            };
            for [a, b] in numbers {
                total = total.saturating_add(a.saturating_mul(b).saturating_mul(maps));
            }
            before = [rows, cols];
        }
        if total > MAX_TOTAL {
            let expected = format!("a net may hold at most {MAX_TOTAL} numbers");
            return Err(ConfigError::new("hidden", format!("{total} numbers in {built} layers"), expected));
        }
        Ok(())
    }
}

/// Through `depth` layers; the last one stands for all that are missing.
pub(super) fn run(layers: &[StackLayer], depth: usize, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
    let mut state = input;
    // Kept for dense skips only; the input has another shape and does not count.
    let mut earlier = Vec::new();
    for index in 0..depth {
        state = match &layers[index.min(layers.len() - 1)] {
            StackLayer::Plain(layer) => layer.forward(state, mode),
            StackLayer::Skip(layer) => layer.forward(state, mode),
            StackLayer::Dense(layer) => layer.forward(&earlier, mode),
        };
        if layers.iter().any(|layer| matches!(layer, StackLayer::Dense(_))) {
            earlier.push(state.clone());
        }
    }
    state
}
