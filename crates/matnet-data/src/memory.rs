//! Large allocations that can fail: where a file or a config says how large something is, running out of memory is an error like any
//! other, not the end of the process.

use std::path::Path;

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

/// The memory that is available to this process: the machine's, or less if its control group or one around it has a limit. `None`
/// where the system does not tell.
pub fn available() -> Option<u64> {
    let machine = meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(in_groups(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

/// What the limits of control groups leave, given the lines of `/proc/self/cgroup` and where groups are mounted.
fn in_groups(groups: &str, mounted: &Path) -> Option<u64> {
    let left = groups.lines().flat_map(|line| {
        // `0::/path` in version 2, `5:memory:/path` in version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let (mounted, files) = match controllers {
            "" => (mounted.to_owned(), ["memory.max", "memory.current", "inactive_file"]),
            list if list.split(',').any(|name| name == "memory") => (
                mounted.join("memory"),
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
            ),
            _ => return Vec::new(),
        };
        // In a container the path may be that on the host, and the group itself is what is mounted.
        let own = path.trim_start_matches('/');
        let folders = Path::new(own).ancestors().map(|folder| mounted.join(folder));
        folders.filter_map(|folder| left_in_group(&folder, files)).collect()
    });
    left.min()
}

/// What the limit of one group leaves: files that the system keeps in memory count as used, but give way.
fn left_in_group(folder: &Path, [limit, used, idle]: [&str; 3]) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let idle = statistics.lines().find_map(|line| line.strip_prefix(idle)?.trim().parse::<u64>().ok());
    let used = number(used).unwrap_or(0).saturating_sub(idle.unwrap_or(0));
    Some(number(limit)?.saturating_sub(used))
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
    #[test]
    fn every_group_around_the_process_may_have_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("user.slice/memory.max", "1000\n");
        write("user.slice/memory.current", "600\n");
        write("user.slice/memory.stat", "anon 350\ninactive_file 250\n");
        write("user.slice/mine/memory.max", "max\n");
        assert_eq!(in_groups("0::/user.slice/mine\n", folder.path()), Some(650));
        assert_eq!(in_groups("0::/other\n", folder.path()), None);
        // The container's own group is mounted at the root, whatever it is called outside.
        write("memory.max", "300\n");
        assert_eq!(in_groups("0::/docker/abc\n", folder.path()), Some(300));
        write("memory/memory.limit_in_bytes", "90\n");
        write("memory/memory.usage_in_bytes", "20\n");
        assert_eq!(in_groups("4:cpu,memory:/x\n3:cpuset:/\n", folder.path()), Some(70));
    }
}
