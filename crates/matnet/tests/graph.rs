//! Graphs: odd ones, the matrices made from them, identities with `mat1`, configs, counts and storage.

mod common;

use burn::tensor::{Device, Tensor};
use common::graph::{dense, only, random_graph};
use common::{device, distance, random, shaken, sized, tensor, with_numbers};
use matnet::graph::{
    Edges, Features, Graph, GraphError, GraphInput, LambdaMax, Linking, Links, Sampler, Sparse,
};
use matnet::layer::{Aggregation, ChebyshevConfig, ColumnLayerConfig, EdgeAttentionConfig, GraphConvConfig};
use matnet::ops::{Activation, edge_attention, mat1, sparse_product};
use matnet::prelude::*;
use matnet::weights;

/// A triangle with a tail, a self loop, a repeated edge both ways round, and a node alone: 0–1–2–0, 2–3, 3–3, and 4.
fn odd() -> Graph {
    Graph::new(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (3, 2), (0, 1)], false).unwrap()
}

fn close(got: &[Vec<f32>], want: &[Vec<f64>]) {
    for (row, (got, want)) in got.iter().zip(want).enumerate() {
        for (column, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((f64::from(*got) - want).abs() < 1e-6, "({row}, {column}): {got} instead of {want}");
        }
    }
}

#[test]
fn repeats_count_once_and_loops_stay() {
    let graph = odd();
    let rows: Vec<&[u32]> = (0..5).map(|node| graph.adjacency(0).row(node).0).collect();
    assert_eq!(rows, [&[1, 2][..], &[0, 2], &[0, 1, 3], &[2, 3], &[]]);
    assert_eq!((graph.entries(), graph.degree(2), graph.degree(4)), (9, 3, 0));
    let directed = Graph::new(3, &[(0, 1), (0, 1), (2, 2)], true).unwrap();
    assert_eq!(dense(directed.adjacency(0)), [[0.0, 1.0, 0.0], [0.0; 3], [0.0, 0.0, 1.0]]);
    assert!(!directed.is_symmetric() && graph.is_symmetric());
}

#[test]
fn what_is_no_graph_is_refused() {
    let wrong = |result: Result<Graph, GraphError>| result.unwrap_err().to_string();
    assert_eq!(wrong(Graph::new(0, &[], false)), "a graph needs at least one node");
    assert_eq!(wrong(Graph::with_relations(3, &[])), "a graph needs at least one relation");
    let far = Edges { list: &[(0, 1), (7, 1)], directed: true };
    let near = Edges { list: &[], directed: true };
    assert_eq!(
        wrong(Graph::with_relations(3, &[near, far])),
        "edge 1 of relation 1 names node 7; there are 3 nodes, counted from 0"
    );
    assert_eq!(wrong(Graph::new(usize::MAX, &[], false)), "more nodes or edges than 32 bits can number");
    assert!(Sparse::new(2, vec![0, 1], vec![2], None).is_err());
    assert!(Sparse::new(2, vec![0, 1], vec![1], Some(vec![1.0, 2.0])).is_err());
    assert!(Sparse::from_rows(2, &[1.0; 3]).is_err() && Sparse::from_rows(0, &[]).is_err());
    assert!(Features::new(vec![1.0; 3], 2, &Device::flex()).is_err());
    let sampler = |linking, hops, most| Sampler::new(&odd(), linking, hops, most).map(|_| ()).unwrap_err();
    assert_eq!(sampler(Linking::Mean, 0, None), GraphError::Zero("hops"));
    assert_eq!(sampler(Linking::Mean, 1, Some(0)), GraphError::Zero("num_neighbors"));
    assert_eq!(sampler(Linking::Slots(0), 1, None).to_string(), "num_neighbors: 0; must be at least 1");
    assert!(Linking::Slots(0).links(&odd()).is_err());
    let sampler = Sampler::new(&odd(), Linking::Mean, 1, None).unwrap();
    assert_eq!(sampler.batch(&[1, 5], &mut rng()), Err(GraphError::BatchNode { node: 5, nodes: 5 }));
    assert_eq!(sampler.batch(&[1, 1], &mut rng()), Err(GraphError::Twice(1)));
    assert_eq!(sampler.batch(&[], &mut rng()), Err(GraphError::Zero("nodes in a batch")));
    assert!(sampler.batches(&[1], 0, &mut rng()).is_err());
}

