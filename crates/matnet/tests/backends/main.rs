//! The same numbers on backends that have no kernels of ours: every operation, layer and net, forward and backward, against the
//! CPU. `.ci/gpu` runs it on a GPU driver. By hand:
//!
//! ```text
//! cargo test --release -p matnet --features wgpu --test backends -- --nocapture
//! ```
//!
//! The device is the first of each backend in the build, or the one that `MATNET_TEST_DEVICE` names.
#![cfg(any(feature = "cuda", feature = "ndarray", feature = "rocm", feature = "wgpu"))]

#[path = "../common/mod.rs"]
mod common;
mod nets;
mod ops;

use std::sync::Mutex;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use common::reference::Collect;
use matnet::random::SeededRng;
use matnet::weights;

/// How far a number may lie from that of the CPU, relative to the largest of its tensor or to a thousandth.
const TOLERANCE: f64 = 1e-4;

/// The devices that are compared with the CPU.
fn others() -> Vec<Device> {
    if std::env::var_os("MATNET_TEST_DEVICE").is_some() {
        let device = common::device();
        assert!(device != Device::flex(), "the CPU would be compared with itself");
        return vec![device];
    }
    let mut all = Vec::new();
    #[cfg(feature = "ndarray")]
    {
        // Burn means to replace this backend; as a second opinion it serves as long as it lasts.
        #[allow(deprecated)]
        all.push(Device::ndarray());
    }
    for backend in matnet::device::GPU_BACKENDS {
        if let Some(found) = matnet::device::gpus(backend) {
            let first = found.into_iter().next();
            all.push(first.unwrap_or_else(|| panic!("no {backend} device to test on; see `matnet devices`")));
        }
    }
    all
}

/// Cases so far, and the largest difference of all.
static SEEN: Mutex<(usize, f64)> = Mutex::new((0, 0.0));

/// What a computation gave, tensor by tensor, with the names of the tensors.
type Numbers = Vec<(String, Vec<f32>)>;

fn compare(what: &str, run: impl Fn(&Device) -> Numbers) {
    let expected = run(&Device::flex().autodiff());
    for device in others() {
        let got = run(&device.autodiff());
        assert_eq!(expected.len(), got.len(), "{what}");
        let mut worst: f64 = 0.0;
        for ((name, expected), (_, got)) in expected.iter().zip(&got) {
            assert_eq!(expected.len(), got.len(), "{what}: {name}");
            let scale = expected.iter().fold(1e-3, |most, number| f64::from(number.abs()).max(most));
            for (at, (expected, got)) in expected.iter().zip(got).enumerate() {
                let error = f64::from((expected - got).abs()) / scale;
                assert!(
                    error <= TOLERANCE,
                    "{what}: number {at} of {name} is {got}, on the CPU {expected}: off by {error:.1e}"
                );
                worst = worst.max(error);
            }
        }
        let mut seen = SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *seen = (seen.0 + 1, seen.1.max(worst));
        println!("{what}: largest difference {worst:.1e}; so far {} cases, {:.1e}", seen.0, seen.1);
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("f32")
}

/// Normal numbers as a flat tensor.
fn draw(rng: &mut SeededRng, count: usize, size: f64) -> TensorData {
    let drawn: Vec<f32> = (0..count).map(|_| (size * rng.normal()) as f32).collect();
    TensorData::new(drawn, [count])
}

/// Every number of an output with a weight of its own, so that each has a gradient of its own.
fn weigh<const D: usize>(output: Tensor<D>) -> Tensor<1> {
    let count = output.shape().num_elements();
    let weights = Tensor::<1>::from_data(draw(&mut SeededRng::new(3, "weigh"), count, 1.0), &output.device());
    (output.reshape([count]) * weights).sum()
}

/// Output and gradients of a function of tensors of these shapes.
fn same_function<const O: usize>(what: &str, shapes: &[Vec<usize>], run: impl Fn(&[Tensor<1>]) -> Tensor<O>) {
    compare(what, |device| {
        let mut rng = SeededRng::new(1, what);
        let leaves: Vec<Tensor<1>> = shapes
            .iter()
            .map(|shape| {
                let data = draw(&mut rng, shape.iter().product(), 0.5);
                Tensor::from_data(data, device).require_grad()
            })
            .collect();
        let output = run(&leaves);
        let gradients = weigh(output.clone()).backward();
        let mut all = vec![("output".to_owned(), numbers(output))];
        for (at, leaf) in leaves.iter().enumerate() {
            // A cell without a cell state leaves its place unused.
            let gradient = leaf.grad(&gradients).map(numbers).unwrap_or_default();
            all.push((format!("the gradient of argument {at}"), gradient));
        }
        all
    });
}

/// Output, gradient of the input, and gradients of all parameters of a module.
fn same_module<M: Module, const D: usize, const O: usize>(
    what: &str,
    shape: [usize; D],
    build: impl Fn(&mut SeededRng, &Device) -> M,
    run: impl Fn(&M, Tensor<D>) -> Tensor<O>,
) {
    compare(what, |device| {
        let module = build(&mut SeededRng::new(2, "init"), device);
        let data = draw(&mut SeededRng::new(1, "input"), shape.iter().product(), 1.0);
        let input = Tensor::<1>::from_data(data, device).reshape(shape).require_grad();
        let output = run(&module, input.clone());
        let gradients = weigh(output.clone()).backward();
        let mut all = vec![("output".to_owned(), numbers(output))];
        all.extend(
            input.grad(&gradients).map(|gradient| ("the input's gradient".to_owned(), numbers(gradient))),
        );
        let mut collect = Collect { gradients: &gradients, found: Vec::new() };
        module.visit(&mut collect);
        for (name, gradient) in weights::names(&module).into_iter().zip(collect.found) {
            let gradient = gradient.map(|data| data.try_into_vec().expect("f32")).unwrap_or_default();
            all.push((format!("the gradient of {name}"), gradient));
        }
        all
    });
}
