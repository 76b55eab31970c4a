//! Dropout and noise, with random numbers from the [`Mode`].

use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::error::{ConfigError, check_rate};
use crate::mode::Mode;
use crate::random::SeededRng;

/// Dropout ([Srivastava et al.](https://jmlr.org/papers/v15/srivastava14a.html)): in training, sets each entry to zero with
/// probability `rate` and scales the others by 1 / (1 − rate); in evaluation, does nothing.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::{Mode, layer::Dropout, random::SeededRng};
///
/// let dropout = Dropout::new("dropout", 0.5)?;
/// let ones = Tensor::<3>::ones([1, 10, 10], &Device::flex());
/// let mut mode = Mode::train(SeededRng::new(42, "dropout"));
/// let numbers = dropout.forward(ones, &mut mode).into_data();
/// assert!(numbers.as_slice::<f32>().unwrap().iter().all(|&x| x == 0.0 || x == 2.0));
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    rate: f64,
}

impl Dropout {
    /// Dropout with this probability; `key` names it in the error.
    pub fn new(key: &str, rate: f64) -> Result<Self, ConfigError> {
        check_rate(key, rate)?;
        Ok(Self { rate })
    }

    /// The probability of dropping.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Whether anything may be dropped in this mode.
    pub(crate) fn drops(&self, mode: &mut Mode) -> bool {
        self.rate > 0.0 && mode.rng().is_some()
    }

    /// Drops entries of a tensor of any shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>, mode: &mut Mode) -> Tensor<D> {
        match mode.rng() {
            Some(rng) if self.rate > 0.0 => {
                let kept = 1.0 / (1.0 - self.rate);
                masked(input, rng, self.rate, kept)
            }
            _ => input,
        }
    }
}

/// How the input of an auto-encoder is corrupted in training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Each entry is set to zero with the probability of the noise ratio.
    #[default]
    Masking,
    /// Normal noise is added, whose standard deviation is the noise ratio.
    Gaussian,
}

impl Noise {
    /// Corrupts a tensor in training; in evaluation, does nothing.
    pub fn corrupt<const D: usize>(self, input: Tensor<D>, ratio: f64, mode: &mut Mode) -> Tensor<D> {
        let Some(rng) = mode.rng().filter(|_| ratio > 0.0) else { return input };
        match self {
            Self::Masking => masked(input, rng, ratio, 1.0),
            Self::Gaussian => {
                let noise = drawn(&input, || (ratio * rng.normal()) as f32);
                input + noise
            }
        }
    }
}

/// Zero with probability `rate`, times `kept` otherwise.
fn masked<const D: usize>(input: Tensor<D>, rng: &mut SeededRng, rate: f64, kept: f64) -> Tensor<D> {
    let mask = drawn(&input, || if rng.chance(rate) { 0.0 } else { kept as f32 });
    input * mask
}

/// A tensor of the same shape, type and device, with numbers from `draw`.
fn drawn<const D: usize>(like: &Tensor<D>, mut draw: impl FnMut() -> f32) -> Tensor<D> {
    let shape = like.dims();
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| draw()).collect();
    Tensor::from_data(TensorData::new(numbers, shape), (&like.device(), like.dtype()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn dropout_keeps_the_mean_and_does_nothing_in_evaluation() {
        let dropout = Dropout::new("dropout", 0.3).unwrap();
        let ones = Tensor::<3>::ones([4, 100, 100], &Device::flex());
        let mut mode = Mode::train(SeededRng::new(1, "dropout"));
        let mean = dropout.forward(ones.clone(), &mut mode).mean().into_scalar::<f32>();
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let same = dropout.forward(ones.clone(), &mut Mode::Eval);
        same.into_data().assert_eq(&ones.into_data(), true);
    }

    #[test]
    fn noise_has_the_configured_strength() {
        let ones = Tensor::<3>::ones([1, 200, 200], &Device::flex());
        let mut mode = Mode::train(SeededRng::new(1, "noise"));
        let masked = Noise::Masking.corrupt(ones.clone(), 0.2, &mut mode).mean().into_scalar::<f32>();
        assert!((masked - 0.8).abs() < 0.02, "{masked}");
        let added = Noise::Gaussian.corrupt(ones.clone(), 0.2, &mut mode) - ones;
        let deviation = added.powf_scalar(2.0).mean().into_scalar::<f32>().sqrt();
        assert!((deviation - 0.2).abs() < 0.01, "{deviation}");
    }
}
