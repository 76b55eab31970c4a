//! Hidden states of nets on graphs, in space.

use matnet_cli::failure::Failure;
use matnet_train::task::TaskFigure;

use super::{Content, Drawn, Labels};

/// The last hidden states of the test nodes, from the first seed.
pub fn drawn(figures: Vec<TaskFigure>, labels: &Labels) -> Result<Vec<Drawn>, Failure> {
    let drawn = |figure| match figure {
        TaskFigure::Embedding(points) => Some(Drawn {
            name: format!("{}-embedding", labels.name),
            caption: format!(
                "{}, {}: t-SNE of the last hidden states of the test nodes, first seed.",
                labels.net, labels.data
            ),
            content: Content::Scatter(points),
        }),
        _ => None,
    };
    Ok(figures.into_iter().filter_map(drawn).collect())
}
