//! An exponential moving average of a net's weights.
//!
//! A step counts with 1 − decay, and more at the beginning, so that the initial values are soon forgotten.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use matnet::weights;

/// The average of each parameter, flat, in the order in which a net is visited.
#[derive(Clone, Debug)]
pub struct WeightAverage {
    decay: f64,
    means: Vec<Tensor<1>>,
}

impl WeightAverage {
    /// An average that starts with the weights of this net.
    pub fn new<M: Module>(decay: f64, net: &M) -> Self {
        Self { decay, means: flat(net) }
    }

    /// Updates the average after step number `before`, counted from 0.
    pub fn update<M: Module>(&mut self, net: &M, before: u64) {
        let before = before as f64;
        let share = 1.0 - self.decay.min((1.0 + before) / (10.0 + before));
        for (mean, weights) in self.means.iter_mut().zip(flat(net)) {
            *mean = mean.clone() + (weights - mean.clone()) * share;
        }
    }

    /// The net with the averages in place of its weights.
    pub fn apply<M: Module>(&self, net: M) -> M {
        net.map(&mut Replace(self.means.iter()))
    }

    /// The averages as named tensors.
    pub fn save<M: Module>(&self, net: &M) -> impl Iterator<Item = (String, TensorData)> {
        let means = self.means.iter().map(Tensor::to_data);
        weights::names(net).into_iter().map(|name| format!("ema.{name}")).zip(means)
    }

    /// Restores saved averages; a missing one or one of another size is an error.
    pub fn load<M: Module>(
        &mut self,
        tensors: &mut HashMap<String, TensorData>,
        net: &M,
        device: &Device,
    ) -> Result<(), String> {
        for (mean, name) in self.means.iter_mut().zip(weights::names(net)) {
            let name = format!("ema.{name}");
            let data = tensors.remove(&name).ok_or_else(|| format!("{name} is missing"))?;
            let (found, expected) = (data.num_elements(), mean.dims()[0]);
            if found != expected {
                return Err(format!("{name} has {found} numbers instead of {expected}"));
            }
            *mean = Tensor::from_data(data, device);
        }
        Ok(())
    }
}

/// The weights of a net, each flattened.
fn flat<M: Module>(net: &M) -> Vec<Tensor<1>> {
    struct Flat(Vec<Tensor<1>>);
    impl ModuleVisitor for Flat {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let weights = param.val().inner();
            let size = weights.shape().num_elements();
            self.0.push(weights.reshape([size]));
        }
    }
    let mut flat = Flat(Vec::new());
    net.visit(&mut flat);
    flat.0
}

struct Replace<'a>(std::slice::Iter<'a, Tensor<1>>);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(mean) = self.0.next() else { return param };
        param.map(|old| {
            let (shape, learns) = (old.dims(), old.is_require_grad());
            Tensor::<D>::from_inner(mean.clone().reshape(shape)).set_require_grad(learns)
        })
    }
}

#[cfg(test)]
mod tests {
    use matnet::prelude::*;

    use super::*;

    fn net(seed: u64) -> FeedForward<matnet::layer::MatrixHead> {
        let config = FeedForwardConfig::new([4, 3], [5, 2], [2, 2]);
        config.init(&mut SeededRng::new(seed, "init"), &Device::flex().autodiff()).unwrap()
    }

    fn numbers(net: &FeedForward<matnet::layer::MatrixHead>) -> Vec<f32> {
        weights::named(net).iter().flat_map(|(_, data)| data.iter::<f32>().collect::<Vec<_>>()).collect()
    }

    #[test]
    fn an_average_of_equal_weights_is_the_weights() {
        let (a, b) = (net(1), net(2));
        let mut average = WeightAverage::new(0.9, &a);
        average.update(&a, 0);
        assert_eq!(numbers(&average.apply(a.clone())), numbers(&a));
        average.update(&b, 1_000);
        let expected = numbers(&a).into_iter().zip(numbers(&b)).map(|(a, b)| a + 0.1 * (b - a));
        let found = numbers(&average.apply(b.clone()));
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
    }

    #[test]
    fn the_first_steps_count_more() {
        let (a, b) = (net(1), net(2));
        let mut average = WeightAverage::new(0.99, &a);
        average.update(&b, 0);
        let expected = numbers(&a).into_iter().zip(numbers(&b)).map(|(a, b)| a + 0.9 * (b - a));
        let found = numbers(&average.apply(a.clone()));
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
    }

    #[test]
    fn averages_are_restored_as_they_were_saved() {
        let (a, b) = (net(1), net(2));
        let mut first = WeightAverage::new(0.9, &a);
        first.update(&b, 7);
        let mut saved: HashMap<_, _> = first.save(&a).collect();
        let mut second = WeightAverage::new(0.9, &b);
        let missing = saved.remove("ema.layer.0.bias").unwrap();
        let error = second.load(&mut saved.clone(), &b, &Device::flex()).unwrap_err();
        assert_eq!(error, "ema.layer.0.bias is missing");
        saved.insert("ema.layer.0.bias".to_owned(), missing);
        second.load(&mut saved, &b, &Device::flex()).unwrap();
        assert_eq!(numbers(&first.apply(a)), numbers(&second.apply(b)));
    }
}