#[test]
fn matrices_are_what_their_equations_say() {
    let graph = odd();
    let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0_f64.sqrt());
    close(
        &dense(&only(Linking::Mean, &graph)),
        &[
            vec![0.0, 0.5, 0.5, 0.0, 0.0],
            vec![0.5, 0.0, 0.5, 0.0, 0.0],
            vec![third, third, 0.0, third, 0.0],
            vec![0.0, 0.0, 0.5, 0.5, 0.0],
            vec![0.0; 5],
        ],
    );
    close(
        &dense(&only(Linking::Symmetric, &graph)),
        &[
            vec![0.0, 0.5, sixth, 0.0, 0.0],
            vec![0.5, 0.0, sixth, 0.0, 0.0],
            vec![sixth, sixth, 0.0, sixth, 0.0],
            vec![0.0, 0.0, sixth, 0.5, 0.0],
            vec![0.0; 5],
        ],
    );
    // Degrees with loops: 3, 3, 4, 2, 1; the loop that was there is not doubled.
    let (twelfth, eighth) = (1.0 / 12.0_f64.sqrt(), 1.0 / 8.0_f64.sqrt());
    close(
        &dense(&only(Linking::Renormalized, &graph)),
        &[
            vec![third, third, twelfth, 0.0, 0.0],
            vec![third, third, twelfth, 0.0, 0.0],
            vec![twelfth, twelfth, 0.25, eighth, 0.0],
            vec![0.0, 0.0, eighth, 0.5, 0.0],
            vec![0.0, 0.0, 0.0, 0.0, 1.0],
        ],
    );
    // Without loops: degrees 2, 2, 3, 1, 0; with λ = 2, L̃ = L − I.
    let root = 1.0 / 3.0_f64.sqrt();
    close(
        &dense(&only(Linking::Laplacian(LambdaMax::Two), &graph)),
        &[
            vec![0.0, -0.5, -sixth, 0.0, 0.0],
            vec![-0.5, 0.0, -sixth, 0.0, 0.0],
            vec![-sixth, -sixth, 0.0, -root, 0.0],
            vec![0.0, 0.0, -root, 0.0, 0.0],
            vec![0.0; 5],
        ],
    );
    let directed = Graph::new(3, &[(0, 1), (0, 2), (1, 2), (1, 1)], true).unwrap();
    close(
        &dense(&only(Linking::Laplacian(LambdaMax::Two), &directed)),
        &[vec![0.0, -0.5, -0.5], vec![0.0, 0.0, -1.0], vec![0.0; 3]],
    );
    assert_eq!(
        dense(&only(Linking::Slots(2), &directed)),
        dense(directed.adjacency(0)),
        "two slots hold all of them"
    );
    assert_eq!(dense(&only(Linking::Slots(1), &directed)), [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]]);
    assert_eq!(dense(&only(Linking::Adjacency, &directed)), dense(directed.adjacency(0)));
}

