//! The `.ts` text format of the UEA and UCR archives of time series, and of aeon.
//!
//! Lines that start with `#` are comments, those that start with `@` the header. After `@data` each line is a sample: channels
//! separated by `:`, values by `,`, and last the class, or the value to predict if the header has `@targetlabel true`. A value `?` is
//! missing. With `@classLabel false` there is neither. Data that contradict their header are an error.

mod header;

use std::collections::HashMap;
use std::path::Path;

use crate::error::counted;
use crate::format::bounded::{Input, reserve};
use crate::{Error, Result};
pub(crate) use header::spelling;
use header::{Header, Last, MAX_CLASSES, Size};

/// Multivariate time series with classes or values. All have the same number of channels; their lengths may differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSeries {
    /// The number of channels.
    pub channels: usize,
    /// The number of steps of each sample.
    pub lengths: Vec<u32>,
    /// All values: sample after sample, channel after channel, step after step. Missing ones are NaN.
    pub values: Vec<f32>,
    /// The class of each sample; empty where there are none.
    pub labels: Vec<u32>,
    /// The class names, in the order in which they appear in the data.
    pub class_names: Vec<String>,
    /// The value to predict of each sample, NaN where it is missing; empty where there are none.
    pub targets: Vec<f32>,
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
    let (mut in_data, mut header) = (false, Header::default());
    for (at, line) in text.trim_start_matches('\u{feff}').lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let done = match in_data {
            true => series.push(line, &header, &mut classes),
            false => header.push(line).map(|data| in_data = data),
        };
        done.map_err(|what| Error::format(&name, format!("line {}: {what}", at + 1)))?;
    }
    match in_data {
        true => Ok(series),
        false => Err(Error::format(name, "is not .ts: it has no line @data")),
    }
}

/// A number, or NaN if it is missing; read through `f64`, as NumPy does.
fn number(text: &str) -> Result<f32, String> {
    match text.trim() {
        "?" => Ok(f32::NAN),
        text if text.starts_with('(') => Err("series with time stamps are not supported".into()),
        text => text.parse::<f64>().map(|x| x as f32).map_err(|_| format!("{text:?} is not a number")),
    }
}

/// Room for one more value.
fn room<T>(values: &mut Vec<T>) -> Result<(), String> {
    reserve(values, 1, Path::new("")).map_err(|_| "not enough memory".into())
}

impl TimeSeries {
    /// Appends the sample of a line.
    fn push(
        &mut self,
        line: &str,
        header: &Header,
        classes: &mut HashMap<String, u32>,
    ) -> Result<(), String> {
        let last = header.last();
        let (body, end) = match last {
            Last::Nothing => (line, ""),
            Last::Class => line.rsplit_once(':').ok_or("channels and a class expected")?,
            Last::Target => line.rsplit_once(':').ok_or("channels and a value to predict expected")?,
        };
        let start = self.values.len();
        let (mut channels, mut length) = (0, 0);
        for channel in body.split(':') {
            let before = self.values.len();
            for text in channel.split(',') {
                let value = number(text)?;
                room(&mut self.values)?;
                self.values.push(value);
            }
            let steps = self.values.len() - before;
            if channels > 0 && steps != length {
                return Err(format!("a channel of {} after one of {length}", counted(steps, "step")));
            }
            (channels, length) = (channels + 1, steps);
        }
        let missing = self.values[start..].iter().any(|value| value.is_nan());
        let first_steps = self.lengths.first().map_or(length, |&first| first as usize);
        header.check_series(Size { channels, steps: length, missing }, first_steps)?;
        if !self.lengths.is_empty() && channels != self.channels {
            return Err(format!(
                "{} where the first sample has {}",
                counted(channels, "channel"),
                self.channels
            ));
        }
        self.channels = channels;
        room(&mut self.lengths)?;
        self.lengths.push(u32::try_from(length).map_err(|_| "the series is too long")?);
        match last {
            Last::Nothing => Ok(()),
            Last::Class => self.push_class(end.trim(), header, classes),
            Last::Target => {
                let value = number(end)?;
                room(&mut self.targets)?;
                self.targets.push(value);
                Ok(())
            }
        }
    }

