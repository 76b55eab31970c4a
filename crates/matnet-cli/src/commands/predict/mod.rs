//! `matnet predict`: read, answer and write, a part at a time.

mod meter;
mod output;

use std::path::Path;

use matnet_data::inputs::Inputs;
use matnet_train::Run;
use meter::Meter;
use output::Output;

use super::{eval, machine};
use crate::cli::Predict;
use crate::failure::{Failure, Outcome};
use crate::interrupt;

/// Numbers of input at once, unless --batch says how many samples: 16 MiB of them.
const NUMBERS: usize = 4 << 20;
/// More samples at once are no faster.
const MOST: usize = 1024;
/// Samples at once where their size is not known before they are read.
const FILES: usize = 64;

/// Answers for every input.
pub fn run(args: Predict) -> Outcome {
    Output::check(&args.output)?;
    let device = machine::set_up(&args.machine)?;
    let run = Run::at(&args.run);
    let trained = eval::trained(&run, args.weights, &device)?;
    let mut inputs = Inputs::open(&args.input)?;
    if !args.quiet {
        eval::unfinished(&run, &trained)?;
    }
    // From here on a stop is asked for, so that the file begun is taken away.
    interrupt::watch();
    let batch = args.batch.map_or_else(|| standard(&inputs), |batch| batch as usize);
    let mut output = Output::create(&args.output, inputs.len(), &trained.note.classes)?;
    let mut meter = Meter::new(inputs.len(), args.quiet);
    let mut done = 0;
    while let Some(some) = inputs.next(batch)? {
        let count = some.len();
        let answers = trained.answer(some).map_err(|error| about(error, &args.input))?;
        let names = inputs.names().map(|names| &names[done..done + count]);
        output.add(&answers, names)?;
        done += count;
        meter.tell(done);
        if interrupt::asked() {
            return Err(Failure::Stopped);
        }
    }
    meter.clear();
    output.finish()?;
    meter.end(&args.output);
    Ok(())
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
