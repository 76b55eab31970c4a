//! What must hold between nets: the vector net is the matrix net of one column, a batch is its samples, and
//! the sizes of the paper's nets.

mod common;

use std::collections::HashMap;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use common::{between, device, distance, random, shaken, with_numbers};
use matnet::layer::{Output, Top};
use matnet::ops::mat1;
use matnet::prelude::*;

#[test]
fn stacking_the_columns_turns_two_maps_into_their_kronecker_product() {
    // vec(UᵀXV) = (V⊗U)ᵀ vec(X), vec stacking the columns.
    let mut stream = Stream::new(0, "kronecker");
    for _ in 0..20 {
        let [r, c, r2, c2] = std::array::from_fn(|_| between(&mut stream, 1, 6));
        let x = random::<3>(&mut stream, [1, r, c]);
        let (u, v) = (random::<2>(&mut stream, [r, r2]), random::<2>(&mut stream, [c, c2]));
        let y = mat1(x.clone(), u.clone(), v.clone(), None, Activation::Identity);
        // Entry (i, j) of X stands at j·r + i.
        let kronecker = v.reshape([c, 1, c2, 1]) * u.reshape([1, r, 1, r2]);
        let kronecker: Tensor<2> = kronecker.reshape([c * r, c2 * r2]);
        let stacked = |m: Tensor<3>, size: usize| m.swap_dims(1, 2).reshape([1, size]);
        let expected = stacked(x, r * c).matmul(kronecker);
        assert!(distance(stacked(y, r2 * c2), expected) < 1e-12);
    }
}

/// The matrix net of one column with the numbers of the vector net: V = \[1\], U = W.
fn one_column<M: Module, N: Module>(matrix: M, vector: &N) -> M {
    let numbers: HashMap<String, Vec<f64>> = matnet::weights::named(vector)
        .into_iter()
        .map(|(name, data)| (name, data.as_slice::<f64>().unwrap().to_vec()))
        .collect();
    with_numbers(matrix, |name, shape| {
        if name.ends_with("col_map") {
            return vec![1.0; shape.iter().product()];
        }
        let twin = match name.rsplit_once('.') {
            Some((path, "row_map")) => format!("{path}.weight"),
            Some((path, "input_row_map")) => format!("{path}.input_map"),
            Some((path, "state_row_map")) => format!("{path}.state_map"),
            _ => name.to_owned(),
        };
        numbers.get(&twin).unwrap_or_else(|| panic!("{twin} for {name}")).clone()
    })
}

fn cells() -> [CellKind; 3] {
    [CellKind::Rnn, CellKind::Lstm, CellKind::Gru]
}

