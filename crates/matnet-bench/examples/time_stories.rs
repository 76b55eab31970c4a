//! Times a trained net on the stories of a file, for `peers/bench-onnx`:
//!
//! ```text
//! cargo run --release --example time_stories -- runs/babi stories.txt 2
//! ```
//!
//! prints the least seconds, by the clock, of the predictions for all questions of the file, its reading included.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use burn::tensor::Device;
use matnet_data::catalog::Cache;
use matnet_train::Run;
use matnet_train::task::{PredictRequest, Wanted};

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    matnet_alloc::keep_freed_memory();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [run, file, seconds] = &args[..] else {
        return Err("a run, a file and a number of seconds expected".into());
    };
    let seconds: f64 = seconds.parse()?;
    let (net, cache) = (Run::at(run).load("best.safetensors", &Device::flex())?, Cache::standard()?);
    let request = PredictRequest {
        input: Path::new(file),
        edges: None,
        batch_size: None,
        wanted: Wanted::Predictions,
        cache: &cache,
    };
    let (began, mut least) = (Instant::now(), f64::INFINITY);
    while least.is_infinite() || began.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        for batch in net.predict_file(&request)?.batches {
            batch?;
        }
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{least}");
    Ok(())
}
