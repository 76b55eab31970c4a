//! Sequences of different lengths in one batch against PyTorch's packed sequences: the output and every gradient, on the
//! files in `packed_reference/`, which `peers/make-packed-reference` made. Their padding holds numbers that must not count.

mod common;

use common::device;
use common::reference::{Collect, each, weights_of};
use matnet::net::Sequences;
use matnet::prelude::*;
use matnet::weights;

#[test]
fn packed_sequences() {
    each("packed_reference", "packed", 12, |reference| {
        let config: SequenceClassifierConfig = reference.config();
        let net = config.init(&mut SeededRng::new(0, "parity"), &device()).unwrap();
        let net = weights::load_safetensors(net, &weights_of(reference))
            .unwrap_or_else(|error| panic!("{}: {error}", reference.name));
        let lengths: Vec<usize> = serde_json::from_value(reference.about["lengths"].clone()).unwrap();
        let input = reference.input::<4>("input");
        let output = net.forward(Sequences::padded(input.clone(), lengths), &mut Mode::Eval);
        let gradients = reference.weigh("output", output).backward();
        reference.compare_gradient("input", &input, &gradients);
        let mut visitor = Collect { gradients: &gradients, found: Vec::new() };
        net.visit(&mut visitor);
        for ((name, _), gradient) in weights::named(&net).into_iter().zip(visitor.found) {
            let gradient = gradient.unwrap_or_else(|| panic!("{}: no gradient of {name}", reference.name));
            reference.compare(&format!("grad.weight.{name}"), gradient);
        }
    });
}
