//! Analytic against numeric gradients, in f64, of every layer and net over 100 random shapes each.

mod common;

use burn::module::Module;
use burn::tensor::Tensor;
use common::{between, check_function, check_module, device, shaken, values, weigh};
use matnet::layer::*;
use matnet::ops::{Cell, Keep, MatState, Steps, mat1};
use matnet::prelude::*;
use matnet::vector::{VecCellConfig, VecLinearConfig};

const SHAPES: usize = 100;

/// Runs a check once per random shape, with its own rng.
fn each_shape(name: &str, mut check: impl FnMut(&str, usize, &mut SeededRng)) {
    for index in 0..SHAPES {
        let mut rng = SeededRng::new(index as u64, name);
        check(&format!("{name}, shape {index}"), index, &mut rng);
    }
}

fn sides<const N: usize>(rng: &mut SeededRng, highest: usize) -> [usize; N] {
    std::array::from_fn(|_| between(rng, 1, highest))
}

fn activation(index: usize) -> Activation {
    [Activation::Relu, Activation::Tanh, Activation::Sigmoid, Activation::Identity][index % 4]
}

fn cell(index: usize) -> Cell {
    [CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3].with(activation(index / 3))
}

/// The modes alternate; the same random numbers at every evaluation.
fn mode(index: usize) -> Mode {
    if index.is_multiple_of(2) { Mode::Eval } else { Mode::train(SeededRng::new(index as u64, "mode")) }
}

/// A layer or net of one matrix input.
fn check_matrix<M: Module, const D: usize>(
    label: &str,
    module: M,
    shape: [usize; 3],
    rng: &mut SeededRng,
    forward: impl Fn(&M, Tensor<3>) -> Tensor<D>,
) {
    let module = shaken(module, rng, 0.3);
    let input = values(rng, shape.iter().product());
    check_module(label, &module, &[input], |module, leaves| {
        weigh(forward(module, leaves[0].clone().reshape(shape)))
    });
}

/// A layer or net of sequences, of one length or of many.
fn check_sequence<M: Module, const D: usize>(
    label: &str,
    module: M,
    shape: [usize; 4],
    rng: &mut SeededRng,
    forward: impl Fn(&M, Sequences) -> Tensor<D>,
) {
    let module = shaken(module, rng, 0.3);
    let input = values(rng, shape.iter().product());
    let [batch, time, ..] = shape;
    let lengths: Vec<usize> = match rng.below(2) {
        0 => vec![time; batch],
        _ => (0..batch).map(|_| between(rng, 1, time)).collect(),
    };
    check_module(&format!("{label}, lengths {lengths:?}"), &module, &[input], |module, leaves| {
        let input = leaves[0].clone().reshape(shape);
        weigh(forward(module, Sequences::padded(input, lengths.clone())))
    });
}

#[test]
fn the_helper_agrees_with_mat1() {
    each_shape("mat1", |label, index, rng| {
        let [batch, r, c, r2, c2] = [4, 7, 7, 7, 7].map(|high| between(rng, 1, high));
        let inputs = [batch * r * c, r * r2, c * c2, r2 * c2].map(|n| values(rng, n));
        check_function(label, &inputs, |leaves| {
            let [x, u, v, b] = [0, 1, 2, 3].map(|i| leaves[i].clone());
            let (u, v, b) = (u.reshape([r, r2]), v.reshape([c, c2]), b.reshape([r2, c2]));
            weigh(mat1(x.reshape([batch, r, c]), u, v, Some(b), activation(index)))
        });
    });
}

#[test]
#[should_panic(expected = "relative error")]
fn the_helper_finds_a_wrong_gradient() {
    check_function("detached", &[vec![1.0, 2.0]], |leaves| {
        (leaves[0].clone() * leaves[0].clone().detach()).sum()
    });
}

#[test]
fn mat_linear() {
    each_shape("mat_linear", |label, index, rng| {
        let (batch, [r, c, r2, c2]) = (between(rng, 1, 4), sides(rng, 7));
        let (row_map, col_map) = (index % 5 != 1, index % 7 != 1);
        let output = [if row_map { r2 } else { r }, if col_map { c2 } else { c }];
        let layer = MatLinearConfig::new([r, c], output)
            .with_row_map(row_map)
            .with_col_map(col_map)
            .with_bias(index % 3 != 1)
            .with_activation(activation(index))
            .init(rng, &device())
            .unwrap();
        check_matrix(label, layer, [batch, r, c], rng, |layer, x| layer.forward(x));
    });
}

