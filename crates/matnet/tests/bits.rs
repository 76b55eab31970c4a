//! A sample gives the same bits alone, in any batch and with any padding, for every kind of net; NaN goes through.

mod common;

use burn::module::{ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use common::sized;
use matnet::graph::{Graph, GraphInput};
use matnet::layer::Aggregation;
use matnet::net::Tying;
use matnet::prelude::*;

/// Sizes of batches; the largest is the whole.
const BATCHES: [usize; 4] = [1, 2, 7, 64];
const WHOLE: usize = 500;

fn random<const D: usize>(rng: &mut SeededRng, shape: [usize; D], device: &Device) -> Tensor<D> {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| rng.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

fn bits<const D: usize>(tensor: Tensor<D>) -> Vec<u32> {
    tensor.into_data().as_slice::<f32>().expect("f32").iter().map(|x| x.to_bits()).collect()
}

/// Compares a batch with smaller ones from its beginning, its middle and its end.
fn same_bits<N, const I: usize, const O: usize>(label: &str, init: impl Fn(&Device) -> N, shape: [usize; I])
where
    N: Net<Input: From<Tensor<I>>, Output = Tensor<O>>,
{
    let device = Device::flex();
    let net = init(&device);
    let x = |device: &Device| random(&mut SeededRng::new(1, label), shape, device);
    let run = |first: usize, batch: usize| {
        bits(net.forward(x(&device).narrow(0, first, batch).into(), &mut Mode::Eval))
    };
    let whole = run(0, shape[0]);
    let size = whole.len() / shape[0];
    assert!(whole.iter().any(|&x| f32::from_bits(x) != 0.0), "{label}: all outputs are 0");
    for batch in BATCHES {
        for first in [0, 13, shape[0] - batch] {
            let (some, want) = (run(first, batch), &whole[first * size..(first + batch) * size]);
            let differing = some.iter().zip(want).filter(|(a, b)| a != b).count();
            assert!(differing == 0, "{label}: {differing} of {} differ in a batch of {batch}", want.len());
        }
    }
    // The same where a backward pass may follow.
    let tracked = Device::flex().autodiff();
    let some = init(&tracked).forward(x(&tracked).narrow(0, 0, 7).into(), &mut Mode::Eval);
    assert!(bits(some) == whole[..7 * size], "{label}: tracked");
}

/// The generator of a net's parameters.
fn seed() -> SeededRng {
    SeededRng::new(0, "bits")
}

fn sizes() -> impl Iterator<Item = (Form, Vec<usize>)> {
    let vectors = [5, 24, 50, 130].map(|n| (Form::Vector, vec![n]));
    let matrices = [[5, 4], [24, 24], [50, 50], [130, 30]].map(|sides| (Form::Matrix, sides.to_vec()));
    vectors.into_iter().chain(matrices)
}

#[test]
fn feed_forward_nets_and_autoencoders() {
    let shape = [WHOLE, 12, 11];
    for (form, hidden) in sizes() {
        for (skip, norm) in [(Skip::None, false), (Skip::Highway, true), (Skip::Dense, false)] {
            let config = FeedForwardConfig::new([12, 11], hidden.clone(), 10).with_form(form);
            let config = config.with_depth(Some(3)).with_skip(skip).with_batch_norm(norm);
            let label = format!("{form:?} {hidden:?} {skip:?}");
            same_bits(&label, |device| config.init(&mut seed(), device).unwrap(), shape);
        }
        let config = FeedForwardConfig::new([12, 11], hidden.clone(), [7, 6]).with_form(form);
        let label = format!("{form:?} {hidden:?} to matrices");
        same_bits(&label, |device| config.init(&mut seed(), device).unwrap(), shape);
        let config = AutoEncoderConfig::new([12, 11], hidden.clone(), 4).with_form(form);
        let label = format!("{form:?} {hidden:?} autoencoder");
        same_bits(&label, |device| config.init(&mut seed(), device).unwrap(), shape);
    }
}

#[test]
fn nets_on_sequences() {
    let shape = [WHOLE, 3, 8, 9];
    for (form, hidden) in sizes() {
        for cell in [CellKind::Lstm, CellKind::Gru, CellKind::Rnn] {
            let label = |kind: &str| format!("{form:?} {hidden:?} {cell:?} {kind}");
            let config = SequenceClassifierConfig::new([8, 9], hidden.clone(), 5).with_form(form);
            let config = config.with_cell(cell).with_bidirectional(cell == CellKind::Gru);
            same_bits(&label("classifier"), |device| config.init(&mut seed(), device).unwrap(), shape);
            let config = SequenceLabellerConfig::new([8, 9], hidden.clone(), 4).with_form(form);
            let config = config.with_cell(cell);
            same_bits(&label("labeller"), |device| config.init(&mut seed(), device).unwrap(), shape);
            let config = SequenceRegressorConfig::new([8, 9], hidden.clone(), [3, 2]).with_form(form);
            let config = config.with_cell(cell).with_layers(2);
            same_bits(&label("regressor"), |device| config.init(&mut seed(), device).unwrap(), shape);
            let config = Seq2SeqConfig::new([8, 9], hidden.clone(), 2).with_form(form).with_cell(cell);
            same_bits(&label("seq2seq"), |device| config.init(&mut seed(), device).unwrap(), shape);
        }
    }
}

/// Compares padded batches with the sequences alone, without padding. `per_step` says that the net gives an output per step.
fn same_bits_padded<N, const O: usize>(label: &str, init: impl Fn(&Device) -> N, per_step: bool)
where
    N: Net<Input = Sequences, Output = Tensor<O>>,
{
    const COUNT: usize = 40;
    let (longest, step) = (6, 8 * 9);
    let mut rng = SeededRng::new(2, label);
    let lengths: Vec<usize> = (0..COUNT).map(|_| 1 + rng.below(longest)).collect();
    let sequences: Vec<Vec<f32>> =
        lengths.iter().map(|length| (0..length * step).map(|_| rng.normal() as f32).collect()).collect();
    // A batch padded to so many steps, with NaN.
    let batch = |chosen: &[usize], time: usize, device: &Device| {
        let padded = chosen.iter().flat_map(|&at| {
            let padding = std::iter::repeat_n(f32::NAN, (time - lengths[at]) * step);
            sequences[at].iter().copied().chain(padding)
        });
        let data = TensorData::new(padded.collect::<Vec<f32>>(), [chosen.len(), time, 8, 9]);
        let lengths: Vec<usize> = chosen.iter().map(|&at| lengths[at]).collect();
        Sequences::padded(Tensor::from_data(data, device), lengths)
    };
    let device = Device::flex();
    let net = init(&device);
    let alone: Vec<Vec<u32>> = (0..COUNT)
        .map(|at| {
            let data = TensorData::new(sequences[at].clone(), [1, lengths[at], 8, 9]);
            bits(net.forward(Tensor::<4>::from_data(data, &device).into(), &mut Mode::Eval))
        })
        .collect();
    let all: Vec<usize> = (0..COUNT).collect();
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let tracked = Device::flex().autodiff();
    let of_tracked = bits(init(&tracked).forward(batch(&all, longest, &tracked), &mut Mode::Eval));
    let compare = |chosen: &[usize], time: usize, given: Vec<u32>| {
        for (&at, given) in chosen.iter().zip(given.chunks_exact(given.len() / chosen.len())) {
            let (real, padding) = given.split_at(if per_step { alone[at].len() } else { given.len() });
            let length = lengths[at];
            assert!(real == alone[at], "{label}: length {length} of {time}, {} sequences", chosen.len());
            assert!(padding.iter().all(|&x| f32::from_bits(x) == 0.0), "{label}: the padding");
        }
    };
    compare(&all, longest, of_tracked);
    for (chosen, time) in
        [(&all[..], 6), (&all, 11), (&backwards, 7), (&all[..17], 6), (&all[5..8], 6), (&all[9..10], 8)]
    {
        compare(chosen, time, bits(net.forward(batch(chosen, time, &device), &mut Mode::Eval)));
    }
}

#[test]
fn padding_never_changes_a_prediction() {
    for (form, hidden) in sizes() {
        for cell in [CellKind::Lstm, CellKind::Gru, CellKind::Rnn] {
            for both in [false, true] {
                let label =
                    |kind: &str| format!("{form:?} {hidden:?} {cell:?} {kind}, two directions: {both}");
                let config = SequenceClassifierConfig::new([8, 9], hidden.clone(), 5).with_form(form);
                let config = config.with_cell(cell).with_bidirectional(both).with_layers(2);
                let init = |device: &Device| config.init(&mut seed(), device).unwrap();
                same_bits_padded(&label("classifier"), init, false);
                let config = SequenceRegressorConfig::new([8, 9], hidden.clone(), [3, 2]).with_form(form);
                let config = config.with_cell(cell).with_bidirectional(both);
                let init = |device: &Device| config.init(&mut seed(), device).unwrap();
                same_bits_padded(&label("regressor"), init, false);
                let config = SequenceLabellerConfig::new([8, 9], hidden.clone(), 4).with_form(form);
                let config = config.with_cell(cell).with_bidirectional(both).with_layers(2);
                let init = |device: &Device| config.init(&mut seed(), device).unwrap();
                same_bits_padded(&label("labeller"), init, true);
                let config = SequenceLabellerConfig::new([8, 9], hidden.clone(), [3, 2]).with_form(form);
                let config = config.with_cell(cell).with_bidirectional(both);
                let init = |device: &Device| config.init(&mut seed(), device).unwrap();
                same_bits_padded(&label("labeller of matrices"), init, true);
            }
            let config = Seq2SeqConfig::new([8, 9], hidden.clone(), 2).with_form(form).with_cell(cell);
            let config = config.with_decoder_state(DecoderState::Encoder);
            let init = |device: &Device| config.init(&mut seed(), device).unwrap();
            same_bits_padded(&format!("{form:?} {hidden:?} {cell:?} seq2seq"), init, false);
        }
    }
}

/// The gradients of all parameters of a net.
struct Collect<'a>(&'a Gradients, Vec<u32>);

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.1.extend(bits(param.val().grad(self.0).expect("every parameter has a gradient")));
    }
}

