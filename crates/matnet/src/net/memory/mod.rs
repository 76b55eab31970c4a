//! Nets with an external memory: the Turing machine on sequences, and memory networks on stories.

mod controller;
mod encoder;
mod end_to_end;
mod memory_network;
mod stories;
mod turing;

use burn::tensor::Tensor;

use super::{Net, NetConfig};
use crate::mode::Mode;

pub use controller::{Controller, ControllerKind};
pub use encoder::{Embedding, Encoding};
pub use end_to_end::{EndToEnd, EndToEndConfig, Heads, Tying};
pub use memory_network::{MemoryNetwork, MemoryNetworkConfig};
pub use stories::Stories;
pub use turing::{Trace, TuringMachine, TuringMachineConfig};

/// A net that answers questions about stories: from [`Stories`] to scores `[batch, vocab_size]`, where word w of the
/// stories has column w − 1.
pub trait StoryNet: Net<Input = Stories, Output = Tensor<2>> {
    /// The attention weights: for every question, hop and head, a weight for each sentence in the memory.
    ///
    /// A net that chooses one sentence per hop returns one-hot weights, or zeros where it chooses none.
    fn attention(&self, stories: &Stories) -> Vec<Vec<Vec<Vec<f32>>>>;

    /// The training loss of a net that is told which sentences support an answer; `None` for nets that learn from the
    /// answers alone.
    ///
    /// `facts` are the supporting sentences of each question, counted from 0 in the story, in the order in which they are to
    /// be found. `answers` are the words that answer, counted from 0.
    ///
    /// # Panics
    ///
    /// If there is not one list of facts and one answer per story.
    fn supervised_loss(
        &self,
        _stories: &Stories,
        _facts: &[Vec<usize>],
        _answers: &[u32],
        _mode: &mut Mode,
    ) -> Option<SupervisedLoss> {
        None
    }

    /// The net with the softmax of its attention on, or off for a linear start; unchanged if
    /// [`StoryNetConfig::linear_start`] is `None`.
    fn with_softmax(self, _on: bool) -> Self {
        self
    }
}

/// The loss of a net that is told which sentences support an answer.
#[derive(Clone, Debug)]
pub struct SupervisedLoss {
    /// The mean loss of sentences and answers, one number.
    pub loss: Tensor<1>,
    /// Scores `[batch, vocab_size]`, given the supporting sentences.
    pub scores: Tensor<2>,
}

/// The config of a net on stories.
pub trait StoryNetConfig: NetConfig<Net: StoryNet> {
    /// Whether training needs the supporting sentences of each question; see [`StoryNet::supervised_loss`].
    const NEEDS_FACTS: bool = false;

    /// The number of words; each of them may be the answer.
    fn vocab_size(&self) -> usize;

    /// How many sentences the memory holds.
    fn memory_size(&self) -> usize;

    /// A linear start: training begins without the softmax ([`StoryNet::with_softmax`]) for at most so many epochs, and until
    /// so many epochs brought no lower validation loss.
    fn linear_start(&self) -> Option<(usize, usize)> {
        None
    }
}
