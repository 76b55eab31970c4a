//! The two-sided map UᵀXV on a block of samples, forward and backward.

mod columns;
mod lay;

use columns::Rows;
pub(crate) use lay::Lay;

use crate::Activation;
use crate::block::Layout;
use crate::gemm::{Bias, Finish, Packed, View, inner, outer, sharing};
use crate::simd::{Element, Level};

/// The sizes of a map X ↦ UᵀXV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapSize {
    /// Rows of X.
    pub rows: usize,
    /// Columns of X.
    pub cols: usize,
    /// Rows of the result.
    pub rows_out: usize,
    /// Columns of the result.
    pub cols_out: usize,
}

impl MapSize {
    /// Numbers in one X.
    pub fn input(&self) -> usize {
        self.rows * self.cols
    }

    /// Numbers in one result.
    pub fn output(&self) -> usize {
        self.rows_out * self.cols_out
    }

    /// Multiplications of the cheaper of (UᵀX)V and Uᵀ(XV) for one X.
    pub fn products(&self) -> usize {
        self.right_first().min(self.left_first())
    }

    /// About how many products of vectors one X takes, forward and backward, with columns in so many lanes.
    fn vectors(&self, lanes: usize) -> usize {
        // What beginning and ending a sum costs, in terms of it.
        const ENDS: usize = 4;
        let MapSize { rows, cols, rows_out, cols_out } = *self;
        let (middle_rows, middle_cols) = match self.order() {
            Order::Right => (rows, cols_out),
            Order::Left => (rows_out, cols),
        };
        let product = |rows: usize, depth: usize, cols: usize| rows * (depth + ENDS) * cols.div_ceil(lanes);
        let right = product(middle_rows, cols, cols_out) + product(middle_rows, cols_out, cols);
        let left = product(rows_out, rows, middle_cols) + product(rows, rows_out, middle_cols);
        right + left + product(cols, middle_rows, cols_out) + product(rows, middle_cols, rows_out)
    }

    fn order(&self) -> Order {
        if self.right_first() <= self.left_first() { Order::Right } else { Order::Left }
    }

    fn right_first(&self) -> usize {
        self.rows * self.cols_out * (self.cols + self.rows_out)
    }

    fn left_first(&self) -> usize {
        self.rows_out * self.cols * (self.rows + self.cols_out)
    }
}

/// Which product comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Uᵀ(XV)
    Right,
    /// (UᵀX)V
    Left,
}

/// U and V packed, with the cheaper order of the two products.
///
/// The middle product of the forward pass (XV or UᵀX) is kept by the caller; with it the backward pass
/// costs four products.
#[derive(Debug)]
pub(crate) struct Pair<'a, E: Element> {
    level: Level,
    /// So many share a product.
    threads: usize,
    order: Order,
    /// Made for the forward pass, or for the way back.
    forward: bool,
    pub(crate) input: Layout,
    pub(crate) middle: Layout,
    pub(crate) output: Layout,
    weights: Weights<'a, E>,
}

#[derive(Debug)]
enum Weights<'a, E: Element> {
    /// Uᵀ· and ·V, or for the way back U· and ·Vᵀ.
    Packed { row_map: Packed<E>, col_map: Packed<E> },
    /// For columns in lanes, U as it stands, and V, or for the way back Vᵀ.
    Rows { row_map: &'a [E], col_map: Rows<E> },
}

impl<'a, E: Element> Pair<'a, E> {
    /// The pair for the `forward` pass or the way back, of samples that lie like this.
    pub(crate) fn new(lay: Lay, size: MapSize, row_map: &'a [E], col_map: &[E], forward: bool) -> Self {
        let MapSize { rows, cols, rows_out, cols_out } = size;
        assert_eq!(row_map.len(), rows * rows_out, "the row map does not have the size it should");
        assert_eq!(col_map.len(), cols * cols_out, "the column map does not have the size it should");
        let (level, order) = (lay.level, size.order());
        // Of its two products, the larger has at least half of the work.
        let threads = sharing(lay.threads(), size.products() / 2);
        Self {
            level,
            threads,
            order,
            forward,
            input: lay.layout::<E>([rows, cols]),
            middle: lay.layout::<E>(match order {
                Order::Right => [rows, cols_out],
                Order::Left => [rows_out, cols],
            }),
            output: lay.layout::<E>([rows_out, cols_out]),
            weights: match (lay.is_columns(), forward) {
                (false, true) => Weights::Packed {
                    row_map: Packed::new(level, row_map, (rows_out, 1), (rows, rows_out)),
                    col_map: Packed::new(level, col_map, (cols_out, 1), (cols, cols_out)),
                },
                (false, false) => Weights::Packed {
                    row_map: Packed::new(level, row_map, (rows, rows_out), (rows_out, 1)),
                    col_map: Packed::new(level, col_map, (cols, cols_out), (cols_out, 1)),
                },
                (true, true) => Weights::Rows { row_map, col_map: Rows::new(level, col_map, cols_out) },
                (true, false) => Weights::Rows { row_map, col_map: Rows::turned(level, col_map, cols_out) },
            },
        }
    }

