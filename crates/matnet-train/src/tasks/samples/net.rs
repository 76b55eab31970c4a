//! `[model]` of nets on samples: sizes that the data decide, and whether the data fit.

use matnet::net::{Net, NetOutput, SampleTarget};
use matnet_data::{Array, Target};
use toml::Table;

use super::{SampleConfig, SampleData, SampleInput, TargetType, target};
use crate::config::{fill_count, fill_sides, from_table};
use crate::tasks::classes;
use crate::{Error, Result};

/// Whether a net takes sequences, not single matrices.
pub fn takes_sequences<C: SampleConfig>() -> bool {
    <C::Net as Net>::Input::SEQUENCES
}

/// The number of classes that a net tells apart, if it gives classes.
pub fn classes<C: SampleConfig>(net: &C) -> Option<usize> {
    match net.output() {
        NetOutput::Classes(classes) | NetOutput::StepClasses(classes) => Some(classes),
        NetOutput::Matrix(_) | NetOutput::Sequence { .. } => None,
    }
}

/// Whether a net can learn from these data.
pub fn fits<C: SampleConfig>(data: &SampleData) -> bool {
    let (sequences, windows) = (takes_sequences::<C>(), data.preprocess.windows.is_some());
    // Windows over a table are seen as the net takes them.
    let axes = |targets: &Array| match (windows, sequences) {
        (true, true) => 4,
        (true, false) => 3,
        (false, _) => targets.shape().len(),
    };
    let target = match (C::TARGET, &data.target) {
        (
            SampleTarget::Class,
            Target::Classes { .. } | Target::Values { .. } | Target::MultiLabels { .. },
        )
        | (SampleTarget::StepClass, Target::StepClasses { .. })
        | (SampleTarget::Input, _) => true,
        (SampleTarget::Future, Target::Matrices(targets)) => axes(targets) == 4,
        (SampleTarget::Future, _) => true,
        (SampleTarget::Matrix, Target::Matrices(targets)) => axes(targets) == 3,
        (SampleTarget::StepMatrix, Target::Matrices(targets)) => {
            axes(targets) == 4 && Some(targets.shape()[1]) == data.time()
        }
        _ => false,
    };
    target && (windows || sequences == data.time().is_some())
}

/// What samples are, in words.
pub fn describe(data: &SampleData) -> String {
    if data.preprocess.windows.is_some() {
        return "windows over a table".to_owned();
    }
    let what = match data.time() {
        Some(_) if !data.lengths.is_empty() => "sequences of different lengths",
        Some(_) => "sequences of matrices",
        None => "single matrices",
    };
    format!("{what} with {}", target::describe(&data.target))
}

/// Reads `[model]` and fills in the sizes that the data decide.
pub fn config<C: SampleConfig>(mut table: Table, data: &SampleData) -> Result<C> {
    fill_sides(&mut table, "input", &data.sides());
    let predicts_own_future =
        C::TARGET == SampleTarget::Future && !matches!(data.target, Target::Matrices(_));
    if let Some(context) = data.config.context_length.filter(|_| !predicts_own_future) {
        let expected = "only seq2seq nets on sequences without targets use it";
        return Err(Error::config("data", "context_length", context.to_string(), expected));
    }
    if predicts_own_future && !data.lengths.is_empty() {
        let value = format!("{}: sequences of different lengths", data.config.source);
        let expected = "a seq2seq net that predicts the rest of its input takes sequences of one length";
        return Err(Error::config("data", "source", value, expected));
    }
    match (C::TARGET, &data.target) {
        (SampleTarget::Class, Target::Values { names, .. } | Target::MultiLabels { names, .. }) => {
            fill_count(&mut table, "output", names.len());
        }
        (SampleTarget::Class | SampleTarget::StepClass, _) if data.class_names().len() < 2 => {
            let value = format!("{}: one class only ({})", data.config.source, data.class_names().join(", "));
            return Err(Error::config("data", "source", value, "at least two classes expected"));
        }
        (SampleTarget::Class | SampleTarget::StepClass, _) => {
            if let Target::Classes { labels, names } = &data.target {
                classes::check(&data.indices, |sample| Some(labels[sample]), names)?;
            }
            fill_count(&mut table, "output", data.class_names().len());
        }
        (SampleTarget::Matrix, Target::Matrices(targets)) => {
            fill_sides(&mut table, "output", &targets.shape()[1..]);
        }
        (SampleTarget::StepMatrix, Target::Matrices(targets)) => {
            fill_sides(&mut table, "output", &targets.shape()[2..]);
        }
        (SampleTarget::Future, Target::Matrices(targets)) if targets.shape().len() == 4 => {
            fill_sides(&mut table, "output", &targets.shape()[2..]);
            fill_count(&mut table, "steps", targets.shape()[1]);
        }
        (SampleTarget::Future, _) => {
            let (time, context) = (data.time().unwrap_or(0), data.config.context_length);
            let Some(context) = context.filter(|&context| context < time) else {
                let value = context.map_or("is missing".to_owned(), |context| context.to_string());
                let expected =
                    format!("how many of the {time} steps the net reads, between 1 and {}", time.max(2) - 1);
                return Err(Error::config("data", "context_length", value, expected));
            };
            fill_count(&mut table, "steps", time - context);
        }
        _ => {}
    }
    let config: C = from_table("model", table)?;
    check_sizes(&config, data)?;
    Ok(config)
}

