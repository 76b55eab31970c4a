//! Optimizers over a whole net, whose state is stored by the names of the parameters.
//!
//! Burn keys the same state by ids that are drawn anew in every process; resuming a run needs names.

use std::collections::{BTreeMap, HashMap};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::{AdamState, AdaptiveMomentumState, GradientsParams, Optimizer as _};
use burn::tensor::{Device, Tensor, TensorData};
use matnet::optim::{Adam, AdamConfig};

use crate::config::{OptimizerKind, TrainConfig};

/// An update rule.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// Adam; with weight decay, AdamW: w −= lr · decay · w beside the step of Adam.
    Adam { adam: AdamConfig, weight_decay: f64 },
    /// v = momentum · v + g, w −= lr · v
    Sgd { momentum: f64, weight_decay: f64 },
}

/// An update rule and its state for each parameter.
#[derive(Clone, Debug)]
pub struct Optimizer {
    rule: Rule,
    adam: Option<Adam>,
    /// The names of the parameters, in the order in which a net is visited.
    names: Vec<String>,
    /// The learning rate multiplier of each, in the same order.
    multipliers: Vec<f64>,
    states: BTreeMap<String, ParamState>,
}

/// The optimizer state of one parameter; the moments are flat.
#[derive(Clone, Debug)]
struct ParamState {
    steps: usize,
    first: Tensor<1>,
    /// Adam's second moment.
    second: Option<Tensor<1>>,
}

impl Optimizer {
    /// A fresh optimizer for this net. The numbers were checked with the config.
    pub fn new<M: Module>(train: &TrainConfig, net: &M) -> Self {
        let weight_decay = train.decay();
        let rule = match train.optimizer {
            OptimizerKind::Adam | OptimizerKind::AdamW => Rule::Adam { adam: train.adam(), weight_decay },
            OptimizerKind::Sgd => Rule::Sgd { momentum: train.momentum.unwrap_or(0.0), weight_decay },
        };
        Self::with_rule(rule, &train.learning_rate_multipliers, net)
    }

    fn with_rule<M: Module>(rule: Rule, multipliers: &BTreeMap<String, f64>, net: &M) -> Self {
        let adam = match rule {
            Rule::Adam { adam, .. } => adam.build().ok(),
            Rule::Sgd { .. } => None,
        };
        let names = matnet::weights::names(net);
        let multiplier = |name: &String| {
            let matching = multipliers.iter().filter(|(word, _)| name.contains(*word));
            matching.max_by_key(|(word, _)| word.len()).map_or(1.0, |(_, &factor)| factor)
        };
        let multipliers = names.iter().map(multiplier).collect();
        Self { rule, adam, names, multipliers, states: BTreeMap::new() }
    }

    /// The net after one step.
    pub fn step<M: Module>(&mut self, rate: f64, net: M, gradients: GradientsParams) -> M {
        net.map(&mut Step { optimizer: self, rate, gradients, visited: 0 })
    }

    fn update(&mut self, name: &str, rate: f64, weights: Tensor<1>, gradient: Tensor<1>) -> Tensor<1> {
        let state = self.states.remove(name);
        match (self.rule, &self.adam) {
            (Rule::Adam { weight_decay, .. }, Some(adam)) => {
                let weights =
                    if weight_decay > 0.0 { weights * (1.0 - rate * weight_decay) } else { weights };
                let before = state.and_then(|state| {
                    let momentum = AdaptiveMomentumState::new(state.steps, state.first, state.second?);
                    Some(AdamState::new(momentum))
                });
                let (weights, after) = adam.step(rate, weights, gradient, before);
                if let Some(AdamState { momentum }) = after {
                    let (first, second) = (momentum.moment_1, Some(momentum.moment_2));
                    self.states.insert(name.to_owned(), ParamState { steps: momentum.time, first, second });
                }
                weights
            }
            (Rule::Sgd { momentum, weight_decay }, _) => {
                let gradient = match weight_decay > 0.0 {
                    true => gradient + weights.clone() * weight_decay,
                    false => gradient,
                };
                let steps = state.as_ref().map_or(0, |state| state.steps) + 1;
                let velocity = match state {
                    Some(state) if momentum > 0.0 => state.first * momentum + gradient,
                    _ => gradient,
                };
                if momentum > 0.0 {
                    let state = ParamState { steps, first: velocity.clone(), second: None };
                    self.states.insert(name.to_owned(), state);
                }
                weights - velocity * rate
            }
            (Rule::Adam { .. }, None) => weights,
        }
    }

