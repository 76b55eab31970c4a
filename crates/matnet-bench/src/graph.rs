//! The graphs of the table.

use matnet::graph::Graph;
use matnet::prelude::SeededRng;
use matnet_data::GraphData;
use matnet_data::catalog::{self, Cache, LoadOptions};
use serde::{Deserialize, Serialize};

/// The number of features of a node in a random graph.
const WIDTH: usize = 64;

/// Where a graph comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphSource {
    /// Cora, from matnet's repository.
    Cora,
    /// PubMed, where `MATNET_DATA` or the cache has it.
    PubMed,
    /// A random graph of this many nodes, with ten neighbours on average and 64 features.
    Random(usize),
}

/// How large a graph is.
pub struct GraphSize {
    /// Nodes.
    pub nodes: usize,
    /// Pairs of neighbours, in each direction.
    pub edges: usize,
    /// Features that are not 0.
    pub filled: usize,
}

/// A graph that has been loaded.
pub struct LoadedGraph {
    /// The graph itself.
    pub graph: Graph,
    /// Its edges as they were read.
    pub edges: Vec<(u32, u32)>,
    /// The features of all nodes, row by row.
    pub features: Vec<f32>,
    /// Features of a node.
    pub width: usize,
    /// The class of each node.
    pub labels: Vec<Option<u32>>,
}

impl GraphSource {
    /// Fails with what is missing if the graph is not there.
    pub fn available(&self) -> Result<(), String> {
        match self {
            Self::Cora | Self::Random(_) => Ok(()),
            Self::PubMed => {
                let dataset = catalog::get("pubmed").map_err(|error| error.to_string())?;
                let cache = Cache::standard().map_err(|error| error.to_string())?;
                cache.require(dataset).map(|_| ()).map_err(|error| error.to_string())
            }
        }
    }

    /// How large it is.
    pub fn size(&self) -> Result<GraphSize, String> {
        let loaded = self.load()?;
        let filled = loaded.features.iter().filter(|&&number| number != 0.0).count();
        Ok(GraphSize { nodes: loaded.graph.nodes(), edges: loaded.graph.entries(), filled })
    }

    /// Loads it.
    pub fn load(&self) -> Result<LoadedGraph, String> {
        let data = match *self {
            Self::Cora => "citations",
            Self::PubMed => "pubmed",
            Self::Random(nodes) => return random(nodes),
        };
        let cache = Cache::standard().map_err(|error| error.to_string())?;
        let loaded = catalog::load(data, &cache, LoadOptions::default()).and_then(|data| data.into_graph());
        let GraphData { features, labels, edges, .. } = loaded.map_err(|error| error.to_string())?;
        let graph = Graph::new(labels.len(), &edges, false).map_err(|error| error.to_string())?;
        let width = features.shape().last().copied().unwrap_or(0);
        Ok(LoadedGraph { graph, edges, features: features.into_data(), width, labels })
    }
}

/// Edges between random nodes, the same on every machine.
fn random(nodes: usize) -> Result<LoadedGraph, String> {
    let mut rng = SeededRng::new(3, "graph");
    let edges: Vec<(u32, u32)> =
        (0..5 * nodes).map(|_| (rng.below(nodes) as u32, rng.below(nodes) as u32)).collect();
    let features = (0..nodes * WIDTH).map(|_| rng.uniform() as f32 - 0.5).collect();
    let labels = (0..nodes).map(|node| Some(node as u32)).collect();
    let graph = Graph::new(nodes, &edges, false).map_err(|error| error.to_string())?;
    Ok(LoadedGraph { graph, edges, features, width: WIDTH, labels })
}
