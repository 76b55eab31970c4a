//! Finds the communities of a graph from a few labelled nodes, with column networks, a GCN, a Chebyshev net, and without the edges.
//!
//! ```text
//! cargo run --release --example column_net
//! ```

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;
use matnet::weights;

const NODES: usize = 600;
const CLASSES: usize = 3;
const FEATURES: usize = 8;
/// The first nodes are labelled, the others are predicted.
const LABELLED: usize = 200;
const EPOCHS: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = SeededRng::new(1, "graph");
    let classes: Vec<usize> = (0..NODES).map(|_| rng.below(CLASSES)).collect();
    // Five edges per node, four of five within its class.
    let mut edges = Vec::new();
    while edges.len() < 5 * NODES {
        let (a, b) = (rng.below(NODES), rng.below(NODES));
        if a != b && (classes[a] == classes[b]) == rng.chance(0.8) {
            edges.push((a as u32, b as u32));
        }
    }
    let graph = Graph::new(NODES, &edges, false)?;
    let alone = Graph::new(NODES, &[], false)?;
    // One feature per class is raised a little, under much noise.
    let feature = |(node, at): (usize, usize)| f32::from(u8::from(classes[node] == at));
    let places = (0..NODES).flat_map(|node| (0..FEATURES).map(move |at| (node, at)));
    let features: Vec<f32> = places.map(|place| feature(place) + rng.normal() as f32).collect();
    let data = Data { features, classes };

    println!("{NODES} nodes of {CLASSES} classes, {LABELLED} of them labelled, {} edges\n", edges.len());
    let column = ColumnNetConfig::new(FEATURES, 16, CLASSES).with_depth(2).with_dropout(0.5);
    let attention = column.clone().with_aggregation(Aggregation::Attention).with_heads(Some(4));
    run("column net, no edges", &column, &alone, &data)?;
    run("column net, mean", &column, &graph, &data)?;
    run("column net, attention", &attention, &graph, &data)?;
    run("GCN", &GcnConfig::new(FEATURES, [16], CLASSES).with_dropout(0.5), &graph, &data)?;
    run("Chebyshev net", &ChebyshevNetConfig::new(FEATURES, [16], CLASSES).with_dropout(0.5), &graph, &data)
}

struct Data {
    features: Vec<f32>,
    classes: Vec<usize>,
}

impl Data {
    fn features(&self, device: &Device) -> Tensor<2> {
        Tensor::from_data(TensorData::new(self.features.clone(), [NODES, FEATURES]), device)
    }

    fn classes(&self, device: &Device) -> Tensor<1, Int> {
        let classes = self.classes.iter().map(|&class| class as i64).collect();
        Tensor::from_data(TensorData::new::<i64, _>(classes, [NODES]), device)
    }
}

/// Any net on graphs: they share one trait.
fn run<C: GraphNetConfig>(
    name: &str,
    config: &C,
    graph: &Graph,
    data: &Data,
) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex().autodiff();
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let links = net.links(graph)?;
    let mut adam = AdamConfig::default().init()?;
    let regularizer = Regularizer::new(&net.summary(1), 0.0, 5e-3);
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let criterion = CrossEntropyLossConfig::new().init(&device);
    let input = GraphInput::new(data.features(&device), &links);
    let target = data.classes(&device).narrow(0, 0, LABELLED);
    for _ in 0..EPOCHS {
        // All nodes at once; only the labelled ones have a loss.
        let scores = net.forward(input.clone(), &mut mode).narrow(0, 0, LABELLED);
        let loss = criterion.forward(scores, target.clone());
        let loss = regularizer.loss(&net).map_or(loss.clone(), |penalty| loss + penalty);
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(1e-2, net, gradients);
    }
    let input = GraphInput::new(data.features(&Device::flex()), &links);
    let predicted = net.valid().forward(input, &mut Mode::Eval).argmax(1).squeeze_dim::<1>(1);
    let correct = predicted.equal(data.classes(&Device::flex())).int();
    let correct = correct.narrow(0, LABELLED, NODES - LABELLED).sum().into_scalar::<i64>();
    let accuracy = 100.0 * correct as f64 / (NODES - LABELLED) as f64;
    println!("{name}: {} parameters, accuracy {accuracy:.1} %", weights::count(&net));
    Ok(())
}
