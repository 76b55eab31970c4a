//! Large allocations that can fail: where a file or a config says how large something is, running out of memory is an error like any
//! other, not the end of the process.

use crate::{Error, Result, faults};

/// Reserves room for exactly `more` values; `what` is said in the error.
pub fn reserve<T>(values: &mut Vec<T>, more: usize, what: impl std::fmt::Display) -> Result<()> {
    if faults::allocation() || values.try_reserve_exact(more).is_err() {
        let bytes = (more as u64).saturating_mul(size_of::<T>() as u64);
        return Err(Error::Memory { what: what.to_string(), bytes });
    }
    Ok(())
}

/// An empty list with room for exactly `count` values.
pub fn with_capacity<T>(count: usize, what: impl std::fmt::Display) -> Result<Vec<T>> {
    let mut values = Vec::new();
    reserve(&mut values, count, what)?;
    Ok(values)
}

/// `count` times the same value.
pub fn filled<T: Clone>(value: T, count: usize, what: impl std::fmt::Display) -> Result<Vec<T>> {
    let mut values = with_capacity(count, what)?;
    values.resize(count, value);
    Ok(values)
}

/// All values of an iterator that knows its length.
pub fn collect<T>(values: impl ExactSizeIterator<Item = T>, what: impl std::fmt::Display) -> Result<Vec<T>> {
    let mut collected = with_capacity(values.len(), what)?;
    collected.extend(values);
    Ok(collected)
}

/// Fails if so many bytes cannot be had, before code that cannot fail allocates them.
pub fn check(bytes: u64, what: impl std::fmt::Display) -> Result<()> {
    let count = usize::try_from(bytes).unwrap_or(usize::MAX);
    reserve(&mut Vec::<u8>::new(), count, what)
}

/// The memory that is available to this process: the machine's, or less if its control group has a limit. `None` where the
/// system does not tell.
pub fn available() -> Option<u64> {
    let machine = meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max").or(number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    let used =
        number("/sys/fs/cgroup/memory.current").or(number("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
    Some(match (limit, used) {
        (Some(limit), used) => machine.min(limit.saturating_sub(used.unwrap_or(0))),
        (None, _) => machine,
    })
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error() {
        let error = |result: Result<Vec<u64>>| result.unwrap_err().to_string();
        assert_eq!(
            error(filled(0, usize::MAX, "x.npy")),
            "x.npy: not enough memory for 17592186044416 MiB more"
        );
        // On Linux an allocation may be larger than the memory, but not than the address space.
        assert!(error(with_capacity(1 << 58, "x.npy")).starts_with("x.npy: not enough memory"));
        assert!(check(1 << 62, "a batch").is_err());
        assert!(check(1 << 20, "a batch").is_ok());
        assert_eq!(collect([1, 2].into_iter(), "x").unwrap(), [1, 2]);
        assert_eq!(filled(7, 2, "x").unwrap(), [7, 7]);
    }

    #[test]
    fn available_memory_is_read_from_the_system() {
        assert_eq!(meminfo("MemTotal: 9 kB\nMemAvailable:    7 kB\n"), Some(7 * 1024));
        assert_eq!(meminfo("MemTotal: 9 kB"), None);
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
