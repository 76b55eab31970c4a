//! `[search]`: the keys that a search tries out, and the values of each.

use matnet::random::SeededRng;
use toml::{Table, Value};

use crate::config::{Document, changes_measure};
use crate::{Error, Result};

/// Keys that would change what trials are judged by, or that the search itself sets; and what to do instead.
const FIXED: [(&str, &str); 18] = [
    ("train.seed", "search.seeds lists the seeds of the trials"),
    ("train.epochs", "trials are trained for as many epochs as they are worth, up to train.epochs"),
    ("train.previous_epochs", "runs are extended one by one"),
    ("train.monitor", "trials are judged by it"),
    ("train.loss", "trials with different losses cannot be compared"),
    ("train.log_test", "a search does not look at the test split"),
    ("data.source", "trials on different data cannot be compared"),
    ("data.split", "trials on different splits cannot be compared"),
    ("data.valid", "trials on different data cannot be compared"),
    ("data.test", "trials on different data cannot be compared"),
    ("data.edges", "trials on different data cannot be compared"),
    ("data.target", "trials that predict different things cannot be compared"),
    ("data.limit", "trials on different data cannot be compared"),
    ("data.size", "trials on different data cannot be compared"),
    ("data.sequences", "trials on different data cannot be compared"),
    ("data.valid_sequences", "trials on different data cannot be compared"),
    ("data.valid_lengths", "trials on different data cannot be compared"),
    ("data.seed", "trials on different splits cannot be compared"),
];

/// What the values of a key are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// One of a list.
    Choices(Vec<Value>),
    /// Whole numbers, both ends included.
    Integers {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// Whether their logarithms are uniform.
        log: bool,
    },
    /// Numbers.
    Floats {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
        /// Whether their logarithms are uniform.
        log: bool,
    },
}

/// `[search]` of a config.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpace {
    /// The seeds of every trial; by default `train.seed` alone.
    pub seeds: Option<Vec<u64>>,
    /// The keys, in the order of the config.
    pub keys: Vec<(String, Domain)>,
}

impl SearchSpace {
    /// Of a config.
    pub fn of(document: &Document) -> Result<Self> {
        let Some(table) = document.table("search") else {
            let message = "[search] is missing: it lists the keys to try, like \"train.learning_rate\" = { min = 1e-4, max = 1e-1, log = true }";
            return Err(Error::Syntax { line: None, message: message.to_owned() });
        };
        let mut space = Self { seeds: None, keys: Vec::new() };
        space.read("", table)?;
        match space.keys.is_empty() {
            true => Err(wrong("", "names no key", "like \"model.hidden\" = [[20, 20], [50, 50]]")),
            false => Ok(space),
        }
    }

    fn read(&mut self, prefix: &str, table: &Table) -> Result<()> {
        for (key, value) in table {
            if prefix.is_empty() && key == "seeds" {
                self.seeds = Some(seeds(value)?);
                continue;
            }
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            let domain = match value {
                Value::Array(choices) => choices_of(&path, choices)?,
                Value::Table(range) if ["min", "max", "log"].iter().any(|key| range.contains_key(*key)) => {
                    range_of(&path, range)?
                }
                Value::Table(inner) => {
                    self.read(&path, inner)?;
                    continue;
                }
                other => {
                    let expected = "a list of choices, or a range { min = …, max = … }, expected";
                    return Err(wrong(&path, other.to_string(), expected));
                }
            };
            check_key(&path)?;
            if self.keys.iter().any(|(other, _)| *other == path) {
                return Err(wrong(&path, "is given twice", "once is enough"));
            }
            self.keys.push((path, domain));
        }
        Ok(())
    }

    /// Fails if a key would change what trials of a config are judged by, which may be the loss.
    pub(super) fn check_measure(&self, document: &Document, loss: bool) -> Result<()> {
        let changes =
            self.keys.iter().find_map(|(key, _)| Some((key, changes_measure(document, key, loss)?)));
        match changes {
            Some((key, why)) => Err(wrong(key, "cannot be searched", why)),
            None => Ok(()),
        }
    }

    /// How many combinations there are, if they can be counted.
    pub fn combinations(&self) -> Option<u64> {
        self.keys.iter().try_fold(1_u64, |product, (_, domain)| product.checked_mul(domain.size()?))
    }

    /// The values of a trial, in the order of the keys. A key has the same values in every space that has it.
    pub fn draw(&self, seed: u64, trial: usize, attempt: usize) -> Vec<Value> {
        let draw = |(key, domain): &(String, Domain)| {
            domain.draw(&mut SeededRng::new(seed, &format!("trial {trial}, {key}, draw {attempt}")))
        };
        self.keys.iter().map(draw).collect()
    }

    /// A config with some values of the keys.
    pub fn apply(&self, document: &Document, values: &[Value]) -> Result<Document> {
        let mut document = document.clone();
        for ((key, _), value) in self.keys.iter().zip(values) {
            document.put(&key.split('.').collect::<Vec<_>>(), value.clone())?;
        }
        Ok(document)
    }
}

