//! Attention along the edges of a graph, several heads at once.
//!
//! Heads lie in the lanes of vectors: a query is `[width][heads]`, and one number of a neighbour's state meets
//! the same number of all heads' queries in one instruction. Scores, softmax and sums of a node are
//! computed in one pass over its neighbours. Two numbers per node and head are kept for the backward pass, which recomputes the
//! weight of each edge from them.

mod forward;
mod keys;
mod mapped;
mod queries;
mod tiles;

pub use mapped::{AttentionMap, AttentionMapGradients};

use super::{Csr, each_group, prefetch_ahead, rows_at_once};
use crate::parallel::{sum_parts, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// Yᵢₖ = Σⱼ pᵢⱼₖ hⱼ with pᵢⱼₖ = softmax over j of (qᵢₖ + bₖ)ᵀ hⱼ, j running over the entries of row i, k over
/// the heads.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a, E> {
    /// The graph: a row per target node, a column per source node.
    pub graph: &'a Csr,
    /// The same, transposed.
    pub transposed: &'a Csr,
    /// Numbers in a state.
    pub width: usize,
    /// How many heads.
    pub heads: usize,
    /// q, `rows × width × heads`.
    pub query: &'a [E],
    /// b, `width × heads`.
    pub bias: &'a [E],
    /// h, `cols × width`.
    pub keys: &'a [E],
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct AttentionGradients<E> {
    /// Of q.
    pub query: Vec<E>,
    /// Of b.
    pub bias: Vec<E>,
    /// Of h.
    pub keys: Vec<E>,
}

/// Everything but the queries.
#[derive(Clone, Copy)]
struct Edges<'a, E> {
    graph: &'a Csr,
    transposed: &'a Csr,
    width: usize,
    heads: usize,
    bias: &'a [E],
    keys: &'a [E],
}

impl<E: Element> Edges<'_, E> {
    fn check(&self) {
        let (rows, cols) = (self.graph.rows(), self.graph.cols());
        assert_eq!((self.transposed.rows(), self.transposed.cols()), (cols, rows), "transposed");
        assert_eq!(self.transposed.entries(), self.graph.entries(), "transposed");
        assert_eq!(self.bias.len(), self.width * self.heads, "one bias per head");
        assert_eq!(self.keys.len(), cols * self.width, "one state per column");
    }

    /// How many rows of `csr` are handed to a thread at once, with so many passes over every edge.
    fn at_once(&self, csr: &Csr, passes: usize) -> usize {
        let each = self.width * self.heads.next_multiple_of(8) / 8;
        rows_at_once(csr.rows(), (passes * csr.entries() + 2 * csr.rows()) * each)
    }

    /// Adds to the gradient of h. Rows of `query` and `gradient` (of Y) lie `stride` apart.
    fn add_to_keys(
        &self,
        level: Level,
        (query, gradient, stride): (&[E], &[E], usize),
        kept: &[E],
        shares: &[E],
        d_keys: &mut [E],
    ) {
        let edges = *self;
        each_group(d_keys, self.width, self.at_once(self.transposed, 4), |first, d_keys| {
            with_scratch([self.width * level.lanes::<E>(); 2], |scratch| {
                level.run(keys::Rows {
                    edges,
                    first,
                    query,
                    gradient,
                    stride,
                    kept,
                    shares,
                    d_keys,
                    scratch,
                });
            });
        });
    }
}

