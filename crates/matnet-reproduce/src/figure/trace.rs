//! What a Neural Turing Machine does with a sequence.

use matnet_cli::failure::Failure;
use matnet_report::picture::png;
use matnet_train::task::TaskFigure;

use super::{Content, Drawn, Labels};

/// Input, target and output, and the attention of the heads, from the first seed.
pub fn drawn(figures: Vec<TaskFigure>, labels: &Labels) -> Result<Vec<Drawn>, Failure> {
    let mut group = Vec::new();
    for figure in figures {
        if let TaskFigure::Trace { name, image, caption } = figure {
            group.push(Drawn {
                name: format!("{}-{name}", labels.name),
                caption: format!("{}, {}. {caption}", labels.net, labels.data),
                content: Content::Png(png(&image)?),
            });
        }
    }
    Ok(group)
}
