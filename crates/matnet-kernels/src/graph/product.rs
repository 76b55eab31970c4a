//! A sparse matrix times a dense one.

use super::{Csr, each_group, prefetch_ahead, rows_at_once};
use crate::simd::{Element, Kernel, Level, Simd};

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
    assert_eq!(x.len(), a.cols() * width, "one row of x per column of a");
    assert!(weights.is_none_or(|weights| weights.len() == a.entries()), "one weight per entry");
    let level = level.for_width(width);
    let mut y = vec![E::ZERO; a.rows() * width];
    let at_once = rows_at_once(a.rows(), (a.entries() + a.rows()) * width);
    each_group(&mut y, width, at_once, |first, y| {
        level.run(Rows { a, weights, x, width, first, y });
    });
    y
}

/// Some rows of the product.
struct Rows<'a, E> {
    a: &'a Csr,
    weights: Option<&'a [f32]>,
    x: &'a [E],
    width: usize,
    first: usize,
    y: &'a mut [E],
}

impl<E: Element> Kernel<E> for Rows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { a, weights, x, width, first, y } = self;
        for (row, y) in (first..).zip(y.chunks_exact_mut(width)) {
            let range = a.range(row);
            let columns = &a.columns()[range.clone()];
            prefetch_ahead(s, a, row, x, width);
            let weights = weights.map(|weights| &weights[range]);
            let mut at = 0;
            // SAFETY: `sparse_product` has checked that `x` has a row of `width` numbers for every column, the
            // matrix that every column is one; `at` and the vectors taken there stay within `width`.
            unsafe {
                while at + 4 * S::LANES <= width {
                    columns_of::<S, 4>(
                        s,
                        columns,
                        weights,
                        x.as_ptr().add(at),
                        width,
                        y.as_mut_ptr().add(at),
                    );
                    at += 4 * S::LANES;
                }
                while at + S::LANES <= width {
                    columns_of::<S, 1>(
                        s,
                        columns,
                        weights,
                        x.as_ptr().add(at),
                        width,
                        y.as_mut_ptr().add(at),
                    );
                    at += S::LANES;
                }
                if at < width {
                    let rest = width - at;
                    let mut sum = s.splat(E::ZERO);
                    for (entry, &column) in columns.iter().enumerate() {
                        let value = s.load_first(x.as_ptr().add(column as usize * width + at), rest);
                        sum = add(s, sum, value, weights, entry);
                    }
                    s.store_first(y.as_mut_ptr().add(at), sum, rest);
                }
            }
        }
    }
}

/// `N` vectors of one row of the product.
///
/// # Safety
/// Row c of X is readable at `x + c · width` for every column c, `y` is writable, for `N` vectors each.
#[inline(always)]
unsafe fn columns_of<S: Simd, const N: usize>(
    s: S,
    columns: &[u32],
    weights: Option<&[f32]>,
    x: *const S::Elem,
    width: usize,
    y: *mut S::Elem,
) {
    let mut sums = [s.splat(S::Elem::ZERO); N];
    for (entry, &column) in columns.iter().enumerate() {
        for (n, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as the caller vouches.
            let value = unsafe { s.load(x.add(column as usize * width + n * S::LANES)) };
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
