//! Products of scalars with vectors.

// Tile positions are clearer as indices.
#![allow(clippy::needless_range_loop)]

use std::mem::MaybeUninit;

use super::even;
use super::operands::{ScalarStrides, Scalars, View};
use crate::Activation;
use crate::simd::{Element, Kernel, Level, Simd};

/// What is added to the entries of a product.
#[derive(Clone, Copy)]
pub(crate) enum Bias<'a, E> {
    /// Nothing.
    None,
    /// One number a vector: `.0[m · .1.0 + n · .1.1]`.
    Spread(&'a [E], (usize, usize)),
    /// Rows of numbers that lie as those of C do in its vectors, without gaps: so many a row.
    Rows(&'a [E], usize),
}

/// What happens to a sum before it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, E> {
    /// The sum begins with what stands in the target already.
    pub(crate) go_on: bool,
    /// Add what stands in the target already to the sum.
    pub(crate) add: bool,
    /// Add this.
    pub(crate) bias: Bias<'a, E>,
    /// Then apply this.
    pub(crate) activation: Activation,
    /// What comes next lies far away: bring it near, little by little, while the sums are computed.
    pub(crate) fetch: &'a [E],
}

impl<'a, E> Finish<'a, E> {
    /// Store the sum as it is.
    pub(crate) const STORE: Self =
        Self { go_on: false, add: false, bias: Bias::None, activation: Activation::Identity, fetch: &[] };
    /// Add the sum to what is there.
    pub(crate) const ADD: Self = Self { add: true, ..Self::STORE };
    /// Go on with the sum that is there.
    pub(crate) const GO_ON: Self = Self { go_on: true, ..Self::STORE };

    /// The same, fetching this meanwhile.
    pub(crate) fn fetch(self, fetch: &'a [E]) -> Self {
        Self { fetch, ..self }
    }
}

/// Several products of the same sizes; A, B and C of two of them lie `steps` apart.
#[derive(Clone, Copy)]
pub(crate) struct Stack {
    pub(crate) count: usize,
    pub(crate) steps: [usize; 3],
}

impl Stack {
    pub(super) const ONE: Self = Self { count: 1, steps: [0; 3] };
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
    let numbers = count * level.lanes::<E>();
    outer_stack(level, Stack::ONE, a, b, numbers, c, c_strides, finish);
}

/// [`outer`] for products one after the other. A row of C has so many `numbers`: where they are no whole vectors, C
/// may end with them.
#[allow(clippy::too_many_arguments)]
pub(crate) fn outer_stack<E: Element>(
    level: Level,
    stack: Stack,
    a: Scalars<E>,
    b: View<E>,
    numbers: usize,
    c: &mut [E],
    c_strides: (usize, usize),
    finish: Finish<E>,
) {
    struct Run<E>(OuterArgs<E>);
    impl<E: Element> Kernel<E> for Run<E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, simd: S) {
            // SAFETY: `outer_stack` has checked every bound.
            unsafe { simd.outer(&self.0) }
        }
    }
    let lanes = level.lanes::<E>();
    let count = numbers.div_ceil(lanes);
    let last_numbers = numbers - (count.max(1) - 1) * lanes;
    let last = |i: usize, j: usize, strides: (usize, usize)| (i - 1) * strides.0 + (j - 1) * strides.1;
    let ((rows, depth), Stack { count: products, steps }) = (a.sizes, stack);
    assert!(rows > 0 && depth > 0 && numbers > 0 && products > 0, "a product needs every side");
    let [a_reach, b_reach, c_reach] = steps.map(|step| (products - 1) * step);
    assert!(a_reach == 0 || a.packed.is_none(), "packed for one product");
    let a_last = if a.packed.is_some() { 0 } else { last(rows, depth, (a.strides.row, a.strides.depth)) };
    assert!(a_reach + a_last < a.data.len(), "a is too short");
    assert!(b_reach + last(depth, count, b.strides) + lanes <= b.data.len(), "b is too short");
    assert!(c_reach + last(rows, count, c_strides) + last_numbers <= c.len(), "c is too short");
    let (bias, bias_strides, bias_last) = match finish.bias {
        Bias::None => (std::ptr::null(), (0, 0), 0),
        Bias::Spread(bias, strides) => {
            assert!(last(rows, count, strides) < bias.len(), "the bias is too short");
            (bias.as_ptr(), strides, 0)
        }
        Bias::Rows(bias, width) => {
            assert!(rows * width <= bias.len() && width.div_ceil(lanes) == count, "the bias is too short");
            (bias.as_ptr(), (width, lanes), width - (count - 1) * lanes)
        }
    };
    level.run(Run(OuterArgs {
        products,
        steps,
        m: rows,
        n: count,
        k: depth,
        a: a.data.as_ptr(),
        a_strides: a.strides,
        packed: a.packed,
        b: b.data.as_ptr(),
        b_strides: b.strides,
        c: c.as_mut_ptr(),
        c_strides,
        c_last: last_numbers,
        go_on: finish.go_on,
        add: finish.add,
        bias,
        bias_strides,
        bias_last,
        activation: finish.activation,
        fetch: finish.fetch.as_ptr(),
        fetch_count: finish.fetch.len(),
    }));
}

