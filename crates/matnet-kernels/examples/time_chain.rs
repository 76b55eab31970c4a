//! Times a chain of 30 maps on a batch of 128: `cargo run --release --example time_chain -- 20 50 150`.

use std::time::Instant;

use matnet_kernels::{Activation, Chain, Keep, Level, Link, MapSize};

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|side| side.parse().ok()).collect();
    for side in if given.is_empty() { vec![20, 50, 150] } else { given } {
        let size = MapSize { rows: side, cols: side, rows_out: side, cols_out: side };
        // Of a size with which states neither overflow nor vanish on their way.
        let numbers = |count: usize, scale: f32| -> Vec<f32> {
            (0..count).map(|at| ((at * 7919 % 1009) as f32 / 504.5 - 1.0) * scale).collect()
        };
        let (map, bias) = (numbers(side * side, 1.7 / (side as f32).sqrt()), numbers(side * side, 0.1));
        let activation = Activation::Relu;
        let links = vec![Link { size, row_map: &map, col_map: &map, bias: &bias, activation }; 30];
        let (input, gradient) = (numbers(128 * side * side, 1.0), numbers(128 * side * side, 1.0));
        let chain = Chain { input: &input, links: &links };
        let time = |work: &mut dyn FnMut()| {
            let once = || {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64()
            };
            let mut times: Vec<f64> =
                std::iter::repeat_with(once).take((40_000 / (side * side)).max(7)).collect();
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let flops = (30 * 128 * 4 * side * side * side) as f64 / 1e9;
        let level = Level::best();
        let pass = time(&mut || drop(chain.forward(level, Keep::Nothing)));
        let keep = time(&mut || drop(chain.forward(level, Keep::Full)));
        let (_, kept) = chain.forward(level, Keep::Full);
        let back = time(&mut || drop(chain.backward(level, &kept, &gradient, true)));
        let single = Chain { input: &input[..side * side], links: &links };
        let alone = time(&mut || drop(single.forward(level, Keep::Nothing)));
        let show =
            |seconds: f64, flops: f64| format!("{:8.3} ms {:4.0} GFLOP/s", seconds * 1e3, flops / seconds);
        println!("30 × {side}×{side}, batch 128: forward {}", show(pass, flops));
        println!("{:>35} {}", "keeping", show(keep, flops));
        println!("{:>35} {}", "backward", show(back, 2.0 * flops));
        println!("{:>35} {}", "one sample, forward", show(alone, flops / 128.0));
    }
}
