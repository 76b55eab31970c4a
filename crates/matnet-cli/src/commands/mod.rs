//! One module per verb.

mod bench;
mod compare;
mod data;
mod eval;
mod machine;
mod predict;
mod progress;
mod report;
mod table;
mod train;

pub use data::Degrees;

use crate::cli::Command;
use crate::failure::Outcome;

/// Does what was asked.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Train(command) => train::run(command),
        Command::Compare(command) => compare::run(command),
        Command::Eval(command) => eval::run(command),
        Command::Predict(command) => predict::run(command),
        Command::Data(command) => data::run(command),
        Command::Bench(command) => bench::run(command),
    }
}
