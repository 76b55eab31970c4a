//! Layers and nets.

use burn::tensor::{Device, Tensor};
use matnet::graph::Sparse;
use matnet::layer::ScoreKind;
use matnet::net::{Encoding, Tying};
use matnet::ops::{Activation, Cell, Keep, Sequences, Steps};
use matnet::prelude::*;
use matnet::vector::{VecCellConfig, VecLinearConfig};

use super::common::sized;
use super::same_module;

const FORMS: [Form; 2] = [Form::Matrix, Form::Vector];
const KINDS: [CellKind; 3] = [CellKind::Rnn, CellKind::Lstm, CellKind::Gru];

fn hidden(form: Form) -> Vec<usize> {
    if form == Form::Matrix { vec![7, 5] } else { vec![11] }
}

/// A step that always draws the same.
fn training() -> Mode {
    Mode::train(SeededRng::new(4, "noise"))
}

/// Four sequences of up to five steps.
fn padded(values: Tensor<4>) -> Sequences {
    Sequences::padded(values, [5, 2, 4, 1])
}

#[test]
fn layers() {
    same_module(
        "MatLinear",
        [9, 6, 4],
        |rng, device| MatLinearConfig::new([6, 4], [5, 3]).init(rng, device).unwrap(),
        |layer, input| layer.forward(input),
    );
    same_module(
        "VecLinear",
        [9, 6],
        |rng, device| VecLinearConfig::new(6, 5).init(rng, device).unwrap(),
        |layer, input| layer.forward(input),
    );
    for cell in [Cell::Lstm, Cell::Rnn(Activation::Tanh), Cell::Gru(Activation::Tanh)] {
        same_module(
            &format!("MatCell {cell:?}"),
            [4, 5, 6, 3],
            |rng, device| MatCellConfig::new(cell, [6, 3], [4, 5]).init(rng, device).unwrap(),
            |layer, input| layer.sequence(padded(input).into(), None, Keep::All).0,
        );
        same_module(
            &format!("VecCell {cell:?}"),
            [4, 5, 6, 1],
            |rng, device| VecCellConfig::new(cell, 6, 8).init(rng, device).unwrap(),
            |layer, input| layer.sequence(padded(input).into(), None, Keep::All).0,
        );
    }
    for form in FORMS {
        let cols = if form == Form::Matrix { 3 } else { 1 };
        same_module(
            &format!("Recurrent {form:?}, two layers, both directions"),
            [4, 5, 6, cols],
            |rng, device| {
                let config = RecurrentConfig::new([6, cols], hidden(form)).with_form(form);
                config.with_layers(2).with_bidirectional(true).with_dropout(0.3).init(rng, device).unwrap()
            },
            |layer, input| layer.forward(Steps::from(padded(input)), None, Keep::All, &mut training()).0,
        );
    }
    same_module(
        "MatBatchNorm",
        [9, 6, 4],
        |_, device| MatBatchNormConfig::new([6, 4]).init(device).unwrap(),
        |layer, input| layer.forward(input, &training()),
    );
    for score in [ScoreKind::Bilinear, ScoreKind::Additive] {
        same_module(
            &format!("MultiAttention {score:?}"),
            [4, 7, 5],
            |rng, device| {
                let config = MultiAttentionConfig::new(5, 3).with_score(score).with_output(Some(6));
                config.init(rng, device).unwrap()
            },
            |layer, input| layer.forward(input, None, None).matrix,
        );
    }
}

#[test]
fn nets_on_samples() {
    for form in FORMS {
        for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
            same_module(
                &format!("FeedForward {form:?} {skip:?}"),
                [9, 6, 4],
                |rng, device| {
                    let config = FeedForwardConfig::new([6, 4], hidden(form), 3).with_form(form);
                    let config = config.with_depth(Some(4)).with_activation(Activation::Tanh).with_skip(skip);
                    config.init(rng, device).unwrap()
                },
                |net, input| net.forward(input, &mut Mode::Eval),
            );
        }
        same_module(
            &format!("FeedForward {form:?} with batch norm and dropout"),
            [9, 6, 4],
            |rng, device| {
                let config = FeedForwardConfig::new([6, 4], hidden(form), [2, 3]).with_form(form);
                let config = config.with_batch_norm(true).with_dropout(0.3).with_depth(Some(2));
                config.with_activation(Activation::Sigmoid).init(rng, device).unwrap()
            },
            |net, input| net.forward(input, &mut training()),
        );
        same_module(
            &format!("AutoEncoder {form:?}"),
            [9, 6, 4],
            |rng, device| {
                let config = AutoEncoderConfig::new([6, 4], hidden(form), 4).with_form(form);
                config.with_activation(Activation::Tanh).init(rng, device).unwrap()
            },
            |net, input| net.forward(input, &mut training()),
        );
        for cell in KINDS {
            same_module(
                &format!("SequenceClassifier {form:?} {cell:?}"),
                [4, 5, 6, 4],
                |rng, device| {
                    let config = SequenceClassifierConfig::new([6, 4], hidden(form), 3).with_form(form);
                    config.with_cell(cell).init(rng, device).unwrap()
                },
                |net, input| net.forward(padded(input), &mut Mode::Eval),
            );
            same_module(
                &format!("SequenceLabeller {form:?} {cell:?}"),
                [4, 5, 6, 4],
                |rng, device| {
                    let config = SequenceLabellerConfig::new([6, 4], hidden(form), 3).with_form(form);
                    config.with_cell(cell).init(rng, device).unwrap()
                },
                |net, input| net.forward(padded(input), &mut Mode::Eval),
            );
            same_module(
                &format!("Seq2Seq {form:?} {cell:?}"),
                [4, 5, 6, 4],
                |rng, device| {
                    let config = Seq2SeqConfig::new([6, 4], hidden(form), 3).with_form(form);
                    config.with_cell(cell).init(rng, device).unwrap()
                },
                |net, input| net.forward(padded(input), &mut Mode::Eval),
            );
        }
        same_module(
            &format!("SequenceRegressor {form:?}, both directions, with a projection"),
            [4, 5, 6, 4],
            |rng, device| {
                let config = SequenceRegressorConfig::new([6, 4], hidden(form), [2, 3]).with_form(form);
                let config = config.with_bidirectional(true).with_projection(Some(hidden(form)));
                config.with_projection_activation(Activation::Tanh).init(rng, device).unwrap()
            },
            |net, input| net.forward(padded(input), &mut Mode::Eval),
        );
        for controller in [ControllerKind::Lstm, ControllerKind::Feedforward] {
            same_module(
                &format!("TuringMachine {form:?} {controller:?}"),
                [3, 6, 4, 1],
                |rng, device| {
                    let config = TuringMachineConfig::new([4, 1], hidden(form), [4, 1]).with_form(form);
                    let config = config.with_controller(controller).with_slots(9).with_slot_width(5);
                    config.with_read_heads(2).init(rng, device).unwrap()
                },
                |net, input| net.forward(input.into(), &mut Mode::Eval),
            );
        }
    }
}

