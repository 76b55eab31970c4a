//! Weights by name, stored and taken over again.

mod common;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use matnet::prelude::*;
use matnet::weights::{WeightsError, load_safetensors, named, to_safetensors};

fn names<M: Module>(module: &M) -> Vec<String> {
    named(module).into_iter().map(|(name, _)| name).collect()
}

/// A net saved and loaded into its twin of another seed has the same bits and gives the same bits.
fn survives<N, const I: usize, const O: usize>(build: impl Fn(&mut SeededRng) -> N, input: [usize; I])
where
    N: Net<Input: From<Tensor<I>>, Output = Tensor<O>>,
{
    let (mut rng, device) = (SeededRng::new(1, "init"), Device::flex());
    let net = build(&mut rng);
    let other = build(&mut rng);
    let bytes = to_safetensors(&net).unwrap();
    assert_ne!(bytes, to_safetensors(&other).unwrap());
    let loaded = load_safetensors(other, &bytes).unwrap();
    assert_eq!(bytes, to_safetensors(&loaded).unwrap());
    let count: usize = input.iter().product();
    let x: Vec<f32> = (0..count).map(|_| rng.normal() as f32).collect();
    let x = Tensor::<1>::from_floats(x.as_slice(), &device).reshape(input);
    let (a, b) = (net.forward(x.clone().into(), &mut Mode::Eval), loaded.forward(x.into(), &mut Mode::Eval));
    a.into_data().assert_eq(&b.into_data(), true);
}

#[test]
fn save_and_load_give_the_same_bits() {
    let device = Device::flex();
    for (form, hidden) in [(Form::Matrix, vec![4, 3]), (Form::Vector, vec![7])] {
        for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
            let config = FeedForwardConfig::new([6, 5], hidden.clone(), 3).with_form(form).with_skip(skip);
            let config = config.with_depth(Some(3)).with_batch_norm(true);
            survives(|rng| config.init(rng, &device).unwrap(), [2, 6, 5]);
        }
        let config = AutoEncoderConfig::new([6, 5], hidden.clone(), 4).with_form(form);
        survives(|rng| config.init(rng, &device).unwrap(), [2, 6, 5]);
        let config = SequenceClassifierConfig::new([6, 5], hidden.clone(), 3).with_form(form);
        let config = config.with_bidirectional(true).with_layers(2);
        survives(|rng| config.init(rng, &device).unwrap(), [2, 3, 6, 5]);
        let config = SequenceRegressorConfig::new([6, 5], hidden.clone(), [2, 4]).with_form(form);
        let config = config.with_projection(Some(hidden.clone()));
        survives(|rng| config.init(rng, &device).unwrap(), [2, 3, 6, 5]);
        let config = SequenceLabellerConfig::new([6, 5], hidden.clone(), [2, 2]).with_form(form);
        survives(|rng| config.init(rng, &device).unwrap(), [2, 3, 6, 5]);
        let config = Seq2SeqConfig::new([6, 5], hidden, 2).with_form(form).with_cell(CellKind::Gru);
        survives(|rng| config.init(rng, &device).unwrap(), [2, 3, 6, 5]);
    }
}

#[test]
fn running_statistics_are_stored_up_to_the_last_batch() {
    let device = Device::flex();
    let config = FeedForwardConfig::new([6, 5], [4, 3], 3).with_batch_norm(true);
    let net = config.init(&mut SeededRng::new(1, "init"), &device).unwrap();
    let before = to_safetensors(&net).unwrap();
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    net.forward(Tensor::ones([2, 6, 5], &device), &mut mode);
    assert_ne!(before, to_safetensors(&net).unwrap());
}

#[test]
fn names_can_be_guessed() {
    let (device, mut rng) = (Device::flex(), SeededRng::new(0, "init"));
    let net = FeedForwardConfig::new([6, 5], [4, 3], [2, 2]).with_depth(Some(2)).init(&mut rng, &device);
    let expected = [
        "layer.0.row_map",
        "layer.0.col_map",
        "layer.0.bias",
        "layer.1.row_map",
        "layer.1.col_map",
        "layer.1.bias",
        "head.row_map",
        "head.col_map",
        "head.bias",
    ];
    assert_eq!(names(&net.unwrap()), expected);

    let net = FeedForwardConfig::new([6, 5], [9], 3).with_form(Form::Vector).with_batch_norm(true);
    let expected = [
        "layer.0.weight",
        "layer.0.norm.scale",
        "layer.0.norm.shift",
        "layer.0.norm.running_mean",
        "layer.0.norm.running_variance",
        "head.weight",
        "head.bias",
    ];
    assert_eq!(names(&net.init(&mut rng, &device).unwrap()), expected);

    let highway = FeedForwardConfig::new([6, 5], [4, 3], 3).with_depth(Some(2)).with_skip(Skip::Highway);
    let found = names(&highway.init(&mut rng, &device).unwrap());
    assert!(found.contains(&"layer.1.candidate.0.row_map".to_owned()), "{found:?}");
    assert!(found.contains(&"layer.1.transform.bias".to_owned()), "{found:?}");

    let net = AutoEncoderConfig::new([6, 5], [4, 3], 2).init(&mut rng, &device).unwrap();
    assert_eq!(names(&net), ["encoder.0.row_map", "encoder.0.col_map", "encoder.0.bias", "decoder.0.bias"]);

    let net = Seq2SeqConfig::new([6, 5], [4, 3], 2).init(&mut rng, &device).unwrap();
    let found = names(&net);
    assert_eq!(found[0], "encoder.layer.0.input_row_map");
    assert!(found.contains(&"decoder.layer.0.state_col_map".to_owned()), "{found:?}");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let (device, mut rng) = (Device::flex(), SeededRng::new(0, "init"));
    let mut net = |hidden, depth| {
        let config = FeedForwardConfig::new([6, 5], hidden, 3).with_depth(Some(depth));
        config.init(&mut rng, &device).unwrap()
    };
    let bytes = to_safetensors(&net([4, 3], 2)).unwrap();
    let error = |result: Result<Classifier, WeightsError>| result.unwrap_err().to_string();
    assert_eq!(error(load_safetensors(net([4, 3], 3), &bytes)), "layer.2.row_map: not in the file");
    let message = error(load_safetensors(net([4, 3], 1), &bytes));
    assert_eq!(message, "layer.1.bias: in the file, but the net has no such parameter");
    let message = error(load_safetensors(net([4, 2], 2), &bytes));
    assert_eq!(message, "layer.0.col_map: [5, 3] in the file, [5, 2] in the net");
    let message =
        error(load_safetensors(common::shaken(net([4, 3], 2), &mut SeededRng::new(0, "x"), 0.0), &bytes));
    assert_eq!(message, "layer.0.row_map: F32 in the file, F64 in the net");
    for garbage in [&b""[..], b"not safetensors at all", &bytes[..bytes.len() - 1]] {
        assert!(error(load_safetensors(net([4, 3], 2), garbage)).starts_with("safetensors: "));
    }
}
