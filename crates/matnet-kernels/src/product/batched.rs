//! Products of a batch of matrices.

use rayon::prelude::*;

use super::{Finish, GRAIN, MatrixView, product_to};
use crate::simd::{Element, Level};

/// Aᵢ·Bᵢ, or Aᵢ·Bᵢᵀ, for every i. One of the two may be the same for all i.
#[derive(Clone, Copy, Debug)]
pub struct BatchedProduct<'a, E> {
    /// A: `batch × m × k`, or `m × k`.
    pub a: &'a [E],
    /// B: `batch × k × n`, or with `transposed` `batch × n × k`; or one such matrix.
    pub b: &'a [E],
    /// m, k, n
    pub sizes: [usize; 3],
    /// Whether the matrices of B are stored transposed.
    pub transposed: bool,
}

impl<'a, E: Element> BatchedProduct<'a, E> {
    fn counts(&self) -> [usize; 2] {
        let [m, k, n] = self.sizes;
        let count = |numbers: usize, size: usize| {
            assert!(size > 0 && numbers.is_multiple_of(size), "{numbers} numbers are no matrices of {size}");
            numbers / size
        };
        let counts = [count(self.a.len(), m * k), count(self.b.len(), k * n)];
        assert!(counts[0] == counts[1] || counts.contains(&1), "batches of {counts:?} matrices");
        counts
    }

    fn a(&self, at: usize) -> MatrixView<'a, E> {
        let [m, k, _] = self.sizes;
        let at = at % (self.a.len() / (m * k));
        MatrixView::new(&self.a[at * m * k..(at + 1) * m * k], m, k)
    }

    /// B as it is stored.
    fn b(&self, at: usize) -> MatrixView<'a, E> {
        let [_, k, n] = self.sizes;
        let at = at % (self.b.len() / (k * n));
        let data = &self.b[at * k * n..(at + 1) * k * n];
        if self.transposed { MatrixView::new(data, n, k) } else { MatrixView::new(data, k, n) }
    }

    /// The products, `batch × m × n`.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        let [m, _, n] = self.sizes;
        let [a, b] = self.counts();
        self.each(level, a.max(b), m * n, |at| {
            let b = self.b(at);
            (self.a(at), if self.transposed { b.transposed() } else { b })
        })
    }

    /// The gradients of A and B from that of the products, where they are needed. That of a matrix shared by the batch sums
    /// over it in its order.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, gradient: &[E], need: [bool; 2]) -> [Option<Vec<E>>; 2] {
        let [m, k, n] = self.sizes;
        let counts = self.counts();
        let batch = counts[0].max(counts[1]);
        assert_eq!(gradient.len(), batch * m * n, "the gradient is of another size");
        let gradient = |at: usize| MatrixView::new(&gradient[at * m * n..(at + 1) * m * n], m, n);
        // dA = G·Bᵀ, dB = Aᵀ·G; with B transposed dA = G·B, dB = Gᵀ·A.
        let of_a = |at: usize| {
            let b = self.b(at);
            (gradient(at), if self.transposed { b } else { b.transposed() })
        };
        let of_b = |at: usize| match self.transposed {
            false => (self.a(at).transposed(), gradient(at)),
            true => (gradient(at).transposed(), self.a(at)),
        };
        [
            need[0].then(|| self.gradient(level, counts[0], batch, m * k, of_a)),
            need[1].then(|| self.gradient(level, counts[1], batch, k * n, of_b)),
        ]
    }

    fn gradient<'b>(
        &self,
        level: Level,
        count: usize,
        batch: usize,
        size: usize,
        factors: impl Fn(usize) -> (MatrixView<'b, E>, MatrixView<'b, E>) + Sync,
    ) -> Vec<E> {
        if count == batch {
            return self.each(level, batch, size, factors);
        }
        let mut sum = vec![E::ZERO; size];
        for at in 0..batch {
            let (a, b) = factors(at);
            let finish = if at == 0 { Finish::STORE } else { Finish::ADD };
            product_to(level, a, b, &mut sum, finish, rayon::current_num_threads());
        }
        sum
    }

    /// `count` products of `size` numbers each. Threads share the batch, or each product where the batch is small.
    fn each<'b>(
        &self,
        level: Level,
        count: usize,
        size: usize,
        factors: impl Fn(usize) -> (MatrixView<'b, E>, MatrixView<'b, E>) + Sync,
    ) -> Vec<E> {
        let threads = rayon::current_num_threads();
        let work: usize = self.sizes.iter().product::<usize>().max(1);
        let mut all = vec![E::ZERO; count * size];
        let one = |(at, c): (usize, &mut [E]), threads: usize| {
            let (a, b) = factors(at);
            product_to(level, a, b, c, Finish::STORE, threads);
        };
        if threads == 1 || count < threads || work.saturating_mul(count) < 2 * GRAIN {
            all.chunks_mut(size).enumerate().for_each(|item| one(item, threads));
        } else {
            let at_once = (GRAIN / work).max(1);
            all.par_chunks_mut(size).enumerate().with_min_len(at_once).for_each(|item| one(item, 1));
        }
        all
    }
}
