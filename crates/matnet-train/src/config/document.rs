//! A config as text: tables, overrides and variants, before any key has a meaning.

use std::path::{Component, Path};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{TrainConfig, Tuned, from_table, suggestion};
use crate::{Error, Result};

/// The tables that a config may have; a variant may have the first of them.
const TABLES: [&str; 6] = ["data", "model", "train", "search", "variant", "tuned"];
const VARIANT_TABLES: usize = 4;

/// How samples are divided for a cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldCount {
    /// Into so many folds; of whole groups if the split rule of the config keeps groups together.
    Number(usize),
    /// One fold for each group.
    Groups,
}

/// A config that has been read but not yet interpreted.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Keys stay in the order of the file.
    table: Table,
}

impl Document {
    /// Reads a config file; errors name it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = matnet_data::files::read_text(path)?;
        Self::parse(&text).map_err(|error| error.within(path.display().to_string()))
    }

    /// Parses the text of a config.
    pub fn parse(text: &str) -> Result<Self> {
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Error::Syntax { line, message: error.message().to_owned() }
        })?;
        // `[run]` stands in the config of a run and records its origin; it decides nothing.
        table.remove("run");
        for (key, value) in &table {
            check_table(key, &TABLES, "")?;
            if !value.is_table() {
                return Err(syntax(format!("{key}: must be a table, [{key}]")));
            }
        }
        let document = Self { table };
        document.variants().iter().try_for_each(|name| check_variant(name))?;
        Ok(document)
    }

    /// Sets one key: `model.hidden=[50, 50]`. A value that is not TOML is taken as a string.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let wrong = || syntax(format!("`{assignment}`: key=value expected, like model.hidden=[50,50]"));
        let (path, text) = assignment.split_once('=').ok_or_else(wrong)?;
        let keys: Vec<&str> = path.trim().split('.').map(str::trim).collect();
        if keys.len() < 2 || keys.iter().any(|key| key.is_empty()) {
            return Err(wrong());
        }
        check_table(keys[0], &TABLES, "")?;
        if let ["variant", name, ..] = keys[..] {
            check_variant(name)?;
        }
        let text = text.trim();
        let value = format!("value = {text}")
            .parse::<Table>()
            .ok()
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(text.to_owned()));
        put(&mut self.table, &keys, value)
    }

    /// The names of the variants, in the order of the file.
    pub fn variants(&self) -> Vec<String> {
        let variants = self.table.get("variant").and_then(Value::as_table);
        variants.into_iter().flat_map(Table::keys).cloned().collect()
    }

    /// The config with the keys of one variant in place of its own.
    pub fn variant(&self, name: &str) -> Result<Self> {
        let changes = self.table.get("variant").and_then(|variants| variants.get(name));
        let Some(Value::Table(changes)) = changes else {
            let known = match &self.variants()[..] {
                [] => "this config has none".to_owned(),
                names => suggestion(name, names),
            };
            return Err(Error::config("variant", name, "no such variant", known));
        };
        let own = self.table.iter().filter(|(key, _)| *key != "variant");
        let mut table: Table = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        for key in changes.keys() {
            check_table(key, &TABLES[..VARIANT_TABLES], &format!("variant.{name}."))?;
        }
        merge(&mut table, changes);
        Ok(Self { table })
    }

    /// `data.source`, if it is given.
    pub fn source(&self) -> Option<&str> {
        self.get("data", "source")?.as_str()
    }

    /// The value of a key as written.
    pub(crate) fn get(&self, table: &str, key: &str) -> Option<&Value> {
        self.table.get(table)?.get(key)
    }

    /// `model.kind`, if it is given.
    pub(crate) fn kind(&self) -> Option<&Value> {
        self.get("model", "kind")
    }

    /// `train.seed` as written; 1 by default.
    pub(crate) fn seed(&self) -> u64 {
        let seed = self.get("train", "seed").and_then(Value::as_integer);
        seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(TrainConfig::default().seed)
    }

    /// `[data]` as text; it is the same for the same keys and values.
    pub(crate) fn data_text(&self) -> String {
        self.table.get("data").map(Value::to_string).unwrap_or_default()
    }

    /// `[data]` as the config of a kind of data.
    pub(crate) fn data<C: DeserializeOwned>(&self) -> Result<C> {
        from_table("data", self.section("data")?)
    }

    /// `[train]`, checked.
    pub fn train(&self) -> Result<TrainConfig> {
        let config: TrainConfig = match self.table.contains_key("train") {
            true => from_table("train", self.section("train")?)?,
            false => TrainConfig::default(),
        };
        config.check()?;
        Ok(config)
    }

    /// `[tuned]`, if there is one.
    pub fn tuned(&self) -> Result<Option<Tuned>> {
        match self.table.contains_key("tuned") {
            true => from_table("tuned", self.section("tuned")?).map(Some),
            false => Ok(None),
        }
    }

    /// A whole table as written.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.table.get(name)?.as_table()
    }

    /// The config without some of its tables.
    pub(crate) fn without(&self, tables: &[&str]) -> Self {
        let kept = self.table.iter().filter(|(key, _)| !tables.contains(&key.as_str()));
        Self { table: kept.map(|(key, value)| (key.clone(), value.clone())).collect() }
    }

    /// Sets the key with this path: `model.hidden`.
    pub(crate) fn put(&mut self, path: &[&str], value: Value) -> Result<()> {
        put(&mut self.table, path, value)
    }

    /// Removes a key, if it is there.
    pub(crate) fn remove(&mut self, table: &str, key: &str) {
        if let Some(Value::Table(table)) = self.table.get_mut(table) {
            table.remove(key);
        }
    }

    /// Removes a table of a variant, or a key of it.
    pub(crate) fn remove_variant_key(&mut self, variant: &str, table: &str, key: Option<&str>) {
        let Some(Value::Table(variants)) = self.table.get_mut("variant") else { return };
        let Some(Value::Table(own)) = variants.get_mut(variant) else { return };
        match (own.get_mut(table), key) {
            (Some(Value::Table(table)), Some(key)) => drop(table.remove(key)),
            _ => drop(own.remove(table)),
        }
    }

    /// Makes one of several folds the test split, by a rule that follows from the rule of the config.
    pub(crate) fn split_into(&mut self, count: FoldCount) -> Result<()> {
        let split = self.get("data", "split").and_then(Value::as_table);
        let rule = split.and_then(|split| split.get("rule")).and_then(Value::as_str).unwrap_or_default();
        let rule = match (count, rule) {
            (FoldCount::Groups, _) => "leave-one-group-out",
            (FoldCount::Number(_), "between-groups" | "group-k-fold") => "group-k-fold",
            (FoldCount::Number(number), "leave-one-group-out" | "chronological") => {
                let expected = match rule {
                    "chronological" => "data in the order of time have no folds",
                    _ => "one fold for each group; --folds groups expected",
                };
                return Err(
                    Error::config("data", "split.rule", rule, expected).within(format!("--folds {number}"))
                );
            }
            (FoldCount::Number(_), _) => "k-fold",
        };
        let mut split = split.cloned().unwrap_or_default();
        // A fold takes the place of the test split that the config may ask for.
        ["test", "folds", "fold"].iter().for_each(|key| drop(split.remove(*key)));
        split.insert("rule".to_owned(), Value::String(rule.to_owned()));
        if let FoldCount::Number(number) = count {
            split.insert("folds".to_owned(), Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
        }
        self.put(&["data", "split"], Value::Table(split))
    }

    /// The text of the config.
    pub(crate) fn text(&self) -> String {
        // Values that came from TOML go back into it.
        toml::to_string(&self.table).unwrap_or_default()
    }

    /// `[model]` without its kind; what its keys mean depends on the kind and on the data.
    pub(crate) fn model(&self) -> Result<Table> {
        let mut table = self.section("model")?;
        table.remove("kind");
        Ok(table)
    }

    fn section(&self, name: &'static str) -> Result<Table> {
        match self.table.get(name) {
            Some(Value::Table(table)) => Ok(table.clone()),
            Some(value) => Err(syntax(format!("{name}: holds {value}; a table expected"))),
            None => Err(syntax(format!("[{name}] is missing"))),
        }
    }
}

