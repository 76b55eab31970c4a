//! The two products everything is made of, on samples laid side by side in the lanes of vectors.
//!
//! With a sample a lane (see [`block`](crate::block)) there are no left-over columns to mask: a side of
//! 50 or 1 costs no more than its flops. A map by weights is [`outer`]: each weight is spread over the
//! lanes and multiplied by a vector of samples. A gradient of weights is [`inner`]: vectors of samples
//! are multiplied and, at the very end, their lanes summed.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use crate::Activation;
use crate::simd::{Element, Kernel, Level, Simd};

/// Weights in the order in which [`outer`] reads them: tiles of `tile` rows, depth running outside.
#[derive(Debug)]
pub(crate) struct Packed<E> {
    data: Vec<E>,
    tile: usize,
    rows: usize,
    depth: usize,
}

impl<E: Element> Packed<E> {
    /// Packs A\[m, k\] = `weights[m · m_stride + k · k_stride]`.
    pub(crate) fn new(
        level: Level,
        weights: &[E],
        (rows, m_stride): (usize, usize),
        (depth, k_stride): (usize, usize),
    ) -> Self {
        let tile = level.tile_rows::<E>();
        let mut data = Vec::with_capacity(rows.next_multiple_of(tile) * depth);
        for first in (0..rows).step_by(tile) {
            for k in 0..depth {
                for m in first..first + tile {
                    let weight = if m < rows { weights[m * m_stride + k * k_stride] } else { E::ZERO };
                    data.push(weight);
                }
            }
        }
        Self { data, tile, rows, depth }
    }
}

/// The scalar operand of [`outer`]: A\[m, k\], where m = m₀ + i lies i within its tile, stands at
/// `m₀ · tile + i · row + k · depth`.
#[derive(Clone, Copy)]
pub(crate) struct Scalars<'a, E> {
    data: &'a [E],
    sizes: (usize, usize),
    strides: ScalarStrides,
}

#[derive(Clone, Copy)]
struct ScalarStrides {
    tile: usize,
    row: usize,
    depth: usize,
}

impl<'a, E> From<&'a Packed<E>> for Scalars<'a, E> {
    fn from(packed: &'a Packed<E>) -> Self {
        Self {
            data: &packed.data,
            sizes: (packed.rows, packed.depth),
            strides: ScalarStrides { tile: packed.depth, row: 1, depth: packed.tile },
        }
    }
}

impl<'a, E> Scalars<'a, E> {
    /// A\[m, k\] = `data[m · row + k · depth]`, as it stands.
    pub(crate) fn plain(data: &'a [E], (rows, row): (usize, usize), (depth, step): (usize, usize)) -> Self {
        assert!((rows - 1) * row + (depth - 1) * step < data.len(), "a is too short");
        Self { data, sizes: (rows, depth), strides: ScalarStrides { tile: row, row, depth: step } }
    }
}

/// A matrix of vectors for reading: entry (i, j) stands at `i · strides.0 + j · strides.1`.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, E> {
    pub(crate) data: &'a [E],
    pub(crate) strides: (usize, usize),
}

/// What happens to a sum before it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, E> {
    /// Add what stands in the target already.
    pub(crate) add: bool,
    /// Add `bias[m · strides.0 + n · strides.1]`.
    pub(crate) bias: Option<(&'a [E], (usize, usize))>,
    /// Then apply this.
    pub(crate) activation: Activation,
    /// What comes next lies far away: bring it near, little by little, while the sums are computed.
    pub(crate) fetch: &'a [E],
}

impl<'a, E> Finish<'a, E> {
    /// Store the sum as it is.
    pub(crate) const STORE: Self =
        Self { add: false, bias: None, activation: Activation::Identity, fetch: &[] };
    /// Add the sum to what is there.
    pub(crate) const ADD: Self = Self { add: true, ..Self::STORE };

    /// The same, fetching this meanwhile.
    pub(crate) fn fetch(self, fetch: &'a [E]) -> Self {
        Self { fetch, ..self }
    }
}

