//! Sharing blocks among threads so that results do not depend on how many there are.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;

use rayon::prelude::*;

use crate::simd::Element;

/// At most so many partial sums: enough for the threads of a large machine.
const MOST_PARTS: usize = 32;

/// Which blocks share a partial sum. Depends on the number of blocks alone.
pub(crate) fn parts(blocks: usize) -> Vec<Range<usize>> {
    let size = blocks.div_ceil(MOST_PARTS).max(1);
    (0..blocks).step_by(size).map(|first| first..(first + size).min(blocks)).collect()
}

/// How many pieces of work a thread takes at least; for `with_min_len`. A single thread takes them all, there where it is: handing
/// them to the one thread of a pool and waiting for it costs more than a small kernel.
pub(crate) fn at_least() -> usize {
    if rayon::current_num_threads() == 1 { usize::MAX } else { 1 }
}

/// Does some work on a thread of the pool, from where others are called quickly, or there where it is.
pub(crate) fn in_pool<R: Send>(wanted: bool, work: impl FnOnce() -> R + Send) -> R {
    if wanted { rayon::scope(|_| work()) } else { work() }
}

/// Adds up partial sums in their order.
pub(crate) fn sum_parts<E: Element>(parts: Vec<Vec<E>>) -> Vec<E> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    let rest: Vec<_> = parts.collect();
    if !rest.is_empty() {
        total.par_chunks_mut(4096).enumerate().with_min_len(at_least()).for_each(|(chunk, total)| {
            for part in &rest {
                for (sum, term) in total.iter_mut().zip(&part[chunk * 4096..]) {
                    *sum += *term;
                }
            }
        });
    }
    total
}

thread_local! {
    static SCRATCH: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Lends `N` buffers of the given lengths, with whatever stands in them, to `work`; each begins with a cache line. They are kept by the
/// thread for the next call: memory that is warm in the cache is worth more than fresh memory.
pub(crate) fn with_scratch<E: Element, const N: usize, R>(
    lengths: [usize; N],
    work: impl FnOnce([&mut [E]; N]) -> R,
) -> R {
    let kept = SCRATCH.with_borrow_mut(|kept| {
        kept.iter().position(|buffer| buffer.is::<Vec<E>>()).map(|at| kept.swap_remove(at))
    });
    let mut buffer = kept.and_then(|kept| kept.downcast::<Vec<E>>().ok()).unwrap_or_default();
    let line = LINE / size_of::<E>();
    let total = line + lengths.iter().map(|length| length.next_multiple_of(line)).sum::<usize>();
    if buffer.len() < total {
        buffer.resize(total, E::ZERO);
    }
    let start = to_line(&buffer);
    let mut rest = &mut buffer[start..];
    let slices = lengths.map(|length| {
        let whole = rest.split_off_mut(..length.next_multiple_of(line)).unwrap_or_default();
        &mut whole[..length]
    });
    let result = work(slices);
    SCRATCH.with_borrow_mut(|kept| kept.push(buffer));
    result
}

/// Bytes of a cache line. A vector of 512 bits that reaches into two takes twice as long to load.
const LINE: usize = 64;

/// How many numbers stand before the first that begins a cache line.
pub(crate) fn to_line<T>(memory: &[T]) -> usize {
    memory.as_ptr().align_offset(LINE).min(LINE / size_of::<T>())
}
