//! Times maps, chains, recurrences by side and batch on one thread, in GFLOP/s and as a share of the best dense product:
//! `cargo run --release -p matnet-kernels --example time_sides -- [chain|map|rnn|lstm] [side …] [x batch …]`.
//!
//! The clock is the CPU time of the thread, the best of many rounds, so that a busy machine disturbs little. `MATNET_SIMD` chooses
//! instructions; with `ALL_WAYS=1` samples in lanes and columns in 8 and 16 lanes are shown beside what is chosen.

use matnet_kernels::{
    Activation, Cell, Chain, InLanes, Keep, Level, Link, Map, MapSize, MatrixView, Reads, Recurrent, Term,
    product,
};

/// CPU time of this thread in seconds.
fn now() -> f64 {
    #[repr(C)]
    struct Time(i64, i64);
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const THREAD: i32 = 3;
    let mut time = Time(0, 0);
    // SAFETY: the C library fills in two numbers of 64 bits, as Linux has them on 64-bit CPUs.
    unsafe { clock_gettime(THREAD, &mut time) };
    time.0 as f64 + 1e-9 * time.1 as f64
}

/// The least seconds of each piece of work, taken in turns.
fn least(works: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; works.len()];
    let mut repeats = vec![1; works.len()];
    let start = now();
    let mut rounds = 0;
    while rounds < 10 || now() - start < 0.4 * works.len() as f64 {
        for ((work, best), repeat) in works.iter_mut().zip(&mut best).zip(&mut repeats) {
            let start = now();
            for _ in 0..*repeat {
                work();
            }
            let seconds = now() - start;
            *best = best.min(seconds / *repeat as f64);
            // So long that the clock counts.
            if seconds < 1e-4 {
                *repeat *= 2;
                *best = f64::INFINITY;
            }
        }
        rounds += 1;
    }
    best
}

fn numbers(count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919 % 1009) as f32 / 504.5 - 1.0) * scale).collect()
}

/// Seconds of forward, forward keeping, backward; and the flops of a forward pass.
fn time(level: Level, what: &str, side: usize, batch: usize) -> (Vec<f64>, f64) {
    let size = MapSize { rows: side, cols: side, rows_out: side, cols_out: side };
    let state = side * side;
    // Of a size with which states neither overflow nor vanish on their way.
    let (map, bias) = (numbers(8 * state, 1.7 / (side as f32).sqrt()), numbers(4 * state, 0.1));
    let one = (4 * state * side * batch) as f64;
    match what {
        "chain" => {
            let link = Link {
                size,
                row_map: &map[..state],
                col_map: &map[..state],
                bias: &bias[..state],
                activation: Activation::Relu,
            };
            let links = vec![link; 10];
            let (input, gradient) = (numbers(batch * state, 1.0), numbers(batch * state, 1.0));
            let chain = Chain { input: &input, links: &links };
            let (_, kept) = chain.forward(level, Keep::Full);
            let times = least(&mut [
                &mut || drop(chain.forward(level, Keep::Nothing)),
                &mut || drop(chain.forward(level, Keep::Full)),
                &mut || drop(chain.backward(level, &kept, &gradient, true)),
            ]);
            (times, 10.0 * one)
        }
        "map" => {
            let (input, gradient) = (numbers(batch * state, 1.0), numbers(batch * state, 1.0));
            let terms = [Term { size, input: &input, row_map: &map[..state], col_map: &map[..state] }];
            let map = Map { terms: &terms, bias: Some(&bias[..state]), activation: Activation::Relu };
            let (output, kept) = map.forward(level, Keep::Full);
            let times = least(&mut [
                &mut || drop(map.forward(level, Keep::Nothing)),
                &mut || drop(map.forward(level, Keep::Full)),
                &mut || drop(map.backward(level, &output, &kept, &gradient, &[true])),
            ]);
            (times, one)
        }
        _ => {
            let cell = if what == "lstm" { Cell::Lstm } else { Cell::Rnn(Activation::Tanh) };
            let (steps, gates) = (5, cell.gates());
            let input = numbers(batch * steps * state, 1.0);
            let start = numbers(batch * state, 1.0);
            let maps = &map[..gates * state];
            let recurrent = Recurrent {
                cell,
                input_size: [side, side],
                state_size: [side, side],
                steps,
                lengths: None,
                input: &input,
                reads: Reads::Steps,
                hidden: &start,
                cell_state: (cell == Cell::Lstm).then_some(&start),
                input_row_map: maps,
                input_col_map: maps,
                state_row_map: maps,
                state_col_map: maps,
                bias: &bias[..gates * state],
                all: false,
            };
            let gradient = numbers(batch * recurrent.outputs() * state, 1.0);
            let (_, kept) = recurrent.forward(level, Keep::Full);
            let times = least(&mut [
                &mut || drop(recurrent.forward(level, Keep::Nothing)),
                &mut || drop(recurrent.forward(level, Keep::Full)),
                &mut || drop(recurrent.backward(level, &kept, &gradient, true)),
            ]);
            (times, (2 * gates * steps) as f64 * one)
        }
    }
}

/// GFLOP/s of the best dense product.
fn peak() -> f64 {
    let (m, k, n) = (480, 480, 480);
    let (a, b) = (numbers(m * k, 1.0), numbers(k * n, 1.0));
    let (a, b) = (MatrixView::new(&a, m, k), MatrixView::new(&b, k, n));
    let level = Level::best();
    2e-9 * (m * k * n) as f64 / least(&mut [&mut || drop(product(level, a, b))])[0]
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let what = given.first().map_or("chain", String::as_str);
    let mut lists = given.get(1..).unwrap_or_default().split(|word| word == "x");
    let mut list = |usual: &[usize]| -> Vec<usize> {
        let list: Vec<_> = lists.next().unwrap_or_default().iter().filter_map(|n| n.parse().ok()).collect();
        if list.is_empty() { usual.to_vec() } else { list }
    };
    let (sides, batches) = (list(&[20, 50, 64, 100, 200]), list(&[1, 8, 64]));
    let best = Level::best();
    let half = Level::available().into_iter().rfind(|level| level.lanes::<f32>() == 8).unwrap_or(best);
    let ways = [
        ("chosen", best),
        ("samples", best.with(InLanes::Samples)),
        ("cols 8", half.with(InLanes::Columns)),
        ("cols 16", best.with(InLanes::Columns)),
    ];
    let all = std::env::var_os("ALL_WAYS").is_some();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        let peak = peak();
        println!("{what}, {best:?}, one thread; dense product of 480: {peak:.1} GFLOP/s");
        println!(
            "{:>5} {:>6} {:>8} {:>16} {:>16} {:>16} {:>24}",
            "side", "batch", "lanes", "forward", "keeping", "backward", "training (ms, % of peak)"
        );
        for (side, batch) in sides.iter().flat_map(|side| batches.iter().map(move |batch| (*side, *batch))) {
            for (way, level) in &ways[..if all { 4 } else { 1 }] {
                let (times, flops) = time(*level, what, side, batch);
                let show = |seconds: f64, flops: f64| {
                    let rate = 1e-9 * flops / seconds;
                    format!("{rate:7.1} {:6.0} %", 100.0 * rate / peak)
                };
                let training = times[1] + times[2];
                println!(
                    "{side:>5} {batch:>6} {way:>8} {:>16} {:>16} {:>16} {:9.4} {:>14}",
                    show(times[0], flops),
                    show(times[1], flops),
                    show(times[2], 2.0 * flops),
                    1e3 * training,
                    show(training, 3.0 * flops),
                );
            }
        }
    });
}
