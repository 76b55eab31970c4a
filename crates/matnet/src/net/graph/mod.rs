//! Nets on graphs: a score per class for every node.
//!
//! The states of all nodes together are a matrix H, `[nodes, width]`. The aggregation over the neighbours multiplies it
//! from the left, in the place of Uᵀ: a mean, attention, or a polynomial of the adjacency matrix.

mod chebyshev_net;
mod column_net;
mod gcn;

use burn::tensor::Tensor;

use super::{Net, NetConfig};
use crate::error::{ConfigError, MAX_DEPTH, check_count, check_sides};
use crate::graph::{Features, Graph, GraphError, GraphInput, Linking, Links};
use crate::layer::Dropout;
use crate::mode::Mode;
use crate::ops::Activation;

pub use chebyshev_net::{ChebyshevNet, ChebyshevNetConfig};
pub use column_net::{ColumnNet, ColumnNetConfig};
pub use gcn::{Gcn, GcnConfig};

/// A net on graphs: from the features of nodes and the links between them to scores `[nodes, classes]`.
pub trait GraphNet: Net<Input = GraphInput, Output = Tensor<2>> {
    /// The last hidden states, `[nodes, hidden]`; the scores, for a net of one layer.
    fn hidden(&self, input: &GraphInput, mode: &mut Mode) -> Tensor<2>;

    /// The matrix that states are multiplied with, for a [`Sampler`](crate::graph::Sampler).
    fn linking(&self) -> Linking;

    /// How many edges away the nodes are whose features reach a node's scores.
    fn hops(&self) -> usize;

    /// The links of a whole graph, computed once and used in each forward pass. An error if the graph is not one the net
    /// was built for.
    fn links(&self, graph: &Graph) -> Result<Links, GraphError> {
        self.linking().links(graph)
    }
}

/// The config of a net on graphs.
pub trait GraphNetConfig: NetConfig<Net: GraphNet> {
    /// How many features a node has.
    fn num_features(&self) -> usize;

    /// The number of classes.
    fn num_classes(&self) -> usize;

    /// The number of relations of the graph, for nets that distinguish them.
    fn num_relations(&self) -> Option<usize> {
        None
    }
}

/// Panics unless a net is given as many features as it was built for, and a row for every node.
fn check_nodes(net: &str, input: &GraphInput, num_features: usize) {
    let (nodes, width) = (input.features.nodes(), input.features.width());
    assert_eq!(width, num_features, "{net}: built for {num_features} features, got {width}");
    let linked = input.links.nodes();
    assert_eq!(nodes, linked, "{net}: features of {nodes} nodes, links of {linked}");
}

/// Runs layers one after another, with dropout between them; `layer` computes the one of this number.
fn run_layers(
    depth: usize,
    features: Features,
    dropout: Dropout,
    mode: &mut Mode,
    layer: impl Fn(usize, &Features) -> Tensor<2>,
) -> Tensor<2> {
    let mut state = layer(0, &features);
    mode.observe(|| "layer.0".to_owned(), &state);
    for at in 1..depth {
        state = layer(at, &dropout.forward(state, mode).into());
        mode.observe(|| format!("layer.{at}"), &state);
    }
    state
}

/// Input, output and activation of each layer: from the features over hidden layers of these widths to the classes.
fn layers(
    num_features: usize,
    hidden: &[usize],
    num_classes: usize,
    activation: Activation,
) -> Result<Vec<(usize, usize, Activation)>, ConfigError> {
    check_sides("num_features", &[num_features])?;
    check_count("num_classes", num_classes, crate::MAX_NUMBERS)?;
    if hidden.len() >= MAX_DEPTH {
        let expected = format!("must list fewer than {MAX_DEPTH} layers");
        return Err(ConfigError::new("hidden", format!("{} layers", hidden.len()), expected));
    }
    if let Some(at) = hidden.iter().position(|&width| width == 0) {
        return Err(ConfigError::new("hidden", format!("0 at layer {}", at + 1), "must be at least 1"));
    }
    let mut widths = vec![num_features];
    widths.extend_from_slice(hidden);
    widths.push(num_classes);
    let last = hidden.len();
    let layer = |(at, pair): (usize, &[usize])| {
        let key = match at {
            0 => "num_features",
            _ if at == last => "num_classes",
            _ => "hidden",
        };
        check_sides(key, pair)?;
        Ok((pair[0], pair[1], if at == last { Activation::Identity } else { activation }))
    };
    widths.windows(2).enumerate().map(layer).collect()
}
