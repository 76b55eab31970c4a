//! The two-sided map UᵀXV on a block of samples, forward and backward.

use crate::block::Layout;
use crate::gemm::{Finish, Packed, Scalars, View, inner, outer};
use crate::simd::{Element, Level};
use crate::{Activation, lanes};

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

/// What a pair is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Blocks of samples, forward.
    Forward,
    /// Blocks of samples, backward.
    Backward,
    /// One sample at a time, forward.
    Alone,
}

impl Purpose {
    /// The forward pass over a batch. With `keep` a backward pass will come, which knows blocks only.
    pub(crate) fn forward(batch: usize, keep: bool) -> Self {
        // Up to here, whole vectors of columns do less in vain than vectors with so few samples.
        const FEW: usize = 4;
        if batch <= FEW && !keep { Self::Alone } else { Self::Forward }
    }

    /// The level to run at, for matrices of at most `largest` entries.
    pub(crate) fn level(self, level: Level, batch: usize, largest: usize) -> Level {
        // Alone, short vectors leave the fewest lanes empty.
        level.for_blocks(if self == Self::Alone { 1 } else { batch }, largest)
    }

    /// How many samples make a block.
    pub(crate) fn block<E: Element>(self, level: Level) -> usize {
        if self == Self::Alone { 1 } else { level.lanes::<E>() }
    }

    /// How a block of matrices lies in memory.
    pub(crate) fn layout<E: Element>(self, level: Level, sides: [usize; 2]) -> Layout {
        if self == Self::Alone { Layout::alone::<E>(level, sides) } else { Layout::new::<E>(level, sides) }
    }
}

/// U and V packed, with the cheaper order of the two products.
///
/// The middle product of the forward pass (XV or UᵀX) is kept by the caller; with it the backward pass
/// costs four products.
#[derive(Debug)]
pub(crate) struct Pair<'a, E> {
    level: Level,
    order: Order,
    purpose: Purpose,
    pub(crate) input: Layout,
    pub(crate) middle: Layout,
    pub(crate) output: Layout,
    weights: Weights<'a, E>,
}

#[derive(Debug)]
enum Weights<'a, E> {
    /// Uᵀ· and ·V, or for the way back U· and ·Vᵀ.
    Packed { row_map: Packed<E>, col_map: Packed<E> },
    /// U as it stands, and V with a vector's length of zeros behind it: for one sample, packing would
    /// cost as much as the product.
    Plain { row_map: &'a [E], col_map: Vec<E> },
}

impl<'a, E: Element> Pair<'a, E> {
    pub(crate) fn new(
        level: Level,
        size: MapSize,
        row_map: &'a [E],
        col_map: &[E],
        purpose: Purpose,
    ) -> Self {
        let MapSize { rows, cols, rows_out, cols_out } = size;
        assert_eq!(row_map.len(), rows * rows_out, "the row map does not have the size it should");
        assert_eq!(col_map.len(), cols * cols_out, "the column map does not have the size it should");
        let order = if size.right_first() <= size.left_first() { Order::Right } else { Order::Left };
        let layout = |sides| purpose.layout::<E>(level, sides);
        Self {
            level,
            order,
            purpose,
            input: layout([rows, cols]),
            middle: layout(match order {
                Order::Right => [rows, cols_out],
                Order::Left => [rows_out, cols],
            }),
            output: layout([rows_out, cols_out]),
            weights: match purpose {
                Purpose::Forward => Weights::Packed {
                    row_map: Packed::new(level, row_map, (rows_out, 1), (rows, rows_out)),
                    col_map: Packed::new(level, col_map, (cols_out, 1), (cols, cols_out)),
                },
                Purpose::Backward => Weights::Packed {
                    row_map: Packed::new(level, row_map, (rows, rows_out), (rows_out, 1)),
                    col_map: Packed::new(level, col_map, (cols, cols_out), (cols_out, 1)),
                },
                Purpose::Alone => {
                    let mut padded = Vec::with_capacity(col_map.len() + level.lanes::<E>());
                    padded.extend_from_slice(col_map);
                    padded.resize(col_map.len() + level.lanes::<E>(), E::ZERO);
                    Weights::Plain { row_map, col_map: padded }
                }
            },
        }
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
        assert_ne!(self.purpose, Purpose::Backward, "packed for the way back");
        let cols_out = self.output.cols;
        let (row_map, col_map) = match &self.weights {
            Weights::Packed { row_map, col_map } => (row_map, col_map),
            Weights::Plain { row_map, col_map } => {
                return self.forward_alone((row_map, col_map), x, middle, out, add, bias, activation);
            }
        };
        match self.order {
            Order::Right => {
                self.right(col_map, (x, &self.input), (middle, &self.middle), Finish::STORE.fetch(out));
                let bias = bias.map(|bias| (bias, (cols_out, 1)));
                let finish = Finish { add, bias, activation, fetch: next };
                self.left(row_map, (middle, &self.middle), (out, &self.output), finish);
            }
            Order::Left => {
                self.left(row_map, (x, &self.input), (middle, &self.middle), Finish::STORE.fetch(out));
                let bias = bias.map(|bias| (bias, (1, cols_out)));
                let finish = Finish { add, bias, activation, fetch: next };
                self.right(col_map, (middle, &self.middle), (out, &self.output), finish);
            }
        }
    }

