//! The memory of a Neural Turing Machine on the kernels.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, tensor::FloatTensor};
use matnet_kernels::{Keep, Kept, Level, MemorySize, MemoryStep};

use super::{FusedOp, Number, Tracked, dims, fused_ops, numbers, tensor};

fused_ops! {
    /// The operations on memories that have CPU kernels.
    pub trait FusedMemoryOps {
        /// From state, addresses and changes to the state after them.
        fn memory_step([state, addresses, changes], size: MemorySize) = MemoryOp(size);
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
}

impl FusedOp<3> for MemoryOp {
    type Kept<E: Number> = Kept<E>;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; 3], keep: Keep) -> (FlexTensor, Kept<E>) {
        let (next, kept) = self.view::<E>(inputs).forward(Level::best());
        (tensor(next, &dims::<2>(&inputs[0])), Kept::new(Level::best(), keep, kept))
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; 3],
        output: &FlexTensor,
        kept: &Kept<E>,
        gradient: FlexTensor,
        _: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let (level, step) = (Level::best(), self.view::<E>(inputs));
        let gradients =
            kept.with(level, |kept| step.backward(level, numbers(output), kept, numbers(&gradient)));
        let [state, addresses, changes] = inputs;
        [
            Some(tensor(gradients.state, &dims::<2>(state))),
            Some(tensor(gradients.addresses, &dims::<2>(addresses))),
            Some(tensor(gradients.changes, &dims::<2>(changes))),
        ]
    }
}
