//! The types that every reader returns: plain arrays with targets, graphs, and stories with questions.

mod array;
mod byte_array;
mod stories;

use std::ops::Range;

pub use array::Array;
pub use byte_array::ByteArray;
pub(crate) use byte_array::grey_to_f32;
pub use stories::{QaTask, Question, Story, StoryData, tokenize};

use crate::{Error, Result};

/// A dataset that has been loaded, by name ([`catalog::load`](crate::catalog::load)) or by path
/// ([`local::load`](crate::local::load)).
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The data.
    pub contents: Contents,
    /// The samples that the publisher keeps for testing, if the data come with an official test set.
    pub official_test: Option<Range<usize>>,
    /// Remarks for the user: trials skipped, sequences generated, padding, …
    pub notes: Vec<String>,
}

/// The kinds of data.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Matrices or sequences of matrices.
    Samples(Samples),
    /// A graph with node features.
    Graph(GraphData),
    /// Stories with questions.
    Stories(StoryData),
}

impl Dataset {
    /// The samples; fails if the dataset holds something else.
    pub fn into_samples(self) -> Result<Samples> {
        match self.contents {
            Contents::Samples(samples) => Ok(samples),
            other => Err(other.mismatch("matrices or sequences")),
        }
    }

    /// The graph; fails if the dataset holds something else.
    pub fn into_graph(self) -> Result<GraphData> {
        match self.contents {
            Contents::Graph(graph) => Ok(graph),
            other => Err(other.mismatch("a graph")),
        }
    }

    /// The stories; fails if the dataset holds something else.
    pub fn into_stories(self) -> Result<StoryData> {
        match self.contents {
            Contents::Stories(stories) => Ok(stories),
            other => Err(other.mismatch("stories")),
        }
    }

    pub(crate) fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    pub(crate) fn with_official_test(self, test: Range<usize>) -> Self {
        Self { official_test: Some(test), ..self }
    }
}

impl Contents {
    fn mismatch(&self, expected: &str) -> Error {
        let found = match self {
            Self::Samples(_) => "matrices or sequences",
            Self::Graph(_) => "a graph",
            Self::Stories(_) => "stories",
        };
        Error::Invalid(format!("the dataset holds {found}; {expected} expected"))
    }
}

impl From<Contents> for Dataset {
    fn from(contents: Contents) -> Self {
        Self { contents, official_test: None, notes: Vec::new() }
    }
}

impl From<Samples> for Dataset {
    fn from(samples: Samples) -> Self {
        Contents::Samples(samples).into()
    }
}

impl From<GraphData> for Dataset {
    fn from(graph: GraphData) -> Self {
        Contents::Graph(graph).into()
    }
}

impl From<StoryData> for Dataset {
    fn from(stories: StoryData) -> Self {
        Contents::Stories(stories).into()
    }
}

/// The targets of supervised learning.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// None: unsupervised, as for an autoencoder.
    None,
    /// One class per sample, below `names.len()`.
    Classes {
        /// The class of each sample.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// One class per step of each sequence, below `names.len()`.
    StepClasses {
        /// The classes, sample after sample, step after step.
        labels: Vec<u32>,
        /// A name per class.
        names: Vec<String>,
    },
    /// One matrix, or sequence of matrices, per sample.
    Matrices(Array),
}

/// Independent samples: matrices `[n, rows, cols]` or sequences of matrices `[n, time, rows, cols]`, with their targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The inputs.
    pub inputs: Array,
    /// The targets.
    pub target: Target,
    /// The group of each sample (the subject of a trial, say), for splits by group; empty where there are none.
    pub groups: Vec<u32>,
    /// A name per group.
    pub group_names: Vec<String>,
}

impl Samples {
    /// Samples without groups.
    pub fn new(inputs: Array, target: Target) -> Self {
        Self { inputs, target, groups: Vec::new(), group_names: Vec::new() }
    }

    /// Appends the samples of `other`, which must have the same shape and the same classes; groups are dropped.
    pub(crate) fn concat(self, other: Self) -> Result<Self> {
        let mut shape = self.inputs.shape().to_vec();
        if shape[1..] != other.inputs.shape()[1..] {
            let what = format!("samples of shape {:?} after {:?}", &other.inputs.shape()[1..], &shape[1..]);
            return Err(Error::Invalid(what));
        }
        shape[0] += other.inputs.len();
        let mut data = self.inputs.into_data();
        data.extend_from_slice(other.inputs.data());
        let target = match (self.target, other.target) {
            (Target::Classes { mut labels, names }, Target::Classes { labels: more, .. }) => {
                labels.extend(more);
                Target::Classes { labels, names }
            }
            _ => Target::None,
        };
        Ok(Self::new(Array::new(shape, data)?, target))
    }
}

/// A graph whose nodes have features and classes.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphData {
    /// Node features `[nodes, features]`.
    pub features: Array,
    /// A name per node; empty if the nodes are only numbered.
    pub node_names: Vec<String>,
    /// The class of each node, `None` where it is unknown.
    pub labels: Vec<Option<u32>>,
    /// A name per class.
    pub class_names: Vec<String>,
    /// Edges as stored in the source: (from, to), duplicates and self-loops included.
    pub edges: Vec<(u32, u32)>,
    /// The relation of each edge; empty if there is only one.
    pub relations: Vec<u32>,
    /// A name per relation; empty if there is only one.
    pub relation_names: Vec<String>,
    /// Whether edges have a direction; in an undirected graph both ends aggregate from each other.
    pub directed: bool,
    /// The public split that comes with the data, if there is one.
    pub split: Option<SplitIndices>,
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

/// The indices of the samples (or nodes) in each split; no index is in two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SplitIndices {
    /// The training samples.
    pub train: Vec<usize>,
    /// The validation samples.
    pub valid: Vec<usize>,
    /// The test samples.
    pub test: Vec<usize>,
}
