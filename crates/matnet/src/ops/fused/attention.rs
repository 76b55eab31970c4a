//! Edge attention on the kernels, alone and with the maps around it.

use burn::backend::flex::FlexTensor;
use matnet_kernels::{Attention, AttentionMap, Buffer, Keep, Level};

use super::{FusedOp, Number, dims, numbers, tensor};
use crate::graph::Sparse;

/// Attention for tensors q, b, h.
#[derive(Clone, Debug)]
pub(super) struct AttentionOp(pub(super) Sparse);

impl AttentionOp {
    fn view<'a, E: Number>(&'a self, [query, bias, keys]: &'a [FlexTensor; 3]) -> Attention<'a, E> {
        let [_, width, heads] = dims(query);
        Attention {
            graph: self.0.matrix().0,
            transposed: self.0.transposed().0,
            width,
            heads,
            query: numbers(query),
            bias: numbers(bias),
            keys: numbers(keys),
        }
    }
}

impl FusedOp<3> for AttentionOp {
    type Kept<E: Number> = Buffer<E>;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 3], _: Keep) -> (FlexTensor, Buffer<E>) {
        let (output, kept) = self.view::<E>(inputs).forward(Level::best());
        (tensor(output, &dims::<3>(&inputs[0])), kept)
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 3],
        output: &FlexTensor,
        kept: &Buffer<E>,
        gradient: FlexTensor,
        _: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let gradients =
            self.view::<E>(inputs).backward(Level::best(), numbers(output), kept, numbers(&gradient));
        let [query, bias, keys] = inputs;
        [
            Some(tensor(gradients.query, &dims::<3>(query))),
            Some(tensor(gradients.bias, &dims::<2>(bias))),
            Some(tensor(gradients.keys, &dims::<2>(keys))),
        ]
    }
}

/// Attention and its maps for tensors H, W, b, V. Nothing is kept: the backward pass recomputes queries and aggregates, a
/// sixth more products for several times less memory.
#[derive(Clone, Debug)]
pub(super) struct AttentionMapOp(pub(super) Sparse);

impl AttentionMapOp {
    fn view<'a, E: Number>(
        &'a self,
        [state, score_map, bias, out_map]: &'a [FlexTensor; 4],
    ) -> AttentionMap<'a, E> {
        let [width, heads] = dims(bias);
        AttentionMap {
            graph: self.0.matrix().0,
            transposed: self.0.transposed().0,
            places: self.0.places(),
            width,
            heads,
            state: numbers(state),
            score_map: numbers(score_map),
            bias: numbers(bias),
            out_map: numbers(out_map),
        }
    }
}

impl FusedOp<4> for AttentionMapOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 4], _: Keep) -> (FlexTensor, ()) {
        let [_, output] = dims(&inputs[3]);
        (tensor(self.view::<E>(inputs).forward(Level::best()), &[self.0.rows(), output]), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 4],
        _: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        _: [bool; 4],
    ) -> [Option<FlexTensor>; 4] {
        let gradients = self.view::<E>(inputs).backward(Level::best(), numbers(&gradient));
        let [state, score_map, bias, out_map] = inputs;
        [
            Some(tensor(gradients.state, &dims::<2>(state))),
            Some(tensor(gradients.score_map, &dims::<2>(score_map))),
            Some(tensor(gradients.bias, &dims::<2>(bias))),
            Some(tensor(gradients.out_map, &dims::<2>(out_map))),
        ]
    }
}
