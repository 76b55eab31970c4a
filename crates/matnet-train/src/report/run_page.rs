//! The report of one run.

use matnet::net::Net;
use matnet::summary::LayerSummary;
use matnet::weights;
use matnet_report::chart::Scatter3d;
use matnet_report::page::Page;
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text::{count, number, shape};

use super::{curves, outcomes};
use crate::draw;
use crate::metrics::Metric;
use crate::run::{RunResult, Score, Transfer, files};
use crate::task::{Breakdown, EvalOptions, Fitted, Task, TaskData};
use crate::{Result, Split};

/// Layers whose maps are shown at once.
const SHOWN_LAYERS: usize = 1;
/// Layers whose maps are on the page at all.
const MAX_LAYERS: usize = 12;

/// Everything about a run on one page.
pub fn page<T: Task>(fitted: &Fitted<T>, embedding: Option<&Scatter3d>) -> Result<Page> {
    let Fitted { kind, task, net, train, run, .. } = fitted;
    let result = run.result()?;
    let layers = net.summary(task.example().steps);
    let mut page = Page::new(run.name()).with_summary(summary(kind, &task.form(), result.as_ref()));
    facts(&mut page, fitted, &layers)?;

    page.heading("Training");
    page.figures(curves::of_run(run)?);
    if let Some(result) = &result {
        page.table(&scores(result));
    }

    let split = if task.data().split(Split::Test).is_empty() { Split::Valid } else { Split::Test };
    let evaluation = match task.data().split(split).is_empty() {
        true => None,
        false => Some(task.evaluate(net, split, train, &EvalOptions::default(), &fitted.device)?),
    };
    page.heading("Predictions");
    if let Some(evaluation) = &evaluation {
        if let Some(breakdown) = &evaluation.breakdown {
            page.table(&breakdown_table(breakdown, split));
        }
        outcomes::section(&mut page, evaluation, split);
    }
    task.report_sections(fitted, evaluation.as_ref().map(|evaluation| (evaluation, split)), &mut page)?;
    if let Some(embedding) = embedding {
        page.heading("Hidden states");
        page.scatter3d(
            embedding,
            &format!("The last hidden states of {} nodes, placed by t-SNE.", split.name()),
        );
    }

    page.heading("Parameters");
    page.table(&layer_table(&layers));
    maps(&mut page, &layers, fitted)?;
    page.heading("Config");
    let config = files::read_text(&run.path("config.toml"))?.unwrap_or_default();
    page.details("config.toml", |page| page.code(&config));
    Ok(page)
}

fn summary(kind: &str, form: &str, result: Option<&RunResult>) -> String {
    let net = format!("{kind} ({form} form)");
    let Some(result) = result else { return format!("{net}: not finished yet.") };
    let (score, split) = match (result.test, result.valid) {
        (Some(score), _) => (Some(score), Split::Test),
        (None, score) => (score, Split::Valid),
    };
    let score = match score {
        Some(Score { error: Some(error), .. }) => {
            format!("{} error {:.2} %", split.title(), 100.0 * error)
        }
        Some(Score { loss, .. }) => format!("{} loss {}", split.title(), number(loss)),
        None => "no validation or test split".to_owned(),
    };
    format!("{net}, {} parameters: {score}.", count(result.parameters))
}

fn facts<T: Task>(page: &mut Page, fitted: &Fitted<T>, layers: &[LayerSummary]) -> Result<()> {
    let Fitted { task, net, train, .. } = fitted;
    let sizes = Split::ALL.map(|split| count(task.data().split(split).len())).join(" / ");
    let parameters: usize = layers.iter().map(|layer| layer.parameters).sum();
    let vector: u64 = layers.iter().map(|layer| layer.vector_parameters).sum();
    let flops: u64 = layers.iter().map(|layer| layer.flops).sum();
    let mut facts = task.report_facts(net);
    facts.push(("training / validation / test", sizes));
    facts.push(("parameters", count(parameters)));
    if vector != parameters as u64 {
        facts.push(("parameters of a vector net with as many hidden units", count(vector as usize)));
    }
    let unit = task.example().unit;
    facts.push(("forward pass", format!("{} Mflop per {unit}", number(flops as f64 / 1e6))));
    facts.push(("seed", train.seed.to_string()));
    facts.push(("matnet", env!("CARGO_PKG_VERSION").to_owned()));
    page.facts(facts);
    for note in task.data().notes() {
        page.paragraph(&format!("Data: {note}."));
    }
    if let Some(transfer) = Transfer::of(&fitted.run)? {
        page.paragraph(&format!("Fine-tuning: {transfer}."));
    }
    if !train.freeze.is_empty() {
        page.paragraph(&format!("Not trained: {}.", train.freeze.join(", ")));
    }
    Ok(())
}

