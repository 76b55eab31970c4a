//! Graphs larger than memory: a folder with the rows of the adjacency matrices and the features, made by [`pack()`] and read by
//! [`PackedGraph`].
//!
//! | file | contents |
//! |---|---|
//! | `graph.json` | sizes, relations, classes, and size and SHA-256 of every other file |
//! | `offsets-R.npy` | `int64 [nodes + 1]`: where the rows of relation R begin |
//! | `neighbors-R.npy` | `uint32 [entries]`: the neighbours of all nodes, row after row, in increasing order, each once |
//! | `features.npy` | `float32 [nodes, features]` |
//! | `loops.npy` | `uint32`: nodes with an edge to themselves |
//! | `degrees.npy` | `uint32 [nodes]`: neighbours in all relations together; with several relations only |
//! | `order.npy` | `uint32 [nodes]`: the node of the source that stands in each row; with another order than that of the source only |
//! | `labels.npy` | `int32 [nodes]`: classes, −1 for unknown, in the order of the source; as the following, only if there are any |
//! | `train.npy`, `valid.npy`, `test.npy` | `uint32`: a split, as numbers of the source |
//! | `names.txt` | the names of the nodes, one per line, in the order of the source |
//! | `features.txt` | the names of the features, one per line |
//!
//! Files are read by position, not mapped into memory: what is resident is ours alone, and a file that is cut off meanwhile is an error.

mod array;
mod edges;
mod header;
mod names;
mod nodes;
mod open;
mod order;
mod rows;
mod sort;
mod source;
mod work;
mod write;

pub use edges::Directed;
pub use header::{PackHeader, PackedFile, PackedRelation};
pub use open::PackedGraph;
pub use order::{NodeOrder, reverse_cuthill_mckee};
pub use source::PackSource;
pub use write::{PackOptions, PackProgress, pack};
