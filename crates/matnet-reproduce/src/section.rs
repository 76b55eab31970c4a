//! Tables, verdicts and figures of one table of an experiment.

use std::collections::BTreeMap;

use matnet_report::page::Page;
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_train::stats::Difference;

use crate::experiment::{RowSpec, TableSpec};
use crate::figure::Drawn;
use crate::metric::{Metric, SeedSummary, mean};
use crate::report::EarlierFigure;
use crate::results::Results;
use crate::verdict::count_seeds;

/// What bold numbers are.
const BOLD: &str = "Bold: better than all other rows by the 95 % confidence interval of the difference.";

/// What the report says about a table.
pub struct Section {
    tables: Vec<Table>,
    verdicts: Vec<String>,
    /// Figures; those of a group are shown side by side.
    pub figures: Vec<Vec<Drawn>>,
    /// Figures of an earlier report that were not drawn again.
    pub earlier: Vec<EarlierFigure>,
}

impl Section {
    /// Tables and verdicts, without figures.
    pub fn new(number: usize, spec: &TableSpec, results: &Results) -> Self {
        let tables = spec.metrics.iter().map(|metric| {
            let shown = Shown::new(number, spec, *metric, results);
            shown.table()
        });
        let verdicts = spec.claims.iter().flat_map(|claim| claim.verdicts(number, spec, results));
        Self {
            tables: tables.collect(),
            verdicts: verdicts.collect(),
            figures: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// Writes tables and verdicts to a page and as Markdown.
    pub fn write(&self, page: &mut Page, markdown: &mut String) {
        for table in &self.tables {
            page.table(table);
            *markdown += &format!("{}\n\n{}\n", table.caption(), table.markdown());
        }
        page.list(&self.verdicts);
        for verdict in &self.verdicts {
            *markdown += &format!("- {verdict}\n");
        }
        markdown.push('\n');
    }
}

/// A table of one metric, and which columns it has.
struct Shown<'a> {
    number: usize,
    spec: &'a TableSpec,
    metric: Metric,
    results: &'a Results,
    /// Whether there are several seeds.
    several: bool,
    selected: bool,
    /// By column, whether there are published numbers.
    published: Vec<bool>,
}

impl<'a> Shown<'a> {
    fn new(number: usize, spec: &'a TableSpec, metric: Metric, results: &'a Results) -> Self {
        let several = results.seeds(number, None).into_iter().any(|seeds| seeds > 1);
        let published = spec.columns.iter().map(|data| {
            metric == spec.metrics[0] && spec.rows.iter().any(|net| net.published(data).is_some())
        });
        let (selected, published) = (several && spec.selected, published.collect());
        Self { number, spec, metric, results, several, selected, published }
    }

    fn table(&self) -> Table {
        let published_parameters = self.spec.rows.iter().any(|net| net.published_parameters.is_some());
        let mut table = Table::new(self.columns(published_parameters)).with_caption(self.caption());
        for (row, net) in self.spec.rows.iter().enumerate() {
            let mut line = vec![TableCell::from(net.label.as_str())];
            if self.spec.parameters {
                line.push(self.parameters(row).map_or(TableCell::Empty, TableCell::count));
                let published = || net.published_parameters.map_or(TableCell::Empty, TableCell::count);
                line.extend(published_parameters.then(published));
            }
            for column in 0..self.spec.columns.len() {
                let found = self.results.summary((self.number, column, row), self.metric);
                let deviation = found.and_then(|summary| summary.spread.deviation);
                line.extend(self.cells(column, deviation, |number| found.as_ref().map(number), &[net]));
            }
            table.push(line);
        }
        if self.spec.mean {
            table.push(self.mean_line());
        }
        table
    }

    fn columns(&self, published_parameters: bool) -> Vec<TableColumn> {
        let mut columns = vec![TableColumn::text("net")];
        if self.spec.parameters {
            columns.push(TableColumn::number("parameters"));
            columns.extend(published_parameters.then(|| TableColumn::number(&self.spec.published)));
        }
        for (place, (data, published)) in self.spec.columns.iter().zip(&self.published).enumerate() {
            let column = TableColumn::number(&data.label);
            // The best of different tasks is only the easiest, and the best of a few seeds perhaps the luckiest.
            columns.push(match !self.spec.mean && self.is_settled(place) {
                true => column.with_highlight(self.metric.highlight()),
                false => column,
            });
            columns.extend(self.several.then(|| TableColumn::number("best seed")));
            columns.extend(self.selected.then(|| TableColumn::number("selected")));
            columns.extend(published.then(|| TableColumn::number(&self.spec.published)));
        }
        columns
    }