impl Domain {
    /// How many values there are, if they can be counted.
    fn size(&self) -> Option<u64> {
        match self {
            Self::Choices(choices) => Some(choices.len() as u64),
            Self::Integers { min, max, .. } => Some(max.abs_diff(*min).saturating_add(1)),
            Self::Floats { .. } => None,
        }
    }

    fn draw(&self, rng: &mut SeededRng) -> Value {
        match self {
            Self::Choices(choices) => choices[rng.below(choices.len())].clone(),
            Self::Integers { min, max, log: false } => {
                let count = usize::try_from(max.abs_diff(*min).saturating_add(1)).unwrap_or(usize::MAX);
                Value::Integer(min.saturating_add_unsigned(rng.below(count) as u64))
            }
            Self::Integers { min, max, log: true } => {
                // Every number has the share of the interval up to the next one.
                let number = between((*min as f64).ln(), (*max as f64 + 1.0).ln(), rng).exp();
                Value::Integer((number.floor() as i64).clamp(*min, *max))
            }
            Self::Floats { min, max, log } => {
                let number = match log {
                    true => between(min.ln(), max.ln(), rng).exp(),
                    false => between(*min, *max, rng),
                };
                Value::Float(rounded(number).clamp(*min, *max))
            }
        }
    }

    /// The values whose types and ranges stand for all: every choice, or both ends.
    pub fn examples(&self) -> Vec<Value> {
        match self {
            Self::Choices(choices) => choices.clone(),
            Self::Integers { min, max, .. } => vec![Value::Integer(*min), Value::Integer(*max)],
            Self::Floats { min, max, .. } => vec![Value::Float(*min), Value::Float(*max)],
        }
    }

    /// Whether its numbers are drawn, and shown, by their logarithms.
    pub fn is_log(&self) -> bool {
        matches!(self, Self::Integers { log: true, .. } | Self::Floats { log: true, .. })
    }
}

fn between(low: f64, high: f64, rng: &mut SeededRng) -> f64 {
    low + (high - low) * rng.uniform()
}

/// Four digits are as fine as anybody would write, and the same wherever the logarithm is computed.
fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

fn wrong(key: &str, value: impl Into<String>, expected: impl Into<String>) -> Error {
    match key {
        "" => {
            Error::Syntax { line: None, message: format!("[search] {}; {}", value.into(), expected.into()) }
        }
        key => Error::config("search", format!("\"{key}\""), value, expected),
    }
}

fn check_key(key: &str) -> Result<()> {
    let tables = ["data.", "model.", "train."];
    if !tables.iter().any(|table| key.starts_with(table)) || key.split('.').any(str::is_empty) {
        return Err(wrong(
            key,
            "no such key",
            "a key of [data], [model] or [train] expected, like \"model.hidden\"",
        ));
    }
    let fixed = FIXED.iter().find(|(fixed, _)| {
        key == *fixed || key.strip_prefix(fixed).is_some_and(|rest| rest.starts_with('.'))
    });
    match fixed {
        Some((_, why)) => Err(wrong(key, "cannot be searched", *why)),
        None => Ok(()),
    }
}

fn seeds(value: &Value) -> Result<Vec<u64>> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let seeds: Option<Vec<u64>> = list.and_then(|list| {
        list.iter().map(|seed| seed.as_integer().and_then(|seed| u64::try_from(seed).ok())).collect()
    });
    let Some(seeds) = seeds else {
        return Err(Error::config("search", "seeds", value.to_string(), "a list of whole numbers expected"));
    };
    match (1..seeds.len()).find(|&at| seeds[..at].contains(&seeds[at])) {
        Some(at) => {
            Err(Error::config("search", "seeds", value.to_string(), format!("{} is listed twice", seeds[at])))
        }
        None => Ok(seeds),
    }
}

fn choices_of(key: &str, choices: &[Value]) -> Result<Domain> {
    if choices.is_empty() {
        return Err(wrong(key, "[]", "at least one choice expected"));
    }
    match (1..choices.len()).find(|&at| choices[..at].contains(&choices[at])) {
        Some(at) => Err(wrong(key, choices[at].to_string(), "is among the choices twice")),
        None => Ok(Domain::Choices(choices.to_vec())),
    }
}

