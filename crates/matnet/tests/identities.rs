//! What must hold between nets: the vector net is the matrix net of one column, a batch is its samples, and
//! the sizes of the paper's nets.

mod common;

use std::collections::HashMap;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use common::{between, device, distance, random, shaken, with_numbers};
use matnet::ops::{Keep, Steps, mat1};
use matnet::prelude::*;

#[test]
fn stacking_the_columns_turns_two_maps_into_their_kronecker_product() {
    // vec(UᵀXV) = (V⊗U)ᵀ vec(X), vec stacking the columns.
    let mut rng = SeededRng::new(0, "kronecker");
    for _ in 0..20 {
        let [r, c, r2, c2] = std::array::from_fn(|_| between(&mut rng, 1, 6));
        let x = random::<3>(&mut rng, [1, r, c]);
        let (u, v) = (random::<2>(&mut rng, [r, r2]), random::<2>(&mut rng, [c, c2]));
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
    let (device, mut rng) = (device(), SeededRng::new(0, "column"));
    let train = || Mode::train(SeededRng::new(5, "dropout"));

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
            let vector = config(Form::Vector, &[5]).init(&mut rng, &device).unwrap();
            let vector = shaken(vector, &mut rng, 0.2);
            let matrix = one_column(config(Form::Matrix, &[5, 1]).init(&mut rng, &device).unwrap(), &vector);
            let x = random(&mut rng, [4, 7, 1]);
            let (a, b) = (vector.forward(x.clone(), &mut train()), matrix.forward(x.clone(), &mut train()));
            assert!(distance(a, b) < 1e-12, "{skip:?} in training");
            let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x, &mut Mode::Eval));
            assert!(distance(a, b) < 1e-12, "{skip:?} in use");
        }
    }

    let config = |hidden: &[usize]| AutoEncoderConfig::new([7, 1], hidden.to_vec(), 6);
    let vector = config(&[4]).with_form(Form::Vector).init(&mut rng, &device).unwrap();
    let vector = shaken(vector, &mut rng, 0.2);
    let matrix = one_column(config(&[4, 1]).init(&mut rng, &device).unwrap(), &vector);
    let x = random(&mut rng, [4, 7, 1]);
    assert!(distance(vector.forward(x.clone(), &mut train()), matrix.forward(x, &mut train())) < 1e-12);

    for cell in cells() {
        let x = Sequences::padded(random(&mut rng, [3, 4, 6, 1]), [4, 1, 3]);

        let config = |form, hidden: &[usize], projection: &[usize]| {
            SequenceClassifierConfig::new([6, 1], hidden.to_vec(), 2)
                .with_form(form)
                .with_cell(cell)
                .with_layers(2)
                .with_bidirectional(true)
                .with_projection(Some(projection.to_vec()))
        };
        let vector = config(Form::Vector, &[5], &[3]).init(&mut rng, &device).unwrap();
        let vector = shaken(vector, &mut rng, 0.2);
        let matrix = config(Form::Matrix, &[5, 1], &[3, 1]).init(&mut rng, &device).unwrap();
        let matrix = one_column(matrix, &vector);
        let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x.clone(), &mut Mode::Eval));
        assert!(distance(a, b) < 1e-12, "{cell:?} classifier");

        let config = |form, hidden: &[usize]| {
            SequenceLabellerConfig::new([6, 1], hidden.to_vec(), [4, 1]).with_form(form).with_cell(cell)
        };
        let vector = config(Form::Vector, &[5]).init(&mut rng, &device).unwrap();
        let vector = shaken(vector, &mut rng, 0.2);
        let matrix = one_column(config(Form::Matrix, &[5, 1]).init(&mut rng, &device).unwrap(), &vector);
        let (a, b) = (vector.forward(x.clone(), &mut Mode::Eval), matrix.forward(x.clone(), &mut Mode::Eval));
        assert!(distance(a, b) < 1e-12, "{cell:?} labeller");

        for start in [DecoderState::Zeros, DecoderState::Encoder] {
            let config = |form, hidden: &[usize]| {
                let config = Seq2SeqConfig::new([6, 1], hidden.to_vec(), 3).with_form(form);
                config.with_cell(cell).with_decoder_state(start).with_layers(2)
            };
            let vector = config(Form::Vector, &[5]).init(&mut rng, &device).unwrap();
            let vector = shaken(vector, &mut rng, 0.2);
            let matrix = config(Form::Matrix, &[5, 1]).init(&mut rng, &device).unwrap();
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
    N: Net<Input: From<Tensor<I>>, Output = Tensor<O>>,
{
    let mut rng = SeededRng::new(9, label);
    let net = shaken(net, &mut rng, 0.2);
    let x = random(&mut rng, input);
    let run = |x: Tensor<I>| net.forward(x.into(), &mut Mode::Eval);
    let whole = run(x.clone());
    let single = (0..input[0]).map(|i| run(x.clone().narrow(0, i, 1))).collect();
    assert!(distance(whole, Tensor::cat(single, 0)) < 1e-12, "{label}");
}

#[test]
fn a_batch_gives_what_its_samples_give() {
    let (device, mut rng) = (device(), SeededRng::new(0, "batch"));
    for (form, hidden) in [(Form::Matrix, vec![5, 4]), (Form::Vector, vec![9])] {
        for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
            let config = FeedForwardConfig::new([6, 3], hidden.clone(), 3).with_form(form).with_skip(skip);
            let config = config.with_depth(Some(3)).with_batch_norm(true).with_dropout(0.5);
            let net = config.init(&mut rng, &device).unwrap();
            batch_equals_single("classes", net, [4, 6, 3]);
        }
        let net = FeedForwardConfig::new([6, 3], hidden.clone(), [2, 5]).with_form(form);
        batch_equals_single("matrices", net.init(&mut rng, &device).unwrap(), [4, 6, 3]);
        let net = AutoEncoderConfig::new([6, 3], hidden.clone(), 4).with_form(form);
        batch_equals_single("autoencoder", net.init(&mut rng, &device).unwrap(), [4, 6, 3]);
        for cell in cells() {
            let input = [3, 4, 6, 3];
            let config = SequenceClassifierConfig::new([6, 3], hidden.clone(), 2).with_form(form);
            let config = config.with_cell(cell).with_bidirectional(true).with_layers(2).with_dropout(0.5);
            batch_equals_single("classifier", config.init(&mut rng, &device).unwrap(), input);
            let config = SequenceRegressorConfig::new([6, 3], hidden.clone(), [2, 2]).with_form(form);
            let net = config.with_cell(cell).init(&mut rng, &device).unwrap();
            batch_equals_single("regressor", net, input);
            let config = SequenceLabellerConfig::new([6, 3], hidden.clone(), 2).with_form(form);
            let net = config.with_cell(cell).init(&mut rng, &device).unwrap();
            batch_equals_single("labeller of classes", net, input);
            let config = SequenceLabellerConfig::new([6, 3], hidden.clone(), [2, 2]).with_form(form);
            let net = config.with_cell(cell).init(&mut rng, &device).unwrap();
            batch_equals_single("labeller of matrices", net, input);
            let config = Seq2SeqConfig::new([6, 3], hidden.clone(), 2).with_form(form).with_cell(cell);
            batch_equals_single("seq2seq", config.init(&mut rng, &device).unwrap(), input);
        }
    }
}

