//! The mean of a net's weights over the last steps.
//!
//! Steps that jump about the best place leave their mean near it. The mean fades: each step counts as much as all before it
//! leave room for, a share of 1 − decay in the end and more at the beginning, so that the first values are soon forgotten.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use matnet::weights;

/// The mean, parameter by parameter in the order in which a net is visited; each is flat.
#[derive(Clone, Debug)]
pub struct Average {
    decay: f64,
    means: Vec<Tensor<1>>,
}

impl Average {
    /// A mean that begins with the weights of this net.
    pub fn new<M: Module>(decay: f64, net: &M) -> Self {
        Self { decay, means: flat(net) }
    }

    /// Takes in the weights after a step that so many came before.
    pub fn follow<M: Module>(&mut self, net: &M, before: u64) {
        let before = before as f64;
        let share = 1.0 - self.decay.min((1.0 + before) / (10.0 + before));
        for (mean, weights) in self.means.iter_mut().zip(flat(net)) {
            *mean = mean.clone() + (weights - mean.clone()) * share;
        }
    }

    /// The net with these means in the place of its weights.
    pub fn of<M: Module>(&self, net: M) -> M {
        net.map(&mut Replace(self.means.iter()))
    }

    /// The means as named tensors.
    pub fn save<M: Module>(&self, net: &M) -> impl Iterator<Item = (String, TensorData)> {
        let means = self.means.iter().map(Tensor::to_data);
        weights::names(net).into_iter().map(|name| format!("average.{name}")).zip(means)
    }

    /// Takes over saved means; what is missing or has another size is an error that says so.
    pub fn load<M: Module>(
        &mut self,
        tensors: &mut HashMap<String, TensorData>,
        net: &M,
        device: &Device,
    ) -> Result<(), String> {
        for (mean, name) in self.means.iter_mut().zip(weights::names(net)) {
            let name = format!("average.{name}");
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

/// The weights of a net, each as one row of numbers.
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
    fn a_mean_of_equals_is_each_of_them_and_of_others_lies_between() {
        let (a, b) = (net(1), net(2));
        let mut average = Average::new(0.9, &a);
        average.follow(&a, 0);
        assert_eq!(numbers(&average.of(a.clone())), numbers(&a));
        average.follow(&b, 1_000);
        let expected = numbers(&a).into_iter().zip(numbers(&b)).map(|(a, b)| a + 0.1 * (b - a));
        let found = numbers(&average.of(b.clone()));
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
    }

    #[test]
    fn the_first_steps_count_more() {
        let (a, b) = (net(1), net(2));
        let mut average = Average::new(0.99, &a);
        average.follow(&b, 0);
        let expected = numbers(&a).into_iter().zip(numbers(&b)).map(|(a, b)| a + 0.9 * (b - a));
        let found = numbers(&average.of(a.clone()));
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
    }

    #[test]
    fn means_are_taken_over_as_they_were_saved() {
        let (a, b) = (net(1), net(2));
        let mut first = Average::new(0.9, &a);
        first.follow(&b, 7);
        let mut saved: HashMap<_, _> = first.save(&a).collect();
        let mut second = Average::new(0.9, &b);
        let missing = saved.remove("average.layer.0.bias").unwrap();
        let error = second.load(&mut saved.clone(), &b, &Device::flex()).unwrap_err();
        assert_eq!(error, "average.layer.0.bias is missing");
        saved.insert("average.layer.0.bias".to_owned(), missing);
        second.load(&mut saved, &b, &Device::flex()).unwrap();
        assert_eq!(numbers(&first.of(a)), numbers(&second.of(b)));
    }
}
