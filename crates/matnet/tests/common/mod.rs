//! Shared by the tests: random values in f64, and analytic against numeric gradients.
//!
//! [`check_function`] compares for a function of tensors, [`check_module`] for a layer or net (all its
//! parameters and its inputs).
#![allow(dead_code)] // Each test file uses its own part of this.

pub mod graph;
pub mod reference;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Device, Tensor, TensorData};
use matnet::layer::Aggregation;
use matnet::net::ColumnNetConfig;
use matnet::random::SeededRng;

/// How far the analytic may lie from the numeric derivative, relative to the gradient.
pub const TOLERANCE: f64 = 1e-6;

/// Where the tests run: on the CPU, or where `MATNET_TEST_DEVICE` says. Tests in f64 run on the CPU alone.
pub fn device() -> Device {
    match std::env::var("MATNET_TEST_DEVICE") {
        Ok(name) => matnet::device::find(&name).unwrap_or_else(|error| panic!("{name}: {error}")),
        Err(_) => Device::flex(),
    }
    .autodiff()
}

/// A whole number between `low` and `high`, both included.
pub fn between(rng: &mut SeededRng, low: usize, high: usize) -> usize {
    low + rng.below(high - low + 1)
}

/// Normal numbers.
pub fn values(rng: &mut SeededRng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.normal()).collect()
}

/// An f64 tensor of normal numbers.
pub fn random<const D: usize>(rng: &mut SeededRng, shape: [usize; D]) -> Tensor<D> {
    tensor(values(rng, shape.iter().product()), shape)
}

/// An f64 tensor of these numbers.
pub fn tensor<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), (&device(), DType::F64))
}

/// The numbers of a tensor.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.cast(DType::F64).into_data().as_slice::<f64>().expect("a float tensor").to_vec()
}

/// The largest difference between two tensors of one shape.
pub fn distance<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> f64 {
    assert_eq!(a.dims(), b.dims());
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, |worst, d| if d > worst || d.is_nan() { d } else { worst })
}

/// A number that depends on every element of `output`, each with its own fixed weight.
pub fn weigh<const D: usize>(output: Tensor<D>) -> Tensor<1> {
    let shape = output.dims();
    let count: usize = shape.iter().product();
    let weights = values(&mut SeededRng::new(1, "weigh"), count);
    (output * tensor(weights, shape)).sum()
}

/// The module in f64, every parameter moved off its first value by normal noise of this size, so that no
/// pre-activation lies exactly on the kink of a ReLU.
pub fn shaken<M: Module>(module: M, rng: &mut SeededRng, size: f64) -> M {
    struct Shake<'a>(&'a mut SeededRng, f64);
    impl ModuleMapper for Shake<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let learns = param.val().is_require_grad();
            let shape = param.val().dims();
            let mut values = numbers(param.val());
            if learns {
                values.iter_mut().for_each(|value| *value += self.1 * self.0.normal());
            }
            Param::initialized(param.id, tensor(values, shape).set_require_grad(learns))
        }
    }
    module.map(&mut Shake(rng, size))
}

/// Analytic against numeric gradients of `loss`, a function of flat f64 tensors.
pub fn check_function(label: &str, inputs: &[Vec<f64>], loss: impl Fn(&[Tensor<1>]) -> Tensor<1>) {
    let leaves =
        |point: &[Vec<f64>]| -> Vec<Tensor<1>> { point.iter().map(|values| leaf(values.clone())).collect() };
    let value = |point: &[Vec<f64>]| scalar(loss(&leaves(point)));
    let gradient = |point: &[Vec<f64>]| {
        let leaves = leaves(point);
        let grads = loss(&leaves).backward();
        leaves.iter().map(|leaf| gradient_of(leaf.grad(&grads), leaf.dims()[0])).collect()
    };
    compare(label, inputs.to_vec(), value, gradient);
}

/// Analytic against numeric gradients of `loss`, a function of an f64 module and of flat f64 tensors, with
/// respect to all parameters of the module and all the tensors.
pub fn check_module<M: Module>(
    label: &str,
    module: &M,
    inputs: &[Vec<f64>],
    loss: impl Fn(&M, &[Tensor<1>]) -> Tensor<1>,
) {
    let start = parameters(module);
    let count = start.len();
    let point = [start, inputs.to_vec()].concat();
    let value = |point: &[Vec<f64>]| {
        let leaves: Vec<_> = point[count..].iter().map(|values| leaf(values.clone())).collect();
        scalar(loss(&with_parameters(module.clone(), &point[..count]), &leaves))
    };
    let gradient = |point: &[Vec<f64>]| {
        let module = with_parameters(module.clone(), &point[..count]);
        let leaves: Vec<_> = point[count..].iter().map(|values| leaf(values.clone())).collect();
        let grads = loss(&module, &leaves).backward();
        let mut all = Gradients { grads: &grads, found: Vec::new() };
        module.visit(&mut all);
        let mut found = all.found;
        found.extend(leaves.iter().map(|leaf| gradient_of(leaf.grad(&grads), leaf.dims()[0])));
        found
    };
    compare(label, point, value, gradient);
}

