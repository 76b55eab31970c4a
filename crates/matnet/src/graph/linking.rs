//! The matrices that nets on graphs multiply their states with.

use serde::{Deserialize, Serialize};

use super::laplacian::scaled_laplacian;
use super::{Graph, GraphError, LambdaMax, Links, Sparse};

/// The matrix that aggregates states over the neighbours. A is the adjacency matrix, D the diagonal matrix of degrees.
///
/// | linking | matrix | per |
/// |---|---|---|
/// | `Mean` | D⁻¹ A | relation |
/// | `Adjacency` | A, for attention | relation |
/// | `Slots(k)` | A, the first k entries of each row; the s-th is the neighbour in slot s | relation |
/// | `Symmetric` | D^−½ A D^−½ | graph |
/// | `Renormalized` | D̃^−½ Ã D̃^−½, Ã = A + I | graph |
/// | `Laplacian` | 2L/λ − I, L = I − D^−½ A D^−½, or I − D⁻¹ A if directed | graph |
///
/// Matrices per graph treat all relations as one. Rows of nodes without neighbours are zero, except for the diagonal of the
/// last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Linking {
    /// The mean of the neighbours.
    Mean,
    /// The neighbours without weights, for attention.
    Adjacency,
    /// This many neighbours concatenated, in order of their numbers; missing ones are zero, further ones are left out.
    Slots(usize),
    /// The symmetrically normalised adjacency.
    Symmetric,
    /// The same with a self loop at every node: the renormalization trick of GCN.
    Renormalized,
    /// The Laplacian, scaled so that its eigenvalues lie between −1 and 1.
    Laplacian(LambdaMax),
}

impl Linking {
    /// The matrices for all nodes of a graph.
    pub fn links(self, graph: &Graph) -> Result<Links, GraphError> {
        let matrices = self.matrices(graph);
        let finished = matrices.into_iter().map(|matrix| self.finish(matrix)).collect::<Result<_, _>>()?;
        Ok(Links::whole(finished))
    }

    /// The matrices before [`finish`](Self::finish): one row per node, and weights only where they depend on more
    /// than the row.
    pub(super) fn matrices(self, graph: &Graph) -> Vec<Sparse> {
        match self {
            Self::Mean | Self::Adjacency | Self::Slots(_) => {
                (0..graph.relations()).map(|relation| graph.adjacency(relation).clone()).collect()
            }
            Self::Symmetric => vec![symmetric(&graph.union())],
            Self::Renormalized => vec![symmetric(&with_loops(&graph.union()))],
            Self::Laplacian(lambda) => vec![scaled_laplacian(graph, lambda)],
        }
    }

    /// What remains to be done for each row once its entries are known.
    pub(super) fn finish(self, matrix: Sparse) -> Result<Sparse, GraphError> {
        match self {
            Self::Mean => {
                let weight = |row: usize| {
                    let count = matrix.row(row).0.len();
                    std::iter::repeat_n(1.0 / count as f32, count)
                };
                let weights = (0..matrix.rows()).flat_map(weight).collect();
                Ok(matrix.with_weights(weights))
            }
            Self::Slots(0) => Err(GraphError::Zero("num_neighbors")),
            Self::Slots(slots) if matrix.longest_row() <= slots => Ok(matrix),
            Self::Slots(slots) => {
                let (mut offsets, mut columns) = (vec![0], Vec::new());
                for row in 0..matrix.rows() {
                    columns.extend(matrix.row(row).0.iter().take(slots));
                    offsets.push(columns.len());
                }
                Sparse::new(matrix.cols(), offsets, columns, None)
            }
            Self::Adjacency | Self::Symmetric | Self::Renormalized | Self::Laplacian(_) => Ok(matrix),
        }
    }
}

/// D^−½ A D^−½, D being the sums of the rows.
fn symmetric(adjacency: &Sparse) -> Sparse {
    let degree = |node: usize| adjacency.row(node).0.len() as f64;
    let weights = (0..adjacency.rows()).flat_map(|row| {
        // In directed graphs a neighbour may have no neighbours itself; it counts as of degree 1.
        adjacency.row(row).0.iter().map(move |&to| (degree(row) * degree(to as usize).max(1.0)).sqrt())
    });
    let weights = weights.map(|product| (1.0 / product) as f32).collect();
    adjacency.with_weights(weights)
}

/// A + I, with 1 on the diagonal even where there was a self loop.
fn with_loops(adjacency: &Sparse) -> Sparse {
    let (mut offsets, mut columns) = (vec![0], Vec::with_capacity(adjacency.entries() + adjacency.rows()));
    for node in 0..adjacency.rows() {
        let row = adjacency.row(node).0;
        let before = row.partition_point(|&to| (to as usize) < node);
        let after = row.partition_point(|&to| to as usize <= node);
        columns.extend_from_slice(&row[..before]);
        columns.push(node as u32);
        columns.extend_from_slice(&row[after..]);
        offsets.push(columns.len());
    }
    Sparse::new(adjacency.cols(), offsets, columns, None).expect("a matrix and its diagonal make a matrix")
}
