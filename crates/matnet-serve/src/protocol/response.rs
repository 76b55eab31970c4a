//! From predictions to the body of an answer.

use std::io::Write;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use matnet_train::task::{Interface, Predictions};

use super::request::{Asked, OutputFormat};
use super::{JSON_LENGTH, LABEL};
use crate::budget::{Held, Kept};
use crate::http::{Answer, answer};

/// The answer to a request; `held` is what its body holds.
pub fn encode(
    name: &str,
    version: &str,
    id: Option<&str>,
    interface: &Interface,
    predictions: &Predictions,
    asked: &[Asked],
    held: Held,
) -> Answer {
    let (mut text, mut binary) = (Vec::with_capacity(256), Vec::new());
    let _ = write!(text, "{{\"model_name\":\"{name}\",\"model_version\":\"{version}\"");
    if let Some(id) = id {
        text.extend_from_slice(b",\"id\":");
        string(&mut text, id);
    }
    text.extend_from_slice(b",\"outputs\":[");
    for (at, &Asked { name, datatype, format }) in asked.iter().enumerate() {
        let shape = predictions.values.shape();
        let shape = if name == LABEL { &shape[..shape.len() - 1] } else { shape };
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{{\"name\":\"{name}\",\"datatype\":\"{datatype}\",\"shape\":{shape:?}");
        match format {
            OutputFormat::Binary => {
                let before = binary.len();
                match name {
                    LABEL => labels(predictions, interface).for_each(|label| {
                        binary.extend_from_slice(&(label.len() as u32).to_le_bytes());
                        binary.extend_from_slice(label.as_bytes());
                    }),
                    _ => {
                        binary.extend(predictions.values.data().iter().flat_map(|value| value.to_le_bytes()))
                    }
                }
                let size = binary.len() - before;
                let _ = write!(text, ",\"parameters\":{{\"binary_data_size\":{size}}}}}");
            }
            OutputFormat::Json => {
                text.extend_from_slice(b",\"data\":[");
                match name {
                    LABEL => separated(&mut text, labels(predictions, interface), string),
                    _ => separated(&mut text, predictions.values.data().iter(), number),
                }
                text.extend_from_slice(b"]}");
            }
        }
    }
    text.extend_from_slice(b"]}");
    let length = text.len();
    let kept = |bytes| Bytes::from_owner(Kept { bytes, _held: held });
    if asked.iter().all(|asked| asked.format == OutputFormat::Json) {
        return answer(StatusCode::OK, "application/json", kept(text));
    }
    text.extend_from_slice(&binary);
    let mut answer = answer(StatusCode::OK, "application/octet-stream", kept(text));
    answer.headers_mut().insert(JSON_LENGTH, HeaderValue::from(length));
    answer
}

/// The most probable class of each sample, or of each step; empty where a sequence has ended.
fn labels<'a>(predictions: &'a Predictions, interface: &'a Interface) -> impl Iterator<Item = &'a str> {
    let shape = predictions.values.shape();
    let steps = if shape.len() == 3 { shape[1] } else { 1 };
    let mut classes = predictions.classes.iter();
    (0..shape[0] * steps).map(move |row| {
        let length = predictions.lengths.get(row / steps.max(1)).copied().unwrap_or(steps);
        match row % steps < length {
            true => classes.next().map_or("", |&class| &interface.names[class as usize]),
            false => "",
        }
    })
}

fn separated<T>(text: &mut Vec<u8>, values: impl Iterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            text.push(b',');
        }
        write(text, value);
    }
}

fn string(text: &mut Vec<u8>, value: &str) {
    serde_json::to_writer(text, value).expect("memory takes strings");
}

/// The shortest text that is read back as the same `f32`.
fn number(text: &mut Vec<u8>, value: &f32) {
    serde_json::to_writer(text, value).expect("memory takes numbers");
}
