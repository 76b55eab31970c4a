//! The matrix layer: Y = σ(UᵀXV + B).

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_finite, check_gain, check_sides, show};
use crate::init::{self, Init};
use crate::ops::{Activation, Mat1Maps, batched_product, mat1, product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, two_sided_flops};

config! {
    /// The config of a [`MatLinear`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::layer::MatLinearConfig;
    /// use matnet::{ops::Activation, random::SeededRng};
    ///
    /// let device = Device::flex();
    /// let layer = MatLinearConfig::new([28, 28], [50, 40])
    ///     .with_activation(Activation::Relu)
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// let output = layer.forward(Tensor::ones([8, 28, 28], &device));
    /// assert_eq!(output.dims(), [8, 50, 40]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct MatLinearConfig {
        /// Rows and columns of X.
        pub input: [usize; 2],
        /// Rows and columns of Y.
        pub output: [usize; 2],
        /// Whether there is a U, which maps the rows. Default: yes.
        pub row_map: bool = true,
        /// Whether there is a V, which maps the columns. Default: yes.
        pub col_map: bool = true,
        /// Whether there is a B. Default: yes.
        pub bias: bool = true,
        /// The initial value of every entry of B. Default: 0.
        pub bias_init: f64 = 0.0,
        /// σ. Default: the identity.
        pub activation: Activation = Activation::Identity,
        /// How U and V are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
        /// The variance of the output relative to that of the input, before σ. Default: chosen by σ, see [`init::gain`].
        pub gain: Option<f64> = None,
    }

    /// A layer between these shapes.
    pub fn new(input: [usize; 2], output: [usize; 2]);
}

impl MatLinearConfig {
    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<MatLinear, ConfigError> {
        let ([rows, cols], [rows_out, cols_out]) = (self.input, self.output);
        check_sides("input", &self.input)?;
        check_sides("output", &self.output)?;
        check_sides("output", &[rows, rows_out])?;
        check_sides("output", &[cols, cols_out])?;
        check_finite("bias_init", self.bias_init)?;
        for (key, mapped, side, side_out) in
            [("row_map", self.row_map, rows, rows_out), ("col_map", self.col_map, cols, cols_out)]
        {
            if !mapped && side != side_out {
                let value = format!("false with {} in and {} out", show(&self.input), show(&self.output));
                return Err(ConfigError::new(key, value, "without a map both sides must be equal"));
            }
        }
        let gain = self.gain.unwrap_or(init::gain(self.activation));
        check_gain("gain", gain)?;
        // Two maps share the gain.
        let power = if self.row_map && self.col_map { gain.sqrt() } else { gain };
        let mut map = |wanted: bool, shape| wanted.then(|| self.init.map(shape, power, rng, device));
        Ok(MatLinear {
            row_map: map(self.row_map, [rows, rows_out]),
            col_map: map(self.col_map, [cols, cols_out]),
            bias: self.bias.then(|| init::constant(self.bias_init, self.output, device)),
            activation: self.activation,
            input: self.input,
            output: self.output,
        })
    }
}

/// The matrix layer Y = σ(UᵀXV + B) of Do, Tran & Venkatesh,
/// [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454), made with [`MatLinearConfig`].
///
/// U, V and B are optional: without U the rows are not mapped, without V the columns.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MatLinear {
    /// U: `[rows, rows_out]`
    pub row_map: Option<Param<Tensor<2>>>,
    /// V: `[cols, cols_out]`
    pub col_map: Option<Param<Tensor<2>>>,
    /// B: `[rows_out, cols_out]`
    pub bias: Option<Param<Tensor<2>>>,
    /// σ
    #[module(skip)]
    pub activation: Activation,
    #[module(skip)]
    input: [usize; 2],
    #[module(skip)]
    output: [usize; 2],
}

impl MatLinear {
    /// Y = σ(UᵀXV + B): `[batch, rows, cols]` → `[batch, rows_out, cols_out]`.
    ///
    /// # Panics
    ///
    /// If the input has other sides than the config said, or an empty batch.
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        apply(input, value(&self.row_map), value(&self.col_map), value(&self.bias), self.activation)
    }

    /// The maps and σ, if no map is missing; for [`mat1_chain`](crate::ops::mat1_chain).
    pub fn maps(&self) -> Option<Mat1Maps> {
        let (row_map, col_map) = (value(&self.row_map)?, value(&self.col_map)?);
        Some(Mat1Maps { row_map, col_map, bias: value(&self.bias), activation: self.activation })
    }

    /// The transposed map with another bias and σ: σ(U H Vᵀ + B), `[batch, rows_out, cols_out]` → `[batch, rows, cols]`.
    ///
    /// # Panics
    ///
    /// If the input or the bias has other sides, or the batch is empty.
    pub fn transposed(&self, input: Tensor<3>, bias: Tensor<2>, activation: Activation) -> Tensor<3> {
        let back = |map| value(map).map(Tensor::transpose);
        apply(input, back(&self.row_map), back(&self.col_map), Some(bias), activation)
    }

    /// Rows and columns of X.
    pub fn input(&self) -> [usize; 2] {
        self.input
    }

    /// Rows and columns of Y.
    pub fn output(&self) -> [usize; 2] {
        self.output
    }
}

fn value(map: &Option<Param<Tensor<2>>>) -> Option<Tensor<2>> {
    map.as_ref().map(Param::val)
}

/// `mat1` with optional maps.
fn apply(
    input: Tensor<3>,
    row_map: Option<Tensor<2>>,
    col_map: Option<Tensor<2>>,
    bias: Option<Tensor<2>>,
    activation: Activation,
) -> Tensor<3> {
    let mapped = match (row_map, col_map) {
        (Some(row_map), Some(col_map)) => return mat1(input, row_map, col_map, bias, activation),
        (Some(row_map), None) => batched_product(row_map.transpose().unsqueeze::<3>(), input),
        (None, Some(col_map)) => {
            let ([batch, rows, cols], cols_out) = (input.dims(), col_map.dims()[1]);
            product(input.reshape([batch * rows, cols]), col_map).reshape([batch, rows, cols_out])
        }
        (None, None) => input,
    };
    activation.of_sum(mapped, bias)
}

impl Summarize for MatLinear {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let ([r, c], [p, q]) = (self.input, self.output);
        let flops = match (&self.row_map, &self.col_map) {
            (Some(_), Some(_)) => two_sided_flops(self.input, self.output),
            (Some(_), None) => 2 * (p * r * c) as u64,
            (None, Some(_)) => 2 * (r * c * q) as u64,
            (None, None) => 0,
        };
        let bias = if self.bias.is_some() { p * q } else { 0 };
        let row = LayerSummary::new(name, "matrix map", uses)
            .with_weight("row_map", self.row_map.as_ref())
            .with_weight("col_map", self.col_map.as_ref())
            .with_parameter(self.bias.as_ref())
            .with_shapes(self.input, self.output)
            .with_flops(flops)
            .with_vector_weights((r * c) as u64 * (p * q) as u64, bias);
        vec![row]
    }
}

impl ModuleDisplay for MatLinear {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("input", &show(&self.input))
            .add("output", &show(&self.output))
            .add("row_map", &self.row_map.is_some())
            .add("col_map", &self.col_map.is_some())
            .add("bias", &self.bias.is_some())
            .add_debug_attribute("activation", &self.activation)
            .optional()
    }
}
