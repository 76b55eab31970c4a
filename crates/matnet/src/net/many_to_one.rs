//! From a sequence of matrices to one class, some values or a matrix.

use burn::module::Module;
use burn::tensor::Device;

use super::{Net, NetConfig, check_input, recurrent_config, sample_net_config};
use crate::config::config;
use crate::error::ConfigError;
use crate::form::Form;
use crate::init::Init;
use crate::layer::{CellKind, ClassHead, Dropout, Head, HeadConfig, Map, MapConfig, Recurrent};
use crate::mode::Mode;
use crate::ops::{Activation, Keep, Sequences, Steps};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

/// The config of a [`SequenceClassifier`].
pub type SequenceClassifierConfig = ManyToOneConfig<usize>;

/// The config of a [`SequenceRegressor`]: `output` is the number of values, or `[rows, cols]` for a matrix.
pub type SequenceRegressorConfig<O> = ManyToOneConfig<O>;

config! {
    /// The config of a [`ManyToOne`] net, which classifiers and regressors of sequences are.
    ///
    /// `output` is the number of classes or values, or `[rows, cols]` for a matrix.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// // The paper's net for EEG: an LSTM of 100×100, a map to 10×10, one logit.
    /// let device = Device::flex();
    /// let net = SequenceClassifierConfig::new([64, 32], [100, 100], 1)
    ///     .with_projection(Some(vec![10, 10]))
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// assert_eq!(net.num_params(), 160_601);
    /// let logits = net.forward(Tensor::<4>::ones([2, 3, 64, 32], &device).into(), &mut Mode::Eval);
    /// assert_eq!(logits.dims(), [2, 1]);
    ///
    /// // A matrix from sequences of three steps and of two.
    /// let net = SequenceRegressorConfig::new([4, 5], [6, 6], [2, 3]).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let sequences = Sequences::padded(Tensor::ones([2, 3, 4, 5], &device), [3, 2]);
    /// assert_eq!(net.forward(sequences, &mut Mode::Eval).dims(), [2, 2, 3]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct ManyToOneConfig<O: HeadConfig> {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of Xₜ.
        pub input: [usize; 2],
        /// The sides of H: `[rows, cols]`, or `[n]` for vectors.
        pub hidden: Vec<usize>,
        /// The number of classes (1 for a logit) or values, or rows and columns of Y.
        pub output: O,
        /// The recurrence. Default: LSTM.
        pub cell: CellKind = CellKind::Lstm,
        /// f of an RNN or GRU. Default: tanh.
        pub activation: Activation = Activation::Tanh,
        /// g of an output matrix. Default: the identity.
        pub output_activation: Activation = Activation::Identity,
        /// The number of recurrent layers. Default: 1.
        pub layers: usize = 1,
        /// Whether a second chain reads the sequence backwards. Default: no.
        pub bidirectional: bool = false,
        /// The sides of a projection before the output: `[10, 10]`, or `[100]` for vectors. Default: none.
        pub projection: Option<Vec<usize>> = None,
        /// σ of the projection. Default: ReLU.
        pub projection_activation: Activation = Activation::Relu,
        /// Dropout of the input. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout between recurrent layers and of the last state. Default: 0.
        pub dropout: f64 = 0.0,
        /// The initial bias of the LSTM forget gate. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A net on sequences of matrices with one LSTM layer.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, output: O);
}

impl<O: HeadConfig> NetConfig for ManyToOneConfig<O> {
    type Net = ManyToOne<O::Head>;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<ManyToOne<O::Head>, ConfigError> {
        let recurrent = recurrent_config!(self, self.form.holding("input", self.input)?, bidirectional: self.bidirectional);
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let projection =
            self.projection.as_ref().map(|sides| self.form.state("projection", sides)).transpose()?;
        if self.projection.is_none() && self.projection_activation != Activation::Relu {
            let value = format!("{:?}", self.projection_activation).to_lowercase();
            return Err(ConfigError::new("projection_activation", value, "only a projection uses it"));
        }
        self.output.check()?;
        let state = recurrent.output()?;
        let projection = projection.map(|shape| MapConfig {
            activation: self.projection_activation,
            init: self.init,
            ..MapConfig::new(self.form, state, shape)
        });
        projection.as_ref().map(|projection| projection.numbers("projection")).transpose()?;
        let recurrent = recurrent.init(rng, device)?;
        let projection = projection.map(|projection| projection.init(rng, device)).transpose()?;
        let state = projection.as_ref().map_or(state, Map::output);
        let head = self.output.head(self.form, state, self.output_activation, self.init, rng, device)?;
        Ok(ManyToOne {
            head: head.with_projection(projection),
            recurrent,
            form: self.form,
            input: self.input,
            input_dropout,
            dropout: Dropout::new("dropout", self.dropout)?,
        })
    }

    fn keeps_intermediates(&self) -> bool {
        true
    }

    fn form(&self) -> Form {
        self.form
    }
}

sample_net_config!(ManyToOneConfig<O>, O::TARGET, |config| config.output.per_sample());

/// Recurrent layers over a sequence X₁ … Xₜ, and an output from the last state Hₜ: scores, values or a matrix, made with
/// [`ManyToOneConfig`].
///
/// From Do, Tran & Venkatesh, [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454).
#[derive(Module, Debug)]
pub struct ManyToOne<T: Module> {
    /// The recurrent layers.
    pub recurrent: Recurrent,
    /// From the last state to the output.
    pub head: T,
    #[module(skip)]
    form: Form,
    /// Rows and columns of an input matrix.
    #[module(skip)]
    pub input: [usize; 2],
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

/// From a sequence of matrices to a score per class.
pub type SequenceClassifier = ManyToOne<ClassHead>;

/// From a sequence of matrices to values ([`ClassHead`]) or a matrix ([`MatrixHead`](crate::layer::MatrixHead)).
pub type SequenceRegressor<T> = ManyToOne<T>;

impl<T: Head> Net for ManyToOne<T> {
    type Input = Sequences;
    type Output = T::Output;

    fn forward(&self, input: Sequences, mode: &mut Mode) -> T::Output {
        check_input("sequences", input.values(), self.input);
        let input = input.map(|x| self.input_dropout.forward(self.form.enter_sequence(x), mode));
        let (states, _) = self.recurrent.forward(Steps::Sequence(input), None, Keep::Last, mode);
        let last = self.dropout.forward(states.squeeze_dim::<3>(1), mode);
        self.head.forward(last, mode)
    }

    fn form(&self) -> Form {
        self.form
    }
    fn summary(&self, steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.recurrent.summarize("recurrent", steps);
        rows.extend(self.head.summarize("head", 1));
        rows
    }
}
