//! Adam in one pass over each parameter.

use burn::backend::flex::FlexTensor;
use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::optim::{AdamState, AdaptiveMomentumState, LearningRate, ModuleOptimizer, Optimizer};
use burn::tensor::{DType, Device, Tensor};
use matnet_kernels::{AdamStep, Level};
use serde::{Deserialize, Serialize};

use crate::error::{ConfigError, check_finite, check_rate};

/// The config of [`Adam`]; the defaults are those of its paper.
///
/// ```
/// use burn::module::Module;
/// use burn::optim::GradientsParams;
/// use burn::tensor::{Device, Tensor};
/// use matnet::optim::AdamConfig;
/// use matnet::layer::MatrixHead;
/// use matnet::prelude::*;
///
/// let device = Device::flex().autodiff();
/// let net = FeedForwardConfig::new([4, 4], [3, 3], [2, 2]).init(&mut SeededRng::new(1, "init"), &device)?;
/// let mut adam = AdamConfig::default().init()?;
/// let loss = |net: &FeedForward<MatrixHead>| -> Tensor<1> {
///     let input = Tensor::ones([2, 4, 4], &device);
///     (net.forward(input, &mut Mode::Eval) - 1.0).square().mean()
/// };
/// let first = loss(&net);
/// let gradients = GradientsParams::from_grads(first.backward(), &net);
/// let net = adam.step(1e-2, net, gradients);
/// assert!(loss(&net).into_scalar::<f32>() < first.into_scalar::<f32>());
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AdamConfig {
    /// The decay of the first moment. Default: 0.9.
    pub beta_1: f64,
    /// The decay of the second moment. Default: 0.999.
    pub beta_2: f64,
    /// Added to the denominator. Default: 1e-8.
    pub epsilon: f64,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8 }
    }
}

impl AdamConfig {
    /// The optimizer for a whole module.
    pub fn init(&self) -> Result<ModuleOptimizer, ConfigError> {
        self.build().map(ModuleOptimizer::from)
    }

    /// The optimizer for one parameter at a time.
    pub fn build(&self) -> Result<Adam, ConfigError> {
        check_rate("beta_1", self.beta_1)?;
        check_rate("beta_2", self.beta_2)?;
        check_finite("epsilon", self.epsilon)?;
        if self.epsilon <= 0.0 {
            return Err(ConfigError::new("epsilon", self.epsilon.to_string(), "must be greater than 0"));
        }
        Ok(Adam(*self))
    }
}

/// Adam ([Kingma & Ba](https://arxiv.org/abs/1412.6980)), made with [`AdamConfig`].
///
/// m = β₁m + (1−β₁)g and v = β₂v + (1−β₂)g², then w −= rate · m̂ / (√v̂ + ε) with m̂ = m / (1−β₁ᵗ) and
/// v̂ = v / (1−β₂ᵗ). On the CPU in `f32` this is one pass over the memory; elsewhere, ordinary operations.
#[derive(Clone, Copy, Debug)]
pub struct Adam(AdamConfig);

impl Optimizer for Adam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weights: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let AdamConfig { beta_1, beta_2, epsilon } = self.0;
        let (time, first, second) = match state {
            Some(AdamState { momentum }) => (momentum.time + 1, momentum.moment_1, momentum.moment_2),
            None => (1, weights.zeros_like(), weights.zeros_like()),
        };
        let steps = i32::try_from(time).unwrap_or(i32::MAX);
        let rate = rate / (1.0 - beta_1.powi(steps));
        let correction = 1.0 / (1.0 - beta_2.powi(steps));
        let device = weights.device();
        let fused = device == Device::flex() && !device.is_autodiff() && weights.dtype() == DType::F32;
        let (weights, first, second) = if fused {
            let step = AdamStep {
                beta_1: beta_1 as f32,
                beta_2: beta_2 as f32,
                rate: rate as f32,
                correction: correction as f32,
                epsilon: epsilon as f32,
            };
            let (weights, first, second) = Dispatch::adam(
                weights.into_dispatch(),
                gradient.into_dispatch(),
                first.into_dispatch(),
                second.into_dispatch(),
                step,
            );
            (Tensor::from_dispatch(weights), Tensor::from_dispatch(first), Tensor::from_dispatch(second))
        } else {
            let first = first * beta_1 + gradient.clone() * (1.0 - beta_1);
            let second = second * beta_2 + gradient.square() * (1.0 - beta_2);
            let change = first.clone() * rate / ((second.clone() * correction).sqrt() + epsilon);
            (weights - change, first, second)
        };
        (weights, Some(AdamState::new(AdaptiveMomentumState::new(time, first, second))))
    }

    fn to_device<const D: usize>(mut state: AdamState<D>, device: &Device) -> AdamState<D> {
        state.momentum = state.momentum.to_device(device);
        state
    }
}

/// The step of Adam that has a CPU kernel.
#[backend_extension(Flex)]
trait FusedAdam: Backend {
    /// The weights and moments after a step.
    fn adam(
        weights: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

impl FusedAdam for Flex {
    fn adam(
        weights: FlexTensor,
        gradient: FlexTensor,
        first: FlexTensor,
        second: FlexTensor,
        step: AdamStep,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let [mut weights, gradient, mut first, mut second] =
            [weights, gradient, first, second].map(|tensor| tensor.to_contiguous());
        let numbers = gradient.as_slice().expect("contiguous numbers of the checked kind");
        // Tensors that are not shared are changed in place.
        step.run(Level::best(), weights.storage_mut(), numbers, first.storage_mut(), second.storage_mut());
        (weights, first, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;
    use burn::tensor::TensorData;

    #[test]
    fn the_kernel_agrees_with_tensor_operations() {
        let mut rng = SeededRng::new(1, "adam");
        let (device, adam) = (Device::flex(), Adam(AdamConfig::default()));
        for shape in [[1, 1], [7, 3], [300, 200]] {
            let mut draw = |size: f64| {
                let numbers: Vec<f64> = (0..shape[0] * shape[1]).map(|_| size * rng.normal()).collect();
                Tensor::<2>::from_data(TensorData::new(numbers, shape), (&device, DType::F64))
            };
            let mut double = (draw(1.0), None);
            let mut single = (double.0.clone().cast(DType::F32), None);
            for _ in 0..5 {
                let gradient = draw(0.1);
                double = adam.step(1e-2, double.0, gradient.clone(), double.1);
                single = adam.step(1e-2, single.0, gradient.cast(DType::F32), single.1);
            }
            let apart = (double.0 - single.0.cast(DType::F64)).abs().max().into_scalar::<f64>();
            assert!(apart < 1e-6, "{shape:?}: {apart}");
        }
    }

    #[test]
    fn the_first_step_is_as_long_as_the_rate() {
        let weights = Tensor::<1>::zeros([3], &Device::flex());
        let gradient = Tensor::from_floats([0.5, -2.0, 1e-4], &Device::flex());
        let (weights, _) = Adam(AdamConfig::default()).step(1e-3, weights, gradient, None);
        let expected = Tensor::<1>::from_floats([-1e-3, 1e-3, -1e-3], &Device::flex());
        assert!((weights - expected).abs().max().into_scalar::<f32>() < 1e-6);
    }

    #[test]
    fn a_wrong_config_names_its_key() {
        let wrong = AdamConfig { beta_2: 1.5, ..AdamConfig::default() }.init();
        assert!(wrong.is_err_and(|error| error.to_string().starts_with("beta_2")));
    }
}
