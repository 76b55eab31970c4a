//! The nets of the table with ordinary Burn operations instead of the fused ones.
//!
//! Parameters and equations are those of the nets themselves.

use burn::module::Param;
use burn::tensor::{Tensor, activation::sigmoid};
use matnet::Net;
use matnet::layer::{ClassHead, Map, Recurrent, RecurrentCell};
use matnet::net::{Classifier, Seq2Seq, SequenceClassifier, StackLayer};
use matnet::ops::{Cell, Keep, MatState, RecurrentMaps, Steps, composed};
use matnet::vector::VecCell;

/// A feed-forward net of plain layers.
pub fn feed_forward(net: &Classifier, input: Tensor<3>) -> Tensor<2> {
    let state = net.layer.iter().fold(net.form().enter(input), |state, layer| match layer {
        StackLayer::Plain(unit) => map(&unit.map, state),
        _ => unreachable!("the table has no skips"),
    });
    class_head(&net.head, state)
}

/// A sequence classifier of one layer in one direction.
pub fn sequence_classifier(net: &SequenceClassifier, cell: Cell, input: Tensor<4>) -> Tensor<2> {
    let input = net.form().enter_sequence(input);
    let states = sequence(&net.recurrent, cell, input.into(), Keep::Last);
    class_head(&net.head, states.squeeze_dim::<3>(1))
}

/// An encoder and a decoder of one layer each.
pub fn seq2seq(net: &Seq2Seq, cell: Cell, steps: usize, input: Tensor<4>) -> Tensor<4> {
    let [batch, _, rows, cols] = input.dims();
    let input = net.form().enter_sequence(input);
    let last = sequence(&net.encoder, cell, input.into(), Keep::Last).squeeze_dim::<3>(1);
    let states = sequence(&net.decoder, cell, Steps::Constant(last, steps), Keep::All);
    let [_, _, state_rows, state_cols] = states.dims();
    let output = map(&net.head.map, states.reshape([batch * steps, state_rows, state_cols]));
    output.reshape([batch, steps, rows, cols])
}

fn class_head(head: &ClassHead, state: Tensor<3>) -> Tensor<2> {
    let state = match &head.projection {
        Some(projection) => map(projection, state),
        None => state,
    };
    let [batch, rows, cols] = state.dims();
    head.map.forward(state.reshape([batch, rows * cols]))
}

fn map(map: &Map, state: Tensor<3>) -> Tensor<3> {
    match map {
        Map::Matrix(map) => {
            let [row_map, col_map] =
                [&map.row_map, &map.col_map].map(|map| map.as_ref().expect("both maps").val());
            composed::mat1(state, row_map, col_map, map.bias.as_ref().map(Param::val), map.activation)
        }
        Map::Vector(map) => map.forward(state.squeeze_dim::<2>(2)).unsqueeze_dim::<3>(2),
    }
}

fn sequence(layer: &Recurrent, cell: Cell, steps: Steps, keep: Keep) -> Tensor<4> {
    match &layer.layer[0] {
        RecurrentCell::Matrix(own) => {
            let maps = RecurrentMaps {
                input_row_map: own.input_row_map.val(),
                input_col_map: own.input_col_map.val(),
                state_row_map: own.state_row_map.val(),
                state_col_map: own.state_col_map.val(),
                bias: own.bias.val(),
            };
            let batch = match &steps {
                Steps::Sequence(input) => input.values().dims()[0],
                Steps::Constant(input, _) => input.dims()[0],
            };
            let [_, rows, cols] = maps.bias.dims();
            let zeros = MatState::zeros(cell, [batch, rows, cols], &maps.bias.device());
            composed::recurrent(cell, steps, zeros, maps, keep).0
        }
        RecurrentCell::Vector(own) => match steps {
            Steps::Sequence(input) => vector_lstm(own, input.values().clone().squeeze_dim::<3>(3)),
            Steps::Constant(..) => unreachable!("the table has no vector decoder"),
        },
    }
}

/// A vector LSTM, the products of all gates together; gives the last h as `[batch, 1, hidden, 1]`.
fn vector_lstm(cell: &VecCell, input: Tensor<3>) -> Tensor<4> {
    let side_by_side = |stacked: Tensor<3>| {
        let [gates, from, to] = stacked.dims();
        stacked.swap_dims(0, 1).reshape([from, gates * to])
    };
    let ([batch, time, width], [gates, hidden]) = (input.dims(), cell.bias.val().dims());
    let bias = cell.bias.val().reshape([1, gates * hidden]);
    let from_input = input.reshape([batch * time, width]).matmul(side_by_side(cell.input_map.val())) + bias;
    let from_input = from_input.reshape([batch, time, gates * hidden]);
    let state_map = side_by_side(cell.state_map.val());
    let mut h = Tensor::zeros([batch, hidden], &from_input.device());
    let mut c = h.clone();
    for t in 0..time {
        let sums = from_input.clone().narrow(1, t, 1).squeeze_dim::<2>(1) + h.matmul(state_map.clone());
        let gate = |index: usize| sums.clone().narrow(1, index * hidden, hidden);
        c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * gate(3).tanh();
        h = sigmoid(gate(2)) * c.clone().tanh();
    }
    h.reshape([batch, 1, hidden, 1])
}