    /// Whether threads share a product: then they are called often, which is quick only from one of their own.
    pub(crate) fn is_shared(&self) -> bool {
        self.threads > 1
    }

    /// `out` = f(UᵀXV + B), or with `add` f(`out` + UᵀXV + B). Leaves the middle product in `middle`; `next` is
    /// where the work will go on.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn forward(
        &self,
        x: &[E],
        middle: &mut [E],
        out: &mut [E],
        add: bool,
        bias: Option<&[E]>,
        activation: Activation,
        next: &[E],
    ) {
        assert!(self.forward, "packed for the way back");
        let cols_out = self.output.cols;
        let (row_map, col_map) = match &self.weights {
            Weights::Packed { row_map, col_map } => (row_map, col_map),
            Weights::Rows { row_map, col_map } => {
                let maps = (*row_map, col_map);
                return self.forward_columns(maps, x, middle, out, add, bias, activation, next);
            }
        };
        match self.order {
            Order::Right => {
                self.right(col_map, (x, &self.input), (middle, &self.middle), Finish::STORE.fetch(out));
                let bias = bias.map_or(Bias::None, |bias| Bias::Spread(bias, (cols_out, 1)));
                let finish = Finish { go_on: false, add, bias, activation, fetch: next };
                self.left(row_map, (middle, &self.middle), (out, &self.output), finish);
            }
            Order::Left => {
                self.left(row_map, (x, &self.input), (middle, &self.middle), Finish::STORE.fetch(out));
                let bias = bias.map_or(Bias::None, |bias| Bias::Spread(bias, (1, cols_out)));
                let finish = Finish { go_on: false, add, bias, activation, fetch: next };
                self.right(col_map, (middle, &self.middle), (out, &self.output), finish);
            }
        }
    }

    /// How many numbers the gradients of U and V take while they are summed.
    pub(crate) fn gradients(&self) -> [usize; 2] {
        let (rows, cols) = (self.input.rows, self.input.cols);
        [rows * self.gradient_plane(self.output.rows), cols * self.gradient_plane(self.output.cols)]
    }

    /// Distance of two rows of `cols` numbers in a gradient: with columns in lanes, whole vectors.
    fn gradient_plane(&self, cols: usize) -> usize {
        if self.output.columns.is_some() { cols.next_multiple_of(self.output.lanes) } else { cols }
    }

    /// The gradients of U and V from their sums, without gaps.
    pub(crate) fn without_gaps(&self, sums: [&[E]; 2]) -> [Vec<E>; 2] {
        let mut widths = [self.output.rows, self.output.cols].into_iter();
        sums.map(|sums| {
            let width = widths.next().unwrap_or_default();
            let plane = self.gradient_plane(width);
            if plane == width {
                return sums.to_vec();
            }
            let mut all = Vec::with_capacity(sums.len() / plane * width);
            sums.chunks_exact(plane).for_each(|row| all.extend_from_slice(&row[..width]));
            all
        })
    }

    /// Adds to the gradients of U and V, and stores that of X where it is asked for (or adds to it).
    ///
    /// `g` is the gradient of UᵀXV; `scratch` takes a block of the middle layout; `next`
    /// is what will be read after this. Those of U and V are as long as [`gradients`](Self::gradients) says; `fresh` ones
    /// hold nothing yet. Without `d_row_map` that of U is left to
    /// [`row_map_of_steps`](Self::row_map_of_steps).
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward(
        &self,
        x: &[E],
        middle: &[E],
        g: &[E],
        scratch: &mut [E],
        mut d_row_map: Option<&mut [E]>,
        d_col_map: &mut [E],
        fresh: bool,
        d_x: Option<(&mut [E], bool)>,
        next: &[E],
    ) {
        assert!(!self.forward, "made for the forward pass only");
        let (row_map, col_map) = match &self.weights {
            Weights::Packed { row_map, col_map } => (row_map, col_map),
            Weights::Rows { row_map, col_map } => {
                let (maps, d_row_map) = ((*row_map, col_map), d_row_map.expect("a gradient step by step"));
                let to = (d_row_map, d_col_map, fresh);
                return self.backward_columns(maps, x, middle, g, scratch, to, d_x, next);
            }
        };
        if fresh {
            d_row_map.iter_mut().for_each(|d_row_map| d_row_map.fill(E::ZERO));
            d_col_map.fill(E::ZERO);
        }
        let (input, mid, output) = (&self.input, &self.middle, &self.output);
        let finish = |add| if add { Finish::ADD } else { Finish::STORE };
        let (rows, cols) = (input.rows, input.cols);
        let (rows_out, cols_out) = (output.rows, output.cols);
        match self.order {
            Order::Right => {
                // S = UG; dU = (XV)Gᵀ; dV = XᵀS; dX = SVᵀ
                self.left(row_map, (g, output), (scratch, mid), Finish::STORE.fetch(x));
                if let Some(d_row_map) = d_row_map {
                    let sizes = (rows, rows_out, cols_out);
                    inner(self.level, sizes, mid.view(middle), output.view(g), d_row_map);
                }
                inner(self.level, (cols, cols_out, rows), input.view_t(x), mid.view_t(scratch), d_col_map);
                if let Some((d_x, add)) = d_x {
                    self.right(col_map, (scratch, mid), (d_x, input), finish(add).fetch(next));
                }
            }
            Order::Left => {
                // S = GVᵀ; dV = (UᵀX)ᵀG; dU = XSᵀ; dX = US
                self.right(col_map, (g, output), (scratch, mid), Finish::STORE.fetch(x));
                inner(
                    self.level,
                    (cols, cols_out, rows_out),
                    mid.view_t(middle),
                    output.view_t(g),
                    d_col_map,
                );
                if let Some(d_row_map) = d_row_map {
                    inner(self.level, (rows, rows_out, cols), input.view(x), mid.view(scratch), d_row_map);
                }
                if let Some((d_x, add)) = d_x {
                    self.left(row_map, (scratch, mid), (d_x, input), finish(add).fetch(next));
                }
            }
        }
    }

    /// Whether [`row_map_of_steps`](Self::row_map_of_steps) can be had: the gradient of U from one column sums over nothing
    /// but samples, so that most of the work would be adding up lanes.
    pub(crate) fn of_columns(&self) -> bool {
        self.order == Order::Right && self.output.cols == 1 && self.output.columns.is_none()
    }

    /// Adds to the gradient of U what `steps` steps give it together, where the results are single columns. The middle
    /// products and the gradients of UᵀXV of two steps lie as far apart as `.1` says.
    pub(crate) fn row_map_of_steps(
        &self,
        steps: usize,
        middle: (&[E], usize),
        g: (&[E], usize),
        d_row_map: &mut [E],
    ) {
        assert!(self.of_columns(), "not a map to single columns");
        let middle = View { data: middle.0, strides: (self.middle.plane, middle.1) };
        let g = View { data: g.0, strides: (self.output.plane, g.1) };
        inner(self.level, (self.input.rows, self.output.rows, steps), middle, g, d_row_map);
    }

    /// Multiplies from the left: entries run down the rows of `from`.
    fn left(&self, map: &Packed<E>, from: (&[E], &Layout), to: (&mut [E], &Layout), finish: Finish<E>) {
        outer(self.level, map.into(), from.1.view(from.0), to.1.cols, to.0, to.1.strides(), finish);
    }

    /// Multiplies from the right: entries run along the columns of `from`.
    fn right(&self, map: &Packed<E>, from: (&[E], &Layout), to: (&mut [E], &Layout), finish: Finish<E>) {
        outer(self.level, map.into(), from.1.view_t(from.0), to.1.rows, to.0, to.1.strides_t(), finish);
    }
}
