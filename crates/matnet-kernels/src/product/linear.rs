//! Y = f(X·W + b): the dense layer.

use super::{Finish, MatrixView, product_to};
use crate::simd::{Element, Level};
use crate::{Activation, lanes};

/// f(X·W + b) for a batch of rows X.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a, E> {
    /// X: `batch × inputs`.
    pub input: MatrixView<'a, E>,
    /// W: `inputs × outputs`; a transposed view for W of another layer.
    pub weight: MatrixView<'a, E>,
    /// b: `outputs`.
    pub bias: Option<&'a [E]>,
    /// f
    pub activation: Activation,
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct LinearGradients<E> {
    /// Of X, if it was asked for.
    pub input: Option<Vec<E>>,
    /// Of W, as W is stored: if it was given transposed, this is the gradient before transposing.
    pub weight: Option<Vec<E>>,
    /// Of b, if there is one.
    pub bias: Option<Vec<E>>,
}

impl<E: Element> Linear<'_, E> {
    /// Y for every row.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        let mut output = vec![E::ZERO; self.input.rows * self.weight.cols];
        let finish = Finish { add: false, bias: self.bias, activation: self.activation };
        product_to(level, self.input, self.weight, &mut output, finish, rayon::current_num_threads());
        output
    }

    /// The gradients from that of Y; `output` is what [`forward`](Self::forward) gave. Those of W and b sum over the batch in
    /// the order of its rows.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(
        &self,
        level: Level,
        output: &[E],
        gradient: &[E],
        need_input: bool,
        need_weight: bool,
    ) -> LinearGradients<E> {
        let (batch, outputs) = (self.input.rows, self.weight.cols);
        assert_eq!(output.len(), batch * outputs, "the output is of another size");
        assert_eq!(gradient.len(), batch * outputs, "the gradient is of another size");
        let through;
        let gradient = if self.activation == Activation::Identity {
            gradient
        } else {
            through = lanes::through_all(level, self.activation, output, gradient);
            &through
        };
        let gradient = MatrixView::new(gradient, batch, outputs);
        let multiply = |a: MatrixView<E>, b: MatrixView<E>| super::product(level, a, b);
        LinearGradients {
            input: need_input.then(|| multiply(gradient, self.weight.transposed())),
            weight: need_weight.then(|| {
                // In the order of storage: (XᵀG)ᵀ = GᵀX where W was given transposed. A sum of products does not
                // care which factor stands first.
                if self.weight.strides.1 == 1 {
                    multiply(self.input.transposed(), gradient)
                } else {
                    multiply(gradient.transposed(), self.input)
                }
            }),
            bias: self.bias.map(|_| sum_rows(level, gradient)),
        }
    }
}

/// The sum of all rows, from the first to the last.
fn sum_rows<E: Element>(level: Level, rows: MatrixView<E>) -> Vec<E> {
    let ones = vec![E::ONE; rows.rows];
    super::product(level, MatrixView::new(&ones, 1, rows.rows), rows)
}
