//! Graphs: analytic against numeric gradients in f64 for every operation, layer and net, on 100 random graphs
//! each, and fused against composed operations.

mod common;

use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData};
use common::{between, check_function, check_module, device, distance, random, shaken, sized, values, weigh};
use matnet::graph::{Edges, Features, Graph, GraphInput, LambdaMax, Linking, Links, Sampler, Sparse};
use matnet::layer::{
    Aggregation, ChebyshevConfig, ColumnLayerConfig, EdgeAttentionConfig, FeatureMap, GraphConvConfig,
};
use matnet::ops::{
    Activation, HighwayMaps, attention_map, composed, edge_attention, highway, slot_map, sparse_highway,
    sparse_product,
};
use matnet::prelude::*;
use matnet::vector::VecLinearConfig;

const GRAPHS: usize = 100;

fn each_graph(name: &str, check: impl Fn(&str, usize, &mut SeededRng)) {
    for index in 0..GRAPHS {
        let mut rng = SeededRng::new(index as u64, name);
        check(&format!("{name}, graph {index}"), index, &mut rng);
    }
}

fn activation(index: usize) -> Activation {
    [Activation::Relu, Activation::Tanh, Activation::Sigmoid, Activation::Identity][index % 4]
}

fn aggregation(index: usize) -> Aggregation {
    [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat][index % 3]
}

/// Random edges: none, few or many, self loops and repeats among them.
fn edges(rng: &mut SeededRng, nodes: usize) -> Vec<(u32, u32)> {
    let count = between(rng, 0, 3 * nodes);
    (0..count).map(|_| (rng.below(nodes) as u32, rng.below(nodes) as u32)).collect()
}

/// A graph of one relation or more, directed or not.
fn graph(rng: &mut SeededRng, nodes: usize, relations: usize) -> Graph {
    let lists: Vec<_> = (0..relations).map(|_| (edges(rng, nodes), rng.below(2) == 0)).collect();
    let relations: Vec<_> =
        lists.iter().map(|(list, directed)| Edges { list, directed: *directed }).collect();
    Graph::with_relations(nodes, &relations).unwrap()
}

/// A sparse matrix of any shape, with or without weights.
fn matrix(rng: &mut SeededRng, rows: usize, cols: usize) -> Sparse {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..rows {
        for _ in 0..rng.below(4) {
            columns.push(rng.below(cols) as u32);
        }
        offsets.push(columns.len());
    }
    let weights = (rng.below(2) == 0).then(|| columns.iter().map(|_| rng.normal() as f32).collect());
    Sparse::new(cols, offsets, columns, weights).unwrap()
}

/// The links of a whole graph, or of a batch, and how many nodes bring features.
fn links(rng: &mut SeededRng, index: usize, graph: &Graph, linking: Linking, hops: usize) -> (Links, usize) {
    if index % 3 != 2 {
        return (linking.links(graph).unwrap(), graph.nodes());
    }
    let nodes: Vec<u32> = (0..graph.nodes() as u32).filter(|node| node % 2 == 0).collect();
    let sampler = Sampler::new(graph, linking, hops, Some(2)).unwrap();
    let batch = sampler.batch(&nodes, rng).unwrap();
    (batch.links, batch.inputs.len())
}

#[test]
fn sparse_products() {
    each_graph("sparse product", |label, _, rng| {
        let [rows, cols, width] = [7, 7, 20].map(|most| between(rng, 1, most));
        let matrix = matrix(rng, rows, cols);
        check_function(label, &[values(rng, cols * width)], |leaves| {
            weigh(sparse_product(&matrix, leaves[0].clone().reshape([cols, width])))
        });
    });
}

#[test]
fn slot_maps() {
    each_graph("slot map", |label, index, rng| {
        let [nodes, slots, width, output] = [7, 4, 6, 5].map(|most| between(rng, 1, most));
        let graph = graph(rng, nodes, 1);
        let (links, others) = links(rng, index, &graph, Linking::Slots(slots), 1);
        let matrix = &links.hop(0)[0];
        let inputs = [others * width, slots * width * output].map(|n| values(rng, n));
        let run = |op: fn(&Sparse, Tensor<2>, Tensor<2>) -> Tensor<2>, leaves: &[Tensor<1>]| {
            let map = leaves[1].clone().reshape([slots * width, output]);
            op(matrix, leaves[0].clone().reshape([others, width]), map)
        };
        for op in [slot_map, composed::slot_map] {
            check_function(label, &inputs, |leaves| weigh(run(op, leaves)));
        }
        let leaves = inputs.each_ref().map(|values| common::tensor(values.clone(), [values.len()]));
        assert!(distance(run(slot_map, &leaves), run(composed::slot_map, &leaves)) < 1e-12, "{label}");
    });
}

