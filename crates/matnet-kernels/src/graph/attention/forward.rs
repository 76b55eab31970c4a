//! The forward pass: neighbours are processed in groups with a running softmax.

use super::tiles::{add_products, add_vectors, dots, in_tiles, rows_of, spread};
use super::{Edges, prefetch_ahead};
use crate::simd::{Element, Kernel, Simd};

/// So many neighbours are scored before their states are added up; few nodes have more.
const GROUP: usize = 32;

/// The lengths of the scratch that [`Rows`] wants.
pub(super) fn scratch(width: usize, lanes: usize) -> [usize; 4] {
    [width * lanes, width * lanes, width * lanes, GROUP * lanes]
}

/// Some rows of Y, from the same rows of q.
pub(super) struct Rows<'a, E> {
    pub(super) edges: Edges<'a, E>,
    pub(super) first: usize,
    pub(super) query: &'a [E],
    pub(super) output: &'a mut [E],
    /// How far two rows of q lie apart, and two of Y.
    pub(super) stride: usize,
    pub(super) kept: &'a mut [E],
    /// As long as [`scratch`] says.
    pub(super) scratch: [&'a mut [E]; 4],
}

impl<E: Element> Kernel<E> for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { edges, first, query, output, stride, kept, scratch } = self;
        let Edges { graph, width, heads, bias, keys, .. } = edges;
        let rows = kept.len() / (2 * heads);
        assert!(stride >= width * heads && query.len().min(output.len()) >= rows * stride, "whole rows");
        let scratch_lengths = self::scratch(width, S::LANES);
        let [b, q, sums, scores] = scratch;
        assert!([b.len(), q.len(), sums.len(), scores.len()] == scratch_lengths, "scratch");
        for head in (0..heads).step_by(S::LANES) {
            let count = S::LANES.min(heads - head);
            // SAFETY: `Edges::check` has compared all lengths but those of the rows, which are seen to above; the matrix
            // vouches for its columns, and the scratch is as long as was asked for.
            unsafe {
                spread(s, width, bias.as_ptr().add(head), heads, count, b.as_mut_ptr());
                for row in 0..rows {
                    let columns = graph.row(first + row);
                    prefetch_ahead(s, graph, first + row, keys, width);
                    let from = row * stride + head;
                    spread(s, width, query.as_ptr().add(from), heads, count, q.as_mut_ptr());
                    add_vectors(s, width, q.as_mut_ptr(), b.as_ptr());
                    let node = Node { width, keys: keys.as_ptr(), columns, q: q.as_ptr() };
                    let (most, over) = node.run(s, sums.as_mut_ptr(), scores.as_mut_ptr());
                    let to = output.as_mut_ptr().add(from);
                    for c in 0..width {
                        let sum = s.mul(s.load(sums.as_ptr().add(c * S::LANES)), over);
                        s.store_first(to.add(c * heads), sum, count);
                    }
                    let kept = kept.as_mut_ptr().add(row * 2 * heads + head);
                    s.store_first(kept, most, count);
                    s.store_first(kept.add(heads), over, count);
                }
            }
        }
    }
}

/// A target node: its query and its neighbours.
struct Node<'a, E> {
    width: usize,
    keys: *const E,
    columns: &'a [u32],
    q: *const E,
}

impl<E: Element> Node<'_, E> {
    /// The largest score of each head, and one over the sum of the exponents; `sums` are the neighbours' states
    /// weighted with the exponents.
    ///
    /// # Safety
    /// `keys` has a state for every column, `q` and `sums` hold `width` vectors, `scores` holds `GROUP`.
    #[inline(always)]
    unsafe fn run<S: Simd<Elem = E>>(&self, s: S, sums: *mut E, scores: *mut E) -> (S::V, S::V) {
        let zero = s.splat(E::ZERO);
        let (mut most, mut total) = (zero, zero);
        // SAFETY: as the caller vouches.
        unsafe {
            for c in 0..self.width {
                s.store(sums.add(c * S::LANES), zero);
            }
            for (group, columns) in self.columns.chunks(GROUP).enumerate() {
                let mut largest = most;
                in_tiles!(columns.len(), [8, 4, 2, 1], |at, T| {
                    let rows = rows_of::<E, T>(self.keys, self.width, columns, at);
                    for (t, score) in dots::<S, T>(s, self.width, self.q, rows).into_iter().enumerate() {
                        largest = if group + at + t == 0 { score } else { s.max(largest, score) };
                        s.store(scores.add((at + t) * S::LANES), score);
                    }
                });
                if group > 0 {
                    // A larger score than before: what was added up weighs less.
                    let less = s.exp(s.sub(most, largest));
                    total = s.mul(total, less);
                    for c in 0..self.width {
                        let sum = sums.add(c * S::LANES);
                        s.store(sum, s.mul(s.load(sum), less));
                    }
                }
                most = largest;
                in_tiles!(columns.len(), [8, 4, 2, 1], |at, T| {
                    let rows = rows_of::<E, T>(self.keys, self.width, columns, at);
                    let mut p = [zero; T];
                    for (t, p) in p.iter_mut().enumerate() {
                        *p = s.exp(s.sub(s.load(scores.add((at + t) * S::LANES)), most));
                        total = s.add(total, *p);
                    }
                    add_products::<S, T>(s, self.width, sums, rows, p);
                });
            }
        }
        let mut over = [E::ZERO; 16];
        // SAFETY: no vector has more than 16 lanes.
        unsafe { s.store(over.as_mut_ptr(), total) };
        for x in &mut over[..S::LANES] {
            // A node without neighbours has no weights.
            *x = if *x > E::ZERO { E::ONE / *x } else { *x };
        }
        // SAFETY: likewise.
        (most, unsafe { s.load(over.as_ptr()) })
    }
}
