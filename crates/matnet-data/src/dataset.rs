//! What a dataset is once it has been read: typed arrays that say what they hold.

use crate::Array;

/// What a net is to learn from the inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Nothing: the inputs themselves, as for an auto-encoder.
    None,
    /// One class per sample, below `names.len()`.
    Classes {
        /// The class of each sample.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// One class per step of each sequence, below `names.len()`.
    Steps {
        /// The classes, all steps of a sample after one another.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// One matrix (or sequence of matrices) per sample.
    Matrices(Array),
}

/// Samples that stand on their own: matrices `[n, rows, cols]` or sequences of matrices
/// `[n, time, rows, cols]`, with what is to be learnt from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The inputs.
    pub inputs: Array,
    /// What to learn from them.
    pub target: Target,
    /// Which group (the subject of a trial, say) each sample belongs to, for splits that keep groups
    /// apart; empty where there are none.
    pub groups: Vec<u32>,
    /// A name per group.
    pub group_names: Vec<String>,
}

/// Nodes with features and classes, joined by edges.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphData {
    /// Node features `[nodes, features]`.
    pub features: Array,
    /// A name per node; empty where they are only counted.
    pub node_names: Vec<String>,
    /// The class of each node, `None` where it is not known.
    pub labels: Vec<Option<u32>>,
    /// A name per class.
    pub class_names: Vec<String>,
    /// Edges as stored in the source: (from, to), repeats and self loops included.
    pub edges: Vec<(u32, u32)>,
    /// Which relation each edge is of; empty where there is only one.
    pub relations: Vec<u32>,
    /// A name per relation; empty where there is only one.
    pub relation_names: Vec<String>,
    /// Whether edges go one way only; else each end hears the other.
    pub directed: bool,
    /// The public split that came with the data, if one did.
    pub split: Option<crate::Split>,
}

impl GraphData {
    /// The edges of each relation, in the order of their names.
    pub fn edges_by_relation(&self) -> Vec<Vec<(u32, u32)>> {
        if self.relations.is_empty() {
            return vec![self.edges.clone()];
        }
        let mut lists = vec![Vec::new(); self.relation_names.len()];
        for (&edge, &relation) in self.edges.iter().zip(&self.relations) {
            lists[relation as usize].push(edge);
        }
        lists
    }
}

/// Positions of the samples (or nodes) of each part; no position stands in two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Split {
    /// What the net learns from.
    pub train: Vec<usize>,
    /// What decides when to stop.
    pub valid: Vec<usize>,
    /// What the result is measured on.
    pub test: Vec<usize>,
}
