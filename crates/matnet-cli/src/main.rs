//! The `matnet` command.

use std::process::ExitCode;

// Large tensors come and go with every step; the system's allocator gives their pages back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    matnet_cli::main()
}
