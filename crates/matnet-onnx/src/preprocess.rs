//! The transforms of a run's inputs, as nodes before those of the net, in the order of matnet itself.

use matnet_data::transform::missing::{Fill, FillMethod};
use matnet_data::transform::permute::Permutation;
use matnet_data::transform::scale::{ScalePer, Scaler};
use matnet_data::transform::windows::NormalizeWindow;
use matnet_train::tasks::samples::{Preprocess, SampleDataConfig};

use crate::graph::{Graph, Value};
use crate::proto::{Attribute, Side, Type};
use crate::sample::SampleNet;
use crate::{Error, spectrogram};

/// What the net reads, and what its output needs.
pub struct Prepared {
    /// `[batch, rows, cols]` or `[batch, time, rows, cols]`.
    pub input: Value,
    /// True for the steps that count, `[batch, time]`, where lengths differ.
    pub mask: Option<Value>,
    /// What was taken out of each window of a forecast.
    pub levels: Option<Levels>,
}

/// The shift and, unless it is 1, the scale of each window: `[batch, 1, columns]` or `[batch, 1, columns, 1]`.
pub struct Levels {
    /// Added back to a forecast.
    pub shift: Value,
    /// What a forecast is multiplied with first.
    pub scale: Option<Value>,
}

/// What is exported, beside the net.
pub struct Source<'a> {
    /// The transforms.
    pub preprocess: &'a Preprocess,
    /// `[data]`.
    pub data: &'a SampleDataConfig,
    /// Steps that the net reads, where it predicts the rest of its own input.
    pub context_length: Option<usize>,
    /// Whether sequences have lengths.
    pub lengths: bool,
}

/// A side that the caller chooses.
pub fn named(name: &str) -> Side {
    Side::Named(name.to_owned())
}

/// A side that the net decides.
pub fn fixed(side: usize) -> Side {
    Side::Fixed(side as i64)
}

/// The sides of the input that the file takes, which are those of the user's arrays.
fn raw_shape(net: &dyn SampleNet, source: &Source) -> Vec<Side> {
    let (preprocess, [rows, cols]) = (source.preprocess, net.input());
    let batch = named("batch");
    if preprocess.spectrogram.is_some() || preprocess.log_mel.is_some() {
        return match source.lengths {
            // Sequences of single values per channel; the spectrogram's rows are the channels.
            true => vec![batch, named("samples"), fixed(rows), fixed(1)],
            false => vec![batch, fixed(rows), named("samples")],
        };
    }
    // A mask of missing values is appended here, and fills the lower half.
    let half = |side: usize| if preprocess.missing_mask { side / 2 } else { side };
    if preprocess.windows.is_some() {
        // The net takes [time, columns, 1] or [time, columns].
        return vec![batch, named("rows"), fixed(half(if net.sequences() { rows } else { cols }))];
    }
    let rows = half(rows);
    match net.sequences() {
        true => vec![batch, named("time"), fixed(rows), fixed(cols)],
        false => vec![batch, fixed(rows), fixed(cols)],
    }
}