#[test]
fn the_way_back_through_tied_maps() {
    each_shape("transposed", |label, index, rng| {
        let (batch, [r, c, r2, c2]) = (between(rng, 1, 4), sides(rng, 7));
        let form = if index % 2 == 0 { Form::Matrix } else { Form::Vector };
        let ([r, c], [r2, c2]) = if form == Form::Vector { ([r, 1], [r2, 1]) } else { ([r, c], [r2, c2]) };
        let map = MapConfig::new(form, [r, c], [r2, c2]).with_bias(false);
        let map = shaken(map.init(rng, &device()).unwrap(), rng, 0.3);
        let inputs = [batch * r2 * c2, r * c].map(|n| values(rng, n));
        check_module(label, &map, &inputs, |map, leaves| {
            let [x, bias] = [0, 1].map(|i| leaves[i].clone());
            weigh(map.transposed(x.reshape([batch, r2, c2]), bias.reshape([r, c]), activation(index)))
        });
    });
}

#[test]
fn vec_linear() {
    each_shape("vec_linear", |label, index, rng| {
        let [batch, n, m] = sides(rng, 7);
        let layer = VecLinearConfig::new(n, m).with_activation(activation(index)).with_bias(index % 3 != 1);
        let layer = layer.init(rng, &device()).unwrap();
        check_matrix(label, layer, [batch, n, 1], rng, |layer, x| layer.forward(x.squeeze_dim::<2>(2)));
    });
}

#[test]
fn batch_norm_dropout_and_noise() {
    each_shape("batch_norm", |label, index, rng| {
        let (batch, [r, c]) = (between(rng, 1, 4), sides(rng, 7));
        let norm = MatBatchNormConfig::new([r, c]).with_epsilon(0.1).init(&device()).unwrap();
        check_matrix(label, norm, [batch, r, c], rng, |norm, x| norm.forward(x, &mode(index)));
        let dropout = Dropout::new("dropout", 0.4).unwrap();
        let input = [values(rng, batch * r * c)];
        check_function(&format!("dropout: {label}"), &input, |leaves| {
            let dropped = dropout.forward(leaves[0].clone(), &mut mode(index));
            let noise = if index % 4 < 2 { Noise::Masking } else { Noise::Gaussian };
            weigh(noise.corrupt(dropped, 0.3, &mut mode(index)))
        });
    });
}

#[test]
fn unit() {
    each_shape("unit", |label, index, rng| {
        let (batch, [r, c, r2, c2]) = (between(rng, 2, 4), sides(rng, 6));
        let unit = UnitConfig::new(Form::Matrix, [r, c], [r2, c2])
            .with_batch_norm(index % 3 == 0)
            .with_activation(activation(index / 2))
            .with_dropout(Dropout::new("dropout", 0.3).unwrap());
        let unit = unit.init(rng, &device()).unwrap();
        check_matrix(label, unit, [batch, r, c], rng, |unit, x| unit.forward(x, &mut mode(index)));
    });
}

#[test]
fn gated_skips() {
    each_shape("skip", |label, index, rng| {
        let (batch, [r, c, r2, c2]) = (between(rng, 1, 4), sides(rng, 6));
        let unit = |from, to| UnitConfig::new(Form::Matrix, from, to).with_activation(activation(index / 3));
        // F of one layer, or of two with another shape between.
        let chain = match index % 2 {
            0 => vec![unit([r, c], [r, c])],
            _ => vec![unit([r, c], [r2, c2]), unit([r2, c2], [r, c])],
        };
        let skip = match index % 3 {
            0 => GatedSkip::gated(&chain, rng, &device()),
            1 => GatedSkip::highway(&chain, rng, &device()),
            _ => GatedSkip::residual(&chain, rng, &device()),
        };
        check_matrix(label, skip.unwrap(), [batch, r, c], rng, |skip, x| skip.forward(x, &mut Mode::Eval));
    });
}

