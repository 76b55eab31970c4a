//! Times a trained net on the graph of its run, for `peers/bench-onnx`:
//!
//! ```text
//! cargo run --release --example time_nodes -- runs/cora 2
//! ```
//!
//! prints the least seconds, by the clock, of a pass over the whole graph with the scores of the test nodes.

use std::error::Error;
use std::time::Instant;

use burn::tensor::Device;
use matnet_data::catalog::Cache;
use matnet_train::task::EvalOptions;
use matnet_train::{Run, Split};

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    matnet_alloc::keep_freed_memory();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [run, seconds] = &args[..] else { return Err("a run and a number of seconds expected".into()) };
    let seconds: f64 = seconds.parse()?;
    let model = Run::at(run).load("best.safetensors", &Device::flex())?.with_run_data(&Cache::standard()?)?;
    let (began, mut least) = (Instant::now(), f64::INFINITY);
    while least.is_infinite() || began.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        model.evaluate(Split::Test, &EvalOptions::default())?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{least}");
    Ok(())
}
