//! From what a net returns to the outputs of the file.

use matnet_train::tasks::samples::{SampleMetadata, TargetType};

use crate::graph::{Graph, Value};
use crate::preprocess::{Prepared, fixed, named, scaler_constants};
use crate::proto::{Attribute, Side, Type};
use crate::sample::{SampleNet, Time, What};

/// Adds the outputs, which are what `matnet predict` gives.
pub fn add(
    graph: &mut Graph,
    net: &dyn SampleNet,
    metadata: &SampleMetadata,
    prepared: &Prepared,
    output: &Value,
) {
    let gives = net.gives();
    let mut shape = vec![named("batch")];
    match gives.time {
        Time::None => {}
        Time::OfInput => shape.push(named("steps")),
        Time::Fixed(steps) => shape.push(fixed(steps)),
    }
    // Padding counts only where each step has an output.
    let mask = prepared.mask.as_ref().filter(|_| gives.time == Time::OfInput);
    match (gives.what, metadata.target) {
        (What::Numbers(classes), TargetType::Classes | TargetType::Steps) => {
            add_classes(graph, output, classes, &shape, mask);
        }
        (What::Numbers(labels), TargetType::Labels) => {
            let probabilities = graph.op("Sigmoid", &[output], vec![]);
            shape.push(fixed(labels));
            graph.output(output, "logits", Type::Float, &shape, "a logit per label");
            graph.output(&probabilities, "probabilities", Type::Float, &shape, "a probability per label");
        }
        (what, _) => {
            let values = add_values(graph, metadata, prepared, output, net.sequences());
            let sides = match what {
                What::Numbers(count) => vec![fixed(count)],
                What::Matrix([rows, cols]) => vec![fixed(rows), fixed(cols)],
            };
            shape.extend(sides);
            let values = masked(graph, &values, mask, shape.len() - 2);
            graph.output(&values, "values", Type::Float, &shape, "the predictions");
        }
    }
}

/// Zeros where the mask `[batch, time]` is false; `axes` follow the time.
fn masked(graph: &mut Graph, values: &Value, mask: Option<&Value>, axes: usize) -> Value {
    let Some(mask) = mask else { return values.clone() };
    let more: Vec<i64> = (2..2 + axes as i64).collect();
    let (mask, zero) = (graph.unsqueeze(mask, &more), graph.float(0.0));
    graph.choose(&mask, values, &zero)
}

/// Logits, probabilities and labels; `shape` is theirs without the classes.
pub fn add_classes(graph: &mut Graph, logits: &Value, classes: usize, shape: &[Side], mask: Option<&Value>) {
    let (probabilities, label) = match classes {
        // The logit of the second class.
        1 => {
            let (one, zero) = (graph.float(1.0), graph.float(0.0));
            let second = graph.op("Sigmoid", &[logits], vec![]);
            let first = graph.sub(&one, &second);
            let flat = graph.squeeze(logits, &[-1]);
            let is_second = graph.op("Greater", &[&flat, &zero], vec![]);
            (graph.concat(&[&first, &second], -1), graph.cast(&is_second, Type::Int64))
        }
        _ => {
            let attributes = vec![Attribute::int("axis", -1), Attribute::int("keepdims", 0)];
            (graph.softmax(logits), graph.op("ArgMax", &[logits], attributes))
        }
    };
    let logits = masked(graph, logits, mask, 1);
    let probabilities = masked(graph, &probabilities, mask, 1);
    let label = match mask {
        None => label,
        Some(mask) => {
            let none = graph.int(-1);
            graph.choose(mask, &label, &none)
        }
    };
    let with = |count: usize| [shape, &[fixed(count)]].concat();
    graph.output(&logits, "logits", Type::Float, &with(classes), "scores before the softmax, or a logit");
    let doc = "a probability per class; 0 after the end of a sequence";
    graph.output(&probabilities, "probabilities", Type::Float, &with(classes.max(2)), doc);
    let doc = "the most probable class, counted from 0; -1 after the end of a sequence";
    graph.output(&label, "label", Type::Int64, shape, doc);
}

/// Values or matrices in the units of the data.
fn add_values(
    graph: &mut Graph,
    metadata: &SampleMetadata,
    prepared: &Prepared,
    output: &Value,
    sequences: bool,
) -> Value {
    let mut values = output.clone();
    if metadata.logits && metadata.target == TargetType::Matrices {
        values = graph.op("Sigmoid", &[&values], vec![]);
    }
    if let Some(levels) = &prepared.levels {
        if let Some(scale) = &levels.scale {
            values = graph.mul(&values, scale);
        }
        values = graph.add(&values, &levels.shift);
    }
    if let Some(scaler) = &metadata.preprocess.target_scaler {
        let columns = metadata.preprocess.windows.is_some() && !sequences;
        let (shift, scale) = scaler_constants(graph, scaler, "target", columns);
        values = graph.mul(&values, &scale);
        values = graph.add(&values, &shift);
    }
    values
}
