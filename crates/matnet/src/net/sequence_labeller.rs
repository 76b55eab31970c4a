//! From a sequence of matrices to a matrix or a class per step.

use burn::module::Module;
use burn::tensor::Device;

use super::{Net, NetConfig, check_input, recurrent_config, sample_net_config};
use crate::config::config;
use crate::error::ConfigError;
use crate::form::Form;
use crate::init::Init;
use crate::layer::{CellKind, Dropout, Head, HeadConfig, Recurrent};
use crate::mode::Mode;
use crate::ops::{Activation, Keep, Sequences, Steps};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`SequenceLabeller`].
    ///
    /// `output` is `[rows, cols]` for a matrix per step, or the number of classes for scores per step.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = SequenceLabellerConfig::new([8, 6], [10, 10], [4, 3])
    ///     .with_cell(CellKind::Rnn)
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// let output = net.forward(Tensor::<4>::ones([2, 5, 8, 6], &device).into(), &mut Mode::Eval);
    /// assert_eq!(output.dims(), [2, 5, 4, 3]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct SequenceLabellerConfig<O: HeadConfig> {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of Xₜ.
        pub input: [usize; 2],
        /// The sides of H: `[rows, cols]`, or `[n]` for vectors.
        pub hidden: Vec<usize>,
        /// Rows and columns of Yₜ, or the number of classes.
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
        /// Dropout of the input. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout between recurrent layers and of the last layer's states. Default: 0.
        pub dropout: f64 = 0.0,
        /// The initial bias of the LSTM forget gate. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A labeller of sequences of matrices with one LSTM layer.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, output: O);
}

impl<O: HeadConfig> NetConfig for SequenceLabellerConfig<O> {
    type Net = SequenceLabeller<O::Head>;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<SequenceLabeller<O::Head>, ConfigError> {
        let recurrent = recurrent_config!(self, self.form.holding("input", self.input)?, bidirectional: self.bidirectional);
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let recurrent = recurrent.init(rng, device)?;
        let state = recurrent.output();
        Ok(SequenceLabeller {
            head: self.output.head(self.form, state, self.output_activation, self.init, rng, device)?,
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

sample_net_config!(SequenceLabellerConfig<O>, O::STEP_TARGET, |config| config.output.per_step());

/// Recurrent layers over a sequence, and Yₜ = g(mat1(Hₜ)) or scores at every step, made with
/// [`SequenceLabellerConfig`].
///
/// From Do, Tran & Venkatesh, [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454).
#[derive(Module, Debug)]
pub struct SequenceLabeller<T: Module> {
    /// The recurrent layers.
    pub recurrent: Recurrent,
    /// From each state to the output of the step.
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

impl<T: Head> Net for SequenceLabeller<T> {
    type Input = Sequences;
    type Output = T::PerStep;

    /// Zeros where the sequences are padded.
    fn forward(&self, input: Sequences, mode: &mut Mode) -> T::PerStep {
        check_input("sequence labeller", input.values(), self.input);
        let lengths = input.lengths().cloned();
        let input = input.map(|x| self.input_dropout.forward(self.form.enter_sequence(x), mode));
        let (states, _) = self.recurrent.forward(Steps::Sequence(input), None, Keep::All, mode);
        let states = self.dropout.forward(states, mode);
        self.head.per_step(Sequences::new(states, lengths), mode)
    }

    fn form(&self) -> Form {
        self.form
    }
    fn summary(&self, steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.recurrent.summarize("recurrent", steps);
        rows.extend(self.head.summarize("head", steps));
        rows
    }
}