#[test]
fn edge_attentions() {
    each_graph("edge attention", |label, _, rng| {
        let [rows, cols, width, heads] = [6, 6, 6, 6].map(|most| between(rng, 1, most));
        let matrix = matrix(rng, rows, cols);
        let inputs = [rows * width * heads, width * heads, cols * width].map(|n| values(rng, n));
        check_function(label, &inputs, |leaves| {
            let [query, bias, keys] = [0, 1, 2].map(|at| leaves[at].clone());
            let (query, bias) = (query.reshape([rows, width, heads]), bias.reshape([width, heads]));
            weigh(edge_attention(&matrix, query, bias, keys.reshape([cols, width])))
        });
    });
}

#[test]
fn attention_maps() {
    each_graph("attention map", |label, _, rng| {
        let [rows, more, width, heads, output] = [6, 4, 5, 5, 4].map(|most| between(rng, 1, most));
        let cols = rows + more - 1;
        let matrix = matrix(rng, rows, cols);
        let inputs = [cols * width, width * width * heads, width * heads, width * heads * output];
        let inputs = inputs.map(|n| values(rng, n));
        for composed in [false, true] {
            check_function(label, &inputs, |leaves| {
                weigh(run_attention_map(composed, &matrix, leaves, width, heads))
            });
        }
        let singles: Vec<Tensor<1>> = inputs
            .iter()
            .map(|values| {
                common::tensor(values.iter().map(|v| 0.3 * v).collect(), [values.len()]).cast(DType::F32)
            })
            .collect();
        let [fused, composed] =
            [false, true].map(|composed| run_attention_map(composed, &matrix, &singles, width, heads));
        assert!(distance(fused, composed) < 1e-5, "{label}");
    });
}

fn run_attention_map(
    composed: bool,
    matrix: &Sparse,
    leaves: &[Tensor<1>],
    width: usize,
    heads: usize,
) -> Tensor<2> {
    let [state, score_map, bias, out_map] = [0, 1, 2, 3].map(|at| leaves[at].clone());
    let output = out_map.dims()[0] / (width * heads);
    let (state, score_map) =
        (state.reshape([matrix.cols(), width]), score_map.reshape([width, width * heads]));
    let (bias, out_map) = (bias.reshape([width, heads]), out_map.reshape([width * heads, output]));
    let run = if composed { composed::attention_map } else { attention_map };
    run(matrix, state, score_map, bias, out_map)
}

#[test]
fn highways() {
    each_graph("highway", |label, index, rng| {
        let [nodes, width] = [7, 20].map(|most| between(rng, 1, most));
        let inputs = [2 * nodes * width, 2 * nodes * width, 2 * width, nodes * width];
        let inputs = inputs.map(|n| values(rng, n));
        check_function(label, &inputs, |leaves| {
            let [own, aggregated, bias, state] = [0, 1, 2, 3].map(|at| leaves[at].clone());
            let (own, aggregated) = (own.reshape([nodes, 2 * width]), aggregated.reshape([nodes, 2 * width]));
            let (bias, state) = (bias.reshape([2, width]), state.reshape([nodes, width]));
            weigh(highway(own, aggregated, bias, state, activation(index)))
        });
    });
}

/// A highway with its maps from lists of numbers: X, V, U, b and, if there are five, H.
fn highway_with_maps(
    leaves: &[Tensor<1>],
    matrices: &[Sparse],
    width: usize,
    f: Activation,
    composed: bool,
) -> Tensor<2> {
    let input = leaves[0].clone().reshape([matrices[0].cols(), width]);
    let state = leaves.get(4).map(|state| state.clone().reshape([matrices[0].rows(), width]));
    let maps = HighwayMaps {
        own_map: leaves[1].clone().reshape([2, width, width]),
        neighbor_map: leaves[2].clone().reshape([2, matrices.len() * width, width]),
        bias: leaves[3].clone().reshape([2, width]),
        activation: f,
    };
    let run = if composed { composed::sparse_highway } else { sparse_highway };
    run(matrices, input, state, maps)
}

