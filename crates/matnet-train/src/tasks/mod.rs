//! The tasks: what is special to samples, graphs, stories and algorithms, and nothing else.

pub mod algorithms;
pub(crate) mod classes;
pub mod graph;
pub mod samples;
mod source;
pub mod stories;
