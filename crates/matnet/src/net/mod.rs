//! Nets: from matrices, sequences, graphs or stories to matrices, sequences or classes.
//!
//! | net | input | output |
//! |---|---|---|
//! | [`FeedForward`] | `[batch, rows, cols]` | a matrix `[batch, rows, cols]` or scores `[batch, classes]` |
//! | [`AutoEncoder`] | `[batch, rows, cols]` | the reconstructed matrix |
//! | [`SequenceClassifier`] | [`Sequences`] `[batch, time, rows, cols]` | scores `[batch, classes]` |
//! | [`SequenceRegressor`] | [`Sequences`] | values `[batch, k]` or a matrix `[batch, rows, cols]` |
//! | [`SequenceLabeller`] | [`Sequences`] | a matrix or scores per step |
//! | [`Seq2Seq`] | [`Sequences`] | a sequence `[batch, steps, rows, cols]` |
//! | [`TuringMachine`] | `[batch, time, rows, cols]` | a matrix per step, computed with an external memory |
//! | [`ColumnNet`], [`Gcn`], [`ChebyshevNet`] | features `[nodes, width]` and links | scores `[nodes, classes]` |
//! | [`EndToEnd`], [`MemoryNetwork`] | [`Stories`] with questions | scores `[batch, words]` |
//!
//! Every net but those on graphs and stories has a vector twin: `form = "vector"`, and one side instead of two in `hidden`.
//!
//! A net is one file: a config that implements [`NetConfig`], and a module that implements [`Net`]. Nets of the same
//! input share one more trait for what training needs of them: [`SampleNetConfig`], [`GraphNetConfig`] with
//! [`GraphNet`], or [`StoryNetConfig`] with [`StoryNet`].

mod autoencoder;
mod feedforward;
mod graph;
mod hidden;
mod many_to_one;
mod memory;
mod seq2seq;
mod sequence_labeller;
mod stack;

use std::fmt::Debug;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::{Device, Tensor};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::{ConfigError, show};
use crate::form::Form;
use crate::mode::Mode;
use crate::ops::Activation;
use crate::random::SeededRng;
use crate::summary::LayerSummary;

pub use autoencoder::{AutoEncoder, AutoEncoderConfig, Decoder};
pub use feedforward::{Classifier, FeedForward, FeedForwardConfig};
pub use graph::{
    ChebyshevNet, ChebyshevNetConfig, ColumnNet, ColumnNetConfig, Gcn, GcnConfig, GraphNet, GraphNetConfig,
};
pub use hidden::Hidden;
pub use many_to_one::{
    ManyToOne, ManyToOneConfig, SequenceClassifier, SequenceClassifierConfig, SequenceRegressor,
    SequenceRegressorConfig,
};
pub use memory::{
    Controller, ControllerKind, Embedding, Encoding, EndToEnd, EndToEndConfig, Heads, MemoryNetwork,
    MemoryNetworkConfig, Stories, StoryNet, StoryNetConfig, SupervisedLoss, Trace, TuringMachine,
    TuringMachineConfig, Tying,
};
pub use seq2seq::{DecoderState, Seq2Seq, Seq2SeqConfig};
pub use sequence_labeller::{SequenceLabeller, SequenceLabellerConfig};
pub use stack::StackLayer;

pub use crate::ops::Sequences;
pub use crate::output::{NetOutput, SampleTarget};

/// A net, whether its states are matrices or vectors.
pub trait Net: Module + ModuleDisplay + Sync + 'static {
    /// What the net takes.
    type Input;
    /// What the net returns.
    type Output;

    /// The forward pass; `mode` says whether the net is being trained.
    ///
    /// # Panics
    ///
    /// If the input has other sides than the config said, or the batch or the time is empty.
    fn forward(&self, input: Self::Input, mode: &mut Mode) -> Self::Output;

    /// Whether the states are matrices or vectors.
    fn form(&self) -> Form;

    /// One row per layer, in the order of the stored weights.
    ///
    /// `steps` is the number of time steps of an input sequence; 1 for nets that do not take sequences.
    fn summary(&self, steps: usize) -> Vec<LayerSummary>;

    /// Rows and columns of a code; `None` for nets that are no auto-encoders.
    fn code_shape(&self) -> Option<[usize; 2]> {
        None
    }

    /// The reconstruction from codes `[batch, rows, cols]`; `None` for nets that are no auto-encoders.
    fn decode(&self, _codes: Tensor<3>) -> Option<Tensor<3>> {
        None
    }
}

/// The config of a net, with all its sizes.
pub trait NetConfig:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The net it describes.
    type Net: Net;

    /// Checks the config and initialises the net with random numbers from `rng`.
    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Self::Net, ConfigError>;

    /// Whether the states are matrices or vectors.
    fn form(&self) -> Form;

    /// Whether layers keep more for the backward pass than what goes into them and comes out: what gradient checkpointing computes
    /// again instead.
    fn keeps_intermediates(&self) -> bool {
        false
    }

    /// The config with every default written out that has an effect.
    fn resolved(&self) -> Self {
        self.clone()
    }

    /// The net without random initialisation, for weights that are about to be loaded.
    fn blank(&self, device: &Device) -> Result<Self::Net, ConfigError> {
        self.init(&mut SeededRng::zeros(), device)
    }
}

/// The config of a net on samples: matrices or sequences of matrices.
pub trait SampleNetConfig: NetConfig {
    /// What the net learns for a sample.
    const TARGET: SampleTarget;

    /// Rows and columns of an input matrix.
    fn input(&self) -> [usize; 2];

    /// What the net returns for a sample.
    fn output(&self) -> NetOutput;

    /// The activation of the output. A loss on logits needs the identity.
    fn output_activation(&self) -> Activation {
        Activation::Identity
    }
}

/// [`SampleNetConfig`] for a config with the keys `input` and `output_activation`.
macro_rules! sample_net_config {
    ($config:ident $(<$head:ident>)?, $target:expr, |$net:ident| $output:expr) => {
        impl $(<$head: HeadConfig>)? $crate::net::SampleNetConfig for $config $(<$head>)? {
            const TARGET: $crate::net::SampleTarget = $target;

            fn input(&self) -> [usize; 2] {
                self.input
            }

            fn output(&self) -> $crate::net::NetOutput {
                let $net = self;
                $output
            }

            fn output_activation(&self) -> $crate::ops::Activation {
                self.output_activation
            }
        }
    };
}

/// The [`RecurrentConfig`](crate::layer::RecurrentConfig) that reads matrices of this shape, from the keys of the same names.
macro_rules! recurrent_config {
    ($config:expr, $input:expr, bidirectional: $bidirectional:expr) => {
        $crate::layer::RecurrentConfig {
            form: $config.form,
            input: $input,
            hidden: $config.hidden.clone(),
            cell: $config.cell,
            activation: $config.activation,
            layers: $config.layers,
            bidirectional: $bidirectional,
            dropout: $config.dropout,
            forget_bias: $config.forget_bias,
            init: $config.init,
        }
    };
}

use {recurrent_config, sample_net_config};

/// Panics unless a net is given a non-empty batch of the matrices it was built for.
fn check_input<const D: usize>(net: &str, input: &Tensor<D>, want: [usize; 2]) {
    let dims = input.dims();
    let (count, sides) = dims.split_at(D - 2);
    assert!(!count.contains(&0), "{net}: the input is empty: {dims:?}");
    assert_eq!(sides, want, "{net}: built for matrices of {}, got {}", show(&want), show(sides));
}