impl<'a, E: Element> Attention<'a, E> {
    fn edges(&self) -> Edges<'a, E> {
        let Self { graph, transposed, width, heads, query, bias, keys } = *self;
        let edges = Edges { graph, transposed, width, heads, bias, keys };
        edges.check();
        assert_eq!(query.len(), graph.rows() * width * heads, "one query per row and head");
        edges
    }

    /// Y, `rows × width × heads` (0 for a row without entries), and per row the largest score of each head and
    /// then one over the sum of the exponents, which [`backward`](Self::backward) wants to be given.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> (Vec<E>, Buffer<E>) {
        let edges = self.edges();
        let (rows, heads, stride) = (self.graph.rows(), self.heads, self.width * self.heads);
        let mut output = vec![E::ZERO; rows * stride];
        let mut kept = Buffer::take(rows * 2 * heads);
        if stride == 0 || rows == 0 {
            return (output, kept);
        }
        let level = level.for_width(heads);
        let at_once = edges.at_once(self.graph, 2);
        let lengths = forward::scratch(self.width, level.lanes::<E>());
        each_pair(&mut output, stride, &mut kept, 2 * heads, at_once, |first, output, kept| {
            let query = &self.query[first * stride..];
            with_scratch(lengths, |scratch| {
                level.run(forward::Rows { edges, first, query, output, stride, kept, scratch });
            });
        });
        (output, kept)
    }

    /// The gradients of all inputs, from that of Y.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, output: &[E], kept: &[E], gradient: &[E]) -> AttentionGradients<E> {
        let edges = self.edges();
        let (rows, heads, stride) = (self.graph.rows(), self.heads, self.width * self.heads);
        assert_eq!((output.len(), gradient.len()), (rows * stride, rows * stride), "one number per result");
        assert_eq!(kept.len(), rows * 2 * heads, "what the forward pass kept");
        let mut d_query = vec![E::ZERO; rows * stride];
        let mut d_keys = vec![E::ZERO; self.keys.len()];
        if stride == 0 || rows == 0 {
            return AttentionGradients { query: d_query, bias: vec![E::ZERO; stride], keys: d_keys };
        }
        let level = level.for_width(heads);
        // Σⱼ pᵢⱼₖ (Gᵢₖ·hⱼ) = Gᵢₖ·Yᵢₖ: what the softmax takes off every score's gradient.
        let mut shares = Buffer::take(rows * heads);
        let at_once = edges.at_once(self.graph, 3);
        each_pair(&mut d_query, stride, &mut shares, heads, at_once, |first, d_query, shares| {
            let [query, output, gradient] = [self.query, output, gradient].map(|all| &all[first * stride..]);
            let kept = &kept[first * 2 * heads..][..2 * shares.len()];
            with_scratch(queries::scratch(self.width, level.lanes::<E>()), |scratch| {
                level.run(queries::Rows {
                    edges,
                    first,
                    query,
                    output,
                    gradient,
                    d_query,
                    stride,
                    kept,
                    shares,
                    terms: &mut [],
                    scratch,
                });
            });
        });
        edges.add_to_keys(level, (self.query, gradient, stride), kept, &shares, &mut d_keys);
        let bias = column_sums(&d_query, stride);
        AttentionGradients { query: d_query, bias, keys: d_keys }
    }
}

/// [`each_group`] with two results per row.
fn each_pair<E: Element>(
    a: &mut [E],
    a_width: usize,
    b: &mut [E],
    b_width: usize,
    rows_at_once: usize,
    work: impl Fn(usize, &mut [E], &mut [E]) + Sync,
) {
    use rayon::prelude::*;
    if a.len() <= a_width * rows_at_once {
        return work(0, a, b);
    }
    a.par_chunks_mut(a_width * rows_at_once)
        .zip(b.par_chunks_mut(b_width * rows_at_once))
        .enumerate()
        .for_each(|(group, (a, b))| work(group * rows_at_once, a, b));
}

/// The sum of all rows. How they are grouped depends on their number alone.
fn column_sums<E: Element>(numbers: &[E], width: usize) -> Vec<E> {
    use rayon::prelude::*;
    let shares = crate::parallel::parts(numbers.len() / width);
    let sums = shares.into_par_iter().map(|share| {
        let mut sum = vec![E::ZERO; width];
        for row in numbers[share.start * width..share.end * width].chunks_exact(width) {
            for (sum, term) in sum.iter_mut().zip(row) {
                *sum += *term;
            }
        }
        sum
    });
    sum_parts(sums.collect())
}
