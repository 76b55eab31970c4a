//! The elementwise functions that a map may end in.

use crate::vector::Vector;

/// An elementwise function fused into the map before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// x
    Identity,
    /// max(x, 0)
    Relu,
    /// 1 / (1 + exp(−x))
    Sigmoid,
    /// tanh(x)
    Tanh,
}

impl Activation {
    /// f(x)
    #[inline(always)]
    pub(crate) fn apply<S: Vector>(self, s: S, x: S::V) -> S::V {
        match self {
            Self::Identity => x,
            Self::Relu => s.relu(x),
            Self::Sigmoid => s.sigmoid(x),
            Self::Tanh => s.tanh(x),
        }
    }

    /// g · f′(x), f′ being known from y = f(x).
    #[inline(always)]
    pub(crate) fn backward<S: Vector>(self, s: S, y: S::V, g: S::V) -> S::V {
        match self {
            Self::Identity => g,
            Self::Relu => s.where_positive(y, g),
            // g·y·(1 − y) and g·(1 − y²)
            Self::Sigmoid => {
                let gy = s.mul(g, y);
                s.sub(gy, s.mul(gy, y))
            }
            Self::Tanh => s.sub(g, s.mul(s.mul(g, y), y)),
        }
    }
}
