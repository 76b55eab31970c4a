//! Nets on sequences of matrices. `mask` is true for the steps that count, where lengths differ.

use matnet::layer::Head;
use matnet::net::{DecoderState, ManyToOne, Net, Seq2Seq, SequenceLabeller};

use super::enter;
use crate::graph::{Graph, Value};
use crate::layer::HeadLayer;
use crate::recurrent::{Steps, add_recurrent};

/// A classifier or regressor: from `[batch, time, rows, cols]` to scores, values or a matrix.
pub fn add_many_to_one<T: Head + HeadLayer>(
    graph: &mut Graph,
    net: &ManyToOne<T>,
    input: &Value,
    mask: Option<&Value>,
) -> Value {
    let steps = Steps::Sequence(enter(graph, net.form(), input, 2));
    let read =
        graph.scoped("recurrent", |graph| add_recurrent(graph, &net.recurrent, steps, None, mask, false));
    graph.scoped("head", |graph| net.head.add_head(graph, &read.states, 1))
}

/// A labeller: scores or a matrix for every step.
pub fn add_labeller<T: Head + HeadLayer>(
    graph: &mut Graph,
    net: &SequenceLabeller<T>,
    input: &Value,
    mask: Option<&Value>,
) -> Value {
    let steps = Steps::Sequence(enter(graph, net.form(), input, 2));
    let read =
        graph.scoped("recurrent", |graph| add_recurrent(graph, &net.recurrent, steps, None, mask, true));
    graph.scoped("head", |graph| net.head.add_head(graph, &read.states, 2))
}

/// Encoder and decoder: the matrices that follow.
pub fn add_seq2seq(graph: &mut Graph, net: &Seq2Seq, input: &Value, mask: Option<&Value>) -> Value {
    let steps = Steps::Sequence(enter(graph, net.form(), input, 2));
    let read = graph.scoped("encoder", |graph| add_recurrent(graph, &net.encoder, steps, None, mask, false));
    let start = match net.decoder_state {
        DecoderState::Zeros => None,
        DecoderState::Encoder => Some(&read.ends[..]),
    };
    let steps = Steps::Constant(read.states, net.steps);
    let decoded =
        graph.scoped("decoder", |graph| add_recurrent(graph, &net.decoder, steps, start, None, true));
    graph.scoped("head", |graph| net.head.add_head(graph, &decoded.states, 2))
}