#[test]
fn highways_with_their_maps() {
    each_graph("sparse highway", |label, index, rng| {
        let [nodes, width, relations] = [7, 8, 3].map(|most| between(rng, 1, most));
        let others = nodes + between(rng, 0, 3);
        let matrices: Vec<Sparse> = (0..relations).map(|_| matrix(rng, nodes, others)).collect();
        let square = 2 * width * width;
        let mut sizes = vec![others * width, square, square * relations, 2 * width];
        if index % 3 == 0 {
            sizes.push(nodes * width);
        }
        let inputs: Vec<_> = sizes.into_iter().map(|size| values(rng, size)).collect();
        let f = activation(index);
        for composed in [false, true] {
            check_function(label, &inputs, |leaves| {
                weigh(highway_with_maps(leaves, &matrices, width, f, composed))
            });
        }
        let leaves: Vec<_> =
            inputs.iter().map(|values| common::tensor(values.clone(), [values.len()])).collect();
        let [fused, composed] =
            [false, true].map(|composed| highway_with_maps(&leaves, &matrices, width, f, composed));
        assert!(distance(fused, composed) < 1e-12, "{label}");
    });
}

/// Fused and composed give the same in f32: output and gradients.
#[test]
fn fused_operations_do_what_composed_ones_do() {
    let mut rng = SeededRng::new(1, "fused");
    for index in 0..GRAPHS {
        let [rows, cols, width] = [60, 60, 40].map(|most| between(&mut rng, 1, most));
        let heads = between(&mut rng, 1, 20);
        let matrix = matrix(&mut rng, rows, cols);
        let keys = random(&mut rng, [cols, width]).cast(DType::F32);
        let query = random(&mut rng, [rows, width, heads]).cast(DType::F32) / width as f32;
        let bias = random(&mut rng, [width, heads]).cast(DType::F32);
        let [own, aggregated] = [0, 1].map(|_| random(&mut rng, [cols, 2 * width]).cast(DType::F32));
        let gates = random(&mut rng, [2, width]).cast(DType::F32);
        let run = |fused: bool| {
            let [keys, own, aggregated, gates, bias] = [&keys, &own, &aggregated, &gates, &bias]
                .map(|tensor| tensor.clone().detach().require_grad());
            let query = query.clone().detach().require_grad();
            let (product, attention, mixed) = if fused {
                (
                    sparse_product(&matrix, keys.clone()),
                    edge_attention(&matrix, query.clone(), bias.clone(), keys.clone()),
                    highway(own.clone(), aggregated.clone(), gates.clone(), keys.clone(), activation(index)),
                )
            } else {
                (
                    composed::sparse_product(&matrix, keys.clone()),
                    composed::edge_attention(&matrix, query.clone(), bias.clone(), keys.clone()),
                    composed::highway(
                        own.clone(),
                        aggregated.clone(),
                        gates.clone(),
                        keys.clone(),
                        activation(index),
                    ),
                )
            };
            let loss = weigh(product.clone().cast(DType::F64))
                + weigh(attention.clone().cast(DType::F64))
                + weigh(mixed.clone().cast(DType::F64));
            let gradients = loss.backward();
            let mut all =
                vec![product.flatten::<1>(0, 1), attention.flatten::<1>(0, 2), mixed.flatten::<1>(0, 1)];
            all.extend([query
                .grad(&gradients)
                .map_or(Tensor::zeros([1], &device()), |g| g.flatten::<1>(0, 2))]);
            for leaf in [keys, own, aggregated, gates, bias] {
                all.extend(leaf.grad(&gradients).map(|gradient| gradient.flatten::<1>(0, 1)));
            }
            all
        };
        for (at, (fused, composed)) in run(true).into_iter().zip(run(false)).enumerate() {
            let scale = composed.clone().abs().max().into_scalar::<f32>().max(1.0);
            let apart = distance(fused, composed) / f64::from(scale);
            assert!(apart <= 1e-5, "case {index}, tensor {at}: {apart:e} apart");
        }
    }
}

/// A layer or net on the features of some nodes.
fn check_nodes<M: Module>(
    label: &str,
    module: M,
    [nodes, width]: [usize; 2],
    rng: &mut SeededRng,
    forward: impl Fn(&M, Tensor<2>) -> Tensor<2>,
) {
    let module = shaken(module, rng, 0.3);
    let input = values(rng, nodes * width);
    check_module(label, &module, &[input], |module, leaves| {
        weigh(forward(module, leaves[0].clone().reshape([nodes, width])))
    });
}

