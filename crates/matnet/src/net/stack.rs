//! The hidden layers of a deep net, with skip connections and tying.

use std::ops::Range;

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use crate::error::{ConfigError, MAX_DEPTH, check_count, check_total, show};
use crate::form::Form;
use crate::layer::{DenseSkip, GatedSkip, MapConfig, Skip, Unit, UnitConfig};
use crate::mode::Mode;
use crate::ops::{Mat1Maps, mat1_chain};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

/// A hidden layer with its skip connection.
#[derive(Module, Debug)]
pub enum StackLayer {
    /// H̃ₜ alone.
    Plain(Unit),
    /// R ⊙ Hₜ₋₁ + Z ⊙ H̃ₜ
    Skip(GatedSkip),
    /// Σₖ Rₖ Hₜ₋ₖ + H̃ₜ
    Dense(DenseSkip),
}

impl Summarize for StackLayer {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        match self {
            Self::Plain(layer) => layer.summarize(name, uses),
            Self::Skip(layer) => layer.summarize(name, uses),
            Self::Dense(layer) => layer.summarize(name, uses),
        }
    }
}

/// The config of the hidden layers.
pub(super) struct Stack<'a> {
    /// The shape of the state that enters.
    pub input: [usize; 2],
    /// The shapes of the layers, at least one.
    pub shapes: &'a [[usize; 2]],
    /// The options of every layer; its shapes are ignored.
    pub unit: UnitConfig,
    pub skip: Skip,
    /// How many layers a skip goes around.
    pub block: usize,
    /// How many earlier layers a dense skip connects to.
    pub reach: Option<usize>,
    pub tied: bool,
}

impl Stack<'_> {
    /// The layers. If they are tied, the second stands for all that follow.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Vec<StackLayer>, ConfigError> {
        self.check()?;
        let depth = self.shapes.len();
        let built = if self.tied { depth.min(2) } else { depth };
        let mut layers = Vec::new();
        let mut before = self.input;
        for (index, &shape) in self.shapes[..built].iter().enumerate() {
            layers.push(self.layer(index, before, shape, rng, device)?);
            before = shape;
        }
        Ok(layers)
    }

    fn layer(
        &self,
        index: usize,
        input: [usize; 2],
        output: [usize; 2],
        rng: &mut SeededRng,
        device: &Device,
    ) -> Result<StackLayer, ConfigError> {
        let depth = self.shapes.len();
        let unit = UnitConfig { input, output, ..self.unit.clone() };
        if index == 0 || self.skip == Skip::None {
            return unit.init(rng, device).map(StackLayer::Plain);
        }
        // Outputs that are added up are scaled down, or the signal would grow with depth. The outputs of a ReLU are
        // positive, so their sum over a chain of residual layers grows like its length.
        let share = match self.skip {
            Skip::Residual => 1.0 / (depth * depth) as f64,
            Skip::Dense => 1.0 / depth as f64,
            Skip::None | Skip::Gated | Skip::Highway => 1.0,
        };
        let unit = UnitConfig { share, ..unit };
        let candidate = vec![unit; self.block];
        Ok(match self.skip {
            Skip::None | Skip::Gated => StackLayer::Skip(GatedSkip::gated(&candidate, rng, device)?),
            Skip::Highway => StackLayer::Skip(GatedSkip::highway(&candidate, rng, device)?),
            Skip::Residual => StackLayer::Skip(GatedSkip::residual(&candidate, rng, device)?),
            Skip::Dense => {
                let reach = self.reach.unwrap_or(depth).min(depth);
                StackLayer::Dense(DenseSkip::new(&candidate, reach, rng, device)?)
            }
        })
    }

    /// Checks everything before memory is allocated.
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

    /// The layers together do not hold too many numbers.
    fn check_total(&self) -> Result<(), ConfigError> {
        let maps = match self.skip {
            Skip::None => 1,
            Skip::Residual | Skip::Dense => self.block,
            Skip::Highway => self.block + 1,
            Skip::Gated => self.block + 2,
        };
        let built = if self.tied { self.shapes.len().min(2) } else { self.shapes.len() };
        check_layers(self.unit.form, self.input, &self.shapes[..built], maps)
    }
}

/// Layers of these shapes, so many maps in each, do not hold too many numbers.
pub(super) fn check_layers(
    form: Form,
    input: [usize; 2],
    shapes: &[[usize; 2]],
    maps: usize,
) -> Result<(), ConfigError> {
    let mut before = input;
    let mut total: usize = 0;
    for &shape in shapes {
        let numbers = MapConfig::new(form, before, shape).numbers("hidden")?;
        total = total.saturating_add(numbers.saturating_mul(maps));
        before = shape;
    }
    check_total("hidden", total)
}

/// The forward pass through `depth` layers; the last one stands for all that are missing.
pub(super) fn run(layers: &[StackLayer], depth: usize, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
    let mut state = input;
    // Kept for dense skips only; the input has another shape and does not count.
    let dense = layers.iter().any(|layer| matches!(layer, StackLayer::Dense(_)));
    let mut earlier = Vec::new();
    let mut index = 0;
    while index < depth {
        let at = index.min(layers.len() - 1);
        // Consecutive plain layers are one operation, unless the states between them are needed.
        let alone = dense || mode.needs_states();
        let chain = if alone { Vec::new() } else { plain(layers, index..depth, mode) };
        if chain.len() > 1 {
            index += chain.len();
            state = mat1_chain(state, chain);
            continue;
        }
        state = match &layers[at] {
            StackLayer::Plain(layer) => layer.forward(state, mode),
            StackLayer::Skip(layer) => layer.forward(state, mode),
            StackLayer::Dense(layer) => layer.forward(&earlier, mode),
        };
        mode.observe(|| format!("layer.{at}"), &state);
        if dense {
            earlier.push(state.clone());
        }
        index += 1;
    }
    state
}

/// The maps of the layers of `range`, up to the first that is more than a map.
fn plain(layers: &[StackLayer], range: Range<usize>, mode: &Mode) -> Vec<Mat1Maps> {
    let maps = |index: usize| match &layers[index.min(layers.len() - 1)] {
        StackLayer::Plain(layer) => layer.maps(mode),
        StackLayer::Skip(_) | StackLayer::Dense(_) => None,
    };
    range.map_while(maps).collect()
}
