//! The backward pass over the target nodes: the gradient of their queries.

use super::tiles::{add_products, add_vectors, dots, in_tiles, rows_of, spread};
use super::{Edges, prefetch_ahead};
use crate::simd::{Element, Kernel, Simd};

/// Some rows of the gradient of q, and of Gᵢₖ·Yᵢₖ, from the same rows of all else.
pub(super) struct Rows<'a, E> {
    pub(super) edges: Edges<'a, E>,
    pub(super) first: usize,
    pub(super) query: &'a [E],
    pub(super) output: &'a [E],
    pub(super) gradient: &'a [E],
    pub(super) d_query: &'a mut [E],
    /// How far two rows of these four lie apart.
    pub(super) stride: usize,
    pub(super) kept: &'a [E],
    pub(super) shares: &'a mut [E],
    /// A vector per number of a state, each.
    pub(super) scratch: [&'a mut [E]; 4],
}

impl<E: Element> Kernel<E> for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { edges, first, query, output, gradient, d_query, stride, kept, shares, scratch } = self;
        let Edges { graph, width, heads, bias, keys, .. } = edges;
        let (rows, vectors) = (shares.len() / heads, width * S::LANES);
        let shortest = query.len().min(output.len()).min(gradient.len()).min(d_query.len());
        assert!(stride >= width * heads && shortest >= rows * stride, "whole rows");
        assert_eq!(kept.len(), rows * 2 * heads, "what the forward pass kept");
        let [b, q, g, sums] = scratch;
        assert!([b.len(), q.len(), g.len(), sums.len()] == [vectors; 4], "scratch");
        for head in (0..heads).step_by(S::LANES) {
            let count = S::LANES.min(heads - head);
            // SAFETY: `Edges::check` has compared all lengths but those of the rows, which are seen to above; the matrix
            // vouches for its columns, and the scratch is as long as was asked for.
            unsafe {
                spread(s, width, bias.as_ptr().add(head), heads, count, b.as_mut_ptr());
                for row in 0..rows {
                    let (node, columns) = (first + row, graph.row(first + row));
                    prefetch_ahead(s, graph, node, keys, width);
                    let from = row * stride + head;
                    spread(s, width, query.as_ptr().add(from), heads, count, q.as_mut_ptr());
                    add_vectors(s, width, q.as_mut_ptr(), b.as_ptr());
                    spread(s, width, gradient.as_ptr().add(from), heads, count, g.as_mut_ptr());
                    let mut share = s.splat(E::ZERO);
                    for c in 0..width {
                        let y = s.load_first(output.as_ptr().add(from + c * heads), count);
                        share = s.mul_add(s.load(g.as_ptr().add(c * S::LANES)), y, share);
                        s.store(sums.as_mut_ptr().add(c * S::LANES), s.splat(E::ZERO));
                    }
                    s.store_first(shares.as_mut_ptr().add(row * heads + head), share, count);
                    let kept = kept.as_ptr().add(row * 2 * heads + head);
                    let most = s.load_first(kept, count);
                    let over = s.load_first(kept.add(heads), count);
                    in_tiles!(columns.len(), [4, 2, 1], |at, T| {
                        let rows = rows_of::<E, T>(keys.as_ptr(), width, columns, at);
                        let scores = dots::<S, T>(s, width, q.as_ptr(), rows);
                        let to_p = dots::<S, T>(s, width, g.as_ptr(), rows);
                        let mut to_score = scores;
                        for t in 0..T {
                            let p = s.mul(s.exp(s.sub(scores[t], most)), over);
                            to_score[t] = s.mul(p, s.sub(to_p[t], share));
                        }
                        add_products::<S, T>(s, width, sums.as_mut_ptr(), rows, to_score);
                    });
                    let to = d_query.as_mut_ptr().add(from);
                    for c in 0..width {
                        s.store_first(to.add(c * heads), s.load(sums.as_ptr().add(c * S::LANES)), count);
                    }
                }
            }
        }
    }
}