#[test]
fn relations_are_kept_apart_or_joined() {
    let lists = [vec![(0, 1), (1, 2)], vec![(0, 1), (2, 0)]];
    let edges: Vec<Edges> = lists.iter().map(|list| Edges { list, directed: true }).collect();
    let graph = Graph::with_relations(3, &edges).unwrap();
    assert_eq!(Linking::Mean.links(&graph).unwrap().hop(7).len(), 2);
    assert_eq!(dense(&graph.union()), [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    assert_eq!(Linking::Renormalized.links(&graph).unwrap().hop(0).len(), 1);
}

#[test]
fn a_net_takes_as_many_relations_as_it_was_built_for() {
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        let config =
            ColumnNetConfig::new(6, 5, 3).with_depth(1).with_aggregation(aggregation).with_num_relations(2);
        let net = config.init(&mut rng(), &device()).unwrap();
        let error = net.links(&odd()).unwrap_err();
        assert_eq!(error.to_string(), "number of relations: 1 in the graph, 2 in the net");
    }
}

/// UᵀXV + B for one matrix.
fn mat1_of(u: Tensor<2>, x: Tensor<2>, v: Tensor<2>) -> Tensor<2> {
    mat1(x.unsqueeze(), u, v, None, Activation::Identity).squeeze_dim::<2>(0)
}

fn eye(size: usize) -> Tensor<2> {
    let numbers = (0..size * size).map(|at| f64::from(u8::from(at % (size + 1) == 0))).collect();
    tensor(numbers, [size, size])
}

fn double(matrix: &Sparse) -> Tensor<2> {
    let rows = dense(matrix).concat().into_iter().map(f64::from).collect();
    tensor(rows, [matrix.rows(), matrix.cols()])
}

#[test]
fn everything_on_graphs_is_mat1_with_a_special_u() {
    let mut rng = SeededRng::new(6, "mat1");
    for _ in 0..30 {
        let graph = random_graph(&mut rng, 9, 30);
        let x = random(&mut rng, [9, 4]);

        // The mean of the neighbours: Uᵀ = D⁻¹A, V = I.
        let mean = only(Linking::Mean, &graph);
        let want = mat1_of(double(&mean).transpose(), x.clone(), eye(4));
        assert!(distance(sparse_product(&mean, x.clone()), want.clone()) < 1e-9);

        // Equal scores make attention the mean, in every head.
        let adjacency = only(Linking::Adjacency, &graph);
        let zeros = tensor(vec![0.0; 9 * 4 * 3], [9, 4, 3]);
        let uniform = edge_attention(&adjacency, zeros, tensor(vec![0.0; 12], [4, 3]), x.clone());
        for head in 0..3 {
            let head = uniform.clone().narrow(2, head, 1).squeeze_dim::<2>(2);
            assert!(distance(head, want.clone()) < 1e-7, "f32 weights against exact shares");
        }

        // Attention: Uᵀ = Λ, V = I.
        let layer = EdgeAttentionConfig::new(4, 2).init(&mut rng, &device()).unwrap();
        let layer = shaken(layer, &mut rng, 0.5);
        let got = layer.forward(&adjacency, x.clone());
        for head in 0..2 {
            let w = layer.score_map.val().narrow(0, head, 1).squeeze_dim::<2>(0);
            let b = layer.score_bias.val().narrow(0, head, 1);
            let scores = x.clone().matmul(w).matmul(x.clone().transpose()) + b.matmul(x.clone().transpose());
            let linked = double(&adjacency);
            let exponents = scores.exp() * linked;
            let total = exponents.clone().sum_dim(1);
            // A node without neighbours has no weights.
            let shares = exponents / total.clamp_min(1e-300);
            let want = mat1_of(shares.transpose(), x.clone(), eye(4));
            assert!(distance(got.clone().narrow(1, head * 4, 4), want) < 1e-9);
        }

        // GCN: Uᵀ = D̃^−½ÃD̃^−½, V = Θ.
        let layer = GraphConvConfig::new(4, 3).with_bias(false).init(&mut rng, &device()).unwrap();
        let layer = shaken(layer, &mut rng, 0.1);
        let linked = only(Linking::Renormalized, &graph);
        let want = mat1_of(double(&linked).transpose(), x.clone(), layer.map.map.weight.val());
        assert!(distance(layer.forward(&linked, &x.clone().into()), want) < 1e-9);

        // Chebyshev: a sum of them, Uᵀ = Tₖ(L̃).
        let layer = ChebyshevConfig::new(4, 3, 4).with_bias(false).init(&mut rng, &device()).unwrap();
        let layer = shaken(layer, &mut rng, 0.1);
        let links = Linking::Laplacian(LambdaMax::Estimated).links(&graph).unwrap();
        let l = double(&links.hop(0)[0]);
        let (mut before, mut t) = (eye(9), l.clone());
        let theta = |k: usize| layer.weight.val().narrow(0, k, 1).squeeze_dim::<2>(0);
        let mut want = mat1_of(eye(9), x.clone(), theta(0));
        for k in 1..5 {
            want = want + mat1_of(t.clone().transpose(), x.clone(), theta(k));
            (before, t) = (t.clone(), l.clone().matmul(t) * 2.0 - before);
        }
        assert!(distance(layer.forward(&links, 0, &x.into()), want) < 1e-8);
    }
}

#[test]
fn a_mean_layer_is_a_highway_of_mat2() {
    let mut rng = SeededRng::new(7, "highway");
    let graph = random_graph(&mut rng, 9, 30);
    let layer = ColumnLayerConfig::new(4, Aggregation::Mean).init(&mut rng, &device()).unwrap();
    let layer = shaken(layer, &mut rng, 0.3);
    let h = random(&mut rng, [9, 4]);
    let mean = only(Linking::Mean, &graph);
    let aggregated = double(&mean).matmul(h.clone());
    let part = |index: usize| {
        let pick = |map: &Tensor<3>| map.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
        let (own, neighbour) = (pick(&layer.own_map.val()), pick(&layer.neighbor_map.val()));
        h.clone().matmul(own) + aggregated.clone().matmul(neighbour) + layer.bias.val().narrow(0, index, 1)
    };
    let gate = burn::tensor::activation::sigmoid(part(0));
    let want = h.clone() * (gate.clone().neg() + 1.0) + gate * burn::tensor::activation::relu(part(1));
    assert!(distance(layer.forward(&[mean], h, &mut Mode::Eval), want) < 1e-12);
}

#[test]
fn a_node_without_neighbours_aggregates_zero() {
    let mut rng = SeededRng::new(1, "alone");
    let lonely = Graph::new(3, &[], false).unwrap();
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        let config = ColumnNetConfig::new(4, 5, 2).with_aggregation(aggregation);
        let net = shaken(sized(config, 2, 3).init(&mut rng, &device()).unwrap(), &mut rng, 0.3);
        let zeroed = with_numbers(net.clone(), |name, shape| {
            let found = weights::named(&net).into_iter().find(|(other, _)| other == name).unwrap().1;
            let numbers: Vec<f64> = found.as_slice::<f64>().unwrap().to_vec();
            if name.ends_with("neighbor_map") { vec![0.0; shape.iter().product()] } else { numbers }
        });
        let input = GraphInput::new(random(&mut rng, [3, 4]), &net.links(&lonely).unwrap());
        let [a, b] = [&net, &zeroed].map(|net| net.forward(input.clone(), &mut Mode::Eval));
        assert_eq!(distance(a, b), 0.0, "{aggregation:?}");
    }
}

