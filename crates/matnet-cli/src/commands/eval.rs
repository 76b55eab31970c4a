//! `matnet eval`

use std::io::{self, Write};

use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text;
use matnet_train::compare::RunSeries;
use matnet_train::report::breakdown_cell;
use matnet_train::task::{Confusion, EvalOptions, Evaluation, OtherData};
use matnet_train::tasks::samples::OCCLUDED_LOSS;
use matnet_train::{Model, Run, Split};
use serde::Serialize;

use crate::cli::{Eval, Weights};
use crate::failure::{Failure, Outcome};
use crate::say;

/// Classes of a confusion matrix that is printed whole, and rows of a long table.
const SHOWN: usize = 20;
/// Class names of at most so many letters stand over the columns of a confusion matrix.
const NARROW: usize = 6;

/// Evaluates a trained net, or the nets of several seeds.
pub fn run(args: Eval) -> Outcome {
    let single = Run::at(&args.run);
    let runs = match single.exists() {
        true => vec![single],
        false => RunSeries::read(&args.run)?.runs.into_iter().map(|(run, _)| run).collect(),
    };
    let mut all = Vec::new();
    for run in &runs {
        all.push(evaluate(&args, run)?);
    }
    let mut out = io::stdout().lock();
    match (args.json, &all[..]) {
        (true, [one]) => serde_json::to_writer_pretty(&mut out, &one).map_err(io::Error::from)?,
        (true, several) => serde_json::to_writer_pretty(&mut out, several).map_err(io::Error::from)?,
        (false, several) => {
            for (at, report) in several.iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                print(&mut out, report)?;
            }
            return Ok(());
        }
    }
    writeln!(out)?;
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
        None => predictor.with_run_data(&cache)?,
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
            false => format!("--split {}: this split of the run's data is empty", split.name()),
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
        evaluation,
    })
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
    let Report { run, weights, epoch, data, split, evaluation } = report;
    let split = if *split == "all" { "all".to_owned() } else { format!("the {split} split") };
    writeln!(out, "{run}: {weights} weights, of epoch {epoch}, on {split} of {data}")?;
    let score = evaluation.score;
    let examples = text::counted(score.examples, "example");
    write!(out, "loss {} over {examples}", text::number(score.loss))?;
    if let Some(loss) = evaluation.metrics.get(OCCLUDED_LOSS) {
        write!(out, ", {} where occluded", text::number(*loss))?;
    }
    if let Some(error) = score.error {
        write!(out, ", error {:.2} %", 100.0 * error)?;
    }
    if let Some(confusion) = &evaluation.confusion {
        let predictions = confusion.counts().iter().flatten().sum::<u64>() as usize;
        let wrong = text::count(evaluation.misclassified.len());
        write!(out, " ({wrong} of {})", text::count(predictions))?;
    }
    writeln!(out)?;
    if let Some(breakdown) = &evaluation.breakdown {
        let columns = breakdown.columns.iter().enumerate().map(|(at, &name)| match at {
            0 => TableColumn::text(name),
            _ => TableColumn::number(name),
        });
        let mut table = Table::new(columns);
        breakdown.rows.iter().for_each(|row| table.push(row.iter().map(breakdown_cell)));
        write!(out, "\n{}", table.text())?;
    }
    let Some(confusion) = &evaluation.confusion else { return Ok(()) };
    writeln!(out)?;
    class_table(out, confusion)?;
    writeln!(out)?;
    match confusion.classes().len() <= SHOWN {
        true => matrix(out, confusion),
        false => most_frequent(out, confusion),
    }
}

/// A row per class; of many, those with the lowest recall.
fn class_table(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let mut order: Vec<usize> = (0..confusion.classes().len()).collect();
    if order.len() > SHOWN {
        let recall = |&class: &usize| confusion.class(class).recall().unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| recall(a).total_cmp(&recall(b)));
        order.truncate(SHOWN);
        let all = text::count(confusion.classes().len());
        writeln!(out, "the {SHOWN} of {all} classes with the lowest recall")?;
    }
    let percent = |share: Option<f64>| -> TableCell {
        share.map_or(TableCell::Empty, |share| format!("{:.1} %", 100.0 * share).into())
    };
    let mut table = Table::new([
        TableColumn::text("class"),
        TableColumn::number("support"),
        TableColumn::number("correct"),
        TableColumn::number("recall"),
        TableColumn::number("predicted"),
        TableColumn::number("precision"),
    ]);
    for class in order {
        let counts = confusion.class(class);
        table.push([
            confusion.classes()[class].as_str().into(),
            TableCell::count(counts.support),
            TableCell::count(counts.correct),
            percent(counts.recall()),
            TableCell::count(counts.predicted),
            percent(counts.precision()),
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
