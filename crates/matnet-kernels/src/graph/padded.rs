//! Matrices with rows of whole vectors, and products with them.

use crate::gemm::{Finish, Scalars, View, outer};
use crate::simd::{Element, Level};

/// A matrix whose rows are filled up to whole vectors.
pub(super) struct Padded<E> {
    numbers: Vec<E>,
    rows: usize,
    pub(super) plane: usize,
}

impl<E: Element> Padded<E> {
    /// The matrix `rows × cols` with entry (r, c) at `r · strides.0 + c · strides.1`.
    pub(super) fn new(level: Level, from: &[E], [rows, cols]: [usize; 2], strides: (usize, usize)) -> Self {
        let plane = cols.next_multiple_of(level.lanes::<E>());
        let mut numbers = vec![E::ZERO; rows * plane];
        for (r, row) in numbers.chunks_exact_mut(plane).enumerate() {
            for (c, number) in row[..cols].iter_mut().enumerate() {
                *number = from[r * strides.0 + c * strides.1];
            }
        }
        Self { numbers, rows, plane }
    }

    /// C = A·self for so many rows of A, which lie `stride` apart.
    pub(super) fn after(&self, level: Level, (a, stride): (&[E], usize), count: usize, c: &mut [E]) {
        let a = Scalars::plain(a, (count, stride), (self.rows, 1));
        product(level, a, (&self.numbers, self.plane), c, Finish::STORE);
    }
}

/// C = A·B, or C + A·B; rows of C are as long as those of B.
pub(super) fn product<E: Element>(
    level: Level,
    a: Scalars<E>,
    (b, plane): (&[E], usize),
    c: &mut [E],
    finish: Finish<E>,
) {
    let lanes = level.lanes::<E>();
    let b = View { data: b, strides: (plane, lanes) };
    outer(level, a, b, plane / lanes, c, (plane, lanes), finish);
}

/// Rows of `width` from rows that are filled up, or the other way round.
pub(super) fn copy_rows<E: Element>(from: (&[E], usize), to: (&mut [E], usize), width: usize) {
    for (from, to) in from.0.chunks_exact(from.1).zip(to.0.chunks_exact_mut(to.1)) {
        to[..width].copy_from_slice(&from[..width]);
    }
}

/// The first `width` numbers of every row.
pub(super) fn narrow<E: Element>(rows: &[E], plane: usize, width: usize) -> Vec<E> {
    rows.chunks_exact(plane).flat_map(|row| &row[..width]).copied().collect()
}
