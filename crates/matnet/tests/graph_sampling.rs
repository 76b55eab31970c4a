//! Neighbour sampling, for all nodes or for mini-batches.

mod common;

use burn::tensor::Tensor;
use common::graph::{dense, only, random_graph};
use common::{device, distance, random, shaken, sized};
use matnet::graph::{Features, Graph, GraphInput, LambdaMax, Linking, Sampler};
use matnet::layer::Aggregation;
use matnet::prelude::*;

/// A star: one node with 40 neighbours, each of which has only that one.
fn star() -> Graph {
    let edges: Vec<(u32, u32)> = (1..41).map(|leaf| (0, leaf)).collect();
    Graph::new(41, &edges, false).unwrap()
}

/// How often each leaf is sampled for the middle of the star in 2,000 draws, and how many leaves at once.
fn sampled_for_the_middle(sampler: &Sampler) -> ([usize; 41], Vec<usize>) {
    let mut rng = SeededRng::new(5, "sample");
    let (mut counts, mut lengths) = ([0; 41], Vec::new());
    for _ in 0..2000 {
        let links = sampler.whole(&mut rng).unwrap();
        let sampled = links.hop(0)[0].row(0).0;
        assert!(sampled.is_sorted());
        assert_eq!(links.hop(0)[0].row(1).0, [0], "nobody is made lonely");
        sampled.iter().for_each(|&leaf| counts[leaf as usize] += 1);
        lengths.push(sampled.len());
    }
    (counts, lengths)
}

#[test]
fn samples_are_bounded_seeded_and_even() {
    let sampler = |most| Sampler::new(&star(), Linking::Adjacency, 1, Some(most)).unwrap();
    let (counts, lengths) = sampled_for_the_middle(&sampler(10));
    assert!(lengths.iter().all(|&length| length == 10));
    assert!(counts[1..].iter().all(|&count| (400..600).contains(&count)), "{counts:?}");
    let draw = |most, seed| sampler(most).whole(&mut SeededRng::new(seed, "sample")).unwrap();
    assert!(draw(10, 1) == draw(10, 1) && draw(10, 1) != draw(10, 2));
    assert_eq!(draw(40, 1), Linking::Adjacency.links(&star()).unwrap());
    assert!(sampler(40).is_full_graph() && !sampler(39).is_full_graph());
}

#[test]
fn dropout_leaves_out_each_neighbour_alike() {
    let sampler = |most| Sampler::new(&star(), Linking::Adjacency, 1, most).unwrap();
    let (counts, lengths) = sampled_for_the_middle(&sampler(None).with_dropout(0.7).unwrap());
    // 2,000 draws of 0.3 are 600 ± 20.5.
    assert!(counts[1..].iter().all(|&count| (500..700).contains(&count)), "{counts:?}");
    assert!(lengths.iter().any(|&length| length > 12));
    // Of those who are left, at most so many.
    let (counts, lengths) = sampled_for_the_middle(&sampler(Some(12)).with_dropout(0.7).unwrap());
    assert!(lengths.contains(&12) && lengths.iter().all(|&length| length <= 12));
    assert!(counts[1..].iter().all(|&count| (400..650).contains(&count)), "{counts:?}");
    for rate in [1.0, -0.1, f64::NAN] {
        let error = sampler(None).with_dropout(rate).unwrap_err();
        assert_eq!(error.to_string(), format!("rate: {rate}; must be at least 0 and below 1"));
    }
}

/// What is measured with is the mean of what is learnt with: weights are those of the whole graph, whoever is left out.
#[test]
fn drawn_weights_keep_their_expectation() {
    let mut rng = SeededRng::new(3, "expectation");
    let graph = random_graph(&mut rng, 12, 40);
    let laplacian = Linking::Laplacian(LambdaMax::Estimated);
    for linking in [Linking::Symmetric, Linking::Renormalized, laplacian] {
        let whole = dense(&only(linking, &graph));
        for (most, rate) in [(Some(2), 0.0), (None, 0.5), (Some(2), 0.5)] {
            const DRAWS: usize = 4000;
            let sampler = Sampler::new(&graph, linking, 1, most).unwrap().with_dropout(rate).unwrap();
            let mut mean = vec![vec![0.0; 12]; 12];
            for draw in 0..DRAWS {
                let links = if draw % 2 == 0 {
                    sampler.whole(&mut rng).unwrap()
                } else {
                    sampler.batch(&(0..12).collect::<Vec<_>>(), &mut rng).unwrap().links
                };
                let drawn = dense(&links.hop(0)[0]);
                mean.iter_mut().flatten().zip(drawn.iter().flatten()).for_each(|(mean, x)| *mean += x);
            }
            for (mean, whole) in mean.iter().flatten().zip(whole.iter().flatten()) {
                let mean = mean / DRAWS as f32;
                assert!(
                    (mean - whole).abs() < 0.05,
                    "{linking:?} {most:?} {rate}: {mean} instead of {whole}"
                );
            }
        }
    }
}

