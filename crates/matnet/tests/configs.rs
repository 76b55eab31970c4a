//! Configs: wrong ones name the key, right ones survive text, and layers print their sizes.

mod common;

use burn::tensor::Device;
use matnet::layer::{
    DenseSkip, GatedSkip, MatBatchNormConfig, MatCellConfig, MatLinearConfig, RecurrentConfig, UnitConfig,
};
use matnet::ops::Cell;
use matnet::prelude::*;
use matnet::vector::{VecCellConfig, VecLinearConfig};

fn rng() -> SeededRng {
    SeededRng::new(0, "init")
}

/// The error must name the key, show the value and say what would be right.
fn wrong<T>(result: Result<T, ConfigError>, key: &str, value: &str, expected: &str) {
    let Err(error) = result else { panic!("{key} = {value} was taken") };
    let message = error.to_string();
    assert_eq!(error.key, key, "{message}");
    assert!(error.value.contains(value), "{message}: expected the value {value}");
    assert!(error.expected.contains(expected), "{message}: expected the advice {expected}");
}

const HUGE: usize = usize::MAX / 2;

#[test]
fn a_wrong_feedforward_config_names_its_key() {
    let device = Device::flex();
    let base = || FeedForwardConfig::new([6, 5], [4, 3], 3);
    let init = |config: FeedForwardConfig<usize>| config.init(&mut rng(), &device);
    let hidden = |hidden: Vec<Vec<usize>>| FeedForwardConfig::new([6, 5], hidden, 3);

    wrong(init(FeedForwardConfig::new([0, 5], [4, 3], 3)), "input", "0×5", "at least 1");
    wrong(init(FeedForwardConfig::new([HUGE, 5], [4, 3], 3)), "input", "×5", "at most");
    wrong(init(FeedForwardConfig::new([6, 5], [4, 0], 3)), "hidden", "4×0", "at least 1");
    wrong(init(FeedForwardConfig::new([6, 5], [HUGE, HUGE], 3)), "hidden", "×", "at most");
    wrong(init(FeedForwardConfig::new([6, 5], [4], 3)), "hidden", "4", "2 sides");
    wrong(init(FeedForwardConfig::new([6, 5], [4, 3, 2], 3)), "hidden", "4×3×2", "2 sides");
    wrong(init(base().with_form(Form::Vector)), "hidden", "4×3", "1 side");
    wrong(init(hidden(vec![vec![4, 3], vec![0, 3]])), "hidden", "0×3 at layer 2", "at least 1");
    wrong(init(hidden(vec![vec![4, 3], vec![3]])), "hidden", "3 at layer 2", "2 sides");
    wrong(init(hidden(vec![])), "depth", "0", "between 1");
    wrong(init(FeedForwardConfig::new([6, 5], vec![0_usize; 0], 3)), "hidden", "nothing", "2 sides");
    wrong(init(base().with_depth(Some(0))), "depth", "0", "between 1");
    wrong(init(base().with_depth(Some(HUGE))), "depth", &HUGE.to_string(), "between 1");
    wrong(init(hidden(vec![vec![4, 3]; 2]).with_depth(Some(3))), "depth", "3", "lists 2 shapes");
    let large = FeedForwardConfig::new([6, 5], [30_000, 30_000], 3).with_depth(Some(10_000));
    wrong(init(large), "hidden", "numbers", "at most");
    let wide = FeedForwardConfig::new([6, 5], [1 << 17, 1], 3).with_depth(Some(2));
    wrong(init(wide), "hidden", "131072×131072", "at most");
    wrong(init(base().with_batch_norm_bias_init(Some(f64::NAN))), "batch_norm_bias_init", "NaN", "finite");
    for skip in [Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
        let word = format!("{skip:?}").to_lowercase();
        let config = hidden(vec![vec![4, 3], vec![4, 3], vec![5, 3]]).with_skip(skip);
        wrong(init(config), "hidden", "5×3 at layer 3", &word);
    }
    wrong(init(hidden(vec![vec![4, 3], vec![5, 3]]).with_tied(true)), "hidden", "5×3 at layer 2", "tied");
    for rate in [1.0, 1.5, -0.1, f64::NAN, f64::INFINITY] {
        wrong(init(base().with_dropout(rate)), "dropout", &rate.to_string(), "less than 1");
        wrong(init(base().with_input_dropout(rate)), "input_dropout", &rate.to_string(), "less than 1");
    }
    wrong(init(base().with_block(0)), "block", "0", "between 1");
    wrong(init(base().with_block(2)), "block", "2", "without a skip");
    wrong(init(base().with_reach(Some(2))), "reach", "2", "dense");
    wrong(init(base().with_skip(Skip::Dense).with_reach(Some(0))), "reach", "0", "between 1");
    wrong(init(FeedForwardConfig::new([6, 5], [4, 3], 0)), "output", "0", "between 1");
    wrong(init(FeedForwardConfig::new([6, 5], [4, 3], HUGE)), "output", &HUGE.to_string(), "between 1");
    let squashed = base().with_output_activation(Activation::Tanh);
    wrong(init(squashed), "output_activation", "Tanh", "identity");
    let matrices = FeedForwardConfig::new([6, 5], [4, 3], [0, 2]).init(&mut rng(), &device);
    wrong(matrices, "output", "0×2", "at least 1");
}

