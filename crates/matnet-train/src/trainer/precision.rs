//! Training steps in 16 bits.
//!
//! The optimizer keeps its weights in 32 bits. A step computes with a copy of them in 16 bits, and automatic differentiation takes
//! the gradients back through the copying. Half precision has few exponents: small gradients would become 0. There the loss is
//! multiplied by a large number before the backward pass, and the gradients are divided by it afterwards, as PyTorch's `GradScaler`
//! does: where a gradient overflows, the step is left out and the number halved; after 2,000 good steps it is doubled.

use burn::module::{Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, FloatDType, Tensor};
use serde::{Deserialize, Serialize};

use super::optimizer::{scaled, squares_of_all};
use crate::config::{Precision, SavedActivations, TrainConfig};
use crate::{Error, Result};

/// Good steps after which the scale is doubled.
const GROWTH_INTERVAL: u32 = 2000;

/// What the loss is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossScale {
    /// A power of 2, so that nothing is rounded.
    pub scale: f64,
    good: u32,
}

impl Default for LossScale {
    fn default() -> Self {
        Self { scale: 65_536.0, good: 0 }
    }
}

impl LossScale {
    /// The gradients as they would be without it; `None` if they overflowed and the step is to be left out.
    pub fn unscaled<M: Module>(&mut self, net: &M, gradients: GradientsParams) -> Option<GradientsParams> {
        let factor = 1.0 / self.scale;
        let gradients = scaled(net, gradients, |_| factor);
        if squares_of_all(net, &gradients).is_some_and(|squares| !squares.into_scalar::<f32>().is_finite()) {
            *self = Self { scale: self.scale / 2.0, good: 0 };
            return None;
        }
        self.good += 1;
        if self.good == GROWTH_INTERVAL {
            *self = Self { scale: self.scale * 2.0, good: 0 };
        }
        Some(gradients)
    }

    /// Whether no scale helps.
    pub fn is_exhausted(&self) -> bool {
        self.scale < 1.0
    }
}

/// The net with its parameters in 16 bits, unless 32 are asked for. Gradients go back to the parameters of `net`.
pub fn lowered<M: Module>(net: &M, precision: Precision) -> Option<M> {
    struct Lower(FloatDType);
    impl ModuleMapper for Lower {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let (id, tensor, mapper) = param.consume();
            Param::from_mapped_value(id, tensor.cast(self.0), mapper)
        }
    }
    (!precision.is_full()).then(|| net.clone().map(&mut Lower(precision.dtype())))
}

/// Fails if a device does not have the floats that a training is to compute and save with.
pub fn check_device(train: &TrainConfig, device: &Device) -> Result<()> {
    check(train.precision, device)?;
    check_saved(train.saved_activations, device)
}

fn check(precision: Precision, device: &Device) -> Result<()> {
    if device.supports_dtype(precision.dtype()) {
        return Ok(());
    }
    let all = [Precision::Full, Precision::Half, Precision::Brain];
    let has = all.into_iter().filter(|other| device.supports_dtype(other.dtype()));
    let has: Vec<String> = has.map(|other| format!("{:?}", other.name())).collect();
    let expected = format!("{} has {}", matnet::device::name(device), has.join(", "));
    Err(Error::config("train", "precision", precision.name(), expected))
}

fn check_saved(saved: SavedActivations, device: &Device) -> Result<()> {
    if saved.is_full() || *device == Device::flex() {
        return Ok(());
    }
    let expected = format!("\"32\" on {}; only the CPU saves in other floats", matnet::device::name(device));
    Err(Error::config("train", "saved_activations", saved.name(), expected))
}

#[cfg(test)]
mod tests {
    use burn::tensor::DType;
    use matnet::prelude::*;
    use matnet::weights;

    use super::*;

    /// Loss and gradients of a recurrent net in some precision.
    fn gradients(precision: Precision, scale: &mut LossScale) -> (f32, Option<Vec<Vec<f32>>>) {
        let device = Device::flex().autodiff();
        let net = SequenceClassifierConfig::new([4, 3], [5, 2], 3);
        let net = net.init(&mut SeededRng::new(3, "init"), &device).unwrap();
        let low = lowered(&net, precision).unwrap_or_else(|| net.clone());
        let input = Tensor::<4>::full([2, 6, 4, 3], 0.3, &device).cast(precision.dtype());
        let output = low.forward(input.into(), &mut Mode::Eval);
        assert_eq!(output.dtype(), DType::from(precision.dtype()));
        let loss = output.cast(FloatDType::F32).square().sum();
        let value = loss.clone().into_scalar::<f32>();
        let found = GradientsParams::from_grads((loss * scale.scale).backward(), &net);
        let found = scale.unscaled(&net, found).map(|found| {
            struct Collect<'a>(&'a GradientsParams, Vec<Vec<f32>>);
            impl burn::module::ModuleVisitor for Collect<'_> {
                fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                    let gradient = self.0.get::<D>(param.id).expect("every parameter has one");
                    self.1.push(gradient.into_data().try_into_vec().expect("gradients in f32"));
                }
            }
            let mut collect = Collect(&found, Vec::new());
            net.visit(&mut collect);
            collect.1
        });
        assert_eq!(weights::count(&net), weights::count(&low));
        (value, found)
    }

    #[test]
    fn sixteen_bits_give_nearly_the_gradients_of_thirty_two() {
        let mut scale = LossScale { scale: 1024.0, good: 0 };
        let (loss, exact) = gradients(Precision::Full, &mut scale);
        for (precision, close) in [(Precision::Half, 0.01), (Precision::Brain, 0.08)] {
            let (low, found) = gradients(precision, &mut scale);
            assert!((low - loss).abs() < close as f32 * loss, "{precision:?}: {low}, in 32 bits {loss}");
            assert_ne!(low, loss, "{precision:?} computes with 32 bits");
            for (exact, found) in exact.iter().flatten().zip(found.iter().flatten()) {
                let most = exact.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                for (exact, found) in exact.iter().zip(found) {
                    let apart = f64::from((exact - found).abs()) / f64::from(most);
                    assert!(apart < close, "{precision:?}: {found}, in 32 bits {exact}");
                }
            }
        }
    }

    #[test]
    fn a_gradient_that_overflows_halves_the_scale() {
        let mut scale = LossScale { scale: 2f64.powi(40), good: 7 };
        assert_eq!(gradients(Precision::Half, &mut scale).1, None);
        assert_eq!(scale, LossScale { scale: 2f64.powi(39), good: 0 });
        let mut scale = LossScale { scale: 2.0, good: GROWTH_INTERVAL - 1 };
        assert!(gradients(Precision::Half, &mut scale).1.is_some());
        assert_eq!(scale, LossScale { scale: 4.0, good: 0 });
    }
}
