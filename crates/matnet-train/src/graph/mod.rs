//! Nets on graphs: their data, the nets behind one type, and the task whose examples are nodes.

mod data;
mod model;
mod task;
mod trained;

pub use data::{GraphDataConfig, GraphSplitConfig, GraphSplitRule, Normalise, PreparedGraph};
pub use model::{GRAPH_KINDS, GraphModel, GraphModelConfig};
pub use task::{NodeNote, NodeTask};
pub use trained::TrainedOnGraph;

use crate::Result;
use crate::config::Document;

/// Whether a config is that of a net on a graph, which its `model.kind` says.
pub fn is_graph(document: &Document) -> bool {
    let kind = document.model().ok().and_then(|table| Some(table.get("kind")?.as_str()?.to_owned()));
    kind.is_some_and(|kind| GRAPH_KINDS.contains(&kind.as_str()))
}

/// The config of a graph.
pub fn data_config(document: &Document) -> Result<GraphDataConfig> {
    let config: GraphDataConfig = document.table("data")?;
    config.check()?;
    Ok(config)
}
