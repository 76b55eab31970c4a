//! `train.precision` and `train.saved_activations`

use burn::tensor::FloatDType;
use serde::{Deserialize, Serialize};

/// The floats that a training step computes with, in the words of PyTorch Lightning. The optimizer's weights and the loss are in 32
/// bits always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// 32 bits.
    #[default]
    #[serde(rename = "32")]
    Full,
    /// Weights, activations and their gradients in IEEE half precision, with loss scaling.
    #[serde(rename = "16-mixed")]
    Half,
    /// The same in bfloat16, which has the range of 32 bits and needs no scaling.
    #[serde(rename = "bf16-mixed")]
    Brain,
}

impl Precision {
    /// Whether it is that of 32 bits.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "32",
            Self::Half => "16-mixed",
            Self::Brain => "bf16-mixed",
        }
    }

    /// The type of the net's numbers in a training step.
    pub fn dtype(self) -> FloatDType {
        match self {
            Self::Full => FloatDType::F32,
            Self::Half => FloatDType::F16,
            Self::Brain => FloatDType::BF16,
        }
    }
}

/// The floats in which the layers of a training step save activations for the backward pass. They are computed in those of
/// [`Precision`] always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedActivations {
    /// As they were computed.
    #[default]
    #[serde(rename = "32")]
    Full,
    /// Rounded to bfloat16, in half the memory.
    #[serde(rename = "bf16")]
    Bf16,
}

impl SavedActivations {
    /// Whether they are saved as they were computed.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "32",
            Self::Bf16 => "bf16",
        }
    }
}