/// NaN in the padding reaches no gradient, of no parameter and of no input.
#[test]
fn padding_reaches_no_gradient() {
    let device = Device::flex().autodiff();
    for (form, hidden) in [(Form::Vector, vec![30]), (Form::Matrix, vec![9, 8])] {
        for cell in [CellKind::Lstm, CellKind::Gru, CellKind::Rnn] {
            let config = SequenceLabellerConfig::new([6, 5], hidden.clone(), 4).with_form(form);
            let config = config.with_cell(cell).with_bidirectional(true).with_layers(2);
            let net = config.init(&mut seed(), &device).unwrap();
            let (lengths, time) = ([3, 1, 5, 2, 2], 5);
            let run = |padding: f32| {
                let mut numbers = vec![0.5_f32; lengths.len() * time * 30];
                for (sequence, length) in numbers.chunks_mut(time * 30).zip(lengths) {
                    sequence[length * 30..].fill(padding);
                }
                let data = TensorData::new(numbers, [lengths.len(), time, 6, 5]);
                let x = Tensor::<4>::from_data(data, &device).require_grad();
                // A loss that asks for the output at the padding, too.
                let output = net.forward(Sequences::padded(x.clone(), lengths), &mut Mode::Eval);
                let gradients = (output - 1.0).square().sum().backward();
                let of_x = bits(x.grad(&gradients).unwrap());
                let mut weights = Collect(&gradients, Vec::new());
                net.visit(&mut weights);
                (of_x, weights.1)
            };
            let label = format!("{form:?} {cell:?}");
            let (of_x, weights) = run(f32::NAN);
            assert!((of_x.clone(), weights.clone()) == run(7.0), "{label}");
            for (at, &of_x) in of_x.iter().enumerate() {
                let (sequence, step) = (at / (time * 30), at / 30 % time);
                let (padding, number) = (step >= lengths[sequence], f32::from_bits(of_x));
                assert!(number.is_finite() && (number == 0.0) == padding, "{label}: {number} at {at}");
            }
            assert!(weights.iter().all(|&x| f32::from_bits(x).is_finite()), "{label}: weights");
        }
    }
}

