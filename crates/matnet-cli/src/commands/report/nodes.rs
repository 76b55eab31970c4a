//! The report of a run on a graph.

use burn::tensor::Device;
use matnet::random::SeededRng;
use matnet_report::chart::{Scatter3, Scatter3Class};
use matnet_report::page::Page;
use matnet_report::tsne;
use matnet_train::Run;
use matnet_train::data::Part;
use matnet_train::evaluate::evaluate;
use matnet_train::graph::NodeTask;
use matnet_train::inspect::graph_layers;
use matnet_train::run::Work;
use matnet_train::task::Task;

use super::single;
use crate::failure::Failure;
use crate::text::{count, number};

/// Hidden states that are shown; of more, so many are drawn.
const MOST_POINTS: usize = 1000;
/// Neighbours that count in the picture of hidden states.
const PERPLEXITY: f64 = 30.0;

/// Everything about a run on one page, with its hidden states if they are at hand.
pub fn page(
    run: &Run,
    work: &Work<NodeTask>,
    cloud: Option<&Scatter3>,
    device: &Device,
) -> Result<Page, Failure> {
    let trained = run.trained_on_graph("best.safetensors", device)?;
    let (task, result) = (&work.task, run.result()?);
    let facts = task.facts();
    let name = run.folder().file_name().unwrap_or(run.folder().as_os_str()).to_string_lossy();
    let lede = single::lede(&facts.form, facts.kind, result.as_ref());
    let mut page = Page::new(name.as_ref()).with_lede(lede);
    let parts = graph_layers(&trained.net, &task.model);
    let (least, mean, most) = task.data.degrees();
    let split =
        [Part::Train, Part::Valid, Part::Test].map(|part| count(task.data.part(part).len())).join(" / ");
    let nodes = format!(
        "{}: {} nodes with {} features, {} classes",
        facts.source,
        count(task.data.graph.nodes()),
        count(task.data.width),
        task.data.class_names.len()
    );
    page.facts([
        ("data", nodes),
        ("neighbours of a node", format!("{least} to {most}, {} in the mean", number(mean))),
        ("training / validation / test", split),
        ("parameters", count(parts.iter().map(|part| part.parameters).sum())),
        ("seed", work.train.seed.to_string()),
        ("matnet", env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    for note in facts.notes {
        page.paragraph(&format!("Data: {note}."));
    }
    single::learning(&mut page, run, result.as_ref());
    let part = shown(task);
    if !task.examples(part).is_empty() {
        let found = evaluate(task, &trained.net, task.examples(part), &work.train, device);
        if let Some(confusion) = &found.confusion {
            page.heading("Answers");
            single::confusions(&mut page, confusion, part);
        }
    }
    if let Some(cloud) = cloud {
        page.heading("Hidden states");
        page.cloud(cloud, &format!("The last hidden states of {} nodes, placed by t-SNE.", part.name()));
    }
    page.heading("Parameters");
    page.table(&single::parameters(&parts));
    page.heading("Config");
    page.details("config.toml", |page| page.code(&work.config()));
    Ok(page)
}

fn shown(task: &NodeTask) -> Part {
    if task.examples(Part::Test).is_empty() { Part::Valid } else { Part::Test }
}

/// The last hidden states of the test nodes, placed in space by t-SNE from a first place that the run's seed draws.
pub fn cloud(run: &Run, work: &Work<NodeTask>, title: &str, device: &Device) -> Result<Scatter3, Failure> {
    let trained = run.trained_on_graph("best.safetensors", device)?;
    let task = &work.task;
    let mut rng = SeededRng::new(work.train.seed, "t-SNE");
    let mut nodes = task.examples(shown(task)).to_vec();
    while nodes.len() > MOST_POINTS {
        nodes.swap_remove(rng.below(nodes.len()));
    }
    let classes = task.classes(&nodes);
    let hidden = task.hidden(&trained.net, &nodes, device);
    let width = hidden.dims()[1];
    let data = hidden.into_data();
    let numbers: Vec<f32> = data.iter::<f32>().collect();
    let first = nodes.iter().map(|_| [0; 3].map(|_: i32| 1e-4 * rng.normal())).collect();
    let placed = tsne(&numbers, width, PERPLEXITY, first);
    let mut cloud = Scatter3::new(title);
    for (class, name) in task.class_names().iter().enumerate() {
        let points = placed.iter().zip(&classes).filter(|(_, of)| **of as usize == class);
        cloud = cloud.with_class(Scatter3Class::new(name.replace('_', " "), points.map(|(point, _)| *point)));
    }
    Ok(cloud)
}