/// Adds the inputs of the file and all transforms.
pub fn add(graph: &mut Graph, net: &dyn SampleNet, source: &Source) -> Result<Prepared, Error> {
    let preprocess = source.preprocess;
    let mut shape = raw_shape(net, source);
    let axes = shape.len();
    let input = graph.input("input", Type::Float, Some(&shape), "the numbers as they stand in your files");
    let lengths = source.lengths.then(|| {
        let doc = "the steps of each sequence; what follows them is padding";
        graph.input("lengths", Type::Int64, Some(&[named("batch")]), doc)
    });
    graph.scoped("preprocess", |graph| {
        let mut x = input;
        let (mut lengths, mut axes) = (lengths, axes);
        if let Some(windows) = &preprocess.windows {
            let (start, end) = (graph.ints(&[-(windows.window as i64)]), graph.ints(&[i64::MAX]));
            x = graph.slice(&x, 1, &start, &end);
            // Windows are sequences of columns, whatever the net takes.
            x = graph.unsqueeze(&x, &[-1]);
            shape.push(fixed(1));
            axes = 4;
        }
        let missing = preprocess.missing_mask.then(|| {
            let missing = graph.op("IsNaN", &[&x], vec![]);
            graph.cast(&missing, Type::Float)
        });
        if let Some(fill) = &preprocess.fill {
            x = add_fill(graph, fill, &x, &shape, axes)?;
        }
        if let Some(stft) = &preprocess.spectrogram {
            (x, lengths) = spectrogram::add_stft(graph, stft, &x, lengths, axes);
            axes = 4;
        } else if let Some(mel) = &preprocess.log_mel {
            (x, lengths) = spectrogram::add_log_mel(graph, mel, &x, lengths, axes)?;
            axes = 4;
        }
        if let Some(log) = &preprocess.log {
            let offset = graph.float(log.offset as f32);
            let shifted = graph.add(&x, &offset);
            x = graph.op("Log", &[&shifted], vec![]);
        }
        if let Some(permutation) = &preprocess.permutation {
            x = add_permutation(graph, permutation, &x, axes);
        }
        if let Some(scaler) = &preprocess.scaler {
            let (shift, scale) = scaler_constants(graph, scaler, "scaler", false);
            let centred = graph.sub(&x, &shift);
            x = graph.div(&centred, &scale);
        }
        if preprocess.join {
            x = add_join(graph, &x, lengths.take(), net.input());
        }
        let mut levels = preprocess.normalize_window.map(|how| {
            let levels = add_levels(graph, how, &x);
            x = graph.sub(&x, &levels.shift);
            if let Some(scale) = &levels.scale {
                x = graph.div(&x, scale);
            }
            levels
        });
        if let Some(missing) = &missing {
            x = graph.concat(&[&x, missing], -2);
        }
        if preprocess.windows.is_some() && !net.sequences() {
            x = graph.squeeze(&x, &[-1]);
            levels = levels.map(|levels| Levels {
                shift: graph.squeeze(&levels.shift, &[-1]),
                scale: levels.scale.map(|scale| graph.squeeze(&scale, &[-1])),
            });
        }
        if let Some(crop) = source.data.augment.as_ref().and_then(|augment| augment.crop) {
            (x, lengths) = add_crop(graph, crop, &x, lengths);
        }
        if let Some(context) = source.context_length.filter(|_| net.sequences()) {
            let (start, end) = (graph.ints(&[0]), graph.ints(&[context as i64]));
            x = graph.slice(&x, 1, &start, &end);
        }
        let mask = lengths.map(|lengths| {
            let time = graph.side(&x, 1);
            graph.mask(&lengths, &time)
        });
        Ok(Prepared { input: x, mask, levels })
    })
}

/// Missing values. In sequences each entry of a matrix is a channel, in single matrices each row.
fn add_fill(graph: &mut Graph, fill: &Fill, x: &Value, shape: &[Side], axes: usize) -> Result<Value, Error> {
    let (method, means) = fill.parts();
    let is_missing = |graph: &mut Graph, x: &Value| graph.op("IsNaN", &[x], vec![]);
    if method == FillMethod::Zero {
        let (missing, zero) = (is_missing(graph, x), graph.float(0.0));
        return Ok(graph.choose(&missing, &zero, x));
    }
    let side = |at: usize| match &shape[at] {
        Side::Fixed(side) => Some(*side as usize),
        Side::Named(_) => None,
    };
    let sides = match axes {
        3 => [side(1), Some(1)],
        _ => [side(shape.len() - 2), side(shape.len() - 1)],
    };
    let sides = match sides {
        [Some(rows), Some(cols)] if rows * cols == means.len() => [rows, cols],
        _ => {
            return Err(Error::Refused("missing values of these inputs cannot be filled in ONNX".to_owned()));
        }
    };
    let means = graph.floats("means", &sides, means);
    if method == FillMethod::Mean {
        let missing = is_missing(graph, x);
        return Ok(graph.choose(&missing, &means, x));
    }
    // The last known value goes from step to step.
    let time = if axes == 3 { 2 } else { 1 };
    let (batch, first) = (graph.side_list(x, 0), graph.unsqueeze(&means, &[0]));
    let start = match axes {
        3 => graph.squeeze(&first, &[2]),
        _ => first,
    };
    let ones = graph.ints(&vec![1; axes - 2]);
    let shape = graph.concat(&[&batch, &ones], 0);
    let start = graph.expand(&start, &shape);
    let body = graph.body(|body| {
        let last = body.input("last", Type::Float, None, "");
        let now = body.input("now", Type::Float, None, "");
        let missing = body.op("IsNaN", &[&now], vec![]);
        let known = body.choose(&missing, &last, &now);
        let kept = body.op("Identity", &[&known], vec![]);
        vec![(known, Type::Float), (kept, Type::Float)]
    });
    let attributes = vec![
        Attribute::graph("body", body),
        Attribute::int("num_scan_inputs", 1),
        Attribute::ints("scan_input_axes", vec![time]),
        Attribute::ints("scan_output_axes", vec![time]),
    ];
    Ok(graph.ops("Scan", &[&start, x], attributes, 2).remove(1))
}