#[test]
fn turing_machines() {
    for (form, hidden) in [(Form::Vector, vec![50]), (Form::Matrix, vec![12, 10])] {
        let config = TuringMachineConfig::new([6, 1], hidden, [5, 1]).with_form(form);
        let label = format!("{form:?} Turing machine");
        same_bits(&label, |device| config.init(&mut seed(), device).unwrap(), [100, 4, 6, 1]);
    }
}

#[test]
fn memory_nets() {
    fn check<N: Net<Input = Stories, Output = Tensor<2>>>(label: &str, net: &N) {
        let mut rng = SeededRng::new(1, label);
        let mut line = |most: usize| -> Vec<u32> {
            let words = 1 + rng.below(most);
            (0..words).map(|_| 1 + rng.below(60) as u32).collect()
        };
        let all: Vec<_> =
            (0..64).map(|at| ((0..at % 23).map(|_| line(6)).collect::<Vec<_>>(), line(5))).collect();
        let run = |first: usize, count: usize| {
            let mut stories = Stories::default();
            all[first..first + count].iter().for_each(|(story, question)| stories.push(story, question));
            bits(net.forward(stories, &mut Mode::Eval))
        };
        let whole = run(0, 64);
        for batch in [1, 2, 7] {
            for first in [0, 13, 44, 64 - batch] {
                let want = &whole[first * 60..(first + batch) * 60];
                assert!(run(first, batch) == want, "{label}: story {first} in a batch of {batch}");
            }
        }
    }
    let device = Device::flex();
    for (dim, heads) in [(5, 1), (24, 3), (130, 2)] {
        for tying in [Tying::Adjacent, Tying::LayerWise] {
            let config = EndToEndConfig::new(60, 6, dim).with_heads(heads).with_tying(tying);
            let net = config.init(&mut seed(), &device).unwrap();
            check(&format!("end to end {dim} {tying:?}"), &net);
        }
        let net = MemoryNetworkConfig::new(60, 6, dim).with_hops(2).init(&mut seed(), &device).unwrap();
        check(&format!("memory network {dim}"), &net);
    }
}

