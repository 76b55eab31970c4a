//! Counts the kernels that a recurrent layer launches on a GPU, before and after `ops::stepwise`:
//!
//! ```text
//! cargo run --release -p matnet-bench --features wgpu --example count_launches
//! ```
//!
//! It fails if a layer launches more than it should. A software driver will do: the number of launches does not depend on who carries
//! them out. `--kernels` lists them by name, and a device may be named, like `wgpu:1`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

use burn::tensor::{Device, Tensor, TensorData};
use cubecl_runtime::config::{TypeNameFormatLevel, type_name_format};
use cubecl_runtime::logging::{LaunchObservation, LaunchObserver};
use matnet::ops::{
    self, Activation, Cell, Keep, MatState, RecurrentMaps, StateMaps, Steps, composed, stepwise,
};
use matnet::random::SeededRng;

const BATCH: usize = 32;
const TIME: usize = 25;

/// Launches by kernel.
#[derive(Default)]
struct Launches(Mutex<BTreeMap<&'static str, usize>>);

impl LaunchObserver for Launches {
    fn launched(&self, kernel: &'static str) {
        *self.0.lock().unwrap().entry(kernel).or_default() += 1;
    }
}

/// The launches of some work, by short names.
fn count(work: impl FnOnce()) -> BTreeMap<String, usize> {
    let launches = Arc::new(Launches::default());
    let watching = LaunchObservation::new(launches.clone());
    work();
    drop(watching);
    let mut short = BTreeMap::new();
    for (name, count) in launches.0.lock().unwrap().iter() {
        *short.entry(type_name_format(name, TypeNameFormatLevel::Short)).or_default() += count;
    }
    short
}

/// What a kernel does, by words in its name.
const KINDS: [(&str, &[&str]); 3] = [
    ("products", &["matmul", "gemm", "gemv", "cmma"]),
    ("sums", &["reduce", "sum"]),
    ("copies", &["copy", "relayout", "slice", "cast", "repeat", "select", "gather", "scatter", "flip"]),
];

/// How many of some launches are of each kind; those that are of none are element-wise.
fn by_kind(phases: &[BTreeMap<String, usize>; 2]) -> [usize; 4] {
    let mut counts = [0; 4];
    for (name, count) in phases.iter().flatten() {
        let name = name.to_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
        counts[KINDS.iter().position(|(_, words)| is(words)).unwrap_or(KINDS.len())] += count;
    }
    counts
}

fn normal<const D: usize>(shape: [usize; D], rng: &mut SeededRng, device: &Device) -> Tensor<D> {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| 0.2 * rng.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device).require_grad()
}

/// Forward and backward of a layer, each with its launches.
fn layer(
    cell: Cell,
    [rows, cols]: [usize; 2],
    stepwise: bool,
    device: &Device,
) -> [BTreeMap<String, usize>; 2] {
    let rng = &mut SeededRng::new(1, "launches");
    let gates = cell.gates();
    // A layer of vectors maps its inputs by one product, as `VecCell` does.
    let maps = RecurrentMaps {
        input_row_map: normal([gates, 32, rows], rng, device),
        input_col_map: normal([gates, 16, cols], rng, device),
        state_row_map: normal([gates, rows, rows], rng, device),
        state_col_map: normal([gates, cols, cols], rng, device),
        bias: normal([gates, rows, cols], rng, device),
    };
    let input = normal([BATCH, TIME, 32, 16], rng, device).detach();
    let vectors = normal([1, BATCH * TIME, 512], rng, device).detach();
    let vector_map = normal([gates, 512, rows], rng, device);
    let state = MatState::zeros(cell, [BATCH, rows, cols], device);
    let mut output = None;
    let forward = count(|| {
        let (hidden, _) = if cols == 1 {
            let mapped = ops::batched_product(vectors, vector_map.clone());
            let mapped = ops::MappedSteps::All(mapped.reshape([gates, BATCH, TIME, rows, 1]));
            let RecurrentMaps { state_row_map, state_col_map, bias, .. } = maps.clone();
            let maps = StateMaps { row_map: state_row_map, col_map: state_col_map, bias };
            match stepwise {
                true => stepwise::recurrent_mapped(cell, mapped, state, maps, Keep::Last),
                false => composed::recurrent_mapped(cell, mapped, state, maps, Keep::Last),
            }
        } else {
            let steps = Steps::from(input);
            match stepwise {
                true => stepwise::recurrent(cell, steps, state, maps.clone(), Keep::Last),
                false => composed::recurrent(cell, steps, state, maps.clone(), Keep::Last),
            }
        };
        output = Some(hidden.sum());
    });
    let loss = output.expect("computed just now");
    let backward = count(|| drop(loss.backward()));
    [forward, backward]
}

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    if flags.iter().any(|flag| flag != "--kernels") || names.len() > 1 {
        return Err("usage: count_launches [--kernels] [DEVICE]".into());
    }
    let name = names.first().map_or("wgpu:0", String::as_str);
    let device = matnet::device::find(name)?;
    println!("{}, batch {BATCH}, {TIME} steps of 32×16\n", matnet::device::name(&device));
    let device = device.autodiff();
    println!("| layer | forward, before | now | backward, before | now | per step, before | now |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let (mut by_kernel, mut grown) = (Vec::new(), Vec::new());
    // The last number is how many launches a step may take.
    for (title, cell, sides, most) in [
        ("matrix RNN 20×20", Cell::Rnn(Activation::Tanh), [20, 20], 13),
        ("matrix GRU 20×20", Cell::Gru(Activation::Tanh), [20, 20], 43),
        ("matrix LSTM 20×20", Cell::Lstm, [20, 20], 41),
        ("vector LSTM 128", Cell::Lstm, [128, 1], 39),
    ] {
        let [before, now] = [false, true].map(|stepwise| layer(cell, sides, stepwise, &device));
        let total = |part: &BTreeMap<String, usize>| part.values().sum::<usize>();
        let ([forward, backward], [forward_now, backward_now]) =
            (before.each_ref().map(total), now.each_ref().map(total));
        let per_step = |all: usize| format!("{:.1}", all as f64 / TIME as f64);
        println!(
            "| {title} | {forward} | {forward_now} | {backward} | {backward_now} | {} | {} |",
            per_step(forward + backward),
            per_step(forward_now + backward_now)
        );
        if forward_now + backward_now > most * TIME {
            grown.push(format!("{title} takes more than {most} launches a step"));
        }
        by_kernel.extend([(format!("{title}, before"), before), (format!("{title}, now"), now)]);
    }
    println!("\nOperations of a whole sequence, forward and backward:\n");
    println!("| layer | products | sums | copies | element-wise |");
    println!("|---|---:|---:|---:|---:|");
    for (title, phases) in &by_kernel {
        let [products, sums, copies, others] = by_kind(phases);
        println!("| {title} | {products} | {sums} | {copies} | {others} |");
    }
    if !flags.is_empty() {
        for (title, [forward, backward]) in by_kernel {
            println!("\n{title}");
            for (phase, kernels) in [("forward", forward), ("backward", backward)] {
                kernels.iter().for_each(|(name, count)| println!("{phase:9} {count:6} {name}"));
            }
        }
    }
    if grown.is_empty() { Ok(()) } else { Err(grown.join("; ").into()) }
}