#[test]
fn the_nets_of_the_paper_have_their_sizes() {
    let (device, mut rng) = (Device::flex(), SeededRng::new(0, "sizes"));
    let mut count = |config: SequenceClassifierConfig| {
        config.with_init(Init::Normal).init(&mut rng, &device).unwrap().num_params()
    };
    // EEG: an LSTM, a map to 10×10 or 100, one logit.
    let matrix = SequenceClassifierConfig::new([64, 32], [100, 100], 1).with_projection(Some(vec![10, 10]));
    assert_eq!(count(matrix), 160_601);
    let vector = |input| {
        let config = SequenceClassifierConfig::new(input, [200], 1).with_form(Form::Vector);
        config.with_projection(Some(vec![100]))
    };
    assert_eq!(count(vector([63, 33])), 1_844_201);
    assert_eq!(count(vector([64, 32])), 1_819_401);
    // Moving MNIST: encoder and decoder RNN and a map to the frame.
    let mut count =
        |config: Seq2SeqConfig| config.with_init(Init::Normal).init(&mut rng, &device).unwrap().num_params();
    assert_eq!(count(Seq2SeqConfig::new([64, 64], [200, 200], 5)), 375_296);
    assert_eq!(count(Seq2SeqConfig::new([64, 64], [2000], 5).with_form(Form::Vector)), 28_392_096);
}

#[test]
fn a_seed_decides_everything() {
    let device = Device::flex();
    let config = FeedForwardConfig::new([6, 5], [4, 4], 3).with_depth(Some(3)).with_dropout(0.5);
    let x = Tensor::<3>::ones([2, 6, 5], &device);
    let run = |seed| {
        let net = config.init(&mut SeededRng::new(seed, "init"), &device).unwrap();
        net.forward(x.clone(), &mut Mode::train(SeededRng::new(seed, "dropout"))).into_data()
    };
    run(1).assert_eq(&run(1), true);
    assert_ne!(run(1).as_bytes(), run(2).as_bytes());
}

#[test]
fn tied_layers_have_one_set_of_parameters() {
    let (device, mut rng) = (Device::flex(), SeededRng::new(0, "tied"));
    let net = FeedForwardConfig::new([6, 5], [4, 4], 3).with_depth(Some(30)).with_tied(true);
    let deep = net.init(&mut rng, &device).unwrap().num_params();
    let two = net.with_depth(Some(2)).with_tied(false).init(&mut rng, &device).unwrap().num_params();
    assert_eq!(deep, two);
}