#[test]
fn dense_skip() {
    each_shape("dense", |label, index, rng| {
        let (batch, [r, c], [reach, earlier]) = (between(rng, 1, 4), sides(rng, 6), sides(rng, 4));
        let unit = UnitConfig::new(Form::Matrix, [r, c], [r, c]).with_activation(activation(index));
        let skip = DenseSkip::new(&[unit], reach, rng, &device()).unwrap();
        let skip = shaken(skip, rng, 0.3);
        let states: Vec<_> = (0..earlier).map(|_| values(rng, batch * r * c)).collect();
        check_module(label, &skip, &states, |skip, leaves| {
            let states: Vec<_> = leaves.iter().map(|leaf| leaf.clone().reshape([batch, r, c])).collect();
            weigh(skip.forward(&states, &mut Mode::Eval))
        });
    });
}

/// A cell over a sequence from a given state, or one step, in either form.
fn check_cell(
    label: &str,
    index: usize,
    cell: RecurrentCell,
    kind: Cell,
    dims: [usize; 6],
    rng: &mut SeededRng,
) {
    let [batch, time, r, c, r2, c2] = dims;
    let module = shaken(cell, rng, 0.3);
    let shortest = if index.is_multiple_of(2) { 1 } else { time };
    let lengths: Vec<usize> = (0..batch).map(|_| between(rng, shortest, time)).collect();
    let inputs = [batch * time * r * c, batch * r2 * c2, batch * r2 * c2].map(|n| values(rng, n));
    check_module(label, &module, &inputs, |cell, leaves| {
        let [x, h, m] = [0, 1, 2].map(|i| leaves[i].clone());
        let shape = [batch, r2, c2];
        let start = MatState {
            hidden: h.reshape(shape),
            cell_state: kind.has_cell_state().then(|| m.reshape(shape)),
        };
        let start = (index % 4 != 3).then_some(start);
        let x = x.reshape([batch, time, r, c]);
        let (states, end) = match index % 5 {
            4 => cell.sequence(Steps::Constant(x.narrow(1, 0, 1).squeeze_dim::<3>(1), 3), start, Keep::All),
            _ => cell.sequence(Sequences::padded(x, lengths.clone()).into(), start, Keep::All),
        };
        let cell_state = end.cell_state.map_or(weigh(end.hidden.clone()), weigh);
        weigh(states) + weigh(end.hidden) + cell_state
    });
}

#[test]
fn matrix_cells() {
    each_shape("mat_cell", |label, index, rng| {
        let ([batch, time], [r, c, r2, c2]) = (sides(rng, 4), sides(rng, 6));
        let module = MatCellConfig::new(cell(index), [r, c], [r2, c2]).init(rng, &device()).unwrap();
        let module = RecurrentCell::Matrix(module);
        check_cell(label, index, module, cell(index), [batch, time, r, c, r2, c2], rng);
    });
}

#[test]
fn vector_cells() {
    each_shape("vec_cell", |label, index, rng| {
        let ([batch, time], [n, m]) = (sides(rng, 4), sides(rng, 7));
        let module = VecCellConfig::new(cell(index), n, m).init(rng, &device()).unwrap();
        check_cell(label, index, RecurrentCell::Vector(module), cell(index), [batch, time, n, 1, m, 1], rng);
    });
}

#[test]
fn recurrent_layers() {
    each_shape("recurrent", |label, index, rng| {
        let ([batch, time, layers], [r, c, r2, c2]) = (sides(rng, 3), sides(rng, 5));
        let (form, input, hidden) = match index % 2 {
            0 => (Form::Matrix, [r, c], vec![r2, c2]),
            _ => (Form::Vector, [r, 1], vec![r2]),
        };
        let module = RecurrentConfig::new(input, hidden)
            .with_form(form)
            .with_cell([CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3])
            .with_layers(layers)
            .with_bidirectional(index % 4 < 2)
            .with_dropout(0.2)
            .init(rng, &device())
            .unwrap();
        let keep = if index % 5 == 0 { Keep::Last } else { Keep::All };
        let shape = [batch, time, input[0], input[1]];
        check_sequence(label, module, shape, rng, |module, x| {
            module.forward(Steps::from(x), None, keep, &mut mode(index)).0
        });
    });
}