    /// Whether the best row of a column is better than every other by the confidence interval of the difference.
    fn is_settled(&self, column: usize) -> bool {
        let seeds = |row: usize| -> BTreeMap<u64, f64> {
            let runs = self.results.runs((self.number, column, row));
            runs.filter_map(|(_, result)| Some((result.seed, self.metric.of(result)?))).collect()
        };
        let rows: Vec<BTreeMap<u64, f64>> =
            (0..self.spec.rows.len()).map(seeds).filter(|seeds| !seeds.is_empty()).collect();
        let mean = |row: &BTreeMap<u64, f64>| row.values().sum::<f64>() / row.len() as f64;
        let better =
            |a: usize, b: usize| if self.metric.is_better(mean(&rows[b]), mean(&rows[a])) { b } else { a };
        let Some(best) = (0..rows.len()).reduce(better).filter(|_| rows.len() > 1) else { return false };
        let beats = |other: usize| {
            Difference::of(&rows[best], &rows[other]).is_some_and(|difference| difference.is_settled())
        };
        (0..rows.len()).filter(|&row| row != best).all(beats)
    }

    /// What is measured, which direction is better, from how many seeds.
    fn caption(&self) -> String {
        let counts = self.results.seeds(self.number, None);
        let (metric, seeds) = (self.metric.caption(), count_seeds(counts.iter().copied()));
        match (counts.is_empty(), self.several, self.selected) {
            (true, ..) => format!("{metric}; nothing is trained yet."),
            (_, false, _) => format!("{metric}; from {seeds}."),
            (_, _, false) => {
                format!(
                    "{metric}; mean ± standard deviation over {seeds}, and the best seed by the test. {BOLD}"
                )
            }
            _ => format!(
                "{metric}; mean ± standard deviation over {seeds}, the best seed by the test, and the seed selected by the lowest training loss. {BOLD}"
            ),
        }
    }

    fn parameters(&self, row: usize) -> Option<u64> {
        let runs =
            (0..self.spec.columns.len()).flat_map(|column| self.results.runs((self.number, column, row)));
        runs.map(|(_, result)| result.parameters as u64).next()
    }

    /// The cells of a column: the mean, and as far as the table has them the best seed, the selected one and the mean of what
    /// was published for some rows.
    fn cells(
        &self,
        column: usize,
        deviation: Option<f64>,
        number: impl Fn(fn(&SeedSummary) -> f64) -> Option<f64>,
        rows: &[&RowSpec],
    ) -> Vec<TableCell> {
        let decimals = self.metric.decimals();
        let cell = |number: Option<f64>| {
            number.map_or(TableCell::Empty, |number| TableCell::number(number, decimals))
        };
        let mean_number = number(|summary| summary.spread.mean);
        let mut cells = vec![match (mean_number, deviation) {
            (Some(mean), Some(deviation)) => TableCell::mean_std(mean, deviation, decimals),
            (mean, _) => cell(mean),
        }];
        cells.extend(self.several.then(|| cell(number(|summary| summary.best))));
        cells.extend(self.selected.then(|| cell(number(|summary| summary.selected))));
        let data = &self.spec.columns[column];
        let published = || cell(mean(rows.iter().map(|net| net.published(data))));
        cells.extend(self.published[column].then(published));
        cells
    }

    /// The mean over all rows, for every column where all are trained.
    fn mean_line(&self) -> Vec<TableCell> {
        let mut line = vec![TableCell::from("mean")];
        let rows: Vec<&RowSpec> = self.spec.rows.iter().collect();
        for column in 0..self.spec.columns.len() {
            let found: Vec<Option<SeedSummary>> = (0..rows.len())
                .map(|row| self.results.summary((self.number, column, row), self.metric))
                .collect();
            let number =
                |number: fn(&SeedSummary) -> f64| mean(found.iter().map(|found| found.as_ref().map(number)));
            line.extend(self.cells(column, None, number, &rows));
        }
        line
    }
}
