//! The tasks: what is special to samples, graphs, stories and algorithms, and nothing else.

pub mod algorithms;
pub mod graph;
pub mod samples;
mod source;
pub mod stories;

/// matrix or vector.
fn form_name(form: matnet::Form) -> String {
    format!("{form:?}").to_lowercase()
}