#[test]
fn edge_attention_layer() {
    each_graph("edge attention layer", |label, index, rng| {
        let [nodes, width, heads] = [6, 5, 4].map(|most| between(rng, 1, most));
        let graph = graph(rng, nodes, 1);
        let (links, inputs) = links(rng, index, &graph, Linking::Adjacency, 1);
        let layer = EdgeAttentionConfig::new(width, heads).init(rng, &device()).unwrap();
        check_nodes(label, layer, [inputs, width], rng, |layer, x| layer.forward(&links.hop(0)[0], x));
    });
}

#[test]
fn column_layers() {
    each_graph("column layer", |label, index, rng| {
        let [nodes, width, relations] = [6, 5, 2].map(|most| between(rng, 1, most));
        let graph = graph(rng, nodes, relations);
        let [heads, neighbors] = [between(rng, 1, 4), between(rng, 1, 4)];
        let config = match aggregation(index) {
            Aggregation::Attention => {
                ColumnLayerConfig::new(width, Aggregation::Attention).with_heads(Some(heads))
            }
            Aggregation::Concat => {
                ColumnLayerConfig::new(width, Aggregation::Concat).with_num_neighbors(Some(neighbors))
            }
            other => ColumnLayerConfig::new(width, other),
        };
        let config =
            config.with_num_relations(relations).with_activation(activation(index / 3)).with_dropout(0.3);
        let (links, inputs) = links(rng, index / 3, &graph, config.linking(), 1);
        let layer = config.init(rng, &device()).unwrap();
        check_nodes(label, layer, [inputs, width], rng, |layer, x| {
            let mut mode = if index % 2 == 0 { Mode::Eval } else { Mode::train(SeededRng::new(1, "mode")) };
            layer.forward(links.hop(0), x, &mut mode)
        });
    });
}

#[test]
fn convolutions() {
    each_graph("convolution", |label, index, rng| {
        let [nodes, from, to] = [7, 6, 6].map(|most| between(rng, 1, most));
        let graph = graph(rng, nodes, 1);
        let linking = if index % 2 == 0 { Linking::Renormalized } else { Linking::Symmetric };
        let (links, inputs) = links(rng, index, &graph, linking, 1);
        let layer =
            GraphConvConfig::new(from, to).with_activation(activation(index)).with_bias(index % 3 != 1);
        let layer = layer.init(rng, &device()).unwrap();
        check_nodes(label, layer, [inputs, from], rng, |layer, x| layer.forward(&links.hop(0)[0], &x.into()));
    });
}

#[test]
fn chebyshev_layers() {
    each_graph("chebyshev", |label, index, rng| {
        let [nodes, from, to, order] = [7, 5, 5, 4].map(|most| between(rng, 1, most));
        let order = order - 1;
        let graph = graph(rng, nodes, 1);
        let lambda = if index % 2 == 0 { LambdaMax::Two } else { LambdaMax::Estimated };
        let (links, inputs) = links(rng, index, &graph, Linking::Laplacian(lambda), order.max(1));
        let layer = ChebyshevConfig::new(from, to, order).with_activation(activation(index));
        let layer = layer.init(rng, &device()).unwrap();
        check_nodes(label, layer, [inputs, from], rng, |layer, x| layer.forward(&links, 0, &x.into()));
    });
}

/// Maps of sparse features have gradients for the weights alone.
#[test]
fn feature_maps() {
    each_graph("feature map", |label, index, rng| {
        let [nodes, from, to] = [7, 9, 6].map(|most| between(rng, 1, most));
        let features = matrix(rng, nodes, from).into();
        let map = VecLinearConfig::new(from, to).with_activation(activation(index)).with_bias(index % 3 != 1);
        let layer = shaken(FeatureMap { map: map.init(rng, &device()).unwrap() }, rng, 0.3);
        check_module(label, &layer, &[], |layer, _| weigh(layer.forward(&features)));
    });
}

/// A net on dense features, or on sparse ones, whole or in batches, learning or in use.
fn check_net<N: Net<Input = GraphInput, Output = Tensor<2>>>(
    label: &str,
    index: usize,
    net: N,
    width: usize,
    (links, inputs): (Links, usize),
    rng: &mut SeededRng,
) {
    let mode = || if index.is_multiple_of(2) { Mode::Eval } else { Mode::train(SeededRng::new(1, "mode")) };
    if index % 5 == 4 {
        let features: Features = matrix(rng, inputs, width).into();
        let net = shaken(net, rng, 0.3);
        return check_module(label, &net, &[], |net, _| {
            weigh(net.forward(GraphInput::new(features.clone(), &links), &mut mode()))
        });
    }
    check_nodes(label, net, [inputs, width], rng, |net, x| {
        net.forward(GraphInput::new(x, &links), &mut mode())
    });
}

