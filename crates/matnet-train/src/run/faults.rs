//! Fault injection: makes one file operation of the process fail.
//!
//! `MATNET_FAIL_AT=7` fails the seventh file operation of a run folder or an output file with "no space left", and
//! `MATNET_FAIL_AT=7:permission` with "permission denied". Tests try every number in turn; see `matnet-cli/tests/faults.rs`.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The operation to fail, counted from 1, and how.
static FAULT: OnceLock<Option<(u64, io::ErrorKind)>> = OnceLock::new();
/// Operations so far.
static DONE: AtomicU64 = AtomicU64::new(0);

/// Counts a file operation; an error if it is the one to fail.
pub fn check() -> io::Result<()> {
    let fault = FAULT.get_or_init(|| parse(&std::env::var("MATNET_FAIL_AT").ok()?));
    match fault {
        Some((number, kind)) if DONE.fetch_add(1, Ordering::Relaxed) + 1 == *number => {
            Err(io::Error::new(*kind, format!("{kind} (injected)")))
        }
        _ => Ok(()),
    }
}

fn parse(text: &str) -> Option<(u64, io::ErrorKind)> {
    let (number, kind) = text.split_once(':').unwrap_or((text, "space"));
    let kind = match kind {
        "permission" => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::StorageFull,
    };
    Some((number.parse().ok()?, kind))
}