#[test]
fn an_epoch_has_every_node_once() {
    let mut rng = SeededRng::new(2, "epoch");
    let graph = random_graph(&mut rng, 30, 60);
    let sampler = Sampler::new(&graph, Linking::Adjacency, 3, Some(2)).unwrap();
    let nodes: Vec<u32> = (0..30).collect();
    let epoch = |seed| -> Vec<_> {
        let mut rng = SeededRng::new(seed, "epoch");
        let batches = sampler.batches(&nodes, 8, &mut rng).unwrap();
        batches.map(Result::unwrap).collect()
    };
    let batches = epoch(1);
    let mut seen: Vec<u32> = batches.iter().flat_map(|batch| batch.nodes.clone()).collect();
    assert_eq!(batches.iter().map(|batch| batch.nodes.len()).collect::<Vec<_>>(), [8, 8, 8, 6]);
    seen.sort_unstable();
    assert_eq!(seen, nodes);
    assert_eq!(batches, epoch(1));
    assert_ne!(batches, epoch(2));
    for batch in batches {
        assert_eq!(batch.inputs[..batch.nodes.len()], batch.nodes);
        assert_eq!(batch.links.hops(), Some(3));
        let sizes: Vec<_> = (0..3).map(|hop| batch.links.hop(hop)[0].clone()).collect();
        assert_eq!(sizes[0].cols(), batch.inputs.len());
        assert!(sizes[1].cols() == sizes[0].rows() && sizes[2].rows() == batch.nodes.len());
    }
}

/// Batches that leave nobody out give what the whole graph gives.
fn whole_and_batches<N: Net<Input = GraphInput, Output = Tensor<2>>>(
    label: &str,
    net: N,
    graph: &Graph,
    linking: Linking,
    hops: usize,
    width: usize,
) {
    let mut rng = SeededRng::new(8, "batches");
    let net = shaken(net, &mut rng, 0.2);
    let features = Features::from(random(&mut rng, [graph.nodes(), width]));
    let links = linking.links(graph).unwrap();
    let whole = net.forward(GraphInput::new(features.clone(), &links), &mut Mode::Eval);
    let sampler = Sampler::new(graph, linking, hops, None).unwrap();
    let nodes: Vec<u32> = (0..graph.nodes() as u32).collect();
    for batch in sampler.batches(&nodes, 7, &mut rng).unwrap() {
        let batch = batch.unwrap();
        let input = GraphInput::new(features.select(&batch.inputs), &batch.links);
        let scores = net.forward(input, &mut Mode::Eval);
        let places: Vec<i64> = batch.nodes.iter().map(|&node| node.into()).collect();
        let places = Tensor::<1, burn::tensor::Int>::from_data(&places[..], &device());
        assert!(distance(scores, whole.clone().select(0, places)) < 1e-9, "{label}");
    }
}

#[test]
fn full_batches_equal_the_whole_graph() {
    let mut rng = SeededRng::new(4, "whole");
    for round in 0..10 {
        let graph = random_graph(&mut rng, 20, 50);
        for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
            let config = ColumnNetConfig::new(6, 5, 3).with_depth(3).with_aggregation(aggregation);
            let net = sized(config, 3, 50).with_tied(round % 2 == 0).init(&mut rng, &device()).unwrap();
            let (linking, hops) = (net.linking(), net.hops());
            whole_and_batches(&format!("{aggregation:?}"), net, &graph, linking, hops, 6);
        }
        let net = GcnConfig::new(6, [5, 7], 3).init(&mut rng, &device()).unwrap();
        let (linking, hops) = (net.linking(), net.hops());
        whole_and_batches("gcn", net, &graph, linking, hops, 6);
        let net = ChebyshevNetConfig::new(6, [5], 3).with_order(round % 4);
        let net = net.with_lambda_max(LambdaMax::Estimated).init(&mut rng, &device()).unwrap();
        let (linking, hops) = (net.linking(), net.hops());
        whole_and_batches("chebyshev", net, &graph, linking, hops, 6);
    }
}
