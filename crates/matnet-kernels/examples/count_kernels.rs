//! Runs one small kernel within a function called `measured`, for `tools/count-instructions` to count its instructions; without a
//! name, lists them.

use matnet_kernels::{
    Activation, AdamStep, Cell, Chain, Csr, Keep, Level, Link, Map, MapSize, MatrixView, Reads, Recurrent,
    Term, product, sparse_product,
};

const KERNELS: [&str; 10] = [
    "map-forward-one",
    "chain-train-one",
    "chain-train-few",
    "chain-train-blocks",
    "rnn-train",
    "lstm-train",
    "lstm-forward-one",
    "product",
    "sparse-product",
    "adam",
];

fn main() {
    let Some(name) = std::env::args().nth(1) else {
        KERNELS.iter().for_each(|name| println!("{name}"));
        return;
    };
    // On the thread of a pool of its own, where nothing is handed over.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| run(&name));
}

/// The first call takes memory from the system, the second is counted.
fn twice(mut work: impl FnMut()) {
    work();
    measured(&mut work);
}

#[inline(never)]
#[unsafe(no_mangle)]
fn measured(work: &mut dyn FnMut()) {
    work();
    // No tail call: the function is to be left after the work.
    std::hint::black_box(());
}

fn numbers(count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919 % 1009) as f32 / 504.5 - 1.0) * scale).collect()
}

fn run(name: &str) {
    let level = Level::best();
    match name {
        "map-forward-one" => {
            let (input, map) = (numbers(50 * 50, 1.0), numbers(50 * 50, 0.2));
            let size = MapSize { rows: 50, cols: 50, rows_out: 50, cols_out: 50 };
            let terms = [Term { size, input: &input, row_map: &map, col_map: &map }];
            let map = Map { terms: &terms, bias: None, activation: Activation::Relu };
            twice(|| drop(map.forward(level, Keep::Nothing)));
        }
        "chain-train-one" => chain(level, 20, 1),
        "chain-train-few" => chain(level, 20, 4),
        "chain-train-blocks" => chain(level, 20, 32),
        "rnn-train" => recurrent(level, Cell::Rnn(Activation::Tanh), 16, true),
        "lstm-train" => recurrent(level, Cell::Lstm, 16, true),
        "lstm-forward-one" => recurrent(level, Cell::Lstm, 1, false),
        "product" => {
            let numbers = numbers(100 * 100, 1.0);
            let matrix = MatrixView::new(&numbers, 100, 100);
            twice(|| drop(product(level, matrix, matrix)));
        }
        "sparse-product" => {
            let (nodes, degree, width) = (200, 5, 20);
            let offsets = (0..=nodes).map(|node| node * degree).collect();
            let columns = (0..nodes * degree).map(|at| (at * 37 % nodes) as u32).collect();
            let graph = Csr::new(nodes, offsets, columns).expect("a graph");
            let states = numbers(nodes * width, 1.0);
            twice(|| drop(sparse_product(level, &graph, None, &states, width)));
        }
        "adam" => {
            let step = AdamStep { beta_1: 0.9, beta_2: 0.999, rate: 1e-3, correction: 1.1, epsilon: 1e-8 };
            let (gradient, mut all) = (numbers(10_007, 1.0), [0; 3].map(|_| numbers(10_007, 0.5)));
            all[2].iter_mut().for_each(|second| *second *= *second);
            let [weights, first, second] = &mut all;
            twice(|| step.run(level, weights, &gradient, first, second));
        }
        _ => {
            eprintln!("no kernel is called {name}");
            std::process::exit(2);
        }
    }
}

/// Five maps, forward and backward.
fn chain(level: Level, side: usize, batch: usize) {
    let size = MapSize { rows: side, cols: side, rows_out: side, cols_out: side };
    let (map, bias) = (numbers(side * side, 0.3), numbers(side * side, 0.1));
    let link = Link { size, row_map: &map, col_map: &map, bias: &bias, activation: Activation::Relu };
    let (links, input) = ([link; 5], numbers(batch * side * side, 1.0));
    let chain = Chain { input: &input, links: &links };
    twice(|| {
        let (output, kept) = chain.forward(level, Keep::Full);
        drop(chain.backward(level, &kept, &output, true));
    });
}

/// Four steps of 12×12, forward or both ways.
fn recurrent(level: Level, cell: Cell, batch: usize, train: bool) {
    let (side, steps, gates) = (12, 4, cell.gates());
    let size = side * side;
    let (input, start) = (numbers(batch * steps * size, 1.0), numbers(batch * size, 1.0));
    let (maps, bias) = (numbers(gates * size, 0.3), numbers(gates * size, 0.1));
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
        input_row_map: &maps,
        input_col_map: &maps,
        state_row_map: &maps,
        state_col_map: &maps,
        bias: &bias,
        all: false,
    };
    twice(|| {
        let (output, kept) = recurrent.forward(level, if train { Keep::Full } else { Keep::Nothing });
        if train {
            drop(recurrent.backward(level, &kept, &output, true));
        }
    });
}
