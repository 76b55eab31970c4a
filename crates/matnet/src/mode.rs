//! Training or evaluation.

use burn::tensor::Tensor;

use crate::random::SeededRng;

/// An argument of every forward pass: whether the net is trained or evaluated, and the random generator of dropout and noise.
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
    /// Evaluation: no dropout and noise, batch norm uses its running statistics.
    Eval,
    /// Training: dropout and noise draw from the random generator, batch norm uses the statistics of the batch.
    Train(Box<SeededRng>),
    /// The mode inside, with a search for states that are not finite; see [`Mode::detect_non_finite`].
    DetectNonFinite(Box<Mode>, Option<String>),
    /// The mode inside, which also keeps the states of all layers; see [`Mode::record`].
    Record(Box<Mode>, Vec<LayerState>),
}

/// The state of a layer in one forward pass.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerState {
    /// The name of the layer; one that is used several times has several states.
    pub layer: String,
    /// `[batch, rows, cols]` or `[batch, time, rows, cols]`; of graphs `[nodes, width]`.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: Vec<f32>,
}

impl Mode {
    /// Training, with this random generator.
    pub fn train(rng: SeededRng) -> Self {
        Self::Train(Box::new(rng))
    }

    /// The same mode, which also records the first layer whose states are not finite; see [`non_finite`](Self::non_finite).
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = FeedForwardConfig::new([2, 2], [3, 3], 2).init(&mut SeededRng::new(1, "init"), &device)?;
    /// let mut mode = Mode::Eval.detect_non_finite();
    /// net.forward(Tensor::full([1, 2, 2], f32::INFINITY, &device), &mut mode);
    /// assert_eq!(mode.non_finite(), Some("layer.0"));
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub fn detect_non_finite(self) -> Self {
        Self::DetectNonFinite(Box::new(self), None)
    }

    /// The same mode, which also keeps the states of all layers; see [`recorded`](Self::recorded).
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = FeedForwardConfig::new([2, 2], [3, 4], 2).init(&mut SeededRng::new(1, "init"), &device)?;
    /// let mut mode = Mode::Eval.record();
    /// net.forward(Tensor::ones([5, 2, 2], &device), &mut mode);
    /// let states = mode.recorded();
    /// assert_eq!((states[0].layer.as_str(), &states[0].shape[..]), ("layer.0", &[5, 3, 4][..]));
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub fn record(self) -> Self {
        Self::Record(Box::new(self), Vec::new())
    }

    /// The states of all layers, in the order in which they were computed.
    pub fn recorded(&self) -> &[LayerState] {
        match self {
            Self::Record(_, states) => states,
            _ => &[],
        }
    }

    /// Whether the net is trained.
    pub fn is_train(&self) -> bool {
        match self {
            Self::Eval => false,
            Self::Train(_) => true,
            Self::DetectNonFinite(mode, _) | Self::Record(mode, _) => mode.is_train(),
        }
    }

    /// The random generator, in training.
    pub fn rng(&mut self) -> Option<&mut SeededRng> {
        match self {
            Self::Eval => None,
            Self::Train(rng) => Some(rng),
            Self::DetectNonFinite(mode, _) | Self::Record(mode, _) => mode.rng(),
        }
    }

    /// Whether states are checked or kept, so that every one of them is needed.
    pub(crate) fn needs_states(&self) -> bool {
        matches!(self, Self::DetectNonFinite(..) | Self::Record(..))
    }

    /// The first layer whose states were not finite.
    pub fn non_finite(&self) -> Option<&str> {
        match self {
            Self::DetectNonFinite(_, found) => found.as_deref(),
            Self::Eval | Self::Train(_) | Self::Record(..) => None,
        }
    }

    /// Checks or keeps the state of a layer, if states are checked or kept.
    pub(crate) fn observe<const D: usize>(&mut self, place: impl Fn() -> String, state: &Tensor<D>) {
        if let Self::DetectNonFinite(_, found @ None) = self {
            // Each number is checked, since the sum of finite squares may overflow.
            let numbers = state.to_data().convert::<f32>();
            if numbers.iter::<f32>().any(|number| !number.is_finite()) {
                *found = Some(place());
            }
        }
        if let Self::Record(_, states) = self {
            let values = state.to_data().convert::<f32>().iter::<f32>().collect();
            states.push(LayerState { layer: place(), shape: state.dims().to_vec(), values });
        }
    }
}