#[test]
fn parameters_are_counted() {
    let mut rng = rng();
    let mut count =
        |config: ColumnNetConfig| weights::count(&config.init(&mut rng, &Device::flex()).unwrap());
    let cora = ColumnNetConfig::new(1433, 20, 7);
    let (ends, own) = (1433 * 20 + 20 + 20 * 7 + 7, 2 * (20 * 20 + 20));
    assert_eq!(count(cora.clone()), ends + 5 * (own + 2 * 20 * 20));
    assert_eq!(count(cora.clone().with_tied(true)), ends + own + 2 * 20 * 20);
    // Ten heads: W and b each, and ten times as many aggregates.
    let attention = cora.clone().with_aggregation(Aggregation::Attention);
    assert_eq!(count(attention), ends + 5 * (own + 2 * 200 * 20 + 10 * (20 * 20 + 20)));
    let vector = cora.with_aggregation(Aggregation::Concat).with_num_relations(2);
    assert_eq!(count(vector), ends + 5 * (own + 2 * 2 * 50 * 20 * 20));
    let gcn = GcnConfig::new(1433, [16], 7).init(&mut rng, &Device::flex()).unwrap();
    assert_eq!(weights::count(&gcn), 1433 * 16 + 16 + 16 * 7 + 7);
    let chebyshev = ChebyshevNetConfig::new(1433, [16], 7).with_order(3);
    let chebyshev = chebyshev.init(&mut rng, &Device::flex()).unwrap();
    assert_eq!(weights::count(&chebyshev), 4 * (1433 * 16 + 16 * 7) + 16 + 7);
}

fn rng() -> SeededRng {
    SeededRng::new(0, "init")
}

fn wrong<T>(result: Result<T, ConfigError>, key: &str, value: &str, expected: &str) {
    let Err(error) = result else { panic!("{key} = {value} was taken") };
    let message = error.to_string();
    assert_eq!(error.key, key, "{message}");
    assert!(error.value.contains(value), "{message}: expected the value {value}");
    assert!(error.expected.contains(expected), "{message}: expected the advice {expected}");
}

