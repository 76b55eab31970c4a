//! Products whose rows threads share.

use super::operands::{Scalars, View};
use super::outer::{Bias, Finish, Stack, outer_stack};
use crate::simd::{Element, Level};

/// So many multiplications are worth a thread of their own.
const WORTH: usize = 1 << 19;

/// How many of so many threads share a product of so many multiplications.
pub(crate) fn sharing(threads: usize, products: usize) -> usize {
    threads.min(products / WORTH).max(1)
}

/// [`outer_stack`] of one product whose rows of C follow each other, on up to so many threads. Each entry is computed by one of them, so that the bits
/// are the same.
#[allow(clippy::too_many_arguments)]
pub(crate) fn outer_shared<E: Element>(
    level: Level,
    threads: usize,
    a: Scalars<E>,
    b: View<E>,
    numbers: usize,
    c: &mut [E],
    c_strides: (usize, usize),
    finish: Finish<E>,
) {
    let (rows, depth) = a.sizes;
    let threads = sharing(threads, rows * depth * numbers).min(rows);
    if threads == 1 {
        return outer_stack(level, Stack::ONE, a, b, numbers, c, c_strides, finish);
    }
    let first = threads / 2;
    let half = rows * first / threads;
    let ([a_0, a_1], [finish_0, finish_1]) = (a.split(half), finish.split(half));
    let (c_0, c_1) = c.split_at_mut(half * c_strides.0);
    rayon::join(
        || outer_shared(level, first, a_0, b, numbers, c_0, c_strides, finish_0),
        || outer_shared(level, threads - first, a_1, b, numbers, c_1, c_strides, finish_1),
    );
}

impl<E> Scalars<'_, E> {
    /// The rows before `row`, and those from it on.
    fn split(self, row: usize) -> [Self; 2] {
        assert!(self.packed.is_none(), "packed for one product");
        let (rows, depth) = self.sizes;
        let first = Self { sizes: (row, depth), ..self };
        [first, Self { data: &self.data[row * self.strides.row..], sizes: (rows - row, depth), ..self }]
    }
}

impl<E: Copy> Finish<'_, E> {
    /// For the rows before `row`, and for those from it on.
    fn split(self, row: usize) -> [Self; 2] {
        let bias = match self.bias {
            Bias::None => Bias::None,
            Bias::Spread(bias, strides) => Bias::Spread(&bias[row * strides.0..], strides),
            Bias::Rows(bias, width) => Bias::Rows(&bias[row * width..], width),
        };
        let (first, second) = self.fetch.split_at(self.fetch.len() / 2);
        [self.fetch(first), Self { bias, ..self.fetch(second) }]
    }
}
