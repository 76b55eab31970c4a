//! The backward pass over the target nodes: the gradient of their queries, and what their edges add to those of the source nodes.

use super::tiles::{add_products, add_vectors, dots, in_tiles, rows_of, send, spread, turn};
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
    /// For each edge, its part of the gradient of its source state; or nothing, if that is not wanted.
    pub(super) terms: &'a mut [E],
    /// As long as [`scratch`] says.
    pub(super) scratch: [&'a mut [E]; 6],
}

/// The lengths of the scratch that [`Rows`] wants: a vector per number of a state, and rows of the numbers of a state, a lane each.
pub(super) fn scratch(width: usize, lanes: usize) -> [usize; 6] {
    let (vectors, turned) = (width * lanes, width.next_multiple_of(lanes) * lanes);
    [vectors, vectors, vectors, vectors, turned, turned]
}

impl<E: Element> Kernel<E> for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { edges, first, query, output, gradient, d_query, stride, kept, shares, terms, scratch } =
            self;
        let Edges { graph, width, heads, bias, keys, .. } = edges;
        let rows = shares.len() / heads;
        let shortest = query.len().min(output.len()).min(gradient.len()).min(d_query.len());
        assert!(stride >= width * heads && shortest >= rows * stride, "whole rows");
        assert_eq!(kept.len(), rows * 2 * heads, "what the forward pass kept");
        assert_eq!(scratch.each_ref().map(|part| part.len()), self::scratch(width, S::LANES), "scratch");
        let [b, q, g, sums, turned_q, turned_g] = scratch;
        let (sends, places) = (!terms.is_empty(), graph.offsets()[first]..graph.offsets()[first + rows]);
        assert!(!sends || terms.len() == places.len() * width, "a row for every edge");
        let stride_turned = width.next_multiple_of(S::LANES);
        // What is behind a row is multiplied, too.
        turned_q.fill(E::ZERO);
        turned_g.fill(E::ZERO);
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
                    let sizes = [width, stride_turned, count];
                    if sends {
                        turn(s, sizes, q.as_ptr(), turned_q.as_mut_ptr());
                        turn(s, sizes, g.as_ptr(), turned_g.as_mut_ptr());
                    }
                    let row_terms = (graph.offsets()[node] - places.start) * width;
                    in_tiles!(columns.len(), [4, 2, 1], |at, T| {
                        let rows = rows_of::<E, T>(keys.as_ptr(), width, columns, at);
                        let scores = dots::<S, T>(s, width, q.as_ptr(), rows);
                        let to_p = dots::<S, T>(s, width, g.as_ptr(), rows);
                        let (mut p, mut to_score) = (scores, scores);
                        for t in 0..T {
                            p[t] = s.mul(s.exp(s.sub(scores[t], most)), over);
                            to_score[t] = s.mul(p[t], s.sub(to_p[t], share));
                        }
                        add_products::<S, T>(s, width, sums.as_mut_ptr(), rows, to_score);
                        if sends {
                            let terms = terms.as_mut_ptr().add(row_terms + at * width);
                            let to: [*mut E; T] = std::array::from_fn(|t| terms.add(t * width));
                            let from = [turned_g.as_ptr(), turned_q.as_ptr()];
                            send::<S, T>(s, sizes, from, [p, to_score], to, head > 0);
                        }
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
