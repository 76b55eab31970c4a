//! Maps in a row as one operation: gradients against numeric ones, and against the same maps one by one.

mod common;

use burn::tensor::{DType, Device, Tensor, TensorData};
use common::{between, check_function, random, values, weigh};
use matnet::ops::{Activation, Mat1Maps, composed, mat1, mat1_chain, save_as_bf16};
use matnet::prelude::*;

const ACTIVATIONS: [Activation; 4] =
    [Activation::Identity, Activation::Relu, Activation::Sigmoid, Activation::Tanh];

/// Shapes of the states of a chain.
fn states(rng: &mut SeededRng, maps: usize, most: usize) -> Vec<[usize; 2]> {
    (0..=maps).map(|_| [between(rng, 1, most), between(rng, 1, most)]).collect()
}

/// Numbers for X, then for U, V and B of each map, of the size that a net in training has.
fn flat(rng: &mut SeededRng, batch: usize, states: &[[usize; 2]]) -> Vec<Vec<f64>> {
    let mut all = vec![values(rng, batch * states[0][0] * states[0][1])];
    for pair in states.windows(2) {
        let ([r, c], [p, q]) = (pair[0], pair[1]);
        for (count, side) in [(r * p, r), (c * q, c), (p * q, 1)] {
            let scale = (side as f64).sqrt();
            all.push(values(rng, count).into_iter().map(|v| v / scale).collect());
        }
    }
    all
}

/// X and the maps from flat tensors; every third map has no bias.
fn unflatten(t: &[Tensor<1>], batch: usize, states: &[[usize; 2]]) -> (Tensor<3>, Vec<Mat1Maps>) {
    let input = t[0].clone().reshape([batch, states[0][0], states[0][1]]);
    let maps = t[1..].chunks_exact(3).zip(states.windows(2)).enumerate().map(|(at, (t, pair))| {
        let ([r, c], [p, q]) = (pair[0], pair[1]);
        Mat1Maps {
            row_map: t[0].clone().reshape([r, p]),
            col_map: t[1].clone().reshape([c, q]),
            bias: (at % 3 < 2).then(|| t[2].clone().reshape([p, q])),
            activation: ACTIVATIONS[at % 4],
        }
    });
    (input, maps.collect())
}

type Mat1 = fn(Tensor<3>, Tensor<2>, Tensor<2>, Option<Tensor<2>>, Activation) -> Tensor<3>;

fn one_by_one(op: Mat1, input: Tensor<3>, maps: Vec<Mat1Maps>) -> Tensor<3> {
    maps.into_iter()
        .fold(input, |state, maps| op(state, maps.row_map, maps.col_map, maps.bias, maps.activation))
}

/// Output and all gradients of a function of flat f32 tensors.
fn everything(inputs: &[Vec<f64>], run: impl Fn(&[Tensor<1>]) -> Tensor<3>) -> Vec<Vec<f64>> {
    let device = Device::flex().autodiff();
    let single = |numbers: &Vec<f64>| {
        let data = TensorData::new(numbers.clone(), [numbers.len()]).convert::<f32>();
        Tensor::<1>::from_data(data, &device).require_grad()
    };
    let leaves: Vec<_> = inputs.iter().map(single).collect();
    let output = run(&leaves);
    let grads = weigh(output.clone().cast(DType::F64)).backward();
    let mut all = vec![common::numbers(output)];
    all.extend(leaves.iter().map(|leaf| leaf.grad(&grads).map_or_else(Vec::new, common::numbers)));
    all
}

#[test]
fn gradients_of_chains() {
    let mut rng = SeededRng::new(1, "chain");
    for _ in 0..120 {
        let (batch, maps) = (between(&mut rng, 1, 6), between(&mut rng, 1, 6));
        let states = states(&mut rng, maps, 5);
        let inputs = flat(&mut rng, batch, &states);
        check_function(&format!("chain, batch {batch}, {states:?}"), &inputs, |t| {
            let (input, maps) = unflatten(t, batch, &states);
            weigh(mat1_chain(input, maps))
        });
    }
}

