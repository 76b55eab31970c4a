//! Fault injection: makes one file operation or one large allocation of the process fail.
//!
//! `MATNET_FAIL_AT=7` fails the seventh operation of [`files`](crate::files) with "no space left", `MATNET_FAIL_AT=7:permission` with
//! "permission denied"; `MATNET_FAIL_AT=7:short` does not fail it, but if it is a write, it takes only half of the bytes, as an
//! operating system may. `MATNET_FAIL_ALLOCATION_AT=7` fails the seventh allocation of [`memory`](crate::memory). The file that
//! `MATNET_FAULT_LOG` names is created when it happens. Tests try every number in turn, until nothing happens any more; see
//! `matnet-cli/tests/faults.rs`.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The operations of one sort: which one shall fail, counted from 1, and how; and how many there were so far.
struct Counter {
    variable: &'static str,
    fault: OnceLock<Option<(u64, Fault)>>,
    done: AtomicU64,
}

static FILES: Counter = Counter::new("MATNET_FAIL_AT");
static ALLOCATIONS: Counter = Counter::new("MATNET_FAIL_ALLOCATION_AT");

/// What happens to the operation.
#[derive(Clone, Copy)]
enum Fault {
    Error(io::ErrorKind),
    Short,
}

/// Counts a file operation; an error if it is the one to fail.
pub(crate) fn file() -> io::Result<()> {
    write().map(drop)
}

/// Counts a write; an error if it is the one to fail, or whether it shall take only some of the bytes.
pub(crate) fn write() -> io::Result<bool> {
    match FILES.count() {
        Some(Fault::Error(kind)) => Err(io::Error::new(kind, format!("{kind} (injected)"))),
        Some(Fault::Short) => Ok(true),
        None => Ok(false),
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

    fn count(&self) -> Option<Fault> {
        let fault = self.fault.get_or_init(|| parse(&std::env::var(self.variable).ok()?));
        let (number, fault) = (*fault)?;
        if self.done.fetch_add(1, Ordering::Relaxed) + 1 != number {
            return None;
        }
        if let Some(log) = std::env::var_os("MATNET_FAULT_LOG") {
            let _ = std::fs::write(log, "");
        }
        Some(fault)
    }
}

fn parse(text: &str) -> Option<(u64, Fault)> {
    let (number, kind) = text.split_once(':').unwrap_or((text, "space"));
    let fault = match kind {
        "permission" => Fault::Error(io::ErrorKind::PermissionDenied),
        "short" => Fault::Short,
        _ => Fault::Error(io::ErrorKind::StorageFull),
    };
    Some((number.parse().ok()?, fault))
}
