//! Nets on graphs: gather and scatter do the sparse products.

use burn::tensor::Tensor;
use matnet::graph::{LambdaMax, Linking};
use matnet::layer::{Chebyshev, ColumnLayer, EdgeAttention};
use matnet::net::{ChebyshevNet, ColumnNet, Gcn, GraphNet};

use super::neighbors::{Adjacency, Neighbors};
use crate::graph::{Graph, Value};
use crate::layer::Layer;

/// A net on graphs that can be written as ONNX nodes.
pub trait NodeNet {
    /// Features of a node.
    fn num_features(&self) -> usize;
    /// Scores of a node.
    fn num_classes(&self) -> usize;
    /// Edge lists that it takes.
    fn num_relations(&self) -> usize {
        1
    }
    /// Why it cannot be exported with its options, if it cannot.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
    /// From features `[nodes, width]` and an edge list `[2, edges]` per relation to scores `[nodes, classes]`. `directed` says whether
    /// the graph of the training was.
    fn add(&self, graph: &mut Graph, features: &Value, edges: &[Value], directed: bool) -> Value;
}

impl NodeNet for Gcn {
    fn num_features(&self) -> usize {
        self.layer[0].map.map.weight.val().dims()[0]
    }

    fn num_classes(&self) -> usize {
        self.layer[self.layer.len() - 1].map.map.weight.val().dims()[1]
    }

    fn add(&self, graph: &mut Graph, features: &Value, edges: &[Value], _directed: bool) -> Value {
        let neighbors = Neighbors::new(graph, &edges[0], features);
        let adjacency = Adjacency::renormalized(graph, &neighbors);
        let mut state = features.clone();
        for (at, layer) in self.layer.iter().enumerate() {
            let map = &layer.map.map;
            let [input, output] = map.weight.val().dims();
            let layer = |graph: &mut Graph| {
                // The narrower of the two is sent along the edges.
                let weight = graph.parameter("weight", map.weight.val());
                let mapped = if input < output {
                    let aggregated = adjacency.product(graph, &neighbors, &state, input);
                    graph.matmul(&aggregated, &weight)
                } else {
                    let mapped = graph.matmul(&state, &weight);
                    adjacency.product(graph, &neighbors, &mapped, output)
                };
                let bias = map.bias.as_ref().map(|bias| bias.val());
                let output = with_bias(graph, &mapped, bias);
                map.activation.add(graph, &output)
            };
            state = graph.scoped("layer", |graph| graph.scoped(&at.to_string(), layer));
        }
        state
    }
}

fn with_bias(graph: &mut Graph, x: &Value, bias: Option<Tensor<1>>) -> Value {
    let Some(bias) = bias else { return x.clone() };
    let bias = graph.parameter("bias", bias);
    graph.add(x, &bias)
}

impl NodeNet for ChebyshevNet {
    fn num_features(&self) -> usize {
        self.layer[0].weight.val().dims()[1]
    }

    fn num_classes(&self) -> usize {
        self.layer[self.layer.len() - 1].weight.val().dims()[2]
    }

    fn refusal(&self) -> Option<&'static str> {
        match self.linking() {
            Linking::Laplacian(LambdaMax::Estimated) => Some(
                "lambda_max = \"estimated\" iterates on each graph from random numbers that ONNX cannot draw again, and only a net with \"two\" can be exported",
            ),
            _ => None,
        }
    }

    fn add(&self, graph: &mut Graph, features: &Value, edges: &[Value], directed: bool) -> Value {
        let neighbors = Neighbors::new(graph, &edges[0], features);
        let adjacency = Adjacency::normalized(graph, &neighbors, directed);
        let mut state = features.clone();
        for (at, layer) in self.layer.iter().enumerate() {
            let layer = |graph: &mut Graph| add_chebyshev(graph, layer, &neighbors, &adjacency, &state);
            state = graph.scoped("layer", |graph| graph.scoped(&at.to_string(), layer));
        }
        state
    }
}

/// σ(Σₖ Tₖ(L̃) X Θₖ + b) by the Clenshaw recurrence. With λ = 2, L̃ is −A, normalized.
fn add_chebyshev(
    graph: &mut Graph,
    layer: &Chebyshev,
    neighbors: &Neighbors,
    adjacency: &Adjacency,
    input: &Value,
) -> Value {
    let [terms, width, output] = layer.weight.val().dims();
    let weight = layer.weight.val().swap_dims(0, 1).reshape([width, terms * output]);
    let weight = graph.parameter("weight", weight);
    let mapped = graph.matmul(input, &weight);
    let term = |graph: &mut Graph, k: usize| graph.part(&mapped, 1, k * output..(k + 1) * output);
    let mut sum = term(graph, terms - 1);
    let mut before: Option<Value> = None;
    for k in (0..terms - 1).rev() {
        let mut moved = adjacency.product(graph, neighbors, &sum, output);
        if k > 0 {
            moved = graph.add(&moved, &moved);
        }
        let own = term(graph, k);
        let mut next = graph.sub(&own, &moved);
        if let Some(before) = before {
            next = graph.sub(&next, &before);
        }
        before = Some(sum);
        sum = next;
    }
    let output = with_bias(graph, &sum, layer.bias.as_ref().map(|bias| bias.val()));
    layer.activation.add(graph, &output)
}

