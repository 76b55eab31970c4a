//! The memory of the process on Linux; 0 elsewhere. Pages of files, such as the program itself, do not count.

/// The resident memory, in MiB.
pub fn resident() -> f64 {
    field("VmRSS:") - field("RssFile:")
}

/// The peak of the resident memory since [`reset_peak`], in MiB.
pub fn peak() -> f64 {
    field("VmHWM:") - field("RssFile:")
}

/// Returns to the system what the allocator holds but nobody uses, such as what loading took.
pub fn release() {
    matnet_alloc::release();
}

/// Resets the peak; without the permission it stays that of the whole process.
pub fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn field(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
