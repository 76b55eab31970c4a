//! `matnet inspect`

use std::io::Write;

use matnet::summary::LayerSummary;
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text::{count, counted, number, shape};
use matnet_train::report::group_name;
use matnet_train::run::BEST;
use matnet_train::{Document, Planner, Run};

use super::score::score_text;
use super::train;
use crate::cli::Inspect;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;

/// Summarizes a net, or every variant of a config.
pub fn run(args: Inspect) -> Outcome {
    let run = args.what.is_dir().then(|| Run::at(&args.what));
    let document = match &run {
        Some(run) if !args.overrides.set.is_empty() => {
            let what = "--set overrides configs; a run is what it is";
            return Err(Failure::Usage(format!("{}: {what}", run.folder().display())));
        }
        Some(run) => run.document()?,
        None => train::read(&args.what, &args.overrides)?,
    };
    // Nothing is said of a run that was damaged or edited.
    let result = match &run {
        Some(run) if run.path(BEST).exists() => run.check_weights().and_then(|()| run.result())?,
        Some(run) => run.result()?,
        None => None,
    };
    let names = match &args.variant {
        Some(variant) => vec![variant.clone()],
        None => document.variants(),
    };
    let cache = args.cache.cache()?;
    let (mut planner, mut out) = (Planner::default(), Screen::lock());
    if names.is_empty() {
        summarize(&mut out, &mut planner, &document, &cache)?;
    }
    for (at, name) in names.iter().enumerate() {
        let variant = train::variant_of(&document, name, &args.overrides)?;
        if names.len() > 1 {
            writeln!(out, "{}variant {name}:", if at > 0 { "\n" } else { "" })?;
        }
        summarize(&mut out, &mut planner, &variant, &cache)?;
    }
    if let Some(result) = result {
        let test = result.test.map_or_else(|| "not evaluated".to_owned(), score_text);
        let epochs = counted(result.epochs, "epoch");
        writeln!(out, "trained      {epochs}, the best was {}; test {test}", result.best_epoch)?;
    }
    Ok(())
}

fn summarize(
    out: &mut impl Write,
    planner: &mut Planner,
    document: &Document,
    cache: &matnet_data::catalog::Cache,
) -> Outcome {
    let plan = planner.plan(document, cache)?;
    let (layers, example) = (plan.summary()?, plan.example());
    let (kind, form, source) = (plan.kind(), plan.form(), plan.source());
    writeln!(out, "{kind} ({form} form) on {source}, input {}\n", example.shape)?;
    write!(out, "{}", table(&layers).text())?;
    let parameters: usize = layers.iter().map(|layer| layer.parameters).sum();
    let vector: u64 = layers.iter().map(|layer| layer.vector_parameters).sum();
    let flops: u64 = layers.iter().map(|layer| layer.flops).sum();
    writeln!(out, "\nparameters   {}", count(parameters))?;
    if vector != parameters as u64 {
        let times = number(vector as f64 / parameters as f64);
        let vector = count(vector as usize);
        writeln!(out, "vector net   {vector} with as many hidden units, {times} times as many")?;
    }
    let unit = example.unit;
    writeln!(out, "forward pass {} per {unit}; training takes about three times as many", flop(flops))?;
    Ok(())
}

fn table(layers: &[LayerSummary]) -> Table {
    let mut table = Table::new([
        TableColumn::text("layer"),
        TableColumn::text("kind"),
        TableColumn::text("input"),
        TableColumn::text("output"),
        TableColumn::number("parameters"),
        TableColumn::number("vector net"),
        TableColumn::number("Mflop"),
    ]);
    for group in layers.chunk_by(LayerSummary::alike) {
        let layer = &group[0];
        let uses = if layer.uses > 1 { format!(" ×{}", layer.uses) } else { String::new() };
        let (input, output) = match layer.shapes {
            Some((input, output)) => (shape(&input).into(), shape(&output).into()),
            None => (TableCell::Empty, TableCell::Empty),
        };
        let each = |number: u64| -> TableCell {
            match group.len() {
                1 => TableCell::count(number),
                times => format!("{times} × {}", count(number as usize)).into(),
            }
        };
        table.push([
            group_name(group).into(),
            format!("{}{uses}", layer.kind).into(),
            input,
            output,
            each(layer.parameters as u64),
            each(layer.vector_parameters),
            number(layer.flops as f64 * group.len() as f64 / 1e6).into(),
        ]);
    }
    table
}

fn flop(flops: u64) -> String {
    match flops {
        0..1_000_000 => format!("{} kflop", number(flops as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} Mflop", number(flops as f64 / 1e6)),
        _ => format!("{} Gflop", number(flops as f64 / 1e9)),
    }
}