fn range_of(key: &str, range: &Table) -> Result<Domain> {
    if let Some(other) = range.keys().find(|key| !["min", "max", "log"].contains(&key.as_str())) {
        return Err(wrong(key, format!("has a key {other}"), "a range has min, max and log"));
    }
    let log = match range.get("log") {
        None => false,
        Some(Value::Boolean(log)) => *log,
        Some(other) => return Err(wrong(key, format!("log = {other}"), "true or false expected")),
    };
    let (Some(min), Some(max)) = (range.get("min"), range.get("max")) else {
        let missing = if range.contains_key("min") { "max" } else { "min" };
        return Err(wrong(key, format!("has no {missing}"), "a range has min and max"));
    };
    let number = |value: &Value| {
        let number = value.as_float().or(value.as_integer().map(|number| number as f64));
        number.filter(|number| number.is_finite())
    };
    let (Some(low), Some(high)) = (number(min), number(max)) else {
        let value = format!("min = {min}, max = {max}");
        return Err(wrong(key, value, "two numbers expected; other values are listed as choices"));
    };
    if low >= high {
        return Err(wrong(key, format!("min = {min}, max = {max}"), "min must be less than max"));
    }
    if log && low <= 0.0 {
        return Err(wrong(key, format!("min = {min}"), "must be above 0 with log = true"));
    }
    Ok(match (min, max) {
        (Value::Integer(min), Value::Integer(max)) => Domain::Integers { min: *min, max: *max, log },
        _ => Domain::Floats { min: low, max: high, log },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Result<SearchSpace> {
        SearchSpace::of(&Document::parse(&format!("[search]\n{text}")).unwrap())
    }

    #[test]
    fn values_are_drawn_from_their_domains() {
        let text = "
seeds = [101, 102]
'model.hidden' = [[20, 20], [50, 50]]
model.depth = { min = 1, max = 3 }
train.batch_size = { min = 8, max = 128, log = true }
train.learning_rate = { min = 1e-4, max = 1e-1, log = true }
train.l2 = { min = 0, max = 0.5 }
";
        let space = space(text).unwrap();
        assert_eq!(space.seeds, Some(vec![101, 102]));
        assert_eq!(space.combinations(), None);
        let keys: Vec<&str> = space.keys.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            keys,
            ["model.hidden", "model.depth", "train.batch_size", "train.learning_rate", "train.l2"]
        );
        let (mut depths, mut below, mut small) = ([0; 4], 0, 0);
        for trial in 0..3000 {
            let values = space.draw(7, trial, 0);
            assert_eq!(values, space.draw(7, trial, 0));
            depths[values[1].as_integer().unwrap() as usize] += 1;
            let batch = values[2].as_integer().unwrap();
            assert!((8..=128).contains(&batch));
            small += usize::from(batch < 32);
            let rate = values[3].as_float().unwrap();
            assert!((1e-4..=1e-1).contains(&rate));
            below += usize::from(rate < 10_f64.powf(-2.5));
            assert!((0.0..=0.5).contains(&values[4].as_float().unwrap()));
        }
        assert!(depths[0] == 0 && depths[1..].iter().all(|&count| count > 900), "{depths:?}");
        // Half of the logarithms.
        assert!((1400..1600).contains(&below) && (1400..1600).contains(&small), "{below} {small}");
        // Another seed draws others; a key has its values whatever the other keys are.
        assert_ne!(space.draw(8, 0, 0), space.draw(7, 0, 0));
        let fewer = self::space("model.depth = { min = 1, max = 3 }").unwrap();
        assert!((0..20).all(|trial| fewer.draw(7, trial, 0)[0] == space.draw(7, trial, 0)[1]));
        assert_eq!(fewer.combinations(), Some(3));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("", "[search] names no key; like "),
            ("hidden = [1]", "search.\"hidden\": no such key; a key of [data], [model] or [train] expected"),
            ("model.depth = 5", "search.\"model.depth\": 5; a list of choices, or a range"),
            ("model.depth = []", "search.\"model.depth\": []; at least one choice expected"),
            ("model.depth = [1, 2, 1]", "search.\"model.depth\": 1; is among the choices twice"),
            ("model.depth = { min = 1 }", "search.\"model.depth\": has no max; a range has min and max"),
            ("model.depth = { min = 3, max = 3 }", "min = 3, max = 3; min must be less than max"),
            ("model.depth = { min = 1, max = 3, step = 2 }", "has a key step; a range has min, max and log"),
            ("model.depth = { min = 1, max = 3, log = 1 }", "log = 1; true or false expected"),
            ("train.l2 = { min = 0, max = 1, log = true }", "min = 0; must be above 0 with log = true"),
            ("train.l2 = { min = 'a', max = 'b' }", "two numbers expected"),
            ("train.l2 = { min = nan, max = 1.0 }", "two numbers expected"),
            ("train.seed = [1, 2]", "cannot be searched; search.seeds lists the seeds"),
            ("data.split.valid = [0.1, 0.2]", "cannot be searched; trials on different splits"),
            (
                "data.valid = ['a.npz', 'b.npz']",
                "search.\"data.valid\": cannot be searched; trials on different data",
            ),
            ("data.target = ['class', 'value']", "cannot be searched; trials that predict different things"),
            ("data.test = ['a.npz', 'b.npz']", "cannot be searched; trials on different data"),
            ("data.valid_lengths = [[1, 5], [1, 9]]", "cannot be searched; trials on different data"),
            ("seeds = []\nmodel.depth = [1]", "search.seeds: []; a list of whole numbers expected"),
            ("seeds = [1, 1]\nmodel.depth = [1]", "search.seeds: [1, 1]; 1 is listed twice"),
            ("'model.depth' = [1]\nmodel.depth = [2]", "is given twice"),
        ] {
            let error = space(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
            assert!(error.is_usage(), "{text}");
        }
        let none = SearchSpace::of(&Document::parse("[train]").unwrap()).unwrap_err();
        assert!(none.to_string().starts_with("[search] is missing: it lists the keys to try"), "{none}");
    }
}
