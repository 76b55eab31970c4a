//! `matnet predict`: read, predict and write, a batch at a time.

mod meter;
mod output;

use std::path::Path;

use matnet_train::Run;
use matnet_train::task::{PredictRequest, PredictedBatch, PredictionStream, Wanted};
use meter::Meter;
use output::Output;

use super::eval;
use crate::cli::Predict;
use crate::failure::{Failure, Outcome};
use crate::interrupt;

/// Predicts for every input.
pub fn run(args: Predict) -> Outcome {
    let inputs: Vec<&Path> = std::iter::once(args.input.as_path()).chain(args.edges.as_deref()).collect();
    Output::check(&args.output, &inputs)?;
    let run = Run::at(&args.run);
    let predictor = run.load(args.weights.file(), &args.machine.device()?)?;
    let cache = args.cache.cache()?;
    let request = PredictRequest {
        input: &args.input,
        edges: args.edges.as_deref(),
        batch_size: args.batch_size.map(|size| size as usize),
        wanted: match (&args.hidden, args.code, args.score) {
            (Some(layer), ..) => Wanted::Hidden(layer),
            (_, true, _) => Wanted::Code,
            (_, _, true) => Wanted::Score,
            _ => Wanted::Predictions,
        },
        cache: &cache,
    };
    let PredictionStream { unit, total, classes, columns, batches } = predictor.predict_file(&request)?;
    if !args.quiet {
        eval::note_unfinished(&run, predictor.epoch())?;
    }
    // From here on a stop is asked for, so that the unfinished file is removed.
    interrupt::watch();
    let mut output = Output::create(&args.output, unit, total, &classes, &columns)?;
    let (mut meter, mut done) = (Meter::new(total, args.quiet), 0);
    for batch in batches {
        let batch = batch?;
        check_finite(&args, &batch, unit, done)?;
        output.add(&batch)?;
        done += batch.predictions.values.len();
        meter.update(done);
        if interrupt::asked() {
            return Err(Failure::Stopped);
        }
    }
    meter.clear();
    output.finish()?;
    meter.end(&args.output);
    Ok(())
}

/// Fails on the first prediction that is not finite, and names its example.
fn check_finite(args: &Predict, batch: &PredictedBatch, unit: &str, done: usize) -> Outcome {
    let values = &batch.predictions.values;
    let Some(at) = values.data().iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let example = at / (values.data().len() / values.len().max(1)).max(1);
    let name =
        batch.names.as_ref().map_or_else(|| (done + example).to_string(), |names| names[example].clone());
    Err(Failure::Failed(format!(
        "{}: {unit} {name}: the prediction is {}; inputs that are finite, and as large as in training, expected",
        args.input.display(),
        values.data()[at]
    )))
}
