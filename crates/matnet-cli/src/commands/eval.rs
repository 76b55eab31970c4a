//! `matnet eval`

use std::io::{self, Write};

use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text;
use matnet_train::compare::RunSeries;
use matnet_train::metrics::{PerClass, PerValue};
use matnet_train::report::{breakdown_cell, metric_cell, metric_title};
use matnet_train::task::{Confusion, EvalOptions, Evaluation, OtherData};
use matnet_train::tasks::samples::OCCLUDED_LOSS;
use matnet_train::{Error, Model, Run, Split};
use serde::Serialize;

use crate::cli::{Eval, Weights};
use crate::failure::{Failure, Outcome};
use crate::say;
use crate::screen::Screen;

/// Classes of a confusion matrix that is printed whole, and rows of a long table.
const SHOWN: usize = 20;
/// Class names of at most so many letters stand over the columns of a confusion matrix.
const NARROW: usize = 6;

/// Evaluates a trained net, or the nets of several seeds and variants.
pub fn run(args: Eval) -> Outcome {
    let single = Run::at(&args.run);
    let runs = match single.exists() {
        true => vec![single],
        false => {
            let series = RunSeries::read_variants(&args.run)?;
            series.into_iter().flat_map(|series| series.runs).map(|(run, _)| run).collect()
        }
    };
    let mut all = Vec::new();
    for run in &runs {
        all.push(evaluate(&args, run)?);
    }
    if args.json {
        let mut out = io::stdout().lock();
        match &all[..] {
            [one] => serde_json::to_writer_pretty(&mut out, one).map_err(io::Error::from)?,
            several => serde_json::to_writer_pretty(&mut out, several).map_err(io::Error::from)?,
        }
        return Ok(writeln!(out)?);
    }
    let mut out = Screen::lock();
    for (at, report) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        print(&mut out, report)?;
    }
    Ok(())
}

/// What was evaluated, and how it came out.
#[derive(Serialize)]
struct Report {
    run: String,
    weights: &'static str,
    epoch: usize,
    data: String,
    split: &'static str,
    /// Of several lengths: the one whose score stands first.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
    #[serde(flatten)]
    evaluation: Evaluation,
}

fn evaluate(args: &Eval, run: &Run) -> Result<Report, Failure> {
    let device = args.machine.device()?;
    let cache = args.cache.cache()?;
    let predictor = run.load(args.weights.file(), &device)?;
    let model: Box<dyn Model> = match &args.data {
        Some(source) => {
            let other = OtherData { source, edges: args.edges.as_deref() };
            predictor.with_data(other, &cache).map_err(|error| error.within("--data"))?
        }
        None => predictor.with_run_data(&cache).map_err(without_data)?,
    };
    let asked = !args.length.is_empty() || args.repeats.is_some();
    if args.data.is_none() && !asked && !model.same_data()? {
        say!(
            "warning: {} is not what the run was trained on (its checksum differs); these are not the run's results",
            model.source()
        );
    }
    // Another dataset is a test as a whole.
    let split = match (args.split.as_str(), &args.data) {
        ("train", None) => Split::Train,
        ("valid", None) => Split::Valid,
        _ => Split::Test,
    };
    if model.examples(split).is_empty() {
        return Err(Failure::Usage(match args.data.is_some() {
            true => "--data: nothing in it has a target to compare with".to_owned(),
            false => {
                let others: Vec<&str> = Split::ALL
                    .into_iter()
                    .filter(|&other| !model.examples(other).is_empty())
                    .map(Split::name)
                    .collect();
                let (split, others) = (split.name(), others.join(" or "));
                format!("--split {split}: this split of the run's data is empty; {others} expected")
            }
        }));
    }
    let options = EvalOptions { lengths: args.length.clone(), repeats: args.repeats };
    let evaluation = model.evaluate(split, &options)?;
    note_unfinished(run, model.epoch())?;
    Ok(Report {
        run: run.folder().display().to_string(),
        weights: if args.weights == Weights::Best { "best" } else { "last" },
        epoch: model.epoch(),
        data: model.source().to_owned(),
        split: if args.data.is_some() { "all" } else { split.name() },
        length: args.length.first().copied().filter(|_| args.length.len() > 1),
        evaluation,
    })
}

