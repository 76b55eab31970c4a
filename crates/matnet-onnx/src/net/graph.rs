//! The graph convolutional network. Gather and scatter do the sparse product.

use matnet::net::Gcn;

use crate::graph::{Graph, Value};
use crate::layer::Layer;
use crate::proto::{Attribute, Type};

/// The edges of a graph, ready for sparse products with Â = D̃^−½ (A + I) D̃^−½.
struct Edges {
    /// The node that aggregates: `[edges, 1]`.
    from: Value,
    /// Its neighbour: `[edges]`.
    to: Value,
    /// 1, or 0 for a self loop, which A + I has anyway: `[edges, 1]`.
    weight: Value,
    /// 1 / √d̃ of every node: `[nodes, 1]`.
    scale: Value,
}

impl Edges {
    /// From `edges`, `[2, edges]`; `features` has a row for every node.
    fn new(graph: &mut Graph, edges: &Value, features: &Value) -> Self {
        let (zero, one) = (graph.int(0), graph.int(1));
        let (first, to) = (graph.gather(edges, 0, &zero), graph.gather(edges, 0, &one));
        let same = graph.op("Equal", &[&first, &to], vec![]);
        let other = graph.op("Not", &[&same], vec![]);
        let weight = graph.cast(&other, Type::Float);
        let (weight, from) = (graph.unsqueeze(&weight, &[1]), graph.unsqueeze(&first, &[1]));
        let nodes = graph.side_list(features, 0);
        let width = graph.ints(&[1]);
        let shape = graph.concat(&[&nodes, &width], 0);
        let loops = graph.floats("loops", &[1, 1], &[1.0]);
        let loops = graph.expand(&loops, &shape);
        let degree = scatter(graph, &loops, &from, &weight);
        let root = graph.op("Sqrt", &[&degree], vec![]);
        let scale = graph.op("Reciprocal", &[&root], vec![]);
        Self { from, to, weight, scale }
    }

    /// Â X
    fn product(&self, graph: &mut Graph, x: &Value) -> Value {
        let scaled = graph.mul(x, &self.scale);
        let sent = graph.gather(&scaled, 0, &self.to);
        let sent = graph.mul(&sent, &self.weight);
        let sum = scatter(graph, &scaled, &self.from, &sent);
        graph.mul(&sum, &self.scale)
    }
}

/// `data` with `updates` added to the rows at `places`.
fn scatter(graph: &mut Graph, data: &Value, places: &Value, updates: &Value) -> Value {
    graph.op("ScatterND", &[data, places, updates], vec![Attribute::string("reduction", "add")])
}

/// From features `[nodes, width]` and edges `[2, edges]` to scores `[nodes, classes]`.
pub fn add_gcn(graph: &mut Graph, net: &Gcn, features: &Value, edges: &Value) -> Value {
    let edges = Edges::new(graph, edges, features);
    let mut state = features.clone();
    for (at, layer) in net.layer.iter().enumerate() {
        let map = &layer.map.map;
        let [input, output] = map.weight.val().dims();
        let layer = |graph: &mut Graph| {
            // The narrower of the two is sent along the edges.
            let weight = graph.parameter("weight", map.weight.val());
            let mut mapped = if input < output {
                let aggregated = edges.product(graph, &state);
                graph.matmul(&aggregated, &weight)
            } else {
                let mapped = graph.matmul(&state, &weight);
                edges.product(graph, &mapped)
            };
            if let Some(bias) = &map.bias {
                let bias = graph.parameter("bias", bias.val());
                mapped = graph.add(&mapped, &bias);
            }
            map.activation.add(graph, &mapped)
        };
        state = graph.scoped("layer", |graph| graph.scoped(&at.to_string(), layer));
    }
    state
}
