//! One forward pass for several requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hyper::StatusCode;
use matnet_data::Array;
use matnet_train::task::Predictions;
use matnet_train::{Error, Predictor};

use crate::current::Current;
use crate::passes::Passes;
use crate::queue::Job;
use crate::refusal::{Allowed, Refusal};

/// Predicts for all requests of a batch and answers them.
///
/// What a net predicts for a sample does not depend on the others in its batch. If one request makes the batch fail, each is tried
/// alone, so that the others do not suffer.
pub fn run(passes: &Passes, current: &Arc<Current>, jobs: Vec<Job>) {
    let Some(first) = jobs.first() else { return };
    let most = match passes.samples(&first.inputs.shape()[1..]) {
        Ok(most) => most,
        Err(refusal) => {
            jobs.into_iter().for_each(|job| answer(job, current, Err(refusal.clone())));
            return;
        }
    };
    let (mut together, mut samples) = (Vec::with_capacity(jobs.len()), 0);
    for job in jobs {
        if samples > 0 && samples + job.inputs.len() > most {
            share(passes.net, current, std::mem::take(&mut together), most);
            samples = 0;
        }
        samples += job.inputs.len();
        together.push(job);
    }
    share(passes.net, current, together, most);
}

/// Requests that share a pass, or one that needs several.
fn share(net: &dyn Predictor, current: &Arc<Current>, jobs: Vec<Job>, most: usize) {
    if jobs.len() == 1 {
        jobs.into_iter().for_each(|job| alone(net, current, job, most));
        return;
    }
    let Some(first) = jobs.first() else { return };
    let mut shape = first.inputs.shape().to_vec();
    shape[0] = jobs.iter().map(|job| job.inputs.len()).sum();
    let mut values = Vec::with_capacity(shape.iter().product());
    jobs.iter().for_each(|job| values.extend_from_slice(job.inputs.data()));
    let lengths: Vec<usize> = jobs.iter().flat_map(|job| &job.lengths).copied().collect();
    let inputs = Array::new(shape, values).map_err(|error| wrong(error.into()));
    match inputs.and_then(|inputs| predict(net, inputs, &lengths)) {
        Ok(all) => {
            let mut rest = Rest { all: &all, row: 0, class: 0 };
            for job in jobs {
                let part = rest.next(job.inputs.len());
                answer(job, current, Ok(part));
            }
        }
        Err(_) => jobs.into_iter().for_each(|job| alone(net, current, job, most)),
    }
}

/// One request by itself.
fn alone(net: &dyn Predictor, current: &Arc<Current>, mut job: Job, most: usize) {
    let (inputs, lengths) = (std::mem::replace(&mut job.inputs, empty()), std::mem::take(&mut job.lengths));
    // Whoever asked for much may be gone before it is done.
    let wanted = || !job.reply.is_closed();
    if let Some(result) = in_parts(net, inputs, &lengths, most, wanted) {
        answer(job, current, result);
    }
}

fn empty() -> Array {
    Array::new([0], Vec::new()).expect("nothing has no values")
}

/// Whoever asked may be gone.
fn answer(job: Job, current: &Arc<Current>, result: Allowed<Predictions>) {
    let result = result.and_then(finite).map(|predictions| (predictions, current.clone()));
    let _ = job.reply.send(result);
}

/// One request, in as many forward passes as its size needs; `None` if it is no longer wanted.
fn in_parts(
    net: &dyn Predictor,
    inputs: Array,
    lengths: &[usize],
    max_samples: usize,
    wanted: impl Fn() -> bool,
) -> Option<Allowed<Predictions>> {
    let count = inputs.len();
    if count <= max_samples {
        return Some(predict(net, inputs, lengths));
    }
    let mut parts = Vec::new();
    for start in (0..count).step_by(max_samples) {
        if !wanted() {
            return None;
        }
        let end = count.min(start + max_samples);
        let mut shape = inputs.shape().to_vec();
        shape[0] = end - start;
        let size = inputs.data().len() / count;
        let part = Array::new(shape, inputs.data()[start * size..end * size].to_vec());
        let part = part.map_err(|error| wrong(error.into()));
        let lengths = lengths.get(start..end).unwrap_or_default();
        match part.and_then(|part| predict(net, part, lengths)) {
            Ok(part) => parts.push(part),
            Err(refusal) => return Some(Err(refusal)),
        }
    }
    Some(joined(parts))
}

/// Predictions for parts of the samples as those for all of them.
fn joined(parts: Vec<Predictions>) -> Allowed<Predictions> {
    let Some(first) = parts.first() else { return Err(Refusal::bad("there is no sample")) };
    let mut shape = first.values.shape().to_vec();
    shape[0] = parts.iter().map(|part| part.values.len()).sum();
    let (mut values, mut classes, mut lengths) =
        (Vec::with_capacity(shape.iter().product()), Vec::new(), Vec::new());
    for part in parts {
        values.extend(part.values.into_data());
        classes.extend(part.classes);
        lengths.extend(part.lengths);
    }
    let values = Array::new(shape, values).map_err(|error| wrong(error.into()))?;
    Ok(Predictions { values, classes, lengths })
}

/// A bug in a net must not end the server.
fn predict(net: &dyn Predictor, inputs: Array, lengths: &[usize]) -> Allowed<Predictions> {
    let predicted = catch_unwind(AssertUnwindSafe(|| net.predict_sequences(inputs, lengths)));
    predicted.map_or_else(
        |_| {
            Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the net failed on these inputs; its log says where",
            ))
        },
        |result| result.map_err(wrong),
    )
}

fn wrong(error: Error) -> Refusal {
    match error {
        Error::Mismatch(_) | Error::Data(_) => Refusal::bad(error.to_string()),
        other => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, other.to_string()),
    }
}

fn finite(predictions: Predictions) -> Allowed<Predictions> {
    let values = &predictions.values;
    let Some(at) = values.data().iter().position(|value| !value.is_finite()) else { return Ok(predictions) };
    let sample = at / (values.data().len() / values.len().max(1)).max(1);
    Err(Refusal::bad(format!(
        "sample {sample}: the prediction is {}; inputs that are finite, and as large as in training, expected",
        values.data()[at]
    )))
}

/// The predictions that are not handed out yet.
struct Rest<'a> {
    all: &'a Predictions,
    row: usize,
    class: usize,
}

impl Rest<'_> {
    /// Those of the next samples.
    fn next(&mut self, count: usize) -> Predictions {
        let Predictions { values, classes, lengths } = self.all;
        let mut shape = values.shape().to_vec();
        let size: usize = shape[1..].iter().product();
        let rows = self.row..self.row + count;
        let lengths = lengths.get(rows.clone()).unwrap_or_default().to_vec();
        // Classes stand for the steps that count, of every sample if they have no lengths.
        let number = match lengths.is_empty() {
            _ if classes.is_empty() => 0,
            true => classes.len() / values.len() * count,
            false => lengths.iter().sum(),
        };
        let classes = classes[self.class..self.class + number].to_vec();
        shape[0] = count;
        let part = values.data()[rows.start * size..rows.end * size].to_vec();
        (self.row, self.class) = (rows.end, self.class + number);
        Predictions { values: Array::new(shape, part).expect("a part of an array"), classes, lengths }
    }
}
