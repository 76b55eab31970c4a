//! Sparse products, attention over the edges of a graph, and the highway that follows them.
//!
//! A row of the result belongs to one node and is computed by one thread, entry after entry in the order of
//! the [`Csr`]. Backward passes go over the transposed matrix in the same way. So there are no atomics and no
//! partial sums over edges, and the bits do not depend on the number of threads.

mod attention;
mod csr;
mod highway;
mod padded;
mod product;
mod slots;
mod sparse_highway;

use rayon::prelude::*;

use crate::simd::{Element, Simd};

pub use attention::{Attention, AttentionGradients, AttentionMap, AttentionMapGradients};
pub use csr::{Csr, CsrError};
pub use highway::{Highway, HighwayGradients};
pub use product::sparse_product;
pub use slots::{SlotMap, SlotMapGradients};
pub use sparse_highway::{SparseHighway, SparseHighwayGradients, SparseHighwayKept, Weighted};

/// About so many multiplications are worth handing to a thread.
const GRAIN: usize = 1 << 15;

/// How many rows are handed to a thread at once, when all rows together take `work` multiplications.
fn rows_at_once(rows: usize, work: usize) -> usize {
    (rows.saturating_mul(GRAIN) / work.max(1)).clamp(1, rows.max(1))
}

/// Calls `work` with the first row and the numbers of each group of rows, on all threads.
fn each_group<E: Element>(
    out: &mut [E],
    width: usize,
    rows_at_once: usize,
    work: impl Fn(usize, &mut [E]) + Sync,
) {
    if width == 0 || out.is_empty() {
        return;
    }
    if out.len() <= width * rows_at_once {
        return work(0, out);
    }
    out.par_chunks_mut(width * rows_at_once)
        .enumerate()
        .for_each(|(group, rows)| work(group * rows_at_once, rows));
}

/// So many entries ahead, rows are asked for: they lie anywhere, and in a graph of a million nodes every one would be
/// waited for. `time_graph 1000000 16 1` halves with it. Rows of one cache line are asked for earlier, since more of them may be on their
/// way at once.
const AHEAD: usize = 16;
const LINES_AHEAD: usize = 96;

/// Asks for the rows of `x` that are needed soon after those of a row of `a`; of long ones for their beginnings, whose
/// sequel is fetched unasked.
#[inline(always)]
fn prefetch_ahead<S: Simd>(s: S, a: &Csr, row: usize, x: &[S::Elem], width: usize) {
    let (range, numbers) = (a.range(row), 64 / size_of::<S::Elem>());
    let ahead = if width <= numbers { LINES_AHEAD } else { AHEAD };
    let end = (range.end + ahead).min(a.entries());
    for &column in a.columns().get(range.start + ahead..end).unwrap_or_default() {
        for line in (0..width.min(64)).step_by(numbers) {
            s.prefetch(x.as_ptr().wrapping_add(column as usize * width + line));
        }
        // A short row may end in the next line.
        if (2..numbers).contains(&width) {
            s.prefetch(x.as_ptr().wrapping_add(column as usize * width + width - 1));
        }
    }
}
