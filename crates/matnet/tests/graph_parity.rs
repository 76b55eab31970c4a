//! Nets on graphs against PyTorch Geometric: the output and every gradient, on the weights, features and edges of the files
//! in `reference/graph/`, which `peers/make-graph-reference` made.

mod common;

use burn::tensor::Tensor;
use common::device;
use common::reference::{Collect, Reference, each, weights_of};
use matnet::graph::{Edges, GraphError, Links};
use matnet::prelude::*;
use matnet::weights;

const FOLDER: &str = "reference/graph";

#[test]
fn column_net() {
    each(FOLDER, "column_net", 7, |reference| {
        let config: ColumnNetConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()), ColumnNet::links);
    });
}

#[test]
fn gcn() {
    each(FOLDER, "gcn", 3, |reference| {
        let config: GcnConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()), Gcn::links);
    });
}

#[test]
fn chebyshev_net() {
    each(FOLDER, "chebyshev_net", 5, |reference| {
        let config: ChebyshevNetConfig = reference.config();
        check_net(reference, config.init(&mut rng(), &device()), ChebyshevNet::links);
    });
}

/// What is drawn from it is replaced.
fn rng() -> SeededRng {
    SeededRng::new(0, "parity")
}

/// The edges of the reference as a graph.
fn graph(reference: &Reference) -> Graph {
    let (nodes, _) = reference.numbers("input.input").expect("features");
    let lists: Vec<Vec<(u32, u32)>> = (0..)
        .map_while(|relation| reference.numbers(&format!("input.edges.{relation}")))
        .map(|(_, ends)| ends.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32)).collect())
        .collect();
    let directed = reference.about["directed"].as_bool().expect("directed or not");
    let relations: Vec<Edges> = lists.iter().map(|list| Edges { list, directed }).collect();
    Graph::with_relations(nodes[0], &relations).expect("edges make a graph")
}

fn check_net<N: Net<Input = GraphInput, Output = Tensor<2>>>(
    reference: &Reference,
    net: Result<N, ConfigError>,
    links: impl Fn(&N, &Graph) -> Result<Links, GraphError>,
) {
    let net = net.unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let net = weights::load_safetensors(net, &weights_of(reference))
        .unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let links = links(&net, &graph(reference)).expect("links");
    let input = reference.input::<2>("input");
    let output = net.forward(GraphInput::new(input.clone(), &links), &mut Mode::Eval);
    let gradients = reference.weigh("output", output).backward();
    reference.compare_gradient("input", &input, &gradients);
    let mut visitor = Collect { gradients: &gradients, found: Vec::new() };
    net.visit(&mut visitor);
    for ((name, _), gradient) in weights::named(&net).into_iter().zip(visitor.found) {
        let gradient = gradient.unwrap_or_else(|| panic!("{}: no gradient of {name}", reference.name));
        reference.compare(&format!("grad.weight.{name}"), gradient);
    }
}
