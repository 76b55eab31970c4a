//! Probe.
use matnet_kernels::*;
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;
use std::time::Instant;
fn main() {
    let side: usize = std::env::args().nth(1).map_or(50, |s| s.parse().unwrap());
    let batch: usize = std::env::args().nth(2).map_or(128, |s| s.parse().unwrap());
    let reps = 200;
    let size = MapSize { rows: side, cols: side, rows_out: side, cols_out: side };
    let mut seed = 1u32;
    let mut rnd = |n: usize| -> Vec<f32> {
        (0..n)
            .map(|_| {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                (seed >> 8) as f32 / 16777216.0 - 0.5
            })
            .collect()
    };
    let (x, u, v, b) = (rnd(batch * side * side), rnd(side * side), rnd(side * side), rnd(side * side));
    let g = rnd(batch * side * side);
    let terms = [Term { size, input: &x, row_map: &u, col_map: &v }];
    let m = Map { terms: &terms, bias: Some(&b), activation: Activation::Relu };
    let only = std::env::args().nth(3);
    for level in Level::available() {
        if only.as_ref().is_some_and(|o| *o != format!("{level:?}")) {
            continue;
        }
        let (y, mid) = m.forward(level, true);
        let mut best = (f64::MAX, f64::MAX);
        for _ in 0..reps {
            let t = Instant::now();
            let r = m.forward(level, true);
            best.0 = best.0.min(t.elapsed().as_secs_f64());
            drop(r);
            let t = Instant::now();
            let r = m.backward(level, &y, &mid, &g, &[true]);
            best.1 = best.1.min(t.elapsed().as_secs_f64());
            drop(r);
        }
        let f = 2.0 * size.products() as f64 * batch as f64;
        println!(
            "{level:?} fwd {:.3} ms {:.1} GF/s  bwd {:.3} ms {:.1} GF/s",
            best.0 * 1e3,
            f / best.0 / 1e9,
            best.1 * 1e3,
            2.0 * f / best.1 / 1e9
        );
    }
}
