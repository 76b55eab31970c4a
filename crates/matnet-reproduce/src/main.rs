//! The `matnet-reproduce` command.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted.

use std::process::ExitCode;

use clap::Parser;
use matnet_cli::interrupt;
use matnet_reproduce::ReproduceArgs;

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

fn main() -> ExitCode {
    matnet_alloc::keep_freed_memory();
    interrupt::install();
    match matnet_reproduce::run(&ReproduceArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report().into(),
    }
}
