//! The memory of a Neural Turing Machine on the kernels.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension, tensor::FloatTensor};
use matnet_kernels::{Buffer, Level, MemorySize, MemoryStep};

use super::{Either, FusedOp, Number, Tracked, contiguous, differentiate, dims, is_double, numbers, tensor};

/// The operations on memories that have CPU kernels.
#[backend_extension(Flex, Autodiff)]
pub trait FusedMemoryOps: Backend {
    /// From state, addresses and changes to the state after them.
    fn memory_step(
        state: FloatTensor<Self>,
        addresses: FloatTensor<Self>,
        changes: FloatTensor<Self>,
        size: MemorySize,
    ) -> FloatTensor<Self>;
}

impl FusedMemoryOps for Flex {
    fn memory_step(
        state: FlexTensor,
        addresses: FlexTensor,
        changes: FlexTensor,
        size: MemorySize,
    ) -> FlexTensor {
        MemoryOp(size).forward(&contiguous([state, addresses, changes]), false).0
    }
}

impl<C: CheckpointStrategy> FusedMemoryOps for Autodiff<Flex, C> {
    fn memory_step(state: Tracked, addresses: Tracked, changes: Tracked, size: MemorySize) -> Tracked {
        differentiate::<C, 3, _>([state, addresses, changes], MemoryOp(size))
    }
}

/// A step for tensors state, addresses, changes.
#[derive(Clone, Debug)]
struct MemoryOp(MemorySize);

impl MemoryOp {
    fn view<'a, E: Number>(&self, [state, addresses, changes]: &'a [FlexTensor; 3]) -> MemoryStep<'a, E> {
        MemoryStep {
            size: self.0,
            state: numbers(state),
            addresses: numbers(addresses),
            changes: numbers(changes),
        }
    }

    fn run<E: Number>(&self, inputs: &[FlexTensor; 3]) -> (FlexTensor, Buffer<E>) {
        let (next, kept) = self.view::<E>(inputs).forward(Level::best());
        (tensor(next, &dims::<2>(&inputs[0])), kept)
    }

    fn run_back<E: Number>(
        &self,
        inputs: &[FlexTensor; 3],
        output: &FlexTensor,
        kept: &[E],
        gradient: &FlexTensor,
    ) -> [Option<FlexTensor>; 3] {
        let gradients =
            self.view::<E>(inputs).backward(Level::best(), numbers(output), kept, numbers(gradient));
        let [state, addresses, changes] = inputs;
        [
            Some(tensor(gradients.state, &dims::<2>(state))),
            Some(tensor(gradients.addresses, &dims::<2>(addresses))),
            Some(tensor(gradients.changes, &dims::<2>(changes))),
        ]
    }
}

impl FusedOp<3> for MemoryOp {
    type Kept = Either<Buffer<f32>, Buffer<f64>>;

    fn forward(&self, inputs: &[FlexTensor; 3], _: bool) -> (FlexTensor, Self::Kept) {
        if is_double(&inputs[0]) {
            let (output, kept) = self.run(inputs);
            (output, Either::Double(kept))
        } else {
            let (output, kept) = self.run(inputs);
            (output, Either::Single(kept))
        }
    }

    fn backward(
        &self,
        inputs: &[FlexTensor; 3],
        output: &FlexTensor,
        kept: &Self::Kept,
        gradient: FlexTensor,
        _: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        match kept {
            Either::Single(kept) => self.run_back(inputs, output, kept, &gradient),
            Either::Double(kept) => self.run_back(inputs, output, kept, &gradient),
        }
    }
}
