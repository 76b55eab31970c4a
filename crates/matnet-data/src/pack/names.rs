//! The names of the files of a packed graph.

pub(super) const FEATURES: &str = "features.npy";
pub(super) const DEGREES: &str = "degrees.npy";
pub(super) const LOOPS: &str = "loops.npy";
pub(super) const ORDER: &str = "order.npy";
pub(super) const LABELS: &str = "labels.npy";
pub(super) const NAMES: &str = "names.txt";
pub(super) const SPLIT: [&str; 3] = ["train.npy", "valid.npy", "test.npy"];

pub(super) fn offsets_name(relation: usize) -> String {
    format!("offsets-{relation}.npy")
}

pub(super) fn neighbors_name(relation: usize) -> String {
    format!("neighbors-{relation}.npy")
}