/// C\[m, n\] = finish(Σₖ A\[m, k\] · B\[k, n\]) for scalar A and vectors B, C.
///
/// `b` is viewed as (k, n), `c` as (m, n) with `c_strides`; C has `count` columns n.
pub(crate) fn outer<E: Element>(
    level: Level,
    a: Scalars<E>,
    b: View<E>,
    count: usize,
    c: &mut [E],
    c_strides: (usize, usize),
    finish: Finish<E>,
) {
    struct Run<E>(OuterArgs<E>);
    impl<E: Element> Kernel<E> for Run<E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, simd: S) {
            // SAFETY: `outer` has checked every bound.
            unsafe { simd.outer(&self.0) }
        }
    }
    let lanes = level.lanes::<E>();
    let last = |i: usize, j: usize, strides: (usize, usize)| (i - 1) * strides.0 + (j - 1) * strides.1;
    let (rows, depth) = a.sizes;
    assert!(rows > 0 && depth > 0 && count > 0, "a product needs every side");
    assert!(last(depth, count, b.strides) + lanes <= b.data.len(), "b is too short");
    assert!(last(rows, count, c_strides) + lanes <= c.len(), "c is too short");
    let bias = finish.bias.map_or((std::ptr::null(), (0, 0)), |(bias, strides)| {
        assert!(last(rows, count, strides) < bias.len(), "the bias is too short");
        (bias.as_ptr(), strides)
    });
    level.run(Run(OuterArgs {
        m: rows,
        n: count,
        k: depth,
        a: a.data.as_ptr(),
        a_strides: a.strides,
        b: b.data.as_ptr(),
        b_strides: b.strides,
        c: c.as_mut_ptr(),
        c_strides,
        add: finish.add,
        bias: bias.0,
        bias_strides: bias.1,
        activation: finish.activation,
        fetch: finish.fetch.as_ptr(),
        fetch_count: finish.fetch.len(),
    }));
}

/// The arguments of [`outer`], checked.
pub struct OuterArgs<E> {
    m: usize,
    n: usize,
    k: usize,
    a: *const E,
    a_strides: ScalarStrides,
    b: *const E,
    b_strides: (usize, usize),
    c: *mut E,
    c_strides: (usize, usize),
    add: bool,
    bias: *const E,
    bias_strides: (usize, usize),
    activation: Activation,
    fetch: *const E,
    fetch_count: usize,
}

/// Calls `$kernel` with the constants that fit a tile of `$m`×`$n`, at most `MR`×`NR`.
macro_rules! tile {
    ($m:expr, $n:expr, $kernel:ident::<$s:ty>($($arg:expr),*)) => {
        match $m {
            1 => tile!(@n $n, $kernel::<$s, 1>($($arg),*)),
            2 if MR >= 2 => tile!(@n $n, $kernel::<$s, 2>($($arg),*)),
            3 if MR >= 3 => tile!(@n $n, $kernel::<$s, 3>($($arg),*)),
            4 if MR >= 4 => tile!(@n $n, $kernel::<$s, 4>($($arg),*)),
            5 if MR >= 5 => tile!(@n $n, $kernel::<$s, 5>($($arg),*)),
            6 if MR >= 6 => tile!(@n $n, $kernel::<$s, 6>($($arg),*)),
            7 if MR >= 7 => tile!(@n $n, $kernel::<$s, 7>($($arg),*)),
            8 if MR >= 8 => tile!(@n $n, $kernel::<$s, 8>($($arg),*)),
            _ => unreachable!(),
        }
    };
    (@n $n:expr, $kernel:ident::<$s:ty, $m:literal>($($arg:expr),*)) => {
        match $n {
            1 => $kernel::<$s, $m, 1>($($arg),*),
            2 => $kernel::<$s, $m, 2>($($arg),*),
            3 if NR >= 3 => $kernel::<$s, $m, 3>($($arg),*),
            4 if NR >= 4 => $kernel::<$s, $m, 4>($($arg),*),
            _ => unreachable!(),
        }
    };
}

