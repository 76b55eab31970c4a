//! Register tiles of products of scalars with vectors.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use std::mem::MaybeUninit;

use super::{Simd, even, load, store};
use crate::Activation;
use crate::vector::Number;

/// Where [`OuterArgs`] find A\[m, k\], m = m₀ + i being row i of its tile: at `m₀ · tile + i · row + k · depth`.
#[derive(Clone, Copy)]
pub struct ScalarStrides {
    pub(crate) tile: usize,
    pub(crate) row: usize,
    pub(crate) depth: usize,
}

/// The arguments of [`outer_tiles`], checked.
pub struct OuterArgs<E> {
    pub(crate) products: usize,
    pub(crate) steps: [usize; 3],
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: *const E,
    pub(crate) a_strides: ScalarStrides,
    pub(crate) packed: Option<usize>,
    pub(crate) b: *const E,
    pub(crate) b_strides: (usize, usize),
    pub(crate) c: *mut E,
    pub(crate) c_strides: (usize, usize),
    /// Numbers in the last vector of a row of C.
    pub(crate) c_last: usize,
    pub(crate) go_on: bool,
    pub(crate) add: bool,
    pub(crate) bias: *const E,
    pub(crate) bias_strides: (usize, usize),
    /// Numbers in the last vector of a row of the bias; 0 where each is spread over a vector.
    pub(crate) bias_last: usize,
    pub(crate) activation: Activation,
    pub(crate) fetch: *const E,
    pub(crate) fetch_count: usize,
    /// Bytes that a panel of B may take.
    pub(crate) near: usize,
}

/// Room for the sums of a tile: 25 of 16 lanes.
#[repr(align(64))]
struct Room<E>(MaybeUninit<[E; 25 * 16]>);

/// Products of scalars with vectors, by register tiles of at most `NR` vectors and `SUMS` sums. Rows were packed by as many as go with `NR`.
///
/// # Safety
/// All that the arguments point at is there, and C overlaps neither A, B nor the bias.
#[inline(always)]
pub unsafe fn outer_tiles<S: Simd, const NR: usize, const SUMS: usize>(s: S, args: &OuterArgs<S::Elem>) {
    const { assert!(SUMS * S::LANES <= 25 * 16) }
    // A match over constants knows tiles of up to 8 rows.
    const MOST_ROWS: usize = 8;
    let line = 64 / size_of::<S::Elem>();
    // A panel of B stays in the first-level cache while A passes by; one that does not fit had better be narrow.
    let widest = if args.k * NR * S::LANES * size_of::<S::Elem>() <= args.near { NR } else { NR - 1 };
    let panels = args.n.div_ceil(widest);
    let tiles = args.m.div_ceil(SUMS / NR) * panels * args.products;
    let lines = args.fetch_count.div_ceil(line).div_ceil(tiles);
    let mut fetch = args.fetch;
    let mut room = Room::<S::Elem>(MaybeUninit::uninit());
    let room = room.0.as_mut_ptr().cast();
    let squash = matches!(args.activation, Activation::Sigmoid | Activation::Tanh);
    let mut tile = Tile {
        k: args.k,
        a: args.a,
        a_strides: (args.a_strides.row, args.a_strides.depth),
        b: args.b,
        b_strides: args.b_strides,
        go_on: args.go_on,
        from: (args.c, args.c_strides),
        add: args.add,
        bias: args.bias,
        bias_strides: args.bias_strides,
        spread: args.bias_last == 0,
        relu: args.activation == Activation::Relu,
        to: (args.c, args.c_strides),
    };
    for product in 0..args.products {
        // So columns are outside.
        for [n, end] in even(panels, args.n) {
            let cols = end - n;
            let most = args.packed.unwrap_or((SUMS / cols).min(MOST_ROWS));
            // Vectors that are not whole take a detour, and so does what is more than a few instructions.
            let short = end == args.n && args.c_last < S::LANES;
            let bias_ends = end == args.n && args.bias_last > 0;
            let in_room = (room, (cols * S::LANES, S::LANES));
            let mut m = 0;
            let mut left = args.m.div_ceil(most);
            tile.b = args.b.wrapping_add(product * args.steps[1] + n * args.b_strides.1);
            while m < args.m {
                for _ in 0..lines {
                    s.prefetch(fetch);
                    fetch = fetch.wrapping_add(line);
                }
                let rows =
                    if args.packed.is_some() { most.min(args.m - m) } else { (args.m - m).div_ceil(left) };
                let c = product * args.steps[2] + m * args.c_strides.0 + n * args.c_strides.1;
                let c = args.c.wrapping_add(c);
                tile.a = args.a.wrapping_add(product * args.steps[0] + m * args.a_strides.tile);
                (tile.from.0, tile.to.0) = (c, c);
                // SAFETY: the tile lies within C, as the caller vouches.
                unsafe {
                    if !(squash || short || bias_ends && m + rows == args.m) {
                        if !args.bias.is_null() {
                            tile.bias = args.bias.add(m * args.bias_strides.0 + n * args.bias_strides.1);
                        }
                        s.outer_tile([rows, cols], &tile);
                    } else {
                        let from = if short { in_room } else { (c, args.c_strides) };
                        if args.go_on && short {
                            begin(s, args, c, room, [rows, cols]);
                        }
                        let bare = Tile {
                            from,
                            add: false,
                            bias: std::ptr::null(),
                            relu: false,
                            to: in_room,
                            ..tile
                        };
                        s.outer_tile([rows, cols], &bare);
                        finish_tile(s, args, c, room, [m, n, rows, cols]);
                    }
                }
                m += rows;
                left -= 1;
            }
        }
    }
}

