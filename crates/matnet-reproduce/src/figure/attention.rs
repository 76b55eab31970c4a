//! Attention weights of memory nets, hop by hop.

use matnet_cli::failure::Failure;
use matnet_train::task::TaskFigure;

use super::{Content, Drawn, Labels};

/// One question of the test split, from the first seed.
pub fn drawn(figures: Vec<TaskFigure>, labels: &Labels) -> Result<Vec<Drawn>, Failure> {
    let first = figures.into_iter().find_map(|figure| match figure {
        TaskFigure::Attention(map) => Some(map.svg()),
        _ => None,
    });
    let drawn = |svg| Drawn {
        name: format!("{}-attention", labels.name),
        caption: format!(
            "{}, {}: attention weights of the sentences of a story, hop by hop; • marks the sentences that support the answer, according to the data.",
            labels.net, labels.data
        ),
        content: Content::Chart(svg),
    };
    Ok(first.map(drawn).into_iter().collect())
}