/// Cuts `length` into so many pieces, as even as can be: a last piece of 1 would leave most registers idle.
#[inline(always)]
pub(crate) fn even(count: usize, length: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).map(move |at| [at * length / count, (at + 1) * length / count])
}

/// [`outer`] with a register tile of `MR`×`NR`.
///
/// # Safety
/// All that the arguments point at is there, and C overlaps neither A, B nor the bias.
#[inline(always)]
pub(crate) unsafe fn outer_tiles<S: Simd, const MR: usize, const NR: usize>(s: S, args: &OuterArgs<S::Elem>) {
    let line = 64 / size_of::<S::Elem>();
    let tiles = args.m.div_ceil(MR) * args.n.div_ceil(NR);
    let lines = args.fetch_count.div_ceil(line).div_ceil(tiles);
    let mut fetch = args.fetch;
    // Columns outside: a panel of B, k × NR vectors, stays in the first-level cache while A passes by.
    for [n, end] in even(args.n.div_ceil(NR), args.n) {
        for m in (0..args.m).step_by(MR) {
            for _ in 0..lines {
                s.prefetch(fetch);
                fetch = fetch.wrapping_add(line);
            }
            let (rows, cols) = ((args.m - m).min(MR), end - n);
            // SAFETY: the tile lies within C, as the caller vouches. Rows of A are neighbours in all but
            // single-sample products, and the compiler makes more of a constant.
            unsafe {
                if args.a_strides.row == 1 {
                    tile!(rows, cols, outer_tile::<S>(s, args, 1, m, n));
                } else {
                    tile!(rows, cols, outer_tile::<S>(s, args, args.a_strides.row, m, n));
                }
            }
        }
    }
}

/// One register tile of [`outer`], `M`×`N` at (m0, n0).
///
/// # Safety
/// As for [`outer`].
#[inline(always)]
unsafe fn outer_tile<S: Simd, const M: usize, const N: usize>(
    s: S,
    args: &OuterArgs<S::Elem>,
    a_row: usize,
    m0: usize,
    n0: usize,
) {
    let zero = s.splat(S::Elem::ZERO);
    let mut sums = [[zero; N]; M];
    // SAFETY: all offsets are of entries that the caller vouches for.
    unsafe {
        let mut a = args.a.add(m0 * args.a_strides.tile);
        let mut b = args.b.add(n0 * args.b_strides.1);
        for _ in 0..args.k {
            let mut column = [zero; N];
            for j in 0..N {
                column[j] = s.load(b.add(j * args.b_strides.1));
            }
            for i in 0..M {
                let weight = s.splat(*a.add(i * a_row));
                for j in 0..N {
                    sums[i][j] = s.mul_add(weight, column[j], sums[i][j]);
                }
            }
            a = a.wrapping_add(args.a_strides.depth);
            b = b.wrapping_add(args.b_strides.0);
        }
        for i in 0..M {
            for j in 0..N {
                let c = args.c.add((m0 + i) * args.c_strides.0 + (n0 + j) * args.c_strides.1);
                let mut sum = sums[i][j];
                if args.add {
                    sum = s.add(sum, s.load(c));
                }
                if !args.bias.is_null() {
                    let at = (m0 + i) * args.bias_strides.0 + (n0 + j) * args.bias_strides.1;
                    sum = s.add(sum, s.splat(*args.bias.add(at)));
                }
                s.store(c, args.activation.apply(s, sum));
            }
        }
    }
}

