//! One module per verb.

mod bench;
mod data;

pub use data::Degrees;

use crate::cli::Command;
use crate::failure::Outcome;

/// Does what was asked.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Data(command) => data::run(command),
        Command::Bench(command) => bench::run(command),
    }
}
