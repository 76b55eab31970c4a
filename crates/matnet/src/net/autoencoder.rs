//! The deep auto-encoder with tied weights.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::stack::check_layers;
use super::{Hidden, Net, NetConfig, NetOutput, SampleTarget, check_input, sample_net_config};
use crate::config::config;
use crate::error::{ConfigError, check_rate};
use crate::form::Form;
use crate::init::{Init, constant};
use crate::layer::{Map, MapConfig, Noise};
use crate::mode::Mode;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of an [`AutoEncoder`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = AutoEncoderConfig::new([28, 20], [20, 20], 20).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let faces = Tensor::ones([8, 28, 20], &device);
    /// assert_eq!(net.encode(faces.clone()).dims(), [8, 20, 20]);
    /// assert_eq!(net.forward(faces, &mut Mode::Eval).dims(), [8, 28, 20]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct AutoEncoderConfig {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of X.
        pub input: [usize; 2],
        /// One shape for all hidden layers, or one for each layer of the encoder.
        pub hidden: Hidden,
        /// How many layers in all, half of them in the encoder. Even; if `hidden` is a list, twice its length.
        pub depth: usize,
        /// σ of all layers but the last. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// σ of the last layer. Default: the identity.
        pub output_activation: Activation = Activation::Identity,
        /// The noise that corrupts the input in training. Default: masking.
        pub noise: Noise = Noise::Masking,
        /// The strength of the noise. Default: 0.2.
        pub noise_ratio: f64 = 0.2,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// An auto-encoder of matrices with `depth` layers in all.
    pub fn new(input: [usize; 2], hidden: impl Into<Hidden>, depth: usize);
}

impl NetConfig for AutoEncoderConfig {
    type Net = AutoEncoder;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<AutoEncoder, ConfigError> {
        let state = self.form.holding("input", self.input)?;
        if self.depth == 0 || self.depth % 2 == 1 {
            let expected = "must be even and at least 2: half encodes, half decodes";
            return Err(ConfigError::new("depth", self.depth.to_string(), expected));
        }
        check_rate("noise_ratio", self.noise_ratio)?;
        let shapes = self.hidden.shapes(self.form, Some(self.depth / 2)).map_err(|error| {
            match (&self.hidden, error.key.as_str()) {
                (Hidden::Each(list), "depth") => {
                    let expected = format!("hidden lists {} shapes, so {}", list.len(), 2 * list.len());
                    ConfigError::new("depth", self.depth.to_string(), expected)
                }
                _ => error,
            }
        })?;
        check_layers(self.form, state, &shapes, 1)?;
        let mut before = state;
        let mut encoder = Vec::new();
        for &shape in &shapes {
            let map = MapConfig {
                activation: self.activation,
                init: self.init,
                ..MapConfig::new(self.form, before, shape)
            };
            encoder.push(map.init(rng, device)?);
            before = shape;
        }
        let bias = |map: &Map| Decoder { bias: constant(0.0, map.input(), device) };
        Ok(AutoEncoder {
            decoder: encoder.iter().rev().map(bias).collect(),
            encoder,
            form: self.form,
            input: self.input,
            activation: self.activation,
            output_activation: self.output_activation,
            noise: self.noise,
            noise_ratio: self.noise_ratio,
        })
    }

    fn keeps_intermediates(&self) -> bool {
        self.form == Form::Matrix
    }

    fn form(&self) -> Form {
        self.form
    }
}

sample_net_config!(AutoEncoderConfig, SampleTarget::Input, |config| NetOutput::Matrix(config.input));

/// The denoising auto-encoder with tied weights, made with [`AutoEncoderConfig`].
///
/// The encoder has k layers Hᵢ = σ(Uᵢᵀ Hᵢ₋₁ Vᵢ + Bᵢ), H₀ = X. The decoder uses the transposed maps of the encoder in
/// reverse order, Ĥᵢ₋₁ = σ(Uᵢ Ĥᵢ Vᵢᵀ + Bᵢ'), from Ĥₖ = Hₖ to the reconstruction Ĥ₀, and has its own biases. In
/// training the input is corrupted first, as in a
/// [denoising auto-encoder](https://www.jmlr.org/papers/v11/vincent10a.html) (Vincent et al. 2010).
#[derive(Module, Debug)]
pub struct AutoEncoder {
    /// The layers of the encoder.
    pub encoder: Vec<Map>,
    /// The biases of the decoder, first layer first.
    pub decoder: Vec<Decoder>,
    #[module(skip)]
    form: Form,
    /// Rows and columns of X.
    #[module(skip)]
    pub input: [usize; 2],
    /// σ of all layers but the last.
    #[module(skip)]
    pub activation: Activation,
    /// σ of the last layer.
    #[module(skip)]
    pub output_activation: Activation,
    #[module(skip)]
    noise: Noise,
    noise_ratio: f64,
}

/// A layer of the decoder, which shares its maps with the encoder.
#[derive(Module, Debug)]
pub struct Decoder {
    /// B': `[rows, cols]`, `[n, 1]` in the vector form.
    pub bias: Param<Tensor<2>>,
}

impl Summarize for Decoder {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        vec![LayerSummary::new(name, "bias", uses).with_parameter(Some(&self.bias))]
    }
}

impl AutoEncoder {
    /// The code, which is the state of the last encoder layer: `[batch, rows, cols]` → `[batch, hidden rows, hidden cols]`.
    pub fn encode(&self, input: Tensor<3>) -> Tensor<3> {
        self.encode_in(input, &mut Mode::Eval)
    }

    fn encode_in(&self, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
        check_input("autoencoder", &input, self.input);
        self.encoder.iter().enumerate().fold(self.form.enter(input), |state, (at, map)| {
            let state = map.forward(state);
            mode.observe(|| format!("encoder.{at}"), &state);
            state
        })
    }

    /// The matrix that is reconstructed from a code.
    pub fn decode(&self, state: Tensor<3>) -> Tensor<3> {
        let last = self.decoder.len() - 1;
        let layers = self.encoder.iter().rev().zip(&self.decoder).enumerate();
        let output = layers.fold(state, |state, (index, (map, own))| {
            let activation = if index == last { self.output_activation } else { self.activation };
            map.transposed(state, own.bias.val(), activation)
        });
        self.form.leave(output, self.input)
    }
}

impl Net for AutoEncoder {
    type Input = Tensor<3>;
    type Output = Tensor<3>;

    fn forward(&self, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
        let corrupted = self.noise.corrupt(input, self.noise_ratio, mode);
        self.decode(self.encode_in(corrupted, mode))
    }

    fn form(&self) -> Form {
        self.form
    }

    fn code_shape(&self) -> Option<[usize; 2]> {
        self.encoder.last().map(Map::output)
    }

    fn decode(&self, codes: Tensor<3>) -> Option<Tensor<3>> {
        Some(Self::decode(self, codes))
    }

    /// Encoder maps are used twice: for encoding, and transposed for decoding.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.encoder.summarize("encoder", 2);
        rows.extend(self.decoder.summarize("decoder", 1));
        rows
    }
}
