//! Memory nets: stories and questions as data, the nets behind one type, and the task whose examples are questions.

mod data;
mod model;
mod task;
mod trained;

pub use data::{Example, PreparedStories, StoryDataConfig, StorySize, StorySplitConfig};
pub use model::{STORY_KINDS, StoryModel, StoryModelConfig};
pub use task::{StoryNote, StoryTask};
pub use trained::{Looked, TrainedOnStories};

use crate::Result;
use crate::config::Document;

/// Whether a config is that of a net on stories, which its `model.kind` says.
pub fn is_stories(document: &Document) -> bool {
    let kind = document.model().ok().and_then(|table| Some(table.get("kind")?.as_str()?.to_owned()));
    kind.is_some_and(|kind| STORY_KINDS.contains(&kind.as_str()))
}

/// The config of stories.
pub fn data_config(document: &Document) -> Result<StoryDataConfig> {
    let config: StoryDataConfig = document.table("data")?;
    config.check()?;
    Ok(config)
}