#[test]
fn column_nets() {
    each_graph("column net", |label, index, rng| {
        let [nodes, features, hidden, classes, height] = [6, 5, 4, 3, 3].map(|most| between(rng, 1, most));
        let relations = between(rng, 1, 2);
        let config = ColumnNetConfig::new(features, hidden, classes).with_aggregation(aggregation(index));
        let net = sized(config, between(rng, 1, 3), between(rng, 1, 3))
            .with_depth(height)
            .with_num_relations(relations)
            .with_tied(index % 4 < 2)
            .with_activation(activation(index / 3))
            .with_input_dropout(0.2)
            .with_dropout(0.2)
            .init(rng, &device())
            .unwrap();
        let graph = graph(rng, nodes, relations);
        let links = links(rng, index / 3, &graph, net.linking(), net.hops());
        check_net(label, index, net, features, links, rng);
    });
}

#[test]
fn gcns() {
    each_graph("gcn", |label, index, rng| {
        let [nodes, features, classes, depth] = [7, 6, 4, 4].map(|most| between(rng, 1, most));
        let hidden: Vec<usize> = (1..depth).map(|_| between(rng, 1, 6)).collect();
        let net = GcnConfig::new(features, hidden, classes)
            .with_activation(activation(index))
            .with_input_dropout(0.2)
            .with_dropout(0.2)
            .init(rng, &device())
            .unwrap();
        let graph = graph(rng, nodes, 1 + index % 2);
        let links = links(rng, index, &graph, net.linking(), net.hops());
        check_net(label, index, net, features, links, rng);
    });
}

#[test]
fn chebyshev_nets() {
    each_graph("chebyshev net", |label, index, rng| {
        let [nodes, features, classes, depth] = [7, 6, 4, 3].map(|most| between(rng, 1, most));
        let hidden: Vec<usize> = (1..depth).map(|_| between(rng, 1, 6)).collect();
        let net = ChebyshevNetConfig::new(features, hidden, classes)
            .with_order(index % 4)
            .with_lambda_max(if index % 2 == 0 { LambdaMax::Two } else { LambdaMax::Estimated })
            .with_activation(activation(index))
            .with_input_dropout(0.2)
            .with_dropout(0.2)
            .init(rng, &device())
            .unwrap();
        let graph = graph(rng, nodes, 1);
        let links = links(rng, index, &graph, net.linking(), net.hops());
        check_net(label, index, net, features, links, rng);
    });
}

/// f32 numbers as a tensor that asks for no gradient, for sparse and dense features alike.
#[test]
fn sparse_features_give_what_dense_ones_give() {
    let mut rng = SeededRng::new(3, "features");
    let graph = graph(&mut rng, 30, 1);
    let mut numbers = vec![0.0_f32; 30 * 50];
    (0..60).for_each(|_| numbers[rng.below(1500)] = rng.normal() as f32);
    let dense = Tensor::<2>::from_data(TensorData::new(numbers.clone(), [30, 50]), &device());
    let sparse = Features::new(numbers, 50, &device()).unwrap();
    assert!(matches!(sparse, Features::Sparse(_)));
    let picked = [4, 7, 7, 0];
    let column = ColumnNetConfig::new(50, 8, 3).init(&mut rng, &device()).unwrap();
    let gcn = GcnConfig::new(50, [8], 3).init(&mut rng, &device()).unwrap();
    let chebyshev = ChebyshevNetConfig::new(50, [8], 3).init(&mut rng, &device()).unwrap();
    let same = |run: &dyn Fn(Features) -> Tensor<2>| {
        assert!(distance(run(dense.clone().into()), run(sparse.clone())) < 1e-5);
    };
    let (c, g, l) =
        (column.links(&graph).unwrap(), gcn.links(&graph).unwrap(), chebyshev.links(&graph).unwrap());
    same(&|x| column.forward(GraphInput::new(x, &c), &mut Mode::Eval));
    same(&|x| gcn.forward(GraphInput::new(x, &g), &mut Mode::Eval));
    same(&|x| chebyshev.forward(GraphInput::new(x, &l), &mut Mode::Eval));
    same(&|x| column.input.forward(&x.select(&picked)));
}
