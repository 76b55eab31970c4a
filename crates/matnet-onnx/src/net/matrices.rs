//! Nets on single matrices.

use matnet::Form;
use matnet::layer::Head;
use matnet::net::{AutoEncoder, FeedForward, Net};

use super::enter;
use crate::graph::{Graph, Value};
use crate::layer::{HeadLayer, Layer, add_stack, add_transposed};

/// A feed-forward net: from `[batch, rows, cols]` to scores, values or matrices.
pub fn add_feedforward<T: Head + HeadLayer>(graph: &mut Graph, net: &FeedForward<T>, input: &Value) -> Value {
    let state = enter(graph, net.form(), input, 1);
    let state = add_stack(graph, &net.layer, net.depth, &state);
    graph.scoped("head", |graph| net.head.add_head(graph, &state, 1))
}

/// An auto-encoder: from `[batch, rows, cols]` to the same.
pub fn add_autoencoder(graph: &mut Graph, net: &AutoEncoder, input: &Value) -> Value {
    let mut state = enter(graph, net.form(), input, 1);
    for (at, map) in net.encoder.iter().enumerate() {
        state =
            graph.scoped("encoder", |graph| graph.scoped(&at.to_string(), |graph| map.add(graph, &state)));
    }
    let last = net.decoder.len() - 1;
    for (index, decoder) in net.decoder.iter().enumerate() {
        let at = last - index;
        let activation = if index == last { net.output_activation } else { net.activation };
        let [encoder, own] = [at.to_string(), index.to_string()];
        let map = &net.encoder[at];
        // The maps are stored with the encoder, outside of any scope.
        let bias = graph.scoped("decoder", |graph| {
            graph.scoped(&own, |graph| graph.parameter("bias", decoder.bias.val()))
        });
        state = add_transposed(graph, ["encoder", &encoder], map, &state, &bias, activation);
    }
    match net.form() {
        Form::Matrix => state,
        Form::Vector => {
            let [rows, cols] = net.input.map(|side| side as i64);
            graph.reshape(&state, &[0, rows, cols])
        }
    }
}
