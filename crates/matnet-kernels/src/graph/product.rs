//! A sparse matrix times a dense one.

use rayon::prelude::*;

use super::{Csr, each_group, prefetch_ahead, rows_at_once};
use crate::parallel::at_least;
use crate::pool::Buffer;
use crate::simd::{Element, Kernel, Level, Simd};
use crate::vector::Number;

/// Y = A X: row i of Y is the sum of the rows of X that row i of A names, each times its weight.
///
/// `weights` has one number per entry of `a`, or is missing, which is a matrix of ones. `x` has `a.cols()`
/// rows of `width` numbers. The gradient of X is the product with the transposed matrix.
///
/// # Panics
///
/// If lengths do not fit.
pub fn sparse_product<E: Element>(
    level: Level,
    a: &Csr,
    weights: Option<&[f32]>,
    x: &[E],
    width: usize,
) -> Vec<E> {
    let mut y = vec![E::ZERO; a.rows() * width];
    RowSums::new(a, weights, x, [width, width]).give::<false>(level, &mut y, [0, width]);
    y
}

/// The rows of A X, of which each is asked for by itself.
#[derive(Clone, Copy)]
pub(super) struct RowSums<'a, E> {
    a: &'a Csr,
    weights: Option<&'a [f32]>,
    x: &'a [E],
    width: usize,
    stride: usize,
}

impl<'a, E: Element> RowSums<'a, E> {
    /// Of X with rows of `width` numbers, `stride` apart.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub(super) fn new(
        a: &'a Csr,
        weights: Option<&'a [f32]>,
        x: &'a [E],
        [width, stride]: [usize; 2],
    ) -> Self {
        assert!(width <= stride, "rows of {width} numbers, {stride} apart");
        let ends = a.cols().checked_sub(1).map_or(0, |last| last * stride + width);
        assert!(ends <= x.len(), "one row of x per column of a");
        assert!(weights.is_none_or(|weights| weights.len() == a.entries()), "one weight per entry");
        Self { a, weights, x, width, stride }
    }

    /// A X in the place of Y; with `ADD`, Y + A X. Rows of Y begin at `at`, `stride` apart.
    ///
    /// # Panics
    ///
    /// If Y has another size.
    pub(super) fn give<const ADD: bool>(self, level: Level, y: &mut [E], [at, stride]: [usize; 2]) {
        assert_eq!(y.len(), self.a.rows() * stride, "one row of y per row of a");
        assert!(at + self.width <= stride, "rows of y hold rows of the product");
        if !self.is_far() {
            return self.rows::<ADD>(level, y, [at, stride]);
        }
        let line = LINE / size_of::<E>();
        let mut panel = Buffer::<E>::take(self.a.cols() * line + line);
        for first in (0..self.width).step_by(line) {
            let width = line.min(self.width - first);
            let begin = panel.as_ptr().align_offset(LINE).min(line);
            let x = &mut panel[begin..][..self.a.cols() * width];
            pack(&self.x[first..], self.stride, x, width);
            let panel = RowSums { a: self.a, weights: self.weights, x, width, stride: width };
            panel.rows::<ADD>(level, y, [at + first, stride]);
        }
    }

    /// Whether X is so large that its rows come from memory, and each reaches into two cache lines that it shares with others. Then as many
    /// columns as fill a line are laid together, and multiplied alone: rows of one line come twice as fast, and what is left over of the
    /// columns is small enough for a cache. Each sum has the same terms in the same order.
    pub(super) fn is_far(&self) -> bool {
        let (line, row) = (LINE / size_of::<E>(), self.width * size_of::<E>());
        let narrow = (line + 1..3 * line).contains(&self.width) && !row.is_multiple_of(LINE);
        narrow && self.a.cols() * row >= FAR && self.a.entries() >= 4 * self.a.cols()
    }

    fn rows<const ADD: bool>(self, level: Level, y: &mut [E], [at, stride]: [usize; 2]) {
        let level = level.for_width(self.width);
        let at_once = rows_at_once(self.a.rows(), (self.a.entries() + self.a.rows()) * self.width);
        each_group(y, stride, at_once, |first, y| {
            level.run(Rows::<E, ADD> { sums: self, first, y, at, stride });
        });
    }

    /// Row `row` of A X in the place of y; with `ADD`, added to it.
    ///
    /// # Safety
    /// The row is there, and `y` is writable for `width` numbers.
    #[inline(always)]
    pub(super) unsafe fn row<S: Simd<Elem = E>, const ADD: bool>(&self, s: S, row: usize, y: *mut E) {
        let Self { a, weights, x, width, stride } = *self;
        let range = a.range(row);
        let columns = &a.columns()[range.clone()];
        prefetch_ahead(s, a, row, x, stride);
        let weights = weights.map(|weights| &weights[range]);
        let mut at = 0;
        // SAFETY: `new` has checked that `x` has a row of `width` numbers for every column, the matrix that every column is
        // one; `at` and the vectors taken there stay within `width`.
        unsafe {
            let x = x.as_ptr();
            while at + 4 * S::LANES <= width {
                vectors::<S, 4, ADD>(s, columns, weights, x.add(at), stride, y.add(at));
                at += 4 * S::LANES;
            }
            while at + S::LANES <= width {
                vectors::<S, 1, ADD>(s, columns, weights, x.add(at), stride, y.add(at));
                at += S::LANES;
            }
            if at < width {
                let rest = width - at;
                let mut sum = if ADD { s.load_first(y.add(at), rest) } else { s.splat(E::ZERO) };
                for (entry, &column) in columns.iter().enumerate() {
                    let value = s.load_first(x.add(column as usize * stride + at), rest);
                    sum = add(s, sum, value, weights, entry);
                }
                s.store_first(y.add(at), sum, rest);
            }
        }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// An X of so many bytes does not stay in a third-level cache that others use, too.
const FAR: usize = 24 << 20;

/// Copies the first `width` numbers of rows that are `stride` apart.
fn pack<E: Element>(from: &[E], stride: usize, to: &mut [E], width: usize) {
    const AT_ONCE: usize = 1 << 12;
    let parts = to.par_chunks_mut(AT_ONCE * width).zip(from.par_chunks(AT_ONCE * stride));
    parts.with_min_len(at_least()).for_each(|(to, from)| {
        for (to, from) in to.chunks_exact_mut(width).zip(from.chunks(stride)) {
            to.copy_from_slice(&from[..width]);
        }
    });
}

/// Some rows of the product.
struct Rows<'a, E, const ADD: bool> {
    sums: RowSums<'a, E>,
    first: usize,
    y: &'a mut [E],
    at: usize,
    stride: usize,
}

