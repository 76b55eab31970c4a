//! The way from Burn's tensors to the CPU kernels and back, with the hand-written backward passes.
//!
//! Burn routes a custom operation to the backend of its tensors. Only the CPU backend is served here
//! ([`available`] tells); everything else takes the [`composed`](super::composed) way.

mod attention;
mod batch_norm;
mod chain;
mod graph;
mod map;
mod memory;
mod product;
mod recurrent;
mod saved;

use std::any::TypeId;
use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::{BalancedCheckpointing, CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Backend, Flex, TensorMetadata, tensor::FloatTensor};
use burn::tensor::{DType, Device, Element, Tensor, TensorData};
use matnet_kernels as kernels;

use super::{Activation, Cell, Lengths};

pub(super) use batch_norm::{FusedNormOps, NormOptions};
pub(super) use chain::{FusedChainOps, LONGEST, Tensors};
pub(super) use graph::FusedGraphOps;
pub(super) use memory::FusedMemoryOps;
pub(super) use product::FusedProductOps;
pub use saved::save_as_bf16;

/// Whether the kernels can take this tensor.
pub(super) fn available<const D: usize>(tensor: &Tensor<D>) -> bool {
    matches!(tensor.dtype(), DType::F32 | DType::F64) && tensor.device() == Device::flex()
}

/// How a recurrence runs, apart from its tensors.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Which cell.
    pub cell: Cell,
    /// How many steps.
    pub steps: usize,
    /// One input for all steps.
    pub constant: bool,
    /// Hidden states of all steps, or of the last.
    pub all: bool,
    /// The lengths of padded sequences.
    pub lengths: Option<Lengths>,
}

/// Operations that have CPU kernels. Each is written once: its tensors, its options, and the [`FusedOp`] that runs it. They become a
/// trait for backends, the kernel on the CPU, and the kernel with its gradient under autodiff.
macro_rules! fused_ops {
    (
        $(#[$about:meta])*
        pub trait $ops:ident {
            $(
                $(#[$doc:meta])*
                fn $name:ident([$($tensor:ident),+] $(, $option:ident: $type:ty)*) = $op:expr;
            )+
        }
    ) => {
        $(#[$about])*
        #[burn::backend::backend_extension(Flex, Autodiff)]
        pub trait $ops: Backend {
            $(
                $(#[$doc])*
                #[allow(clippy::too_many_arguments)]
                fn $name($($tensor: FloatTensor<Self>,)+ $($option: $type),*) -> FloatTensor<Self>;
            )+
        }

        impl $ops for Flex {
            $(
                fn $name($($tensor: FlexTensor,)+ $($option: $type),*) -> FlexTensor {
                    $crate::ops::fused::run([$($tensor),+], &$op)
                }
            )+
        }

        impl<C: CheckpointStrategy> $ops for Autodiff<Flex, C> {
            $(
                fn $name($($tensor: Tracked,)+ $($option: $type),*) -> Tracked {
                    $crate::ops::fused::differentiate::<C, _, _>([$($tensor),+], $op)
                }
            )+
        }
    };
}
use fused_ops;

fused_ops! {
    /// The operations that have CPU kernels.
    ///
    /// Bias and state are always there (zeros stand for none): the set of tensors is the same for each call.
    pub trait FusedOps {
        /// f(UᵀXV + B)
        fn mat1([input, row_map, col_map, bias], activation: Activation) = map::MapOp(activation);

        /// f(UpᵀPVp + UqᵀQVq + B)
        fn mat2([p, p_row_map, p_col_map, q, q_row_map, q_col_map, bias], activation: Activation) = map::MapOp(activation);

        /// A recurrence. The result is `[batch, outputs, rows, cols]`: H of all steps (or the last), then C of
        /// the last step for an LSTM, whose `cell_state` is C₀; other cells ignore it.
        fn recurrent(
            [input, hidden, cell_state, input_row_map, input_col_map, state_row_map, state_col_map, bias],
            schedule: Schedule
        ) = recurrent::RecurrentOp(schedule);

        /// As [`recurrent`](Self::recurrent), with what the input gives every gate in the place of the input:
        /// `[gates, batch, time, rows, cols]`, or where there are lengths the packed `[gates, steps, rows, cols]`.
        fn recurrent_mapped(
            [mapped, hidden, cell_state, state_row_map, state_col_map, bias],
            schedule: Schedule
        ) = recurrent::RecurrentOp(schedule);
    }
}

/// A tensor that gradients may be asked of.
type Tracked = FloatTensor<Autodiff<Flex>>;

/// An operation of `N` tensors with a backward pass of its own, for numbers of either kind.
trait FusedOp<const N: usize>: Clone + Debug + Send + 'static {
    /// What the forward pass keeps for the backward pass, beside inputs and output.
    type Kept<E: Number>: Debug + Send + Sync + 'static;

    /// The output, and what the backward pass needs, in the floats that `keep` asks for.
    fn forward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        keep: kernels::Keep,
    ) -> (FlexTensor, Self::Kept<E>);

    /// Whether [`backward`](Self::backward) can do with what a forward pass that kept nothing leaves: it then computes again
    /// what it needs, a part at a time.
    const RECOMPUTES: bool = false;

    /// The gradient of every input that `need` asks for, from that of the output.
    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        output: &FlexTensor,
        kept: &Self::Kept<E>,
        gradient: FlexTensor,
        need: [bool; N],
    ) -> [Option<FlexTensor>; N];
}

/// Runs an operation that no gradient will be asked of.
fn run<const N: usize>(inputs: [FlexTensor; N], op: &impl FusedOp<N>) -> FlexTensor {
    forward(op, &contiguous(inputs), kernels::Keep::Nothing).0
}

/// The forward pass for the kind of numbers that the tensors hold.
fn forward<const N: usize, O: FusedOp<N>>(
    op: &O,
    inputs: &[FlexTensor; N],
    keep: kernels::Keep,
) -> (FlexTensor, Kept<N, O>) {
    if inputs[0].dtype() == DType::F64 {
        let (output, kept) = op.forward(inputs, keep);
        (output, Either::Double(kept))
    } else {
        let (output, kept) = op.forward(inputs, keep);
        (output, Either::Single(kept))
    }
}

/// Runs the forward pass and, where any input is tracked, enters the backward pass into Burn's graph. With gradient checkpointing
/// nothing is kept but inputs and output, and the backward pass computes the rest again.
fn differentiate<C: CheckpointStrategy, const N: usize, O: FusedOp<N>>(
    inputs: [Tracked; N],
    op: O,
) -> Tracked {
    let nodes = inputs.each_ref().map(Tracked::node);
    let inputs = contiguous(inputs.map(Tracked::into_primitive));
    match Wrapped::<N, O>(op.clone()).prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let checkpointing = TypeId::of::<C>() == TypeId::of::<BalancedCheckpointing>();
            let keep = if checkpointing { kernels::Keep::Nothing } else { saved::keep() };
            let (output, kept) = forward(&op, &inputs, keep);
            let complete = !checkpointing || O::RECOMPUTES;
            prep.finish(Arc::new(State { inputs, output: output.clone(), kept, complete }), output)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(&op, &inputs, kernels::Keep::Nothing).0),
    }
}

