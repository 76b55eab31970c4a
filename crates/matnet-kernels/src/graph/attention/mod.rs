//! Attention along the edges of a graph, several heads at once.
//!
//! Heads lie in the lanes of vectors: a query is `[width][heads]`, and one number of a neighbour's state meets
//! the same number of all heads' queries in one instruction. Scores, softmax and sums of a node are done while
//! its neighbours pass by; what is kept for the backward pass are two numbers per node and head, from which the
//! share of each edge is computed again.

mod forward;
mod keys;
mod queries;
mod tiles;

use super::{Csr, each_group, prefetch_ahead, rows_at_once};
use crate::parallel::{sum_parts, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// Yᵢₖ = Σⱼ pᵢⱼₖ hⱼ with pᵢⱼₖ = softmax over j of (qᵢₖ + bₖ)ᵀ hⱼ, j running over the entries of row i, k over
/// the heads.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a, E> {
    /// Who listens to whom: a row per listening node, a column per node that is heard.
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

impl<E: Element> Attention<'_, E> {
    fn check(&self) {
        let (rows, cols) = (self.graph.rows(), self.graph.cols());
        assert_eq!((self.transposed.rows(), self.transposed.cols()), (cols, rows), "transposed");
        assert_eq!(self.transposed.entries(), self.graph.entries(), "transposed");
        assert_eq!(self.query.len(), rows * self.width * self.heads, "one query per row and head");
        assert_eq!(self.bias.len(), self.width * self.heads, "one bias per head");
        assert_eq!(self.keys.len(), cols * self.width, "one state per column");
    }

    /// How many rows of `csr` are handed to a thread at once, with so many passes over every edge.
    fn at_once(&self, csr: &Csr, passes: usize) -> usize {
        let each = self.width * self.heads.next_multiple_of(8) / 8;
        rows_at_once(csr.rows(), (passes * csr.entries() + 2 * csr.rows()) * each)
    }

    /// Y, `rows × width × heads` (0 for a row without entries), and per row the largest score of each head and
    /// then one over the sum of the exponents, which [`backward`](Self::backward) wants to be given.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> (Vec<E>, Buffer<E>) {
        self.check();
        let (rows, heads, size) = (self.graph.rows(), self.heads, self.width * self.heads);
        let mut output = vec![E::ZERO; rows * size];
        let mut kept = Buffer::take(rows * 2 * heads);
        if size == 0 || rows == 0 {
            return (output, kept);
        }
        let level = level.for_width(heads);
        let at_once = self.at_once(self.graph, 2);
        let lengths = forward::scratch(self.width, level.lanes::<E>());
        each_pair(&mut output, size, &mut kept, 2 * heads, at_once, |first, output, kept| {
            with_scratch(lengths, |scratch| {
                level.run(forward::Rows { attention: *self, first, output, kept, scratch });
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
        self.check();
        let (rows, heads, size) = (self.graph.rows(), self.heads, self.width * self.heads);
        assert_eq!((output.len(), gradient.len()), (rows * size, rows * size), "one number per result");
        assert_eq!(kept.len(), rows * 2 * heads, "what the forward pass kept");
        let mut query = vec![E::ZERO; rows * size];
        let mut keys = vec![E::ZERO; self.keys.len()];
        if size == 0 || rows == 0 {
            return AttentionGradients { query, bias: vec![E::ZERO; size], keys };
        }
        let level = level.for_width(heads);
        // Σⱼ pᵢⱼₖ (Gᵢₖ·hⱼ) = Gᵢₖ·Yᵢₖ: what the softmax takes off every score's gradient.
        let mut shares = Buffer::take(rows * heads);
        let at_once = self.at_once(self.graph, 3);
        let vectors = self.width * level.lanes::<E>();
        each_pair(&mut query, size, &mut shares, heads, at_once, |first, query, shares| {
            with_scratch([vectors; 4], |scratch| {
                let attention = *self;
                level.run(queries::Rows { attention, output, kept, gradient, first, query, shares, scratch });
            });
        });
        let shares = &*shares;
        each_group(&mut keys, self.width, self.at_once(self.transposed, 4), |first, keys| {
            with_scratch([vectors; 2], |scratch| {
                level.run(keys::Rows { attention: *self, kept, shares, gradient, first, keys, scratch });
            });
        });
        let bias = column_sums(&query, size);
        AttentionGradients { query, bias, keys }
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