impl NodeNet for ColumnNet {
    fn num_features(&self) -> usize {
        self.input.map.weight.val().dims()[0]
    }

    fn num_classes(&self) -> usize {
        self.head.weight.val().dims()[1]
    }

    fn num_relations(&self) -> usize {
        self.layer[0].relations()
    }

    fn refusal(&self) -> Option<&'static str> {
        match self.linking() {
            Linking::Slots(_) => Some(
                "aggregation = \"concat\" draws neighbours at random, and only \"mean\" and \"attention\" can be exported",
            ),
            _ => None,
        }
    }

    fn add(&self, graph: &mut Graph, features: &Value, edges: &[Value], _directed: bool) -> Value {
        let neighbors: Vec<Neighbors> =
            edges.iter().map(|edges| Neighbors::new(graph, edges, features)).collect();
        // The same in every layer.
        let degrees: Vec<Value> = match self.linking() {
            Linking::Mean => neighbors.iter().map(|neighbors| neighbors.degree(graph)).collect(),
            _ => Vec::new(),
        };
        let mut state = graph.scoped("input", |graph| self.input.map.add(graph, features));
        for hop in 0..self.hops() {
            let at = hop.min(self.layer.len() - 1);
            let layer = |graph: &mut Graph| add_column(graph, &self.layer[at], &neighbors, &degrees, &state);
            state = graph.scoped("layer", |graph| graph.scoped(&at.to_string(), layer));
        }
        graph.scoped("head", |graph| self.head.add(graph, &state))
    }
}

/// A highway over a node's own state and the aggregates of its neighbours: H′ = H + Z ⊙ (C − H).
fn add_column(
    graph: &mut Graph,
    layer: &ColumnLayer,
    neighbors: &[Neighbors],
    degrees: &[Value],
    state: &Value,
) -> Value {
    let [_, sources, width] = layer.neighbor_map.val().dims();
    // The gate's map and the candidate's, side by side.
    let joined = |maps: Tensor<3>, from: usize| maps.swap_dims(0, 1).reshape([from, 2 * width]);
    let own_map = graph.parameter("own_map", joined(layer.own_map.val(), width));
    let neighbor_map = graph.parameter("neighbor_map", joined(layer.neighbor_map.val(), sources));
    let bias = graph.parameter("bias", layer.bias.val().reshape([2 * width]));
    let aggregate = |(relation, neighbors): (usize, &Neighbors)| match layer.attention.get(relation) {
        Some(attention) => graph.scoped("attention", |graph| {
            graph.scoped(&relation.to_string(), |graph| add_attention(graph, attention, neighbors, state))
        }),
        None => {
            let sent = neighbors.gather(graph, state);
            let sum = neighbors.sum(graph, &sent, width);
            graph.div(&sum, &degrees[relation])
        }
    };
    let aggregated: Vec<Value> = neighbors.iter().enumerate().map(aggregate).collect();
    let aggregated = graph.concat(&aggregated.iter().collect::<Vec<_>>(), 1);
    let (own, aggregated) = (graph.matmul(state, &own_map), graph.matmul(&aggregated, &neighbor_map));
    let sum = graph.add(&own, &aggregated);
    let both = graph.add(&sum, &bias);
    let (gate, candidate) = (graph.part(&both, 1, 0..width), graph.part(&both, 1, width..2 * width));
    let gate = graph.op("Sigmoid", &[&gate], vec![]);
    let candidate = layer.activation().add(graph, &candidate);
    let change = graph.sub(&candidate, state);
    let change = graph.mul(&gate, &change);
    graph.add(state, &change)
}

/// The heads one after another: `[nodes, heads · width]`.
fn add_attention(
    graph: &mut Graph,
    attention: &EdgeAttention,
    neighbors: &Neighbors,
    state: &Value,
) -> Value {
    let [heads, width, _] = attention.score_map.val().dims();
    let (k, d) = (heads as i64, width as i64);
    let score_map = attention.score_map.val().swap_dims(0, 1).reshape([width, heads * width]);
    let score_map = graph.parameter("score_map", score_map);
    let score_bias = graph.parameter("score_bias", attention.score_bias.val());
    let queries = graph.matmul(state, &score_map);
    let queries = graph.reshape(&queries, &[-1, k, d]);
    let queries = graph.add(&queries, &score_bias);
    let (queries, keys) = (neighbors.own(graph, &queries), neighbors.gather(graph, state));
    let keys = graph.unsqueeze(&keys, &[1]);
    let products = graph.mul(&queries, &keys);
    let scores = graph.sum(&products, &[2]);
    let scores = graph.squeeze(&scores, &[2]);
    let weights = neighbors.softmax_numerators(graph, &scores, heads);
    let totals = neighbors.sum(graph, &weights, heads);
    // The numerator of a node's largest score is 1, so only a node without neighbours has a smaller total.
    let one = graph.float(1.0);
    let totals = graph.op("Max", &[&totals, &one], vec![]);
    let (weights, totals) = (graph.unsqueeze(&weights, &[2]), graph.unsqueeze(&totals, &[2]));
    let sent = graph.mul(&weights, &keys);
    let sent = graph.reshape(&sent, &[-1, k * d]);
    let sum = neighbors.sum(graph, &sent, heads * width);
    let sum = graph.reshape(&sum, &[-1, k, d]);
    let mean = graph.div(&sum, &totals);
    graph.reshape(&mean, &[-1, k * d])
}