/// Carries an operation into Burn's graph.
#[derive(Debug)]
struct Wrapped<const N: usize, O>(O);

impl<const N: usize, O: FusedOp<N>> Backward<Flex, N> for Wrapped<N, O> {
    type State = Arc<State<N, O>>;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = grads.consume::<Flex>(&ops.node).to_contiguous();
        let need = ops.parents.each_ref().map(Option::is_some);
        let State { inputs, output, kept, complete } = &*ops.state;
        let again = (!complete).then(|| forward(&self.0, inputs, kernels::Keep::Full).1);
        let gradients = match again.as_ref().unwrap_or(kept) {
            Either::Single(kept) => self.0.backward(inputs, output, kept, gradient, need),
            Either::Double(kept) => self.0.backward(inputs, output, kept, gradient, need),
        };
        for (parent, gradient) in ops.parents.iter().zip(gradients) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

/// What waits in Burn's graph for the backward pass.
#[derive(Debug)]
struct State<const N: usize, O: FusedOp<N>> {
    inputs: [FlexTensor; N],
    output: FlexTensor,
    kept: Kept<N, O>,
    /// Whether `kept` is all that the backward pass needs.
    complete: bool,
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
trait Number: Element + kernels::Element {
    /// The numbers of a tensor that has been made contiguous, `None` if it holds others.
    fn slice(tensor: &FlexTensor) -> Option<&[Self]>;
}

impl Number for f32 {
    fn slice(tensor: &FlexTensor) -> Option<&[Self]> {
        tensor.as_slice()
    }
}

impl Number for f64 {
    fn slice(tensor: &FlexTensor) -> Option<&[Self]> {
        tensor.as_slice()
    }
}

/// What a forward pass keeps, for either kind of number.
#[derive(Debug)]
enum Either<A, B> {
    Single(A),
    Double(B),
}

type Kept<const N: usize, O> = Either<<O as FusedOp<N>>::Kept<f32>, <O as FusedOp<N>>::Kept<f64>>;

/// The numbers of a tensor, which [`available`] has let through and [`contiguous`] has put in order.
fn numbers<E: Number>(tensor: &FlexTensor) -> &[E] {
    E::slice(tensor).expect("all tensors of an operation hold numbers of one kind")
}

/// Slices and transposes of other tensors become tensors of their own.
fn contiguous<const N: usize>(tensors: [FlexTensor; N]) -> [FlexTensor; N] {
    tensors.map(|tensor| tensor.to_contiguous())
}

/// A tensor from numbers.
fn tensor<E: Number>(numbers: Vec<E>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(numbers, shape.to_vec()))
}

/// Gradients as tensors of the shapes of the inputs that they belong to.
fn shaped<E: Number, const N: usize>(
    gradients: Vec<Option<Vec<E>>>,
    inputs: &[FlexTensor; N],
) -> [Option<FlexTensor>; N] {
    let mut gradients = gradients.into_iter();
    inputs.each_ref().map(|input| Some(tensor(gradients.next()??, input.layout().shape())))
}

/// The sides of a tensor.
fn dims<const N: usize>(tensor: &FlexTensor) -> [usize; N] {
    tensor.shape().dims()
}
