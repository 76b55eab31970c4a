//! Whether a net is learning or in use.

use burn::tensor::Tensor;

use crate::random::SeededRng;

/// Handed to every forward pass: says whether dropout, noise and batch statistics are at work, and
/// where their random numbers come from.
///
/// ```
/// use matnet::{Mode, random::SeededRng};
///
/// let mut training = Mode::train(SeededRng::new(42, "dropout"));
/// assert!(training.is_train());
/// assert!(!Mode::Eval.is_train());
/// ```
#[derive(Clone, Debug)]
pub enum Mode {
    /// In use: nothing is random, batch norm takes its running statistics.
    Eval,
    /// Learning: dropout and noise draw from the rng, batch norm takes the batch's statistics.
    Train(Box<SeededRng>),
    /// As the mode inside, and on the watch for numbers that are none; see [`Mode::watching`].
    Watch(Box<Mode>, Option<String>),
}

impl Mode {
    /// Learning, with random numbers from this rng.
    pub fn train(rng: SeededRng) -> Self {
        Self::Train(Box::new(rng))
    }

    /// The same, and every net tells [`found`](Self::found) the first place whose states are not finite.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = FeedForwardConfig::new([2, 2], [3, 3], 2).init(&mut SeededRng::new(1, "init"), &device)?;
    /// let mut mode = Mode::Eval.watching();
    /// net.forward(Tensor::full([1, 2, 2], f32::INFINITY, &device), &mut mode);
    /// assert_eq!(mode.found(), Some("layer.0"));
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub fn watching(self) -> Self {
        Self::Watch(Box::new(self), None)
    }

    /// Whether the net is learning.
    pub fn is_train(&self) -> bool {
        match self {
            Self::Eval => false,
            Self::Train(_) => true,
            Self::Watch(mode, _) => mode.is_train(),
        }
    }

    /// The rng of random numbers, while learning.
    pub fn rng(&mut self) -> Option<&mut SeededRng> {
        match self {
            Self::Eval => None,
            Self::Train(rng) => Some(rng),
            Self::Watch(mode, _) => mode.rng(),
        }
    }

    /// Whether the net is on the watch, and every state wanted.
    pub(crate) fn is_watching(&self) -> bool {
        matches!(self, Self::Watch(..))
    }

    /// The first place that was seen with numbers that are none.
    pub fn found(&self) -> Option<&str> {
        match self {
            Self::Watch(_, found) => found.as_deref(),
            Self::Eval | Self::Train(_) => None,
        }
    }

    /// What stands at a place of a net; looked at only on the watch.
    pub(crate) fn see<const D: usize>(&mut self, place: impl FnOnce() -> String, state: &Tensor<D>) {
        if let Self::Watch(_, found @ None) = self {
            // The sum of finite squares may overflow, so each number is looked at.
            let numbers = state.to_data().convert::<f32>();
            if numbers.iter::<f32>().any(|number| !number.is_finite()) {
                *found = Some(place());
            }
        }
    }
}
