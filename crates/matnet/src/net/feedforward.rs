//! The deep feed-forward net.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::stack::{self, Stack, StackLayer};
use super::{Hidden, Net, NetConfig, check_input, sample_net_config};
use crate::config::config;
use crate::error::{ConfigError, check_finite};
use crate::form::Form;
use crate::init::Init;
use crate::layer::{ClassHead, Dropout, Head, HeadConfig, Skip, UnitConfig};
use crate::mode::Mode;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};

config! {
    /// The config of a [`FeedForward`] net.
    ///
    /// `output` is `[rows, cols]` for a net that returns matrices, or the number of classes for one that returns scores.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = FeedForwardConfig::new([28, 28], [20, 20], 10)
    ///     .with_depth(Some(30))
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// let scores = net.forward(Tensor::ones([8, 28, 28], &device), &mut Mode::Eval);
    /// assert_eq!(scores.dims(), [8, 10]);
    ///
    /// // The vector twin, and matrices out.
    /// let twin = FeedForwardConfig::new([28, 28], [50], [14, 14])
    ///     .with_form(Form::Vector)
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// let output = twin.forward(Tensor::ones([8, 28, 28], &device), &mut Mode::Eval);
    /// assert_eq!(output.dims(), [8, 14, 14]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct FeedForwardConfig<O: HeadConfig> {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of X.
        pub input: [usize; 2],
        /// The hidden shapes.
        pub hidden: Hidden,
        /// Rows and columns of Y, or the number of classes.
        pub output: O,
        /// How many hidden layers, when `hidden` is one shape. Default: 1.
        pub depth: Option<usize> = None,
        /// σ of the hidden layers. Default: ReLU.
        pub activation: Activation = Activation::Relu,
        /// σ of an output matrix. Default: the identity.
        pub output_activation: Activation = Activation::Identity,
        /// The skip connections around the hidden layers, from the second on. Default: none.
        pub skip: Skip = Skip::None,
        /// How many layers a skip connection goes around. Default: 1.
        pub block: usize = 1,
        /// How many earlier layers a dense skip connects to. Default: all.
        pub reach: Option<usize> = None,
        /// Whether batch norm precedes each hidden σ, in the place of the bias. Default: no.
        pub batch_norm: bool = false,
        /// The initial shift of the batch norm. Default: 2 for ReLU, 0 for the others; see
        /// [`batch_norm_bias_init`](crate::init::batch_norm_bias_init).
        pub batch_norm_bias_init: Option<f64> = None,
        /// Dropout of the input. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout of the hidden layers. Default: 0.
        pub dropout: f64 = 0.0,
        /// Whether the hidden layers from the second on share their parameters. Default: no.
        pub tied: bool = false,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A net of matrices with one hidden layer, or as many as `hidden` lists.
    pub fn new(input: [usize; 2], hidden: impl Into<Hidden>, output: O);
}

impl<O: HeadConfig> NetConfig for FeedForwardConfig<O> {
    type Net = FeedForward<O::Head>;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<FeedForward<O::Head>, ConfigError> {
        let input = self.form.holding("input", self.input)?;
        let shapes = self.hidden.shapes(self.form, self.depth)?;
        let unit = UnitConfig {
            activation: self.activation,
            batch_norm: self.batch_norm,
            batch_norm_bias_init: self.batch_norm_bias_init,
            dropout: Dropout::new("dropout", self.dropout)?,
            init: self.init,
            ..UnitConfig::new(self.form, input, input)
        };
        if let Some(shift) = self.batch_norm_bias_init {
            check_finite("batch_norm_bias_init", shift)?;
            if !self.batch_norm {
                let expected = "only batch_norm = true uses it";
                return Err(ConfigError::new("batch_norm_bias_init", shift.to_string(), expected));
            }
        }
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let (skip, block, reach, tied) = (self.skip, self.block, self.reach, self.tied);
        let stack = Stack { input, shapes: &shapes, unit, skip, block, reach, tied };
        let last = *shapes.last().expect("at least one hidden layer");
        Ok(FeedForward {
            layer: stack.init(rng, device)?,
            head: self.output.head(self.form, last, self.output_activation, self.init, rng, device)?,
            depth: shapes.len(),
            form: self.form,
            input: self.input,
            input_dropout,
        })
    }

    fn keeps_intermediates(&self) -> bool {
        self.form == Form::Matrix
    }

    fn form(&self) -> Form {
        self.form
    }
}

sample_net_config!(FeedForwardConfig<O>, O::TARGET, |config| config.output.per_sample());

/// The deep feed-forward net, made with [`FeedForwardConfig`]: H₁ = σ(mat1(X)), then any number of hidden layers with or
/// without skip connections, then a [head](crate::layer::Head).
///
/// The first layer maps the input to the hidden shape and never has a skip connection. If the layers are tied, all hidden
/// layers from the second on share one set of parameters.
///
/// From Do, Tran & Venkatesh, [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454);
/// [`Skip`] lists the sources of the skip connections.
#[derive(Module, Debug)]
pub struct FeedForward<T: Module> {
    /// The hidden layers. If they are tied, the second one stands for all that follow.
    pub layer: Vec<StackLayer>,
    /// From the last hidden state to the output.
    pub head: T,
    /// How many hidden layers there are, tied ones counted as often as they are used.
    pub depth: usize,
    #[module(skip)]
    form: Form,
    /// Rows and columns of an input matrix.
    #[module(skip)]
    pub input: [usize; 2],
    #[module(skip)]
    input_dropout: Dropout,
}

/// A feed-forward net that returns a score per class.
pub type Classifier = FeedForward<ClassHead>;

impl<T: Head> FeedForward<T> {
    /// The last hidden state: `[batch, rows, cols]`, `[batch, n, 1]` in the vector form.
    pub fn hidden(&self, input: Tensor<3>, mode: &mut Mode) -> Tensor<3> {
        check_input("feedforward", &input, self.input);
        let state = self.input_dropout.forward(self.form.enter(input), mode);
        stack::run(&self.layer, self.depth, state, mode)
    }
}

impl<T: Head> Net for FeedForward<T> {
    type Input = Tensor<3>;
    type Output = T::Output;

    fn forward(&self, input: Tensor<3>, mode: &mut Mode) -> T::Output {
        let hidden = self.hidden(input, mode);
        self.head.forward(hidden, mode)
    }

    fn form(&self) -> Form {
        self.form
    }
    /// Tied layers are used once for each layer they stand for.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        let last = self.layer.len() - 1;
        let uses = |at: usize| if at == last { self.depth - last } else { 1 };
        let layers = self.layer.iter().enumerate();
        let mut rows: Vec<_> = layers
            .flat_map(|(at, layer)| layer.summarize(&join("layer", &at.to_string()), uses(at)))
            .collect();
        rows.extend(self.head.summarize("head", 1));
        rows
    }
}
