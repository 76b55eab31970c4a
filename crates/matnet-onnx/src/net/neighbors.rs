//! The edges of a graph as indices, for what nodes get from their neighbours.

use crate::graph::{Graph, Value};
use crate::proto::{Attribute, Type};

/// An edge list, ready for gather and scatter.
pub struct Neighbors {
    /// The node that aggregates: `[edges]`.
    from: Value,
    /// The same as places of a scatter: `[edges, 1]`.
    places: Value,
    /// Its neighbour: `[edges]`.
    to: Value,
    /// The number of nodes, as a list of one.
    nodes: Value,
}

impl Neighbors {
    /// From `edges`, `[2, edges]`; `features` has a row for every node.
    pub fn new(graph: &mut Graph, edges: &Value, features: &Value) -> Self {
        let (zero, one) = (graph.int(0), graph.int(1));
        let (from, to) = (graph.gather(edges, 0, &zero), graph.gather(edges, 0, &one));
        let places = graph.unsqueeze(&from, &[1]);
        let nodes = graph.side_list(features, 0);
        Self { from, places, to, nodes }
    }

    /// The rows of the neighbours, one per edge.
    pub fn gather(&self, graph: &mut Graph, x: &Value) -> Value {
        graph.gather(x, 0, &self.to)
    }

    /// The rows of the nodes that aggregate, one per edge.
    pub fn own(&self, graph: &mut Graph, x: &Value) -> Value {
        graph.gather(x, 0, &self.from)
    }

    /// The sum over the edges of each node: `[edges, width]` → `[nodes, width]`.
    pub fn sum(&self, graph: &mut Graph, updates: &Value, width: usize) -> Value {
        let zeros = self.filled(graph, 0.0, width);
        self.scatter(graph, &zeros, updates, "add")
    }

    /// How many neighbours each node has, 1 at least: `[nodes, 1]`.
    pub fn degree(&self, graph: &mut Graph) -> Value {
        let (shape, one) = (graph.op("Shape", &[&self.places], vec![]), graph.float(1.0));
        let ones = graph.expand(&one, &shape);
        let count = self.sum(graph, &ones, 1);
        graph.op("Max", &[&count, &one], vec![])
    }

    /// exp(s − m) for scores s `[edges, heads]`, where m is the largest of the node.
    pub fn softmax_numerators(&self, graph: &mut Graph, scores: &Value, heads: usize) -> Value {
        let lowest = self.filled(graph, f32::MIN, heads);
        let largest = self.scatter(graph, &lowest, scores, "max");
        let largest = self.own(graph, &largest);
        let below = graph.sub(scores, &largest);
        graph.op("Exp", &[&below], vec![])
    }

    /// 1, or 0 for a self loop: `[edges, 1]`.
    fn without_loops(&self, graph: &mut Graph) -> Value {
        let same = graph.op("Equal", &[&self.from, &self.to], vec![]);
        let other = graph.op("Not", &[&same], vec![]);
        let weight = graph.cast(&other, Type::Float);
        graph.unsqueeze(&weight, &[1])
    }

    /// One number everywhere: `[nodes, width]`.
    fn filled(&self, graph: &mut Graph, value: f32, width: usize) -> Value {
        let (value, width) = (graph.float(value), graph.ints(&[width as i64]));
        let shape = graph.concat(&[&self.nodes, &width], 0);
        graph.expand(&value, &shape)
    }

    /// `data` with the updates of each node added to its row, or the larger of the two.
    fn scatter(&self, graph: &mut Graph, data: &Value, updates: &Value, reduction: &str) -> Value {
        let reduction = Attribute::string("reduction", reduction);
        graph.op("ScatterND", &[data, &self.places, updates], vec![reduction])
    }
}

/// A normalized adjacency matrix: diag(after) (A or A + I) diag(before), where A has no self loops.
pub struct Adjacency {
    /// 1 for each edge, 0 for self loops: `[edges, 1]`.
    weight: Value,
    /// `[nodes, 1]`, or none for 1.
    before: Option<Value>,
    /// `[nodes, 1]`
    after: Value,
    /// Whether I is added.
    own: bool,
}

impl Adjacency {
    /// D̃^−½ (A + I) D̃^−½
    pub fn renormalized(graph: &mut Graph, neighbors: &Neighbors) -> Self {
        let (weight, loops) = (neighbors.without_loops(graph), neighbors.filled(graph, 1.0, 1));
        let degree = neighbors.scatter(graph, &loops, &weight, "add");
        let scale = inverse_root(graph, &degree);
        Self { weight, before: Some(scale.clone()), after: scale, own: true }
    }

    /// D^−½ A D^−½, or D⁻¹ A for directed graphs.
    pub fn normalized(graph: &mut Graph, neighbors: &Neighbors, directed: bool) -> Self {
        let (weight, one) = (neighbors.without_loops(graph), graph.float(1.0));
        let degree = neighbors.sum(graph, &weight, 1);
        // Without neighbours a row is 0, whatever it is divided by.
        let degree = graph.op("Max", &[&degree, &one], vec![]);
        match directed {
            true => {
                let after = graph.op("Reciprocal", &[&degree], vec![]);
                Self { weight, before: None, after, own: false }
            }
            false => {
                let scale = inverse_root(graph, &degree);
                Self { weight, before: Some(scale.clone()), after: scale, own: false }
            }
        }
    }

    /// Its product with `x`, `[nodes, width]`.
    pub fn product(&self, graph: &mut Graph, neighbors: &Neighbors, x: &Value, width: usize) -> Value {
        let scaled = match &self.before {
            Some(before) => graph.mul(x, before),
            None => x.clone(),
        };
        let sent = neighbors.gather(graph, &scaled);
        let sent = graph.mul(&sent, &self.weight);
        let sum = match self.own {
            true => neighbors.scatter(graph, &scaled, &sent, "add"),
            false => neighbors.sum(graph, &sent, width),
        };
        graph.mul(&sum, &self.after)
    }
}

fn inverse_root(graph: &mut Graph, x: &Value) -> Value {
    let root = graph.op("Sqrt", &[x], vec![]);
    graph.op("Reciprocal", &[&root], vec![])
}
