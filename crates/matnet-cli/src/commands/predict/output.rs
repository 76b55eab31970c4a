//! Predictions as `.npy`, or as CSV into a file or onto standard output.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use matnet_data::format::npy;
use matnet_train::AtomicFile;
use matnet_train::task::{PredictedBatch, Predictions};

use crate::args::require_ending;
use crate::failure::{Failure, Outcome};

/// Where predictions go. A file gets its name only when it is complete.
pub struct Output {
    path: PathBuf,
    sink: Sink,
    /// What a line is about, where that is not a file: sample, node, question.
    unit: &'static str,
    /// Samples in all, and those that are written.
    total: usize,
    done: usize,
    /// A name per class; empty without classes.
    classes: Vec<String>,
    /// A name per column, for values and labels.
    columns: Vec<String>,
}

enum Sink {
    Npy(AtomicFile),
    Csv(AtomicFile),
    Standard(BufWriter<StdoutLock<'static>>),
}

impl Output {
    /// Fails if no output can have this name, or if it is that of an input.
    pub fn check(path: &Path, inputs: &[&Path]) -> Outcome {
        if path == Path::new("-") {
            return Ok(());
        }
        require_ending("--output", path, &["npy", "csv"], ", or - for CSV on standard output")?;
        let place = |path: &Path| path.canonicalize().ok();
        match place(path).is_some_and(|own| inputs.iter().any(|input| place(input).as_ref() == Some(&own))) {
            true => Err(Failure::Usage(format!(
                "--output {}: is the input, and would take its place; another name expected",
                path.display()
            ))),
            false => Ok(()),
        }
    }

    /// Starts the predictions for `total` samples, or what else `unit` calls them.
    pub fn create(
        path: &Path,
        unit: &'static str,
        total: usize,
        classes: &[String],
        columns: &[String],
    ) -> Result<Self, Failure> {
        let csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let sink = match path == Path::new("-") {
            true => Sink::Standard(BufWriter::new(io::stdout().lock())),
            false if csv => Sink::Csv(AtomicFile::create(path)?),
            false => Sink::Npy(AtomicFile::create(path)?),
        };
        Ok(Self {
            path: path.to_owned(),
            sink,
            unit,
            total,
            done: 0,
            classes: classes.to_vec(),
            columns: columns.to_vec(),
        })
    }

    /// Writes the next predictions; where the samples are files, with their names.
    pub fn add(&mut self, batch: &PredictedBatch) -> Outcome {
        let (predictions, names) = (&batch.predictions, batch.names.as_deref());
        let Self { unit, total, done, classes, columns, .. } = self;
        let header = Header { unit, classes, columns };
        let written = match &mut self.sink {
            Sink::Npy(file) => npy_part(file, predictions, *total, *done),
            Sink::Csv(file) => csv_lines(file, predictions, names, &header, *done),
            Sink::Standard(out) => csv_lines(out, predictions, names, &header, *done),
        };
        self.done += predictions.values.len();
        self.written(written)
    }

    /// Everything is there: a file gets its name.
    pub fn finish(self) -> Outcome {
        match self.sink {
            Sink::Npy(file) | Sink::Csv(file) => Ok(file.finish()?),
            Sink::Standard(mut out) => Ok(out.flush()?),
        }
    }

    fn written(&self, result: io::Result<()>) -> Outcome {
        result.map_err(|error| match self.sink {
            Sink::Standard(_) => error.into(),
            Sink::Npy(_) | Sink::Csv(_) => matnet_data::Error::io(&self.path, error).into(),
        })
    }
}

fn npy_part(out: &mut impl Write, predictions: &Predictions, total: usize, done: usize) -> io::Result<()> {
    let numbers = &predictions.values;
    if done == 0 {
        let mut shape = numbers.shape().to_vec();
        shape[0] = total;
        npy::write_header(out, "<f4", &shape)?;
    }
    numbers.data().iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
}

/// What the first line of a CSV file needs.
struct Header<'a> {
    unit: &'a str,
    classes: &'a [String],
    columns: &'a [String],
}