/// The steps of spectrograms beside each other: `[batch, rows, steps · cols]`. What follows the end of a shorter one is 0.
fn add_join(graph: &mut Graph, x: &Value, lengths: Option<Value>, [rows, cols]: [usize; 2]) -> Value {
    let x = match lengths {
        None => x.clone(),
        Some(lengths) => {
            let time = graph.side(x, 1);
            let mask = graph.mask(&lengths, &time);
            let (mask, zero) = (graph.unsqueeze(&mask, &[2, 3]), graph.float(0.0));
            graph.choose(&mask, x, &zero)
        }
    };
    let turned = graph.transpose(&x, &[0, 2, 1, 3]);
    graph.reshape(&turned, &[-1, rows as i64, cols as i64])
}

fn add_permutation(graph: &mut Graph, permutation: &Permutation, x: &Value, axes: usize) -> Value {
    let (rows, cols) = permutation.orders();
    let (rows, cols) = (graph.indices("row_order", rows), graph.indices("col_order", cols));
    let moved = graph.gather(x, axes as i64 - 2, &rows);
    graph.gather(&moved, axes as i64 - 1, &cols)
}

/// The constants of a scaler, in a shape that fits the matrices. Rows of a table become its `columns` in windows.
pub fn scaler_constants(graph: &mut Graph, scaler: &Scaler, name: &str, columns: bool) -> (Value, Value) {
    let (per, shift, scale) = scaler.parts();
    let (rows, cols) = scaler.sides();
    let shape = match per {
        ScalePer::Whole => vec![1],
        ScalePer::Row if columns => vec![rows],
        ScalePer::Row => vec![rows, 1],
        ScalePer::Column => vec![cols],
        ScalePer::Entry => vec![rows, cols],
    };
    (
        graph.floats(&format!("{name}_shift"), &shape, shift),
        graph.floats(&format!("{name}_scale"), &shape, scale),
    )
}

/// Every row divided by the sum of its absolute values, unless that is 0.
pub fn add_row_norm(graph: &mut Graph, features: &Value) -> Value {
    let (absolute, zero, one) = (graph.op("Abs", &[features], vec![]), graph.float(0.0), graph.float(1.0));
    let sum = graph.sum(&absolute, &[1]);
    let empty = graph.op("Equal", &[&sum, &zero], vec![]);
    let divisor = graph.choose(&empty, &one, &sum);
    graph.div(features, &divisor)
}

/// The level of each window.
fn add_levels(graph: &mut Graph, how: NormalizeWindow, x: &Value) -> Levels {
    match how {
        NormalizeWindow::Last => {
            let (start, end) = (graph.ints(&[-1]), graph.ints(&[i64::MAX]));
            Levels { shift: graph.slice(x, 1, &start, &end), scale: None }
        }
        NormalizeWindow::Standardize => {
            let time = graph.side(x, 1);
            let time = graph.cast(&time, Type::Float);
            let sum = graph.sum(x, &[1]);
            let mean = graph.div(&sum, &time);
            let centred = graph.sub(x, &mean);
            let squares = graph.mul(&centred, &centred);
            let sum = graph.sum(&squares, &[1]);
            let (variance, epsilon) = (graph.div(&sum, &time), graph.float(1e-5));
            let variance = graph.add(&variance, &epsilon);
            Levels { shift: mean, scale: Some(graph.op("Sqrt", &[&variance], vec![])) }
        }
    }
}

/// The middle of each sequence, at most `crop` steps.
fn add_crop(graph: &mut Graph, crop: usize, x: &Value, lengths: Option<Value>) -> (Value, Option<Value>) {
    let (time, crop, two) = (graph.side(x, 1), graph.int(crop as i64), graph.int(2));
    let kept = graph.op("Min", &[&time, &crop], vec![]);
    let Some(lengths) = lengths else {
        let room = graph.sub(&time, &kept);
        let start = graph.div(&room, &two);
        let end = graph.add(&start, &kept);
        let (start, end) = (graph.unsqueeze(&start, &[0]), graph.unsqueeze(&end, &[0]));
        return (graph.slice(x, 1, &start, &end), None);
    };
    let counted = graph.op("Min", &[&lengths, &crop], vec![]);
    let room = graph.sub(&lengths, &counted);
    let start = graph.div(&room, &two);
    let start = graph.unsqueeze(&start, &[1]);
    let steps = graph.range(&kept);
    let places = graph.add(&start, &steps);
    // Padding may point beyond the end.
    let one = graph.int(1);
    let last = graph.sub(&time, &one);
    let places = graph.op("Min", &[&places, &last], vec![]);
    let places = graph.unsqueeze(&places, &[2]);
    let cropped = graph.op("GatherND", &[x, &places], vec![Attribute::int("batch_dims", 1)]);
    (cropped, Some(counted))
}
