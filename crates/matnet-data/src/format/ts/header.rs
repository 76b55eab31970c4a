//! What the lines of a `.ts` header say, and whether the data agree with it.

use std::collections::HashMap;
use std::fmt::Display;

use crate::error::counted;

/// More classes than any dataset has.
pub(super) const MAX_CLASSES: usize = 1 << 16;

/// Letters of a line that an error shows.
const MAX_SHOWN: usize = 200;

/// What stands at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Class,
    Target,
    Nothing,
}

/// The size of a series, and whether one of its values is missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub channels: usize,
    pub steps: usize,
    pub missing: bool,
}

/// The statements of a header. What it does not say is not checked.
#[derive(Debug, Default)]
pub(super) struct Header {
    univariate: Option<bool>,
    dimensions: Option<usize>,
    equal_length: Option<bool>,
    series_length: Option<usize>,
    missing: Option<bool>,
    time_stamps: Option<bool>,
    class_label: Option<bool>,
    target_label: Option<bool>,
    /// The classes as they are listed, by what all their spellings have in common.
    classes: HashMap<String, String>,
    /// The line that lists the classes.
    class_line: String,
}

impl Header {
    /// Reads a line. Whether it is the last one of the header.
    pub(super) fn push(&mut self, line: &str) -> Result<bool, String> {
        if !line.starts_with('@') {
            return Err("a header line that starts with @ expected".into());
        }
        let mut words = line.split_whitespace();
        let key = words.next().unwrap_or_default();
        let value = words.next();
        match key.to_ascii_lowercase().as_str() {
            "@data" => return self.check().map(|()| true),
            "@univariate" => state(&mut self.univariate, key, truth(key, value)?)?,
            "@dimensions" | "@dimension" => state(&mut self.dimensions, key, count(key, value)?)?,
            "@equallength" => state(&mut self.equal_length, key, truth(key, value)?)?,
            "@serieslength" => state(&mut self.series_length, key, count(key, value)?)?,
            "@missing" => state(&mut self.missing, key, truth(key, value)?)?,
            "@timestamps" => state(&mut self.time_stamps, key, truth(key, value)?)?,
            "@targetlabel" => state(&mut self.target_label, key, truth(key, value)?)?,
            "@classlabel" => {
                state(&mut self.class_label, key, truth(key, value)?)?;
                self.class_line = line.to_owned();
                for class in words.take(MAX_CLASSES) {
                    if let Some(other) = self.classes.insert(spelling(class), class.to_owned())
                        && other != class
                    {
                        return Err(format!("the classes {other:?} and {class:?}; one spelling expected"));
                    }
                }
            }
            _ => {}
        }
        match self.time_stamps {
            Some(true) => Err("series with time stamps are not supported".into()),
            _ => Ok(false),
        }
    }

    /// Fails if two statements contradict each other.
    fn check(&self) -> Result<(), String> {
        if let (Some(dimensions), Some(univariate)) = (self.dimensions, self.univariate)
            && univariate != (dimensions == 1)
        {
            return Err(format!(
                "`@dimensions {dimensions}` and `@univariate {univariate}` contradict each other"
            ));
        }
        match (self.class_label, self.target_label) {
            (Some(true), Some(true)) => {
                Err("`@classLabel true` and `@targetLabel true`; only one of them expected".into())
            }
            (Some(false), _) if !self.classes.is_empty() => {
                Err(format!("`{}`; either `true` or no classes expected", shortened(&self.class_line)))
            }
            _ => Ok(()),
        }
    }

    /// What stands at the end of a line; a class, if the header does not say it.
    pub(super) fn last(&self) -> Last {
        match (self.target_label, self.class_label) {
            (Some(true), _) => Last::Target,
            (_, Some(false)) => Last::Nothing,
            _ => Last::Class,
        }
    }

    /// Fails if a series contradicts the header. `first_steps` is the length of the first one.
    pub(super) fn check_series(&self, series: Size, first_steps: usize) -> Result<(), String> {
        let Size { channels, steps, missing } = series;
        let (found, said) = if let Some(dimensions) = self.dimensions.filter(|&said| said != channels) {
            (counted(channels, "channel"), format!("@dimensions {dimensions}"))
        } else if let Some(univariate) = self.univariate.filter(|&said| said != (channels == 1)) {
            (counted(channels, "channel"), format!("@univariate {univariate}"))
        } else if let Some(length) = self.common_length().filter(|&said| said != steps) {
            (counted(steps, "step"), format!("@seriesLength {length}"))
        } else if self.equal_length == Some(true) && steps != first_steps {
            (
                format!("{} after a series of {first_steps}", counted(steps, "step")),
                "@equalLength true".into(),
            )
        } else if missing && self.missing == Some(false) {
            ("a missing value".into(), "@missing false".into())
        } else {
            return Ok(());
        };
        Err(format!("{found} where the header says `{said}`"))
    }

    /// The length of all series. Where lengths differ, archives write the longest one, that of the first series, or anything.
    fn common_length(&self) -> Option<usize> {
        self.series_length.filter(|_| self.equal_length != Some(false))
    }

    /// A class as the header spells it; as it is if the header lists none.
    pub(super) fn class(&self, name: &str) -> Result<String, String> {
        if self.classes.is_empty() {
            return Ok(name.to_owned());
        }
        let known = self.classes.get(&spelling(name));
        known
            .cloned()
            .ok_or_else(|| format!("class {name:?} where the header says `{}`", shortened(&self.class_line)))
    }
}

/// What two spellings of one class have in common: aeon does not distinguish capitals, and the halves of some sets write `1` and `1.0`.
pub(crate) fn spelling(class: &str) -> String {
    match class.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => class.to_lowercase(),
    }
}

/// Fails if a key was there before with another value.
fn state<T: PartialEq + Display>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), String> {
    match slot.replace(value) {
        Some(before) if slot.as_ref() != Some(&before) => {
            Err(format!("`{key}` a second time, with another value than {before}"))
        }
        _ => Ok(()),
    }
}

fn truth(key: &str, value: Option<&str>) -> Result<bool, String> {
    match value.unwrap_or_default().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("`{key} {other}`; true or false expected")),
    }
}

fn count(key: &str, value: Option<&str>) -> Result<usize, String> {
    let value = value.unwrap_or_default();
    value.parse().map_err(|_| format!("`{key} {value}`; a number expected"))
}

/// The beginning of a line that may be long.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