    /// The state as named tensors and step counts.
    pub fn save(&self) -> (Vec<(String, TensorData)>, BTreeMap<String, usize>) {
        let (mut tensors, mut steps) = (Vec::new(), BTreeMap::new());
        for (name, state) in &self.states {
            tensors.push((format!("first.{name}"), state.first.to_data()));
            if let Some(second) = &state.second {
                tensors.push((format!("second.{name}"), second.to_data()));
            }
            steps.insert(name.clone(), state.steps);
        }
        (tensors, steps)
    }

    /// Restores a saved state; a missing tensor is an error.
    pub fn load(
        &mut self,
        tensors: &mut HashMap<String, TensorData>,
        steps: &BTreeMap<String, usize>,
        device: &Device,
    ) -> Result<(), String> {
        self.states.clear();
        for (name, &count) in steps {
            if !self.names.contains(name) {
                return Err(format!("has optimizer state for {name}, which the net does not have"));
            }
            let mut take = |kind: &str| {
                tensors.remove(&format!("{kind}.{name}")).map(|data| Tensor::<1>::from_data(data, device))
            };
            let first = take("first").ok_or_else(|| format!("first.{name} is missing"))?;
            self.states.insert(name.clone(), ParamState { steps: count, first, second: take("second") });
        }
        Ok(())
    }
}

struct Step<'a> {
    optimizer: &'a mut Optimizer,
    rate: f64,
    gradients: GradientsParams,
    visited: usize,
}

impl ModuleMapper for Step<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.optimizer.names[self.visited].clone();
        let rate = self.rate * self.optimizer.multipliers[self.visited];
        self.visited += 1;
        let (id, tensor, mapper) = param.consume();
        let Some(gradient) = self.gradients.remove::<D>(id) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let (shape, learns) = (tensor.dims(), tensor.is_require_grad());
        let checkpointing = tensor.gradient_checkpointing_strategy();
        let size = shape.iter().product::<usize>();
        let weights = tensor.inner().reshape([size]);
        let weights = self.optimizer.update(&name, rate, weights, gradient.reshape([size]));
        let mut tensor = Tensor::<D>::from_inner(weights.reshape(shape));
        if let Some(strategy) = checkpointing {
            tensor = tensor.with_gradient_checkpointing_strategy(strategy);
        }
        let tensor = tensor.set_require_grad(learns);
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// The norm of all gradients taken as one vector.
fn norm<M: Module>(net: &M, gradients: &GradientsParams) -> f64 {
    struct Squares<'a>(&'a GradientsParams, f64);
    impl ModuleVisitor for Squares<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.0.get::<D>(param.id) {
                self.1 += squares(&gradient);
            }
        }
    }
    let mut squares = Squares(gradients, 0.0);
    net.visit(&mut squares);
    squares.1.sqrt()
}

/// The gradients with their total norm clipped to `total`, and then the norm of each clipped to `each`.
pub fn clipped<M: Module>(
    net: &M,
    mut gradients: GradientsParams,
    total: Option<f64>,
    each: Option<f64>,
) -> GradientsParams {
    if net.devices().iter().any(|device| *device != Device::flex()) {
        return clipped_on_device(net, gradients, total, each);
    }
    if let Some(limit) = total {
        let norm = norm(net, &gradients);
        if norm > limit {
            gradients = scaled(net, gradients, |_| limit / norm);
        }
    }
    match each {
        Some(limit) => scaled(net, gradients, |norm| (limit / norm()).min(1.0)),
        None => gradients,
    }
}

/// The sum of the squares of all gradients, on their device; `None` if there are none.
pub(super) fn squares_of_all<M: Module>(net: &M, gradients: &GradientsParams) -> Option<Tensor<1>> {
    struct Squares<'a>(&'a GradientsParams, Option<Tensor<1>>);
    impl ModuleVisitor for Squares<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.0.get::<D>(param.id) {
                let own = gradient.square().sum();
                self.1 = Some(match self.1.take() {
                    Some(sum) => sum + own,
                    None => own,
                });
            }
        }
    }
    let mut squares = Squares(gradients, None);
    net.visit(&mut squares);
    squares.1
}

