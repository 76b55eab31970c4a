//! Errors of graphs.

/// Why edges, features or a batch of nodes are not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// There are no nodes.
    #[error("a graph needs at least one node")]
    Empty,
    /// There is no list of edges, not even an empty one.
    #[error("a graph needs at least one relation")]
    NoRelation,
    /// The net was built for another graph.
    #[error("number of relations: {graph} in the graph, {net} in the net")]
    Relations {
        /// How many relations the graph has.
        graph: usize,
        /// How many the net takes.
        net: usize,
    },
    /// An edge names a node that is not there.
    #[error("edge {edge} of relation {relation} names node {node}; there are {nodes} nodes, counted from 0")]
    Node {
        /// Which list of edges.
        relation: usize,
        /// The place of the edge in the list.
        edge: usize,
        /// The node it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A batch names a node that is not there.
    #[error("the batch names node {node}; there are {nodes} nodes, counted from 0")]
    BatchNode {
        /// The node it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A batch names a node twice.
    #[error("the batch names node {0} twice")]
    Twice(u32),
    /// A count that must be at least 1.
    #[error("{0}: 0; must be at least 1")]
    Zero(&'static str),
    /// A dropout rate that is not valid.
    #[error("rate: {0}; must be at least 0 and below 1")]
    Rate(String),
    /// More nodes or edges than 32 bits can number.
    #[error("more nodes or edges than 32 bits can number")]
    TooLarge,
    /// A batch needs more nodes or edges than its limit allows.
    #[error("a batch needs too many nodes or edges")]
    BatchTooLarge,
    /// A graph that is not in memory could not be read.
    #[error("{0}")]
    Read(String),
    /// Offsets, columns or weights do not make a sparse matrix.
    #[error("{0}")]
    Matrix(String),
}
