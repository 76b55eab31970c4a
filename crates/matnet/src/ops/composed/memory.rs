//! The memory of a Neural Turing Machine.

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, softmax, softplus};

use crate::ops::memory_state::{MemorySize, MemoryState};

/// As in the kernels, to the last bit.
const BLANK: f64 = 1e-2_f32 as f64;
const FLOOR: f64 = 1e-8_f32 as f64;

/// See [`memory_step`](crate::ops::memory_step()).
pub fn memory_step(state: MemoryState, addresses: Tensor<2>, changes: Tensor<2>) -> MemoryState {
    let size = state.size;
    let MemorySize { slots, width, reads, writes, shift } = size;
    let memory = state.transposed();
    let batch = memory.dims()[0];
    let addresses = addresses.reshape([batch, size.heads(), size.address()]);
    let param = |from: usize, count: usize| addresses.clone().narrow(2, from, count);
    let (key, strength, gate) = (param(0, width).tanh(), plus(param(width, 1)), sigmoid(param(width + 1, 1)));
    let shifts = softmax(param(width + 2, 1 + 2 * shift), 2);
    let sharpness = plus(param(width + 3 + 2 * shift, 1)) + 1.0;

    let length = |squares: Tensor<3>| (squares + BLANK).sqrt();
    let lengths = length(memory.clone().square().sum_dim(1)) * length(key.clone().square().sum_dim(2));
    let similar = key.matmul(memory.clone()) / lengths;
    let content = softmax(similar * strength, 2);
    let before = state.weights();
    let interpolated = before.clone() + gate * (content - before);
    let mut shifted = interpolated.zeros_like() + FLOOR;
    for at in 0..1 + 2 * shift {
        // By at − shift to the right, which is so far from the end of a whole turn.
        let from = (2 * slots * (1 + shift) - at + shift) % slots;
        let rotated = match from {
            0 => interpolated.clone(),
            _ => Tensor::cat(
                vec![
                    interpolated.clone().narrow(2, from, slots - from),
                    interpolated.clone().narrow(2, 0, from),
                ],
                2,
            ),
        };
        shifted = shifted + rotated * shifts.clone().narrow(2, at, 1);
    }
    let weights = softmax(shifted.log() * sharpness, 2);

    let changes = changes.reshape([batch, 2 * writes, width]);
    let (erased, added) =
        (sigmoid(changes.clone().narrow(1, 0, writes)), changes.narrow(1, writes, writes).tanh());
    let mut after = memory;
    for head in 0..writes {
        let write_weights = weights.clone().narrow(1, reads + head, 1);
        let erase = erased.clone().narrow(1, head, 1).swap_dims(1, 2).matmul(write_weights);
        after = after.clone() - after * erase;
    }
    after = after + added.swap_dims(1, 2).matmul(weights.clone().narrow(1, reads, writes));
    let memory = after.swap_dims(1, 2);
    let read = weights.clone().narrow(1, 0, reads).matmul(memory.clone());
    MemoryState::new(size, read, weights, memory)
}

/// log(1 + exp x)
fn plus(x: Tensor<3>) -> Tensor<3> {
    softplus(x, 1.0)
}
