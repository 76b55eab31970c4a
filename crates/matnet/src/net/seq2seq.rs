//! From a sequence of matrices to the sequence that follows.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{Net, check_input};
use crate::config::{one, setters};
use crate::error::{ConfigError, MAX_DEPTH, check_count};
use crate::form::Form;
use crate::init::Init;
use crate::layer::{
    CellKind, Dropout, MatrixHead, Output, Recurrent, RecurrentConfig, Head, default_activation,
};
use crate::mode::Mode;
use crate::ops::{Activation, Keep, Steps};
use crate::random::SeededRng;

/// Where the decoder begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// From zeros, as in the paper.
    #[default]
    Zeros,
    /// From the last state of the encoder, layer by layer.
    Encoder,
}

/// The config of a [`Seq2Seq`] net.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::prelude::*;
///
/// // Fifteen frames in, five out.
/// let device = Device::flex();
/// let net = Seq2SeqConfig::new([16, 16], [10, 10], 5).init(&mut SeededRng::new(42, "init"), &device)?;
/// let frames = net.forward(Tensor::ones([2, 15, 16, 16], &device), &mut Mode::Eval);
/// assert_eq!(frames.dims(), [2, 5, 16, 16]);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seq2SeqConfig {
    /// Matrix or vector. Default: matrix.
    #[serde(default)]
    pub form: Form,
    /// Rows and columns of Xₜ.
    pub input: [usize; 2],
    /// The sides of H in encoder and decoder: `[rows, cols]`, or `[n]` for vectors.
    pub hidden: Vec<usize>,
    /// Rows and columns of Yₜ. Default: those of Xₜ.
    #[serde(default)]
    pub output: Option<[usize; 2]>,
    /// How many matrices are given.
    pub steps: usize,
    /// The recurrence of encoder and decoder. Default: RNN.
    #[serde(default = "rnn")]
    pub cell: CellKind,
    /// f of an RNN or GRU. Default: tanh.
    #[serde(default = "default_activation")]
    pub activation: Activation,
    /// g. Default: the identity.
    #[serde(default)]
    pub output_activation: Activation,
    /// How many recurrent layers in encoder and decoder each. Default: 1.
    #[serde(default = "one")]
    pub layers: usize,
    /// Where the decoder begins. Default: from zeros.
    #[serde(default)]
    pub start: Start,
    /// Dropout of the input. Default: 0.
    #[serde(default)]
    pub input_dropout: f64,
    /// Dropout between recurrent layers, of what the decoder reads and of its states. Default: 0.
    #[serde(default)]
    pub dropout: f64,
    /// The first bias of an LSTM's forget gate. Default: 0.
    #[serde(default)]
    pub forget_bias: f64,
    /// How the maps start. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

fn rnn() -> CellKind {
    CellKind::Rnn
}

impl Seq2SeqConfig {
    /// An encoder and a decoder of one RNN layer each, that gives `steps` matrices.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, steps: usize) -> Self {
        Self {
            form: Form::Matrix,
            input,
            hidden: hidden.into(),
            output: None,
            steps,
            cell: rnn(),
            activation: default_activation(),
            output_activation: Activation::Identity,
            layers: 1,
            start: Start::Zeros,
            input_dropout: 0.0,
            dropout: 0.0,
            forget_bias: 0.0,
            init: Init::default(),
        }
    }

    setters! {
        with_form(form: Form);
        with_output(output: Option<[usize; 2]>);
        with_cell(cell: CellKind);
        with_activation(activation: Activation);
        with_output_activation(output_activation: Activation);
        with_layers(layers: usize);
        with_start(start: Start);
        with_input_dropout(input_dropout: f64);
        with_dropout(dropout: f64);
        with_forget_bias(forget_bias: f64);
        with_init(init: Init);
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Seq2Seq, ConfigError> {
        check_count("steps", self.steps, MAX_DEPTH)?;
        let input_dropout = Dropout::new("input_dropout", self.input_dropout)?;
        let reading = |input| RecurrentConfig {
            form: self.form,
            input,
            hidden: self.hidden.clone(),
            cell: self.cell,
            activation: self.activation,
            layers: self.layers,
            bidirectional: false,
            dropout: self.dropout,
            forget_bias: self.forget_bias,
            init: self.init,
        };
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
            start: self.start,
            input_dropout,
            dropout: Dropout::new("dropout", self.dropout)?,
        })
    }
}

/// The encoder–decoder, made with [`Seq2SeqConfig`].
///
/// The encoder reads X₁ … Xₜ. Its last state is what the decoder reads at every step, beside its own
/// state: H'ₛ = f(mat2(Hₜ, H'ₛ₋₁)). Each decoder state gives a matrix, Yₛ = g(mat1(H'ₛ)), which is not fed
/// back.
#[derive(Module, Debug)]
pub struct Seq2Seq {
    /// Reads the sequence.
    pub encoder: Recurrent,
    /// Reads the encoder's last state, again and again.
    pub decoder: Recurrent,
    /// From each decoder state to a matrix.
    pub head: MatrixHead,
    #[module(skip)]
    form: Form,
    #[module(skip)]
    input: [usize; 2],
    steps: usize,
    #[module(skip)]
    start: Start,
    #[module(skip)]
    input_dropout: Dropout,
    #[module(skip)]
    dropout: Dropout,
}

impl Seq2Seq {
    /// Gives `steps` matrices, which may be more or fewer than the config said.
    ///
    /// # Panics
    ///
    /// If `steps` is 0, or the input does not fit; see [`Net::forward`].
    pub fn predict(&self, input: Tensor<4>, steps: usize, mode: &mut Mode) -> Tensor<4> {
        check_input("seq2seq", &input, self.input);
        let input = self.input_dropout.forward(self.form.enter_sequence(input), mode);
        let (last, states) = self.encoder.forward(Steps::Sequence(input), None, Keep::Last, mode);
        let summary = self.dropout.forward(last.squeeze_dim::<3>(1), mode);
        let start = match self.start {
            Start::Zeros => None,
            Start::Encoder => Some(states),
        };
        let reading = Steps::Constant(summary, steps);
        let (states, _) = self.decoder.forward(reading, start, Keep::All, mode);
        let states = self.dropout.forward(states, mode);
        self.head.per_step(states, mode)
    }
}

impl Net for Seq2Seq {
    type Input = Tensor<4>;
    type Output = Tensor<4>;

    fn forward(&self, input: Tensor<4>, mode: &mut Mode) -> Tensor<4> {
        self.predict(input, self.steps, mode)
    }

    fn form(&self) -> Form {
        self.form
    }
}