#[test]
fn the_other_nets_name_their_keys_too() {
    let device = Device::flex();
    let auto = |config: AutoEncoderConfig| config.init(&mut rng(), &device);
    for depth in [0, 1, 3, 21] {
        wrong(auto(AutoEncoderConfig::new([6, 5], [4, 3], depth)), "depth", &depth.to_string(), "even");
    }
    wrong(auto(AutoEncoderConfig::new([6, 5], vec![[4, 3]; 3], 4)), "depth", "4", "so 6");
    wrong(auto(AutoEncoderConfig::new([6, 5], [4, 3], HUGE - 1)), "depth", "", "between 1");
    let large = AutoEncoderConfig::new([6, 5], [30_000, 30_000], 10_000);
    wrong(auto(large), "hidden", "numbers", "at most");
    wrong(auto(AutoEncoderConfig::new([6, 0], [4, 3], 2)), "input", "6×0", "at least 1");
    wrong(auto(AutoEncoderConfig::new([6, 5], [4], 2)), "hidden", "4", "2 sides");
    let noisy = AutoEncoderConfig::new([6, 5], [4, 3], 2).with_noise_ratio(f64::NAN);
    wrong(auto(noisy), "noise_ratio", "NaN", "less than 1");

    let classifier = |config: SequenceClassifierConfig| config.init(&mut rng(), &device);
    let base = || SequenceClassifierConfig::new([6, 5], [4, 3], 2);
    wrong(classifier(SequenceClassifierConfig::new([0, 5], [4, 3], 2)), "input", "0×5", "at least 1");
    wrong(classifier(SequenceClassifierConfig::new([6, 5], [4], 2)), "hidden", "4", "2 sides");
    wrong(classifier(SequenceClassifierConfig::new([6, 5], [4, 3], 0)), "output", "0", "between 1");
    wrong(classifier(base().with_form(Form::Vector)), "hidden", "4×3", "1 side");
    wrong(classifier(base().with_layers(0)), "layers", "0", "between 1");
    wrong(classifier(base().with_dropout(1.0)), "dropout", "1", "less than 1");
    wrong(classifier(base().with_forget_bias(f64::NAN)), "forget_bias", "NaN", "finite");
    wrong(classifier(base().with_projection(Some(vec![2]))), "projection", "2", "2 sides");
    wrong(classifier(base().with_projection(Some(vec![2, 0]))), "projection", "2×0", "at least 1");
    let huge = SequenceClassifierConfig::new([6, 5], [1 << 20, 1], 2);
    wrong(classifier(huge), "hidden", "1048576×1048576", "at most");

    let wide = SequenceClassifierConfig::new([6, 5], [1 << 16, 1], 2);
    wrong(classifier(wide.clone()), "hidden", "65536×65536", "at most");
    let wide = SequenceClassifierConfig::new([6, 5], [1 << 10, 1], 2).with_projection(Some(vec![1 << 22, 1]));
    wrong(classifier(wide), "projection", "1024×4194304", "at most");
    let tall = SequenceClassifierConfig::new([6, 5], [3000, 3000], 2).with_layers(10_000);
    wrong(classifier(tall), "layers", "numbers", "at most");

    let squashed = base().with_output_activation(Activation::Tanh);
    wrong(classifier(squashed), "output_activation", "Tanh", "no activation");
    let regressor = SequenceRegressorConfig::new([6, 5], [4, 3], [2, 0]);
    wrong(regressor.init(&mut rng(), &device), "output", "2×0", "at least 1");
    let labeller = SequenceLabellerConfig::new([6, 5], [4, 3], [2, 0]);
    wrong(labeller.init(&mut rng(), &device), "output", "2×0", "at least 1");
    let frames = |config: Seq2SeqConfig| config.init(&mut rng(), &device);
    wrong(frames(Seq2SeqConfig::new([6, 5], [4, 3], 0)), "steps", "0", "between 1");
    let no_rows = Seq2SeqConfig::new([6, 5], [4, 3], 2).with_output(Some([0, 1]));
    wrong(frames(no_rows), "output", "0×1", "at least 1");
    let dropping = Seq2SeqConfig::new([6, 5], [4, 3], 2).with_input_dropout(2.0);
    wrong(frames(dropping), "input_dropout", "2", "less than 1");
}

