//! One thread's share of a dense product: register tiles, packed panels, blocks for the caches.

use super::pack::{pack_a, pack_b};
use super::{even, load, store};
use crate::Activation;
use crate::vector::{Number, Vector};

/// Bytes of a packed panel of B: most of a first-level cache.
const PANEL: usize = 32 << 10;
/// Rows of A that are packed at once. With [`PANEL`] they take half of a second-level cache.
const ROWS: usize = 240;
/// Rows of B in a panel at most.
const DEEPEST: usize = 512;
/// Rows of B that are taken together where they are read once and not packed: so few that the tiles of one step and
/// those of the next overlap, so many that the sums are seldom loaded and stored. `time_product 1 2000 2000` shows it.
const FEW_ROWS: usize = 16;

/// The arguments of [`block`]: entry (i, j) of a matrix stands at `i · row + j · col`.
pub struct BlockArgs<E> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: *const E,
    pub(crate) a_row: usize,
    pub(crate) a_col: usize,
    pub(crate) b: *const E,
    pub(crate) b_row: usize,
    pub(crate) b_col: usize,
    pub(crate) c: *mut E,
    pub(crate) c_row: usize,
    /// Begin with the entries of C, not with 0.
    pub(crate) add: bool,
    /// n numbers, or null.
    pub(crate) bias: *const E,
    pub(crate) activation: Activation,
    /// [`scratch`] numbers, aligned to a cache line.
    pub(crate) scratch: *mut E,
}

/// How many rows of B make a packed panel of this many vectors.
const fn depth<S: Vector>(vectors: usize) -> usize {
    let depth = PANEL / (vectors * S::LANES * size_of::<S::Elem>());
    if depth < DEEPEST { depth } else { DEEPEST }
}

/// How many numbers of scratch [`block`] needs at most, whatever the vectors of the CPU are.
pub(crate) fn scratch<E: Number>(m: usize, k: usize) -> usize {
    PANEL / size_of::<E>() + m.min(ROWS) * k.min(DEEPEST)
}

/// C = f(A·B + bias), or f(C + A·B + bias): every entry is one chain of fused multiply-adds in the order of k.
///
/// # Safety
/// All that the arguments point at is there, no side is 0, and C overlaps nothing else.
#[inline(always)]
pub unsafe fn block<S: Vector, const MR: usize, const NR: usize>(s: S, args: &BlockArgs<S::Elem>) {
    let &BlockArgs { m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, .. } = args;
    let vectors = n.div_ceil(S::LANES);
    let panels = || even(vectors.div_ceil(NR), vectors);
    // SAFETY: all offsets are of entries within the matrices, or within the scratch as `scratch` measures it.
    unsafe {
        if m <= MR && b_col == 1 {
            let pieces = if m <= 2 { k.div_ceil(FEW_ROWS) } else { 1 };
            // Whole vectors first, then what is left of a row.
            let whole = n / S::LANES;
            for [k0, k1] in even(pieces, k) {
                let tile = |at: usize, last: usize| Tile {
                    k: k1 - k0,
                    a: a.add(k0 * a_col),
                    a_row,
                    a_col,
                    b: b.add(k0 * b_row + at),
                    b_row,
                    c: c.add(at),
                    c_row,
                    add: args.add || k0 > 0,
                    last,
                };
                for [v0, v1] in even(whole.div_ceil(NR), whole) {
                    choose::<S, MR, NR>(s, m, v1 - v0, &tile(v0 * S::LANES, S::LANES));
                }
                if whole < vectors {
                    let at = whole * S::LANES;
                    choose_edge::<S, MR>(s, m, &tile(at, n - at));
                }
            }
            return finish(s, args, [0, m], [0, n]);
        }
        let panel = args.scratch;
        let packed = panel.add(PANEL / size_of::<S::Elem>());
        let kc = depth::<S>(NR.min(vectors));
        for [r0, r1] in even(m.div_ceil(ROWS), m) {
            let tiles = || even((r1 - r0).div_ceil(MR), r1 - r0);
            for [k0, k1] in even(k.div_ceil(kc), k) {
                let depth = k1 - k0;
                // Rows that lie along k are read as they are; of others, only the packed ones are near each other.
                let pack = a_col != 1;
                if pack {
                    for [t0, t1] in tiles() {
                        let from = a.add((r0 + t0) * a_row + k0 * a_col);
                        pack_a(from, [a_row, a_col], [t1 - t0, depth], packed.add(t0 * depth));
                    }
                }
                for [v0, v1] in panels() {
                    let (at, width) = (v0 * S::LANES, (v1 - v0) * S::LANES);
                    let cols = (n - at).min(width);
                    pack_b(s, b.add(k0 * b_row + at * b_col), [b_row, b_col], [depth, cols], width, panel);
                    for [t0, t1] in tiles() {
                        let row = r0 + t0;
                        let (a, a_row, a_col) = if pack {
                            (packed.cast_const().add(t0 * depth), 1, t1 - t0)
                        } else {
                            (a.add(row * a_row + k0), a_row, 1)
                        };
                        let tile = Tile {
                            k: depth,
                            a,
                            a_row,
                            a_col,
                            b: panel,
                            b_row: width,
                            c: c.add(row * c_row + at),
                            c_row,
                            add: args.add || k0 > 0,
                            last: cols - (v1 - v0 - 1) * S::LANES,
                        };
                        choose::<S, MR, NR>(s, t1 - t0, v1 - v0, &tile);
                        if k1 == k {
                            finish(s, args, [row, r0 + t1], [at, at + cols]);
                        }
                    }
                }
            }
        }
    }
}