/// The sizes in a config fit the data.
fn check_sizes<C: SampleConfig>(config: &C, data: &SampleData) -> Result<()> {
    let wrong =
        |key: &str, value: String, expected: String| Err(Error::config("model", key, value, expected));
    let [rows, cols] = data.sides();
    if config.input() != [rows, cols] {
        let [r, c] = config.input();
        return wrong("input", format!("{r}×{c}"), format!("the data are {rows}×{cols}; leave it out"));
    }
    if let Target::Values { names, .. } | Target::MultiLabels { names, .. } = &data.target
        && let Some(output) = classes(config)
    {
        if output != names.len() {
            let what = target::describe(&data.target);
            return wrong("output", output.to_string(), format!("the data have {what}; leave it out"));
        }
        return Ok(());
    }
    let have = data.class_names().len();
    if let Some(output) = classes(config)
        && output != have
        && (output, have) != (1, 2)
    {
        let or = if have == 2 { ", or 1 for a logit" } else { "" };
        return wrong("output", output.to_string(), format!("the data have {have} classes{or}"));
    }
    let target = match &data.target {
        Target::Matrices(targets) => {
            let shape = targets.shape();
            [shape[shape.len() - 2], shape[shape.len() - 1]]
        }
        _ => [rows, cols],
    };
    let (sides, steps) = match config.output() {
        NetOutput::Matrix(sides) => (sides, None),
        NetOutput::Sequence { steps, sides } => (sides, steps),
        NetOutput::Classes(_) | NetOutput::StepClasses(_) => return Ok(()),
    };
    if C::TARGET != SampleTarget::Input && sides != target {
        let ([r, c], [rows, cols]) = (sides, target);
        return wrong("output", format!("{r}×{c}"), format!("the targets are {rows}×{cols}; leave it out"));
    }
    match (steps, data.future()) {
        (Some(steps), Some(future)) if steps != future => {
            wrong("steps", steps.to_string(), format!("the data have {future} to predict; leave it out"))
        }
        _ => Ok(()),
    }
}

/// Fails unless a net takes inputs of this shape.
pub fn check_inputs<C: SampleConfig>(config: &C, shape: &[usize]) -> Result<()> {
    let [rows, cols] = config.input();
    let (wanted, fits) = match takes_sequences::<C>() {
        true => {
            let fits = matches!(*shape, [_, time, r, c] if time > 0 && [r, c] == [rows, cols]);
            (format!("[n, time, {rows}, {cols}]"), fits)
        }
        false => (format!("[n, {rows}, {cols}]"), matches!(*shape, [_, r, c] if [r, c] == [rows, cols])),
    };
    match fits {
        true => Ok(()),
        false => Err(Error::Mismatch(format!("the net takes {wanted}, these inputs are {shape:?}"))),
    }
}

/// Fails unless the data have targets to compare the outputs of a trained net with.
pub fn check_target<C: SampleConfig>(config: &C, kind: TargetType, data: &SampleData) -> Result<()> {
    let time = data.time().unwrap_or(0);
    let shape = match config.output() {
        NetOutput::Classes(_) | NetOutput::StepClasses(_) => None,
        NetOutput::Matrix([rows, cols]) => Some(vec![rows, cols]),
        NetOutput::Sequence { steps, sides: [rows, cols] } => Some(vec![steps.unwrap_or(time), rows, cols]),
    };
    let fits = match (C::TARGET, &data.target, &shape) {
        (SampleTarget::Input, ..) => true,
        (
            SampleTarget::Future,
            Target::None
            | Target::Classes { .. }
            | Target::StepClasses { .. }
            | Target::Values { .. }
            | Target::MultiLabels { .. },
            Some(shape),
        ) => {
            let context = data.config.context_length.filter(|&context| context < time);
            if let Some(context) = data.config.context_length
                && (context >= time || time - context != shape[0])
            {
                let what =
                    format!("the net reads {context} steps and gives {}, the data have {time}", shape[0]);
                return Err(Error::Mismatch(what));
            }
            context.is_some()
        }
        (_, Target::Matrices(targets), Some(shape)) => targets.shape()[1..] == shape[..],
        (SampleTarget::Class, Target::Classes { .. }, _) => kind == TargetType::Classes,
        (SampleTarget::Class, Target::Values { .. }, _) => kind == TargetType::Values,
        (SampleTarget::Class, Target::MultiLabels { .. }, _) => kind == TargetType::Labels,
        (SampleTarget::StepClass, Target::StepClasses { .. }, _) => true,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let gives = match (C::TARGET, shape) {
        (SampleTarget::Class, _) => match (kind, classes(config).unwrap_or(0)) {
            (TargetType::Values, 1) => "a value per sample".to_owned(),
            (TargetType::Values, count) => format!("{count} values per sample"),
            (TargetType::Labels, count) => format!("{count} labels per sample"),
            _ => "a class per sample".to_owned(),
        },
        (SampleTarget::StepClass, _) => "a class per step".to_owned(),
        (_, shape) => format!("matrices {:?}", shape.unwrap_or_default()),
    };
    let have = target::describe(&data.target);
    Err(Error::Mismatch(format!("the net gives {gives}, the data have {have}")))
}
