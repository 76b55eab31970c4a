//! Products of scalars with vectors.

use super::operands::{Scalars, View};
use crate::Activation;
use crate::simd::{Element, Kernel, Level, Simd};
use crate::tile::OuterArgs;

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
        near: level.near_tile(),
    }));
}