#[test]
fn a_matrix_net_of_one_column_is_the_vector_net() {
    let (device, mut stream) = (device(), Stream::new(0, "column"));
    let train = || Mode::train(Stream::new(5, "dropout"));

    for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
        for (batch_norm, tied) in [(false, false), (true, false), (false, true)] {
            let config = |form: Form, hidden: &[usize]| {
                FeedForwardConfig::new([7, 1], hidden.to_vec(), 3)
                    .with_form(form)
                    .with_depth(Some(4))
                    .with_skip(skip)
                    .with_batch_norm(batch_norm)
                    .with_tied(tied)
                    .with_dropout(0.2)
            };
            let vector = config(Form::Vector, &[5]).init(&mut stream, &device).unwrap();
            let vector = shaken(vector, &mut stream, 0.2);
            let matrix =
                one_column(config(Form::Matrix, &[5, 1]).init(&mut stream, &device).unwrap(), &vector);
            let x = random(&mut stream, [4, 7, 1]);
            let (a, b) = (vector.forward(x.clone(), &mut train()), matrix.forward(x.clone(), &mut train()));
            assert!(distance(a, b) < 1e-12, "{skip:?} in training");
            let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x, &mut Mode::Eval));
            assert!(distance(a, b) < 1e-12, "{skip:?} in use");
        }
    }

    let config = |hidden: &[usize]| AutoEncoderConfig::new([7, 1], hidden.to_vec(), 6);
    let vector = config(&[4]).with_form(Form::Vector).init(&mut stream, &device).unwrap();
    let vector = shaken(vector, &mut stream, 0.2);
    let matrix = one_column(config(&[4, 1]).init(&mut stream, &device).unwrap(), &vector);
    let x = random(&mut stream, [4, 7, 1]);
    assert!(distance(vector.forward(x.clone(), &mut train()), matrix.forward(x, &mut train())) < 1e-12);

    for cell in cells() {
        let x = random::<4>(&mut stream, [3, 4, 6, 1]);

        let config = |form, hidden: &[usize], via: &[usize]| {
            SequenceClassifierConfig::new([6, 1], hidden.to_vec(), 2)
                .with_form(form)
                .with_cell(cell)
                .with_layers(2)
                .with_bidirectional(true)
                .with_via(Some(via.to_vec()))
        };
        let vector = config(Form::Vector, &[5], &[3]).init(&mut stream, &device).unwrap();
        let vector = shaken(vector, &mut stream, 0.2);
        let matrix = config(Form::Matrix, &[5, 1], &[3, 1]).init(&mut stream, &device).unwrap();
        let matrix = one_column(matrix, &vector);
        let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x.clone(), &mut Mode::Eval));
        assert!(distance(a, b) < 1e-12, "{cell:?} classifier");

        let config = |form, hidden: &[usize]| {
            SequenceLabellerConfig::new([6, 1], hidden.to_vec(), [4, 1]).with_form(form).with_cell(cell)
        };
        let vector = config(Form::Vector, &[5]).init(&mut stream, &device).unwrap();
        let vector = shaken(vector, &mut stream, 0.2);
        let matrix = one_column(config(Form::Matrix, &[5, 1]).init(&mut stream, &device).unwrap(), &vector);
        let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x.clone(), &mut Mode::Eval));
        assert!(distance(a, b) < 1e-12, "{cell:?} labeller");

        for start in [Start::Zeros, Start::Encoder] {
            let config = |form, hidden: &[usize]| {
                let config = Seq2SeqConfig::new([6, 1], hidden.to_vec(), 3).with_form(form);
                config.with_cell(cell).with_start(start).with_layers(2)
            };
            let vector = config(Form::Vector, &[5]).init(&mut stream, &device).unwrap();
            let vector = shaken(vector, &mut stream, 0.2);
            let matrix = config(Form::Matrix, &[5, 1]).init(&mut stream, &device).unwrap();
            let matrix = one_column(matrix, &vector);
            let (a, b) =
                (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x.clone(), &mut Mode::Eval));
            assert!(distance(a, b) < 1e-12, "{cell:?} seq2seq from {start:?}");
        }
    }
}

/// The outputs for a batch, and those for its samples one by one.
fn batch_equals_single<N, const I: usize, const O: usize>(label: &str, net: N, input: [usize; I])
where
    N: Net<Input = Tensor<I>, Output = Tensor<O>>,
{
    let mut stream = Stream::new(9, label);
    let net = shaken(net, &mut stream, 0.2);
    let x = random(&mut stream, input);
    let whole = net.forward(x.clone(), &mut Mode::Eval);
    let single = (0..input[0]).map(|i| net.forward(x.clone().narrow(0, i, 1), &mut Mode::Eval)).collect();
    assert!(distance(whole, Tensor::cat(single, 0)) < 1e-12, "{label}");
}

#[test]
fn a_batch_gives_what_its_samples_give() {
    let (device, mut stream) = (device(), Stream::new(0, "batch"));
    for (form, hidden) in [(Form::Matrix, vec![5, 4]), (Form::Vector, vec![9])] {
        for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
            let config = FeedForwardConfig::new([6, 3], hidden.clone(), 3).with_form(form).with_skip(skip);
            let config = config.with_depth(Some(3)).with_batch_norm(true).with_dropout(0.5);
            let net = config.init(&mut stream, &device).unwrap();
            batch_equals_single("classes", net, [4, 6, 3]);
        }
        let net = FeedForwardConfig::new([6, 3], hidden.clone(), [2, 5]).with_form(form);
        batch_equals_single("matrices", net.init(&mut stream, &device).unwrap(), [4, 6, 3]);
        let net = AutoEncoderConfig::new([6, 3], hidden.clone(), 4).with_form(form);
        batch_equals_single("autoencoder", net.init(&mut stream, &device).unwrap(), [4, 6, 3]);
        for cell in cells() {
            let input = [3, 4, 6, 3];
            let config = SequenceClassifierConfig::new([6, 3], hidden.clone(), 2).with_form(form);
            let config = config.with_cell(cell).with_bidirectional(true).with_layers(2).with_dropout(0.5);
            batch_equals_single("classifier", config.init(&mut stream, &device).unwrap(), input);
            let config = SequenceLabellerConfig::new([6, 3], hidden.clone(), 2).with_form(form);
            let net = config.with_cell(cell).init(&mut stream, &device).unwrap();
            batch_equals_single("labeller of classes", net, input);
            let config = SequenceLabellerConfig::new([6, 3], hidden.clone(), [2, 2]).with_form(form);
            let net = config.with_cell(cell).init(&mut stream, &device).unwrap();
            batch_equals_single("labeller of matrices", net, input);
            let config = Seq2SeqConfig::new([6, 3], hidden.clone(), 2).with_form(form).with_cell(cell);
            batch_equals_single("seq2seq", config.init(&mut stream, &device).unwrap(), input);
        }
    }
}

