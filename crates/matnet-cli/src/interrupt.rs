//! Signals. Ctrl-C: work that can be continued is asked to stop and save; other work ends at once. Both exit with 130. A file that
//! grows beyond `ulimit -f` is an error of that file, not the end of the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the work under way looks at [`asked`].
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether it has been asked to stop.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C, and the signal of `ulimit -f`.
pub fn install() {
    // With a handler, whatever it does, the write itself fails.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    // Without a handler Ctrl-C still ends the process, only less politely.
    let _ = ctrlc::set_handler(|| {
        let asked_before = ASKED.swap(true, Ordering::SeqCst);
        if asked_before || !WATCHED.load(Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// From now on the caller looks at [`asked`] often, and stops by itself.
pub fn watch() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// From now on Ctrl-C ends the process at once, as nothing is being written.
pub fn unwatch() {
    WATCHED.store(false, Ordering::SeqCst);
}

/// Whether the user wants to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
