//! One step of the memory of a Neural Turing Machine.

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use super::composed;
use super::fused::{self, FusedMemoryOps};
use super::memory_state::MemoryState;

/// One step of the memory of a Neural Turing Machine ([Graves et al.](https://arxiv.org/abs/1410.5401)): all heads address their
/// slots, the write heads write, and the read heads read the new memory.
///
/// For a head with the weights w and the address (k′, β′, g′, s′, γ′), over slots m₁ … mₙ:
///
/// ```text
/// k = tanh k′,  β = log(1 + exp β′),  g = sigm g′,  s = softmax s′,  γ = 1 + log(1 + exp γ′)
/// Kₙ = kᵀmₙ / (√(kᵀk + ε) √(mₙᵀmₙ + ε))       similarity of slot and key; ε = 0.01
/// c  = softmax(βK)                            content addressing
/// v  = g c + (1 − g) w                        interpolation
/// ṽₙ = Σⱼ sⱼ v₍ₙ₋ⱼ₎ + δ                          circular shift by j = −shift … shift; δ = 1e-8
/// w′ = softmax(γ log ṽ) = ṽᵞ / Σ ṽᵞ           sharpening
/// ```
///
/// Then the write heads i erase eᵢ = sigm eᵢ′ and add aᵢ = tanh aᵢ′:
///
/// ```text
/// P′ = P ⊙ Πᵢ (1 − wᵢ′eᵢᵀ) + Σᵢ wᵢ′aᵢᵀ
/// R′ = UᵀP′                                   U: the new weights of the read heads, a column each
/// ```
///
/// Reading is `mat1` with attention weights, as in [`MultiAttention`](crate::layer::MultiAttention). All numbers stay finite: ε and δ
/// keep lengths and weights from 0, and powers are computed as a softmax.
///
/// # Shapes
///
/// - `addresses`: `[batch, heads · (width + 4 + 2 · shift)]`: k′, β′, g′, s′, γ′ of each head, read heads first
/// - `changes`: `[batch, 2 · writes · width]`: e′ of each write head, then a′ of each
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn memory_step(state: MemoryState, addresses: Tensor<2>, changes: Tensor<2>) -> MemoryState {
    let MemoryState { size, packed } = state;
    let batch = packed.dims()[0];
    for (name, dims, want) in
        [("addresses", addresses.dims(), size.addresses()), ("changes", changes.dims(), size.changes())]
    {
        assert!(dims == [batch, want], "memory: {name} are {dims:?}, expected {:?}", [batch, want]);
    }
    let dtype = packed.dtype();
    assert!(
        addresses.dtype() == dtype && changes.dtype() == dtype,
        "memory: the tensors hold different numbers"
    );
    if !fused::available(&packed) {
        return composed::memory_step(MemoryState { size, packed }, addresses, changes);
    }
    let packed = Tensor::from_dispatch(Dispatch::memory_step(
        packed.into_dispatch(),
        addresses.into_dispatch(),
        changes.into_dispatch(),
        size,
    ));
    MemoryState { size, packed }
}