/// D\[m, n\] += Σₖ Σ_lanes P\[m, k\] · Q\[n, k\] for vectors P, Q and scalar D, stored row by row.
///
/// `p` is viewed as (m, k), `q` as (n, k); `sizes` are (m, n, k).
pub(crate) fn inner<E: Element>(
    level: Level,
    sizes: (usize, usize, usize),
    p: View<E>,
    q: View<E>,
    d: &mut [E],
) {
    struct Run<E>(InnerArgs<E>);
    impl<E: Element> Kernel<E> for Run<E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, simd: S) {
            // SAFETY: `inner` has checked every bound.
            unsafe { simd.inner(&self.0) }
        }
    }
    let (m, n, k) = sizes;
    let lanes = level.lanes::<E>();
    let last = |i: usize, strides: (usize, usize)| (i - 1) * strides.0 + (k - 1) * strides.1 + lanes;
    assert!(m > 0 && n > 0 && k > 0, "a product needs every side");
    assert!(last(m, p.strides) <= p.data.len(), "p is too short");
    assert!(last(n, q.strides) <= q.data.len(), "q is too short");
    assert!(m * n <= d.len(), "d is too short");
    level.run(Run(InnerArgs {
        sizes,
        p: p.data.as_ptr(),
        p_strides: p.strides,
        q: q.data.as_ptr(),
        q_strides: q.strides,
        d: d.as_mut_ptr(),
    }));
}

/// The arguments of [`inner`], checked.
pub struct InnerArgs<E> {
    sizes: (usize, usize, usize),
    p: *const E,
    p_strides: (usize, usize),
    q: *const E,
    q_strides: (usize, usize),
    d: *mut E,
}

/// Bytes of Q that [`inner`] holds near: most of a second-level cache.
const Q_NEAR: usize = 512 << 10;

/// [`inner`] with a register tile of `MR`×`NR`.
///
/// # Safety
/// All that the arguments point at is there, and D overlaps neither P nor Q.
#[inline(always)]
pub(crate) unsafe fn inner_tiles<S: Simd, const MR: usize, const NR: usize>(s: S, args: &InnerArgs<S::Elem>) {
    let (m_count, n_count, depth) = args.sizes;
    // Q passes by once for every few rows of P, so a piece of the depth is taken that lets all of Q stay near.
    let slice = n_count * S::LANES * size_of::<S::Elem>();
    for k in even((depth * slice).div_ceil(Q_NEAR), depth) {
        for m in (0..m_count).step_by(MR) {
            for n in (0..n_count).step_by(NR) {
                let (rows, cols) = ((m_count - m).min(MR), (n_count - n).min(NR));
                // SAFETY: the tile lies within D, as the caller vouches.
                unsafe { tile!(rows, cols, inner_tile::<S>(s, args, m, n, k)) }
            }
        }
    }
}

/// One register tile of [`inner`], `M`×`N` at (m0, n0), over a piece of the depth.
///
/// # Safety
/// As for [`inner`].
#[inline(always)]
unsafe fn inner_tile<S: Simd, const M: usize, const N: usize>(
    s: S,
    args: &InnerArgs<S::Elem>,
    m0: usize,
    n0: usize,
    [k0, end]: [usize; 2],
) {
    let zero = s.splat(S::Elem::ZERO);
    let mut sums = [[zero; N]; M];
    let (_, n_count, _) = args.sizes;
    // SAFETY: all offsets are of entries that the caller vouches for.
    unsafe {
        let mut p = args.p.add(m0 * args.p_strides.0 + k0 * args.p_strides.1);
        let mut q = args.q.add(n0 * args.q_strides.0 + k0 * args.q_strides.1);
        for _ in k0..end {
            let mut column = [zero; N];
            for j in 0..N {
                column[j] = s.load(q.add(j * args.q_strides.0));
            }
            for i in 0..M {
                let row = s.load(p.add(i * args.p_strides.0));
                for j in 0..N {
                    sums[i][j] = s.mul_add(row, column[j], sums[i][j]);
                }
            }
            p = p.wrapping_add(args.p_strides.1);
            q = q.wrapping_add(args.q_strides.1);
        }
        for i in 0..M {
            for j in 0..N {
                *args.d.add((m0 + i) * n_count + n0 + j) += s.sum(sums[i][j]);
            }
        }
    }
}
