//! How much memory the process holds, where Linux tells; elsewhere 0. Pages of files, such as the program itself, do not count.

/// What is held now, in MiB.
pub fn resident() -> f64 {
    field("VmRSS:") - field("RssFile:")
}

/// The most that was held since [`forget_peak`], in MiB.
pub fn peak() -> f64 {
    field("VmHWM:") - field("RssFile:")
}

/// Gives the system what the allocator holds but nobody uses, such as what loading took.
pub fn give_back() {
    // SAFETY: it may be called at any time, from any thread.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Starts the peak anew; without the right to, it goes on counting from the start.
pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn field(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