/// As [`clipped`], without reading a norm from the device, which would have to be waited for.
fn clipped_on_device<M: Module>(
    net: &M,
    mut gradients: GradientsParams,
    total: Option<f64>,
    each: Option<f64>,
) -> GradientsParams {
    struct Scale<'a, F>(GradientsParams, &'a mut GradientsParams, F);
    impl<F: Fn(&dyn Fn() -> Tensor<1>) -> Tensor<1>> ModuleVisitor for Scale<'_, F> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.0.remove::<D>(param.id) {
                let factor = (self.2)(&|| gradient.clone().square().sum());
                self.1.register(param.id, gradient * factor.reshape([1; D]));
            }
        }
    }
    // A norm of 0 gives infinity, and that 1.
    let factor = |squares: Tensor<1>, limit: f64| (squares.sqrt().recip() * limit).clamp_max(1.0);
    if let Some(limit) = total
        && let Some(squares) = squares_of_all(net, &gradients)
    {
        let (factor, mut after) = (factor(squares, limit), GradientsParams::new());
        net.visit(&mut Scale(gradients, &mut after, |_: &dyn Fn() -> Tensor<1>| factor.clone()));
        gradients = after;
    }
    if let Some(limit) = each {
        let mut after = GradientsParams::new();
        net.visit(&mut Scale(gradients, &mut after, |own: &dyn Fn() -> Tensor<1>| factor(own(), limit)));
        gradients = after;
    }
    gradients
}

/// The gradients, each times a factor that may depend on its norm.
pub(super) fn scaled<M: Module>(
    net: &M,
    gradients: GradientsParams,
    factor: impl Fn(&dyn Fn() -> f64) -> f64,
) -> GradientsParams {
    struct Scale<'a, F>(GradientsParams, &'a mut GradientsParams, F);
    impl<F: Fn(&dyn Fn() -> f64) -> f64> ModuleVisitor for Scale<'_, F> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.0.remove::<D>(param.id) {
                let factor = (self.2)(&|| squares(&gradient).sqrt());
                let gradient = if factor == 1.0 { gradient } else { gradient * factor };
                self.1.register(param.id, gradient);
            }
        }
    }
    let mut after = GradientsParams::new();
    net.visit(&mut Scale(gradients, &mut after, factor));
    after
}

fn squares<const D: usize>(gradient: &Tensor<D>) -> f64 {
    f64::from(gradient.clone().square().sum().into_scalar::<f32>())
}

#[cfg(test)]
mod tests {
    use burn::optim::momentum::MomentumConfig;
    use burn::optim::{AdamConfig as BurnAdam, AdamWConfig, SgdConfig};
    use matnet::prelude::*;

    use super::*;

    type Twin = FeedForward<matnet::layer::MatrixHead>;

    fn net(device: &Device) -> Twin {
        FeedForwardConfig::new([4, 3], [5, 2], [2, 2]).init(&mut SeededRng::new(3, "init"), device).unwrap()
    }

    fn gradients(net: &Twin, device: &Device, at: usize) -> GradientsParams {
        let input = Tensor::full([2, 4, 3], 0.3 + 0.1 * at as f32, device);
        let loss = (net.forward(input, &mut Mode::Eval) - 1.0).square().mean();
        GradientsParams::from_grads(loss.backward(), net)
    }

