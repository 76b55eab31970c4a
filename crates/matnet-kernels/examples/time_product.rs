//! Times dense products, forward and the two of the backward pass: `cargo run --release --example time_product -- 64 500 500`
//! for a batch of 64, 500 inputs and 500 outputs. `RAYON_NUM_THREADS` and `MATNET_SIMD` choose threads and instructions.

use std::time::Instant;

use matnet_kernels::{Level, MatrixView, product};

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|side| side.parse().ok()).collect();
    let shapes: Vec<[usize; 3]> = match given[..] {
        [m, k, n] => vec![[m, k, n]],
        _ => {
            let sides = [[20, 20], [50, 50], [100, 100], [500, 500], [2500, 10], [784, 200], [2000, 2000]];
            [1, 16, 64, 128, 1000].into_iter().flat_map(|m| sides.map(|[k, n]| [m, k, n])).collect()
        }
    };
    let numbers =
        |count: usize| -> Vec<f32> { (0..count).map(|at| (at * 7919 % 1009) as f32 / 504.5 - 1.0).collect() };
    println!("{:?}, {} threads; microseconds and GFLOP/s", Level::best(), rayon::current_num_threads());
    println!("{:>16} {:>16} {:>16} {:>16}", "m k n", "A·B", "C·Bᵀ", "Aᵀ·C");
    for [m, k, n] in shapes {
        let (a, b, c) = (numbers(m * k), numbers(k * n), numbers(m * n));
        let a = MatrixView::new(&a, m, k);
        let b = MatrixView::new(&b, k, n);
        let c = MatrixView::new(&c, m, n);
        let mut times = [f64::INFINITY; 3];
        let flops = 2.0 * (m * n * k) as f64;
        let start = Instant::now();
        let mut rounds = 0;
        while rounds < 5 || start.elapsed().as_secs_f64() < 0.25 {
            for (time, [x, y]) in times.iter_mut().zip([[a, b], [c, b.transposed()], [a.transposed(), c]]) {
                let start = Instant::now();
                std::hint::black_box(product(Level::best(), x, y));
                *time = time.min(start.elapsed().as_secs_f64());
            }
            rounds += 1;
        }
        let show = times.map(|time| format!("{:9.1} {:6.1}", time * 1e6, flops / time * 1e-9));
        println!("{:>16} {}", format!("{m} {k} {n}"), show.join(" "));
    }
}
