//! The tasks: what is special to samples, graphs, stories and algorithms, and nothing else.

pub mod algorithms;
pub(crate) mod classes;
pub mod graph;
pub mod samples;
mod source;
pub mod stories;

use matnet_data::SplitIndices;

use crate::{Error, Result};

/// Fails unless the weights of samples or nodes, the `thing`, are numbers of at least 0, and not all 0 in a split: losses and metrics are divided
/// by their sum.
fn check_weights(weights: &[f32], splits: &SplitIndices, thing: &str) -> Result<()> {
    if let Some(at) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        let what = format!("the weight of {thing} {at} is {}; at least 0 expected", weights[at]);
        return Err(Error::data_key("data.source", what));
    }
    let named = [("training", &splits.train), ("validation", &splits.valid), ("test", &splits.test)];
    for (name, members) in named.into_iter().filter(|(_, members)| !members.is_empty()) {
        if !weights.is_empty() && members.iter().all(|&at| weights[at] == 0.0) {
            return Err(Error::data_key("data.source", format!("all {name} {thing}s have weight 0")));
        }
    }
    Ok(())
}
