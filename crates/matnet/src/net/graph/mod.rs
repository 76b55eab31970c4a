//! Nets on graphs: a score per class for every node.
//!
//! The state of all nodes together is a matrix H, `[nodes, width]`. What comes from the neighbours multiplies it from
//! the left, in the place of Uᵀ: a mean, attention, or a polynomial of the adjacency.

mod chebyshev_net;
mod column_net;
mod gcn;

use crate::error::{ConfigError, MAX_DEPTH, check_count, check_sides};
use crate::graph::GraphInput;

pub use chebyshev_net::{ChebyshevNet, ChebyshevNetConfig};
pub use column_net::{ColumnNet, ColumnNetConfig};
pub use gcn::{Gcn, GcnConfig};

/// Panics unless a net is given as many features as it was built for, and a row for every node.
fn check_nodes(net: &str, input: &GraphInput, features: usize) {
    let (nodes, width) = (input.features.nodes(), input.features.width());
    assert_eq!(width, features, "{net}: built for {features} features, got {width}");
    let linked = input.links.nodes();
    assert_eq!(nodes, linked, "{net}: features of {nodes} nodes, links of {linked}");
}

/// The widths from layer to layer: the features, the hidden ones, the classes.
fn widths(features: usize, hidden: &[usize], classes: usize) -> Result<Vec<usize>, ConfigError> {
    check_sides("features", &[features])?;
    check_count("classes", classes, crate::MAX_NUMBERS)?;
    if hidden.len() >= MAX_DEPTH {
        let expected = format!("must list fewer than {MAX_DEPTH} layers");
        return Err(ConfigError::new("hidden", format!("{} layers", hidden.len()), expected));
    }
    if let Some(at) = hidden.iter().position(|&width| width == 0) {
        return Err(ConfigError::new("hidden", format!("0 at layer {}", at + 1), "must be at least 1"));
    }
    let mut widths = vec![features];
    widths.extend_from_slice(hidden);
    widths.push(classes);
    for (at, pair) in widths.windows(2).enumerate() {
        let key = match at {
            0 => "features",
            _ if at + 2 == widths.len() => "classes",
            _ => "hidden",
        };
        check_sides(key, pair)?;
    }
    Ok(widths)
}