#[test]
fn a_sequence_is_its_steps() {
    let (device, mut rng) = (device(), SeededRng::new(0, "steps"));
    for (form, input, hidden) in [(Form::Matrix, [4, 3], vec![5, 2]), (Form::Vector, [4, 1], vec![5])] {
        for kind in cells() {
            let config = RecurrentConfig::new(input, hidden.clone()).with_form(form).with_cell(kind);
            let layer = config.init(&mut rng, &device).unwrap();
            let cell = shaken(layer, &mut rng, 0.2).layer.remove(0);
            let x = random::<4>(&mut rng, [2, 3, input[0], input[1]]);
            let (states, end) = cell.sequence(Steps::from(x.clone()), None, Keep::All);
            let mut state = cell.zeros(2);
            for t in 0..3 {
                let at = |all: &Tensor<4>| all.clone().narrow(1, t, 1).squeeze_dim::<3>(1);
                state = cell.step(at(&x), state);
                assert!(distance(state.hidden.clone(), at(&states)) < 1e-12, "{form:?} {kind:?} step {t}");
            }
            assert!(distance(state.hidden, end.hidden) < 1e-12);
            assert_eq!(state.cell_state.is_some(), kind == CellKind::Lstm);
        }
    }
}

#[test]
fn both_directions_read_the_same_sequence() {
    let (device, mut rng) = (device(), SeededRng::new(0, "directions"));
    let config = RecurrentConfig::new([4, 3], [5, 2]).with_bidirectional(true);
    let layer = shaken(config.init(&mut rng, &device).unwrap(), &mut rng, 0.2);
    let x = random::<4>(&mut rng, [2, 3, 4, 3]);
    let (states, ends) = layer.forward(Steps::from(x.clone()), None, Keep::All, &mut Mode::Eval);
    assert_eq!(states.dims(), [2, 3, 10, 2]);
    let (back, end) = layer.backward[0].sequence(Steps::from(x.clone().flip([1])), None, Keep::All);
    assert!(distance(states.clone().narrow(2, 5, 5), back.flip([1])) < 1e-12);
    assert!(distance(ends[1].hidden.clone(), end.hidden) < 1e-12);
    // What the head of a classifier takes: both chains after they have read everything.
    let (last, _) = layer.forward(Steps::from(x), None, Keep::Last, &mut Mode::Eval);
    let both = Tensor::cat(vec![ends[0].hidden.clone(), ends[1].hidden.clone()], 1);
    assert!(distance(last.squeeze_dim::<3>(1), both) < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let message = |run: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        panic.downcast_ref::<String>().expect("a message").clone()
    };
    let (device, mut rng) = (Device::flex(), SeededRng::new(0, "refused"));
    for (form, hidden) in [(Form::Matrix, vec![4, 4]), (Form::Vector, vec![4])] {
        let net = FeedForwardConfig::new([6, 5], hidden.clone(), 3).with_form(form);
        let net = net.init(&mut rng, &device).unwrap();
        let run = |shape| message(&|| drop(net.forward(Tensor::ones(shape, &device), &mut Mode::Eval)));
        assert!(run([2, 5, 6]).contains("built for matrices of 6×5, got 5×6"));
        assert!(run([0, 6, 5]).contains("empty"));
        let net = SequenceClassifierConfig::new([6, 5], hidden, 3).with_form(form);
        let net = net.init(&mut rng, &device).unwrap();
        let ones = |shape| Tensor::<4>::ones(shape, &device);
        let run = |shape| message(&|| drop(net.forward(ones(shape).into(), &mut Mode::Eval)));
        assert!(run([2, 3, 6, 6]).contains("built for matrices of 6×5, got 6×6"));
        assert!(run([2, 0, 6, 5]).contains("empty"));
    }
}

#[test]
fn running_statistics_are_not_counted_as_learned() {
    let config = FeedForwardConfig::new([6, 5], [4, 3], 2).with_batch_norm(true);
    let net = config.init(&mut SeededRng::new(0, "count"), &Device::flex()).unwrap();
    assert_eq!(matnet::weights::count(&net), 6 * 4 + 5 * 3 + 2 * 12 + 12 * 2 + 2);
    assert_eq!(net.num_params(), matnet::weights::count(&net) + 2 * 12);
}

#[test]
fn scores_per_step_are_the_scores_of_each_step() {
    let (device, mut rng) = (device(), SeededRng::new(0, "steps"));
    let head = 3.head(Form::Matrix, [4, 5], Activation::Identity, Init::Normal, &mut rng, &device).unwrap();
    let head = shaken(head, &mut rng, 0.1);
    let states = random::<4>(&mut rng, [2, 3, 4, 5]);
    let all = head.per_step(states.clone().into(), &mut Mode::Eval);
    let second = head.forward(states.narrow(1, 1, 1).squeeze_dim::<3>(1), &mut Mode::Eval);
    assert!(distance(all.narrow(1, 1, 1).squeeze_dim::<2>(1), second) < 1e-12);
}