/// Compares along one random direction through all numbers, and along a few single numbers.
fn compare(
    label: &str,
    point: Vec<Vec<f64>>,
    value: impl Fn(&[Vec<f64>]) -> f64,
    gradient: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>>,
) {
    let analytic = gradient(&point).concat();
    let lengths: Vec<usize> = point.iter().map(Vec::len).collect();
    let point = point.concat();
    assert_eq!(analytic.len(), point.len(), "{label}: one derivative per number");
    let norm = analytic.iter().map(|g| g * g).sum::<f64>().sqrt();
    let mut rng = SeededRng::new(point.len() as u64, label);
    let mut directions = vec![values(&mut rng, point.len())];
    for _ in 0..3 {
        let mut axis = vec![0.0; point.len()];
        axis[rng.below(point.len())] = 1.0;
        directions.push(axis);
    }
    for (index, direction) in directions.iter_mut().enumerate() {
        let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|d| *d /= length);
        let along: f64 = analytic.iter().zip(&*direction).map(|(g, d)| g * d).sum();
        let at = |step: f64| {
            let moved: Vec<f64> = point.iter().zip(&*direction).map(|(p, d)| p + step * d).collect();
            let mut rest = &moved[..];
            let split: Vec<Vec<f64>> = lengths
                .iter()
                .map(|&length| {
                    let (head, tail) = rest.split_at(length);
                    rest = tail;
                    head.to_vec()
                })
                .collect();
            value(&split)
        };
        let numeric = derivative(at);
        let scale = along.abs().max(numeric.abs()).max(1e-2 * norm).max(1e-6);
        let error = (along - numeric).abs() / scale;
        assert!(
            error <= TOLERANCE,
            "{label}, direction {index}: analytic {along:.12e}, numeric {numeric:.12e}, relative error {error:.2e}"
        );
    }
}

/// The derivative at 0: central differences, extrapolated. The step shrinks until two extrapolations
/// agree, which they do not while a kink of a ReLU lies within it.
fn derivative(at: impl Fn(f64) -> f64) -> f64 {
    let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
    let extrapolated = |wide: f64, narrow: f64| (4.0 * narrow - wide) / 3.0;
    let mut best = (f64::INFINITY, 0.0);
    for step in [4e-3, 1e-3, 2e-4, 4e-5, 1e-5] {
        let [wide, middle, narrow] = [step, step / 2.0, step / 4.0].map(central);
        let (first, second) = (extrapolated(wide, middle), extrapolated(middle, narrow));
        let doubt = (first - second).abs() / second.abs().max(1e-3);
        if doubt < best.0 {
            best = (doubt, second);
        }
        if doubt < 1e-9 {
            break;
        }
    }
    best.1
}

fn leaf(values: Vec<f64>) -> Tensor<1> {
    let count = values.len();
    tensor(values, [count]).require_grad()
}

fn scalar(loss: Tensor<1>) -> f64 {
    loss.into_scalar::<f64>()
}

/// A leaf that the loss does not depend on has no gradient, which is a gradient of zero.
fn gradient_of<const D: usize>(grad: Option<Tensor<D>>, count: usize) -> Vec<f64> {
    grad.map_or_else(|| vec![0.0; count], numbers)
}

struct Gradients<'a> {
    grads: &'a burn::tensor::Gradients,
    found: Vec<Vec<f64>>,
}

impl ModuleVisitor for Gradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        if value.is_require_grad() {
            self.found.push(gradient_of(value.grad(self.grads), value.shape().num_elements()));
        }
    }
}

/// The numbers of all parameters that learn, in the order of a visit.
fn parameters<M: Module>(module: &M) -> Vec<Vec<f64>> {
    struct Read(Vec<Vec<f64>>);
    impl ModuleVisitor for Read {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if param.val().is_require_grad() {
                self.0.push(numbers(param.val()));
            }
        }
    }
    let mut read = Read(Vec::new());
    module.visit(&mut read);
    read.0
}

/// The module with these numbers in the parameters that learn.
fn with_parameters<M: Module>(module: M, numbers: &[Vec<f64>]) -> M {
    struct Write<'a>(std::slice::Iter<'a, Vec<f64>>);
    impl ModuleMapper for Write<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            if !param.val().is_require_grad() {
                return param;
            }
            let values = self.0.next().expect("as many parameters as were read").clone();
            let shape = param.val().dims();
            Param::initialized(param.id, tensor(values, shape).require_grad())
        }
    }
    module.map(&mut Write(numbers.iter()))
}

/// The module in f64, with the numbers that `choose` gives for each parameter's name and shape.
pub fn with_numbers<M: Module>(module: M, mut choose: impl FnMut(&str, &[usize]) -> Vec<f64>) -> M {
    struct Set(std::vec::IntoIter<Vec<f64>>);
    impl ModuleMapper for Set {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let (shape, learns) = (param.val().dims(), param.val().is_require_grad());
            let values = self.0.next().expect("as many parameters as names");
            Param::initialized(param.id, tensor(values, shape).set_require_grad(learns))
        }
    }
    let named = matnet::weights::named(&module);
    let chosen: Vec<_> = named.iter().map(|(name, data)| choose(name, data.shape().as_slice())).collect();
    module.map(&mut Set(chosen.into_iter()))
}

/// So many attention heads or concatenated neighbours, where the aggregation has them.
pub fn sized(config: ColumnNetConfig, heads: usize, neighbors: usize) -> ColumnNetConfig {
    match config.aggregation {
        Aggregation::Mean => config,
        Aggregation::Attention => config.with_heads(Some(heads)),
        Aggregation::Concat => config.with_num_neighbors(Some(neighbors)),
    }
}