#[test]
fn the_nets_of_the_paper_have_their_sizes() {
    let (device, mut stream) = (Device::flex(), Stream::new(0, "sizes"));
    let mut count = |config: SequenceClassifierConfig| {
        config.with_init(Init::Normal).init(&mut stream, &device).unwrap().num_params()
    };
    // EEG: an LSTM, a map to 10×10 or 100, one logit.
    let matrix = SequenceClassifierConfig::new([64, 32], [100, 100], 1).with_via(Some(vec![10, 10]));
    assert_eq!(count(matrix), 160_601);
    let vector = |input| {
        let config = SequenceClassifierConfig::new(input, [200], 1).with_form(Form::Vector);
        config.with_via(Some(vec![100]))
    };
    assert_eq!(count(vector([63, 33])), 1_844_201);
    assert_eq!(count(vector([64, 32])), 1_819_401);
    // Moving MNIST: encoder and decoder RNN and a map to the frame.
    let mut count = |config: Seq2SeqConfig| {
        config.with_init(Init::Normal).init(&mut stream, &device).unwrap().num_params()
    };
    assert_eq!(count(Seq2SeqConfig::new([64, 64], [200, 200], 5)), 375_296);
    assert_eq!(count(Seq2SeqConfig::new([64, 64], [2000], 5).with_form(Form::Vector)), 28_392_096);
}

#[test]
fn a_seed_decides_everything() {
    let device = Device::flex();
    let config = FeedForwardConfig::new([6, 5], [4, 4], 3).with_depth(Some(3)).with_dropout(0.5);
    let x = Tensor::<3>::ones([2, 6, 5], &device);
    let run = |seed| {
        let net = config.init(&mut Stream::new(seed, "init"), &device).unwrap();
        net.forward(x.clone(), &mut Mode::train(Stream::new(seed, "dropout"))).into_data()
    };
    run(1).assert_eq(&run(1), true);
    assert_ne!(run(1).as_bytes(), run(2).as_bytes());
}

#[test]
fn tied_layers_have_one_set_of_parameters() {
    let (device, mut stream) = (Device::flex(), Stream::new(0, "tied"));
    let net = FeedForwardConfig::new([6, 5], [4, 4], 3).with_depth(Some(30)).with_tied(true);
    let deep = net.init(&mut stream, &device).unwrap().num_params();
    let two = net.with_depth(Some(2)).with_tied(false).init(&mut stream, &device).unwrap().num_params();
    assert_eq!(deep, two);
}

#[test]
fn scores_per_step_are_the_scores_of_each_step() {
    let (device, mut stream) = (device(), Stream::new(0, "steps"));
    let top = 3.top(Form::Matrix, [4, 5], Activation::Identity, Init::Normal, &mut stream, &device).unwrap();
    let top = shaken(top, &mut stream, 0.1);
    let states = random::<4>(&mut stream, [2, 3, 4, 5]);
    let all = top.per_step(states.clone(), &mut Mode::Eval);
    let second = top.forward(states.narrow(1, 1, 1).squeeze_dim::<3>(1), &mut Mode::Eval);
    assert!(distance(all.narrow(1, 1, 1).squeeze_dim::<2>(1), second) < 1e-12);
}