#[test]
fn a_chain_gives_the_bits_of_its_maps() {
    let mut rng = SeededRng::new(2, "chain bits");
    // The last one is too long for one operation.
    for (maps, batch, most) in [(1, 3, 9), (2, 1, 20), (5, 70, 12), (9, 40, 20), (17, 8, 6), (75, 20, 7)] {
        let states = states(&mut rng, maps, most);
        let inputs = flat(&mut rng, batch, &states);
        let run = |op: &dyn Fn(Tensor<3>, Vec<Mat1Maps>) -> Tensor<3>| {
            everything(&inputs, |t| {
                let (input, maps) = unflatten(t, batch, &states);
                op(input, maps)
            })
        };
        let chained = run(&mat1_chain);
        assert_eq!(chained, run(&|input, maps| one_by_one(mat1, input, maps)), "{maps} maps, batch {batch}");
        let composed = run(&|input, maps| one_by_one(composed::mat1, input, maps));
        for (at, (chained, composed)) in chained.iter().zip(&composed).enumerate() {
            let scale = composed.iter().fold(1.0f64, |most, v| most.max(v.abs()));
            let far = chained.iter().zip(composed).any(|(a, b)| (a - b).abs() > 1e-5 * scale);
            assert!(!far && chained.len() == composed.len(), "{maps} maps, batch {batch}: tensor {at}");
        }
    }
}

#[test]
fn activations_saved_as_bf16_change_gradients_a_little_and_nothing_else() {
    let mut rng = SeededRng::new(3, "chain bf16");
    let states = states(&mut rng, 5, 12);
    let inputs = flat(&mut rng, 40, &states);
    let exactly = |t: &[Tensor<1>]| {
        let (input, maps) = unflatten(t, 40, &states);
        mat1_chain(input, maps)
    };
    let exact = everything(&inputs, exactly);
    let rounded = everything(&inputs, |t| save_as_bf16(|| exactly(t)));
    assert_eq!(rounded[0], exact[0], "the output");
    assert_ne!(rounded, exact, "activations are saved as they are");
    for (at, (rounded, exact)) in rounded.iter().zip(&exact).enumerate() {
        let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
        let apart = norm(&mut rounded.iter().zip(exact).map(|(a, b)| a - b));
        assert!(apart <= 0.02 * norm(&mut exact.iter().copied()), "tensor {at}: {apart} apart");
    }
    // It ends with the work, however that ends.
    assert_eq!(everything(&inputs, exactly), exact);
    assert!(std::panic::catch_unwind(|| save_as_bf16(|| panic!("as it should"))).is_err());
    assert_eq!(everything(&inputs, exactly), exact);
}

#[test]
fn a_net_gives_the_bits_of_its_layers() {
    let device = Device::flex().autodiff();
    for (tied, depth) in [(false, 40), (true, 7), (false, 2), (false, 1)] {
        let config = FeedForwardConfig::new([6, 5], [7, 8], 3).with_depth(Some(depth)).with_tied(tied);
        let net = config.init(&mut SeededRng::new(3, "init"), &device).expect("a good config");
        let input = Tensor::<3>::from_data(
            TensorData::new(values(&mut SeededRng::new(4, "input"), 20 * 30), [20, 6, 5]).convert::<f32>(),
            &device,
        );
        // On the watch, every layer is alone.
        let [chained, alone] = [Mode::Eval, Mode::Eval.detect_non_finite()].map(|mut mode| {
            let scores = net.forward(input.clone(), &mut mode);
            let grads = scores.clone().square().sum().backward();
            let gradients = net.layer.iter().flat_map(|layer| match layer {
                matnet::net::StackLayer::Plain(unit) => match &unit.map {
                    matnet::layer::Map::Matrix(map) => [&map.row_map, &map.col_map, &map.bias]
                        .map(|weights| weights.as_ref().and_then(|weights| weights.val().grad(&grads))),
                    matnet::layer::Map::Vector(_) => unreachable!("a net of matrices"),
                },
                _ => unreachable!("a net without skips"),
            });
            let mut all = vec![common::numbers(scores)];
            all.extend(gradients.map(|gradient| common::numbers(gradient.expect("every weight counts"))));
            all
        });
        assert_eq!(chained.len(), alone.len());
        for (at, (chained, alone)) in chained.iter().zip(&alone).enumerate() {
            // Where weights are shared, the order in which their gradients are added differs.
            let scale = if tied { alone.iter().fold(1.0f64, |most, v| most.max(v.abs())) } else { 0.0 };
            let far = chained.iter().zip(alone).any(|(a, b)| (a - b).abs() > 1e-6 * scale);
            assert!(!far, "tied {tied}, depth {depth}: tensor {at}");
        }
    }
}

#[test]
#[should_panic(expected = "mat1_chain: row map takes 4 rows, state has 3")]
fn what_does_not_fit_is_refused_in_words() {
    let mut rng = SeededRng::new(5, "misfit");
    let mut maps = |r: usize| Mat1Maps {
        row_map: random(&mut rng, [r, 3]),
        col_map: random(&mut rng, [2, 2]),
        bias: None,
        activation: Activation::Relu,
    };
    let maps = vec![maps(4), maps(4)];
    mat1_chain(random(&mut rng, [1, 4, 2]), maps);
}
