//! A graph from lists of edges.

use super::{GraphError, Sparse};

/// A list of edges (from, to) of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'a> {
    /// The edges; repeats count once.
    pub list: &'a [(u32, u32)],
    /// Whether only `from` aggregates from `to`; if not, each aggregates from the other.
    pub directed: bool,
}

/// Nodes, and the adjacency matrix of each relation.
///
/// An edge (i, j) is a 1 in row i and column j of the adjacency matrix A: j is a neighbour of i, j ∈ N(i), and i aggregates
/// from j. In an undirected relation j aggregates from i as well. The [module](super) describes special cases.
///
/// ```
/// use matnet::graph::{Edges, Graph};
///
/// // Papers that cite each other, and papers of the same author.
/// let cites = Edges { list: &[(0, 1), (2, 1)], directed: true };
/// let author = Edges { list: &[(0, 2)], directed: false };
/// let graph = Graph::with_relations(3, &[cites, author])?;
/// assert_eq!(graph.adjacency(0).row(0).0, [1]);
/// assert_eq!(graph.adjacency(1).row(2).0, [0]);
/// assert!(Graph::new(2, &[(0, 2)], false).unwrap_err().to_string().starts_with("edge 0 of relation 0 names node 2"));
/// # Ok::<(), matnet::graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: usize,
    relations: Vec<Sparse>,
    symmetric: bool,
}

impl Graph {
    /// A graph of one relation.
    pub fn new(nodes: usize, edges: &[(u32, u32)], directed: bool) -> Result<Self, GraphError> {
        Self::with_relations(nodes, &[Edges { list: edges, directed }])
    }

    /// A graph of several relations between the same nodes.
    pub fn with_relations(nodes: usize, relations: &[Edges]) -> Result<Self, GraphError> {
        match nodes {
            0 => return Err(GraphError::Empty),
            1..=0xFFFF_FFFF => {}
            _ => return Err(GraphError::TooLarge),
        }
        if relations.is_empty() {
            return Err(GraphError::NoRelation);
        }
        let symmetric = relations.iter().all(|edges| !edges.directed);
        let build = |(relation, edges): (usize, &Edges)| {
            for (edge, &(from, to)) in edges.list.iter().enumerate() {
                let node = from.max(to);
                if node as usize >= nodes {
                    return Err(GraphError::Node { relation, edge, node, nodes });
                }
            }
            adjacency(nodes, edges)
        };
        let relations = relations.iter().enumerate().map(build).collect::<Result<_, _>>()?;
        Ok(Self { nodes, relations, symmetric })
    }

    /// A graph whose adjacency matrices are known: square, with the columns of every row in increasing order, each once, and without
    /// weights. `symmetric` says whether all relations are undirected.
    pub fn from_adjacency(relations: Vec<Sparse>, symmetric: bool) -> Result<Self, GraphError> {
        let nodes = relations.first().ok_or(GraphError::NoRelation)?.rows();
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        for matrix in &relations {
            if (matrix.rows(), matrix.cols()) != (nodes, nodes) {
                let what = format!("{} rows of {} columns for {nodes} nodes", matrix.rows(), matrix.cols());
                return Err(GraphError::Matrix(what));
            }
            for node in 0..nodes {
                let (row, weights) = matrix.row(node);
                if weights.is_some() || row.windows(2).any(|pair| pair[0] >= pair[1]) {
                    return Err(GraphError::Matrix(format!("row {node} is not in increasing order of ones")));
                }
            }
        }
        Ok(Self { nodes, relations, symmetric })
    }

    /// How many nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many relations.
    pub fn relations(&self) -> usize {
        self.relations.len()
    }

    /// The number of entries of all adjacency matrices; an undirected edge counts twice, a self loop once.
    pub fn entries(&self) -> usize {
        self.relations.iter().map(Sparse::entries).sum()
    }

    /// How many neighbours a node has over all relations.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn degree(&self, node: usize) -> usize {
        self.relations.iter().map(|relation| relation.row(node).0.len()).sum()
    }

    /// The adjacency matrix A of a relation: ones, in order of column.
    ///
    /// # Panics
    ///
    /// If there is no such relation.
    pub fn adjacency(&self, relation: usize) -> &Sparse {
        &self.relations[relation]
    }

    /// Whether all relations are undirected.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// All relations as one: j is a neighbour of i if it is one in any relation.
    pub fn union(&self) -> Sparse {
        if let [only] = &self.relations[..] {
            return only.clone();
        }
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for node in 0..self.nodes {
            let mut row: Vec<u32> =
                self.relations.iter().flat_map(|relation| relation.row(node).0).copied().collect();
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            offsets.push(columns.len());
        }
        Sparse::new(self.nodes, offsets, columns, None).expect("rows of matrices make a matrix")
    }
}

/// A of checked edges: counted, placed, then sorted and freed of repeats row by row.
fn adjacency(nodes: usize, edges: &Edges) -> Result<Sparse, GraphError> {
    let both = edges.list.iter().flat_map(|&(from, to)| {
        let back = (!edges.directed && from != to).then_some((to, from));
        std::iter::once((from, to)).chain(back)
    });
    let mut starts = vec![0; nodes + 1];
    for (from, _) in both.clone() {
        starts[from as usize + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut placed = vec![0; starts[nodes]];
    for (from, to) in both {
        placed[next[from as usize]] = to;
        next[from as usize] += 1;
    }
    let (mut offsets, mut columns) = (Vec::with_capacity(nodes + 1), Vec::with_capacity(placed.len()));
    offsets.push(0);
    for node in 0..nodes {
        let row = &mut placed[starts[node]..starts[node + 1]];
        row.sort_unstable();
        let first = columns.len();
        for &mut to in row {
            if columns.len() == first || columns.last() != Some(&to) {
                columns.push(to);
            }
        }
        offsets.push(columns.len());
    }
    Sparse::new(nodes, offsets, columns, None)
}
