//! Batch norm of matrices, entry by entry.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param, RunningState};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_finite, check_sides, show};
use crate::init::constant;
use crate::mode::Mode;
use crate::ops::{Activation, NormMaps, NormStatistics, batch_norm, batch_norm_train};
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`MatBatchNorm`].
    pub struct MatBatchNormConfig {
        /// Rows and columns.
        pub shape: [usize; 2],
        /// Added to the variance. Default: 1e-5.
        pub epsilon: f64 = 1e-5,
        /// The weight of a batch in the running statistics. Default: 0.1.
        pub momentum: f64 = 0.1,
        /// The initial value of every entry of the scale G. Default: 1.
        pub scale_init: f64 = 1.0,
        /// The initial value of every entry of the shift A. Default: 0.
        pub shift_init: f64 = 0.0,
    }

    /// Batch norm of matrices of this shape.
    pub fn new(shape: [usize; 2]);
}

impl MatBatchNormConfig {
    /// Checks the config and initialises the layer, with running mean 0 and variance 1.
    pub fn init(&self, device: &Device) -> Result<MatBatchNorm, ConfigError> {
        check_sides("shape", &self.shape)?;
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Err(ConfigError::new("epsilon", self.epsilon.to_string(), "must be above 0"));
        }
        if !(0.0..=1.0).contains(&self.momentum) {
            return Err(ConfigError::new("momentum", self.momentum.to_string(), "must lie between 0 and 1"));
        }
        check_finite("scale_init", self.scale_init)?;
        check_finite("shift_init", self.shift_init)?;
        let state = |value| RunningState::new(constant(value, self.shape, device).val().detach());
        Ok(MatBatchNorm {
            scale: constant(self.scale_init, self.shape, device),
            shift: constant(self.shift_init, self.shape, device),
            running_mean: state(0.0),
            running_variance: state(1.0),
            epsilon: self.epsilon,
            momentum: self.momentum,
        })
    }
}

/// Batch norm ([Ioffe & Szegedy](https://arxiv.org/abs/1502.03167)) of matrices, made with [`MatBatchNormConfig`]:
///
/// Y = G ⊙ (X − M) / √(S + ε) + A, entry by entry.
///
/// Each of the rows · cols entries has its own mean M, variance S, learned scale G and learned shift A, all of shape
/// `[rows, cols]`. In training, M and S are the statistics of the batch (the biased variance), and the running statistics are
/// updated by the momentum; in evaluation they are the running statistics. For a state of one column this is the usual batch
/// norm of a vector.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MatBatchNorm {
    /// G: `[rows, cols]`
    pub scale: Param<Tensor<2>>,
    /// A: `[rows, cols]`
    pub shift: Param<Tensor<2>>,
    /// M in evaluation: `[rows, cols]`
    pub running_mean: RunningState<Tensor<2>>,
    /// S in evaluation: `[rows, cols]`
    pub running_variance: RunningState<Tensor<2>>,
    /// ε
    pub epsilon: f64,
    momentum: f64,
}

impl MatBatchNorm {
    /// `[batch, rows, cols]` → `[batch, rows, cols]`
    pub fn forward(&self, input: Tensor<3>, mode: &Mode) -> Tensor<3> {
        self.forward_activated(input, Activation::Identity, mode)
    }

    /// The same, with an activation behind it.
    pub fn forward_activated(&self, input: Tensor<3>, activation: Activation, mode: &Mode) -> Tensor<3> {
        let maps = NormMaps { scale: self.scale.val(), shift: self.shift.val(), epsilon: self.epsilon };
        let (mean, variance) = (self.running_mean.value(), self.running_variance.value());
        if mode.is_train() {
            let (output, batch) = batch_norm_train(input, maps, activation);
            self.update(&self.running_mean, mean, batch.mean);
            self.update(&self.running_variance, variance, batch.variance);
            output
        } else {
            let device = input.device();
            let statistics =
                NormStatistics { mean: mean.to_device(&device), variance: variance.to_device(&device) };
            batch_norm(input, maps, statistics, activation)
        }
    }

    /// Updates a running statistic with that of the batch.
    fn update(&self, state: &RunningState<Tensor<2>>, old: Tensor<2>, batch: Tensor<2>) {
        let old = old.to_device(&batch.device());
        let new = old * (1.0 - self.momentum) + batch * self.momentum;
        state.update(new.detach());
        // Without this a stored or printed module would lag one batch behind.
        state.value_sync();
    }
}

/// The running statistics are not trained, so they are not counted.
impl Summarize for MatBatchNorm {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let row = LayerSummary::new(name, "batch norm", uses)
            .with_parameter(Some(&self.scale))
            .with_parameter(Some(&self.shift));
        vec![row]
    }
}

impl ModuleDisplay for MatBatchNorm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let shape: [usize; 2] = self.scale.lazy_shape().dims();
        content
            .add("shape", &show(&shape))
            .add("epsilon", &self.epsilon)
            .add("momentum", &self.momentum)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    #[test]
    fn the_batch_is_normalised_in_training_and_the_statistics_follow() {
        let device = Device::flex().autodiff();
        let norm = MatBatchNormConfig::new([1, 2]).with_momentum(0.5).init(&device).unwrap();
        let input = Tensor::<3>::from_floats([[[1.0, 10.0]], [[3.0, 30.0]]], &device);
        let mut mode = Mode::train(SeededRng::new(0, "none"));
        let output = norm.forward(input.clone(), &mode).into_data();
        for (got, want) in output.as_slice::<f32>().unwrap().iter().zip([-1.0, -1.0, 1.0, 1.0]) {
            assert!((got - want).abs() < 1e-4);
        }
        norm.running_mean.value().into_data().assert_eq(&[[1.0_f32, 10.0]].into(), false);
        norm.running_variance.value().into_data().assert_eq(&[[1.0_f32, 50.5]].into(), false);
        mode = Mode::Eval;
        let evaluated = norm.forward(input, &mode).into_data();
        assert!(evaluated.as_slice::<f32>().unwrap()[0].abs() < 1e-6);
    }
}
