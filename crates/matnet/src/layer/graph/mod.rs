//! Layers on graphs. States are `[nodes, width]`.
//!
//! A layer takes the sparse matrix of its hop ([`Links`](crate::graph::Links)). Where that has fewer rows than columns, as in
//! mini-batches, the first rows of the state belong to the nodes of the output.

mod chebyshev;
mod column;
mod edge_attention;
mod feature_map;
mod graph_conv;

use burn::module::Param;
use burn::tensor::Tensor;

pub use chebyshev::{Chebyshev, ChebyshevConfig};
pub use column::{Aggregation, ColumnLayer, ColumnLayerConfig};
pub(crate) use column::{HEADS, NUM_NEIGHBORS};
pub use edge_attention::{EdgeAttention, EdgeAttentionConfig};
pub use feature_map::FeatureMap;
pub(crate) use feature_map::drop_features;
pub use graph_conv::{GraphConv, GraphConvConfig};

use crate::ops::Activation;

/// σ(P + b).
fn activated(product: Tensor<2>, bias: &Option<Param<Tensor<1>>>, activation: Activation) -> Tensor<2> {
    activation.of_sum(product, bias.as_ref().map(Param::val))
}

/// The first `rows` rows.
fn first_rows(state: Tensor<2>, rows: usize) -> Tensor<2> {
    if state.dims()[0] == rows { state } else { state.narrow(0, 0, rows) }
}