/// A row per metric, a column per split.
fn scores(result: &RunResult) -> Table {
    let all = [result.train, result.valid, result.test];
    let splits: Vec<(Split, Score)> =
        Split::ALL.into_iter().zip(all).filter_map(|(split, score)| Some((split, score?))).collect();
    let caption = format!(
        "Weights of epoch {}, the best of {}; ↑ higher is better, ↓ lower is better.",
        result.best_epoch, result.epochs
    );
    let columns = splits.iter().map(|(split, _)| TableColumn::number(split.title()));
    let mut table = Table::new(std::iter::once(TableColumn::text("")).chain(columns)).with_caption(caption);
    let examples = splits.iter().map(|(_, score)| TableCell::count(score.examples as u64));
    table.push(std::iter::once("examples".into()).chain(examples));
    for metric in Metric::ALL {
        let values: Vec<Option<f64>> = splits.iter().map(|(_, score)| score.metric(metric)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let cells = values.into_iter().map(|value| metric_cell(metric, value));
        table.push(std::iter::once(metric_title(metric).into()).chain(cells));
    }
    table
}

/// What a metric is called, its unit and which direction is better.
pub fn metric_title(metric: Metric) -> String {
    let unit = if metric == Metric::Error { " (%)" } else { "" };
    format!("{}{unit} {}", metric.title(), metric.arrow())
}

/// The value of a metric as a cell of a table; error rates in percent.
pub fn metric_cell(metric: Metric, value: Option<f64>) -> TableCell {
    match (value, metric) {
        (None, _) => TableCell::Empty,
        (Some(value), Metric::Error) => TableCell::number(100.0 * value, 2),
        (Some(value), Metric::Mae | Metric::Rmse) => number(value).into(),
        (Some(value), _) => TableCell::number(value, 4),
    }
}

fn breakdown_table(breakdown: &Breakdown, split: Split) -> Table {
    let columns = breakdown.columns.iter().enumerate().map(|(at, &name)| match at {
        0 => TableColumn::text(name),
        _ => TableColumn::number(name),
    });
    let mut table = Table::new(columns).with_caption(format!("Scores on the {} split.", split.title()));
    for row in &breakdown.rows {
        table.push(row.iter().map(breakdown_cell));
    }
    table
}

/// A value of a breakdown as a cell of a table.
pub fn breakdown_cell(value: &serde_json::Value) -> TableCell {
    match (value.as_u64(), value.as_f64(), value.as_str()) {
        (Some(count), _, _) => TableCell::count(count),
        (None, Some(number), _) => TableCell::number(number, 4),
        (None, None, Some(text)) => text.into(),
        _ => TableCell::Empty,
    }
}

fn layer_table(layers: &[LayerSummary]) -> Table {
    let mut table = Table::new([
        TableColumn::text("layer"),
        TableColumn::text("kind"),
        TableColumn::text("input"),
        TableColumn::text("output"),
        TableColumn::number("uses"),
        TableColumn::number("parameters"),
        TableColumn::number("in a vector net"),
        TableColumn::number("Mflop"),
    ]);
    for group in layers.chunk_by(LayerSummary::alike) {
        let (layer, times) = (&group[0], group.len() as u64);
        let (input, output) = match layer.shapes {
            Some((input, output)) => (shape(&input).into(), shape(&output).into()),
            None => (TableCell::Empty, TableCell::Empty),
        };
        table.push([
            group_name(group).into(),
            layer.kind.into(),
            input,
            output,
            TableCell::count(layer.uses as u64 * times),
            TableCell::count(layer.parameters as u64 * times),
            TableCell::count(layer.vector_parameters * times),
            TableCell::number(times as f64 * layer.flops as f64 / 1e6, 3),
        ]);
    }
    table
}

/// The names of layers that stand together.
pub fn group_name(group: &[LayerSummary]) -> String {
    match group {
        [] => String::new(),
        [layer] => layer.name.clone(),
        [first, .., last] => format!("{} … {}", first.name, last.name),
    }
}

/// U and V: those of the first layers at once, of some more on request.
fn maps<T: Task>(page: &mut Page, layers: &[LayerSummary], fitted: &Fitted<T>) -> Result<()> {
    let named = weights::named(&fitted.net);
    let mut all = Vec::new();
    for layer in layers.iter().filter(|layer| layer.kind.starts_with("matrix")).take(MAX_LAYERS) {
        all.push(draw::maps(&layer.name, &named)?);
    }
    if all.is_empty() {
        return Ok(());
    }
    page.subheading("Maps");
    let later = all.split_off(all.len().min(SHOWN_LAYERS));
    for figures in all {
        page.figures(figures);
    }
    if !later.is_empty() {
        page.details("the maps of further layers", |page| {
            for figures in later {
                page.figures(figures);
            }
        });
    }
    Ok(())
}
