//! The addressing of a head.
//!
//! From its addressing parameters before their activations, k′, β′, g′, s′, γ′:
//!
//! | | | |
//! |---|---|---|
//! | key | k = tanh(k′) | what is compared with the slots |
//! | strength | β = log(1 + exp β′) | how sharp content addressing is |
//! | gate | g = sigm(g′) | content addressing (1), or the weights before (0) |
//! | shifts | s = softmax(s′) | weights of the shifts, from −shift to +shift |
//! | sharpness | γ = 1 + log(1 + exp γ′) | undoes the blur of the shift |
//!
//! ```text
//! Kₙ = kᵀmₙ / (√(kᵀk + ε) √(mₙᵀmₙ + ε))      cosine similarity
//! c = softmax(βK)                            content addressing
//! v = g c + (1 − g) w                        interpolation with the weights before
//! ṽₙ = Σⱼ sⱼ v₍ₙ₋ⱼ₎ + δ                         circular shift
//! w′ = softmax(γ log ṽ)                      sharpening: ṽᵞ, made a distribution
//! ```

use super::MemorySize;
use super::vectors::{apply, dot, softmax};
use crate::Activation;
use crate::simd::{Element, Simd};

/// The addressing parameters of one head, without its key and its shifts.
#[derive(Clone, Copy)]
pub(super) struct Head<E> {
    /// 1/√(kᵀk + ε)
    pub(super) inverse: E,
    /// β
    pub(super) strength: E,
    /// g
    pub(super) gate: E,
    /// γ
    pub(super) sharpness: E,
}

impl<E: Element> Head<E> {
    /// Applies the activations to the address of a head; key and shifts are written to the given slices.
    #[inline(always)]
    pub(super) fn read<S: Simd<Elem = E>>(
        s: S,
        size: &MemorySize,
        address: &[E],
        key: &mut [E],
        shifts: &mut [E],
    ) -> Self {
        let (raw, rest) = address.split_at(size.width);
        apply(s, Activation::Tanh, raw, key);
        softmax(s, E::ONE, &rest[2..2 + shifts.len()], shifts);
        Self {
            inverse: E::ONE / (dot(s, key, key) + E::from_single(super::BLANK)).sqrt(),
            strength: softplus(rest[0]),
            gate: sigmoid(rest[1]),
            sharpness: E::ONE + softplus(rest[2 + shifts.len()]),
        }
    }
}

/// 1 / (1 + exp(−x))
#[inline(always)]
pub(super) fn sigmoid<E: Element>(x: E) -> E {
    let [y] = E::sigmoid([x]);
    y
}

/// log(1 + exp x), which is x + log(1 + exp −x).
#[inline(always)]
fn softplus<E: Element>(x: E) -> E {
    let size = if x > E::ZERO { x } else { -x };
    let [e] = E::exp([-size]);
    let above = if x > E::ZERO { x } else { E::ZERO };
    above + (E::ONE + e).ln()
}
