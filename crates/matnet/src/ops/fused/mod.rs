//! The way from Burn's tensors to the CPU kernels and back, with the hand-written backward passes.
//!
//! Burn routes a custom operation to the backend of its tensors. Only the CPU backend is served here
//! ([`available`] tells); everything else takes the [`composed`](super::composed) way.

mod map;
mod recurrent;

use burn::backend::flex::FlexTensor;
use burn::backend::{Backend, Flex, TensorMetadata, backend_extension, tensor::FloatTensor};
use burn::tensor::{DType, Device, Element, Tensor, TensorData};
use matnet_kernels as kernels;

use super::{Activation, Cell};

/// Whether the kernels can take this tensor.
pub(super) fn available<const D: usize>(tensor: &Tensor<D>) -> bool {
    matches!(tensor.dtype(), DType::F32 | DType::F64) && tensor.device() == Device::flex()
}

/// How a recurrence runs, apart from its tensors.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Which cell.
    pub cell: Cell,
    /// How many steps.
    pub steps: usize,
    /// One input for all steps.
    pub constant: bool,
    /// Hidden states of all steps, or of the last.
    pub all: bool,
}

/// The operations that have CPU kernels.
///
/// Bias and state are always there (zeros stand for none): the set of tensors is the same for each call.
#[backend_extension(Flex, Autodiff)]
pub trait FusedOps: Backend {
    /// f(UᵀXV + B)
    fn mat1(
        input: FloatTensor<Self>,
        row_map: FloatTensor<Self>,
        col_map: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;

    /// f(UpᵀPVp + UqᵀQVq + B)
    #[allow(clippy::too_many_arguments)]
    fn mat2(
        p: FloatTensor<Self>,
        p_row_map: FloatTensor<Self>,
        p_col_map: FloatTensor<Self>,
        q: FloatTensor<Self>,
        q_row_map: FloatTensor<Self>,
        q_col_map: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;

    /// A recurrence. The result is `[batch, outputs, rows, cols]`: H of all steps (or the last), then C of
    /// the last step for an LSTM, whose `memory` is C₀; other cells do not look at it.
    #[allow(clippy::too_many_arguments)]
    fn recurrent(
        input: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        memory: FloatTensor<Self>,
        input_row_map: FloatTensor<Self>,
        input_col_map: FloatTensor<Self>,
        state_row_map: FloatTensor<Self>,
        state_col_map: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        schedule: Schedule,
    ) -> FloatTensor<Self>;
}

impl FusedOps for Flex {
    fn mat1(x: FlexTensor, u: FlexTensor, v: FlexTensor, b: FlexTensor, activation: Activation) -> FlexTensor {
        map::forward(&[x, u, v, b], activation, false).0
    }

    fn mat2(
        p: FlexTensor,
        up: FlexTensor,
        vp: FlexTensor,
        q: FlexTensor,
        uq: FlexTensor,
        vq: FlexTensor,
        b: FlexTensor,
        activation: Activation,
    ) -> FlexTensor {
        map::forward(&[p, up, vp, q, uq, vq, b], activation, false).0
    }

    fn recurrent(
        x: FlexTensor,
        h: FlexTensor,
        c: FlexTensor,
        ux: FlexTensor,
        vx: FlexTensor,
        uh: FlexTensor,
        vh: FlexTensor,
        b: FlexTensor,
        schedule: Schedule,
    ) -> FlexTensor {
        recurrent::forward(&[x, h, c, ux, vx, uh, vh, b], schedule, false).0
    }
}

impl From<Activation> for kernels::Activation {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Identity => Self::Identity,
            Activation::Relu => Self::Relu,
            Activation::Sigmoid => Self::Sigmoid,
            Activation::Tanh => Self::Tanh,
        }
    }
}

impl From<Cell> for kernels::Cell {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Rnn(f) => Self::Rnn(f.into()),
            Cell::Lstm => Self::Lstm,
            Cell::Gru(f) => Self::Gru(f.into()),
        }
    }
}

/// A number that both Burn and the kernels know.
trait Number: Element + kernels::Element + burn::backend::flex::Pod {}
impl Number for f32 {}
impl Number for f64 {}

/// The numbers of a tensor that has been made contiguous.
fn numbers<E: Number>(tensor: &FlexTensor) -> &[E] {
    tensor.as_slice().expect("contiguous, and of the checked type")
}

/// A tensor from numbers.
fn tensor<E: Number>(numbers: Vec<E>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(numbers, shape.to_vec()))
}

/// The sides of a tensor.
fn dims<const N: usize>(tensor: &FlexTensor) -> [usize; N] {
    tensor.shape().dims()
}
