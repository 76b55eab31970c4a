//! Dense products C = A·B of matrices of any size.
//!
//! The entries of a row of C lie in the lanes, and every entry is one chain of fused multiply-adds over k in ascending
//! order, whatever the blocks, the lanes and the threads: sums that do not fit into one block go on from what stands in C. So a
//! row of C depends on its row of A and on B alone, to the bit.

mod batched;
mod linear;

use rayon::prelude::*;

use crate::Activation;
use crate::parallel::with_scratch;
use crate::simd::{Element, Kernel, Level, Simd};
use crate::tile::{self, BlockArgs};

pub use batched::BatchedProduct;
pub use linear::{Linear, LinearGradients};

/// About so many multiplications are worth waking a thread for. With a quarter of it, `time_matmul 16 500 500` took longer on
/// two threads than on one.
const GRAIN: usize = 1 << 21;
/// Threads share a product in steps of so many rows and columns, which are whole tiles on every level.
const STEP: [usize; 2] = [24, 48];
/// A narrow and long C, as the weight gradient of a head is, is computed with its long side in the lanes: at most so many
/// columns, at least so many rows and terms. `time_product 64 2500 10` shows it.
const NARROW: usize = 12;
const LONG: usize = 256;
const DEEP: usize = 8;
/// Alignment of scratch, in bytes.
const LINE: usize = 64;

/// A matrix for reading: entry (i, j) stands at `i · strides.0 + j · strides.1`.
#[derive(Clone, Copy, Debug)]
pub struct MatrixView<'a, E> {
    data: &'a [E],
    rows: usize,
    cols: usize,
    strides: (usize, usize),
}

impl<'a, E: Element> MatrixView<'a, E> {
    /// The rows one after the other.
    ///
    /// # Panics
    ///
    /// If there are not `rows · cols` numbers.
    pub fn new(data: &'a [E], rows: usize, cols: usize) -> Self {
        assert_eq!(data.len(), rows * cols, "a matrix of {rows}×{cols}");
        Self { data, rows, cols, strides: (cols, 1) }
    }

    /// Rows that lie `stride` apart.
    ///
    /// # Panics
    ///
    /// If rows overlap, or the last one does not end within the data.
    pub fn strided(data: &'a [E], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(cols <= stride, "rows of {cols} numbers, {stride} apart");
        assert!(
            rows == 0 || (rows - 1) * stride + cols <= data.len(),
            "a matrix of {rows}×{cols}, rows {stride} apart"
        );
        Self { data, rows, cols, strides: (stride, 1) }
    }

    /// Rows and columns exchanged.
    pub fn transposed(self) -> Self {
        let (row, col) = self.strides;
        Self { rows: self.cols, cols: self.rows, strides: (col, row), ..self }
    }
}

/// What happens to A·B on its way into C.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, E> {
    /// Add to what stands in C.
    add: bool,
    /// Then add this to every row.
    bias: Option<&'a [E]>,
    /// Then apply this.
    activation: Activation,
}

impl<E> Finish<'_, E> {
    pub(crate) const STORE: Self = Self { add: false, bias: None, activation: Activation::Identity };
    pub(crate) const ADD: Self = Self { add: true, ..Self::STORE };
}

impl<'a, E> Finish<'a, E> {
    /// Store A·B + bias.
    pub(crate) fn bias(bias: &'a [E]) -> Self {
        Self { bias: Some(bias), ..Self::STORE }
    }
}

/// A·B, row by row.
///
/// # Panics
///
/// If A has another number of columns than B has rows.
pub fn product<E: Element>(level: Level, a: MatrixView<E>, b: MatrixView<E>) -> Vec<E> {
    let mut c = vec![E::ZERO; a.rows * b.cols];
    product_to(level, a, b, &mut c, Finish::STORE, rayon::current_num_threads());
    c
}

