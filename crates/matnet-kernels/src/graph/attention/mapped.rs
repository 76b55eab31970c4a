//! Attention with the maps before and after it, block by block of nodes: queries and aggregates, which are as wide as all heads
//! together, stay in the cache.

use std::ops::Range;

use rayon::prelude::*;

use super::super::padded::{Padded, copy_rows, narrow, product};
use super::super::product::RowSums;
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
    /// For each entry of the transposed graph, its place in the other.
    pub places: &'a [u32],
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
        let Self { graph, transposed, places, width, heads, state, score_map, bias, out_map } = *self;
        let edges = Edges { graph, transposed, width, heads, bias, keys: state };
        edges.check();
        assert_eq!(places.len(), graph.entries(), "the same entries");
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
        // The gradients of the source nodes need what every edge adds to them, or these of the target nodes; what is smaller is kept.
        let by_edge = self.graph.entries() * width <= 2 * rows * plane;
        let widths = if by_edge { [0; 4] } else { [plane, plane, 2 * heads, heads] };
        let mut terms = Buffer::take(if by_edge { self.graph.entries() * width } else { 0 });
        let [mut query, mut d_aggregated, mut kept, mut shares] =
            widths.map(|width| Buffer::take(rows * width));
        let mut rest = Results {
            widths,
            kept: [&mut *query, &mut *d_aggregated, &mut *kept, &mut *shares],
            d_own: &mut d_state[..rows * width],
            terms: &mut terms,
        };
        let parts = parts(rows.div_ceil(at_once));
        let pieces: Vec<_> = parts
            .iter()
            .map(|part| rest.take(&plan.edges, part.start * at_once..(part.end * at_once).min(rows)))
            .collect();
        let sums = parts.into_par_iter().zip(pieces).map(|(part, mut piece)| {
            let mut sums = vec![E::ZERO; lengths.iter().sum()];
            for block in part {
                let mut rest = sums.as_mut_slice();
                let sums = lengths.map(|length| rest.split_off_mut(..length).unwrap_or_default());
                let nodes = block * at_once..((block + 1) * at_once).min(rows);
                let results = piece.take(&plan.edges, nodes.clone());
                self.backward_block(&plan, &back, nodes, gradient, results, sums);
            }
            sums
        });
        let mut sums = sum_parts(sums.collect());
        sums.resize(lengths.iter().sum(), E::ZERO);
        if by_edge {
            // A row per state, an entry per edge.
            let offsets = self.transposed.offsets().to_vec();
            let source = Csr::new(self.places.len(), offsets, self.places.to_vec())
                .expect("places are numbers of entries");
            RowSums::new(&source, None, &terms, [width, width]).give::<true>(level, &mut d_state, [0, width]);
        } else {
            let wide = (&*query, &*d_aggregated, plane);
            plan.edges.add_to_keys(plan.level, wide, &kept, &shares, &mut d_state);
        }
        let (d_score_map, rest) = sums.split_at(lengths[0]);
        let (d_bias, d_out_map) = rest.split_at(lengths[1]);
        AttentionMapGradients {
            state: d_state,
            score_map: narrow(d_score_map, plane, size),
            bias: d_bias.to_vec(),
            out_map: narrow(d_out_map, back.out_plane, output),
        }
    }

    /// The target nodes of a block: the gradients of their own states through W, what their edges add to those of the source
    /// nodes, and their parts of the gradients of W, b and V.
    fn backward_block(
        &self,
        plan: &Plan<E>,
        back: &Back<E>,
        nodes: Range<usize>,
        gradient: &[E],
        results: Results<E>,
        [d_score_map, d_bias, d_out_map]: [&mut [E]; 3],
    ) {
        let Plan { edges, level, products, size, plane, output, .. } = *plan;
        let (first, count, width, heads) = (nodes.start, nodes.len(), self.width, self.heads);
        let own = &self.state[first * width..];
        let gradient = &gradient[first * output..nodes.end * output];
        let Results { widths, kept, d_own, terms } = results;
        let passing = widths == [0; 4];
        let [a, b, c, d] = if passing { [plane, plane, 2 * heads, heads] } else { [0; 4] };
        let lengths =
            [plane, plane, back.out_plane, back.score_map.plane, a, b, c, d].map(|each| count * each);
        with_scratch(
            lengths,
            |[aggregated, d_query, d_output, d_wide, query, d_aggregated, own_kept, shares]| {
                let passed = [query, d_aggregated, own_kept, shares];
                let [query, d_aggregated, kept, shares] = if passing { passed } else { kept };
                plan.score_map.after(products, (own, width), count, query);
                plan.aggregate(first, query, aggregated, kept);
                // Through V.
                copy_rows((gradient, output), (&mut *d_output, back.out_plane), output);
                let aggregated_t = Scalars::plain(aggregated, (size, 1), (count, plane));
                product(products, aggregated_t, (d_output, back.out_plane), d_out_map, Finish::ADD);
                back.out_map.after(products, (gradient, output), count, d_aggregated);
                // Through the softmax.
                with_scratch(queries::scratch(width, level.lanes::<E>()), |scratch| {
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
                        terms,
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
            },
        );
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

/// Rows of what a backward pass gives for target nodes.
struct Results<'a, E> {
    /// Numbers in a row of what is kept; 0 if nothing is.
    widths: [usize; 4],
    /// q, the gradients of the aggregates, and two of the softmax.
    kept: [&'a mut [E]; 4],
    /// The gradients of their own states, but for what neighbours add.
    d_own: &'a mut [E],
    /// What each of their edges adds to its source state; nothing if the others are kept.
    terms: &'a mut [E],
}

impl<'a, E: Element> Results<'a, E> {
    /// Takes the rows of some nodes off the front.
    fn take(&mut self, edges: &Edges<E>, nodes: Range<usize>) -> Self {
        let offsets = edges.graph.offsets();
        let entries = if self.terms.is_empty() { 0 } else { offsets[nodes.end] - offsets[nodes.start] };
        let rows = |all: &mut &'a mut [E], numbers: usize| all.split_off_mut(..numbers).unwrap_or_default();
        let mut widths = self.widths.iter();
        Self {
            widths: self.widths,
            kept: self.kept.each_mut().map(|all| rows(all, nodes.len() * widths.next().unwrap_or(&0))),
            d_own: rows(&mut self.d_own, nodes.len() * edges.width),
            terms: rows(&mut self.terms, entries * edges.width),
        }
    }
}
