//! `mat1` and `mat2` on the kernels.

use burn::backend::flex::FlexTensor;
use matnet_kernels::{Keep, Kept, Level, Map, MapSize, Term};

use super::{FusedOp, Number, dims, numbers, shaped, tensor};
use crate::ops::Activation;

/// f(Σ UᵀXV + B) for tensors X, U, V of each term and B at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapOp(pub(super) Activation);

impl<const N: usize> FusedOp<N> for MapOp {
    /// The middle products.
    type Kept<E: Number> = Kept<E>;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; N], keep: Keep) -> (FlexTensor, Kept<E>) {
        let [batch, ..] = dims::<3>(&inputs[0]);
        with_map::<E, _>(inputs, self.0, |map| {
            let size = map.terms[0].size;
            let (output, kept) = map.forward(Level::best(), keep);
            (tensor(output, &[batch, size.rows_out, size.cols_out]), kept)
        })
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        output: &FlexTensor,
        kept: &Kept<E>,
        gradient: FlexTensor,
        need: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let need_inputs: Vec<bool> = need.chunks_exact(3).map(|term| term[0]).collect();
        let gradients = with_map::<E, _>(inputs, self.0, |map| {
            map.backward(Level::best(), numbers(output), kept, numbers(&gradient), &need_inputs)
        });
        let mut all = Vec::new();
        for term in gradients.terms {
            all.extend([term.input, Some(term.row_map), Some(term.col_map)]);
        }
        all.push(Some(gradients.bias));
        shaped(all, inputs)
    }
}

/// Calls `work` with the tensors seen as a map.
fn with_map<E: Number, R>(
    inputs: &[FlexTensor],
    activation: Activation,
    work: impl FnOnce(&Map<E>) -> R,
) -> R {
    let (terms, bias) = inputs.split_at(inputs.len() - 1);
    let terms: Vec<_> = terms
        .chunks_exact(3)
        .map(|term| {
            let [_, rows, cols] = dims(&term[0]);
            let ([_, rows_out], [_, cols_out]) = (dims(&term[1]), dims(&term[2]));
            Term {
                size: MapSize { rows, cols, rows_out, cols_out },
                input: numbers(&term[0]),
                row_map: numbers(&term[1]),
                col_map: numbers(&term[2]),
            }
        })
        .collect();
    work(&Map { terms: &terms, bias: Some(numbers(&bias[0])), activation: activation.into() })
}
