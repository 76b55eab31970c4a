//! The inner loops: one number of several neighbours' states, spread over the lanes, meets a vector of heads.

use crate::vector::{Number, Vector};

/// Calls `$work` for tiles of 8, then 4, 2 and 1 entries, as many as fit, with `$at` the first of each.
macro_rules! in_tiles {
    ($count:expr, [$($size:literal),*], |$at:ident, $tile:ident| $work:expr) => {{
        let count = $count;
        let mut next = 0;
        $(
            while count - next >= $size {
                const $tile: usize = $size;
                let $at = next;
                $work;
                next += $size;
            }
        )*
    }};
}
pub(super) use in_tiles;

/// Where the states of `T` neighbours begin.
///
/// # Safety
/// `columns` has `at + T` entries, and `states` a row of `width` numbers for each.
#[inline(always)]
pub(super) unsafe fn rows_of<E: Number, const T: usize>(
    states: *const E,
    width: usize,
    columns: &[u32],
    at: usize,
) -> [*const E; T] {
    // SAFETY: as the caller vouches.
    std::array::from_fn(|t| unsafe { states.add(*columns.get_unchecked(at + t) as usize * width) })
}

/// Σ_c a\[c\] x_t\[c\] for `T` rows x and a matrix a of vectors.
///
/// # Safety
/// `a` holds `width` vectors, every row `width` numbers.
#[inline(always)]
pub(super) unsafe fn dots<S: Vector, const T: usize>(
    s: S,
    width: usize,
    a: *const S::Elem,
    rows: [*const S::Elem; T],
) -> [S::V; T] {
    let mut sums = [s.splat(S::Elem::ZERO); T];
    for c in 0..width {
        // SAFETY: as the caller vouches.
        unsafe {
            let a = s.load(a.add(c * S::LANES));
            for t in 0..T {
                sums[t] = s.mul_add(s.splat(*rows[t].add(c)), a, sums[t]);
            }
        }
    }
    sums
}

/// sums\[c\] += Σ_t x_t\[c\] p_t for `T` rows x and vectors p.
///
/// # Safety
/// `sums` holds `width` vectors, every row `width` numbers.
#[inline(always)]
pub(super) unsafe fn add_products<S: Vector, const T: usize>(
    s: S,
    width: usize,
    sums: *mut S::Elem,
    rows: [*const S::Elem; T],
    p: [S::V; T],
) {
    for c in 0..width {
        // SAFETY: as the caller vouches.
        unsafe {
            let to = sums.add(c * S::LANES);
            let mut sum = s.load(to);
            for t in 0..T {
                sum = s.mul_add(s.splat(*rows[t].add(c)), p[t], sum);
            }
            s.store(to, sum);
        }
    }
}

/// A matrix `[width][heads]`, of whose heads `count` are wanted, as `width` vectors.
///
/// # Safety
/// `from` holds `width` rows `heads` apart, each readable for `count` ≤ `LANES` numbers; `to` holds `width`
/// vectors.
#[inline(always)]
pub(super) unsafe fn spread<S: Vector>(
    s: S,
    width: usize,
    from: *const S::Elem,
    heads: usize,
    count: usize,
    to: *mut S::Elem,
) {
    for c in 0..width {
        // SAFETY: as the caller vouches.
        unsafe { s.store(to.add(c * S::LANES), s.load_first(from.add(c * heads), count)) }
    }
}

/// `to` += `from`, both `width` vectors.
///
/// # Safety
/// Both hold so many.
#[inline(always)]
pub(super) unsafe fn add_vectors<S: Vector>(s: S, width: usize, to: *mut S::Elem, from: *const S::Elem) {
    for at in (0..width * S::LANES).step_by(S::LANES) {
        // SAFETY: as the caller vouches.
        unsafe { s.store(to.add(at), s.add(s.load(to.add(at)), s.load(from.add(at)))) }
    }
}
