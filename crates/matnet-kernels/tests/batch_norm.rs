//! Batch norm on every level against `f64`, and any number of threads against one.

mod common;

use common::{Numbers, agree, single, with_threads};
use matnet_kernels::{Activation, BatchNorm, BatchStatistics, Element, Level};

struct Case<E> {
    input: Vec<E>,
    scale: Vec<E>,
    shift: Vec<E>,
    gradient: Vec<E>,
    epsilon: E,
    activation: Activation,
    of_batch: bool,
}

impl<E: Element> Case<E> {
    /// Output, statistics and gradients.
    fn everything(&self, level: Level) -> Vec<Vec<E>> {
        let BatchStatistics { mean, variance } = BatchStatistics::of(level, &self.input, self.scale.len());
        let norm = BatchNorm {
            input: &self.input,
            scale: &self.scale,
            shift: &self.shift,
            mean: &mean,
            variance: &variance,
            epsilon: self.epsilon,
            activation: self.activation,
        };
        let output = norm.forward(level);
        let gradients = norm.backward(level, &output, &self.gradient, self.of_batch);
        vec![output, gradients.input, gradients.scale, gradients.shift, mean, variance]
    }
}

fn case(numbers: &mut Numbers, at: usize, batch: usize, entries: usize) -> Case<f64> {
    Case {
        input: numbers.list(batch * entries),
        scale: numbers.list(entries),
        shift: numbers.list(entries),
        gradient: numbers.list(batch * entries),
        epsilon: 0.1,
        activation: [Activation::Identity, Activation::Sigmoid, Activation::Tanh][at % 3],
        of_batch: at.is_multiple_of(2),
    }
}

fn singles(case: &Case<f64>) -> Case<f32> {
    Case {
        input: single(&case.input),
        scale: single(&case.scale),
        shift: single(&case.shift),
        gradient: single(&case.gradient),
        epsilon: case.epsilon as f32,
        activation: case.activation,
        of_batch: case.of_batch,
    }
}

#[test]
fn batch_norm_agrees_on_every_level() {
    let mut numbers = Numbers(21);
    for at in 0..60 {
        let (batch, entries) = (1 + numbers.below(70), 1 + numbers.below([20, 700, 2600][at / 2 % 3]));
        let case = case(&mut numbers, at, batch, entries);
        let singles = singles(&case);
        let what = format!("batch {batch}, {entries} entries");
        let want = case.everything(Level::PORTABLE);
        agree(&what, &Level::available(), &want, |level| singles.everything(level));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit_of_batch_norm() {
    let mut numbers = Numbers(22);
    for (at, (batch, entries)) in [(100, 2500), (300, 50), (2, 40_000)].into_iter().enumerate() {
        let case = singles(&case(&mut numbers, at, batch, entries));
        let one = with_threads(1, || case.everything(Level::best()));
        for threads in [2, 3, 8] {
            let more = with_threads(threads, || case.everything(Level::best()));
            assert!(more == one, "{threads} threads give other bits than one");
        }
    }
}

#[test]
#[should_panic(expected = "whole samples")]
fn samples_are_whole() {
    BatchStatistics::of(Level::best(), &[1.0_f32; 7], 2);
}
