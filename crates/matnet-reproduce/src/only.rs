//! `--only`: the part of an experiment that is trained now.

use std::path::Path;

use matnet_cli::failure::{Failure, Outcome};

use crate::experiment::Experiment;
use crate::files::CellRun;

/// Fails if a value of `--only` names no run of these experiments.
pub fn check(only: &[impl AsRef<Path>], experiments: &[(Experiment, Vec<CellRun>)]) -> Outcome {
    for value in only {
        let parts = value.as_ref().components();
        let parts: Vec<String> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        if let Some(what) = mistake(&parts, experiments) {
            return Err(Failure::Usage(format!("--only {}: {what}", value.as_ref().display())));
        }
    }
    Ok(())
}

/// What is wrong with TABLE/COLUMN/NET/SEED: the first part that does not exist, and those that do.
fn mistake(parts: &[String], experiments: &[(Experiment, Vec<CellRun>)]) -> Option<String> {
    let [table, inner @ ..] = parts else { return Some("the name of a table expected".to_owned()) };
    let tables = || {
        experiments.iter().flat_map(|(experiment, runs)| {
            experiment.tables.iter().enumerate().map(move |(number, table)| (number, table, runs))
        })
    };
    let Some((number, found, runs)) = tables().find(|(_, found, _)| found.name == *table) else {
        return Some(unknown("table", table, tables().map(|(_, table, _)| table.name.clone())));
    };
    let [column, inner @ ..] = inner else { return None };
    if found.columns.iter().all(|data| data.name != *column) {
        let names = found.columns.iter().map(|data| data.name.clone());
        return Some(unknown(&format!("column of {table}"), column, names));
    }
    let [net, inner @ ..] = inner else { return None };
    let Some(row) = found.rows.iter().position(|row| row.name == *net) else {
        return Some(unknown(&format!("net of {table}"), net, found.rows.iter().map(|row| row.name.clone())));
    };
    let [seed, inner @ ..] = inner else { return None };
    let seeds = || {
        let runs = runs.iter().filter(|run| (run.cell.0, run.cell.2) == (number, row));
        runs.filter_map(|run| Some(run.spec.folder.file_name()?.to_string_lossy().into_owned()))
    };
    match seeds().any(|name| name == *seed) {
        false => Some(unknown("seed", seed, seeds())),
        true => inner.first().map(|_| "a part of a run cannot be selected".to_owned()),
    }
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in known {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => format!("`{name}` is no {what}; there is none yet"),
        false => format!("`{name}` is no {what}; there are {}", names.join(", ")),
    }
}
