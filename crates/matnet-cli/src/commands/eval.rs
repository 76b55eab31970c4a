//! `matnet eval`

use std::collections::BTreeMap;
use std::io::{self, Write};

use burn::tensor::Device;
use matnet_train::Run;
use matnet_train::data::{Part, Prepared};
use matnet_train::evaluate::{self, Confusion, Evaluation, evaluate};
use matnet_train::graph::{self, NodeTask, PreparedGraph, TrainedOnGraph};
use matnet_train::run::Trained;
use matnet_train::stories::{self, PreparedStories, StoryTask, TrainedOnStories};
use matnet_train::task::{Kind, SampleTask, Task, UNDER_PATCHES};
use serde::Serialize;

use super::{data, machine, program};
use crate::cli::{Eval, Weights};
use crate::failure::{Failure, Outcome};
use crate::text;

/// With more classes than this, tables show the worst.
const SHOWN: usize = 20;
/// Class names up to this width stand over the columns of a confusion matrix.
const NARROW: usize = 6;

/// Measures a trained net.
pub fn run(args: Eval) -> Outcome {
    let device = machine::set_up(&args.machine)?;
    let run = Run::at(&args.run);
    let kind = run.kind()?;
    if kind != Kind::Program && (!args.length.is_empty() || args.repeats.is_some()) {
        let what = "--length, --repeats: only programs have them: copy, repeat-copy, recall";
        return Err(Failure::Usage(what.to_owned()));
    }
    if kind != Kind::Nodes && args.edges.is_some() {
        return Err(Failure::Usage(super::NO_EDGES.to_owned()));
    }
    let mut tasks = Vec::new();
    let (epoch, source, found) = match kind {
        Kind::Program => return program::eval(&args, &run, &device),
        Kind::Samples => {
            let trained = trained(&run, args.weights, &device)?;
            let task = task(&args, &run, &trained)?;
            (
                trained.note.epoch,
                task.data.config.source.clone(),
                measure(&args, &run, &task, &trained.net, &device),
            )
        }
        Kind::Nodes => {
            let trained = run.trained_on_graph(args.weights.file(), &device)?;
            let task = node_task(&args, &run, &trained)?;
            (
                trained.note.epoch,
                task.data.config.source.clone(),
                measure(&args, &run, &task, &trained.net, &device),
            )
        }
        Kind::Stories => {
            let trained = run.trained_on_stories(args.weights.file(), &device)?;
            let task = story_task(&args, &run, &trained)?;
            let mut found = measure(&args, &run, &task, &trained.net, &device);
            if let Ok(found) = &mut found {
                found.confusion = found.confusion.take().map(|confusion| confusion.used());
                tasks = by_task(&task, task.examples(part(&args)), found);
            }
            (trained.note.epoch, task.data.config.source.clone(), found)
        }
    };
    let found = found?;
    unfinished(&run, epoch)?;
    let mut out = io::stdout().lock();
    let about = About::new(&args, epoch, source);
    match args.json {
        true => json(&mut out, about, &found, &tasks),
        false => words(&mut out, &about, &found, &tasks),
    }?;
    Ok(())
}

/// How well a net does on one of several tasks.
#[derive(Serialize)]
struct OfTask {
    number: usize,
    name: String,
    wrong: usize,
    examples: usize,
    error: f64,
}

/// A line for every task, where there are several.
fn by_task(task: &StoryTask, examples: &[usize], found: &Evaluation) -> Vec<OfTask> {
    let wrong: Vec<usize> = found.wrong.iter().map(|wrong| wrong.example).collect();
    let each = task.by_task(examples, &wrong).into_iter();
    let each: Vec<OfTask> = each
        .map(|(number, name, wrong, examples)| {
            let error = wrong as f64 / examples.max(1) as f64;
            OfTask { number, name, wrong, examples, error }
        })
        .collect();
    if each.len() > 1 { each } else { Vec::new() }
}

/// The error of every task, and their mean.
fn task_table(out: &mut impl Write, tasks: &[OfTask]) -> io::Result<()> {
    let mut rows = vec![["task", "questions", "wrong", "error"].map(str::to_owned).to_vec()];
    for OfTask { number, name, wrong, examples, error } in tasks {
        let error = format!("{:.1} %", 100.0 * error);
        rows.push(vec![format!("{number} {name}"), text::count(*examples), text::count(*wrong), error]);
    }
    let mean = 100.0 * tasks.iter().map(|task| task.error).sum::<f64>() / tasks.len() as f64;
    rows.push(vec!["mean".to_owned(), String::new(), String::new(), format!("{mean:.1} %")]);
    columns(out, &rows)?;
    writeln!(out)
}

/// How well a net does on the part that was asked for.
fn measure<T: Task>(
    args: &Eval,
    run: &Run,
    task: &T,
    net: &T::Net,
    device: &Device,
) -> Result<Evaluation, Failure> {
    let train = run.document()?.train()?;
    let part = part(args);
    let examples = task.examples(part);
    if examples.is_empty() {
        let what = match args.data.is_some() {
            true => "--data: nothing in it has a class to compare with".to_owned(),
            false => format!("--part {}: this part of the run's data is empty", part.name()),
        };
        return Err(Failure::Usage(what));
    }
    Ok(evaluate(task, net, examples, &train, device))
}

