//! The `matnet-reproduce` command.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted.

use std::process::ExitCode;

use clap::Parser;
use matnet_cli::interrupt;
use matnet_reproduce::ReproduceArgs;

// As in the `matnet` command: large tensors come and go with every step; the system's allocator returns their pages each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interrupt::install();
    match matnet_reproduce::run(&ReproduceArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report().into(),
    }
}
