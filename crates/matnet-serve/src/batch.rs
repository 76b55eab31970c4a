//! One forward pass for several requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hyper::StatusCode;
use matnet_data::Array;
use matnet_train::task::Predictions;
use matnet_train::{Error, Predictor};

use crate::current::Current;
use crate::queue::Job;
use crate::refusal::{Allowed, Refusal};

/// Predicts for all requests of a batch and answers them.
///
/// What a net predicts for a sample does not depend on the others in its batch. If one request makes the batch fail, each is tried
/// alone, so that the others do not suffer.
pub fn run(net: &dyn Predictor, current: &Arc<Current>, mut jobs: Vec<Job>, max_samples: usize) {
    if let [job] = &mut jobs[..] {
        let (inputs, lengths) =
            (std::mem::replace(&mut job.inputs, empty()), std::mem::take(&mut job.lengths));
        let result = in_parts(net, inputs, &lengths, max_samples);
        answer(jobs.pop(), current, result);
        return;
    }
    let Some(first) = jobs.first() else { return };
    let mut shape = first.inputs.shape().to_vec();
    shape[0] = jobs.iter().map(|job| job.inputs.len()).sum();
    let mut values = Vec::with_capacity(shape.iter().product());
    jobs.iter().for_each(|job| values.extend_from_slice(job.inputs.data()));
    let lengths: Vec<usize> = jobs.iter().flat_map(|job| &job.lengths).copied().collect();
    let together = Array::new(shape, values).map_err(|error| wrong(error.into()));
    match together.and_then(|inputs| predict(net, inputs, &lengths)) {
        Ok(all) => {
            let mut rest = Rest { all: &all, row: 0, class: 0 };
            for job in jobs {
                let part = rest.next(job.inputs.len());
                answer(Some(job), current, Ok(part));
            }
        }
        Err(_) => jobs.into_iter().for_each(|job| run(net, current, vec![job], max_samples)),
    }
}

fn empty() -> Array {
    Array::new([0], Vec::new()).expect("nothing has no values")
}

/// Whoever asked may be gone.
fn answer(job: Option<Job>, current: &Arc<Current>, result: Allowed<Predictions>) {
    let result = result.and_then(finite).map(|predictions| (predictions, current.clone()));
    let _ = job.map(|job| job.reply.send(result));
}

/// One request, in as many forward passes as its size needs.
fn in_parts(
    net: &dyn Predictor,
    inputs: Array,
    lengths: &[usize],
    max_samples: usize,
) -> Allowed<Predictions> {
    let count = inputs.len();
    if count <= max_samples {
        return predict(net, inputs, lengths);
    }
    let mut whole: Option<(Vec<usize>, Vec<f32>, Predictions)> = None;
    for start in (0..count).step_by(max_samples) {
        let end = count.min(start + max_samples);
        let mut shape = inputs.shape().to_vec();
        shape[0] = end - start;
        let size = inputs.data().len() / count;
        let part = Array::new(shape, inputs.data()[start * size..end * size].to_vec());
        let part = part.map_err(|error| wrong(error.into()))?;
        let part = predict(net, part, lengths.get(start..end).unwrap_or_default())?;
        match &mut whole {
            None => whole = Some((part.values.shape().to_vec(), part.values.data().to_vec(), part)),
            Some((shape, values, first)) => {
                shape[0] += end - start;
                values.extend_from_slice(part.values.data());
                first.classes.extend(part.classes);
                first.lengths.extend(part.lengths);
            }
        }
    }
    let (shape, values, first) = whole.ok_or_else(|| Refusal::bad("there is no sample"))?;
    let values = Array::new(shape, values).map_err(|error| wrong(error.into()))?;
    Ok(Predictions { values, ..first })
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
