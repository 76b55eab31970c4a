//! Every net on graphs, behind one type.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use matnet::graph::{GraphInput, Linking};
use matnet::layer::Aggregation;
use matnet::net::{ChebyshevNet, ChebyshevNetConfig, ColumnNet, ColumnNetConfig, Gcn, GcnConfig};
use matnet::random::SeededRng;
use matnet::{ConfigError, Mode, Net};
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use super::PreparedGraph;
use crate::config::{Document, read_table};
use crate::model::WithKind;
use crate::{Error, Result};

/// The words for `model.kind`.
pub const GRAPH_KINDS: [&str; 3] = ["column-net", "gcn", "chebyshev"];

/// The config of a net whose sizes are all known.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphModelConfig {
    /// The column network: with means, with attention, or vectors.
    Column(ColumnNetConfig),
    /// The graph convolutional network.
    Gcn(GcnConfig),
    /// The Chebyshev network.
    Chebyshev(ChebyshevNetConfig),
}

/// A net of any kind.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per run.
pub enum GraphModel {
    /// The column network.
    Column(ColumnNet),
    /// The graph convolutional network.
    Gcn(Gcn),
    /// The Chebyshev network.
    Chebyshev(ChebyshevNet),
}

impl GraphModelConfig {
    /// Reads `[model]` and fills in the sizes that the data decide.
    pub fn read(document: &Document, data: &PreparedGraph) -> Result<Self> {
        let mut table = document.model()?;
        let relations = data.graph.relations();
        let mut decided = vec![("features", data.width), ("classes", data.class_names.len())];
        // Only these nets tell relations apart.
        if table.get("kind").and_then(Value::as_str) == Some("column-net") {
            decided.push(("relations", relations));
        }
        for (key, count) in decided {
            if !table.contains_key(key) {
                table.insert(key.to_owned(), Value::Integer(count as i64));
            }
        }
        let config = Self::from_table(table)?;
        let wrong = |key: &str, value: usize, have: usize| {
            let expected = format!("the data have {have}; leave it out");
            Err(Error::key("model", ConfigError::new(key, value.to_string(), expected)))
        };
        if config.features() != data.width {
            return wrong("features", config.features(), data.width);
        }
        if config.classes() != data.class_names.len() {
            return wrong("classes", config.classes(), data.class_names.len());
        }
        match config.relations() {
            Some(told) if told != relations => wrong("relations", told, relations),
            _ => Ok(config),
        }
    }

    /// Reads `[model]` of a run, where all sizes are written out.
    pub(crate) fn of_run(document: &Document) -> Result<Self> {
        Self::from_table(document.model()?)
    }

    fn from_table(mut table: Table) -> Result<Self> {
        let kind = table.remove("kind");
        Ok(match kind.as_ref().and_then(Value::as_str) {
            Some("column-net") => Self::Column(read_table("model", table)?),
            Some("gcn") => Self::Gcn(read_table("model", table)?),
            Some("chebyshev") => Self::Chebyshev(read_table("model", table)?),
            _ => {
                let what = format!("model.kind: for graphs one of {}", GRAPH_KINDS.join(", "));
                return Err(Error::Config(what));
            }
        })
    }

    /// Draws the first values.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<GraphModel> {
        let model = match self {
            Self::Column(config) => config.init(rng, device).map(GraphModel::Column),
            Self::Gcn(config) => config.init(rng, device).map(GraphModel::Gcn),
            Self::Chebyshev(config) => config.init(rng, device).map(GraphModel::Chebyshev),
        };
        model.map_err(|error| Error::key("model", error))
    }

    /// The word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Column(_) => "column-net",
            Self::Gcn(_) => "gcn",
            Self::Chebyshev(_) => "chebyshev",
        }
    }

    /// matrix, or vector where neighbours are flattened.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Column(config) if config.aggregation == Aggregation::Concat => "vector",
            _ => "matrix",
        }
    }

    /// How many features of a node it takes.
    pub fn features(&self) -> usize {
        match self {
            Self::Column(config) => config.features,
            Self::Gcn(config) => config.features,
            Self::Chebyshev(config) => config.features,
        }
    }

    /// How many relations it tells apart, if it does.
    pub fn relations(&self) -> Option<usize> {
        match self {
            Self::Column(config) => Some(config.relations),
            Self::Gcn(_) | Self::Chebyshev(_) => None,
        }
    }

    /// How many classes it tells apart.
    pub fn classes(&self) -> usize {
        match self {
            Self::Column(config) => config.classes,
            Self::Gcn(config) => config.classes,
            Self::Chebyshev(config) => config.classes,
        }
    }

    /// How often a node's state goes through a part: layers that share parameters count.
    pub fn uses(&self, name: &str) -> usize {
        match self {
            Self::Column(config) if config.tied && name.starts_with("layer.0") => config.height,
            _ => 1,
        }
    }
}

impl Serialize for GraphModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind();
        match self {
            Self::Column(config) => WithKind { kind, config }.serialize(serializer),
            Self::Gcn(config) => WithKind { kind, config }.serialize(serializer),
            Self::Chebyshev(config) => WithKind { kind, config }.serialize(serializer),
        }
    }
}

impl GraphModel {
    /// Scores `[nodes, classes]`.
    pub fn forward(&self, input: GraphInput, mode: &mut Mode) -> Tensor<2> {
        match self {
            Self::Column(net) => net.forward(input, mode),
            Self::Gcn(net) => net.forward(input, mode),
            Self::Chebyshev(net) => net.forward(input, mode),
        }
    }

    /// The last hidden states, `[nodes, hidden]`.
    pub fn hidden(&self, input: &GraphInput) -> Tensor<2> {
        match self {
            Self::Column(net) => net.hidden(input, &mut Mode::Eval),
            Self::Gcn(net) => net.hidden(input, &mut Mode::Eval),
            Self::Chebyshev(net) => net.hidden(input, &mut Mode::Eval),
        }
    }

    /// How states travel along the edges.
    pub fn linking(&self) -> Linking {
        match self {
            Self::Column(net) => net.linking(),
            Self::Gcn(net) => net.linking(),
            Self::Chebyshev(net) => net.linking(),
        }
    }

    /// How far a node hears.
    pub fn hops(&self) -> usize {
        match self {
            Self::Column(net) => net.hops(),
            Self::Gcn(net) => net.hops(),
            Self::Chebyshev(net) => net.hops(),
        }
    }
}
