//! `[data]` of graphs.

use matnet::ConfigError;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::config::Amount;
use crate::error::at;

/// Which graph, its transforms and its splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GraphDataConfig {
    /// A dataset's name (`matnet data list`), or the path of your own graph: an .npz, a folder with edges and nodes, a packed graph
    /// (`matnet data pack`), or the table of nodes that `edges` belongs to.
    pub source: String,
    /// The edge list, where `source` is a table of nodes.
    #[serde(default)]
    pub edges: Option<String>,
    /// Which relations are directed: all, none, or those with these names. Default: as the data say, which is none but in
    /// an .npz.
    #[serde(default)]
    pub directed: Option<Directed>,
    /// Seeds the split. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// How the features of a node are normalized. Default: not at all.
    #[serde(default)]
    pub normalize: NormalizeFeatures,
    /// Neighbors per node that a training step aggregates from, drawn anew for every step. Default: all.
    #[serde(default)]
    pub num_neighbors: Option<usize>,
    /// Neighbors per node that evaluations and predictions aggregate from, drawn once for each node. Default: all.
    #[serde(default)]
    pub eval_num_neighbors: Option<usize>,
    /// The probability that a training step drops an edge. Default: 0.
    #[serde(default)]
    pub edge_dropout: f64,
    /// The splits.
    #[serde(default)]
    pub split: GraphSplitConfig,
}

/// Which relations are directed, from the node that aggregates to its neighbor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "true, false, or a list of names of relations, expected")]
pub enum Directed {
    /// All or none.
    All(bool),
    /// Those with these names.
    Only(Vec<String>),
}

/// How the features of a node are normalized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NormalizeFeatures {
    /// Not at all.
    #[default]
    None,
    /// Divided by the sum of their absolute values; a node with none stays as it is.
    Rows,
}

/// How the nodes with a known class are split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GraphSplitConfig {
    /// The rule. Default: public where the graph comes with a split, else random.
    pub rule: Option<GraphSplitRule>,
    /// Validation nodes: a number, or a fraction of those with a class. Default: 0.1.
    pub valid: Option<Amount>,
    /// Test nodes. Default: 0.2.
    pub test: Option<Amount>,
    /// Training nodes per class, for the rule per-class. Default: 20.
    pub per_class: Option<usize>,
    /// Which of several public splits, from 0. Default: the first.
    pub index: Option<usize>,
    /// Whether every seed has its own split: with the rule public the one of its number, starting again after the last. Default: no,
    /// all share one.
    pub per_seed: bool,
}

/// The rules for splitting nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphSplitRule {
    /// The split that comes with the graph.
    Public,
    /// At random.
    Random,
    /// So many training nodes per class, at random; validation and test from the others.
    PerClass,
}

impl GraphDataConfig {
    /// Everything that can be checked without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        for (key, amount) in [("split.valid", self.split.valid), ("split.test", self.split.test)] {
            if let Some(amount) = amount {
                amount.check(key)?;
            }
        }
        for (key, most) in
            [("num_neighbors", self.num_neighbors), ("eval_num_neighbors", self.eval_num_neighbors)]
        {
            if most == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1; leave it out for all");
            }
        }
        if !(0.0..1.0).contains(&self.edge_dropout) {
            let value = self.edge_dropout.to_string();
            return wrong("edge_dropout", value, "must be at least 0 and below 1");
        }
        if let Some(index) = self.split.index {
            if self.split.per_seed {
                return wrong(
                    "split.index",
                    index.to_string(),
                    "with split.per_seed the seed selects the split",
                );
            }
            if !matches!(self.split.rule, None | Some(GraphSplitRule::Public)) {
                return wrong("split.index", index.to_string(), "only the rule public uses it");
            }
        }
        match (self.split.per_class, self.split.rule) {
            (Some(0), _) => wrong("split.per_class", "0".to_owned(), "must be at least 1"),
            (Some(count), rule) if rule != Some(GraphSplitRule::PerClass) => {
                wrong("split.per_class", count.to_string(), "only the rule per-class uses it")
            }
            _ => Ok(()),
        }
    }
}
