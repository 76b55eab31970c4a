//! Operations and nets against PyTorch: the output and every gradient, on the weights and inputs of the
//! files in `reference/`, which `peers/make-reference` made.

mod common;

use burn::tensor::Tensor;
use common::device;
use common::reference::{Collect, Reference, each, weights_of};
use matnet::ops::{self, Cell, Keep, Mat2Maps, MatState, RecurrentMaps, Steps};
use matnet::prelude::*;
use matnet::weights;

#[test]
fn mat1() {
    each("reference", "mat1", 5, |reference| {
        let input: Tensor<3> = reference.input("input");
        let [row_map, col_map] = ["row_map", "col_map"].map(|key| reference.input::<2>(key));
        let bias: Option<Tensor<2>> = reference.leaf("input.bias");
        let activation = reference.option("activation").unwrap();
        let output = ops::mat1(input.clone(), row_map.clone(), col_map.clone(), bias.clone(), activation);
        let gradients = reference.weigh("output", output).backward();
        reference.compare_gradient("input", &input, &gradients);
        reference.compare_gradient("row_map", &row_map, &gradients);
        reference.compare_gradient("col_map", &col_map, &gradients);
        if let Some(bias) = bias {
            reference.compare_gradient("bias", &bias, &gradients);
        }
    });
}

#[test]
fn mat2() {
    each("reference", "mat2", 5, |reference| {
        let (p, q): (Tensor<3>, Tensor<3>) = (reference.input("p"), reference.input("q"));
        let maps = Mat2Maps {
            p_row_map: reference.input("p_row_map"),
            p_col_map: reference.input("p_col_map"),
            q_row_map: reference.input("q_row_map"),
            q_col_map: reference.input("q_col_map"),
            bias: reference.leaf("input.bias"),
        };
        let activation = reference.option("activation").unwrap();
        let output = ops::mat2(p.clone(), q.clone(), maps.clone(), activation);
        let gradients = reference.weigh("output", output).backward();
        for (key, leaf) in [("p", &p), ("q", &q)] {
            reference.compare_gradient(key, leaf, &gradients);
        }
        for (key, leaf) in [
            ("p_row_map", Some(&maps.p_row_map)),
            ("p_col_map", Some(&maps.p_col_map)),
            ("q_row_map", Some(&maps.q_row_map)),
            ("q_col_map", Some(&maps.q_col_map)),
            ("bias", maps.bias.as_ref()),
        ] {
            if let Some(leaf) = leaf {
                reference.compare_gradient(key, leaf, &gradients);
            }
        }
    });
}

#[test]
fn recurrences() {
    each("reference", "recurrent", 21, |reference| {
        let cell: Cell = reference.option("cell").unwrap();
        let keep: String = reference.option("keep").unwrap();
        let keep = if keep == "all" { Keep::All } else { Keep::Last };
        let maps = RecurrentMaps {
            input_row_map: reference.input("input_row_map"),
            input_col_map: reference.input("input_col_map"),
            state_row_map: reference.input("state_row_map"),
            state_col_map: reference.input("state_col_map"),
            bias: reference.input("bias"),
        };
        let start = reference
            .leaf("input.hidden")
            .map(|hidden| MatState { hidden, cell_state: reference.leaf("input.cell_state") });
        let steps = match reference.option("constant") {
            Some(time) => Steps::Constant(reference.input("input"), time),
            None => Steps::from(reference.input::<4>("input")),
        };
        let (states, end) = ops::recurrent(cell, steps.clone(), start.clone(), maps.clone(), keep);
        let mut loss = reference.weigh("states", states) + reference.weigh("hidden", end.hidden);
        if let Some(cell_state) = end.cell_state {
            loss = loss + reference.weigh("cell_state", cell_state);
        }
        let gradients = loss.backward();
        match &steps {
            Steps::Sequence(input) => reference.compare_gradient("input", input.values(), &gradients),
            Steps::Constant(input, _) => reference.compare_gradient("input", input, &gradients),
        }
        for (key, leaf) in [
            ("input_row_map", &maps.input_row_map),
            ("input_col_map", &maps.input_col_map),
            ("state_row_map", &maps.state_row_map),
            ("state_col_map", &maps.state_col_map),
            ("bias", &maps.bias),
        ] {
            reference.compare_gradient(key, leaf, &gradients);
        }
        if let Some(start) = start {
            reference.compare_gradient("hidden", &start.hidden, &gradients);
            if let Some(cell_state) = start.cell_state {
                reference.compare_gradient("cell_state", &cell_state, &gradients);
            }
        }
    });
}

#[test]
fn feed_forward() {
    each("reference", "feedforward", 22, |reference| {
        if gives_matrices(reference) {
            let config: FeedForwardConfig<[usize; 2]> = reference.config();
            check_net(reference, config.init(&mut rng(), &device()));
        } else {
            let config: FeedForwardConfig<usize> = reference.config();
            check_net(reference, config.init(&mut rng(), &device()));
        }
    });
}

#[test]
fn auto_encoder() {
    each("reference", "autoencoder", 4, |reference| {
        let config: AutoEncoderConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()));
    });
}

#[test]
fn sequence_classifier() {
    each("reference", "sequence_classifier", 6, |reference| {
        let config: SequenceClassifierConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()));
    });
}

#[test]
fn sequence_labeller() {
    each("reference", "sequence_labeller", 6, |reference| {
        if gives_matrices(reference) {
            let config: SequenceLabellerConfig<[usize; 2]> = reference.config();
            check_net(reference, config.init(&mut rng(), &device()));
        } else {
            let config: SequenceLabellerConfig<usize> = reference.config();
            check_net(reference, config.init(&mut rng(), &device()));
        }
    });
}

#[test]
fn seq2seq() {
    each("reference", "seq2seq", 6, |reference| {
        let config: Seq2SeqConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()));
    });
}

#[test]
fn turing_machine() {
    each("reference", "turing_machine", 4, |reference| {
        let config: TuringMachineConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()));
    });
}

fn gives_matrices(reference: &Reference) -> bool {
    reference.about["config"]["output"].is_array()
}

/// What is drawn from it is replaced or, with no noise and no dropout, not drawn.
fn rng() -> SeededRng {
    SeededRng::new(0, "parity")
}

/// A net with the reference's weights: output, gradient of the input and of every parameter, and what a
/// pass in train mode leaves behind.
fn check_net<N, const I: usize, const O: usize>(reference: &Reference, net: Result<N, ConfigError>)
where
    N: Net<Input: From<Tensor<I>>, Output = Tensor<O>>,
{
    let net = net.unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let net = weights::load_safetensors(net, &weights_of(reference))
        .unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let mut mode = if reference.about["mode"] == "train" { Mode::train(rng()) } else { Mode::Eval };
    let input = reference.input::<I>("input");
    let output = net.forward(input.clone().into(), &mut mode);
    let gradients = reference.weigh("output", output).backward();
    reference.compare_gradient("input", &input, &gradients);

    let mut visitor = Collect { gradients: &gradients, found: Vec::new() };
    net.visit(&mut visitor);
    let named = weights::named(&net);
    assert_eq!(named.len(), visitor.found.len());
    for ((name, value), gradient) in named.into_iter().zip(visitor.found) {
        match gradient {
            Some(gradient) => reference.compare(&format!("grad.weight.{name}"), gradient),
            None => assert!(name.contains("running_"), "{}: no gradient of {name}", reference.name),
        }
        if name.contains("running_") && mode.is_train() {
            reference.compare(&format!("after.{name}"), value);
        }
    }
}
