//! Neighbour sampling: for all nodes, or for mini-batches with the neighbourhoods they need.

use std::collections::HashMap;
use std::sync::Arc;

use super::store::StoredMatrices;
use super::{Graph, GraphError, GraphStore, Linking, Links, Sparse};
use crate::random::SeededRng;

/// Samples the neighbours from which nodes aggregate in a training step: for all nodes at once, or for a mini-batch of them, with
/// the matrices of each hop. A node aggregates from all of its neighbours or from at most `num_neighbors`, and edges can be
/// dropped. Samples are independent between steps and, in mini-batches, between hops.
///
/// Where neighbours are left out, means are over the remaining ones, and the fixed weights of [`Linking::Symmetric`],
/// [`Renormalized`](Linking::Renormalized) and [`Laplacian`](Linking::Laplacian), which are those of the whole graph, are scaled up so
/// that sums keep their expectation; the diagonal is never dropped. With all neighbours, a batch gives what the whole graph
/// gives.
///
/// ```
/// use matnet::graph::{Graph, Linking, Sampler};
/// use matnet::random::SeededRng;
///
/// let ring: Vec<(u32, u32)> = (0..10).map(|i| (i, (i + 1) % 10)).collect();
/// let graph = Graph::new(10, &ring, false)?;
/// let sampler = Sampler::new(&graph, Linking::Mean, 2, Some(50))?;
/// let batch = sampler.batch(&[4], &mut SeededRng::new(42, "sample"))?;
/// // Two hops along a ring: 4, then 3 and 5, then 2 and 6.
/// assert_eq!(batch.inputs, [4, 3, 5, 2, 6]);
/// assert_eq!((batch.links.hop(0)[0].rows(), batch.links.hop(1)[0].rows()), (3, 1));
/// # Ok::<(), matnet::graph::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    nodes: usize,
    matrices: Matrices,
    linking: Linking,
    hops: usize,
    num_neighbors: Option<usize>,
    dropout: f64,
}

/// The matrices that rows are drawn from.
#[derive(Clone, Debug)]
enum Matrices {
    Memory(Vec<Sparse>),
    Stored(StoredMatrices),
}

impl Matrices {
    fn count(&self) -> usize {
        match self {
            Self::Memory(matrices) => matrices.len(),
            Self::Stored(stored) => stored.count(),
        }
    }
}

/// What draws are made of.
enum Draws<'a> {
    /// One generator, row after row.
    Step(&'a mut SeededRng),
    /// A generator of its own for every row, so that a node has the same neighbours in every batch.
    PerNode(u64),
}

/// How large a batch may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimit {
    /// Nodes whose features it needs.
    pub inputs: usize,
    /// Entries of all its matrices.
    pub entries: usize,
}

impl BatchLimit {
    /// No limit.
    pub const NONE: Self = Self { inputs: usize::MAX, entries: usize::MAX };
}

/// The rows of a matrix under construction.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
}

/// A mini-batch of nodes, with the nodes and links their scores depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The nodes that the net returns scores for, in this order.
    pub nodes: Vec<u32>,
    /// The nodes whose features the net needs, in this order; those of the batch come first.
    pub inputs: Vec<u32>,
    /// The matrices of each hop.
    pub links: Links,
}

impl Sampler {
    /// A sampler for nets of this linking and number of hops (see [`GraphNet`](crate::net::GraphNet)). Of more than `num_neighbors`
    /// neighbours, `num_neighbors` are sampled; `None` takes all.
    pub fn new(
        graph: &Graph,
        linking: Linking,
        hops: usize,
        num_neighbors: Option<usize>,
    ) -> Result<Self, GraphError> {
        Self::of(Matrices::Memory(linking.matrices(graph)), graph.nodes(), linking, hops, num_neighbors)
    }

    /// The same for a graph that is not in memory: its batches have the same bits as those of a graph that is.
    pub fn stored(
        store: Arc<dyn GraphStore>,
        linking: Linking,
        hops: usize,
        num_neighbors: Option<usize>,
    ) -> Result<Self, GraphError> {
        let matrices = StoredMatrices::new(store, linking)?;
        let nodes = matrices.nodes();
        Self::of(Matrices::Stored(matrices), nodes, linking, hops, num_neighbors)
    }

    fn of(
        matrices: Matrices,
        nodes: usize,
        linking: Linking,
        hops: usize,
        num_neighbors: Option<usize>,
    ) -> Result<Self, GraphError> {
        if hops == 0 {
            return Err(GraphError::Zero("hops"));
        }
        if num_neighbors == Some(0) || linking == Linking::Slots(0) {
            return Err(GraphError::Zero("num_neighbors"));
        }
        // Neighbours beyond the slots would be left out in order, not at random.
        let num_neighbors = match linking {
            Linking::Slots(slots) => Some(num_neighbors.map_or(slots, |most| most.min(slots))),
            _ => num_neighbors,
        };
        Ok(Self { nodes, matrices, linking, hops, num_neighbors, dropout: 0.0 })
    }

