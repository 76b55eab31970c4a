//! The operations on graphs that have kernels; sparse products and the highway.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, tensor::FloatTensor};
use matnet_kernels::{Csr, Highway, Keep, Level, SlotMap, SparseHighway, SparseHighwayKept, sparse_product};

use super::attention::{AttentionMapOp, AttentionOp};
use super::{FusedOp, Number, Tracked, dims, fused_ops, numbers, shaped, tensor};
use crate::graph::Sparse;
use crate::ops::Activation;

fused_ops! {
    /// The operations on graphs that have CPU kernels.
    pub trait FusedGraphOps {
        /// A X
        fn sparse_product([input], matrix: Sparse) = ProductOp(matrix);

        /// A X with so many rows side by side, times V
        fn slot_map([state, map], matrix: Sparse, slots: usize) = SlotMapOp { matrix, slots };

        /// Σⱼ softmax((q + b)ᵀ hⱼ) hⱼ
        fn edge_attention([query, bias, keys], matrix: Sparse) = AttentionOp(matrix);

        /// The same with qᵢ = Wᵀ hᵢ, times V
        fn attention_map([state, score_map, bias, out_map], matrix: Sparse) = AttentionMapOp(matrix);

        /// H + Z ⊙ (C − H)
        fn highway([own, aggregated, bias, state], activation: Activation) = HighwayOp(activation);

        /// The same with P and Q made of X, whose first rows are H
        fn sparse_highway(
            [input, own_map, neighbor_map, bias],
            matrices: Vec<Sparse>,
            activation: Activation
        ) = SparseHighwayOp { matrices, activation };

        /// The same with H given
        fn sparse_highway_from(
            [input, own_map, neighbor_map, bias, state],
            matrices: Vec<Sparse>,
            activation: Activation
        ) = SparseHighwayOp { matrices, activation };
    }
}

/// A X for a tensor X.
#[derive(Clone, Debug)]
struct ProductOp(Sparse);

impl FusedOp<1> for ProductOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, [input]: &[FlexTensor; 1], _: Keep) -> (FlexTensor, ()) {
        (product::<E>(self.0.matrix(), input), ())
    }

    fn backward<E: Number>(
        &self,
        _: &[FlexTensor; 1],
        _: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        _: [bool; 1],
    ) -> [Option<FlexTensor>; 1] {
        [Some(product::<E>(self.0.transposed(), &gradient))]
    }
}

fn product<E: Number>((matrix, weights): (&Csr, Option<&[f32]>), input: &FlexTensor) -> FlexTensor {
    let [_, width] = dims(input);
    let output = sparse_product::<E>(Level::best(), matrix, weights, numbers(input), width);
    tensor(output, &[matrix.rows(), width])
}

/// Slots and their maps for tensors H, V.
#[derive(Clone, Debug)]
struct SlotMapOp {
    matrix: Sparse,
    slots: usize,
}

impl SlotMapOp {
    fn view<'a, E: Number>(&'a self, [state, map]: &'a [FlexTensor; 2]) -> SlotMap<'a, E> {
        let [_, width] = dims(state);
        SlotMap {
            graph: self.matrix.matrix().0,
            transposed: self.matrix.transposed().0,
            places: self.matrix.places(),
            slots: self.slots,
            width,
            state: numbers(state),
            map: numbers(map),
        }
    }
}

impl FusedOp<2> for SlotMapOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 2], _: Keep) -> (FlexTensor, ()) {
        let [_, output] = dims(&inputs[1]);
        (tensor(self.view::<E>(inputs).forward(Level::best()), &[self.matrix.rows(), output]), ())
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 2],
        _: &FlexTensor,
        _: &(),
        gradient: FlexTensor,
        _: [bool; 2],
    ) -> [Option<FlexTensor>; 2] {
        let gradients = self.view::<E>(inputs).backward(Level::best(), numbers(&gradient));
        let [state, map] = inputs;
        [Some(tensor(gradients.state, &dims::<2>(state))), Some(tensor(gradients.map, &dims::<2>(map)))]
    }
}

/// The highway for tensors P, Q, b, H.
#[derive(Clone, Debug)]
struct HighwayOp(Activation);

impl HighwayOp {
    fn view<'a, E: Number>(&self, [own, aggregated, bias, state]: &'a [FlexTensor; 4]) -> Highway<'a, E> {
        let [_, width] = dims(state);
        Highway {
            width,
            own: numbers(own),
            aggregated: numbers(aggregated),
            bias: numbers(bias),
            state: numbers(state),
            activation: self.0.into(),
        }
    }
}

impl FusedOp<4> for HighwayOp {
    type Kept<E: Number> = ();

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 4], _: Keep) -> (FlexTensor, ()) {
        let output = self.view::<E>(inputs).forward(Level::best());
        (tensor(output, &dims::<2>(&inputs[3])), ())
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
        let [own, _, bias, state] = inputs;
        let sum = tensor(gradients.sum, &dims::<2>(own));
        [
            Some(sum.clone()),
            Some(sum),
            Some(tensor(gradients.bias, &dims::<2>(bias))),
            Some(tensor(gradients.state, &dims::<2>(state))),
        ]
    }
}

/// The highway with the maps before it for tensors X, V, U, b and, if there are five, H.
#[derive(Clone, Debug)]
struct SparseHighwayOp {
    matrices: Vec<Sparse>,
    activation: Activation,
}

impl SparseHighwayOp {
    fn view<E: Number, R>(&self, inputs: &[FlexTensor], work: impl FnOnce(SparseHighway<E>) -> R) -> R {
        let [_, width] = dims(&inputs[0]);
        let relations: Vec<_> =
            self.matrices.iter().map(|matrix| [matrix.matrix(), matrix.transposed()]).collect();
        work(SparseHighway {
            relations: &relations,
            width,
            input: numbers(&inputs[0]),
            state: inputs.get(4).map(numbers),
            own_map: numbers(&inputs[1]),
            neighbor_map: numbers(&inputs[2]),
            bias: numbers(&inputs[3]),
            activation: self.activation.into(),
        })
    }
}

impl<const N: usize> FusedOp<N> for SparseHighwayOp {
    type Kept<E: Number> = SparseHighwayKept<E>;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; N], keep: Keep) -> (FlexTensor, SparseHighwayKept<E>) {
        let ([_, width], nodes) = (dims(&inputs[0]), self.matrices[0].rows());
        let (output, kept) = self.view(inputs, |highway| highway.forward(Level::best(), keep));
        (tensor(output, &[nodes, width]), kept)
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        _: &FlexTensor,
        kept: &SparseHighwayKept<E>,
        gradient: FlexTensor,
        _: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let gradients =
            self.view(inputs, |highway| highway.backward(Level::best(), kept, numbers(&gradient)));
        let gradients = [
            Some(gradients.input),
            Some(gradients.own_map),
            Some(gradients.neighbor_map),
            Some(gradients.bias),
            gradients.state,
        ];
        shaped(gradients.into(), inputs)
    }
}