#[test]
fn wrong_configs_name_their_key() {
    const HUGE: usize = usize::MAX / 2;
    let device = Device::flex();
    let column = |config: ColumnNetConfig| config.init(&mut rng(), &device);
    let base = || ColumnNetConfig::new(6, 5, 3);
    wrong(column(ColumnNetConfig::new(0, 5, 3)), "num_features", "0", "at least 1");
    wrong(column(ColumnNetConfig::new(6, 0, 3)), "hidden", "0", "at least 1");
    wrong(column(ColumnNetConfig::new(HUGE, 5, 3)), "num_features", &HUGE.to_string(), "at most");
    wrong(column(ColumnNetConfig::new(6, 1 << 20, 3)), "hidden", "1048576", "at most");
    wrong(column(ColumnNetConfig::new(6, 5, 0)), "num_classes", "0", "between 1");
    wrong(column(base().with_depth(0)), "depth", "0", "between 1");
    wrong(column(ColumnNetConfig::new(6, 5000, 3).with_depth(10_000)), "depth", "numbers", "at most");
    let attention = |heads| base().with_aggregation(Aggregation::Attention).with_heads(Some(heads));
    wrong(column(attention(0)), "heads", "0", "at least 1");
    wrong(column(attention(1 << 30)), "heads", "×5", "at most");
    let concat = |count| base().with_aggregation(Aggregation::Concat).with_num_neighbors(Some(count));
    wrong(column(concat(0)), "num_neighbors", "0", "at least 1");
    wrong(column(concat(1 << 30)), "num_neighbors", "×5", "at most");
    wrong(column(base().with_heads(Some(10))), "heads", "10", "only aggregation = \"attention\"");
    wrong(
        column(base().with_num_neighbors(Some(50))),
        "num_neighbors",
        "50",
        "only aggregation = \"concat\"",
    );
    wrong(column(concat(3).with_heads(Some(2))), "heads", "2", "only aggregation = \"attention\"");
    wrong(column(base().with_num_relations(0)), "num_relations", "0", "at least 1");
    for rate in [1.0, -0.1, f64::NAN] {
        wrong(column(base().with_dropout(rate)), "dropout", &rate.to_string(), "less than 1");
        wrong(column(base().with_input_dropout(rate)), "input_dropout", &rate.to_string(), "less than 1");
    }
    let gcn = |config: GcnConfig| config.init(&mut rng(), &device);
    wrong(gcn(GcnConfig::new(6, [5, 0], 3)), "hidden", "0 at layer 2", "at least 1");
    wrong(gcn(GcnConfig::new(6, vec![1; 10_000], 3)), "hidden", "10000 layers", "fewer");
    wrong(gcn(GcnConfig::new(0, [], 3)), "num_features", "0", "at least 1");
    wrong(gcn(GcnConfig::new(6, [1 << 20, 1 << 20], 3)), "hidden", "1048576×1048576", "at most");
    wrong(gcn(GcnConfig::new(6, [], 3).with_dropout(1.0)), "dropout", "1", "less than 1");
    let chebyshev = |config: ChebyshevNetConfig| config.init(&mut rng(), &device);
    wrong(chebyshev(ChebyshevNetConfig::new(6, [5], 3).with_order(HUGE)), "order", "", "at most");
    wrong(chebyshev(ChebyshevNetConfig::new(1 << 20, [64], 3).with_order(99)), "order", "100×", "at most");
    wrong(chebyshev(ChebyshevNetConfig::new(6, [5], 0)), "num_classes", "0", "between 1");
    wrong(EdgeAttentionConfig::new(4, 0).init(&mut rng(), &device), "heads", "0", "at least 1");
    wrong(GraphConvConfig::new(0, 2).init(&mut rng(), &device), "input", "0", "at least 1");
}

#[test]
fn configs_survive_text_and_refuse_unknown_keys() {
    let config = ColumnNetConfig::new(6, 5, 3).with_aggregation(Aggregation::Attention).with_tied(true);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<ColumnNetConfig>(&text).unwrap(), config);
    let short =
        r#"{"num_features": 6, "hidden": 5, "num_classes": 3, "aggregation": "attention", "tied": true}"#;
    assert_eq!(serde_json::from_str::<ColumnNetConfig>(short).unwrap(), config);
    let error = serde_json::from_str::<ColumnNetConfig>(r#"{"num_features": 6, "heigth": 5}"#).unwrap_err();
    assert!(error.to_string().contains("heigth"), "{error}");
    let config = ChebyshevNetConfig::new(6, [5], 3).with_lambda_max(LambdaMax::Estimated);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<ChebyshevNetConfig>(&text).unwrap(), config);
    let short = r#"{"num_features": 6, "hidden": [5], "num_classes": 3}"#;
    assert_eq!(serde_json::from_str::<GcnConfig>(short).unwrap(), GcnConfig::new(6, [5], 3));
}