/// The part that was asked for; other data are a test as a whole.
pub(super) fn part(args: &Eval) -> Part {
    match (args.part.as_str(), &args.data) {
        ("train", None) => Part::Train,
        ("valid", None) => Part::Valid,
        _ => Part::Test,
    }
}

/// The trained net of a run.
pub(super) fn trained(run: &Run, weights: Weights, device: &Device) -> Result<Trained, Failure> {
    Ok(run.trained(weights.file(), device)?)
}

/// Says so if the weights are those of a run that has not come to its end.
pub(super) fn unfinished(run: &Run, epoch: usize) -> Result<(), Failure> {
    if run.result()?.is_none() {
        let folder = run.folder().display();
        eprintln!("note: {folder} is not finished; these are its weights after epoch {epoch}");
    }
    Ok(())
}

/// The data to measure on.
fn task(args: &Eval, run: &Run, trained: &Trained) -> Result<SampleTask, Failure> {
    let cache = data::cache(&args.cache)?;
    let document = run.document()?;
    let (config, train) = (document.data()?, document.train()?);
    let preprocess = &trained.note.preprocess;
    if let Some(source) = &args.data {
        let data = Prepared::load_whole(source, &config, &cache, preprocess).map_err(about_data)?;
        return trained.task(data, &train).map_err(about_data);
    }
    let data = Prepared::load_for(&config, &cache, train.seed, preprocess)?;
    same_data(run, &data.checksum, &config.source)?;
    Ok(trained.task(data, &train)?)
}

/// The graph to measure on.
fn node_task(args: &Eval, run: &Run, trained: &TrainedOnGraph) -> Result<NodeTask, Failure> {
    let cache = data::cache(&args.cache)?;
    let document = run.document()?;
    let (config, train) = (graph::data_config(&document)?, document.train()?);
    if let Some(source) = &args.data {
        let edges = args.edges.as_deref();
        let data = PreparedGraph::load_whole(source, edges, &config, &trained.note, &cache);
        let data = data.map_err(about_data)?;
        return trained.task(data, &train).map_err(about_data);
    }
    let data = PreparedGraph::load(&config, &cache, train.seed)?;
    same_data(run, &data.checksum, &config.source)?;
    Ok(trained.task(data, &train)?)
}

/// The stories to measure on.
fn story_task(args: &Eval, run: &Run, trained: &TrainedOnStories) -> Result<StoryTask, Failure> {
    let cache = data::cache(&args.cache)?;
    let document = run.document()?;
    let (config, train) = (stories::data_config(&document)?, document.train()?);
    if let Some(source) = &args.data {
        let data = PreparedStories::load_whole(source, &config, &trained.note.words, &cache);
        let mut data = data.map_err(about_data)?;
        let known = |at: &usize| data.examples[*at].answer.is_some();
        data.split.test = data.split.test.iter().copied().filter(known).collect();
        return trained.task(data, &train).map_err(about_data);
    }
    let data = PreparedStories::load(&config, &cache, train.seed)?;
    if data.vocabulary != trained.note.words {
        let what = format!("{}: has other words than the net was trained with", config.source);
        return Err(Failure::Failed(what));
    }
    same_data(run, &data.checksum, &config.source)?;
    Ok(trained.task(data, &train)?)
}

/// The same error, said of --data.
fn about_data(error: matnet_train::Error) -> Failure {
    match Failure::from(error) {
        Failure::Usage(what) => Failure::Usage(format!("--data: {what}")),
        Failure::Failed(what) => Failure::Failed(format!("--data: {what}")),
        other => other,
    }
}

pub(super) fn same_data(run: &Run, checksum: &str, source: &str) -> Outcome {
    if checksum != run.data_checksum()? {
        eprintln!(
            "warning: {source} is not what the run was trained on (its checksum differs); these are not the run's results"
        );
    }
    Ok(())
}

/// What was measured.
#[derive(Serialize)]
pub(super) struct About {
    run: String,
    weights: &'static str,
    epoch: usize,
    data: String,
    part: &'static str,
}

impl About {
    /// Of the weights of an epoch, on these data.
    pub(super) fn new(args: &Eval, epoch: usize, data: String) -> Self {
        Self {
            run: args.run.display().to_string(),
            weights: if args.weights == Weights::Best { "best" } else { "last" },
            epoch,
            data,
            part: if args.data.is_some() { "all" } else { part(args).name() },
        }
    }

    /// The same in words.
    pub(super) fn sentence(&self) -> String {
        let Self { run, weights, epoch, data, part } = self;
        let part = if *part == "all" { "all".to_owned() } else { format!("the {part} part") };
        format!("{run}: {weights} weights, of epoch {epoch}, on {part} of {data}")
    }

    /// Whether it is about the test part.
    pub(super) fn is_test(&self) -> bool {
        self.part == Part::Test.name()
    }
}

