//! `matnet inspect`

use std::io::{self, Write};

use burn::tensor::Device;
use matnet_train::Run;
use matnet_train::compare::Planner;
use matnet_train::inspect::{self, Layer, graph_layers, layers, program_layers, story_layers};
use matnet_train::run::Plan;
use matnet_train::task::Task;

use super::{data, train};
use crate::cli::Inspect;
use crate::failure::{Failure, Outcome};
use crate::text::{count, counted, number, sides};

/// Says what a net is made of.
pub fn run(args: Inspect) -> Outcome {
    let run = args.what.is_dir().then(|| Run::at(&args.what));
    let mut document = match &run {
        Some(run) if !args.changes.set.is_empty() => {
            let what = "--set changes configs; this is a run, which is what it is";
            return Err(Failure::Usage(format!("{}: {what}", run.folder().display())));
        }
        Some(run) => run.document()?,
        None => train::read(&args.what, &args.changes)?,
    };
    if let Some(variant) = &args.variant {
        document = train::chosen(&document, variant, &args.changes)?;
    }
    let cache = data::cache(&args.cache)?;
    let plan = Planner::default().plan(&document, &cache)?;
    let (facts, shape, parts, unit) = match &plan {
        Plan::Samples(work) => {
            let (task, net) = (&work.task, work.net(&Device::flex())?);
            let shape = match task.data.time() {
                Some(time) => format!("{time} × {}", sides(&task.data.sides())),
                None => sides(&task.data.sides()),
            };
            (task.facts(), shape, layers(&net, &task.model, task.steps()), "sample")
        }
        Plan::Nodes(work) => {
            let (task, net) = (&work.task, work.net(&Device::flex())?);
            let shape = format!("{} features per node", count(task.data.width));
            (task.facts(), shape, graph_layers(&net, &task.model), "node")
        }
        Plan::Program(work) => {
            let (task, net) = (&work.task, work.net(&Device::flex())?);
            let steps = task.data.config.test_steps();
            let shape = format!("{steps} × {}", sides(&task.model.0.input));
            (task.facts(), shape, program_layers(&net, steps), "sequence")
        }
        Plan::Stories(work) => {
            let (task, net) = (&work.task, work.net(&Device::flex())?);
            let shape = format!(
                "stories of up to {} of {} words",
                counted(task.model.memory(), "sentence"),
                count(task.data.vocabulary.len())
            );
            (task.facts(), shape, story_layers(&net, &task.model), "question")
        }
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{} ({} form) on {}, {shape} in\n", facts.kind, facts.form, facts.source)?;
    table(&mut out, &parts)?;
    let parameters: usize = parts.iter().map(|part| part.parameters).sum();
    let vector: u64 = parts.iter().map(|part| part.vector_parameters).sum();
    let flops: u64 = parts.iter().map(|part| part.flops).sum();
    writeln!(out, "\nparameters   {}", count(parameters))?;
    if vector != parameters as u64 {
        let times = number(vector as f64 / parameters as f64);
        writeln!(
            out,
            "vector net   {} with as many hidden units, {times} times as many",
            count(vector as usize)
        )?;
    }
    writeln!(
        out,
        "products     {} per {unit} forward, three times that to learn from it",
        operations(flops)
    )?;
    if let Some(result) = run.as_ref().map(Run::result).transpose()?.flatten() {
        let test = result.test.map_or_else(|| "not measured".to_owned(), super::table::score);
        writeln!(
            out,
            "trained      {}, the best was {}; test {test}",
            counted(result.epochs, "epoch"),
            result.best_epoch
        )?;
    }
    Ok(())
}

fn table(out: &mut impl Write, parts: &[Layer]) -> io::Result<()> {
    let mut rows =
        vec![["layer", "what", "in", "out", "parameters", "vector net", "Mflop"].map(str::to_owned)];
    for run in inspect::alike(parts) {
        let part = run[0];
        let name = inspect::name(&run);
        let uses = if part.uses > 1 { format!(" ×{}", part.uses) } else { String::new() };
        let (from, to) =
            part.shapes.map_or(("–".to_owned(), "–".to_owned()), |(a, b)| (sides(&a), sides(&b)));
        let each = |number: u64| match run.len() {
            1 => count(number as usize),
            times => format!("{times} × {}", count(number as usize)),
        };
        rows.push([
            name,
            format!("{}{uses}", part.kind),
            from,
            to,
            each(part.parameters as u64),
            each(part.vector_parameters),
            number(part.flops as f64 * run.len() as f64 / 1e6),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0..4 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn operations(flops: u64) -> String {
    match flops {
        0..1_000_000 => format!("{} kflop", number(flops as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} Mflop", number(flops as f64 / 1e6)),
        _ => format!("{} Gflop", number(flops as f64 / 1e9)),
    }
}
