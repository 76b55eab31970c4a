//! The splits of a dataset.

use serde::{Deserialize, Serialize};

/// The splits of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// What the net is trained on.
    Train,
    /// What selects the best epoch and stops training early.
    Valid,
    /// What the result is measured on; it decides nothing.
    Test,
}

impl Split {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];

    /// The name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }

    /// The name in sentences and charts.
    pub fn title(self) -> &'static str {
        match self {
            Self::Train => "training",
            Self::Valid => "validation",
            Self::Test => "test",
        }
    }

    /// The examples of this split.
    pub(crate) fn of(self, indices: &matnet_data::SplitIndices) -> &[usize] {
        match self {
            Self::Train => &indices.train,
            Self::Valid => &indices.valid,
            Self::Test => &indices.test,
        }
    }
}
