//! Attention with the maps before and after it, block by block of nodes: queries and aggregates, which are as wide as all heads
//! together, stay in the cache.

use rayon::prelude::*;

use super::super::padded::{Padded, copy_rows, narrow, product};
use super::{Csr, Edges, forward, queries};
use crate::gemm::{Finish, Scalars};
use crate::parallel::{parts, sum_parts, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// Y = \[H̃₁ … H̃ₙ\] V with H̃ₖ = Λₖ H, where Λᵢⱼₖ is the softmax over j of (Wₖᵀhᵢ + bₖ)ᵀ hⱼ, j running over the entries of row
/// i.
#[derive(Clone, Copy, Debug)]
pub struct AttentionMap<'a, E> {
    /// The graph: a row per target node, a column per source node. The target nodes are the first source nodes.
    pub graph: &'a Csr,
    /// The same, transposed.
    pub transposed: &'a Csr,
    /// Numbers in a state.
    pub width: usize,
    /// How many heads.
    pub heads: usize,
    /// H, `cols × width`.
    pub state: &'a [E],
    /// W, `width × width × heads`.
    pub score_map: &'a [E],
    /// b, `width × heads`.
    pub bias: &'a [E],
    /// V, `width × heads × output`.
    pub out_map: &'a [E],
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct AttentionMapGradients<E> {
    /// Of H.
    pub state: Vec<E>,
    /// Of W.
    pub score_map: Vec<E>,
    /// Of b.
    pub bias: Vec<E>,
    /// Of V.
    pub out_map: Vec<E>,
}

/// The levels, sizes and filled up weights of a pass.
struct Plan<'a, E> {
    edges: Edges<'a, E>,
    /// For edges and for products.
    level: Level,
    products: Level,
    /// Nodes in a block.
    at_once: usize,
    /// Numbers of all heads, and filled up.
    size: usize,
    plane: usize,
    /// Numbers in a row of Y.
    output: usize,
    score_map: Padded<E>,
}

