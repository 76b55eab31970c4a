//! Edge attention on the kernels, alone and with the maps around it.

use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use burn::backend::ops::FloatTensorOps;
use matnet_kernels::{Attention, Buffer, Level};

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

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 3], _: bool) -> (FlexTensor, Buffer<E>) {
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

/// Attention and its maps for tensors H, W, b, V.
///
/// Queries and what is heard are as wide as all heads together. They are not kept but computed again in the backward pass: a tenth
/// more multiplications for column nets, and several times less memory.
#[derive(Clone, Debug)]
pub(super) struct AttentionMapOp(pub(super) Sparse);

impl AttentionMapOp {
    /// The first rows of H, those of the nodes that listen.
    fn own<E: Number>(&self, state: &FlexTensor) -> FlexTensor {
        let ([others, width], nodes) = (dims(state), self.0.rows());
        if others == nodes {
            return state.clone();
        }
        tensor(numbers::<E>(state)[..nodes * width].to_vec(), &[nodes, width])
    }

    fn view<'a, E: Number>(
        &'a self,
        [state, _, bias, _]: &'a [FlexTensor; 4],
        query: &'a FlexTensor,
    ) -> Attention<'a, E> {
        let [width, heads] = dims(bias);
        Attention {
            graph: self.0.matrix().0,
            transposed: self.0.transposed().0,
            width,
            heads,
            query: numbers(query),
            bias: numbers(bias),
            keys: numbers(state),
        }
    }

    /// All heads side by side: `[nodes, width · heads]`.
    fn sides(&self, bias: &FlexTensor) -> [usize; 2] {
        let [width, heads] = dims(bias);
        [self.0.rows(), width * heads]
    }
}

impl FusedOp<4> for AttentionMapOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 4], _: bool) -> (FlexTensor, ()) {
        let [state, score_map, bias, out_map] = inputs;
        let query = Flex::float_matmul(self.own::<E>(state), score_map.clone());
        let (heard, _) = self.view::<E>(inputs, &query).forward(Level::best());
        drop(query);
        (Flex::float_matmul(tensor(heard, &self.sides(bias)), out_map.clone()), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 4],
        _: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        _: [bool; 4],
    ) -> [Option<FlexTensor>; 4] {
        let [state, score_map, bias, out_map] = inputs;
        let (own, sides) = (self.own::<E>(state), self.sides(bias));
        let query = Flex::float_matmul(own.clone(), score_map.clone());
        let view = self.view::<E>(inputs, &query);
        let (heard, kept) = view.forward(Level::best());
        let heard = tensor(heard, &sides);
        let d_out_map = Flex::float_matmul(Flex::float_transpose(heard.clone()), gradient.clone());
        let d_heard = Flex::float_matmul(gradient, Flex::float_transpose(out_map.clone())).to_contiguous();
        let gradients = view.backward(Level::best(), numbers(&heard), &kept, numbers(&d_heard));
        drop((heard, d_heard));
        let d_query = tensor(gradients.query, &sides);
        let d_score_map = Flex::float_matmul(Flex::float_transpose(own), d_query.clone());
        let d_own = Flex::float_matmul(d_query, Flex::float_transpose(score_map.clone())).to_contiguous();
        let mut d_state = gradients.keys;
        for (sum, &term) in d_state.iter_mut().zip(numbers::<E>(&d_own)) {
            *sum += term;
        }
        [
            Some(tensor(d_state, &dims::<2>(state))),
            Some(d_score_map),
            Some(tensor(gradients.bias, &dims::<2>(bias))),
            Some(d_out_map),
        ]
    }
}
