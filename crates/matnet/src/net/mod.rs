//! Nets: from matrices, or sequences of them, to matrices, sequences or classes.
//!
//! | net | from | to |
//! |---|---|---|
//! | [`FeedForward`] | `[batch, rows, cols]` | a matrix `[batch, rows, cols]` or scores `[batch, classes]` |
//! | [`AutoEncoder`] | `[batch, rows, cols]` | the same matrix again |
//! | [`SequenceClassifier`] | `[batch, time, rows, cols]` | scores `[batch, classes]` |
//! | [`SequenceLabeller`] | `[batch, time, rows, cols]` | a matrix or scores per step |
//! | [`Seq2Seq`] | `[batch, time, rows, cols]` | a sequence `[batch, steps, rows, cols]` |
//! | [`TuringMachine`] | `[batch, time, rows, cols]` | a matrix per step, from a memory that it reads and writes |
//! | [`ColumnNet`], [`Gcn`], [`ChebyshevNet`] | features `[nodes, width]` and links | scores `[nodes, classes]` |
//! | [`EndToEnd`], [`MemoryNetwork`] | [`Stories`] with questions | scores `[batch, words]` |
//!
//! Every net but those on graphs and stories has a vector twin: `form = "vector"` and one side instead of two in `hidden`.

mod autoencoder;
mod feedforward;
mod graph;
mod hidden;
mod memory;
mod seq2seq;
mod sequence_classifier;
mod sequence_labeller;
mod stack;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

use crate::error::show;
use crate::form::Form;
use crate::mode::Mode;

pub use autoencoder::{AutoEncoder, AutoEncoderConfig, Decoder};
pub use feedforward::{Classifier, FeedForward, FeedForwardConfig};
pub use graph::{ChebyshevNet, ChebyshevNetConfig, ColumnNet, ColumnNetConfig, Gcn, GcnConfig};
pub use hidden::Hidden;
pub use memory::{
    Controller, ControllerKind, Embedding, Encoding, EndToEnd, EndToEndConfig, FactLoss, Heads,
    MemoryNetwork, MemoryNetworkConfig, Stories, Taught, Trace, TuringMachine, TuringMachineConfig, Tying,
};
pub use seq2seq::{Seq2Seq, Seq2SeqConfig, Start};
pub use sequence_classifier::{SequenceClassifier, SequenceClassifierConfig};
pub use sequence_labeller::{SequenceLabeller, SequenceLabellerConfig};
pub use stack::StackLayer;

/// A net, be its states matrices or vectors.
pub trait Net: Module + ModuleDisplay {
    /// What it takes.
    type Input;
    /// What it gives.
    type Output;

    /// From input to output; `mode` says whether the net is learning.
    ///
    /// # Panics
    ///
    /// If the input has other sides than the config said, or the batch or the time is empty.
    fn forward(&self, input: Self::Input, mode: &mut Mode) -> Self::Output;

    /// Whether its states are matrices or vectors.
    fn form(&self) -> Form;
}

/// Panics unless a net is given the matrices it was built for, and some of them.
fn check_input<const D: usize>(net: &str, input: &Tensor<D>, want: [usize; 2]) {
    let dims = input.dims();
    let (count, sides) = dims.split_at(D - 2);
    assert!(!count.contains(&0), "{net}: the input is empty: {dims:?}");
    assert_eq!(sides, want, "{net}: built for matrices of {}, got {}", show(&want), show(sides));
}