fn json(out: &mut impl Write, about: About, found: &Evaluation, tasks: &[OfTask]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Class<'a> {
        name: &'a str,
        examples: u64,
        right: u64,
        given: u64,
        recall: Option<f64>,
        precision: Option<f64>,
    }
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        about: About,
        #[serde(flatten)]
        score: matnet_train::run::Score,
        #[serde(skip_serializing_if = "<[OfTask]>::is_empty")]
        tasks: &'a [OfTask],
        #[serde(flatten)]
        also: &'a BTreeMap<String, f64>,
        classes: Vec<Class<'a>>,
        confusion: &'a [Vec<u64>],
        wrong: &'a [evaluate::Wrong],
    }
    let class = |confusion: &'_ Confusion, at: usize| {
        let count = confusion.class(at);
        (count, count.recall(), count.precision())
    };
    let classes = found.confusion.iter().flat_map(|confusion| {
        confusion.classes().iter().enumerate().map(move |(at, name)| {
            let (count, recall, precision) = class(confusion, at);
            let (examples, right, given) = (count.examples, count.right, count.given);
            Class { name, examples, right, given, recall, precision }
        })
    });
    let whole = Whole {
        about,
        score: found.score,
        tasks,
        also: &found.also,
        classes: classes.collect(),
        confusion: found.confusion.as_ref().map_or(&[], Confusion::counts),
        wrong: &found.wrong,
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

fn words(out: &mut impl Write, about: &About, found: &Evaluation, tasks: &[OfTask]) -> io::Result<()> {
    writeln!(out, "{}", about.sentence())?;
    let score = found.score;
    let examples = text::counted(score.examples, "example");
    write!(out, "loss {} over {examples}", text::number(score.loss))?;
    if let Some(loss) = found.also.get(UNDER_PATCHES) {
        write!(out, ", {} under the patches", text::number(*loss))?;
    }
    let Some((error, confusion)) = score.error.zip(found.confusion.as_ref()) else { return writeln!(out) };
    let answers = confusion.counts().iter().flatten().sum::<u64>() as usize;
    let wrong = text::count(found.wrong.len());
    writeln!(out, ", error {:.2} % ({wrong} of {} wrong)", 100.0 * error, text::count(answers))?;
    writeln!(out)?;
    if !tasks.is_empty() {
        task_table(out, tasks)?;
    }
    class_table(out, confusion)?;
    writeln!(out)?;
    match confusion.classes().len() <= SHOWN {
        true => matrix(out, confusion),
        false => mistakes(out, confusion),
    }
}

/// A line per class; of many, those that are found least often.
fn class_table(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let mut order: Vec<usize> = (0..confusion.classes().len()).collect();
    if order.len() > SHOWN {
        let recall = |&class: &usize| confusion.class(class).recall().unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| recall(a).total_cmp(&recall(b)));
        order.truncate(SHOWN);
        let all = text::count(confusion.classes().len());
        writeln!(out, "the {SHOWN} of {all} classes that are found least often")?;
    }
    let percent =
        |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let mut rows =
        vec![["class", "examples", "right", "found", "answers", "right of them"].map(str::to_owned)];
    for class in order {
        let count = confusion.class(class);
        rows.push([
            confusion.classes()[class].clone(),
            text::count(count.examples as usize),
            text::count(count.right as usize),
            percent(count.recall()),
            text::count(count.given as usize),
            percent(count.precision()),
        ]);
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    columns(out, &rows)
}

/// Which class (the row) was taken for which (the column).
fn matrix(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let names = confusion.classes();
    // Long names would draw the columns apart: numbers stand for them.
    let narrow = names.iter().all(|name| name.chars().count() <= NARROW);
    let label = |class: usize| match narrow {
        true => names[class].clone(),
        false => (class + 1).to_string(),
    };
    writeln!(out, "rows: the right class, columns: the answer")?;
    let mut rows = vec![vec![String::new()]];
    rows[0].extend((0..names.len()).map(label));
    for (right, counts) in confusion.counts().iter().enumerate() {
        let title = if narrow { label(right) } else { format!("{} {}", label(right), names[right]) };
        let count = |&count: &u64| if count == 0 { "·".to_owned() } else { text::count(count as usize) };
        rows.push(std::iter::once(title).chain(counts.iter().map(count)).collect());
    }
    columns(out, &rows)
}

/// The mistakes made most often.
fn mistakes(out: &mut impl Write, confusion: &Confusion) -> io::Result<()> {
    let mistakes = confusion.mistakes();
    if mistakes.is_empty() {
        return writeln!(out, "no class was taken for another");
    }
    let mut rows = vec![["right", "answer", "times"].map(str::to_owned).to_vec()];
    for &(right, given, count) in mistakes.iter().take(SHOWN) {
        let names = confusion.classes();
        rows.push(vec![names[right].clone(), names[given].clone(), text::count(count as usize)]);
    }
    writeln!(out, "the most frequent mistakes")?;
    columns(out, &rows)
}

/// Cells in columns, the first to the left, the others to the right.
pub(super) fn columns(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line += &format!("{cell:<width$}"),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
