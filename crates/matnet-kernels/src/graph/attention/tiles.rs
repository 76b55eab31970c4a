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

/// What `T` edges of a node add to the gradients of their source states: Σ_k p_tk g_k + s_tk q_k for `count` heads k, in the place of
/// what stands there, or with `add` added to it.
///
/// # Safety
/// g and q hold `count` rows of `width` numbers, which are `stride` apart and readable up to there; `stride` is a multiple of `LANES`.
/// Every place in `to` has `width` numbers, and `count` is at most `LANES`.
#[inline(always)]
pub(super) unsafe fn send<S: Vector, const T: usize>(
    s: S,
    [width, stride, count]: [usize; 3],
    [g, q]: [*const S::Elem; 2],
    [p, to_score]: [[S::V; T]; 2],
    to: [*mut S::Elem; T],
    add: bool,
) {
    // No vector has more than 16 lanes.
    let mut scalars = [[[S::Elem::ZERO; 16]; T]; 2];
    for t in 0..T {
        // SAFETY: so they hold a vector.
        unsafe {
            s.store(scalars[0][t].as_mut_ptr(), p[t]);
            s.store(scalars[1][t].as_mut_ptr(), to_score[t]);
        }
    }
    for c in (0..width).step_by(S::LANES) {
        let rest = S::LANES.min(width - c);
        // SAFETY: as the caller vouches.
        unsafe {
            let mut sums = [s.splat(S::Elem::ZERO); T];
            for t in 0..T {
                if add {
                    sums[t] = s.load_first(to[t].add(c), rest);
                }
            }
            for k in 0..count {
                let (g, q) = (s.load(g.add(k * stride + c)), s.load(q.add(k * stride + c)));
                for t in 0..T {
                    sums[t] = s.mul_add(s.splat(*scalars[0][t].get_unchecked(k)), g, sums[t]);
                    sums[t] = s.mul_add(s.splat(*scalars[1][t].get_unchecked(k)), q, sums[t]);
                }
            }
            for t in 0..T {
                s.store_first(to[t].add(c), sums[t], rest);
            }
        }
    }
}

/// `width` vectors, of whose lanes the first `count` are wanted, as `count` rows, `stride` apart.
///
/// # Safety
/// `from` holds `width` vectors, `to` has `count` ≤ `LANES` rows of `stride` ≥ `width` numbers.
#[inline(always)]
pub(super) unsafe fn turn<S: Vector>(
    _: S,
    [width, stride, count]: [usize; 3],
    from: *const S::Elem,
    to: *mut S::Elem,
) {
    for k in 0..count {
        for c in 0..width {
            // SAFETY: as the caller vouches.
            unsafe { *to.add(k * stride + c) = *from.add(c * S::LANES + k) };
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
