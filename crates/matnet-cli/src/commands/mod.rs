//! One module per command.

mod compare;
#[cfg(feature = "dashboard")]
mod dashboard;
mod data;
mod devices;
mod eval;
mod export;
mod inspect;
mod manual;
mod new;
mod parts;
mod predict;
mod report;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod train;
mod tune;

use crate::cli::Command;
use crate::failure::Outcome;

/// Runs a command.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Train(command) => train::run(command),
        Command::Compare(command) => compare::run(command),
        Command::Tune(command) => tune::run(command),
        Command::Eval(command) => eval::run(command),
        Command::Predict(command) => predict::run(command),
        Command::Export(command) => export::run(command),
        Command::Inspect(command) => inspect::run(command),
        Command::Report(command) => report::run(command),
        #[cfg(feature = "serve")]
        Command::Serve(command) => serve::run(command),
        Command::New(command) => new::run(command),
        Command::Completions(command) => manual::completions(command),
        Command::Man(command) => manual::man(command),
        Command::Devices => devices::run(),
        Command::Data(command) => data::run(command),
    }
}
