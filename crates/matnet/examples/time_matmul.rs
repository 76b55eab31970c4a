//! Times `ops::product` against Burn's `matmul`, forward and backward: `cargo run --release --example time_matmul -- 64 500 500`
//! for a batch of 64, 500 inputs and 500 outputs. `RAYON_NUM_THREADS` chooses the threads of both.

use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::ops::product;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|side| side.parse().ok()).collect();
    let shapes: Vec<[usize; 3]> = match given[..] {
        [m, k, n] => vec![[m, k, n]],
        _ => {
            let sides = [[20, 20], [50, 50], [100, 100], [500, 500], [2500, 10], [784, 200], [2000, 2000]];
            [1, 16, 64, 128, 1000].into_iter().flat_map(|m| sides.map(|[k, n]| [m, k, n])).collect()
        }
    };
    println!(
        "microseconds, the least of many: Burn's matmul, ours, GFLOP/s of ours; forward, then with backward"
    );
    for [m, k, n] in shapes {
        let random = |shape: [usize; 2], device: &Device| {
            let numbers = (0..shape[0] * shape[1]).map(|at| (at * 7919 % 1009) as f32 / 504.5 - 1.0);
            Tensor::<2>::from_data(TensorData::new(numbers.collect::<Vec<_>>(), shape), device)
        };
        let plain = Device::flex();
        let (a, b) = (random([m, k], &plain), random([k, n], &plain));
        let tracked = Device::flex().autodiff();
        let leaves = [[m, k], [k, n]].map(|shape| random(shape, &tracked).require_grad());
        let multiply: [fn(Tensor<2>, Tensor<2>) -> Tensor<2>; 2] = [Tensor::matmul, product];
        let mut best = [[f64::INFINITY; 2]; 2];
        let (start, mut rounds) = (Instant::now(), 0);
        // In turns, so that both see the same machine.
        while rounds < 5 || start.elapsed().as_secs_f64() < 0.3 {
            for (which, multiply) in multiply.into_iter().enumerate() {
                let start = Instant::now();
                std::hint::black_box(multiply(a.clone(), b.clone()));
                best[0][which] = best[0][which].min(start.elapsed().as_secs_f64());
                let start = Instant::now();
                let output = multiply(leaves[0].clone(), leaves[1].clone());
                std::hint::black_box(output.sum().backward());
                best[1][which] = best[1][which].min(start.elapsed().as_secs_f64());
            }
            rounds += 1;
        }
        let flops = 2.0 * (m * k * n) as f64;
        let show = |[theirs, ours]: [f64; 2], flops: f64| {
            format!("{:9.1} {:9.1} {:6.1}", theirs * 1e6, ours * 1e6, flops / ours * 1e-9)
        };
        let shape = format!("{m} {k} {n}");
        println!("{shape:>16} | {} | {}", show(best[0], flops), show(best[1], 3.0 * flops));
    }
}
