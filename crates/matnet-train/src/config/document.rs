//! A config as text: tables, overrides and variants, before any key has a meaning.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{DataConfig, TrainConfig};
use crate::{Error, Result};

/// The tables a config may have.
const TABLES: [&str; 4] = ["data", "model", "train", "variant"];

/// A config that has been read, not yet understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    table: Table,
    /// The variants in the order of the file; a table has forgotten it.
    variants: Vec<String>,
}

impl Document {
    /// Reads a file; an error names it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::parse(&text).map_err(|error| match error {
            Error::Config(what) => Error::Config(format!("{}: {what}", path.display())),
            other => other,
        })
    }

    /// Takes a config from its text.
    pub fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let place = error.span().map(|span| {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                format!("line {line}: ")
            });
            Error::Config(format!("{}{}", place.unwrap_or_default(), error.message()))
        })?;
        // `[run]` stands in the config of a run and says how it came about; it decides nothing.
        let mut table = table;
        table.remove("run");
        for (key, value) in &table {
            known(key, &TABLES, "")?;
            if !value.is_table() {
                return Err(Error::Config(format!("{key}: must be a table, [{key}]")));
            }
        }
        let variants = variants(&table, text);
        Ok(Self { table, variants })
    }

    /// Sets one key: `model.hidden=[50, 50]`. What is no TOML value is taken as a text.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let wrong =
            || Error::Config(format!("`{assignment}`: key=value expected, like model.hidden=[50,50]"));
        let (path, text) = assignment.split_once('=').ok_or_else(wrong)?;
        let parts: Vec<&str> = path.trim().split('.').collect();
        if parts.len() < 2 || parts.iter().any(|part| part.trim().is_empty()) {
            return Err(wrong());
        }
        known(parts[0], &TABLES, "")?;
        let text = text.trim();
        let value = format!("value = {text}")
            .parse::<Table>()
            .ok()
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(text.to_owned()));
        put(&mut self.table, &parts, value).map_err(Error::Config)?;
        if let [table, name, ..] = parts[..]
            && table == "variant"
            && !self.variants.iter().any(|known| known == name)
        {
            self.variants.push(name.to_owned());
        }
        Ok(())
    }

    /// The names of the variants, in the order of the file.
    pub fn variants(&self) -> Vec<String> {
        self.variants.clone()
    }

    /// The config with the keys of one variant in place of its own.
    pub fn variant(&self, name: &str) -> Result<Self> {
        let mut table = self.table.clone();
        let variants = table.remove("variant");
        let changes = variants.as_ref().and_then(|variants| variants.get(name));
        let Some(Value::Table(changes)) = changes else {
            let names = self.variants();
            let have = match names.is_empty() {
                true => "this config has none".to_owned(),
                false => format!("there are {}", names.join(", ")),
            };
            return Err(Error::Config(format!("variant `{name}`: no such variant; {have}")));
        };
        for key in changes.keys() {
            known(key, &TABLES[..3], &format!("variant.{name}."))?;
        }
        merge(&mut table, changes);
        Ok(Self { table, variants: Vec::new() })
    }

    /// Where the data come from, if that is said.
    pub fn source(&self) -> Option<&str> {
        self.table.get("data")?.get("source")?.as_str()
    }

    /// The config of the data.
    pub fn data(&self) -> Result<DataConfig> {
        let config: DataConfig = read_table("data", self.section("data")?)?;
        config.check()?;
        Ok(config)
    }

    /// A table as another config of it.
    pub(crate) fn table<C: DeserializeOwned>(&self, table: &str) -> Result<C> {
        read_table(table, self.section(table)?)
    }

    /// The config of the training.
    pub fn train(&self) -> Result<TrainConfig> {
        let config: TrainConfig = match self.table.contains_key("train") {
            true => read_table("train", self.section("train")?)?,
            false => TrainConfig::default(),
        };
        config.check()?;
        Ok(config)
    }

    /// The table of the model; what its keys mean depends on its kind and on the data.
    pub(crate) fn model(&self) -> Result<Table> {
        self.section("model")
    }

    fn section(&self, name: &str) -> Result<Table> {
        match self.table.get(name) {
            Some(Value::Table(table)) => Ok(table.clone()),
            _ => Err(Error::Config(format!("[{name}] is missing"))),
        }
    }
}

/// The names of the variants, by where they first stand in the text.
fn variants(table: &Table, text: &str) -> Vec<String> {
    let Some(Value::Table(variants)) = table.get("variant") else { return Vec::new() };
    let mut names: Vec<String> = variants.keys().cloned().collect();
    names.sort_by_key(|name| {
        ["", "\"", "'"].iter().filter_map(|quote| text.find(&format!("variant.{quote}{name}{quote}"))).min()
    });
    names
}

/// Puts a value where a path of keys leads.
fn put(table: &mut Table, path: &[&str], value: Value) -> Result<(), String> {
    let (first, rest) = path.split_first().ok_or("no key")?;
    if rest.is_empty() {
        table.insert((*first).trim().to_owned(), value);
        return Ok(());
    }
    let inner = table.entry((*first).trim().to_owned()).or_insert_with(|| Value::Table(Table::new()));
    match inner {
        Value::Table(inner) => put(inner, rest, value),
        other => Err(format!("{}: holds {other}, not a table", path.join("."))),
    }
}

fn merge(into: &mut Table, changes: &Table) {
    for (key, value) in changes {
        match (into.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(changes)) => merge(inner, changes),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Turns a table into a config; errors name the key and the nearest known one.
pub(crate) fn read_table<C: DeserializeOwned>(section: &str, table: Table) -> Result<C> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let path = error.path().to_string();
        let key = if path == "." { section.to_owned() } else { format!("{section}.{path}") };
        let message = error.into_inner().message().trim().to_owned();
        match unknown(&message) {
            Some((field, expected)) => {
                let shown = if key.ends_with(&format!(".{field}")) { key } else { format!("{key}.{field}") };
                Error::Config(format!("{shown}: no such key; {}", suggestion(&field, &expected)))
            }
            None => Error::Config(match message.strip_prefix("missing field ") {
                Some(field) => format!("{section}.{}: is missing", field.trim_matches('`')),
                None => format!("{key}: {}", plain(&message)),
            }),
        }
    })
}

/// Serde's words in a user's language.
fn plain(message: &str) -> String {
    let mut text = message.strip_prefix("invalid type: ").unwrap_or(message).to_owned();
    for (theirs, ours) in [
        ("expected usize", "a whole number expected"),
        ("expected u64", "a whole number expected"),
        ("expected f64", "a number expected"),
        ("expected a boolean", "true or false expected"),
        ("expected a string", "a text expected"),
        ("expected a sequence", "a list expected"),
    ] {
        text = text.replace(theirs, ours);
    }
    text
}

/// The unknown key and the known ones, out of serde's words.
fn unknown(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (field, rest) = rest.split_once('`')?;
    let expected = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((field.to_owned(), expected))
}

fn known(key: &str, known: &[&str], prefix: &str) -> Result<()> {
    if known.contains(&key) {
        return Ok(());
    }
    let names: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
    Err(Error::Config(format!("{prefix}{key}: no such key; {}", suggestion(key, &names))))
}

/// The nearest known key if one is near, else all of them.
pub(crate) fn suggestion(key: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(key, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().min(key.len()) / 3)
        .min();
    match near {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("there are {}", known.join(", ")),
    }
}
