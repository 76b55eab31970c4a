//! What a head is told, as it acts upon it.
//!
//! From the numbers of its address, k′, β′, g′, s′, γ′:
//!
//! | | | |
//! |---|---|---|
//! | key | k = tanh(k′) | what it looks for |
//! | strength | β = log(1 + exp β′) | how much better a match must be to count |
//! | gate | g = sigm(g′) | by content (1), or from where it was (0) |
//! | shifts | s = softmax(s′) | how far it moves, from −shift to +shift |
//! | sharpness | γ = 1 + log(1 + exp γ′) | what moving has blurred is made sharp again |
//!
//! ```text
//! Kₙ = kᵀmₙ / (√(kᵀk + ε) √(mₙᵀmₙ + ε))      similarity, by the cosine
//! c = softmax(βK)                            by content
//! v = g c + (1 − g) w                        interpolation with the weights before
//! ṽₙ = Σⱼ sⱼ v₍ₙ₋ⱼ₎ + δ                         circular shift
//! w′ = softmax(γ log ṽ)                      sharpening: ṽᵞ, made a distribution
//! ```

use super::MemorySize;
use super::vectors::{apply, dot, softmax};
use crate::Activation;
use crate::simd::{Element, Simd};

/// The numbers of one head that are not its key or its shifts.
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
    /// Understands the address of a head; its key and shifts are put where they are to stand.
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
