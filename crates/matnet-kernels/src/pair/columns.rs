//! Maps of samples whose columns lie in the lanes.
//!
//! Every product is scalars times rows of vectors. Multiplying from the right has the sample for its scalars and V for its
//! vectors; multiplying from the left has U and the sample. So has the gradient of V, over the rows of all samples of a block in a
//! row; that of U needs one factor turned.

use super::{Order, Pair};
use crate::Activation;
use crate::block::Layout;
use crate::gemm::{Bias, Finish, Scalars, Stack, View, outer_shared, outer_stack, turn};
use crate::parallel::with_scratch;
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// A matrix whose rows are filled up to whole vectors.
#[derive(Debug)]
pub(super) struct Rows<E: Element> {
    data: Buffer<E>,
    plane: usize,
}

impl<E: Element> Rows<E> {
    /// `matrix`, whose rows have `cols` numbers.
    pub(super) fn new(level: Level, matrix: &[E], cols: usize) -> Self {
        let layout = Layout::columns::<E>(level, [matrix.len() / cols, cols], 1);
        let mut data = Buffer::take(layout.len());
        layout.gather(level, matrix, matrix.len(), &mut data);
        Self { data, plane: layout.plane }
    }

    /// The same, transposed.
    pub(super) fn turned(level: Level, matrix: &[E], cols: usize) -> Self {
        let rows = matrix.len() / cols;
        let plane = Layout::columns::<E>(level, [cols, rows], 1).plane;
        let mut data = Buffer::take(cols * plane);
        turn(level, (matrix, cols), [rows, cols], &mut data, plane);
        Self { data, plane }
    }
}

/// A block and how it lies.
type Block<'a, E> = (&'a [E], &'a Layout);

