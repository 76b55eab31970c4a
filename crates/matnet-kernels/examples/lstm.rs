//! Probe.
use matnet_kernels::*;
use std::time::Instant;
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main() {
    let (r, c, n, m, steps, batch) = (64, 32, 100, 100, 25, 32);
    let mut seed = 1u32;
    let mut rnd = |n: usize, s: f32| -> Vec<f32> {
        (0..n)
            .map(|_| {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                ((seed >> 8) as f32 / 16777216.0 - 0.5) * s
            })
            .collect()
    };
    let x = rnd(batch * steps * r * c, 1.0);
    let (h, cc) = (rnd(batch * n * m, 1.0), rnd(batch * n * m, 1.0));
    let (ux, vx, uh, vh, b) = (
        rnd(4 * r * n, 0.3),
        rnd(4 * c * m, 0.3),
        rnd(4 * n * n, 0.3),
        rnd(4 * m * m, 0.3),
        rnd(4 * n * m, 0.3),
    );
    let g = rnd(batch * 2 * n * m, 1.0);
    let rec = Recurrent {
        cell: Cell::Lstm,
        input_size: [r, c],
        state_size: [n, m],
        steps,
        input: &x,
        reads: Reads::Steps,
        hidden: &h,
        memory: Some(&cc),
        input_row_map: &ux,
        input_col_map: &vx,
        state_row_map: &uh,
        state_col_map: &vh,
        bias: &b,
        all: false,
    };
    for level in Level::available().into_iter().rev().take(3) {
        let mut best = (f64::MAX, f64::MAX);
        for _ in 0..5 {
            let t = Instant::now();
            let (_, kept) = rec.forward(level, true);
            best.0 = best.0.min(t.elapsed().as_secs_f64());
            let t = Instant::now();
            let _ = rec.backward(level, &kept, &g, false);
            best.1 = best.1.min(t.elapsed().as_secs_f64());
        }
        println!("{level:?} fwd {:.1} ms  bwd {:.1} ms", best.0 * 1e3, best.1 * 1e3);
    }
}