/// C = f(C + bias) for these rows and columns, which have just been computed.
///
/// # Safety
/// As for [`block`].
#[inline(always)]
unsafe fn finish<S: Vector>(
    s: S,
    args: &BlockArgs<S::Elem>,
    [row, end]: [usize; 2],
    [first, last]: [usize; 2],
) {
    if args.bias.is_null() && args.activation == Activation::Identity {
        return;
    }
    for row in row..end {
        for at in (first..last).step_by(S::LANES) {
            let count = (last - at).min(S::LANES);
            // SAFETY: `count` entries of C and of the bias begin here.
            unsafe {
                let c = args.c.add(row * args.c_row + at);
                let mut sum = load(s, c, count);
                if !args.bias.is_null() {
                    sum = s.add(sum, load(s, args.bias.add(at), count));
                }
                store(s, c, args.activation.apply(s, sum), count);
            }
        }
    }
}

/// What a register tile reads and writes.
struct Tile<E> {
    k: usize,
    a: *const E,
    a_row: usize,
    a_col: usize,
    b: *const E,
    b_row: usize,
    c: *mut E,
    c_row: usize,
    add: bool,
    /// Numbers in the last vector of a row of C.
    last: usize,
}

/// [`tile`] of `m` rows, at most `MR`, and `n` vectors, at most `NR`.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn choose<S: Vector, const MR: usize, const NR: usize>(
    s: S,
    m: usize,
    n: usize,
    args: &Tile<S::Elem>,
) {
    macro_rules! tiles {
        ($($m:literal)*) => {
            match (m, n) {
                $(
                    ($m, 1) if $m <= MR => tile::<S, $m, 1, false>(s, args),
                    ($m, 2) if $m <= MR => tile::<S, $m, 2, false>(s, args),
                    ($m, 3) if $m <= MR && NR >= 3 => tile::<S, $m, 3, false>(s, args),
                )*
                _ => unreachable!("no tile of {m} rows and {n} vectors"),
            }
        };
    }
    // SAFETY: as the caller vouches.
    unsafe { tiles!(1 2 3 4 5 6 7 8) }
}

/// [`tile`] of `m` rows, at most `MR`, of one vector that is not full.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn choose_edge<S: Vector, const MR: usize>(s: S, m: usize, args: &Tile<S::Elem>) {
    macro_rules! tiles {
        ($($m:literal)*) => {
            match m {
                $($m if $m <= MR => tile::<S, $m, 1, true>(s, args),)*
                _ => unreachable!("no tile of {m} rows"),
            }
        };
    }
    // SAFETY: as the caller vouches.
    unsafe { tiles!(1 2 3 4 5 6 7 8) }
}

/// One register tile, `M` rows of `N` vectors. With `EDGE` the last vector of a row of B is as short as that of C.
///
/// # Safety
/// All that the arguments point at is there.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // Tile positions are clearer as indices.
unsafe fn tile<S: Vector, const M: usize, const N: usize, const EDGE: bool>(s: S, args: &Tile<S::Elem>) {
    let &Tile { k, a_row, a_col, b_row, c, c_row, last, .. } = args;
    let mut sums = [[s.splat(S::Elem::ZERO); N]; M];
    // SAFETY: all offsets are of entries that the caller vouches for.
    unsafe {
        if args.add {
            for i in 0..M {
                for j in 0..N {
                    let count = if j + 1 == N { last } else { S::LANES };
                    sums[i][j] = load(s, c.add(i * c_row + j * S::LANES), count);
                }
            }
        }
        let (mut a, mut b) = (args.a, args.b);
        for _ in 0..k {
            let mut row = [s.splat(S::Elem::ZERO); N];
            for j in 0..N {
                let from = b.add(j * S::LANES);
                row[j] = if EDGE && j + 1 == N { s.load_first(from, last) } else { s.load(from) };
            }
            for i in 0..M {
                let entry = s.splat(*a.add(i * a_row));
                for j in 0..N {
                    sums[i][j] = s.mul_add(entry, row[j], sums[i][j]);
                }
            }
            a = a.wrapping_add(a_col);
            b = b.wrapping_add(b_row);
        }
        for i in 0..M {
            for j in 0..N {
                let count = if j + 1 == N { last } else { S::LANES };
                store(s, c.add(i * c_row + j * S::LANES), sums[i][j], count);
            }
        }
    }
}
