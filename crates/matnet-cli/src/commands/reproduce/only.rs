//! `--only`: the part of an experiment that is trained now.

use std::path::{Component, Path};

use super::experiment::{Comparison, Experiment, Step};
use crate::failure::{Failure, Outcome};

/// Fails if one of the values of `--only` names no run of any of these experiments.
pub fn check(only: &[impl AsRef<Path>], experiments: &[(Experiment, Vec<Step>)]) -> Outcome {
    for value in only {
        let parts: Vec<String> = value.as_ref().components().map(word).collect();
        if let Some(what) = mistake(&parts, experiments) {
            return Err(Failure::Usage(format!("--only {}: {what}", value.as_ref().display())));
        }
    }
    Ok(())
}

fn word(part: Component) -> String {
    part.as_os_str().to_string_lossy().into_owned()
}

/// What is wrong with TABLE/COLUMN/NET/SEED: the first part that is not there, and what is.
fn mistake(parts: &[String], experiments: &[(Experiment, Vec<Step>)]) -> Option<String> {
    let [table, inner @ ..] = parts else { return Some("the name of a table expected".to_owned()) };
    let tables = || {
        experiments.iter().flat_map(|(experiment, steps)| {
            experiment.tables.iter().enumerate().map(move |(number, table)| (number, table, steps))
        })
    };
    let Some((number, found, steps)) = tables().find(|(_, found, _)| found.name == *table) else {
        return Some(unknown("table", table, tables().map(|(_, table, _)| table.name.clone())));
    };
    let Comparison { columns, rows, .. } = found;
    let [column, inner @ ..] = inner else { return None };
    if columns.iter().all(|data| data.name != *column) {
        let what = format!("column of {table}");
        return Some(unknown(&what, column, columns.iter().map(|data| data.name.clone())));
    }
    let [net, inner @ ..] = inner else { return None };
    let Some(row) = rows.iter().position(|row| row.name == *net) else {
        return Some(unknown(&format!("net of {table}"), net, rows.iter().map(|row| row.name.clone())));
    };
    let [seed, inner @ ..] = inner else { return None };
    let seeds = || {
        let steps = steps.iter().filter(|step| (step.cell.0, step.cell.2) == (number, row));
        steps.filter_map(|step| Some(step.job.folder.file_name()?.to_string_lossy().into_owned()))
    };
    match seeds().any(|name| name == *seed) {
        false => Some(unknown("seed", seed, seeds())),
        true => inner.first().map(|_| "nothing can be chosen within a run".to_owned()),
    }
}

fn unknown(what: &str, name: &str, there: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = Vec::new();
    there.for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    format!("`{name}` is no {what}; there are {}", names.join(", "))
}
