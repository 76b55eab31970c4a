//! The memory of a Neural Turing Machine, with read and write heads.

use burn::tensor::{DType, Device, Tensor, TensorData};

pub use matnet_kernels::MemorySize;

/// The initial value of every entry of a memory.
const CONSTANT: f32 = 1e-6;

/// A memory, the attention weights of its heads, and their last reads.
#[derive(Clone, Debug)]
pub struct MemoryState {
    /// The sizes.
    pub size: MemorySize,
    /// All parts in one row, `[batch, numbers]`: the reads, the weights, the memory with its slots innermost.
    pub(super) packed: Tensor<2>,
}

impl MemoryState {
    /// The initial memory: the same small number everywhere, all heads at the first slot, all reads 0.
    pub fn start(size: MemorySize, batch: usize, device: &Device) -> Self {
        let mut one = vec![0.0_f32; size.state()];
        let (weights, memory) = (size.reads * size.width, size.state() - size.slots * size.width);
        (0..size.heads()).for_each(|head| one[weights + head * size.slots] = 1.0);
        one[memory..].fill(CONSTANT);
        let packed = Tensor::<2>::from_data(TensorData::new(one, [1, size.state()]), device);
        Self { size, packed: packed.expand([batch, size.state()]) }
    }

    /// A state from its parts, as the functions below return them.
    ///
    /// # Panics
    ///
    /// If the shapes do not fit the sizes or each other.
    pub fn new(size: MemorySize, read: Tensor<3>, weights: Tensor<3>, memory: Tensor<3>) -> Self {
        let batch = memory.dims()[0];
        for (name, dims, want) in [
            ("reads", read.dims(), [batch, size.reads, size.width]),
            ("weights", weights.dims(), [batch, size.heads(), size.slots]),
            ("memory", memory.dims(), [batch, size.slots, size.width]),
        ] {
            assert!(dims == want, "memory: {name} have the shape {dims:?}, expected {want:?}");
        }
        let flat = |part: Tensor<3>| part.flatten::<2>(1, 2);
        let packed = Tensor::cat(vec![flat(read), flat(weights), flat(memory.swap_dims(1, 2))], 1);
        Self { size, packed }
    }

    /// The same with another data type.
    pub fn cast(self, dtype: DType) -> Self {
        Self { size: self.size, packed: self.packed.cast(dtype) }
    }

    /// R: the reads of the read heads, `[batch, reads, width]`.
    pub fn read(&self) -> Tensor<3> {
        let MemorySize { reads, width, .. } = self.size;
        self.part(0, [reads, width])
    }

    /// W: the attention weights of all heads, read heads first, `[batch, heads, slots]`.
    pub fn weights(&self) -> Tensor<3> {
        let MemorySize { reads, width, slots, .. } = self.size;
        self.part(reads * width, [self.size.heads(), slots])
    }

    /// P: the memory, `[batch, slots, width]`.
    pub fn memory(&self) -> Tensor<3> {
        self.transposed().swap_dims(1, 2)
    }

    /// The memory as it is stored, `[batch, width, slots]`.
    pub(super) fn transposed(&self) -> Tensor<3> {
        let MemorySize { width, slots, .. } = self.size;
        self.part(self.size.state() - width * slots, [width, slots])
    }

    fn part(&self, start: usize, [rows, cols]: [usize; 2]) -> Tensor<3> {
        let batch = self.packed.dims()[0];
        self.packed.clone().narrow(1, start, rows * cols).reshape([batch, rows, cols])
    }
}