#[test]
fn the_layers_name_their_keys_too() {
    let device = Device::flex();
    let linear = |config: MatLinearConfig| config.init(&mut rng(), &device);
    wrong(linear(MatLinearConfig::new([0, 1], [1, 1])), "input", "0×1", "at least 1");
    wrong(linear(MatLinearConfig::new([2, 3], [2, HUGE])), "output", "×", "at most");
    wrong(linear(MatLinearConfig::new([1 << 20, 1], [1 << 20, 1])), "output", "1048576", "at most");
    wrong(linear(MatLinearConfig::new([2, 3], [4, 3]).with_row_map(false)), "row_map", "2×3", "equal");
    wrong(linear(MatLinearConfig::new([2, 3], [2, 4]).with_col_map(false)), "col_map", "2×4", "equal");
    let start = MatLinearConfig::new([2, 3], [2, 4]).with_bias_init(f64::INFINITY);
    wrong(linear(start), "bias_init", "inf", "finite");
    for gain in [-1.0, f64::NAN, f64::INFINITY] {
        let config = MatLinearConfig::new([2, 3], [2, 4]).with_gain(Some(gain));
        wrong(linear(config), "gain", &gain.to_string(), "at least 0");
        let config = VecLinearConfig::new(2, 3).with_gain(Some(gain));
        wrong(config.init(&mut rng(), &device), "gain", &gain.to_string(), "at least 0");
    }
    wrong(VecLinearConfig::new(0, 3).init(&mut rng(), &device), "input", "0", "at least 1");
    wrong(VecLinearConfig::new(3, HUGE).init(&mut rng(), &device), "output", "", "at most");
    wrong(MatBatchNormConfig::new([0, 3]).init(&device), "shape", "0×3", "at least 1");
    wrong(MatBatchNormConfig::new([2, 3]).with_epsilon(0.0).init(&device), "epsilon", "0", "above 0");
    wrong(MatBatchNormConfig::new([2, 3]).with_momentum(2.0).init(&device), "momentum", "2", "between 0");
    wrong(MatCellConfig::new(Cell::Lstm, [0, 1], [2, 2]).init(&mut rng(), &device), "input", "0", "1");
    wrong(VecCellConfig::new(Cell::Lstm, 3, 0).init(&mut rng(), &device), "hidden", "0", "1");
    let chain = [UnitConfig::new(Form::Matrix, [2, 2], [2, 3])];
    wrong(GatedSkip::residual(&chain, &mut rng(), &device), "candidate", "2×2 to 2×3", "same shape");
    wrong(GatedSkip::highway(&[], &mut rng(), &device), "candidate", "no layer", "at least one");
    let broken = [chain[0].clone(), UnitConfig::new(Form::Matrix, [3, 3], [2, 2])];
    wrong(GatedSkip::gated(&broken, &mut rng(), &device), "candidate", "3×3 after 2×3", "takes");
    let square = [UnitConfig::new(Form::Matrix, [2, 2], [2, 2])];
    wrong(DenseSkip::new(&square, 0, &mut rng(), &device), "reach", "0", "between 1");
}

#[test]
fn configs_survive_text_and_unknown_keys_do_not() {
    let text = r#"{"form": "vector", "input": [28, 28], "hidden": [200], "depth": 30, "output": 10}"#;
    let config: FeedForwardConfig<usize> = serde_json::from_str(text).unwrap();
    let expected = FeedForwardConfig::new([28, 28], [200], 10).with_form(Form::Vector);
    assert_eq!(config, expected.with_depth(Some(30)));
    let text = r#"{"input": [28, 28], "hidden": [[50, 50], [20, 20]], "output": [14, 14], "skip": "none"}"#;
    let config: FeedForwardConfig<[usize; 2]> = serde_json::from_str(text).unwrap();
    assert_eq!(config.hidden, Hidden::from(vec![[50, 50], [20, 20]]));

    fn survives<C: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(config: C) {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<C>(&text).unwrap(), config);
        let extra = text.replacen('{', "{\"hiden\": 1, ", 1);
        let error = serde_json::from_str::<C>(&extra).unwrap_err().to_string();
        assert!(error.contains("hiden"), "{error}");
    }
    survives(FeedForwardConfig::new([28, 28], vec![[5, 5], [4, 4]], 10).with_skip(Skip::Highway));
    survives(AutoEncoderConfig::new([28, 20], [20, 20], 20).with_noise(Noise::Gaussian));
    survives(SequenceClassifierConfig::new([64, 32], [100, 100], 1).with_projection(Some(vec![10, 10])));
    survives(SequenceRegressorConfig::new([6, 5], [4, 3], [2, 2]).with_output_activation(Activation::Tanh));
    survives(SequenceLabellerConfig::new([6, 5], [4, 3], 2).with_cell(CellKind::Gru));
    survives(Seq2SeqConfig::new([64, 64], [200, 200], 5).with_decoder_state(DecoderState::Encoder));
    survives(MatLinearConfig::new([6, 5], [4, 3]));
    survives(RecurrentConfig::new([6, 5], [4, 3]));
}

