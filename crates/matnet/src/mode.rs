//! Whether a net is learning or in use.

use crate::random::Stream;

/// Handed to every forward pass: says whether dropout, noise and batch statistics are at work, and
/// where their random numbers come from.
///
/// ```
/// use matnet::{Mode, random::Stream};
///
/// let mut training = Mode::train(Stream::new(42, "dropout"));
/// assert!(training.is_train());
/// assert!(!Mode::Eval.is_train());
/// ```
#[derive(Clone, Debug)]
pub enum Mode {
    /// In use: nothing is random, batch norm takes its running statistics.
    Eval,
    /// Learning: dropout and noise draw from the stream, batch norm takes the batch's statistics.
    Train(Box<Stream>),
}

impl Mode {
    /// Learning, with random numbers from this stream.
    pub fn train(stream: Stream) -> Self {
        Self::Train(Box::new(stream))
    }

    /// Whether the net is learning.
    pub fn is_train(&self) -> bool {
        matches!(self, Self::Train(_))
    }

    /// The stream of random numbers, while learning.
    pub fn stream(&mut self) -> Option<&mut Stream> {
        match self {
            Self::Eval => None,
            Self::Train(stream) => Some(stream),
        }
    }
}
