//! Sparse products, attention over the edges of a graph, and the highway that follows them.
//!
//! A row of the result belongs to one node and is computed by one thread, entry after entry in the order of
//! the [`Csr`]. Backward passes go over the transposed matrix in the same way. So there are no atomics and no
//! partial sums over edges, and the bits do not depend on the number of threads.

mod attention;
mod csr;
mod highway;
mod product;

use rayon::prelude::*;

use crate::simd::Element;

pub use attention::{Attention, AttentionGradients};
pub use csr::{Csr, CsrError};
pub use highway::{Highway, HighwayGradients};
pub use product::sparse_product;

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
