//! The benchmark table: times the nets of `rows.json`, alone or as the worker of `peers/bench`.
//!
//! [`worker`] serves requests, one JSON object per line, until its input ends:
//!
//! | request | response |
//! |---|---|
//! | `{"do": "info"}` | version and threads |
//! | `{"do": "sgemm", "side": 2048}` | GFLOP/s of a large matrix product, by Burn and by our own kernels |
//! | `{"do": "export", "row": {…}, "file": "…"}` | writes weights, input and target; flops and parameters, or `skip` and the reason |
//! | `{"do": "load", "row": {…}, "variant": "fused"}` | loads a row and warms it up; the first loss |
//! | `{"do": "run", "repeats": 5}` | milliseconds of each repetition, and memory |

mod composed;
mod graph;
mod graph_task;
mod load;
mod memory;
mod row;
mod task;

use std::io::{self, BufRead, Write};
use std::time::Instant;

use burn::tensor::{Device, Tensor};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

pub use graph::GraphSource;
pub use row::{BenchNet, Row, Timed, rows};
use task::{Task, Variant};

/// What waits for the backward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Saved {
    /// Activations as they are.
    #[default]
    #[value(name = "32")]
    Full,
    /// Activations as bfloat16.
    Bf16,
    /// Inputs and outputs only: gradient checkpointing.
    None,
}

/// A request to a worker.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Info,
    Sgemm { side: usize },
    Export { row: Box<Row>, file: String },
    Load { row: Box<Row>, variant: Variant },
    Run { repeats: usize },
}

/// Serves requests on standard input until it ends.
pub fn worker() -> io::Result<()> {
    let mut loaded: Option<Box<dyn Task>> = None;
    let idle = memory::resident();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let response = serde_json::from_str(&line)
            .map_err(|error| error.to_string())
            .and_then(|request| respond(request, &mut loaded, idle))
            .unwrap_or_else(|error| json!({ "error": error }));
        let mut out = io::stdout().lock();
        writeln!(out, "{response}")?;
        out.flush()?;
    }
    Ok(())
}

fn respond(request: Request, loaded: &mut Option<Box<dyn Task>>, idle: f64) -> Result<Value, String> {
    match request {
        Request::Info => Ok(json!({
            "matnet": env!("CARGO_PKG_VERSION"),
            "threads": rayon::current_num_threads(),
        })),
        Request::Sgemm { side } => Ok(json!({ "burn": burn_sgemm(side), "matnet": own_sgemm(side) })),
        Request::Export { row, file } => {
            if let Err(missing) = row.available() {
                return Ok(json!({ "skip": missing }));
            }
            let task = load::load(&row, Variant::Fused, Saved::Full)?;
            std::fs::write(&file, task.export()).map_err(|error| format!("{file}: {error}"))?;
            Ok(json!({ "flops": row.flops()?, "parameters": task.parameters() }))
        }
        Request::Load { row, variant } => {
            let mut task = load::load(&row, variant, Saved::Full)?;
            let loss: f32 = task.step().into_scalar();
            task.step();
            memory::release();
            (0..2).for_each(|_| drop(task.step()));
            memory::reset_peak();
            *loaded = Some(task);
            Ok(json!({ "loss": loss }))
        }
        Request::Run { repeats } => {
            let task = loaded.as_mut().ok_or("no row is loaded")?;
            let times = run(task.as_mut(), repeats);
            Ok(json!({ "ms": times, "memory": memory::peak() - idle }))
        }
    }
}

/// Milliseconds of each repetition.
fn run(task: &mut dyn Task, repeats: usize) -> Vec<f64> {
    (0..repeats)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(task.step());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect()
}

/// The fastest of a few large matrix products by Burn, in GFLOP/s.
fn burn_sgemm(side: usize) -> f64 {
    let device = Device::flex();
    let matrix = |rows| Tensor::<2>::ones([rows, side], &device) * 0.5;
    // Burn multiplies on one thread: each thread has a part of the rows.
    let threads = rayon::current_num_threads().min(side);
    let parts: Vec<_> =
        (0..threads).map(|at| matrix(side * (at + 1) / threads - side * at / threads)).collect();
    let b = matrix(side);
    fastest_product(side, || {
        parts.par_iter().for_each(|a| {
            std::hint::black_box(a.clone().matmul(b.clone()));
        });
    })
}

/// The same by our own kernels, which share a product between the threads.
fn own_sgemm(side: usize) -> f64 {
    let matrix = Tensor::<2>::ones([side, side], &Device::flex()) * 0.5;
    fastest_product(side, || {
        std::hint::black_box(matnet::ops::product(matrix.clone(), matrix.clone()));
    })
}

/// GFLOP/s of the fastest of a few runs of a product of square matrices.
fn fastest_product(side: usize, mut product: impl FnMut()) -> f64 {
    let seconds = (0..6).map(|_| {
        let start = Instant::now();
        product();
        start.elapsed().as_secs_f64()
    });
    2.0 * (side as f64).powi(3) / seconds.fold(f64::INFINITY, f64::min) / 1e9
}

/// The rows whose names begin with one of these, or all; `None` if there is no such row.
pub fn select(names: &[String]) -> Option<Vec<Row>> {
    let selected = |row: &Row| names.is_empty() || names.iter().any(|name| row.id.starts_with(name));
    let rows: Vec<Row> = row::rows().into_iter().filter(selected).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Times rows, about a second each, and prints a line for each as it is done.
pub fn table(rows: &[Row], saved: Saved, out: &mut impl Write) -> Result<(), BenchError> {
    let peak = burn_sgemm(2048).max(own_sgemm(2048));
    writeln!(out, "{} threads, sgemm {peak:.0} GFLOP/s", rayon::current_num_threads())?;
    memory::release();
    let idle = memory::resident();
    let steps = |task: &mut dyn Task, repeats| match saved {
        Saved::Bf16 => matnet::ops::save_as_bf16(|| run(task, repeats)),
        Saved::Full | Saved::None => run(task, repeats),
    };
    for row in rows {
        if let Err(missing) = row.available() {
            writeln!(out, "{:10} SKIPPED: {missing}", row.id)?;
            continue;
        }
        let mut task = load::load(row, Variant::Fused, saved).map_err(BenchError::Row)?;
        steps(task.as_mut(), 1);
        memory::release();
        let once = steps(task.as_mut(), 2)[1];
        memory::reset_peak();
        let mut times = steps(task.as_mut(), ((1000.0 / once) as usize).clamp(3, 1000));
        let memory = memory::peak() - idle;
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let share = 100.0 * row.flops().map_err(BenchError::Row)? / (median * 1e6) / peak;
        let Row { id, title, .. } = row;
        writeln!(out, "{id:10} {median:9.3} ms {share:5.1} % of sgemm {memory:6.0} MiB  {title}")?;
        out.flush()?;
    }
    Ok(())
}

/// Why a benchmark could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A row could not be loaded.
    #[error("{0}")]
    Row(String),
}
