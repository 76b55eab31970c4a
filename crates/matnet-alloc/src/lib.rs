//! The memory allocator of matnet's programs: the command, the Python package, the experiments and the benchmark.
//!
//! Large tensors come and go with every step; the system's allocator gives their pages back each time. A program has
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;
//!
//! fn main() {
//!     matnet_alloc::keep_freed_memory();
//! }
//! ```

use std::ffi::c_long;

pub use mimalloc::MiMalloc;

/// The option "purge delay", by its number in mimalloc's header.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// What one step frees the next one takes. The allocator gives memory back that lies idle for a second, which on a large graph is
/// once in a few steps; after ten seconds it is rarely wanted again. `MIMALLOC_PURGE_DELAY`, in milliseconds, says otherwise.
///
/// Programs call it first of all, a Python module while it is imported: no thread of theirs runs yet.
pub fn keep_freed_memory() {
    // SAFETY: it writes one aligned word, the default of an option.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 10_000) }
}

/// How long the allocator keeps memory that lies idle, in milliseconds.
pub fn kept_for() -> c_long {
    // SAFETY: it reads one aligned word.
    unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) }
}

/// Returns to the system what the allocator holds but nobody uses.
pub fn release() {
    // SAFETY: it may be called at any time, from any thread.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn freed_memory_is_kept() {
        super::keep_freed_memory();
        // Whoever runs the tests may say otherwise.
        let wanted = std::env::var("MIMALLOC_PURGE_DELAY").ok().and_then(|delay| delay.parse().ok());
        assert_eq!(super::kept_for(), wanted.unwrap_or(10_000));
    }
}
