//! What the report of a net on a graph shows.

use matnet::net::GraphNetConfig;
use matnet::random::SeededRng;
use matnet_report::chart::Scatter3d;
use matnet_report::text::{count, number};
use matnet_report::tsne;

use super::{GraphTask, NodeData};
use crate::task::{Dataset, FigureKind, Fitted, Task, TaskFigure, to_vec};
use crate::{Result, Split};

/// Hidden states that are shown; of more, so many are drawn.
const MAX_POINTS: usize = 1000;
/// The perplexity of t-SNE.
const PERPLEXITY: f64 = 30.0;

pub fn facts(data: &NodeData) -> Vec<(&'static str, String)> {
    let (min, mean, max) = data.degrees();
    let nodes = format!(
        "{}: {} nodes with {} features, {} classes",
        data.source(),
        count(data.nodes()),
        count(data.width),
        data.class_names.len()
    );
    vec![("data", nodes), ("degree", format!("{min} to {max}, mean {}", number(mean)))]
}

/// The last hidden states of the test nodes, placed in space by t-SNE from an initial place that the run's seed draws.
pub fn figures<C: GraphNetConfig + 'static>(
    task: &GraphTask<C>,
    fitted: &Fitted<GraphTask<C>>,
    kind: FigureKind,
) -> Result<Vec<TaskFigure>> {
    if kind != FigureKind::Embedding {
        return Ok(Vec::new());
    }
    let data = &task.data;
    let split = if data.split(Split::Test).is_empty() { Split::Valid } else { Split::Test };
    let mut rng = SeededRng::new(fitted.train.seed, "t-SNE");
    let mut nodes = data.split(split).to_vec();
    while nodes.len() > MAX_POINTS {
        nodes.swap_remove(rng.below(nodes.len()));
    }
    let classes = task.classes(&nodes);
    let hidden = task.hidden(&fitted.net, &data.places(&nodes), &fitted.device)?;
    let width = hidden.dims()[1];
    let initial = nodes.iter().map(|_| [0; 3].map(|_: i32| 1e-4 * rng.normal())).collect();
    let placed = tsne(&to_vec(hidden), width, PERPLEXITY, initial);
    let mut points = Scatter3d::new(format!("Hidden states of {}, by t-SNE", data.source()));
    for (class, name) in task.class_names().iter().enumerate() {
        let of_class = placed.iter().zip(&classes).filter(|(_, of)| **of as usize == class);
        points = points.with_class(name.replace('_', " "), of_class.map(|(point, _)| *point));
    }
    Ok(vec![TaskFigure::Embedding(points)])
}
