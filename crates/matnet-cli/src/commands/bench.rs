//! `matnet bench`

use std::io;

use matnet_bench::BenchError;

use crate::cli::Bench;
use crate::failure::{Failure, Outcome};

/// Prints a line per row, or serves as a worker.
pub fn run(command: Bench) -> Outcome {
    if command.worker {
        return Ok(matnet_bench::worker()?);
    }
    let Some(rows) = matnet_bench::choose(&command.rows) else {
        let known: Vec<String> = matnet_bench::rows().into_iter().map(|row| row.id).collect();
        let asked = command.rows.join(" ");
        return Err(Failure::Usage(format!("no row begins with {asked}; there are {}", known.join(", "))));
    };
    matnet_bench::table(&rows, &mut io::stdout().lock()).map_err(|error| match error {
        BenchError::Io(error) => error.into(),
        BenchError::Row(what) => Failure::Failed(what),
    })
}
