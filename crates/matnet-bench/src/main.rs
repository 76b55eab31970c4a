//! Times the nets of the benchmark table. Exit codes: 0 done, 1 failed, 2 wrong usage.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use matnet_bench::{BenchError, Saved};

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

/// Time the nets of the benchmark table on this machine
#[derive(Parser)]
#[command(
    name = "matnet-bench",
    version,
    after_help = "A row is selected by the beginning of its name. `peers/bench` times PyTorch on the same work.\n\n\
                  Examples:\n  matnet-bench\n  matnet-bench a c g\n  matnet-bench a c --saved-activations bf16"
)]
struct BenchArgs {
    /// Only these rows
    rows: Vec<String>,
    /// Floats in which activations wait for the backward pass; with none it computes them once more
    #[arg(long, value_name = "FLOATS", value_enum, default_value_t)]
    saved_activations: Saved,
    /// Serve requests on standard input, for `peers/bench`
    #[arg(long, hide = true, conflicts_with_all = ["rows", "saved_activations"])]
    worker: bool,
}

fn main() -> ExitCode {
    matnet_alloc::keep_freed_memory();
    let args = BenchArgs::parse();
    let outcome = match args.worker {
        true => matnet_bench::worker().map_err(BenchError::Io),
        false => match matnet_bench::select(&args.rows) {
            Some(rows) => matnet_bench::table(&rows, args.saved_activations, &mut io::stdout().lock()),
            None => {
                let known: Vec<String> = matnet_bench::rows().into_iter().map(|row| row.id).collect();
                let (asked, known) = (args.rows.join(" "), known.join(", "));
                eprintln!("error: no row begins with {asked}; there are {known}");
                return ExitCode::from(2);
            }
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(BenchError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
