//! Several `mat1` in a row on the kernels, as one operation.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::flex::FlexTensor;
use burn::backend::{
    Autodiff, Backend, BackendTensor, Dispatch, DispatchAutodiffContext, DispatchTensor, DispatchTensorKind,
    ExtensionType, Flex, backend_extension, tensor::FloatTensor,
};
use burn::tensor::DType;
use matnet_kernels::{Chain, ChainGradients, Keep, Kept, Level, Link, MapSize};

use super::{FusedOp, Number, Tracked, differentiate, dims, numbers, tensor};
use crate::ops::Activation;

/// So many maps at most make one operation: Burn wants the number of its tensors known when it is compiled.
pub(in crate::ops) const LONGEST: usize = 32;

/// As many tensors as there are.
pub struct Tensors<B: Backend>(pub Vec<FloatTensor<B>>);

/// The operation on maps in a row that has a CPU kernel.
#[backend_extension(Flex, Autodiff)]
pub trait FusedChainOps: Backend {
    /// `mat1` of `mat1` of …; the weights are U, V, B of each, at most [`LONGEST`] times.
    fn chain(
        input: FloatTensor<Self>,
        #[extension_type] weights: Tensors<Self>,
        activations: Vec<Activation>,
    ) -> FloatTensor<Self>;
}

impl FusedChainOps for Flex {
    fn chain(input: FlexTensor, weights: Tensors<Flex>, activations: Vec<Activation>) -> FlexTensor {
        let tensors: Vec<_> =
            [input].into_iter().chain(weights.0).map(|tensor| tensor.to_contiguous()).collect();
        match tensors[0].dtype() {
            DType::F64 => forward::<f64>(&tensors, &activations, Keep::Nothing).0,
            _ => forward::<f32>(&tensors, &activations, Keep::Nothing).0,
        }
    }
}

impl<C: CheckpointStrategy> FusedChainOps for Autodiff<Flex, C> {
    fn chain(input: Tracked, weights: Tensors<Self>, activations: Vec<Activation>) -> Tracked {
        let tensors = [input].into_iter().chain(weights.0);
        match activations.len() {
            0..=4 => differentiate::<C, 13, _>(filled(tensors), ChainOp(activations)),
            5..=8 => differentiate::<C, 25, _>(filled(tensors), ChainOp(activations)),
            9..=16 => differentiate::<C, 49, _>(filled(tensors), ChainOp(activations)),
            _ => differentiate::<C, { 1 + 3 * LONGEST }, _>(filled(tensors), ChainOp(activations)),
        }
    }
}

/// `N` tensors, made up with empty ones that nobody looks at.
fn filled<const N: usize>(mut tensors: impl Iterator<Item = Tracked>) -> [Tracked; N] {
    let all =
        std::array::from_fn(|_| tensors.next().unwrap_or_else(|| Tracked::new(tensor::<f32>(vec![], &[0]))));
    assert!(tensors.next().is_none(), "a chain has at most {LONGEST} maps");
    all
}

/// f(UᵀXV + B) again and again, for tensors X, then U, V, B of each.
#[derive(Clone, Debug)]
struct ChainOp(Vec<Activation>);

impl<const N: usize> FusedOp<N> for ChainOp {
    /// States and middle products.
    type Kept<E: Number> = Kept<E>;

    const RECOMPUTES: bool = true;

    fn forward<E: Number>(&self, inputs: &[FlexTensor; N], keep: Keep) -> (FlexTensor, Kept<E>) {
        forward(inputs, &self.0, keep)
    }

    fn backward<E: Number>(
        &self,
        inputs: &[FlexTensor; N],
        _: &FlexTensor,
        kept: &Kept<E>,
        gradient: FlexTensor,
        need: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let links = links::<E>(inputs, &self.0);
        let chain = Chain { input: numbers(&inputs[0]), links: &links };
        let ChainGradients { input, links } =
            chain.backward(Level::best(), kept, numbers(&gradient), need[0]);
        let weights = links.into_iter().flat_map(|link| [link.row_map, link.col_map, link.bias].map(Some));
        let mut gradients = [input].into_iter().chain(weights);
        std::array::from_fn(|at| Some(tensor(gradients.next()??, inputs[at].layout().shape())))
    }
}

/// The output of the last map, and what the backward pass needs.
fn forward<E: Number>(
    inputs: &[FlexTensor],
    activations: &[Activation],
    keep: Keep,
) -> (FlexTensor, Kept<E>) {
    let links = links(inputs, activations);
    let [batch, ..] = dims::<3>(&inputs[0]);
    let MapSize { rows_out, cols_out, .. } = links[links.len() - 1].size;
    let (output, kept) = Chain { input: numbers(&inputs[0]), links: &links }.forward(Level::best(), keep);
    (tensor(output, &[batch, rows_out, cols_out]), kept)
}

/// The tensors seen as the maps of a chain; as many as there are activations.
fn links<'a, E: Number>(inputs: &'a [FlexTensor], activations: &[Activation]) -> Vec<Link<'a, E>> {
    let link = |(weights, &activation): (&'a [FlexTensor], &Activation)| {
        let [row_map, col_map, bias] = weights else { unreachable!("chunks of three") };
        let ([rows, rows_out], [cols, cols_out]) = (dims(row_map), dims(col_map));
        Link {
            size: MapSize { rows, cols, rows_out, cols_out },
            row_map: numbers(row_map),
            col_map: numbers(col_map),
            bias: numbers(bias),
            activation: activation.into(),
        }
    };
    inputs[1..].chunks_exact(3).zip(activations).map(link).collect()
}

/// Each tensor goes to its backend as if it came alone.
impl<B: Backend> ExtensionType<B> for Tensors<B> {
    type Target = Tensors<Dispatch>;

    fn map_to_dispatch<F>(self, map_kind: F, autodiff: DispatchAutodiffContext) -> Self::Target
    where
        F: Fn(BackendTensor<B>) -> DispatchTensorKind,
    {
        let sent = |tensor| DispatchTensor { kind: map_kind(BackendTensor::Float(tensor)), autodiff };
        Tensors(self.0.into_iter().map(sent).collect())
    }

    fn map_from_dispatch<F>(target: Self::Target, unwrap_kind: F) -> Self
    where
        F: Fn(DispatchTensor) -> BackendTensor<B>,
    {
        Self(target.0.into_iter().map(|tensor| unwrap_kind(tensor).float()).collect())
    }

    fn routing_tensor(target: &Self::Target) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn routing_float_tensor(target: &Self::Target) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn autodiff_context(target: &Self::Target) -> DispatchAutodiffContext {
        let contexts = target.0.iter().map(|tensor| tensor.autodiff);
        contexts.fold(DispatchAutodiffContext::Disabled, DispatchAutodiffContext::merge)
    }
}
