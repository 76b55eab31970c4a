//! Times the graph kernels: `cargo run --release -p matnet-kernels --example time_graph [nodes] [width] [heads]`.

use std::time::Instant;

use matnet_kernels::{Activation, Attention, Csr, Highway, Level, sparse_product};

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let size = |at: usize, default: usize| sizes.get(at).copied().unwrap_or(default);
    let (nodes, width, heads) = (size(0, 2708), size(1, 20), size(2, 10));
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let degree = 4;
    let offsets = (0..=nodes).map(|node| node * degree).collect();
    let columns = (0..nodes * degree).map(|_| (next() % nodes) as u32).collect();
    let graph = Csr::new(nodes, offsets, columns).expect("a graph");
    let (transposed, _) = graph.transpose();
    let mut list = |count: usize| -> Vec<f32> { (0..count).map(|_| next() as f32 / 2e9 - 0.5).collect() };
    let (query, bias, keys) = (list(nodes * width * heads), list(width * heads), list(nodes * width));
    let (own, aggregated, gates) = (list(2 * nodes * width), list(2 * nodes * width), list(2 * width));
    let gradient = list(nodes * width * heads);
    let level = Level::best();
    let attention = Attention {
        graph: &graph,
        transposed: &transposed,
        width,
        heads,
        query: &query,
        bias: &bias,
        keys: &keys,
    };
    let highway = Highway {
        width,
        own: &own,
        aggregated: &aggregated,
        bias: &gates,
        state: &keys,
        activation: Activation::Relu,
    };
    println!("{nodes} nodes of degree {degree}, width {width}, {heads} heads, {level:?}");
    let (output, kept) = attention.forward(level);
    time("sparse product", || drop(sparse_product(level, &graph, None, &keys, width)));
    time("attention forward", || drop(attention.forward(level)));
    time("attention backward", || drop(attention.backward(level, &output, &kept, &gradient)));
    time("highway forward", || drop(highway.forward(level)));
    time("highway backward", || drop(highway.backward(level, &gradient[..nodes * width])));
}

/// The fastest of several.
fn time(what: &str, mut work: impl FnMut()) {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    let best = (0..30).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min);
    println!("{what:20} {best:9.3} ms");
}