/// The arguments of [`outer`], checked.
pub struct OuterArgs<E> {
    products: usize,
    steps: [usize; 3],
    m: usize,
    n: usize,
    k: usize,
    a: *const E,
    a_strides: ScalarStrides,
    packed: Option<usize>,
    b: *const E,
    b_strides: (usize, usize),
    c: *mut E,
    c_strides: (usize, usize),
    /// Numbers in the last vector of a row of C.
    c_last: usize,
    go_on: bool,
    add: bool,
    bias: *const E,
    bias_strides: (usize, usize),
    /// Numbers in the last vector of a row of the bias; 0 where each is spread over a vector.
    bias_last: usize,
    activation: Activation,
    fetch: *const E,
    fetch_count: usize,
}

/// Room for the sums of a tile: 24 of 16 lanes.
#[repr(align(64))]
struct Room<E>(MaybeUninit<[E; 24 * 16]>);

/// [`outer`] with register tiles of at most `NR` vectors and `SUMS` sums. Rows were packed by as many as go with `NR`.
///
/// # Safety
/// All that the arguments point at is there, and C overlaps neither A, B nor the bias.
#[inline(always)]
pub unsafe fn outer_tiles<S: Simd, const NR: usize, const SUMS: usize>(s: S, args: &OuterArgs<S::Elem>) {
    const { assert!(SUMS * S::LANES <= 24 * 16) }
    // A match over constants knows tiles of up to 8 rows.
    const MOST_ROWS: usize = 8;
    let line = 64 / size_of::<S::Elem>();
    let tiles = args.m.div_ceil(SUMS / NR) * args.n.div_ceil(NR) * args.products;
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
        // Columns outside: a panel of B, k × NR vectors, stays in the first-level cache while A passes by.
        for [n, end] in even(args.n.div_ceil(NR), args.n) {
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

/// One register tile of [`outer`], `M`×`N`. Where it matters it is a function of its own: among others the compiler would run
/// out of registers. Every loop is so short that it is unrolled: one that is not would keep the sums in memory.
///
/// # Safety
/// As for [`outer`].
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
/// As for [`outer`].
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
/// As for [`outer`].
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
/// As for [`outer`].
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

/// `count` numbers, the other lanes 0.
///
/// # Safety
/// `from` is valid for reading `count` numbers.
#[inline(always)]
pub(crate) unsafe fn load<S: Simd>(s: S, from: *const S::Elem, count: usize) -> S::V {
    // SAFETY: as the caller vouches.
    unsafe { if count == S::LANES { s.load(from) } else { s.load_first(from, count) } }
}

/// Writes the first `count` lanes.
///
/// # Safety
/// `to` is valid for writing `count` numbers.
#[inline(always)]
pub(crate) unsafe fn store<S: Simd>(s: S, to: *mut S::Elem, value: S::V, count: usize) {
    // SAFETY: as the caller vouches.
    unsafe { if count == S::LANES { s.store(to, value) } else { s.store_first(to, value, count) } }
}