/// What a register tile reads and writes.
#[derive(Clone, Copy)]
pub struct Tile<E> {
    k: usize,
    a: *const E,
    a_strides: (usize, usize),
    b: *const E,
    b_strides: (usize, usize),
    /// The sums begin with what stands in `from`, and not with zeros.
    go_on: bool,
    from: (*mut E, (usize, usize)),
    /// Add what stands in `to`.
    add: bool,
    /// Null for none.
    bias: *const E,
    bias_strides: (usize, usize),
    /// A bias is one number a vector.
    spread: bool,
    relu: bool,
    to: (*mut E, (usize, usize)),
}

/// One register tile of [`outer_tiles`], `M`×`N`. Where it matters it is a function of its own: among others the compiler would run
/// out of registers. Every loop is so short that it is unrolled: one that is not would keep the sums in memory.
///
/// # Safety
/// As for [`outer_tiles`].
#[inline(always)]
pub unsafe fn outer_tile<S: Simd, const M: usize, const N: usize>(s: S, tile: &Tile<S::Elem>) {
    let zero = s.splat(S::Elem::ZERO);
    let mut sums = [[zero; N]; M];
    // SAFETY: all offsets are of entries that the caller vouches for.
    unsafe {
        if tile.go_on {
            let (from, strides) = tile.from;
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = s.load(from.add(i * strides.0 + j * strides.1));
                }
            }
        }
        // Rows of A are neighbours in most products, and the compiler makes more of a constant.
        if tile.a_strides.0 == 1 {
            add_products(s, tile, 1, &mut sums);
        } else {
            add_products(s, tile, tile.a_strides.0, &mut sums);
        }
        let (to, strides) = tile.to;
        if tile.add {
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = s.add(sums[i][j], s.load(to.add(i * strides.0 + j * strides.1)));
                }
            }
        }
        if !tile.bias.is_null() {
            let at = |i: usize, j: usize| tile.bias.add(i * tile.bias_strides.0 + j * tile.bias_strides.1);
            if tile.spread {
                for i in 0..M {
                    for j in 0..N {
                        sums[i][j] = s.add(sums[i][j], s.splat(*at(i, j)));
                    }
                }
            } else {
                for i in 0..M {
                    for j in 0..N {
                        sums[i][j] = s.add(sums[i][j], s.load(at(i, j)));
                    }
                }
            }
        }
        if tile.relu {
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = s.relu(sums[i][j]);
                }
            }
        }
        for i in 0..M {
            for j in 0..N {
                s.store(to.add(i * strides.0 + j * strides.1), sums[i][j]);
            }
        }
    }
}

/// The sums over k of one tile.
///
/// # Safety
/// As for [`outer_tiles`].
#[inline(always)]
unsafe fn add_products<S: Simd, const M: usize, const N: usize>(
    s: S,
    tile: &Tile<S::Elem>,
    a_row: usize,
    sums: &mut [[S::V; N]; M],
) {
    let (mut a, mut b) = (tile.a, tile.b);
    for _ in 0..tile.k {
        let mut column = [s.splat(S::Elem::ZERO); N];
        // SAFETY: all offsets are of entries that the caller vouches for.
        unsafe {
            for j in 0..N {
                column[j] = s.load(b.add(j * tile.b_strides.1));
            }
            for i in 0..M {
                let weight = s.splat(*a.add(i * a_row));
                for j in 0..N {
                    sums[i][j] = s.mul_add(weight, column[j], sums[i][j]);
                }
            }
        }
        a = a.wrapping_add(tile.a_strides.1);
        b = b.wrapping_add(tile.b_strides.0);
    }
}

/// Puts what stands in C at `from` into the room, where a tile of the last columns begins with it.
///
/// # Safety
/// As for [`outer_tiles`].
#[inline(always)]
unsafe fn begin<S: Simd>(
    s: S,
    args: &OuterArgs<S::Elem>,
    from: *const S::Elem,
    mut room: *mut S::Elem,
    [rows, cols]: [usize; 2],
) {
    for i in 0..rows {
        for j in 0..cols {
            let count = if j + 1 == cols { args.c_last } else { S::LANES };
            // SAFETY: the entry lies within C, and the room holds a tile.
            unsafe {
                s.store(room, load(s, from.add(i * args.c_strides.0 + j * args.c_strides.1), count));
                room = room.add(S::LANES);
            }
        }
    }
}

/// Takes the sums of a tile from the room to C at `to`.
///
/// # Safety
/// As for [`outer_tiles`].
#[inline(always)]
unsafe fn finish_tile<S: Simd>(
    s: S,
    args: &OuterArgs<S::Elem>,
    to: *mut S::Elem,
    mut room: *const S::Elem,
    [m, n, rows, cols]: [usize; 4],
) {
    for i in 0..rows {
        for j in 0..cols {
            let last = n + j + 1 == args.n;
            let count = if last { args.c_last } else { S::LANES };
            // SAFETY: the entry lies within C, the bias is there for all of them, and the room holds a tile.
            unsafe {
                let to = to.add(i * args.c_strides.0 + j * args.c_strides.1);
                let mut sum = s.load(room);
                room = room.add(S::LANES);
                if args.add {
                    sum = s.add(sum, load(s, to, count));
                }
                if !args.bias.is_null() {
                    let bias = (m + i) * args.bias_strides.0 + (n + j) * args.bias_strides.1;
                    let bias = args.bias.add(bias);
                    sum = s.add(
                        sum,
                        match args.bias_last {
                            0 => s.splat(*bias),
                            numbers => load(s, bias, if last { numbers } else { S::LANES }),
                        },
                    );
                }
                store(s, to, args.activation.apply(s, sum), count);
            }
        }
    }
}
