//! One module per verb.

mod bench;
mod compare;
#[cfg(feature = "dashboard")]
mod dashboard;
mod data;
mod eval;
mod inspect;
mod machine;
mod manual;
mod new;
mod predict;
mod program;
mod progress;
mod report;
mod reproduce;
mod table;
mod train;

pub use data::Degrees;

use crate::cli::Command;
use crate::failure::Outcome;

/// What `--edges` is told where it makes no sense.
const NO_EDGES: &str = "--edges: only nets on graphs have edges to hear along";

/// Does what was asked.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Train(command) => train::run(command),
        Command::Compare(command) => compare::run(command),
        Command::Eval(command) => eval::run(command),
        Command::Predict(command) => predict::run(command),
        Command::Inspect(command) => inspect::run(command),
        Command::Report(command) => report::run(command),
        Command::New(command) => new::run(command),
        Command::Completions(command) => manual::completions(command),
        Command::Man(command) => manual::man(command),
        Command::Reproduce(command) => reproduce::run(command),
        Command::Data(command) => data::run(command),
        Command::Bench(command) => bench::run(command),
    }
}
