//! Nets, one file per family.

mod graph;
mod matrices;
mod neighbors;
mod sequences;
mod stories;
mod turing;

pub use graph::NodeNet;
pub use matrices::{add_autoencoder, add_feedforward};
pub use sequences::{add_labeller, add_many_to_one, add_seq2seq};
pub use stories::{add_end_to_end, add_memory_network};
pub use turing::add_turing_machine;

use matnet::Form;

use crate::graph::{Graph, Value};

/// A vector net flattens its matrices to states of one column; `axes` come before rows and columns.
fn enter(graph: &mut Graph, form: Form, input: &Value, axes: usize) -> Value {
    match form {
        Form::Matrix => input.clone(),
        Form::Vector => graph.reshape(input, &[&vec![0; axes][..], &[-1, 1]].concat()),
    }
}