    /// [`forward`](Self::forward) for one sample. The columns of V lie in lanes as they do in the result,
    /// so that multiplying from the right has X for its scalars.
    #[allow(clippy::too_many_arguments)]
    fn forward_alone(
        &self,
        (row_map, col_map): (&[E], &[E]),
        x: &[E],
        middle: &mut [E],
        out: &mut [E],
        add: bool,
        bias: Option<&[E]>,
        activation: Activation,
    ) {
        let (rows, rows_out, cols_out) = (self.input.rows, self.output.rows, self.output.cols);
        let left = |from: (&[E], &Layout), to: (&mut [E], &Layout), finish: Finish<E>| {
            let scalars = Scalars::plain(row_map, (rows_out, 1), (rows, rows_out));
            outer(self.level, scalars, from.1.view(from.0), to.1.vectors(), to.0, to.1.strides(), finish);
        };
        let right = |from: (&[E], &Layout), to: (&mut [E], &Layout), finish: Finish<E>| {
            let scalars = Scalars::plain(from.0, (from.1.rows, from.1.plane), (from.1.cols, 1));
            let view = View { data: col_map, strides: (cols_out, self.level.lanes::<E>()) };
            outer(self.level, scalars, view, to.1.vectors(), to.0, to.1.strides(), finish);
        };
        let finish = if add { Finish::ADD } else { Finish::STORE };
        match self.order {
            Order::Right => {
                right((x, &self.input), (middle, &self.middle), Finish::STORE);
                left((middle, &self.middle), (out, &self.output), finish);
            }
            Order::Left => {
                left((x, &self.input), (middle, &self.middle), Finish::STORE);
                right((middle, &self.middle), (out, &self.output), finish);
            }
        }
        lanes::finish_alone(self.level, &self.output, out, bias, activation);
    }

    /// Adds to the gradients of U and V, and stores that of X where it is asked for (or adds to it).
    ///
    /// `g` is the gradient of UᵀXV; `scratch` takes a block of the middle layout; `next`
    /// is what will be read after this. Without `d_row_map` that of U is left to
    /// [`row_map_of_steps`](Self::row_map_of_steps).
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward(
        &self,
        x: &[E],
        middle: &[E],
        g: &[E],
        scratch: &mut [E],
        d_row_map: Option<&mut [E]>,
        d_col_map: &mut [E],
        d_x: Option<(&mut [E], bool)>,
        next: &[E],
    ) {
        let (Purpose::Backward, Weights::Packed { row_map, col_map }) = (self.purpose, &self.weights) else {
            unreachable!("made for the forward pass only");
        };
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
        self.order == Order::Right && self.output.cols == 1
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
