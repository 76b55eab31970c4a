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
    keep_freed_memory();
    interrupt::install();
    match matnet_reproduce::run(&ReproduceArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report().into(),
    }
}

/// As in the `matnet` command: memory stays at hand for ten seconds.
fn keep_freed_memory() {
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: no other thread runs yet.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 10_000) }
}