/// A graph, and the same one followed by another that nothing links to it.
fn alone_and_beside(rng: &mut SeededRng, nodes: usize, more: usize) -> [Graph; 2] {
    let mut edges = |first: usize, nodes: usize| -> Vec<(u32, u32)> {
        let mut end = || (first + rng.below(nodes)) as u32;
        (0..3 * nodes).map(|_| (end(), end())).collect()
    };
    let one = edges(0, nodes);
    let both = [one.clone(), edges(nodes, more)].concat();
    [Graph::new(nodes, &one, false).unwrap(), Graph::new(nodes + more, &both, false).unwrap()]
}

/// The nodes of a graph have the same bits alone and beside another graph, which is how graphs are batched.
#[test]
fn nets_on_graphs() {
    fn check<N: GraphNet>(label: &str, net: &N) {
        for nodes in [1, 2, 7, 64, 500] {
            let mut rng = SeededRng::new(nodes as u64, label);
            let [one, both] = alone_and_beside(&mut rng, nodes, 90);
            let features = random::<2>(&mut rng, [nodes + 90, 40], &Device::flex());
            let run = |graph: &Graph, features: Tensor<2>| {
                let input = GraphInput::new(features, &net.links(graph).unwrap());
                bits(net.forward(input, &mut Mode::Eval))
            };
            let alone = run(&one, features.clone().narrow(0, 0, nodes));
            let beside = run(&both, features);
            assert!(alone == beside[..alone.len()], "{label}: {nodes} nodes");
        }
    }
    let device = Device::flex();
    for width in [5, 24, 130] {
        for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
            let config = ColumnNetConfig::new(40, width, 6).with_aggregation(aggregation).with_depth(2);
            let net = sized(config, 3, 4).init(&mut seed(), &device).unwrap();
            check(&format!("{aggregation:?} {width}"), &net);
        }
        check(&format!("GCN {width}"), &GcnConfig::new(40, [width], 6).init(&mut seed(), &device).unwrap());
        let net = ChebyshevNetConfig::new(40, [width], 6).init(&mut seed(), &device).unwrap();
        check(&format!("Chebyshev {width}"), &net);
    }
}

/// NaN in one sample makes its output and all gradients NaN, and no other sample's output.
#[test]
fn nan_goes_through_whole_nets() {
    let device = Device::flex().autodiff();
    let activations = [Activation::Identity, Activation::Relu, Activation::Sigmoid, Activation::Tanh];
    for activation in activations {
        for (form, hidden) in [(Form::Vector, vec![30]), (Form::Matrix, vec![9, 8])] {
            for skip in [Skip::None, Skip::Highway] {
                for sick in [0, 3] {
                    let config = FeedForwardConfig::new([6, 5], hidden.clone(), 4).with_form(form);
                    let config = config.with_depth(Some(3)).with_skip(skip).with_activation(activation);
                    let net = config.init(&mut seed(), &device).unwrap();
                    let mut numbers = vec![0.5_f32; 5 * 30];
                    numbers[sick * 30 + 7] = f32::NAN;
                    let x =
                        Tensor::<3>::from_data(TensorData::new(numbers, [5, 6, 5]), &device).require_grad();
                    let output = net.forward(x.clone(), &mut Mode::Eval);
                    let label = format!("{activation:?} {form:?} {skip:?} {sick}");
                    let nan =
                        |data: TensorData| -> Vec<bool> { data.iter::<f32>().map(f32::is_nan).collect() };
                    for (at, nan) in nan(output.clone().into_data()).into_iter().enumerate() {
                        assert_eq!(nan, at / 4 == sick, "{label}: output {at}");
                    }
                    let gradients = (output.clone() * output).sum().backward();
                    let of_x = nan(x.grad(&gradients).unwrap().into_data());
                    assert!(of_x[sick * 30..(sick + 1) * 30].iter().all(|&nan| nan), "{label}: gradient");
                    assert_eq!(of_x.iter().filter(|&&nan| nan).count(), 30, "{label}: gradient of others");
                }
            }
        }
    }
}