    /// Appends a class, or `?` where it is unknown.
    fn push_class(
        &mut self,
        class: &str,
        header: &Header,
        classes: &mut HashMap<String, u32>,
    ) -> Result<(), String> {
        let name = if matches!(class, "" | "?") { class.to_owned() } else { header.class(class)? };
        let label = match classes.get(&name) {
            Some(&label) => label,
            None => {
                let next = self.class_names.len();
                if next == MAX_CLASSES {
                    return Err(format!(
                        "more than {MAX_CLASSES} classes; values to predict need `@targetlabel true`"
                    ));
                }
                self.class_names.push(name.clone());
                classes.insert(name, next as u32);
                next as u32
            }
        };
        room(&mut self.labels)?;
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
    fn missing_values_targets_and_series_without_either() {
        let series = parsed("@missing true\n@data\n1,?,3:a\n").unwrap();
        assert!(series.values[1].is_nan() && series.values[2] == 3.0);
        let series = parsed("@targetlabel true\n@classLabel false\n@data\n1,2:0.5\n3,4:?\n").unwrap();
        assert_eq!((series.channels, series.targets[0], series.class_names.len()), (1, 0.5, 0));
        assert!(series.targets[1].is_nan());
        let series = parsed("@classLabel false\n@data\n1,2:3,4\n").unwrap();
        assert_eq!((series.channels, &series.values[..]), (2, &[1., 2., 3., 4.][..]));
        assert!(series.labels.is_empty() && series.targets.is_empty());
    }

    #[test]
    fn classes_are_spelled_as_in_the_header() {
        let series = parsed("\u{feff}@classLabel true 1 2 Run\n@data\n1:1.0\n2:?\n3:run\n4:1\n").unwrap();
        assert_eq!(series.class_names, ["1", "?", "Run"]);
        assert_eq!(series.labels, [0, 1, 2, 0]);
    }

    /// Each header with data that it contradicts: what is found, and what the header says. Its data are read without the header.
    #[test]
    fn data_that_contradict_the_header() {
        let cases = [
            ("@univariate true", "1,2:3,4:a", "line 3: 2 channels where the header says `@univariate true`"),
            ("@univariate false", "1,2:a", "line 3: 1 channel where the header says `@univariate false`"),
            ("@dimensions 3", "1,2:3,4:a", "line 3: 2 channels where the header says `@dimensions 3`"),
            ("@dimension 1", "1,2:3,4:a", "line 3: 2 channels where the header says `@dimensions 1`"),
            ("@seriesLength 3", "1,2:a", "line 3: 2 steps where the header says `@seriesLength 3`"),
            (
                "@equalLength true",
                "1,2:a\n1:a",
                "line 4: 1 step after a series of 2 where the header says `@equalLength true`",
            ),
            (
                "@missing false",
                "1,2:a\n1,?:a",
                "line 4: a missing value where the header says `@missing false`",
            ),
            ("@missing FALSE", "nan:a", "line 3: a missing value where the header says `@missing false`"),
            ("@classLabel true b", "1:a", "line 3: class \"a\" where the header says `@classLabel true b`"),
            ("@classLabel true b", "1:-1", "line 3: class \"-1\" where the header says `@classLabel true b`"),
            ("@classLabel false", "1:a", "line 3: \"a\" is not a number"),
            ("@timeStamps false", "(0,1):a", "line 3: series with time stamps are not supported"),
        ];
        for (header, data, expected) in cases {
            let error = parsed(&format!("{header}\n@data\n{data}\n")).unwrap_err().to_string();
            assert_eq!(error, format!("t.ts: {}", expected), "{header}");
            assert!(data.starts_with('(') || parsed(&format!("@data\n{data}\n")).is_ok(), "{data}");
        }
    }

    #[test]
    fn headers_that_contradict_themselves() {
        let cases = [
            (
                "@univariate true\n@dimensions 2",
                "line 3: `@dimensions 2` and `@univariate true` contradict each other",
            ),
            (
                "@dimensions 1\n@univariate false",
                "line 3: `@dimensions 1` and `@univariate false` contradict each other",
            ),
            (
                "@classLabel true a\n@targetLabel true",
                "line 3: `@classLabel true` and `@targetLabel true`; only one of them expected",
            ),
            (
                "@classLabel false a b",
                "line 2: `@classLabel false a b`; either `true` or no classes expected",
            ),
            ("@classLabel true a b A", "line 1: the classes \"a\" and \"A\"; one spelling expected"),
            ("@classLabel true 01 1", "line 1: the classes \"01\" and \"1\"; one spelling expected"),
            ("@dimensions 2\n@dimension 3", "line 2: `@dimension` a second time, with another value than 2"),
            ("@missing perhaps", "line 1: `@missing perhaps`; true or false expected"),
            ("@targetLabel", "line 1: `@targetLabel `; true or false expected"),
            ("@seriesLength long", "line 1: `@seriesLength long`; a number expected"),
        ];
        for (header, expected) in cases {
            let error = parsed(&format!("{header}\n@data\n1,2:3,4:a\n")).unwrap_err().to_string();
            assert_eq!(error, format!("t.ts: {expected}"));
        }
    }

    /// Statements that the data need not show: lengths that may differ, values that may be missing.
    #[test]
    fn headers_that_promise_less_are_right() {
        for header in [
            "@equalLength false\n@seriesLength 9",
            "@missing true",
            "@univariate false\n@dimensions 2\n@dimensions 2",
            "@problemName a\n@problemName b\n@unknown x",
            "@targetLabel false\n@classLabel true",
            "@timeStamps false\n@equalLength true\n@seriesLength 2",
        ] {
            parsed(&format!("{header}\n@data\n1,2:3,4:a\n5,6:7,8:b\n")).expect(header);
        }
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parsed(text).unwrap_err().to_string();
        assert_eq!(
            error("@classLabel true A b\n@data\n1:a\n1:c\n"),
            "t.ts: line 4: class \"c\" where the header says `@classLabel true A b`"
        );
        assert_eq!(error("@data\n1,x:a\n"), "t.ts: line 2: \"x\" is not a number");
        assert_eq!(error("@data\n1,2\n"), "t.ts: line 2: channels and a class expected");
        assert_eq!(
            error("@targetlabel true\n@data\n1,2\n"),
            "t.ts: line 3: channels and a value to predict expected"
        );
        assert_eq!(error("@targetlabel true\n@data\n1,2:a\n"), "t.ts: line 3: \"a\" is not a number");
        assert_eq!(error("@data\n1,2:3:a\n"), "t.ts: line 2: a channel of 1 step after one of 2");
        assert_eq!(error("@data\n1:2:a\n1:a\n"), "t.ts: line 3: 1 channel where the first sample has 2");
        assert_eq!(error("1,2:a\n"), "t.ts: line 1: a header line that starts with @ expected");
        let stamps = "series with time stamps are not supported";
        assert_eq!(error("@timeStamps true\n@data\n"), format!("t.ts: line 1: {stamps}"));
        assert_eq!(error("@data\n(0,1),(1,2):a\n"), format!("t.ts: line 2: {stamps}"));
        assert_eq!(error("@x\n"), "t.ts: is not .ts: it has no line @data");
    }
}
