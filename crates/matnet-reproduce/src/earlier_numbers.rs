//! The numbers of an earlier report: its `seeds.csv`, where the runs themselves are gone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use matnet_cli::failure::Failure;
use matnet_train::csv;
use matnet_train::run::RunResult;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as NameError;

use crate::experiment::TableSpec;
use crate::files::CellIndex;
use crate::metric::Metric;
use crate::results::{DIVERGED_END, FINISHED_END, FIXED_COLUMNS};
use crate::run_state::RunEnd;

/// Table, column and row, by name, and the seed.
type Key = ([String; 3], u64);

/// How the runs of an earlier report ended.
pub struct EarlierNumbers {
    path: PathBuf,
    ends: BTreeMap<Key, RunEnd>,
}

impl EarlierNumbers {
    /// Reads a `seeds.csv`.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |what: String| Failure::Failed(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let ends = parse(&text).map_err(failed)?;
        Ok(Self { path: path.to_owned(), ends })
    }

    /// Fails if it has numbers of a table that needs more than these.
    pub fn check(&self, tables: &[TableSpec]) -> Result<(), Failure> {
        let selects = |table: &&TableSpec| table.selected || table.claims.iter().any(|claim| claim.selected);
        let has = |table: &&TableSpec| self.ends.keys().any(|([name, ..], _)| *name == table.name);
        match tables.iter().filter(selects).find(has) {
            None => Ok(()),
            Some(table) => Err(Failure::Failed(format!(
                "{}: table {} also shows the seed with the lowest training loss, which is not in this file; its runs must be trained",
                self.path.display(),
                table.name
            ))),
        }
    }

    /// How a run of a cell ended.
    pub fn end(&self, tables: &[TableSpec], (table, column, row): CellIndex, seed: u64) -> Option<&RunEnd> {
        let table = &tables[table];
        let names = [&table.name, &table.columns[column].name, &table.rows[row].name].map(Clone::clone);
        self.ends.get(&(names, seed))
    }
}