#[test]
fn tops() {
    each_shape("top", |label, index, rng| {
        let (batch, [r, c, r2, c2]) = (between(rng, 1, 4), sides(rng, 6));
        let identity = Activation::Identity;
        let head = [r2, c2].head(Form::Matrix, [r, c], activation(index), Init::Normal, rng, &device());
        check_matrix(label, head.unwrap(), [batch, r, c], rng, |head, x| head.forward(x, &mut Mode::Eval));
        let head = r2.head(Form::Matrix, [r, c], identity, Init::Normal, rng, &device());
        check_matrix(label, head.unwrap(), [batch, r, c], rng, |head, x| head.forward(x, &mut Mode::Eval));
        let projection = || MapConfig::new(Form::Matrix, [r, c], [r2, c2]);
        let head = ClassHead::new([r2, c2], 1, Init::Normal, rng, &device()).unwrap();
        let head = head.with_projection(Some(projection().init(rng, &device()).unwrap()));
        check_matrix(label, head, [batch, r, c], rng, |head, x| head.forward(x, &mut Mode::Eval));
        let head = [2, 3].head(Form::Matrix, [r2, c2], activation(index), Init::Normal, rng, &device());
        let head = head.unwrap().with_projection(Some(projection().init(rng, &device()).unwrap()));
        check_matrix(label, head, [batch, r, c], rng, |head, x| head.forward(x, &mut Mode::Eval));
    });
}

/// A form and sides that fit it.
fn form_and_hidden(index: usize, [r, c]: [usize; 2]) -> (Form, Vec<usize>) {
    match index % 2 {
        0 => (Form::Matrix, vec![r, c]),
        _ => (Form::Vector, vec![r * c]),
    }
}

fn feedforward<O: HeadConfig>(
    index: usize,
    output: O,
    rng: &mut SeededRng,
) -> (FeedForwardConfig<O>, [usize; 3]) {
    let (batch, [r, c, r2, c2], depth) = (between(rng, 2, 4), sides(rng, 5), between(rng, 1, 4));
    let (form, hidden) = form_and_hidden(index, [r2, c2]);
    let skip = [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense][index / 2 % 5];
    let config = FeedForwardConfig::new([r, c], hidden, output)
        .with_form(form)
        .with_depth(Some(depth))
        .with_activation(activation(index / 4))
        .with_skip(skip)
        .with_block(if skip == Skip::None { 1 } else { 1 + index % 3 / 2 })
        .with_batch_norm(index % 7 == 3)
        .with_dropout(0.2)
        .with_input_dropout(0.1)
        .with_tied(index % 3 == 1);
    (config, [batch, r, c])
}

