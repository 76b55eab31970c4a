//! `matnet predict`: read, answer and write, a part at a time.

mod meter;
mod output;

use std::path::Path;

use burn::tensor::Device;
use matnet_data::Array;
use matnet_data::inputs::Inputs;
use matnet_train::Run;
use matnet_train::graph::{self, PreparedGraph};
use matnet_train::run::Answers;
use matnet_train::stories::{self, PreparedStories};
use matnet_train::task::Kind;
use meter::Meter;
use output::Output;

use super::{data, eval, machine};
use crate::cli::Predict;
use crate::failure::{Failure, Outcome};
use crate::interrupt;

/// Numbers of input at once, unless --batch says how many samples: 16 MiB of them.
const NUMBERS: usize = 4 << 20;
/// More samples at once are no faster.
const MOST: usize = 1024;
/// Samples at once where their size is not known before they are read.
const FILES: usize = 64;

/// A trained net of any kind.
type Answerer = Box<dyn Fn(Array) -> matnet_train::Result<Answers>>;

/// Answers for every input.
pub fn run(args: Predict) -> Outcome {
    Output::check(&args.output)?;
    let run = Run::at(&args.run);
    let kind = run.kind()?;
    if args.edges.is_some() && kind != Kind::Nodes {
        return Err(Failure::Usage(super::NO_EDGES.to_owned()));
    }
    let device = machine::set_up(&args.machine)?;
    let (epoch, classes, answer): (usize, Vec<String>, Answerer) = match kind {
        Kind::Nodes => return nodes(&args, &run, &device),
        Kind::Stories => return questions(&args, &run, &device),
        Kind::Program => {
            let trained = run.trained_program(args.weights.file(), &device)?;
            (trained.note.epoch, Vec::new(), Box::new(move |inputs| trained.answer(inputs)))
        }
        Kind::Samples => {
            let trained = eval::trained(&run, args.weights, &device)?;
            let classes = trained.note.classes.clone();
            (trained.note.epoch, classes, Box::new(move |inputs| trained.answer(inputs)))
        }
    };
    let mut inputs = Inputs::open(&args.input)?;
    if !args.quiet {
        eval::unfinished(&run, epoch)?;
    }
    // From here on a stop is asked for, so that the file begun is taken away.
    interrupt::watch();
    let batch = args.batch.map_or_else(|| standard(&inputs), |batch| batch as usize);
    let mut writing = Writing::new(&args, "sample", inputs.len(), &classes)?;
    while let Some(some) = inputs.next(batch)? {
        let count = some.len();
        let answers = answer(some).map_err(|error| about(error, &args.input))?;
        let names = inputs.names().map(|names| &names[writing.done..writing.done + count]);
        writing.add(&answers, names, count)?;
    }
    writing.finish()
}

/// Answers on their way to a file, and how far they are.
struct Writing<'a> {
    path: &'a Path,
    output: Output,
    meter: Meter,
    done: usize,
}

impl<'a> Writing<'a> {
    /// For answers to so many things of this name.
    fn new(args: &'a Predict, what: &'static str, count: usize, classes: &[String]) -> Result<Self, Failure> {
        let output = Output::create(&args.output, what, count, classes)?;
        Ok(Self { path: &args.output, output, meter: Meter::new(count, args.quiet), done: 0 })
    }

    /// The answers to the next `count`; an error if a stop was asked for.
    fn add(&mut self, answers: &Answers, names: Option<&[String]>, count: usize) -> Outcome {
        self.output.add(answers, names)?;
        self.done += count;
        self.meter.tell(self.done);
        if interrupt::asked() { Err(Failure::Stopped) } else { Ok(()) }
    }

    fn finish(mut self) -> Outcome {
        self.meter.clear();
        self.output.finish()?;
        self.meter.end(self.path);
        Ok(())
    }
}

/// Answers for every node of a graph.
fn nodes(args: &Predict, run: &Run, device: &Device) -> Outcome {
    if args.batch.is_some() {
        return Err(Failure::Usage("--batch: a graph is answered for as a whole".to_owned()));
    }
    let trained = run.trained_on_graph(args.weights.file(), device)?;
    let cache = data::cache(&args.cache)?;
    let document = run.document()?;
    let config = graph::data_config(&document)?;
    let source = args.input.to_string_lossy();
    let edges = args.edges.as_ref().map(|edges| edges.to_string_lossy());
    let graph = PreparedGraph::load_whole(&source, edges.as_deref(), &config, &trained.note, &cache)?;
    if !args.quiet {
        eval::unfinished(run, trained.note.epoch)?;
    }
    let about = |error| about(error, &args.input);
    let task = trained.task(graph.unlabelled(), &document.train()?).map_err(about)?;
    let answers = trained.answer(&task)?;
    let names = Some(&task.data.node_names[..]).filter(|names| !names.is_empty());
    let count = answers.numbers.len();
    let mut writing = Writing::new(args, "node", count, &trained.note.classes)?;
    writing.add(&answers, names, count)?;
    writing.finish()
}

/// Answers for every question of a text.
fn questions(args: &Predict, run: &Run, device: &Device) -> Outcome {
    let trained = run.trained_on_stories(args.weights.file(), device)?;
    let cache = data::cache(&args.cache)?;
    let config = stories::data_config(&run.document()?)?;
    let source = args.input.to_string_lossy();
    let told = PreparedStories::load_whole(&source, &config, &trained.note.words, &cache);
    let told = told.map_err(|error| about(error, &args.input))?;
    if !args.quiet {
        eval::unfinished(run, trained.note.epoch)?;
    }
    interrupt::watch();
    let all = &told.split.test;
    let mut writing = Writing::new(args, "question", all.len(), &trained.note.words)?;
    for some in all.chunks(args.batch.map_or(FILES, |batch| batch as usize)) {
        let answers = trained.answer(&told, some)?;
        let asked: Vec<String> =
            some.iter().map(|&at| told.question(&told.examples[at]).text.clone()).collect();
        writing.add(&answers, Some(&asked), some.len())?;
    }
    writing.finish()
}

/// How many samples at once.
fn standard(inputs: &Inputs) -> usize {
    match inputs.sample_size() {
        Some(size) => (NUMBERS / size.max(1)).clamp(1, MOST),
        None => FILES,
    }
}

/// The same error, said of the inputs.
fn about(error: matnet_train::Error, input: &Path) -> Failure {
    let place = |what: String| format!("{}: {what}", input.display());
    match error {
        matnet_train::Error::Run(what) => Failure::Failed(place(what)),
        matnet_train::Error::Data(matnet_data::Error::Invalid(what)) => Failure::Failed(place(what)),
        other => other.into(),
    }
}
