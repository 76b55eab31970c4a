//! The backward pass over the source nodes: the gradient of their states.

use super::tiles::{in_tiles, rows_of, spread};
use super::{Edges, prefetch_ahead};
use crate::simd::{Element, Kernel, Simd};

/// Adds to some rows of the gradient of h.
pub(super) struct Rows<'a, E> {
    pub(super) edges: Edges<'a, E>,
    pub(super) first: usize,
    pub(super) query: &'a [E],
    pub(super) gradient: &'a [E],
    /// How far two rows of these two lie apart.
    pub(super) stride: usize,
    pub(super) kept: &'a [E],
    pub(super) shares: &'a [E],
    pub(super) d_keys: &'a mut [E],
    /// A vector per number of a state, each.
    pub(super) scratch: [&'a mut [E]; 2],
}

impl<E: Element> Kernel<E> for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { edges, first, query, gradient, stride, kept, shares, d_keys, scratch } = self;
        let Edges { transposed, width, heads, bias, keys, .. } = edges;
        let (vectors, nodes) = (width * S::LANES, transposed.cols());
        let shortest = query.len().min(gradient.len());
        assert!(stride >= width * heads && shortest >= nodes * stride, "whole rows");
        assert_eq!((kept.len(), shares.len()), (nodes * 2 * heads, nodes * heads), "a row for every node");
        let zero = s.splat(E::ZERO);
        let [b, sums] = scratch;
        assert!([b.len(), sums.len()] == [vectors; 2], "scratch");
        for head in (0..heads).step_by(S::LANES) {
            let count = S::LANES.min(heads - head);
            // SAFETY: `Edges::check` has compared all lengths but those that are seen to above; the matrix
            // vouches for its columns, and the scratch is as long as was asked for.
            unsafe {
                spread(s, width, bias.as_ptr().add(head), heads, count, b.as_mut_ptr());
                let (queries, gradients) = (query.as_ptr().add(head), gradient.as_ptr().add(head));
                for (row, d_key) in d_keys.chunks_exact_mut(width).enumerate() {
                    let columns = transposed.row(first + row);
                    prefetch_ahead(s, transposed, first + row, query, stride);
                    prefetch_ahead(s, transposed, first + row, gradient, stride);
                    prefetch_ahead(s, transposed, first + row, kept, 2 * heads);
                    prefetch_ahead(s, transposed, first + row, shares, heads);
                    let key = keys.as_ptr().add((first + row) * width);
                    let mut from_bias = zero;
                    for c in 0..width {
                        let b = s.load(b.as_ptr().add(c * S::LANES));
                        from_bias = s.mul_add(s.splat(*key.add(c)), b, from_bias);
                        s.store(sums.as_mut_ptr().add(c * S::LANES), zero);
                    }
                    let mut to_bias = zero;
                    in_tiles!(columns.len(), [4, 2, 1], |at, T| {
                        let q = rows_of::<E, T>(queries, stride, columns, at);
                        let g = rows_of::<E, T>(gradients, stride, columns, at);
                        let (mut scores, mut to_p) = ([from_bias; T], [zero; T]);
                        for c in 0..width {
                            let key = s.splat(*key.add(c));
                            for t in 0..T {
                                let q = s.load_first(q[t].add(c * heads), count);
                                scores[t] = s.mul_add(key, q, scores[t]);
                                let g = s.load_first(g[t].add(c * heads), count);
                                to_p[t] = s.mul_add(key, g, to_p[t]);
                            }
                        }
                        let (mut p, mut to_score) = (to_p, to_p);
                        for t in 0..T {
                            let node = columns[at + t] as usize;
                            let kept = kept.as_ptr().add(node * 2 * heads + head);
                            let most = s.load_first(kept, count);
                            let over = s.load_first(kept.add(heads), count);
                            let share = s.load_first(shares.as_ptr().add(node * heads + head), count);
                            p[t] = s.mul(s.exp(s.sub(scores[t], most)), over);
                            to_score[t] = s.mul(p[t], s.sub(to_p[t], share));
                            to_bias = s.add(to_bias, to_score[t]);
                        }
                        for c in 0..width {
                            let to = sums.as_mut_ptr().add(c * S::LANES);
                            let mut sum = s.load(to);
                            for t in 0..T {
                                sum = s.mul_add(p[t], s.load_first(g[t].add(c * heads), count), sum);
                                sum = s.mul_add(to_score[t], s.load_first(q[t].add(c * heads), count), sum);
                            }
                            s.store(to, sum);
                        }
                    });
                    // The heads are summed once per number, not once per edge.
                    for (c, d_key) in d_key.iter_mut().enumerate() {
                        let (sum, b) = (sums.as_ptr().add(c * S::LANES), b.as_ptr().add(c * S::LANES));
                        *d_key += s.sum(s.mul_add(to_bias, s.load(b), s.load(sum)));
                    }
                }
            }
        }
    }
}
