//! Graphs whose rows are read when they are needed, because they would not fit into memory.

use std::fmt::Debug;
use std::sync::Arc;

use super::{GraphError, LambdaMax, Linking};

/// A graph that is not in memory: a [`Sampler`](super::Sampler) asks it for the neighbours of single nodes.
///
/// It holds what a [`Graph`](super::Graph) of the same edges would hold, so that both give the same bits.
pub trait GraphStore: Debug + Send + Sync {
    /// How many nodes.
    fn nodes(&self) -> usize;

    /// How many relations.
    fn relations(&self) -> usize;

    /// Whether all relations are undirected.
    fn is_symmetric(&self) -> bool;

    /// Appends the neighbours of a node in one relation, in increasing order.
    fn neighbors(&self, relation: usize, node: u32, into: &mut Vec<u32>) -> Result<(), GraphError>;

    /// How many neighbours a node has in all relations together, each counted once.
    fn degree(&self, node: u32) -> usize;

    /// Whether a node is one of its own neighbours.
    fn has_loop(&self, node: u32) -> bool;
}

/// The rows of the matrices of a [`Linking`] before they are finished, as [`Linking::matrices`] makes them of a graph in memory.
#[derive(Clone, Debug)]
pub(super) struct StoredMatrices {
    store: Arc<dyn GraphStore>,
    linking: Linking,
}

impl StoredMatrices {
    pub fn new(store: Arc<dyn GraphStore>, linking: Linking) -> Result<Self, GraphError> {
        match linking {
            Linking::Laplacian(LambdaMax::Estimated) => Err(GraphError::Matrix(
                "the largest eigenvalue of a graph that is not in memory cannot be estimated; take lambda_max = \"two\""
                    .to_owned(),
            )),
            _ => Ok(Self { store, linking }),
        }
    }

    pub fn nodes(&self) -> usize {
        self.store.nodes()
    }

    pub fn count(&self) -> usize {
        match self.linking {
            Linking::Mean | Linking::Adjacency | Linking::Slots(_) => self.store.relations(),
            Linking::Symmetric | Linking::Renormalized | Linking::Laplacian(_) => 1,
        }
    }

    /// Replaces columns and weights by those of a row; whether it has weights.
    pub fn row(
        &self,
        matrix: usize,
        node: u32,
        columns: &mut Vec<u32>,
        weights: &mut Vec<f32>,
    ) -> Result<bool, GraphError> {
        columns.clear();
        weights.clear();
        if matches!(self.linking, Linking::Mean | Linking::Adjacency | Linking::Slots(_)) {
            self.store.neighbors(matrix, node, columns)?;
            return Ok(false);
        }
        for relation in 0..self.store.relations() {
            self.store.neighbors(relation, node, columns)?;
        }
        if self.store.relations() > 1 {
            columns.sort_unstable();
            columns.dedup();
        }
        match self.linking {
            Linking::Symmetric => {
                let own = columns.len() as f64;
                let degree = |to: u32| (self.store.degree(to) as f64).max(1.0);
                weights.extend(columns.iter().map(|&to| (1.0 / (own * degree(to)).sqrt()) as f32));
            }
            Linking::Renormalized => {
                if let Err(place) = columns.binary_search(&node) {
                    columns.insert(place, node);
                }
                let own = columns.len() as f64;
                let degree = |to: u32| (self.store.degree(to) + usize::from(!self.store.has_loop(to))) as f64;
                weights.extend(columns.iter().map(|&to| (1.0 / (own * degree(to)).sqrt()) as f32));
            }
            // Scaled by λ = 2 the Laplacian keeps its weights but for the diagonal, which is 0.
            _ => {
                columns.retain(|&to| to != node);
                let own = columns.len() as f64;
                let degree = |to: u32| (self.store.degree(to) - usize::from(self.store.has_loop(to))) as f64;
                let symmetric = self.store.is_symmetric();
                let weight = |to: u32| match symmetric {
                    true => -1.0 / (own * degree(to)).sqrt(),
                    false => -1.0 / own,
                };
                weights.extend(columns.iter().map(|&to| weight(to) as f32));
                let place = columns.partition_point(|&to| to < node);
                columns.insert(place, node);
                weights.insert(place, 0.0);
            }
        }
        Ok(true)
    }
}
