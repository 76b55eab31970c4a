//! The `matnet` command.

use std::process::ExitCode;

// Large tensors come and go with every step; the system's allocator gives their pages back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_freed_memory();
    matnet_cli::main()
}

/// What one step frees the next one takes. The allocator gives memory back that lies idle for a second, which on a large graph is
/// once in a few steps; after ten seconds it is rarely wanted again. `MIMALLOC_PURGE_DELAY`, in milliseconds, says otherwise.
fn keep_freed_memory() {
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: no other thread runs yet.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 10_000) }
}