/// The data of the run are not there, as those of a saved estimator.
fn without_data(error: Error) -> Failure {
    use matnet_data::Error::{Missing, Unknown};
    let Error::DataKey { error: found, .. } = &error else { return error.into() };
    let what = match found {
        Missing(what) => what.clone(),
        Unknown { name, .. } => format!("`{name}` is neither a dataset nor a file"),
        _ => return error.into(),
    };
    Failure::Usage(format!(
        "--data is missing: the data of the run are not there ({what}); a run keeps no data, nor arrays from Python"
    ))
}

/// Says so if the weights are those of a run that is not finished.
pub fn note_unfinished(run: &Run, epoch: usize) -> Outcome {
    if run.result()?.is_none() {
        let folder = run.folder().display();
        say!("note: {folder} is not finished; these are its weights after epoch {epoch}");
    }
    Ok(())
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { run, weights, epoch, data, split, length, evaluation } = report;
    let split = if *split == "all" { "all".to_owned() } else { format!("the {split} split") };
    writeln!(out, "{run}: {weights} weights, of epoch {epoch}, on {split} of {data}")?;
    let score = evaluation.score;
    let examples = text::counted(score.examples, "example");
    write!(out, "loss {} over {examples}", text::number(score.loss))?;
    if let Some(length) = length {
        write!(out, " of length {length}")?;
    }
    if let Some(loss) = evaluation.metrics.get(OCCLUDED_LOSS) {
        write!(out, ", {} where occluded", text::number(*loss))?;
    }
    if let Some(error) = score.error {
        write!(out, ", error {:.2} %", 100.0 * error)?;
    }
    if let Some(confusion) = &evaluation.confusion {
        let predictions = confusion.counts().iter().flatten().sum::<u64>() as usize;
        let wrong = text::count(evaluation.misclassified.len());
        let weighted = evaluation.outcomes.as_ref().is_some_and(|outcomes| outcomes.is_weighted());
        let how = if weighted { ", weighted" } else { "" };
        write!(out, " ({wrong} of {}{how})", text::count(predictions))?;
    }
    writeln!(out)?;
    if let Some(example) = evaluation.not_finite {
        writeln!(out, "the net's outputs for sample {example} are not finite")?;
    }
    if let Some(breakdown) = &evaluation.breakdown {
        let columns = breakdown.columns.iter().enumerate().map(|(at, &name)| match at {
            0 => TableColumn::text(name),
            _ => TableColumn::number(name),
        });
        let mut table = Table::new(columns);
        breakdown.rows.iter().for_each(|row| table.push(row.iter().map(breakdown_cell)));
        write!(out, "\n{}", table.text())?;
    }
    metric_table(out, evaluation)?;
    if !evaluation.per_target.is_empty() {
        writeln!(out)?;
        target_table(out, &evaluation.per_target)?;
    }
    if !evaluation.per_class.is_empty() {
        writeln!(out)?;
        class_table(out, &evaluation.per_class)?;
    }
    let Some(confusion) = &evaluation.confusion else { return Ok(()) };
    writeln!(out)?;
    match confusion.classes().len() <= SHOWN {
        true => matrix(out, confusion),
        false => most_frequent(out, confusion),
    }
}

/// A row per metric, and why some have no value.
fn metric_table(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let mut table = Table::new([TableColumn::text("metric"), TableColumn::number("value")]);
    let mut any = false;
    for (metric, value) in evaluation.score.metrics.iter() {
        table.push([metric_title(metric).into(), metric_cell(metric, Some(value))]);
        any = true;
    }
    if any {
        write!(out, "\n{}", table.text())?;
    }
    for (metric, reason) in &evaluation.undefined {
        writeln!(out, "{metric} is undefined: {reason}")?;
    }
    Ok(())
}