/// A line per sample, or per step where each has a class. Samples are called by their names, or counted in units.
fn csv_lines(
    out: &mut impl Write,
    predictions: &Predictions,
    names: Option<&[String]>,
    &Header { unit, classes, columns }: &Header,
    done: usize,
) -> io::Result<()> {
    let (numbers, shape) = (&predictions.values, predictions.values.shape());
    let by_step = !classes.is_empty() && shape.len() == 3;
    let steps = if by_step { shape[1] } else { 1 };
    if done == 0 {
        // Samples that have names are files; a question is its own name.
        let first = if names.is_some() && unit == "sample" { "file" } else { unit };
        let step = if by_step { ",step" } else { "" };
        match (classes, columns) {
            ([], []) => writeln!(out, "{first}{}", places(&shape[1..]))?,
            ([], columns) => {
                let columns: String = columns.iter().map(|name| format!(",{}", field(name))).collect();
                writeln!(out, "{first}{columns}")?;
            }
            _ => {
                let shares: String =
                    classes.iter().map(|name| format!(",{}", field(&format!("p_{name}")))).collect();
                writeln!(out, "{first}{step},class{shares}")?;
            }
        }
    }
    let mut predicted = predictions.classes.iter();
    for sample in 0..shape[0] {
        let name = names.map_or_else(|| (done + sample).to_string(), |names| field(&names[sample]));
        let numbers = numbers.sample(sample);
        // Where a sequence has ended there is nothing to say.
        let length = predictions.lengths.get(sample).copied().filter(|_| by_step).unwrap_or(steps);
        let lines = numbers.chunks((numbers.len() / steps.max(1)).max(1)).enumerate();
        for (step, line) in lines.take(length) {
            write!(out, "{name}")?;
            if by_step {
                write!(out, ",{step}")?;
            }
            if let Some(&class) = predicted.next().filter(|_| !classes.is_empty()) {
                write!(out, ",{}", field(&classes[class as usize]))?;
            }
            line.iter().try_for_each(|number| write!(out, ",{number}"))?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The names of a matrix's places, row by row: `r0c0`, and `t0r0c0` in sequences.
fn places(sides: &[usize]) -> String {
    let mut text = String::new();
    let (time, rows, cols) = match *sides {
        [time, rows, cols] => (Some(time), rows, cols),
        [rows, cols] => (None, rows, cols),
        _ => (None, 0, 0),
    };
    for step in 0..time.unwrap_or(1) {
        let step = time.map(|_| format!("t{step}")).unwrap_or_default();
        for row in 0..rows {
            for col in 0..cols {
                text += &format!(",{step}r{row}c{col}");
            }
        }
    }
    text
}

/// A text as a field of CSV, quoted where it must be.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matnet_data::Array;

    fn csv<const N: usize>(
        predictions: &Predictions,
        names: Option<&[String]>,
        classes: &[&str],
        columns: [&str; N],
    ) -> String {
        let classes: Vec<String> = classes.iter().map(|&name| name.to_owned()).collect();
        let mut out = Vec::new();
        let header = Header { unit: "sample", classes: &classes, columns: &columns.map(str::to_owned) };
        csv_lines(&mut out, predictions, names, &header, 0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_per_sample_or_step() {
        let numbers = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            Array::new(shape.to_vec(), (0..count).map(|i| i as f32 / 4.0).collect()).unwrap()
        };
        let predictions = Predictions { values: numbers(&[2, 2]), classes: vec![1, 0], lengths: Vec::new() };
        let names = ["a.png", "b,c.png"].map(str::to_owned);
        assert_eq!(
            csv(&predictions, Some(&names), &["no", "ja \"!\""], []),
            "file,class,p_no,\"p_ja \"\"!\"\"\"\na.png,\"ja \"\"!\"\"\",0,0.25\n\"b,c.png\",no,0.5,0.75\n"
        );
        let predictions =
            Predictions { values: numbers(&[2, 2, 2]), classes: vec![1, 0, 0, 1], lengths: Vec::new() };
        assert_eq!(
            csv(&predictions, None, &["a", "b"], []),
            "sample,step,class,p_a,p_b\n0,0,b,0,0.25\n0,1,a,0.5,0.75\n1,0,a,1,1.25\n1,1,b,1.5,1.75\n"
        );
        let predictions = Predictions { classes: vec![1, 0, 0], lengths: vec![1, 2], ..predictions };
        assert_eq!(
            csv(&predictions, None, &["a", "b"], []),
            "sample,step,class,p_a,p_b\n0,0,b,0,0.25\n1,0,a,1,1.25\n1,1,a,1.5,1.75\n"
        );
        let predictions = Predictions { values: numbers(&[2, 2]), classes: Vec::new(), lengths: Vec::new() };
        assert_eq!(csv(&predictions, None, &[], ["kg", "m,n"]), "sample,kg,\"m,n\"\n0,0,0.25\n1,0.5,0.75\n");
        let predictions =
            Predictions { values: numbers(&[1, 2, 1, 2]), classes: Vec::new(), lengths: Vec::new() };
        assert_eq!(
            csv(&predictions, None, &[], []),
            "sample,t0r0c0,t0r0c1,t1r0c0,t1r0c1\n0,0,0.25,0.5,0.75\n"
        );
        let predictions =
            Predictions { values: numbers(&[2, 1, 2]), classes: Vec::new(), lengths: Vec::new() };
        assert_eq!(csv(&predictions, None, &[], []), "sample,r0c0,r0c1\n0,0,0.25\n1,0.5,0.75\n");
    }
}
