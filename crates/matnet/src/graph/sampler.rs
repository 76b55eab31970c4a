//! Mini-batches of nodes, with the neighbourhoods they need.

use std::collections::HashMap;

use super::{Graph, GraphError, Linking, Links, Sparse};
use crate::random::Stream;

/// Makes mini-batches of nodes: for each hop the matrices that lead to the nodes needed after it, with all
/// neighbours or with at most so many, drawn anew for each batch and hop.
///
/// Where neighbours are left out, the mean is that of those who stay, and the fixed weights of
/// [`Linking::Symmetric`], [`Renormalised`](Linking::Renormalised) and [`Laplacian`](Linking::Laplacian) grow so that
/// sums keep their expectation; the diagonal always stays. With all neighbours a batch gives what the whole graph gives.
///
/// ```
/// use matnet::graph::{Graph, Linking, Sampler};
/// use matnet::random::Stream;
///
/// let ring: Vec<(u32, u32)> = (0..10).map(|i| (i, (i + 1) % 10)).collect();
/// let graph = Graph::new(10, &ring, false)?;
/// let sampler = Sampler::new(&graph, Linking::Mean, 2, Some(50))?;
/// let batch = sampler.batch(&[4], &mut Stream::new(42, "sample"))?;
/// // Two hops along a ring: 4, then 3 and 5, then 2 and 6.
/// assert_eq!(batch.inputs, [4, 3, 5, 2, 6]);
/// assert_eq!((batch.links.hop(0)[0].rows(), batch.links.hop(1)[0].rows()), (3, 1));
/// # Ok::<(), matnet::graph::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    nodes: usize,
    matrices: Vec<Sparse>,
    linking: Linking,
    hops: usize,
    neighbours: Option<usize>,
}

/// Nodes to learn from, and what they need.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The nodes that the net will give scores for, in this order.
    pub nodes: Vec<u32>,
    /// The nodes whose features it needs, in this order; those of the batch come first.
    pub inputs: Vec<u32>,
    /// The matrices of each hop.
    pub links: Links,
}

impl Sampler {
    /// Batches for nets of this linking and so many hops, which their `linking` and `hops` tell. Of more than
    /// `neighbours` neighbours, so many are drawn; `None` takes all.
    pub fn new(
        graph: &Graph,
        linking: Linking,
        hops: usize,
        neighbours: Option<usize>,
    ) -> Result<Self, GraphError> {
        if hops == 0 {
            return Err(GraphError::Zero("hops"));
        }
        if neighbours == Some(0) || linking == Linking::Slots(0) {
            return Err(GraphError::Zero("neighbours"));
        }
        // More than there are slots for would be left out in order, not at random.
        let neighbours = match linking {
            Linking::Slots(slots) => Some(neighbours.map_or(slots, |most| most.min(slots))),
            _ => neighbours,
        };
        let matrices = linking.matrices(graph);
        Ok(Self { nodes: graph.nodes(), matrices, linking, hops, neighbours })
    }

    /// The batch of these nodes.
    pub fn batch(&self, nodes: &[u32], stream: &mut Stream) -> Result<Batch, GraphError> {
        if nodes.is_empty() {
            return Err(GraphError::Zero("nodes in a batch"));
        }
        if let Some(&node) = nodes.iter().find(|&&node| node as usize >= self.nodes) {
            return Err(GraphError::BatchNode { node, nodes: self.nodes });
        }
        // Where a node stands among those that are needed.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut needed: Vec<u32> = Vec::new();
        for &node in nodes {
            if places.insert(node, needed.len() as u32).is_some() {
                return Err(GraphError::Twice(node));
            }
            needed.push(node);
        }
        let mut hops = Vec::new();
        for _ in 0..self.hops {
            let listening = needed.len();
            let mut rows = Vec::new();
            for matrix in &self.matrices {
                let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
                for at in 0..listening {
                    for (node, weight) in self.heard(matrix, needed[at], stream) {
                        let place = *places.entry(node).or_insert_with(|| {
                            needed.push(node);
                            (needed.len() - 1) as u32
                        });
                        columns.push(place);
                        weights.push(weight);
                    }
                    offsets.push(columns.len());
                }
                rows.push((offsets, columns, weights));
            }
            let build = |(offsets, columns, weights): (_, _, Vec<f32>)| {
                let weighted = matches!(
                    self.linking,
                    Linking::Symmetric | Linking::Renormalised | Linking::Laplacian(_)
                );
                self.linking.finish(Sparse::new(needed.len(), offsets, columns, weighted.then_some(weights))?)
            };
            hops.push(rows.into_iter().map(build).collect::<Result<Vec<_>, _>>()?);
        }
        hops.reverse();
        Ok(Batch { nodes: nodes.to_vec(), inputs: needed, links: Links::blocks(hops) })
    }

    /// Batches of at most `size` that hold each of these nodes once, in an order drawn from `stream`; so are the
    /// neighbours, batch after batch.
    pub fn batches<'a>(
        &'a self,
        nodes: &[u32],
        size: usize,
        stream: &'a mut Stream,
    ) -> Result<Batches<'a>, GraphError> {
        if size == 0 {
            return Err(GraphError::Zero("batch size"));
        }
        let mut order = nodes.to_vec();
        for at in (1..order.len()).rev() {
            order.swap(at, stream.below(at + 1));
        }
        Ok(Batches { sampler: self, order, size, at: 0, stream })
    }

    /// Whom a node hears, with weights.
    fn heard(&self, matrix: &Sparse, node: u32, stream: &mut Stream) -> Vec<(u32, f32)> {
        let (columns, weights) = matrix.row(node as usize);
        let weight = |at: usize| weights.map_or(1.0, |weights| weights[at]);
        let Some(most) = self.neighbours.filter(|&most| columns.len() > most) else {
            return columns.iter().enumerate().map(|(at, &column)| (column, weight(at))).collect();
        };
        if weights.is_none() {
            return super::edges::drawn(columns, most, stream).into_iter().map(|node| (node, 1.0)).collect();
        }
        let (own, others): (Vec<u32>, Vec<u32>) =
            (0..columns.len() as u32).partition(|&at| columns[at as usize] == node);
        let chosen = super::edges::drawn(&others, most, stream);
        let grow = others.len() as f32 / chosen.len() as f32;
        let own = own.into_iter().map(|at| (at, 1.0));
        let mut row: Vec<(u32, f32)> = own.chain(chosen.into_iter().map(|at| (at, grow))).collect();
        row.sort_unstable_by_key(|&(at, _)| at);
        row.into_iter().map(|(at, grow)| (columns[at as usize], grow * weight(at as usize))).collect()
    }
}

/// The batches of an epoch, made by [`Sampler::batches`].
#[derive(Debug)]
pub struct Batches<'a> {
    sampler: &'a Sampler,
    order: Vec<u32>,
    size: usize,
    at: usize,
    stream: &'a mut Stream,
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, GraphError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.order.len() {
            return None;
        }
        let end = self.at.saturating_add(self.size).min(self.order.len());
        let batch = self.sampler.batch(&self.order[self.at..end], self.stream);
        self.at = end;
        Some(batch)
    }
}