impl<'a, E: Element> AttentionMap<'a, E> {
    fn plan(&self, level: Level) -> Plan<'a, E> {
        let Self { graph, transposed, width, heads, state, score_map, bias, out_map } = *self;
        let edges = Edges { graph, transposed, width, heads, bias, keys: state };
        edges.check();
        let size = width * heads;
        assert!(size > 0, "states and heads have a size");
        assert!(graph.rows() <= graph.cols(), "more target nodes than source nodes");
        assert_eq!(score_map.len(), width * size, "a map of states to queries");
        assert!(!out_map.is_empty() && out_map.len() % size == 0, "a map of the aggregates");
        // Of 16 lanes, more would be empty at the ends of rows.
        let products = level.for_blocks(1, size);
        let score_map = Padded::new(products, score_map, [width, size], (size, 1));
        let plane = score_map.plane;
        Plan {
            edges,
            level: level.for_width(heads),
            products,
            // Queries and aggregates fit the second-level cache.
            at_once: ((1 << 15) / plane).clamp(16, 256),
            size,
            plane,
            output: out_map.len() / size,
            score_map,
        }
    }

    /// Y of every target node.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        let plan = self.plan(level);
        let Plan { products, at_once, size, plane, output, .. } = plan;
        let out_map = Padded::new(products, self.out_map, [size, output], (output, 1));
        let mut y = vec![E::ZERO; self.graph.rows() * output];
        y.par_chunks_mut(at_once * output).enumerate().for_each(|(block, y)| {
            let (first, count) = (block * at_once, y.len() / output);
            let lengths = [count * plane, count * plane, count * 2 * self.heads, count * out_map.plane];
            with_scratch(lengths, |[query, aggregated, kept, wide]| {
                plan.score_map.after(products, (&self.state[first * self.width..], self.width), count, query);
                plan.aggregate(first, query, aggregated, kept);
                out_map.after(products, (aggregated, plane), count, wide);
                copy_rows((wide, out_map.plane), (y, output), output);
            });
        });
        y
    }

    /// The gradients of all inputs, from that of Y.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, gradient: &[E]) -> AttentionMapGradients<E> {
        let plan = self.plan(level);
        let Plan { products, at_once, size, plane, output, .. } = plan;
        let (rows, width, heads) = (self.graph.rows(), self.width, self.heads);
        assert_eq!(gradient.len(), rows * output, "one number per result");
        let back = Back {
            score_map: Padded::new(products, self.score_map, [size, width], (1, size)),
            out_map: Padded::new(products, self.out_map, [output, size], (1, output)),
            out_plane: output.next_multiple_of(products.lanes::<E>()),
        };
        let lengths = [width * plane, size, size * back.out_plane];
        let mut d_state = vec![E::ZERO; self.state.len()];
        // Needed for the gradients of the source nodes.
        let (mut query, mut d_aggregated) = (Buffer::take(rows * plane), Buffer::take(rows * plane));
        let (mut kept, mut shares) = (Buffer::take(rows * 2 * heads), Buffer::take(rows * heads));

        let parts = parts(rows.div_ceil(at_once));
        let per_part = parts.first().map_or(0, ExactSizeIterator::len) * at_once;
        let widths = [plane, plane, 2 * heads, heads, width];
        let mut all =
            [&mut *query, &mut *d_aggregated, &mut *kept, &mut *shares, &mut d_state[..rows * width]];
        let pieces: Vec<_> = parts.iter().map(|_| first_rows(&mut all, widths, per_part)).collect();
        let sums = parts.into_par_iter().zip(pieces).map(|(part, mut piece)| {
            let mut sums = vec![E::ZERO; lengths.iter().sum()];
            for block in part {
                let mut rest = sums.as_mut_slice();
                let sums = lengths.map(|length| rest.split_off_mut(..length).unwrap_or_default());
                let rows = first_rows(&mut piece, widths, at_once);
                self.backward_block(&plan, &back, block * at_once, gradient, rows, sums);
            }
            sums
        });
        let mut sums = sum_parts(sums.collect());
        sums.resize(lengths.iter().sum(), E::ZERO);
        plan.edges.add_to_keys(plan.level, (&query, &d_aggregated, plane), &kept, &shares, &mut d_state);
        let (d_score_map, rest) = sums.split_at(lengths[0]);
        let (d_bias, d_out_map) = rest.split_at(lengths[1]);
        AttentionMapGradients {
            state: d_state,
            score_map: narrow(d_score_map, plane, size),
            bias: d_bias.to_vec(),
            out_map: narrow(d_out_map, back.out_plane, output),
        }
    }

    /// The target nodes of a block: their rows of q, of the gradients of the aggregates and of their own states, and of what is
    /// kept of the softmax; and their parts of the gradients of W, b and V.
    fn backward_block(
        &self,
        plan: &Plan<E>,
        back: &Back<E>,
        first: usize,
        gradient: &[E],
        [query, d_aggregated, kept, shares, d_own]: [&mut [E]; 5],
        [d_score_map, d_bias, d_out_map]: [&mut [E]; 3],
    ) {
        let Plan { edges, level, products, size, plane, output, .. } = *plan;
        let (count, width) = (shares.len() / self.heads, self.width);
        let own = &self.state[first * width..];
        let gradient = &gradient[first * output..(first + count) * output];
        let lengths = [count * plane, count * plane, count * back.out_plane, count * back.score_map.plane];
        with_scratch(lengths, |[aggregated, d_query, d_output, d_wide]| {
            plan.score_map.after(products, (own, width), count, query);
            plan.aggregate(first, query, aggregated, kept);
            // Through V.
            copy_rows((gradient, output), (&mut *d_output, back.out_plane), output);
            let aggregated_t = Scalars::plain(aggregated, (size, 1), (count, plane));
            product(products, aggregated_t, (d_output, back.out_plane), d_out_map, Finish::ADD);
            back.out_map.after(products, (gradient, output), count, d_aggregated);
            // Through the softmax.
            with_scratch([width * level.lanes::<E>(); 4], |scratch| {
                level.run(queries::Rows {
                    edges,
                    first,
                    query,
                    output: aggregated,
                    gradient: d_aggregated,
                    d_query: &mut *d_query,
                    stride: plane,
                    kept,
                    shares,
                    scratch,
                });
            });
            for row in d_query.chunks_exact(plane) {
                for (sum, term) in d_bias.iter_mut().zip(row) {
                    *sum += *term;
                }
            }
            // Through W.
            let own_t = Scalars::plain(own, (width, 1), (count, width));
            product(products, own_t, (d_query, plane), d_score_map, Finish::ADD);
            back.score_map.after(products, (d_query, plane), count, d_wide);
            copy_rows((d_wide, back.score_map.plane), (d_own, width), width);
        });
    }
}

/// The weights of the way back: Wᵀ and Vᵀ.
struct Back<E> {
    score_map: Padded<E>,
    out_map: Padded<E>,
    /// Numbers in a row of Y, filled up.
    out_plane: usize,
}

impl<E: Element> Plan<'_, E> {
    /// The aggregates of some nodes, from their queries.
    fn aggregate(&self, first: usize, query: &[E], aggregated: &mut [E], kept: &mut [E]) {
        let Self { edges, level, plane: stride, .. } = *self;
        with_scratch(forward::scratch(edges.width, level.lanes::<E>()), |scratch| {
            level.run(forward::Rows { edges, first, query, output: aggregated, stride, kept, scratch });
        });
    }
}

/// Takes so many rows, or all that are left, off the front of each.
fn first_rows<'a, E, const N: usize>(
    all: &mut [&'a mut [E]; N],
    widths: [usize; N],
    rows: usize,
) -> [&'a mut [E]; N] {
    std::array::from_fn(|at| {
        let end = (rows * widths[at]).min(all[at].len());
        all[at].split_off_mut(..end).unwrap_or_default()
    })
}
