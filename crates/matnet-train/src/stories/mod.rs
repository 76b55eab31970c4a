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
use crate::compare::Series;
use crate::config::Document;
use crate::task::Kind;

/// Whether series of runs are all on stories, and no two on the same tasks: then a mean over them says something.
pub fn on_different_tasks(series: &[Series]) -> bool {
    let tasks = |series: &Series| {
        let document =
            series.runs.first()?.0.document().ok().filter(|document| Kind::of(document) == Kind::Stories)?;
        data_config(&document).ok()?.tasks
    };
    let all: Option<Vec<Vec<usize>>> = series.iter().map(tasks).collect();
    let distinct =
        |all: Vec<Vec<usize>>| all.iter().collect::<std::collections::BTreeSet<_>>().len() == all.len();
    series.len() > 1 && all.is_some_and(distinct)
}

/// The config of stories.
pub fn data_config(document: &Document) -> Result<StoryDataConfig> {
    let config: StoryDataConfig = document.table("data")?;
    config.check()?;
    Ok(config)
}
