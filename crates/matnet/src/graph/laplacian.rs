//! The scaled Laplacian, and its largest eigenvalue.

use matnet_kernels::{Level, sparse_product};
use serde::{Deserialize, Serialize};

use super::{Graph, Sparse};
use crate::random::SeededRng;

/// The largest eigenvalue λ of the Laplacian, by which it is scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LambdaMax {
    /// 2, the upper bound.
    #[default]
    Two,
    /// Estimated by power iteration.
    Estimated,
}

/// L̃ = 2L/λ − I with L = I − D^−½ A D^−½ for undirected graphs and L = I − D⁻¹ A for others. Self loops are left
/// out of A, and all relations are treated as one.
pub(super) fn scaled_laplacian(graph: &Graph, lambda: LambdaMax) -> Sparse {
    let union = graph.union();
    let linked: Vec<Vec<u32>> = (0..graph.nodes())
        .map(|node| union.row(node).0.iter().copied().filter(|&other| other as usize != node).collect())
        .collect();
    let degrees: Vec<f64> = linked.iter().map(|row| row.len() as f64).collect();
    let weight = |from: usize, to: usize| match graph.is_symmetric() {
        true => -1.0 / (degrees[from] * degrees[to]).sqrt(),
        false => -1.0 / degrees[from],
    };
    let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
    for (node, row) in linked.iter().enumerate() {
        let before = row.partition_point(|&other| (other as usize) < node);
        let entry = |&other: &u32| (other, weight(node, other as usize));
        let entries = row[..before].iter().map(entry);
        for (column, weight) in entries.chain([(node as u32, 1.0)]).chain(row[before..].iter().map(entry)) {
            columns.push(column);
            weights.push(weight);
        }
        offsets.push(columns.len());
    }
    let single = |weights: &[f64]| weights.iter().map(|&weight| weight as f32).collect();
    let laplacian = Sparse::new(graph.nodes(), offsets, columns, Some(single(&weights)))
        .expect("a graph and its diagonal make a matrix");
    let lambda = match lambda {
        LambdaMax::Two => 2.0,
        LambdaMax::Estimated => largest_eigenvalue(&laplacian),
    };
    let (places, _) = laplacian.matrix();
    for node in 0..graph.nodes() {
        for place in places.range(node) {
            let diagonal = f64::from(u8::from(places.columns()[place] as usize == node));
            weights[place] = 2.0 * weights[place] / lambda - diagonal;
        }
    }
    laplacian.with_weights(single(&weights))
}

/// |λ| of the largest eigenvalue of a Laplacian, between 1 and 2, by power iteration.
///
/// The growth of the vector is averaged over the second half of the steps, since it swings where the largest
/// eigenvalues are a complex pair, as they may be in directed graphs.
fn largest_eigenvalue(laplacian: &Sparse) -> f64 {
    const STEPS: usize = 300;
    let (places, weights) = laplacian.matrix();
    let mut rng = SeededRng::new(0, "power iteration");
    let mut vector: Vec<f64> = (0..laplacian.rows()).map(|_| rng.normal()).collect();
    let (mut growth, mut last) = (0.0, f64::NAN);
    for step in 0..STEPS {
        let next = sparse_product(Level::best(), places, weights, &vector, 1);
        let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        let before = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 || before == 0.0 {
            return 1.0;
        }
        let factor = norm / before;
        if (factor - last).abs() < 1e-10 {
            return factor.clamp(1.0, 2.0);
        }
        last = factor;
        if step >= STEPS / 2 {
            growth += factor.ln() / (STEPS - STEPS / 2) as f64;
        }
        vector = next.into_iter().map(|x| x / norm).collect();
    }
    growth.exp().clamp(1.0, 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laplacian(graph: &Graph) -> Sparse {
        // Scaled by 2, L̃ = L − I.
        let scaled = scaled_laplacian(graph, LambdaMax::Two);
        let (places, weights) = scaled.matrix();
        let mut weights = weights.expect("a weighted matrix").to_vec();
        for node in 0..graph.nodes() {
            for place in places.range(node).filter(|&place| places.columns()[place] as usize == node) {
                weights[place] += 1.0;
            }
        }
        scaled.with_weights(weights)
    }

    #[test]
    fn power_iteration_finds_known_eigenvalues() {
        // Complete graphs have n / (n − 1), rings of even length and stars have 2, no edges 1.
        let complete: Vec<(u32, u32)> = (0..5).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let ring: Vec<(u32, u32)> = (0..8).map(|i| (i, (i + 1) % 8)).collect();
        let star: Vec<(u32, u32)> = (1..7).map(|i| (0, i)).collect();
        for (nodes, edges, want) in [(5, complete, 1.25), (8, ring, 2.0), (7, star, 2.0), (3, vec![], 1.0)] {
            let graph = Graph::new(nodes, &edges, false).unwrap();
            let found = largest_eigenvalue(&laplacian(&graph));
            assert!((found - want).abs() < 1e-4, "{nodes} nodes: {found} instead of {want}");
        }
        // A directed ring of three: eigenvalues 1 − ω, |1 − ω| = √3.
        let ring = Graph::new(3, &[(0, 1), (1, 2), (2, 0)], true).unwrap();
        let found = largest_eigenvalue(&laplacian(&ring));
        assert!((found - 3.0_f64.sqrt()).abs() < 1e-3, "{found}");
    }
}