#[test]
fn names_can_be_guessed_and_sizes_are_printed() {
    let (device, mut rng) = (Device::flex(), rng());
    let names =
        |named: Vec<(String, _)>| -> Vec<String> { named.into_iter().map(|(name, _)| name).collect() };
    let net = ColumnNetConfig::new(6, 5, 3).with_aggregation(Aggregation::Attention).with_tied(true);
    let net = net.init(&mut rng, &device).unwrap();
    let expected = [
        "input.weight",
        "input.bias",
        "layer.0.own_map",
        "layer.0.neighbor_map",
        "layer.0.bias",
        "layer.0.attention.0.score_map",
        "layer.0.attention.0.score_bias",
        "head.weight",
        "head.bias",
    ];
    assert_eq!(names(weights::named(&net)), expected);
    let printed = net.to_string();
    for part in ["width: 5", "aggregated: 50", "aggregation: Attention", "input: 6"] {
        assert!(printed.contains(part), "{part} is missing in {printed}");
    }
    let net = GcnConfig::new(6, [5], 3).init(&mut rng, &device).unwrap();
    assert_eq!(
        names(weights::named(&net)),
        ["layer.0.weight", "layer.0.bias", "layer.1.weight", "layer.1.bias"]
    );
    let net = ChebyshevNetConfig::new(6, [5], 3).init(&mut rng, &device).unwrap();
    assert_eq!(
        names(weights::named(&net)),
        ["layer.0.weight", "layer.0.bias", "layer.1.weight", "layer.1.bias"]
    );
    assert!(net.to_string().contains("order: 2"), "{net}");
}

/// Saved and loaded into a twin of another seed, a net gives the same bits.
fn survives<N: Net<Input = GraphInput, Output = Tensor<2>>>(
    build: impl Fn(&mut SeededRng) -> N,
    links: Links,
) {
    let mut rng = rng();
    let (net, other) = (build(&mut rng), build(&mut rng));
    let bytes = weights::to_safetensors(&net).unwrap();
    assert_ne!(bytes, weights::to_safetensors(&other).unwrap());
    let loaded = weights::load_safetensors(other, &bytes).unwrap();
    let input = GraphInput::new(Tensor::ones([5, 6], &Device::flex()) * 0.5, &links);
    let [a, b] = [&net, &loaded].map(|net| net.forward(input.clone(), &mut Mode::Eval).into_data());
    a.assert_eq(&b, true);
}

#[test]
fn save_and_load_give_the_same_bits() {
    let device = Device::flex();
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        let config = sized(ColumnNetConfig::new(6, 5, 3).with_aggregation(aggregation), 10, 3);
        let linking = config.init(&mut rng(), &device).unwrap().linking();
        survives(|rng| config.init(rng, &device).unwrap(), linking.links(&odd()).unwrap());
    }
    let config = GcnConfig::new(6, [5], 3);
    survives(|rng| config.init(rng, &device).unwrap(), Linking::Renormalized.links(&odd()).unwrap());
    let config = ChebyshevNetConfig::new(6, [5], 3);
    let links = Linking::Laplacian(LambdaMax::Two).links(&odd()).unwrap();
    survives(|rng| config.init(rng, &device).unwrap(), links);
}

#[test]
fn dropout_draws_from_the_generator_for_dense_and_sparse_features() {
    let device = Device::flex();
    let net = GcnConfig::new(50, [5], 3).with_input_dropout(0.5).with_dropout(0.5);
    let net = net.init(&mut rng(), &device).unwrap();
    let links = net.links(&odd()).unwrap();
    let numbers: Vec<f32> = (0..250).map(|at| f32::from(u8::from(at % 7 == 0))).collect();
    let dense = Tensor::<1>::from_floats(&numbers[..], &device).reshape([5, 50]);
    for features in [Features::Dense(dense), Features::new(numbers, 50, &device).unwrap()] {
        let run = |seed: u64| {
            let mut mode = Mode::train(SeededRng::new(seed, "dropout"));
            net.forward(GraphInput::new(features.clone(), &links), &mut mode).into_data()
        };
        run(1).assert_eq(&run(1), true);
        assert_ne!(run(1), run(2));
    }
}
