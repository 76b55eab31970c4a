//! Deep nets learn: thirty layers without batch norm, every kind of skip, and long chains over time.

mod common;

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Int, Tensor, TensorData};
use common::device;
use matnet::prelude::*;

/// Made-up digits: each class is a random pattern of ones, seen through noise.
struct Patterns {
    rng: SeededRng,
    patterns: Vec<Vec<f32>>,
    side: usize,
}

impl Patterns {
    fn new(classes: usize, side: usize) -> Self {
        let mut rng = SeededRng::new(5, "patterns");
        let mut pattern = || (0..side * side).map(|_| f32::from(u8::from(rng.chance(0.2)))).collect();
        let patterns = (0..classes).map(|_| pattern()).collect();
        Self { rng, patterns, side }
    }

    fn batch(&mut self, size: usize) -> (Tensor<3>, Tensor<1, Int>) {
        let (mut images, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..size {
            let class = self.rng.below(self.patterns.len());
            let rng = &mut self.rng;
            images.extend(self.patterns[class].iter().map(|&p| (p + 0.5 * rng.normal() as f32).max(0.0)));
            classes.push(class as i32);
        }
        let images = TensorData::new(images, [size, self.side, self.side]);
        (Tensor::from_data(images, &device()), Tensor::from_data(TensorData::new(classes, [size]), &device()))
    }
}

/// The mean loss of the first and of the last five steps.
fn learn(config: FeedForwardConfig<usize>, steps: usize, batch: usize) -> (f32, f32) {
    let mut data = Patterns::new(config.output, config.input[0]);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device()).unwrap();
    let mut optimizer = AdamConfig::new().init();
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let loss = CrossEntropyLossConfig::new().init(&device());
    let mut losses = Vec::new();
    for _ in 0..steps {
        let (images, classes) = data.batch(batch);
        let step = loss.forward(net.forward(images, &mut mode), classes);
        losses.push(step.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(step.backward(), &net);
        net = optimizer.step(1e-3, net, gradients);
    }
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    (mean(&losses[..5]), mean(&losses[steps - 5..]))
}

fn thirty(hidden: impl Into<Hidden>) -> FeedForwardConfig<usize> {
    FeedForwardConfig::new([28, 28], hidden, 10).with_depth(Some(30))
}

#[test]
fn thirty_layers_of_20_by_20_learn_without_batch_norm_and_faster_from_orthogonal_maps() {
    let (first, orthogonal) = learn(thirty([20, 20]), 60, 32);
    assert!(orthogonal < 0.5 * first, "orthogonal: from {first} to {orthogonal}");
    let (_, normal) = learn(thirty([20, 20]).with_init(Init::Normal), 60, 32);
    assert!(orthogonal < normal, "orthogonal {orthogonal}, normal {normal}");
}

#[test]
fn thirty_layers_of_50_by_50_learn_without_batch_norm() {
    let (first, last) = learn(thirty([50, 50]), 50, 32);
    assert!(last < 0.5 * first, "from {first} to {last}");
}

#[test]
fn thirty_vector_layers_learn_without_batch_norm() {
    let (first, last) = learn(thirty([100]).with_form(Form::Vector), 60, 32);
    assert!(last < 0.5 * first, "from {first} to {last}");
}

#[test]
fn every_kind_of_skip_learns_at_depth_thirty() {
    // A highway hands on most of its input at first and so takes its time.
    for (skip, steps) in [(Skip::Gated, 80), (Skip::Highway, 120), (Skip::Residual, 80), (Skip::Dense, 60)] {
        let (first, last) = learn(thirty([12, 12]).with_skip(skip), steps, 32);
        assert!(last < 0.7 * first, "{skip:?}: from {first} to {last}");
    }
}

#[test]
fn seventy_layers_learn_with_batch_norm() {
    let (first, last) = learn(thirty([12, 12]).with_depth(Some(70)).with_batch_norm(true), 60, 32);
    assert!(last < 0.5 * first, "from {first} to {last}");
    let residual = thirty([12, 12]).with_skip(Skip::Residual).with_batch_norm(true);
    let (first, last) = learn(residual, 60, 32);
    assert!(first < 10.0 && last < 0.5 * first, "residual: from {first} to {last}");
}

#[test]
fn dropout_and_tying_learn() {
    let config = thirty([12, 12]).with_depth(Some(6)).with_dropout(0.1).with_input_dropout(0.1);
    let (first, last) = learn(config, 100, 32);
    assert!(last < 0.7 * first, "dropout: from {first} to {last}");
    let (first, last) = learn(thirty([12, 12]).with_depth(Some(8)).with_tied(true), 100, 32);
    assert!(last < 0.7 * first, "tied: from {first} to {last}");
}

#[test]
fn forty_layers_of_tied_autoencoder_learn() {
    let mut data = Patterns::new(4, 12);
    let config = AutoEncoderConfig::new([12, 12], [12, 12], 40).with_output_activation(Activation::Sigmoid);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device()).unwrap();
    let mut optimizer = AdamConfig::new().init();
    let mut mode = Mode::train(SeededRng::new(1, "noise"));
    let mut losses = Vec::new();
    for _ in 0..80 {
        let (images, _) = data.batch(16);
        let images = images.clamp(0.0, 1.0);
        let error = (net.forward(images.clone(), &mut mode) - images).powf_scalar(2.0).mean();
        losses.push(error.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(error.backward(), &net);
        net = optimizer.step(1e-3, net, gradients);
    }
    assert!(losses[79] < 0.8 * losses[0], "from {} to {}", losses[0], losses[79]);
}
