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

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_long;

/// mimalloc, with huge pages for large memory.
///
/// The rows of a graph's states are read in any order: with pages of 4 KiB, each would need a walk through the page tables, and fresh
/// memory a page fault for every 4 KiB. Systems that use huge pages wherever a program asks for them (`madvise`, the default of most)
/// are asked; others do as they always do. What a small net takes stays on small pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct MiMalloc;

const INNER: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// From so many bytes on huge pages are asked for: a few of them.
const LARGE: usize = 8 << 20;

// SAFETY: memory comes from mimalloc and goes back to it, as it is.
unsafe impl GlobalAlloc for MiMalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller vouches.
        with_huge_pages(unsafe { INNER.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller vouches.
        with_huge_pages(unsafe { INNER.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller vouches.
        with_huge_pages(unsafe { INNER.realloc(memory, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { INNER.dealloc(memory, layout) }
    }
}

/// The same memory.
#[inline]
fn with_huge_pages(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        ask_for_huge_pages(memory, size);
    }
    memory
}

/// Asks for huge pages where they lie within this memory as a whole.
#[cold]
fn ask_for_huge_pages(memory: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let before = memory.align_offset(HUGE);
        let whole = size.saturating_sub(before) / HUGE * HUGE;
        if whole > 0 {
            // SAFETY: these pages are the program's own; the call changes how they are backed and not what stands in them. Where
            // it fails, all stays as it is.
            unsafe { libc::madvise(memory.wrapping_add(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, size);
}

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
    use std::alloc::{GlobalAlloc, Layout};

    #[test]
    fn freed_memory_is_kept() {
        super::keep_freed_memory();
        // Whoever runs the tests may say otherwise.
        let wanted = std::env::var("MIMALLOC_PURGE_DELAY").ok().and_then(|delay| delay.parse().ok());
        assert_eq!(super::kept_for(), wanted.unwrap_or(10_000));
    }

    #[test]
    fn large_memory_is_what_it_was_asked_to_be() {
        let size = 3 * super::LARGE + 12_345;
        let (layout, larger) = (Layout::from_size_align(size, 64).unwrap(), 2 * size + 1);
        // SAFETY: all that is read was allocated, and is given back as it was taken.
        unsafe {
            let memory = super::MiMalloc.alloc_zeroed(layout);
            assert!(!memory.is_null() && memory.addr().is_multiple_of(64));
            for at in (0..size).step_by(4096).chain([size - 1]) {
                assert_eq!(memory.add(at).read(), 0);
                memory.add(at).write(at as u8);
            }
            let memory = super::MiMalloc.realloc(memory, layout, larger);
            assert!((0..size).step_by(4096).all(|at| memory.add(at).read() == at as u8));
            memory.add(larger - 1).write(1);
            super::MiMalloc.dealloc(memory, Layout::from_size_align(larger, 64).unwrap());
        }
    }

    /// Where the system gives huge pages to those who ask.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_memory_has_huge_pages() {
        let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        if !enabled.is_ok_and(|enabled| enabled.contains("[madvise]") || enabled.contains("[always]")) {
            eprintln!("SKIPPED: this system has no transparent huge pages");
            return;
        }
        let layout = Layout::from_size_align(64 << 20, 64).unwrap();
        // SAFETY: as above.
        unsafe {
            let memory = super::MiMalloc.alloc(layout);
            assert!(!memory.is_null());
            // `hg` among the flags of a mapping: huge pages were asked for.
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let (mut within, mut flags) = (false, None);
            for line in maps.lines() {
                if let Some((from, to)) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')) {
                    let number = |text| usize::from_str_radix(text, 16);
                    if let (Ok(from), Ok(to)) = (number(from), number(to)) {
                        within = (from..to).contains(&(memory.addr() + (32 << 20)));
                    }
                } else if within && let Some(found) = line.strip_prefix("VmFlags:") {
                    flags = Some(found.to_owned());
                }
            }
            let flags = flags.expect("the mapping of this memory");
            assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{flags}");
            super::MiMalloc.dealloc(memory, layout);
        }
    }
}