    /// The same with edge dropout: each edge is dropped with probability `rate` before neighbours are sampled.
    ///
    /// A node never loses all of its neighbours, from which a net would learn to ignore them: where all edges are dropped, one
    /// of them, chosen at random, is kept.
    pub fn with_dropout(self, rate: f64) -> Result<Self, GraphError> {
        if !(0.0..1.0).contains(&rate) {
            return Err(GraphError::Rate(rate.to_string()));
        }
        Ok(Self { dropout: rate, ..self })
    }

    /// Whether every sample is the whole graph.
    pub fn is_full_graph(&self) -> bool {
        let fits = |most| match &self.matrices {
            Matrices::Memory(matrices) => matrices.iter().all(|matrix| matrix.longest_row() <= most),
            Matrices::Stored(_) => false,
        };
        self.dropout == 0.0 && self.num_neighbors.is_none_or(fits)
    }

    /// All nodes, with one sample of neighbours for all hops.
    pub fn whole(&self, rng: &mut SeededRng) -> Result<Links, GraphError> {
        self.all(&mut Draws::Step(rng))
    }

    /// The same with a sample that `seed` and each node alone decide: a [fixed batch](Self::fixed_batch) has the same neighbours.
    pub fn fixed_whole(&self, seed: u64) -> Result<Links, GraphError> {
        self.all(&mut Draws::PerNode(seed))
    }

    fn all(&self, draws: &mut Draws) -> Result<Links, GraphError> {
        let all = 0..self.nodes as u32;
        let mut draw = |matrix| {
            let rows = self.rows(matrix, all.clone(), draws, usize::MAX, |node| node)?;
            self.finish(rows, self.nodes)
        };
        Ok(Links::whole((0..self.matrices.count()).map(&mut draw).collect::<Result<_, _>>()?))
    }

    /// The batch of these nodes.
    pub fn batch(&self, nodes: &[u32], rng: &mut SeededRng) -> Result<Batch, GraphError> {
        self.batch_within(nodes, rng, BatchLimit::NONE)
    }

    /// The batch of these nodes; an error if it is larger than `limit`.
    pub fn batch_within(
        &self,
        nodes: &[u32],
        rng: &mut SeededRng,
        limit: BatchLimit,
    ) -> Result<Batch, GraphError> {
        self.drawn_batch(nodes, Draws::Step(rng), limit)
    }

    /// The batch of these nodes, with neighbours that `seed` and each node alone decide; an error if it is larger than `limit`.
    pub fn fixed_batch(&self, nodes: &[u32], seed: u64, limit: BatchLimit) -> Result<Batch, GraphError> {
        self.drawn_batch(nodes, Draws::PerNode(seed), limit)
    }

    fn drawn_batch(&self, nodes: &[u32], mut draws: Draws, limit: BatchLimit) -> Result<Batch, GraphError> {
        if nodes.is_empty() {
            return Err(GraphError::Zero("nodes in a batch"));
        }
        if let Some(&node) = nodes.iter().find(|&&node| node as usize >= self.nodes) {
            return Err(GraphError::BatchNode { node, nodes: self.nodes });
        }
        // The position of a node among those that are needed.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut needed: Vec<u32> = Vec::new();
        for &node in nodes {
            if places.insert(node, needed.len() as u32).is_some() {
                return Err(GraphError::Twice(node));
            }
            needed.push(node);
        }
        let (mut hops, mut left) = (Vec::new(), limit.entries);
        for _ in 0..self.hops {
            let targets = needed.clone();
            let mut drawn = Vec::new();
            for matrix in 0..self.matrices.count() {
                let mut place = |node: u32| {
                    *places.entry(node).or_insert_with(|| {
                        needed.push(node);
                        (needed.len() - 1) as u32
                    })
                };
                let rows = self.rows(matrix, targets.iter().copied(), &mut draws, left, &mut place)?;
                left -= rows.columns.len();
                drawn.push(rows);
                if needed.len() > limit.inputs {
                    return Err(GraphError::BatchTooLarge);
                }
            }
            let finish = |rows| self.finish(rows, needed.len());
            hops.push(drawn.into_iter().map(finish).collect::<Result<Vec<_>, _>>()?);
        }
        hops.reverse();
        Ok(Batch { nodes: nodes.to_vec(), inputs: needed, links: Links::blocks(hops) })
    }

