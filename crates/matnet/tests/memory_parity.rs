//! Memory nets against PyTorch: the output and every gradient, on the weights and stories of the files in
//! `reference/memory/`, which `peers/make-memory-reference` made.

mod common;

use burn::tensor::Gradients;
use common::device;
use common::reference::{Collect, Reference, each, weights_of};
use matnet::prelude::*;
use matnet::weights;

fn stories(reference: &Reference) -> Stories {
    let (shape, words) = reference.numbers("input.words").unwrap();
    let (_, questions) = reference.numbers("input.questions").unwrap();
    let whole = |numbers: Vec<f32>| numbers.into_iter().map(|number| number as u32).collect::<Vec<_>>();
    Stories::from_padded([shape[0], shape[1], shape[2]], &whole(words), &whole(questions))
}

fn compare<M: Module>(reference: &Reference, net: &M, gradients: &Gradients) {
    let mut collect = Collect { gradients, found: Vec::new() };
    net.visit(&mut collect);
    for (name, gradient) in weights::names(net).iter().zip(collect.found) {
        let gradient = gradient.unwrap_or_else(|| panic!("{}: no gradient of {name}", reference.name));
        reference.compare(&format!("grad.weight.{name}"), gradient);
    }
}

#[test]
fn end_to_end() {
    each("reference/memory", "end_to_end", 9, |reference| {
        let config: EndToEndConfig = reference.config();
        let net = config.init(&mut SeededRng::new(1, "init"), &device()).unwrap();
        let net = weights::load_safetensors(net, &weights_of(reference)).unwrap();
        let net = net.with_softmax(reference.about["softmax"] != false);
        let output = net.forward(stories(reference), &mut Mode::Eval);
        let gradients = reference.weigh("output", output).backward();
        compare(reference, &net, &gradients);
    });
}

#[test]
fn memory_network() {
    each("reference/memory", "memory_network", 2, |reference| {
        let config: MemoryNetworkConfig = reference.config();
        let net = config.init(&mut SeededRng::new(1, "init"), &device()).unwrap();
        let net = weights::load_safetensors(net, &weights_of(reference)).unwrap();
        let (shape, facts) = reference.numbers("input.facts").unwrap();
        let known =
            |row: &[f32]| row.iter().filter(|&&fact| fact >= 0.0).map(|&fact| fact as usize).collect();
        let facts: Vec<Vec<usize>> = facts.chunks(shape[1]).map(known).collect();
        let answers: Vec<u32> =
            reference.numbers("input.answers").unwrap().1.iter().map(|&answer| answer as u32).collect();
        let supervised = net.supervised_loss(&stories(reference), &facts, &answers, &mut Mode::Eval).unwrap();
        let gradients = reference.weigh("output", supervised.loss).backward();
        compare(reference, &net, &gradients);
    });
}
