//! Graphs, and the sparse matrices that aggregate states over neighbours.
//!
//! A [`Graph`] is built from lists of edges. A [`Linking`] says which matrix a net multiplies its states with (the mean, the
//! renormalized adjacency, the scaled Laplacian, …). [`Links`] are those matrices for the whole graph or, from a [`Sampler`],
//! for a mini-batch of nodes. [`Features`] are the node features. A [`GraphStore`] is a graph that is not in memory.
//!
//! # Special cases
//!
//! | case | treatment |
//! |---|---|
//! | node without neighbours | its row of every aggregate is zero. The Laplacian has a 1 on its diagonal. |
//! | self loop | the node is one of its own neighbours. A + I has 1 on the diagonal, loop or not; the Laplacian leaves loops out. |
//! | repeated edge | counts once. In an undirected graph (i, j) and (j, i) are the same edge. |
//!
//! ```
//! use matnet::graph::{Graph, Linking};
//!
//! // A path of three nodes, and one node alone; an edge is repeated.
//! let graph = Graph::new(4, &[(0, 1), (1, 2), (2, 1)], false)?;
//! assert_eq!((graph.nodes(), graph.degree(1), graph.degree(3)), (4, 2, 0));
//! let links = Linking::Mean.links(&graph)?;
//! let (columns, weights) = links.hop(0)[0].row(1);
//! assert_eq!((columns, weights), (&[0, 2][..], Some(&[0.5, 0.5][..])));
//! # Ok::<(), matnet::graph::GraphError>(())
//! ```

mod edges;
mod error;
mod features;
mod laplacian;
mod linking;
mod links;
mod sampler;
mod sparse;
mod store;

pub use edges::{Edges, Graph};
pub use error::GraphError;
pub use features::Features;
pub use laplacian::LambdaMax;
pub use linking::Linking;
pub use links::{GraphInput, Links};
pub use sampler::{Batch, BatchLimit, Batches, Sampler};
pub use sparse::Sparse;
pub use store::GraphStore;
