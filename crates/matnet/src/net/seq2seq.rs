//! From a sequence of matrices to the sequence that follows.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{Net, NetConfig, NetOutput, SampleTarget, check_input, recurrent_config, sample_net_config};
use crate::config::config;
use crate::error::{ConfigError, MAX_DEPTH, check_count};
use crate::form::Form;
use crate::init::Init;
use crate::layer::{CellKind, Dropout, Head, HeadConfig, MatrixHead, Recurrent};
use crate::mode::Mode;
use crate::ops::{Activation, Keep, Sequences, Steps};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

/// The initial state of the decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecoderState {
    /// Zeros, as in the paper.
    #[default]
    Zeros,
    /// The last state of the encoder, layer by layer.
    Encoder,
}

config! {
    /// The config of a [`Seq2Seq`] net.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// // Fifteen frames in, five out.
    /// let device = Device::flex();
    /// let net = Seq2SeqConfig::new([16, 16], [10, 10], 5).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let frames = net.forward(Tensor::<4>::ones([2, 15, 16, 16], &device).into(), &mut Mode::Eval);
    /// assert_eq!(frames.dims(), [2, 5, 16, 16]);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct Seq2SeqConfig {
        /// Matrix or vector. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of Xₜ.
        pub input: [usize; 2],
        /// The sides of H in encoder and decoder: `[rows, cols]`, or `[n]` for vectors.
        pub hidden: Vec<usize>,
        /// Rows and columns of Yₜ. Default: those of Xₜ.
        pub output: Option<[usize; 2]> = None,
        /// How many matrices are predicted.
        pub steps: usize,
        /// The recurrence of encoder and decoder. Default: RNN.
        pub cell: CellKind = CellKind::Rnn,
        /// f of an RNN or GRU. Default: tanh.
        pub activation: Activation = Activation::Tanh,
        /// g. Default: the identity.
        pub output_activation: Activation = Activation::Identity,
        /// The number of recurrent layers of the encoder, and of the decoder. Default: 1.
        pub layers: usize = 1,
        /// The initial state of the decoder. Default: zeros.
        pub decoder_state: DecoderState = DecoderState::Zeros,
        /// Dropout of the input. Default: 0.
        pub input_dropout: f64 = 0.0,
        /// Dropout between recurrent layers, of what the decoder reads and of its states. Default: 0.
        pub dropout: f64 = 0.0,
        /// The initial bias of the LSTM forget gate. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// An encoder and a decoder of one RNN layer each that predict `steps` matrices.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, steps: usize);
}

impl NetConfig for Seq2SeqConfig {
    type Net = Seq2Seq;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Seq2Seq, ConfigError> {
        check_count("steps", self.steps, MAX_DEPTH)?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let reading = |input| recurrent_config!(self, input, bidirectional: false);
        let encoder = reading(self.form.holding("input", self.input)?).init(rng, device)?;
        let decoder = reading(encoder.output()).init(rng, device)?;
        let output = self.output.unwrap_or(self.input);
        let (state, activation) = (decoder.output(), self.output_activation);
        Ok(Seq2Seq {
            encoder,
            decoder,
            head: output.head(self.form, state, activation, self.init, rng, device)?,
            form: self.form,
            input: self.input,
            steps: self.steps,
            decoder_state: self.decoder_state,
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

sample_net_config!(Seq2SeqConfig, SampleTarget::Future, |config| NetOutput::Sequence {
    steps: Some(config.steps),
    sides: config.output.unwrap_or(config.input),
});

/// The encoder–decoder, made with [`Seq2SeqConfig`].
///
/// The encoder reads X₁ … Xₜ. Its last state is the input of the decoder at every step: H'ₛ = f(mat2(Hₜ, H'ₛ₋₁)). Each
/// decoder state gives a matrix, Yₛ = g(mat1(H'ₛ)), which is not fed back.
///
/// From Do, Tran & Venkatesh, [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454), after
/// Sutskever et al., [Sequence to Sequence Learning](https://arxiv.org/abs/1409.3215).
#[derive(Module, Debug)]
pub struct Seq2Seq {
    /// Reads the sequence.
    pub encoder: Recurrent,
    /// Reads the last state of the encoder at every step.
    pub decoder: Recurrent,
    /// From each decoder state to a matrix.
    pub head: MatrixHead,
    #[module(skip)]
    form: Form,
    /// Rows and columns of an input matrix.
    #[module(skip)]
    pub input: [usize; 2],
    /// How many matrices are predicted.
    pub steps: usize,
    /// The initial state of the decoder.
    #[module(skip)]
    pub decoder_state: DecoderState,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl Seq2Seq {
    /// Predicts `steps` matrices, which may be more or fewer than the config said.
    ///
    /// # Panics
    ///
    /// If `steps` is 0, or the input does not fit; see [`Net::forward`].
    pub fn predict(&self, input: Sequences, steps: usize, mode: &mut Mode) -> Tensor<4> {
        check_input("seq2seq", input.values(), self.input);
        let input = input.map(|x| self.input_dropout.forward(self.form.enter_sequence(x), mode));
        let (last, states) = self.encoder.forward(Steps::Sequence(input), None, Keep::Last, mode);
        let summary = self.dropout.forward(last.squeeze_dim::<3>(1), mode);
        let start = match self.decoder_state {
            DecoderState::Zeros => None,
            DecoderState::Encoder => Some(states),
        };
        let reading = Steps::Constant(summary, steps);
        let (states, _) = self.decoder.forward(reading, start, Keep::All, mode);
        let states = self.dropout.forward(states, mode);
        self.head.per_step(states.into(), mode)
    }
}

impl Net for Seq2Seq {
    type Input = Sequences;
    type Output = Tensor<4>;

    fn forward(&self, input: Sequences, mode: &mut Mode) -> Tensor<4> {
        self.predict(input, self.steps, mode)
    }

    fn form(&self) -> Form {
        self.form
    }
    /// The encoder runs over the steps of the input, decoder and head over those of the output.
    fn summary(&self, steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.encoder.summarize("encoder", steps);
        rows.extend(self.decoder.summarize("decoder", self.steps));
        rows.extend(self.head.summarize("head", self.steps));
        rows
    }
}