#[test]
fn feedforward_to_classes() {
    each_shape("classes", |label, index, rng| {
        let classes = between(rng, 1, 5);
        let (config, shape) = feedforward(index, classes, rng);
        let net = config.init(rng, &device()).unwrap();
        check_matrix(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
    });
}

#[test]
fn feedforward_to_matrices() {
    each_shape("matrices", |label, index, rng| {
        let output = sides::<2>(rng, 5);
        let (config, shape) = feedforward(index, output, rng);
        let net = config.with_output_activation(activation(index)).init(rng, &device()).unwrap();
        check_matrix(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
    });
}

#[test]
fn autoencoder() {
    each_shape("autoencoder", |label, index, rng| {
        let (batch, [r, c, r2, c2], half) = (between(rng, 1, 4), sides(rng, 6), between(rng, 1, 3));
        let (form, hidden) = form_and_hidden(index, [r2, c2]);
        let net = AutoEncoderConfig::new([r, c], hidden, 2 * half)
            .with_form(form)
            .with_activation(activation(index / 2))
            .with_output_activation(activation(index / 3))
            .with_noise(if index % 3 == 0 { Noise::Gaussian } else { Noise::Masking })
            .init(rng, &device())
            .unwrap();
        let regularizer = Regularizer::new(&net.summary(1), 1e-2, 1e-2);
        check_matrix(label, net, [batch, r, c], rng, |net, x| {
            let penalty = regularizer.loss(net).expect("weights");
            net.forward(x, &mut mode(index / 2)) + penalty.reshape([1, 1, 1])
        });
    });
}

#[test]
fn sequence_classifier() {
    each_shape("sequence classifier", |label, index, rng| {
        let ([batch, time], [r, c, r2, c2]) = (sides(rng, 4), sides(rng, 4));
        let (form, hidden) = form_and_hidden(index, [r2, c2]);
        let projection = (index % 3 == 0).then(|| if form == Form::Matrix { vec![2, 3] } else { vec![4] });
        let net = SequenceClassifierConfig::new([r, c], hidden, between(rng, 1, 3))
            .with_form(form)
            .with_cell([CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3])
            .with_activation(if index % 3 == 1 { Activation::Tanh } else { activation(index / 3) })
            .with_layers(1 + index % 5 / 4)
            .with_bidirectional(index % 4 == 1)
            .with_projection(projection)
            .with_dropout(0.2)
            .with_input_dropout(0.1)
            .init(rng, &device())
            .unwrap();
        let shape = [batch, time, r, c];
        check_sequence(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
    });
}

#[test]
fn sequence_regressor() {
    each_shape("sequence regressor", |label, index, rng| {
        let ([batch, time], [r, c, r2, c2]) = (sides(rng, 4), sides(rng, 4));
        let (form, hidden) = form_and_hidden(index, [r2, c2]);
        let projection = (index % 3 == 0).then(|| if form == Form::Matrix { vec![2, 3] } else { vec![4] });
        let net = SequenceRegressorConfig::new([r, c], hidden, sides(rng, 3))
            .with_form(form)
            .with_cell([CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3])
            .with_output_activation(activation(index))
            .with_bidirectional(index % 4 == 1)
            .with_projection(projection)
            .init(rng, &device())
            .unwrap();
        let shape = [batch, time, r, c];
        check_sequence(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
    });
}

#[test]
fn sequence_labeller() {
    each_shape("sequence labeller", |label, index, rng| {
        let ([batch, time], [r, c, r2, c2]) = (sides(rng, 4), sides(rng, 4));
        let (form, hidden) = form_and_hidden(index, [r2, c2]);
        let kind = [CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3];
        let shape = [batch, time, r, c];
        let both = index % 4 == 1;
        if index % 5 < 3 {
            let config = SequenceLabellerConfig::new([r, c], hidden, [3, 2]).with_form(form).with_cell(kind);
            let config = config.with_bidirectional(both).with_output_activation(activation(index));
            let net = config.init(rng, &device()).unwrap();
            check_sequence(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
        } else {
            let config = SequenceLabellerConfig::new([r, c], hidden, 3).with_form(form).with_cell(kind);
            let net = config.with_bidirectional(both).init(rng, &device()).unwrap();
            check_sequence(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
        }
    });
}

#[test]
fn seq2seq() {
    each_shape("seq2seq", |label, index, rng| {
        let ([batch, time, steps], [r, c, r2, c2]) = (sides(rng, 3), sides(rng, 4));
        let (form, hidden) = form_and_hidden(index, [r2, c2]);
        let net = Seq2SeqConfig::new([r, c], hidden, steps)
            .with_form(form)
            .with_cell([CellKind::Rnn, CellKind::Lstm, CellKind::Gru][index % 3])
            .with_activation(if index % 3 == 1 { Activation::Tanh } else { activation(index / 3) })
            .with_layers(1 + index % 5 / 4)
            .with_decoder_state(if index % 4 < 2 { DecoderState::Zeros } else { DecoderState::Encoder })
            .with_dropout(0.2)
            .with_output_activation(activation(index / 2))
            .init(rng, &device())
            .unwrap();
        let shape = [batch, time, r, c];
        check_sequence(label, net, shape, rng, |net, x| net.forward(x, &mut mode(index / 2)));
    });
}

#[test]
fn multi_attention() {
    each_shape("multi-attention", |label, index, rng| {
        let [batch, rows, cols, heads, width, output] = sides(rng, 5);
        let score = [ScoreKind::Bilinear, ScoreKind::Additive, ScoreKind::Dot][index % 3];
        let context = match score {
            ScoreKind::Dot => Some(heads * cols),
            _ => index.is_multiple_of(2).then_some(width),
        };
        let config = MultiAttentionConfig::new(cols, heads)
            .with_score(score)
            .with_context(context)
            .with_output(index.is_multiple_of(5).then_some(output))
            .with_temperature(0.7);
        let attention = shaken(config.init(rng, &device()).unwrap(), rng, 0.3);
        let memory = values(rng, batch * rows * cols);
        let asked = context.map(|width| values(rng, batch * width));
        let inputs: Vec<Vec<f64>> = std::iter::once(memory).chain(asked).collect();
        check_module(label, &attention, &inputs, |attention, leaves| {
            let memory = leaves[0].clone().reshape([batch, rows, cols]);
            let context = context.map(|width| leaves[1].clone().reshape([batch, width]));
            weigh(attention.forward(memory, context, None).matrix)
        });
    });
}
