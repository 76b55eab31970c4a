//! The results of the runs, by cell of their table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use matnet_train::run::RunResult;
use matnet_train::{Run, csv};

use crate::experiment::TableSpec;
use crate::files::CellIndex;
use crate::metric::{Metric, SeedSummary};
use crate::run_state::RunEnd;

/// The columns of `seeds.csv` before those of the metrics.
pub const FIXED_COLUMNS: [&str; 8] =
    ["table", "column", "row", "net", "seed", "parameters", "epochs", "best_epoch"];
/// How a run ended, in its last column.
pub const FINISHED_END: &str = "finished";
pub const DIVERGED_END: &str = "diverged";

/// Every finished run, in the order of the seeds, and those that diverged.
#[derive(Clone, Debug, Default)]
pub struct Results {
    done: Vec<(CellIndex, Run, RunResult)>,
    /// Runs that diverged, with where.
    diverged: Vec<(CellIndex, Run, String)>,
    /// Columns that were left out, with the reason.
    pub left_out: Vec<String>,
    /// What is missing because a file of a run is damaged.
    pub damaged: Vec<String>,
    /// The file of an earlier report, and how many runs are known from it alone.
    pub earlier: Option<(PathBuf, usize)>,
}

/// The seed of a run, by its folder.
fn seed_of(run: &Run) -> String {
    run.name().trim_start_matches("seed-").to_owned()
}

impl Results {
    /// Adds a finished run.
    pub fn add(&mut self, cell: CellIndex, run: Run, result: RunResult) {
        let before = |(of, _, other): &(CellIndex, Run, RunResult)| (*of, other.seed) <= (cell, result.seed);
        let place = self.done.partition_point(before);
        self.done.insert(place, (cell, run, result));
    }

    /// Adds a run that diverged.
    pub fn add_diverged(&mut self, cell: CellIndex, run: Run, what: String) {
        let place = self.diverged.partition_point(|(of, ..)| *of <= cell);
        self.diverged.insert(place, (cell, run, what));
    }

    /// Adds what an earlier report says of a run.
    pub fn add_earlier(&mut self, cell: CellIndex, run: Run, end: RunEnd, path: &Path) {
        match end {
            Ok(result) => self.add(cell, run, result),
            Err(what) => self.add_diverged(cell, run, what),
        }
        self.earlier.get_or_insert((path.to_owned(), 0)).1 += 1;
    }

    /// Notes before the tables: what is left out, missing, diverged or damaged. `missing` says how to get the rest of
    /// `total` runs.
    pub fn notes(&self, total: usize, missing: &str) -> Vec<String> {
        let mut notes = self.left_out.clone();
        if let Some((path, count)) = &self.earlier {
            notes.push(format!(
                "{count} of {total} runs were not trained here: their numbers are those of an earlier report ({}), and their settings could not be compared with those of today.",
                path.display()
            ));
        }
        let done = self.done.len() + self.diverged.len();
        if done < total {
            notes.push(format!("{done} of {total} runs are finished; {missing}."));
        }
        let diverged = self.diverged.iter();
        notes.extend(diverged.map(|(_, run, what)| format!("Diverged: {}: {what}.", run.folder().display())));
        notes.extend(self.damaged.iter().map(|what| format!("Damaged: {what}.")));
        notes
    }

    /// A line per run with all metrics of its table, for the record.
    pub fn csv(&self, tables: &[TableSpec]) -> String {
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in tables.iter().flat_map(|table| &table.metrics) {
            // The parameters have a column of their own.
            if !metrics.contains(metric) && *metric != Metric::Parameters {
                metrics.push(*metric);
            }
        }
        let names = metrics.iter().map(|metric| metric.name().replace('-', "_"));
        let header = FIXED_COLUMNS.map(str::to_owned).into_iter().chain(names).chain(["end".to_owned()]);
        let mut text = csv::line(header);
        for ((table, column, row), _, result) in &self.done {
            let (table, end) = (&tables[*table], FINISHED_END.to_owned());
            let mut cells = vec![
                table.name.clone(),
                table.columns[*column].name.clone(),
                table.rows[*row].name.clone(),
                table.rows[*row].label.clone(),
                result.seed.to_string(),
                result.parameters.to_string(),
                result.epochs.to_string(),
                result.best_epoch.to_string(),
            ];
            cells.extend(metrics.iter().map(|metric| csv::number(metric.of(result))));
            text += &csv::line(cells.into_iter().chain([end]));
        }
        for ((table, column, row), run, _) in &self.diverged {
            let table = &tables[*table];
            let seed = seed_of(run);
            let mut cells = vec![
                table.name.clone(),
                table.columns[*column].name.clone(),
                table.rows[*row].name.clone(),
                table.rows[*row].label.clone(),
                seed,
            ];
            cells.resize(FIXED_COLUMNS.len() + metrics.len(), String::new());
            text += &csv::line(cells.into_iter().chain([DIVERGED_END.to_owned()]));
        }
        text
    }

    /// The finished runs of a cell.
    pub fn runs(&self, cell: CellIndex) -> impl Iterator<Item = (&Run, &RunResult)> {
        self.done.iter().filter(move |(of, ..)| *of == cell).map(|(_, run, result)| (run, result))
    }

    /// The same, without those that are known from an earlier report alone.
    pub fn runs_here(&self, cell: CellIndex) -> impl Iterator<Item = (&Run, &RunResult)> {
        self.runs(cell).filter(|(run, _)| !matches!(run.result(), Ok(None)))
    }

    /// How many runs of a cell diverged.
    pub fn diverged(&self, cell: CellIndex) -> usize {
        self.diverged.iter().filter(|(of, ..)| *of == cell).count()
    }

    /// Whether a run of a cell is finished.
    pub fn has_run(&self, cell: CellIndex) -> bool {
        self.runs(cell).next().is_some()
    }

    /// Mean, standard deviation, best and selected seed of a cell.
    pub fn summary(&self, cell: CellIndex, metric: Metric) -> Option<SeedSummary> {
        SeedSummary::of(metric, self.runs(cell).map(|(_, result)| result))
    }

    /// The seeds of the runs of a column, finished or diverged.
    pub fn column_seeds(&self, table: usize, column: usize) -> BTreeSet<u64> {
        let of = |cell: &CellIndex| (cell.0, cell.1) == (table, column);
        let done = self.done.iter().filter(|(cell, ..)| of(cell)).map(|(_, _, result)| result.seed);
        let diverged = self.diverged.iter().filter(|(cell, ..)| of(cell));
        done.chain(diverged.filter_map(|(_, run, _)| seed_of(run).parse().ok())).collect()
    }

    /// The numbers of seeds in those cells of a table that have any; of one column, or of all.
    pub fn seeds(&self, table: usize, column: Option<usize>) -> Vec<usize> {
        let mut counts = BTreeMap::<CellIndex, usize>::new();
        for (cell, ..) in &self.done {
            if cell.0 == table && column.is_none_or(|column| column == cell.1) {
                *counts.entry(*cell).or_default() += 1;
            }
        }
        counts.into_values().collect()
    }
}
