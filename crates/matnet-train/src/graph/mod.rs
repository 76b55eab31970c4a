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

/// The config of a graph.
pub fn data_config(document: &Document) -> Result<GraphDataConfig> {
    let config: GraphDataConfig = document.table("data")?;
    config.check()?;
    Ok(config)
}