    /// Batches of at most `size` nodes that hold each of these nodes once, in random order. Order and neighbours are drawn from
    /// `rng`.
    pub fn batches<'a>(
        &'a self,
        nodes: &[u32],
        size: usize,
        rng: &'a mut SeededRng,
    ) -> Result<Batches<'a>, GraphError> {
        if size == 0 {
            return Err(GraphError::Zero("batch size"));
        }
        let mut order = nodes.to_vec();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.below(at + 1));
        }
        Ok(Batches { sampler: self, order, size, at: 0, rng })
    }

    /// The rows of these nodes, with at most `most` entries; a neighbour has the column that `place` returns.
    fn rows(
        &self,
        matrix: usize,
        nodes: impl Iterator<Item = u32>,
        draws: &mut Draws,
        most: usize,
        mut place: impl FnMut(u32) -> u32,
    ) -> Result<Rows, GraphError> {
        let mut rows = Rows::default();
        let (mut read_columns, mut read_weights) = (Vec::new(), Vec::new());
        for node in nodes {
            let (columns, weights) = match &self.matrices {
                Matrices::Memory(matrices) => matrices[matrix].row(node as usize),
                Matrices::Stored(stored) => {
                    let weighted = stored.row(matrix, node, &mut read_columns, &mut read_weights)?;
                    (&read_columns[..], weighted.then_some(&read_weights[..]))
                }
            };
            let mut add = |at: usize, grow: f32| {
                rows.columns.push(place(columns[at]));
                rows.weights.extend(weights.map(|weights| grow * weights[at]));
            };
            match self.drawn(matrix, node, columns, weights.is_some(), draws) {
                None => (0..columns.len()).for_each(|at| add(at, 1.0)),
                Some(kept) => kept.into_iter().for_each(|(at, grow)| add(at, grow)),
            }
            rows.ends.push(rows.columns.len());
            if rows.columns.len() > most {
                return Err(GraphError::BatchTooLarge);
            }
        }
        Ok(rows)
    }

    /// Which entries of a row are sampled, in their order, and the factors of their weights; `None` if all are.
    fn drawn(
        &self,
        matrix: usize,
        node: u32,
        columns: &[u32],
        weighted: bool,
        draws: &mut Draws,
    ) -> Option<Vec<(usize, f32)>> {
        let most = self.num_neighbors.unwrap_or(usize::MAX);
        if self.dropout == 0.0 && columns.len() <= most {
            return None;
        }
        let mut own_rng;
        let rng = match draws {
            Draws::Step(rng) => &mut **rng,
            Draws::PerNode(seed) => {
                own_rng = SeededRng::new(*seed, &format!("neighbours of node {node} in matrix {matrix}"));
                &mut own_rng
            }
        };
        // The diagonal is never left out.
        let own = columns.binary_search(&node).ok().filter(|_| weighted);
        let others: Vec<usize> = (0..columns.len()).filter(|&at| Some(at) != own).collect();
        let count = others.len();
        let kept = some(self.kept(others, rng), most, rng);
        let grow = count as f32 / kept.len() as f32;
        let mut row: Vec<_> = kept.into_iter().map(|at| (at, grow)).chain(own.map(|at| (at, 1.0))).collect();
        row.sort_unstable_by_key(|&(at, _)| at);
        Some(row)
    }

    /// The entries that edge dropout keeps, at least one.
    fn kept(&self, of: Vec<usize>, rng: &mut SeededRng) -> Vec<usize> {
        if self.dropout == 0.0 {
            return of;
        }
        let kept: Vec<usize> = of.iter().copied().filter(|_| !rng.chance(self.dropout)).collect();
        if kept.is_empty() { some(of, 1, rng) } else { kept }
    }

    /// The matrix of `cols` columns that states are multiplied with.
    fn finish(&self, rows: Rows, cols: usize) -> Result<Sparse, GraphError> {
        let weighted =
            matches!(self.linking, Linking::Symmetric | Linking::Renormalized | Linking::Laplacian(_));
        let offsets = std::iter::once(0).chain(rows.ends).collect();
        self.linking.finish(Sparse::new(cols, offsets, rows.columns, weighted.then_some(rows.weights))?)
    }
}

/// `most` of these at random, in their order, or all if there are no more.
fn some(mut of: Vec<usize>, most: usize, rng: &mut SeededRng) -> Vec<usize> {
    if of.len() > most {
        // The beginning of a shuffle.
        for at in 0..most {
            let other = at + rng.below(of.len() - at);
            of.swap(at, other);
        }
        of.truncate(most);
        of.sort_unstable();
    }
    of
}

/// The batches of an epoch, made by [`Sampler::batches`].
#[derive(Debug)]
pub struct Batches<'a> {
    sampler: &'a Sampler,
    order: Vec<u32>,
    size: usize,
    at: usize,
    rng: &'a mut SeededRng,
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, GraphError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.order.len() {
            return None;
        }
        let end = self.at.saturating_add(self.size).min(self.order.len());
        let batch = self.sampler.batch(&self.order[self.at..end], self.rng);
        self.at = end;
        Some(batch)
    }
}