/// The lines of the file, or what is wrong with it.
fn parse(text: &str) -> Result<BTreeMap<Key, RunEnd>, String> {
    let mut lines = text.lines().zip(1..);
    let header = lines.next().map(|(line, _)| csv::cells(line)).unwrap_or_default();
    let (fixed, end) = (FIXED_COLUMNS.len(), header.len().saturating_sub(1));
    if header.len() <= fixed || header[..fixed] != FIXED_COLUMNS || header[end] != "end" {
        let wanted = FIXED_COLUMNS.join(",");
        return Err(format!("a seeds.csv expected, whose first line is {wanted}, metrics, end"));
    }
    let metric = |name: &String| {
        let found: Result<Metric, NameError> =
            Metric::deserialize(name.replace('_', "-").into_deserializer());
        found.map_err(|_| format!("line 1: no metric is called {name}"))
    };
    let metrics = header[fixed..end].iter().map(metric).collect::<Result<Vec<Metric>, String>>()?;
    let mut ends = BTreeMap::new();
    for (line, number) in lines {
        let cells = csv::cells(line);
        if cells.len() != header.len() {
            return Err(format!("line {number}: {} cells; {} expected", cells.len(), header.len()));
        }
        let bad = |name: &str, cell: &str| format!("line {number}: {name}: `{cell}` is no number");
        let whole = |at: usize| cells[at].parse::<u64>().map_err(|_| bad(FIXED_COLUMNS[at], &cells[at]));
        let (seed, diverged) = (whole(4)?, cells[end] == DIVERGED_END);
        if !diverged && cells[end] != FINISHED_END {
            return Err(format!("line {number}: end: {FINISHED_END} or {DIVERGED_END} expected"));
        }
        let run = match diverged {
            true => Err("in an earlier report".to_owned()),
            false => {
                let [parameters, epochs, best_epoch] = [whole(5)?, whole(6)?, whole(7)?].map(|n| n as usize);
                let (kind, form, metrics_of) = (String::new(), String::new(), BTreeMap::new());
                let (train, valid, test) = (None, None, None);
                let mut result = RunResult {
                    kind,
                    form,
                    parameters,
                    seed,
                    epochs,
                    best_epoch,
                    train,
                    valid,
                    test,
                    metrics: metrics_of,
                };
                let numbers = metrics.iter().zip(&cells[fixed..end]).filter(|(_, cell)| !cell.is_empty());
                for (metric, cell) in numbers {
                    let value = cell.parse::<f64>().map_err(|_| bad(metric.name(), cell))?;
                    metric.set_earlier(&mut result, value);
                }
                Ok(result)
            }
        };
        let [table, column, row] = [0, 1, 2].map(|at: usize| cells[at].clone());
        if ends.insert(([table, column, row], seed), run).is_some() {
            return Err(format!("line {number}: the run of a line before"));
        }
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use matnet_train::Run;

    use super::*;
    use crate::args::Size;
    use crate::experiment::TableFile;
    use crate::metric::tests::result;
    use crate::results::Results;

    const TABLE: &str = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error', 'accuracy', 'train-seconds']
column = [{ name = 'a', label = 'A' }]
row = [{ variant = 'one', label = 'one, signals' }, { variant = 'two', label = 'two' }]
";

    fn table(keys: &str) -> Vec<TableSpec> {
        vec![toml::from_str::<TableFile>(&format!("{TABLE}{keys}")).unwrap().of_size(Size::Quick)]
    }

    fn results() -> Results {
        let mut results = Results::default();
        for (row, seed, error) in [(0, 7, 0.1), (0, 8, 0.3), (1, 7, 1.0 / 3.0)] {
            let mut result = result(seed, None, 0.0, Some(error));
            result.metrics.insert("train_seconds".to_owned(), 0.1 + error);
            results.add((0, 0, row), Run::at(format!("seed-{seed}")), result);
        }
        results.add_diverged((0, 0, 1), Run::at("seed-8"), "epoch 1".to_owned());
        results
    }

    #[test]
    fn the_numbers_of_a_report_give_the_same_report() {
        let (tables, first) = (table(""), results());
        let csv = first.csv(&tables);
        let earlier = EarlierNumbers { path: "x".into(), ends: parse(&csv).unwrap() };
        earlier.check(&tables).unwrap();
        let mut again = Results::default();
        for (row, seed) in [(0, 7), (0, 8), (1, 7), (1, 8)] {
            let run = Run::at(format!("seed-{seed}"));
            match earlier.end(&tables, (0, 0, row), seed).unwrap().clone() {
                Ok(result) => again.add((0, 0, row), run, result),
                Err(what) => again.add_diverged((0, 0, row), run, what),
            }
        }
        assert_eq!(again.csv(&tables), csv);
        assert_eq!(again.diverged((0, 0, 1)), 1);
        assert!(earlier.end(&tables, (0, 0, 0), 9).is_none());
        let mean = |results: &Results| results.summary((0, 0, 0), Metric::Accuracy).unwrap().spread;
        assert_eq!(mean(&again), mean(&first));
    }

    #[test]
    fn what_is_not_in_the_file_is_not_guessed() {
        let tables = table("selected = true");
        let earlier = EarlierNumbers { path: "x".into(), ends: parse(&results().csv(&tables)).unwrap() };
        let Err(Failure::Failed(what)) = earlier.check(&tables) else { panic!("refused") };
        assert!(what.starts_with("x: table t also shows the seed with the lowest training loss"), "{what}");
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        let csv = results().csv(&table(""));
        let change = |from: &str, to: &str| parse(&csv.replacen(from, to, 1)).unwrap_err();
        assert!(parse("").unwrap_err().contains("a seeds.csv expected"));
        assert!(change("table,", "tables,").contains("a seeds.csv expected"));
        assert_eq!(change("train_seconds", "seconds"), "line 1: no metric is called seconds");
        assert_eq!(change(",7,1,", ",x,1,"), "line 2: seed: `x` is no number");
        assert_eq!(change(",7,1,1,", ",7,1,,"), "line 2: epochs: `` is no number");
        assert_eq!(change(",finished", ",unfinished"), "line 2: end: finished or diverged expected");
        assert_eq!(change(",finished", ""), "line 2: 11 cells; 12 expected");
        assert_eq!(change(",8,1,", ",7,1,"), "line 3: the run of a line before");
    }
}
