//! The `.ts` text format of the UEA archive of time series.
//!
//! Lines that start with `#` are comments, those that start with `@` the header. After `@data` each line is a sample: channels
//! separated by `:`, values by `,`, and last the class.

use std::collections::HashMap;
use std::path::Path;

use crate::format::bounded::{Input, reserve};
use crate::{Error, Result};

/// More classes than any dataset has.
const MAX_CLASSES: usize = 1 << 16;

/// Multivariate time series with classes. All have the same number of channels; their lengths may differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSeries {
    /// The number of channels.
    pub channels: usize,
    /// The number of steps of each sample.
    pub lengths: Vec<u32>,
    /// All values: sample after sample, channel after channel, step after step.
    pub values: Vec<f32>,
    /// The class of each sample.
    pub labels: Vec<u32>,
    /// The class names, in the order in which they appear in the data.
    pub class_names: Vec<String>,
}

/// Reads a `.ts` file, gzipped or not.
pub fn read(path: impl AsRef<Path>) -> Result<TimeSeries> {
    parse(Input::open(path)?)
}

/// Reads `.ts` from a stream.
pub fn parse(mut input: Input) -> Result<TimeSeries> {
    let name = input.name().to_owned();
    let bytes = input.rest()?;
    let text = std::str::from_utf8(&bytes).map_err(|_| Error::format(&name, "is not UTF-8"))?;
    let mut series = TimeSeries::default();
    let mut classes = HashMap::new();
    let mut in_data = false;
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let done =
            if in_data { series.push(line, &mut classes) } else { header(line).map(|data| in_data = data) };
        done.map_err(|what| Error::format(&name, format!("line {}: {what}", at + 1)))?;
    }
    match in_data {
        true => Ok(series),
        false => Err(Error::format(name, "is not .ts: it has no line @data")),
    }
}

/// Whether a line of the header is its last one.
fn header(line: &str) -> Result<bool, String> {
    let line = line.to_ascii_lowercase();
    match (line.starts_with('@'), line.split_whitespace().collect::<Vec<_>>().as_slice()) {
        (true, ["@data"]) => Ok(true),
        (true, ["@timestamps", "true"]) => Err("series with time stamps are not supported".into()),
        (true, _) => Ok(false),
        (false, _) => Err("a header line that starts with @ expected".into()),
    }
}

impl TimeSeries {
    /// Appends the sample of a line.
    fn push(&mut self, line: &str, classes: &mut HashMap<String, u32>) -> Result<(), String> {
        let (body, class) = line.rsplit_once(':').ok_or("channels and a class expected")?;
        let (mut channels, mut length) = (0, 0);
        for channel in body.split(':') {
            let before = self.values.len();
            for text in channel.split(',').map(str::trim) {
                // through f64, as NumPy reads it
                let value: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
                reserve(&mut self.values, 1);
                self.values.push(value as f32);
            }
            let steps = self.values.len() - before;
            if channels > 0 && steps != length {
                return Err(format!("a channel of {steps} steps after one of {length}"));
            }
            (channels, length) = (channels + 1, steps);
        }
        if !self.lengths.is_empty() && channels != self.channels {
            return Err(format!("{channels} channels where the first sample has {}", self.channels));
        }
        self.channels = channels;
        reserve(&mut self.lengths, 1);
        self.lengths.push(u32::try_from(length).map_err(|_| "the series is too long")?);
        let next = self.class_names.len();
        let class = class.trim();
        let label = match classes.get(class) {
            Some(&label) => label,
            None if next == MAX_CLASSES => return Err(format!("more than {MAX_CLASSES} classes")),
            None => {
                classes.insert(class.to_owned(), next as u32);
                self.class_names.push(class.to_owned());
                next as u32
            }
        };
        reserve(&mut self.labels, 1);
        self.labels.push(label);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<TimeSeries> {
        parse(Input::bytes("t.ts", text.as_bytes()).unwrap())
    }

    #[test]
    fn series_of_different_lengths_are_read() {
        let series =
            parsed("# c\n@equalLength false\n@data\n1,2.5,-3:4,5,6:a b\n\n7:8:c\n9:1:a b\n").unwrap();
        assert_eq!((series.channels, &series.lengths[..]), (2, &[3, 1, 1][..]));
        assert_eq!(series.values, [1.0, 2.5, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0]);
        assert_eq!(
            (&series.labels[..], &series.class_names[..]),
            (&[0, 1, 0][..], &["a b".into(), "c".into()][..])
        );
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parsed(text).unwrap_err().to_string();
        assert_eq!(error("@data\n1,?:a\n"), "t.ts: line 2: \"?\" is not a number");
        assert_eq!(error("@data\n1,2\n"), "t.ts: line 2: channels and a class expected");
        assert_eq!(error("@data\n1,2:3:a\n"), "t.ts: line 2: a channel of 1 steps after one of 2");
        assert_eq!(error("@data\n1:2:a\n1:a\n"), "t.ts: line 3: 1 channels where the first sample has 2");
        assert_eq!(error("1,2:a\n"), "t.ts: line 1: a header line that starts with @ expected");
        assert_eq!(
            error("@timeStamps true\n@data\n"),
            "t.ts: line 1: series with time stamps are not supported"
        );
        assert_eq!(error("@x\n"), "t.ts: is not .ts: it has no line @data");
    }
}
