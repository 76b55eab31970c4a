//! Graphs for tests, and their matrices.

use burn::tensor::Device;
use matnet::graph::{Graph, Linking, Sparse};
use matnet::prelude::*;

use super::between;

/// Up to `most` random edges, directed or not.
pub fn random_graph(rng: &mut SeededRng, nodes: usize, most: usize) -> Graph {
    let edges: Vec<(u32, u32)> =
        (0..between(rng, 0, most)).map(|_| (rng.below(nodes) as u32, rng.below(nodes) as u32)).collect();
    Graph::new(nodes, &edges, rng.below(2) == 0).unwrap()
}

/// The first matrix that a linking makes.
pub fn only(linking: Linking, graph: &Graph) -> Sparse {
    linking.links(graph).unwrap().hop(0)[0].clone()
}

/// Its numbers, row by row.
pub fn dense(matrix: &Sparse) -> Vec<Vec<f32>> {
    let data = matrix.to_dense(&Device::flex()).into_data();
    data.as_slice::<f32>().unwrap().chunks(matrix.cols()).map(<[f32]>::to_vec).collect()
}