/// A row per target of a regression.
fn target_table(out: &mut impl Write, targets: &[PerValue]) -> io::Result<()> {
    let columns = ["MAE", "RMSE", "R²"].map(TableColumn::number);
    let mut table = Table::new(std::iter::once(TableColumn::text("target")).chain(columns));
    for target in targets {
        let cells = [target.mae, target.rmse, target.r2].map(|value| match value {
            Some(value) => text::number(value).into(),
            None => TableCell::Empty,
        });
        table.push(std::iter::once(target.name.as_str().into()).chain(cells));
    }
    write!(out, "{}", table.text())
}

/// A row per class; of many, those with the lowest recall.
fn class_table(out: &mut impl Write, classes: &[PerClass]) -> io::Result<()> {
    let mut shown: Vec<&PerClass> = classes.iter().collect();
    if shown.len() > SHOWN {
        let recall = |class: &PerClass| class.recall.unwrap_or(f64::INFINITY);
        shown.sort_by(|a, b| recall(a).total_cmp(&recall(b)));
        shown.truncate(SHOWN);
        let all = text::count(classes.len());
        writeln!(out, "the {SHOWN} of {all} classes with the lowest recall")?;
    }
    let percent = |share: Option<f64>| -> TableCell {
        share.map_or(TableCell::Empty, |share| format!("{:.1} %", 100.0 * share).into())
    };
    let score = |value: Option<f64>| value.map_or(TableCell::Empty, |value| TableCell::number(value, 3));
    let numbers = ["support", "correct", "recall", "predicted", "precision", "F1", "AUC"];
    let columns = numbers.map(TableColumn::number);
    let mut table = Table::new(std::iter::once(TableColumn::text("class")).chain(columns));
    for class in shown {
        table.push([
            class.name.as_str().into(),
            TableCell::count(class.support),
            TableCell::count(class.correct),
            percent(class.recall),
            TableCell::count(class.predicted),
            percent(class.precision),
            score(class.f1),
            score(class.auc),
        ]);
    }
    write!(out, "{}", table.text())
}

/// The confusion matrix.
fn matrix(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let names = confusion.classes();
    // Long names would draw the columns apart: numbers stand for them.
    let narrow = names.iter().all(|name| name.chars().count() <= NARROW);
    let label = |class: usize| if narrow { names[class].clone() } else { (class + 1).to_string() };
    writeln!(out, "confusion matrix: rows are the targets, columns the predictions")?;
    let columns = (0..names.len()).map(|class| TableColumn::number(label(class)));
    let mut table = Table::new(std::iter::once(TableColumn::text("")).chain(columns));
    for (target, counts) in confusion.counts().iter().enumerate() {
        let title = if narrow { label(target) } else { format!("{} {}", label(target), names[target]) };
        let cell = |&count: &u64| if count == 0 { "·".into() } else { TableCell::count(count) };
        table.push(std::iter::once(title.into()).chain(counts.iter().map(cell)));
    }
    write!(out, "{}", table.text())
}

/// The most frequent confusions.
fn most_frequent(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let all = confusion.most_frequent();
    if all.is_empty() {
        return writeln!(out, "no class was confused with another");
    }
    let columns = [TableColumn::text("target"), TableColumn::text("predicted"), TableColumn::number("times")];
    let mut table = Table::new(columns);
    for &(target, predicted, count) in all.iter().take(SHOWN) {
        let names = confusion.classes();
        table.push([
            names[target].as_str().into(),
            names[predicted].as_str().into(),
            TableCell::count(count),
        ]);
    }
    writeln!(out, "the most frequent confusions")?;
    write!(out, "{}", table.text())
}
