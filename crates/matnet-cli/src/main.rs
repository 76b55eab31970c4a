//! The `matnet` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

fn main() -> ExitCode {
    matnet_alloc::keep_freed_memory();
    matnet_cli::main()
}