    fn apart(a: &Twin, b: &Twin) -> f32 {
        let pairs = matnet::weights::named(a).into_iter().zip(matnet::weights::named(b));
        let gap = |((_, a), (_, b)): ((String, TensorData), (String, TensorData))| {
            a.iter::<f32>().zip(b.iter::<f32>()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        pairs.map(gap).fold(0.0, f32::max)
    }

    fn rules() -> Vec<(Rule, burn::optim::ModuleOptimizer)> {
        let adam = AdamConfig::default();
        let momentum = MomentumConfig::new().with_momentum(0.9).with_dampening(0.0);
        vec![
            (Rule::Adam { adam, weight_decay: 0.0 }, BurnAdam::new().with_epsilon(1e-8).init()),
            (
                Rule::Adam { adam, weight_decay: 0.1 },
                AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.1).init(),
            ),
            (Rule::Sgd { momentum: 0.0, weight_decay: 0.0 }, SgdConfig::new().init()),
            (
                Rule::Sgd { momentum: 0.9, weight_decay: 0.0 },
                SgdConfig::new().with_momentum(Some(momentum)).init(),
            ),
        ]
    }

    #[test]
    fn steps_equal_those_of_burn() {
        let device = Device::flex().autodiff();
        for (rule, mut theirs) in rules() {
            let (mut a, mut b) = (net(&device), net(&device));
            let mut ours = Optimizer::with_rule(rule, &BTreeMap::new(), &a);
            for at in 0..5 {
                let (grad_a, grad_b) = (gradients(&a, &device, at), gradients(&b, &device, at));
                a = ours.step(0.05, a, grad_a);
                b = theirs.step(0.05, b, grad_b);
            }
            assert!(apart(&a, &b) < 1e-5, "{rule:?}: {}", apart(&a, &b));
            assert!(apart(&a, &net(&device)) > 1e-3, "{rule:?} moved nothing");
        }
    }

    #[test]
    fn multipliers_scale_the_learning_rate() {
        let device = Device::flex().autodiff();
        let factors = BTreeMap::from([("map".to_owned(), 0.5), ("row_map".to_owned(), 0.0)]);
        for (rule, _) in rules() {
            let start = net(&device);
            let [usual, paced] = [BTreeMap::new(), factors.clone()].map(|factors| {
                let grad = gradients(&start, &device, 0);
                let after = Optimizer::with_rule(rule, &factors, &start).step(0.05, start.clone(), grad);
                matnet::weights::named(&after)
            });
            let start = matnet::weights::named(&start);
            for ((name, start), ((_, usual), (_, paced))) in start.iter().zip(usual.iter().zip(&paced)) {
                let factor = match name {
                    name if name.contains("row_map") => 0.0,
                    name if name.contains("map") => 0.5,
                    _ => 1.0,
                };
                let moved = start.iter::<f32>().zip(usual.iter::<f32>()).zip(paced.iter::<f32>());
                for ((start, usual), paced) in moved {
                    assert!((start + factor * (usual - start) - paced).abs() < 1e-6, "{rule:?} {name}");
                }
            }
        }
    }

    #[test]
    fn a_restored_optimizer_continues_exactly() {
        let device = Device::flex().autodiff();
        for (rule, _) in rules() {
            let mut a = net(&device);
            let mut first = Optimizer::with_rule(rule, &BTreeMap::new(), &a);
            for at in 0..3 {
                let grad = gradients(&a, &device, at);
                a = first.step(0.05, a, grad);
            }
            let (tensors, steps) = first.save();
            let mut second = Optimizer::with_rule(rule, &BTreeMap::new(), &a);
            second.load(&mut tensors.into_iter().collect(), &steps, &Device::flex()).unwrap();
            let b = a.clone();
            let (grad_a, grad_b) = (gradients(&a, &device, 3), gradients(&b, &device, 3));
            assert_eq!(apart(&first.step(0.05, a, grad_a), &second.step(0.05, b, grad_b)), 0.0, "{rule:?}");
        }
    }

    #[test]
    fn the_total_norm_is_clipped() {
        let device = Device::flex().autodiff();
        let net = net(&device);
        let grads = gradients(&net, &device, 0);
        let length = norm(&net, &grads);
        let half = clipped(&net, grads, Some(0.5 * length), None);
        assert!((norm(&net, &half) - 0.5 * length).abs() < 1e-6 * length);
        assert_eq!(norm(&net, &clipped(&net, gradients(&net, &device, 0), Some(2.0 * length), None)), length);
    }

    #[test]
    fn clipping_on_a_gpu_gives_the_same() {
        let device = Device::flex().autodiff();
        let net = net(&device);
        let length = norm(&net, &gradients(&net, &device, 0));
        for (total, each) in [
            (Some(0.5 * length), None),
            (Some(2.0 * length), None),
            (None, Some(0.2 * length)),
            (Some(0.5 * length), Some(0.1 * length)),
        ] {
            let plain = clipped(&net, gradients(&net, &device, 0), total, each);
            let ahead = clipped_on_device(&net, gradients(&net, &device, 0), total, each);
            let difference = norm(&net, &plain) - norm(&net, &ahead);
            assert!(difference.abs() < 1e-6 * length, "{total:?} {each:?}: {difference}");
        }
    }

    #[test]
    fn the_norm_of_each_gradient_is_clipped() {
        let device = Device::flex().autodiff();
        let net = net(&device);
        struct Lengths<'a>(&'a GradientsParams, Vec<f64>);
        impl ModuleVisitor for Lengths<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                self.1.extend(self.0.get::<D>(param.id).map(|gradient| squares(&gradient).sqrt()));
            }
        }
        let lengths = |gradients: &GradientsParams| {
            let mut lengths = Lengths(gradients, Vec::new());
            net.visit(&mut lengths);
            lengths.1
        };
        let before = lengths(&gradients(&net, &device, 0));
        let mut sorted = before.clone();
        sorted.sort_by(f64::total_cmp);
        let most = sorted[sorted.len() / 2];
        let after = lengths(&clipped(&net, gradients(&net, &device, 0), None, Some(most)));
        for (before, after) in before.iter().zip(&after) {
            assert!((before.min(most) - after).abs() < 1e-6 * most, "{before} {after}");
        }
        assert!(before.iter().any(|&length| length > most));
    }
}