/// C = finish(A·B) on at most so many threads.
pub(crate) fn product_to<E: Element>(
    level: Level,
    a: MatrixView<E>,
    b: MatrixView<E>,
    c: &mut [E],
    finish: Finish<E>,
    threads: usize,
) {
    let (m, n, k) = (a.rows, b.cols, a.cols);
    assert_eq!(k, b.rows, "a product of {m}×{k} and {}×{n}", b.rows);
    assert_eq!(c.len(), m * n, "the product of {m}×{k} and {k}×{n} has another size");
    assert!(finish.bias.is_none_or(|bias| bias.len() == n), "a bias for {n} columns has another size");
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        // An empty sum; the tiles expect at least one term.
        let zeros = [vec![E::ZERO; m], vec![E::ZERO; n]];
        let (a, b) = (MatrixView::new(&zeros[0], m, 1), MatrixView::new(&zeros[1], 1, n));
        return product_to(level, a, b, c, finish, threads);
    }
    let plain = !finish.add && finish.bias.is_none() && finish.activation == Activation::Identity;
    if plain && n <= NARROW && m >= LONG && k >= DEEP && a.strides.0 == 1 && b.strides.1 == 1 {
        // Cᵀ = Bᵀ·Aᵀ: which factor of a product stands first changes no bit.
        let mut turned = vec![E::ZERO; m * n];
        product_to(level, b.transposed(), a.transposed(), &mut turned, Finish::STORE, threads);
        for (i, row) in c.chunks_exact_mut(n).enumerate() {
            row.iter_mut().zip(turned[i..].iter().step_by(m)).for_each(|(to, from)| *to = *from);
        }
        return;
    }
    let level = level.for_width(n);
    let to = Target(c.as_mut_ptr());
    let part = |[row, row_end]: [usize; 2], [col, col_end]: [usize; 2]| {
        let bias = finish.bias.map(|bias| &bias[col..col_end]);
        let scratch = tile::scratch::<E>(row_end - row, k) + LINE;
        with_scratch([scratch], |[scratch]: [&mut [E]; 1]| {
            let aligned = scratch.as_ptr().align_offset(LINE).min(LINE);
            let args = BlockArgs {
                m: row_end - row,
                n: col_end - col,
                k,
                a: a.data[row * a.strides.0..].as_ptr(),
                a_row: a.strides.0,
                a_col: a.strides.1,
                b: b.data[col * b.strides.1..].as_ptr(),
                b_row: b.strides.0,
                b_col: b.strides.1,
                c: to.at(row * n + col),
                c_row: n,
                add: finish.add,
                bias: bias.map_or(std::ptr::null(), <[E]>::as_ptr),
                activation: finish.activation,
                scratch: scratch[aligned..].as_mut_ptr(),
            };
            level.run(Run(args));
        });
    };
    let [rows, cols] = cut([m, n], k, threads);
    if rows * cols == 1 {
        return part([0, m], [0, n]);
    }
    let edge = |at: usize, count: usize, length: usize, step: usize| {
        (length.div_ceil(step) * at / count * step).min(length)
    };
    (0..rows * cols).into_par_iter().for_each(|at| {
        let (i, j) = (at / cols, at % cols);
        part(
            [edge(i, rows, m, STEP[0]), edge(i + 1, rows, m, STEP[0])],
            [edge(j, cols, n, STEP[1]), edge(j + 1, cols, n, STEP[1])],
        );
    });
}

/// Into how many rows and columns of parts C is cut, so that each thread has one, and as little as possible of A and B is
/// read by several.
fn cut([m, n]: [usize; 2], k: usize, threads: usize) -> [usize; 2] {
    let wanted = threads.min((m * n).saturating_mul(k) / GRAIN);
    let most = [m.div_ceil(STEP[0]), n.div_ceil(STEP[1])];
    let grids = (1..=wanted.min(most[0])).map(|rows| [rows, wanted.div_ceil(rows).min(most[1])]);
    // The largest number of parts, then the least reading.
    let best = grids.min_by_key(|[rows, cols]| (wanted.saturating_sub(rows * cols), m * cols + n * rows));
    best.unwrap_or([1, 1])
}

/// Where C begins. Threads write to parts of it that do not overlap.
#[derive(Clone, Copy)]
struct Target<E>(*mut E);

impl<E> Target<E> {
    fn at(self, offset: usize) -> *mut E {
        self.0.wrapping_add(offset)
    }
}

// SAFETY: a pointer to numbers, which may be sent; every entry is written by one thread.
unsafe impl<E: Send> Send for Target<E> {}
// SAFETY: as above.
unsafe impl<E: Send> Sync for Target<E> {}

struct Run<E>(BlockArgs<E>);

impl<E: Element> Kernel<E> for Run<E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        // SAFETY: `product_to` has compared all sizes, views are within their data, and the parts do not overlap.
        unsafe { s.product(&self.0) }
    }
}
