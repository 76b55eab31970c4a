//! Degrees of the nodes of a graph.

use matnet_data::GraphData;

/// The number of distinct neighbors of each node, itself not counted.
pub struct Degrees {
    /// Sorted, smallest first.
    degrees: Vec<usize>,
    /// Distinct pairs of connected nodes.
    pub distinct: usize,
    /// Self loops.
    pub loops: usize,
}

impl Degrees {
    /// Counts them; direction does not matter here.
    pub fn of(graph: &GraphData) -> Self {
        let loops = graph.edges.iter().filter(|(from, to)| from == to).count();
        let mut pairs: Vec<(u32, u32)> =
            graph.edges.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut degrees = vec![0; graph.labels.len()];
        for &(a, b) in &pairs {
            for node in [a, b] {
                if let Some(degree) = degrees.get_mut(node as usize) {
                    *degree += 1;
                }
            }
        }
        degrees.sort_unstable();
        Self { degrees, distinct: pairs.len(), loops }
    }

    /// The minimum degree.
    pub fn min(&self) -> usize {
        self.degrees.first().copied().unwrap_or(0)
    }

    /// The maximum degree.
    pub fn max(&self) -> usize {
        self.degrees.last().copied().unwrap_or(0)
    }

    /// The median degree.
    pub fn median(&self) -> usize {
        self.degrees.get(self.degrees.len() / 2).copied().unwrap_or(0)
    }

    /// The mean degree.
    pub fn mean(&self) -> f64 {
        self.degrees.iter().sum::<usize>() as f64 / self.degrees.len().max(1) as f64
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.degrees.len()
    }

    /// Nodes per degree, in bins that double: 0, 1, 2, 3-4, 5-8, …
    pub fn bins(&self) -> Vec<(String, usize)> {
        let mut bins = Vec::new();
        let (mut first, mut last) = (0, 0);
        while first <= self.max() {
            let nodes =
                self.degrees.partition_point(|&d| d <= last) - self.degrees.partition_point(|&d| d < first);
            let name = if first == last { first.to_string() } else { format!("{first}-{last}") };
            bins.push((name, nodes));
            first = last + 1;
            last = (last * 2).max(first);
        }
        bins
    }
}

/// A small graph for tests: a node with three neighbours, one alone.
#[cfg(test)]
pub fn star() -> GraphData {
    GraphData {
        features: matnet_data::Array::new([5, 1], vec![1.0, 0.0, 0.0, 0.0, 0.0]).unwrap(),
        labels: vec![Some(0), Some(1), Some(1), None, Some(1)],
        class_names: vec!["hub".into(), "leaf".into()],
        weights: Vec::new(),
        edges: vec![(0, 1), (1, 0), (0, 2), (0, 3), (3, 3)],
        feature_names: Vec::new(),
        node_names: Vec::new(),
        relations: vec![1, 1, 0, 0, 0],
        relation_names: vec!["cites".into(), "likes".into()],
        directed: false,
        splits: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_count_distinct_neighbours() {
        let degrees = Degrees::of(&star());
        assert_eq!(
            (degrees.distinct, degrees.loops, degrees.degrees.as_slice()),
            (3, 1, &[0, 1, 1, 1, 3][..])
        );
        let bins: Vec<(String, usize)> = degrees.bins();
        let wanted =
            [("0", 1), ("1", 3), ("2", 0), ("3-4", 1)].map(|(name, nodes)| (name.to_string(), nodes));
        assert_eq!(bins, wanted);
    }
}
