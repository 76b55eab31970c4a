//! The same numbers on a backend that has no kernels of ours:
//! `cargo test --release -p matnet --features ndarray --test backends`.
#![cfg(feature = "ndarray")]
#![allow(deprecated)] // Burn means to replace this backend; as a second opinion it serves as long as it lasts.

mod common;

use burn::tensor::{Device, Tensor, TensorData};
use common::sized;
use matnet::graph::GraphError;
use matnet::net::Net;
use matnet::prelude::*;
use matnet::random::SeededRng;

fn input<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let mut rng = SeededRng::new(1, "input");
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| rng.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// What `run` gives on a device: the output, and the gradient of the input.
fn on<const D: usize, const O: usize>(
    device: Device,
    shape: [usize; D],
    run: &dyn Fn(Tensor<D>, &Device) -> Tensor<O>,
) -> [Vec<f32>; 2] {
    let device = device.autodiff();
    let input = input(shape, &device).require_grad();
    let output = run(input.clone(), &device);
    let gradients = output.clone().square().sum().backward();
    let gradient = input.grad(&gradients).expect("the output depends on the input");
    [output.into_data(), gradient.into_data()].map(|data| data.to_vec().expect("f32"))
}

fn same<const D: usize, const O: usize>(
    what: &str,
    shape: [usize; D],
    run: impl Fn(Tensor<D>, &Device) -> Tensor<O>,
) {
    let [ours, other] = [Device::flex(), Device::ndarray()].map(|device| on(device, shape, &run));
    for (ours, other) in ours.iter().zip(&other) {
        let scale = other.iter().fold(1.0f32, |most, x| most.max(x.abs()));
        for (a, b) in ours.iter().zip(other) {
            assert!((a - b).abs() <= 1e-5 * scale, "{what}: {a} with kernels, {b} without");
        }
    }
}

#[test]
fn nets_give_the_same_with_and_without_kernels() {
    for form in [Form::Matrix, Form::Vector] {
        let hidden = if form == Form::Matrix { vec![7, 5] } else { vec![11] };
        same("feedforward", [9, 6, 4], |x, device| {
            let config = FeedForwardConfig::new([6, 4], hidden.clone(), 3)
                .with_form(form)
                .with_depth(Some(4))
                .with_activation(Activation::Tanh)
                .with_skip(Skip::Highway);
            config.init(&mut SeededRng::new(2, "init"), device).unwrap().forward(x, &mut Mode::Eval)
        });
        for cell in [CellKind::Rnn, CellKind::Lstm, CellKind::Gru] {
            same("sequence classifier", [9, 5, 6, 4], |x, device| {
                let config =
                    SequenceClassifierConfig::new([6, 4], hidden.clone(), 3).with_form(form).with_cell(cell);
                config
                    .init(&mut SeededRng::new(2, "init"), device)
                    .unwrap()
                    .forward(x.into(), &mut Mode::Eval)
            });
            same("seq2seq", [9, 5, 6, 4], |x, device| {
                let config = Seq2SeqConfig::new([6, 4], hidden.clone(), 3).with_form(form).with_cell(cell);
                config
                    .init(&mut SeededRng::new(2, "init"), device)
                    .unwrap()
                    .forward(x.into(), &mut Mode::Eval)
            });
        }
    }
}

#[test]
fn nets_on_graphs_give_the_same_with_and_without_kernels() {
    // Two nodes have the same neighbour, one has a self loop, the last has no neighbours.
    let graph = Graph::new(7, &[(0, 1), (1, 2), (0, 2), (3, 3), (4, 0), (5, 0), (4, 5)], false).unwrap();
    fn run<N: Net<Input = GraphInput, Output = Tensor<2>>>(
        net: &N,
        links: Result<Links, GraphError>,
        features: Tensor<2>,
    ) -> Tensor<2> {
        let input = GraphInput { features: Features::Dense(features), links: links.unwrap() };
        net.forward(input, &mut Mode::Eval)
    }
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        same("column net", [7, 6], |x, device| {
            let config = ColumnNetConfig::new(6, 5, 3).with_aggregation(aggregation).with_depth(2);
            let net = sized(config, 3, 4).init(&mut SeededRng::new(2, "init"), device).unwrap();
            run(&net, net.links(&graph), x)
        });
    }
    same("gcn", [7, 6], |x, device| {
        let net = GcnConfig::new(6, [5], 3).init(&mut SeededRng::new(2, "init"), device).unwrap();
        run(&net, net.links(&graph), x)
    });
    same("chebyshev", [7, 6], |x, device| {
        let net = ChebyshevNetConfig::new(6, [5], 3).init(&mut SeededRng::new(2, "init"), device).unwrap();
        run(&net, net.links(&graph), x)
    });
}