#[test]
fn printed_layers_and_nets_show_their_sizes() {
    let (device, mut s) = (Device::flex(), rng());
    let shows = |printed: String, parts: &[&str]| {
        parts.iter().for_each(|part| assert!(printed.contains(part), "{part} in {printed}"));
    };
    let layer = MatLinearConfig::new([28, 20], [50, 40]).with_activation(Activation::Relu);
    shows(layer.init(&mut s, &device).unwrap().to_string(), &["MatLinear", "28×20", "50×40", "Relu", "4200"]);
    let layer = VecLinearConfig::new(12, 34);
    shows(layer.init(&mut s, &device).unwrap().to_string(), &["VecLinear", "12", "34"]);
    shows(MatBatchNormConfig::new([3, 7]).init(&device).unwrap().to_string(), &["MatBatchNorm", "3×7"]);
    let cell = MatCellConfig::new(Cell::Lstm, [3, 7], [4, 5]);
    shows(cell.init(&mut s, &device).unwrap().to_string(), &["MatCell", "Lstm", "3×7", "4×5"]);
    let cell = VecCellConfig::new(Cell::Lstm, 37, 45);
    shows(cell.init(&mut s, &device).unwrap().to_string(), &["VecCell", "37", "45"]);

    let net = FeedForwardConfig::new([28, 20], [5, 4], 10).with_depth(Some(3)).with_skip(Skip::Highway);
    let net = net.with_batch_norm(true).init(&mut s, &device).unwrap();
    shows(net.to_string(), &["FeedForward", "28×20", "5×4", "transform", "MatBatchNorm", "head"]);
    let net = AutoEncoderConfig::new([28, 20], [5, 4], 4).init(&mut s, &device).unwrap();
    shows(net.to_string(), &["AutoEncoder", "encoder", "28×20", "5×4"]);
    let net = Seq2SeqConfig::new([28, 20], [5, 4], 3).init(&mut s, &device).unwrap();
    shows(net.to_string(), &["Seq2Seq", "encoder", "decoder", "28×20", "5×4"]);
    let net = SequenceClassifierConfig::new([28, 20], [5], 3).with_form(Form::Vector);
    shows(net.init(&mut s, &device).unwrap().to_string(), &["ManyToOne", "560", "head"]);
    let net = SequenceLabellerConfig::new([28, 20], [5, 4], 3).init(&mut s, &device).unwrap();
    shows(net.to_string(), &["SequenceLabeller", "28×20", "head"]);
}

#[test]
fn keys_that_have_no_effect_are_refused() {
    let device = Device::flex();
    let classes = || FeedForwardConfig::new([6, 5], [4, 3], 3);
    let init = |config: FeedForwardConfig<usize>| config.init(&mut rng(), &device);
    let shifted = classes().with_batch_norm_bias_init(Some(0.0));
    wrong(init(shifted.clone()), "batch_norm_bias_init", "0", "only batch_norm = true");
    assert!(init(shifted.with_batch_norm(true)).is_ok());

    let recurrent = |cell| RecurrentConfig::new([6, 5], [4, 3]).with_cell(cell);
    let init = |config: RecurrentConfig| config.init(&mut rng(), &device);
    let relu = recurrent(CellKind::Lstm).with_activation(Activation::Relu);
    wrong(init(relu.clone()), "activation", "relu", "an LSTM has tanh");
    assert!(init(relu.with_cell(CellKind::Rnn)).is_ok());
    for cell in [CellKind::Rnn, CellKind::Gru] {
        let forgetful = recurrent(cell).with_forget_bias(1.0);
        wrong(init(forgetful), "forget_bias", "1", "only cell = \"lstm\"");
    }

    // What is written out is what has an effect.
    for (aggregation, keys) in [
        (Aggregation::Mean, [None, None]),
        (Aggregation::Attention, [Some(10), None]),
        (Aggregation::Concat, [None, Some(50)]),
    ] {
        let config = ColumnNetConfig::new(6, 5, 3).with_aggregation(aggregation).resolved();
        assert_eq!([config.heads, config.num_neighbors], keys);
        assert!(config.init(&mut rng(), &device).is_ok());
    }
}
