//! The `matnet` command.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted. A reader that closes the pipe early has
//! what it wanted, so that counts as done.

mod cli;
mod commands;
mod failure;
mod interrupt;
mod picture;
mod text;

use std::process::ExitCode;

use clap::Parser;

// Large tensors come and go with every step; the system's allocator gives their pages back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interrupt::install();
    let cli = cli::Cli::parse();
    match commands::run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
