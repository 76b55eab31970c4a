//! Fault injection: makes one file operation or one large allocation of the process fail.
//!
//! `MATNET_FAIL_AT=7` fails the seventh operation of [`files`](crate::files) with "no space left", `MATNET_FAIL_AT=7:permission` with
//! "permission denied". `MATNET_FAIL_ALLOCATION_AT=7` fails the seventh allocation of [`memory`](crate::memory). Tests try every
//! number in turn; see `matnet-cli/tests/faults.rs`.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The operations of one sort: which one shall fail, counted from 1, and how; and how many there were so far.
struct Counter {
    variable: &'static str,
    fault: OnceLock<Option<(u64, io::ErrorKind)>>,
    done: AtomicU64,
}

static FILES: Counter = Counter::new("MATNET_FAIL_AT");
static ALLOCATIONS: Counter = Counter::new("MATNET_FAIL_ALLOCATION_AT");

/// Counts a file operation; an error if it is the one to fail.
pub(crate) fn file() -> io::Result<()> {
    match FILES.count() {
        Some(kind) => Err(io::Error::new(kind, format!("{kind} (injected)"))),
        None => Ok(()),
    }
}

/// Counts an allocation; whether it is the one to fail.
pub(crate) fn allocation() -> bool {
    ALLOCATIONS.count().is_some()
}

impl Counter {
    const fn new(variable: &'static str) -> Self {
        Self { variable, fault: OnceLock::new(), done: AtomicU64::new(0) }
    }

    fn count(&self) -> Option<io::ErrorKind> {
        let fault = self.fault.get_or_init(|| parse(&std::env::var(self.variable).ok()?));
        let (number, kind) = (*fault)?;
        (self.done.fetch_add(1, Ordering::Relaxed) + 1 == number).then_some(kind)
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