impl<E: Element> Pair<'_, E> {
    /// [`forward`](Self::forward) with columns in the lanes.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn forward_columns(
        &self,
        (row_map, col_map): (&[E], &Rows<E>),
        x: &[E],
        middle: &mut [E],
        out: &mut [E],
        add: bool,
        bias: Option<&[E]>,
        activation: Activation,
        next: &[E],
    ) {
        let bias = bias.map_or(Bias::None, |bias| Bias::Rows(bias, self.output.cols));
        let first = Finish::STORE.fetch(out);
        let middle = &mut middle[..self.middle.filled(x.len() / self.input.one())];
        match self.order {
            Order::Right => {
                self.columns_right(col_map, (x, &self.input), (middle, &self.middle), first);
                let finish = Finish { go_on: false, add, bias, activation, fetch: next };
                self.columns_left(row_map, (middle, &self.middle), (out, &self.output), finish);
            }
            Order::Left => {
                self.columns_left(row_map, (x, &self.input), (middle, &self.middle), first);
                let finish = Finish { go_on: false, add, bias, activation, fetch: next };
                self.columns_right(col_map, (middle, &self.middle), (out, &self.output), finish);
            }
        }
    }

    /// [`backward`](Self::backward) with columns in the lanes; the column map is turned.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn backward_columns(
        &self,
        (row_map, col_map): (&[E], &Rows<E>),
        x: &[E],
        middle: &[E],
        g: &[E],
        scratch: &mut [E],
        (d_row_map, d_col_map, fresh): (&mut [E], &mut [E], bool),
        d_x: Option<(&mut [E], bool)>,
        next: &[E],
    ) {
        let (input, mid, output) = (&self.input, &self.middle, &self.output);
        let finish = |add| if add { Finish::ADD } else { Finish::STORE };
        let filled = mid.filled(g.len() / output.one());
        let (middle, scratch) = (&middle[..filled], &mut scratch[..filled]);
        match self.order {
            Order::Right => {
                // S = UG; dU = (XV)Gᵀ; dV = XᵀS; dX = SVᵀ
                self.columns_left(row_map, (g, output), (scratch, mid), Finish::STORE.fetch(x));
                self.add_row_map((middle, mid), (g, output), (d_row_map, fresh));
                self.add_col_map((x, input), (scratch, mid), (d_col_map, fresh));
                if let Some((d_x, add)) = d_x {
                    self.columns_right(col_map, (scratch, mid), (d_x, input), finish(add).fetch(next));
                }
            }
            Order::Left => {
                // S = GVᵀ; dV = (UᵀX)ᵀG; dU = XSᵀ; dX = US
                self.columns_right(col_map, (g, output), (scratch, mid), Finish::STORE.fetch(x));
                self.add_col_map((middle, mid), (g, output), (d_col_map, fresh));
                self.add_row_map((x, input), (scratch, mid), (d_row_map, fresh));
                if let Some((d_x, add)) = d_x {
                    self.columns_left(row_map, (scratch, mid), (d_x, input), finish(add).fetch(next));
                }
            }
        }
    }

    /// Multiplies from the left by Uᵀ, or by U on the way back.
    fn columns_left(&self, row_map: &[E], from: Block<E>, to: (&mut [E], &Layout), finish: Finish<E>) {
        let (rows, depth, rows_out) = (to.1.rows, from.1.rows, self.output.rows);
        let strides = if self.forward { (1, rows_out) } else { (rows_out, 1) };
        let map = Scalars::plain(row_map, (rows, strides.0), (depth, strides.1));
        let stack = Stack { count: from.0.len() / from.1.one(), steps: [0, from.1.one(), to.1.one()] };
        self.outer(stack, map, from.1.view(from.0), to, finish);
    }

    /// Multiplies from the right by V, or by Vᵀ on the way back.
    fn columns_right(&self, map: &Rows<E>, from: Block<E>, to: (&mut [E], &Layout), finish: Finish<E>) {
        let mut stack = Stack { count: from.0.len() / from.1.one(), steps: [from.1.one(), 0, to.1.one()] };
        let mut rows = from.1.rows;
        if matches!(finish.bias, Bias::None) {
            // The rows of all samples follow each other.
            rows *= stack.count;
            stack.count = 1;
        }
        let scalars = Scalars::plain(from.0, (rows, from.1.plane), (from.1.cols, 1));
        let view = View { data: &map.data, strides: (map.plane, to.1.lanes) };
        self.outer(stack, scalars, view, to, finish);
    }

    /// Products of one block, or of one sample on several threads.
    fn outer(&self, stack: Stack, a: Scalars<E>, b: View<E>, to: (&mut [E], &Layout), finish: Finish<E>) {
        let (numbers, strides) = (to.1.vectors() * to.1.lanes, to.1.strides());
        if stack.count == 1 {
            outer_shared(self.level, self.threads, a, b, numbers, to.0, strides, finish);
        } else {
            outer_stack(self.level, stack, a, b, numbers, to.0, strides, finish);
        }
    }

    /// dV += AᵀB, summed over the rows of all samples.
    fn add_col_map(&self, a: Block<E>, b: Block<E>, (d_col_map, fresh): (&mut [E], bool)) {
        let depth = a.0.len() / a.1.plane;
        let scalars = Scalars::plain(a.0, (a.1.cols, 1), (depth, a.1.plane));
        let strides = (self.gradient_plane(b.1.cols), b.1.lanes);
        let finish = if fresh { Finish::STORE } else { Finish::GO_ON };
        let (view, numbers) = (b.1.view(b.0), b.1.vectors() * b.1.lanes);
        outer_shared(self.level, self.threads, scalars, view, numbers, d_col_map, strides, finish);
    }

    /// dU += ABᵀ, sample after sample.
    fn add_row_map(&self, a: Block<E>, b: Block<E>, (d_row_map, fresh): (&mut [E], bool)) {
        let (cols, rows, lanes) = (a.1.cols, b.1.rows, a.1.lanes);
        let plane = self.gradient_plane(rows);
        with_scratch([cols * plane], |[turned]: [&mut [E]; 1]| {
            let samples = a.0.chunks_exact(a.1.one()).zip(b.0.chunks_exact(b.1.one()));
            for (at, (a_one, b_one)) in samples.enumerate() {
                turn(self.level, (b_one, b.1.plane), [rows, cols], turned, plane);
                let scalars = Scalars::plain(a_one, (a.1.rows, a.1.plane), (cols, 1));
                let view = View { data: turned, strides: (plane, lanes) };
                let finish = if fresh && at == 0 { Finish::STORE } else { Finish::GO_ON };
                let strides = (plane, lanes);
                outer_shared(self.level, self.threads, scalars, view, plane, d_row_map, strides, finish);
            }
        });
    }
}
