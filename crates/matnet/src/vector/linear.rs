//! The dense layer: y = σ(Wᵀx + b).

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_finite, check_gain, check_sides};
use crate::init::{self, Init};
use crate::ops::{Activation, linear, linear_transposed};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`VecLinear`].
    pub struct VecLinearConfig {
        /// The input size.
        pub input: usize,
        /// The output size.
        pub output: usize,
        /// Whether there is a bias b. Default: yes.
        pub bias: bool = true,
        /// The initial value of every entry of b. Default: 0.
        pub bias_init: f64 = 0.0,
        /// σ. Default: the identity.
        pub activation: Activation = Activation::Identity,
        /// How W is initialised. Default: orthogonal.
        pub init: Init = Init::default(),
        /// The variance of the output relative to that of the input, before σ. Default: chosen by σ, see [`init::gain`].
        pub gain: Option<f64> = None,
    }

    /// A dense layer between these sizes.
    pub fn new(input: usize, output: usize);
}

impl VecLinearConfig {
    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<VecLinear, ConfigError> {
        check_sides("input", &[self.input])?;
        check_sides("output", &[self.output])?;
        check_sides("output", &[self.input, self.output])?;
        check_finite("bias_init", self.bias_init)?;
        let gain = self.gain.unwrap_or(init::gain(self.activation));
        check_gain("gain", gain)?;
        Ok(VecLinear {
            weight: self.init.map([self.input, self.output], gain, rng, device),
            bias: self.bias.then(|| init::constant(self.bias_init, [self.output], device)),
            activation: self.activation,
        })
    }
}

/// The dense layer y = σ(Wᵀx + b), made with [`VecLinearConfig`].
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct VecLinear {
    /// W: `[input, output]`
    pub weight: Param<Tensor<2>>,
    /// b: `[output]`
    pub bias: Option<Param<Tensor<1>>>,
    /// σ
    #[module(skip)]
    pub activation: Activation,
}

impl VecLinear {
    /// y = σ(Wᵀx + b): `[batch, input]` → `[batch, output]`.
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.as_ref().map(Param::val);
        linear(input, self.weight.val(), bias, self.activation)
    }

    /// The transposed map with another bias and σ: σ(W x + b), `[batch, output]` → `[batch, input]`.
    pub fn transposed(&self, input: Tensor<2>, bias: Tensor<1>, activation: Activation) -> Tensor<2> {
        linear_transposed(input, self.weight.val(), Some(bias), activation)
    }
}

impl Summarize for VecLinear {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [input, output] = self.weight.lazy_shape().dims();
        let row = LayerSummary::new(name, "vector map", uses)
            .with_weight("weight", Some(&self.weight))
            .with_parameter(self.bias.as_ref())
            .with_shapes([input, 1], [output, 1])
            .with_flops(2 * (input * output) as u64);
        vec![row]
    }
}

impl ModuleDisplay for VecLinear {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [input, output] = self.weight.lazy_shape().dims();
        content
            .add("input", &input)
            .add("output", &output)
            .add("bias", &self.bias.is_some())
            .add_debug_attribute("activation", &self.activation)
            .optional()
    }
}
