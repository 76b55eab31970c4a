//! The types that every reader returns: plain arrays with targets, long tables, graphs, and stories with questions.

mod array;
mod byte_array;
mod samples;
mod stories;
mod table;

pub use array::Array;
pub use byte_array::ByteArray;
pub(crate) use byte_array::grey_to_f32;
pub use samples::{Samples, Target};
pub use stories::{QaTask, Question, Story, StoryData, tokenize};
pub use table::{RowCounts, TableData};

use crate::{Error, Result};

/// A dataset that has been loaded, by name ([`catalog::load`](crate::catalog::load)) or by path
/// ([`local::load`](crate::local::load)).
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The data.
    pub contents: Contents,
    /// Remarks for the user: trials skipped, sequences generated, padding, …
    pub notes: Vec<String>,
}

/// The kinds of data.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Matrices or sequences of matrices.
    Samples(Samples),
    /// A long table in the order of time.
    Table(TableData),
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

    /// The long table; fails if the dataset holds something else. One matrix counts as a table: its rows are the times.
    pub fn into_table(self) -> Result<TableData> {
        match self.contents {
            Contents::Table(table) => Ok(table),
            Contents::Samples(Samples { inputs, target: Target::None, .. })
                if inputs.shape().len() == 3 && inputs.len() == 1 =>
            {
                let sides = inputs.shape()[1..].to_vec();
                TableData::new(inputs.reshaped(sides)?)
            }
            other => Err(other.mismatch("one long table")),
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
}

impl Contents {
    fn mismatch(&self, expected: &str) -> Error {
        let found = match self {
            Self::Samples(_) => "matrices or sequences",
            Self::Table(_) => "one long table (`window` and `horizon` make samples of it)",
            Self::Graph(_) => "a graph",
            Self::Stories(_) => "stories",
        };
        Error::Invalid(format!("the dataset holds {found}; {expected} expected"))
    }
}

impl From<Contents> for Dataset {
    fn from(contents: Contents) -> Self {
        Self { contents, notes: Vec::new() }
    }
}

impl From<Samples> for Dataset {
    fn from(samples: Samples) -> Self {
        Contents::Samples(samples).into()
    }
}

impl From<TableData> for Dataset {
    fn from(table: TableData) -> Self {
        Contents::Table(table).into()
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

/// A graph whose nodes have features and classes.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphData {
    /// Node features `[nodes, features]`.
    pub features: Array,
    /// A name per feature; empty if they have none.
    pub feature_names: Vec<String>,
    /// A name per node; empty if the nodes are only numbered.
    pub node_names: Vec<String>,
    /// The class of each node, `None` where it is unknown.
    pub labels: Vec<Option<u32>>,
    /// A name per class.
    pub class_names: Vec<String>,
    /// The weight of each node in the loss; empty if all count the same.
    pub weights: Vec<f32>,
    /// Edges as stored in the source: (from, to), duplicates and self-loops included.
    pub edges: Vec<(u32, u32)>,
    /// The relation of each edge; empty if there is only one.
    pub relations: Vec<u32>,
    /// A name per relation; empty if there is only one.
    pub relation_names: Vec<String>,
    /// Whether edges have a direction; in an undirected graph both ends aggregate from each other.
    pub directed: bool,
    /// The public splits that come with the data; empty if there are none.
    pub splits: Vec<SplitIndices>,
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