impl<E: Element, const ADD: bool> Kernel<E> for Rows<'_, E, ADD> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { sums, first, y, at, stride } = self;
        for (row, y) in (first..).zip(y.chunks_exact_mut(stride)) {
            let y = &mut y[at..at + sums.width];
            // SAFETY: it has `width` numbers; a row that is not there would panic.
            unsafe { sums.row::<S, ADD>(s, row, y.as_mut_ptr()) }
        }
    }
}

/// `N` vectors of one row of the product.
///
/// # Safety
/// Row c of X is readable at `x + c · stride` for every column c, `y` is readable and writable, for `N` vectors each.
#[inline(always)]
unsafe fn vectors<S: Simd, const N: usize, const ADD: bool>(
    s: S,
    columns: &[u32],
    weights: Option<&[f32]>,
    x: *const S::Elem,
    stride: usize,
    y: *mut S::Elem,
) {
    let mut sums = [s.splat(S::Elem::ZERO); N];
    if ADD {
        for (n, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as the caller vouches.
            *sum = unsafe { s.load(y.add(n * S::LANES)) };
        }
    }
    for (entry, &column) in columns.iter().enumerate() {
        for (n, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as the caller vouches.
            let value = unsafe { s.load(x.add(column as usize * stride + n * S::LANES)) };
            *sum = add(s, *sum, value, weights, entry);
        }
    }
    for (n, sum) in sums.into_iter().enumerate() {
        // SAFETY: as the caller vouches.
        unsafe { s.store(y.add(n * S::LANES), sum) }
    }
}

/// sum + weight · value
#[inline(always)]
fn add<S: Simd>(s: S, sum: S::V, value: S::V, weights: Option<&[f32]>, entry: usize) -> S::V {
    match weights {
        Some(weights) => s.mul_add(s.splat(S::Elem::from_single(weights[entry])), value, sum),
        None => s.add(sum, value),
    }
}