/// The files that a comparison writes beside the folders of its variants.
const BESIDE_RUNS: [&str; 2] = ["report.html", "results.csv"];

/// Whether this is what the folder of one of several seeds or folds is called: `seed-3`.
pub(crate) fn is_part_name(name: &str) -> bool {
    let number = ["seed-", "fold-"].iter().find_map(|prefix| name.strip_prefix(prefix));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The name of a variant is the name of a folder, so it must be one plain path component, and none that means something else there.
fn check_variant(name: &str) -> Result<()> {
    let components: Vec<Component> = Path::new(name).components().collect();
    let plain = matches!(components[..], [Component::Normal(only)] if only == name);
    let wrong = |what: &str, expected: &str| {
        Err(Error::config("variant", "NAME", format!("{name:?} is {what}"), expected))
    };
    if !plain || name.contains(['/', '\\']) || name.chars().any(char::is_control) {
        return wrong("not a name for a folder", "letters, digits, - and _ expected");
    }
    if name.starts_with('.') || BESIDE_RUNS.contains(&name) || is_part_name(name) {
        return wrong(
            "what matnet calls something else in the folder of a comparison",
            "another name expected",
        );
    }
    Ok(())
}

fn syntax(message: String) -> Error {
    Error::Syntax { line: None, message }
}

fn put(table: &mut Table, keys: &[&str], value: Value) -> Result<()> {
    let (first, rest) = keys.split_first().expect("at least one key");
    if rest.is_empty() {
        table.insert((*first).to_owned(), value);
        return Ok(());
    }
    match table.entry((*first).to_owned()).or_insert_with(|| Value::Table(Table::new())) {
        Value::Table(inner) => put(inner, rest, value),
        other => Err(syntax(format!("{}: holds {other}, not a table", keys.join(".")))),
    }
}

fn merge(into: &mut Table, changes: &Table) {
    for (key, value) in changes {
        match (into.get_mut(key), value) {
            // A range of a search is one value, though it is written as a table.
            (Some(Value::Table(inner)), Value::Table(changes)) if !changes.contains_key("min") => {
                merge(inner, changes);
            }
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

fn check_table(key: &str, known: &[&str], prefix: &str) -> Result<()> {
    if known.contains(&key) {
        return Ok(());
    }
    let names: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
    Err(syntax(format!("{prefix}{key}: no such key; {}", suggestion(key, &names))))
}
