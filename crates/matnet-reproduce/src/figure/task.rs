//! Figures that the tasks of the nets draw themselves: hidden states, attention weights, traces.

use matnet_cli::failure::Failure;
use matnet_report::picture::png;
use matnet_train::task::{FigureKind, TaskFigure};

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// A group for every net that has figures of a kind, from its first seed.
pub fn draw(canvas: &mut Canvas, figure: &FigureSpec, kind: FigureKind) -> Result<Groups, Failure> {
    // Of many questions about stories, one is shown.
    let max = if kind == FigureKind::Attention { 1 } else { usize::MAX };
    let mut groups = Vec::new();
    for (column, data) in canvas.columns(figure) {
        for (row, net) in canvas.rows(figure) {
            let Some(model) = canvas.model(column, row)? else { continue };
            let mut group = Vec::new();
            for figure in model.figures(kind)?.into_iter().take(max) {
                let (what, caption, content) = match figure {
                    TaskFigure::Embedding(points) => {
                        let caption =
                            "t-SNE of the last hidden states of the test nodes, first seed.".to_owned();
                        ("embedding", caption, Content::Scatter(points))
                    }
                    TaskFigure::Attention(map) => {
                        let caption = "attention weights of the sentences of a story, hop by hop; • marks the sentences that support the answer, according to the data.".to_owned();
                        ("attention", caption, Content::Chart(map.svg()))
                    }
                    TaskFigure::Trace { name, image, caption } => (name, caption, Content::Png(png(&image)?)),
                };
                group.push(Drawn {
                    name: canvas.name(&[&data.name, &net.name, what]),
                    caption: format!("{}, {}: {caption}", net.label, data.label),
                    content,
                });
            }
            groups.push(group);
        }
    }
    Ok(groups)
}