#[test]
fn nets_on_graphs() {
    // Two nodes have the same neighbour, one has a self loop, the last has no neighbours.
    let edges = [(0, 1), (1, 2), (0, 2), (3, 3), (4, 0), (5, 0), (4, 5)];
    let graph = Graph::new(7, &edges, false).unwrap();
    let input = |features, links: Links| GraphInput { features: Features::Dense(features), links };
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        same_module(
            &format!("ColumnNet {aggregation:?}"),
            [7, 6],
            |rng, device| {
                let config = ColumnNetConfig::new(6, 5, 3).with_aggregation(aggregation).with_depth(2);
                sized(config, 3, 4).init(rng, device).unwrap()
            },
            |net, features| net.forward(input(features, net.links(&graph).unwrap()), &mut Mode::Eval),
        );
    }
    same_module(
        "Gcn",
        [7, 6],
        |rng, device| GcnConfig::new(6, [5], 3).init(rng, device).unwrap(),
        |net, features| net.forward(input(features, net.links(&graph).unwrap()), &mut Mode::Eval),
    );
    // Words of papers: features without zeros, which have no gradient; the argument takes no part.
    let words = Sparse::new(6, vec![0, 2, 3, 3, 5, 6, 7, 9], vec![0, 4, 1, 2, 5, 3, 0, 1, 5], None).unwrap();
    same_module(
        "Gcn of sparse features, a batch of sampled neighbours",
        [1],
        |rng, device| GcnConfig::new(6, [5], 3).init(rng, device).unwrap(),
        |net, none: Tensor<1>| {
            let sampler = Sampler::new(&graph, net.linking(), net.hops(), Some(2)).unwrap();
            let batch = sampler.batch(&[2, 0, 6], &mut SeededRng::new(5, "sample")).unwrap();
            let features = Features::Sparse(words.clone()).select(&batch.inputs);
            let scores = net.forward(GraphInput::new(features, &batch.links), &mut Mode::Eval);
            scores + none.mean().reshape([1, 1]) * 0.0
        },
    );
    same_module(
        "ChebyshevNet",
        [7, 6],
        |rng, device| ChebyshevNetConfig::new(6, [5], 3).init(rng, device).unwrap(),
        |net, features| net.forward(input(features, net.links(&graph).unwrap()), &mut Mode::Eval),
    );
}

#[test]
fn nets_on_stories() {
    let stories = || {
        let mut all = Stories::default();
        all.push(&[vec![1, 2, 3], vec![4, 5], vec![2, 6, 7, 8]], &[1, 4]);
        all.push(&[vec![3, 3]], &[2, 9, 5]);
        all
    };
    for (tying, encoding) in [(Tying::Adjacent, Encoding::Position), (Tying::LayerWise, Encoding::BagOfWords)]
    {
        same_module(
            &format!("EndToEnd {tying:?} {encoding:?}"),
            [1],
            |rng, device| {
                let config = EndToEndConfig::new(9, 5, 6).with_heads(2).with_hops(2).with_memory_size(4);
                config.with_tying(tying).with_encoding(encoding).init(rng, device).unwrap()
            },
            // There is no input with a gradient; the argument takes no part.
            |net, none: Tensor<1>| {
                net.forward(stories(), &mut training()) + none.mean().reshape([1, 1]) * 0.0
            },
        );
    }
    same_module(
        "MemoryNetwork",
        [1],
        |rng: &mut SeededRng, device: &Device| MemoryNetworkConfig::new(9, 5, 6).init(rng, device).unwrap(),
        |net, none: Tensor<1>| {
            let facts = [vec![0, 2], vec![0]];
            let supervised = net.supervised_loss(&stories(), &facts, &[3, 5], &mut Mode::Eval).unwrap();
            supervised.loss + none.mean() * 0.0
        },
    );
}
