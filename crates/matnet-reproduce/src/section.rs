//! Tables, verdicts and figures of one table of an experiment.

use std::collections::{BTreeMap, BTreeSet};

use matnet_report::page::Page;
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_train::stats::Difference;

use crate::earlier_figure::EarlierFigure;
use crate::experiment::{PublishedRow, RowSpec, TableSpec};
use crate::figure::Drawn;
use crate::metric::{Metric, SeedSummary, mean};
use crate::results::Results;
use crate::verdict::count_seeds;

/// What bold numbers are.
const BOLD: &str =
    "Bold: better than all other nets trained here by the 95 % confidence interval of the difference.";

/// What is said about a table whose nets had no search with equal budgets.
const NOT_TUNED: &str = "These nets were not tuned by searches of equal budget.";

/// What the report says about a table.
pub struct Section {
    /// How the nets were tuned.
    tuning: String,
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
        let tuning = spec.tuning.as_ref().map_or(NOT_TUNED.to_owned(), |tuning| {
            format!(
                "Every net was tuned by `matnet tune` with {}. These seeds are not reported.",
                tuning.describe()
            )
        });
        Self {
            tuning: tuning + &reported(number, spec, results),
            tables: tables.collect(),
            verdicts: verdicts.collect(),
            figures: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// Writes tables and verdicts to a page and as Markdown.
    pub fn write(&self, page: &mut Page, markdown: &mut String) {
        page.paragraph(&self.tuning);
        *markdown += &format!("{}\n\n", self.tuning);
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

/// Which seeds the tables report; by column, if they differ.
fn reported(number: usize, spec: &TableSpec, results: &Results) -> String {
    let columns = spec.columns.iter().enumerate();
    let columns: Vec<(&str, String)> = columns
        .map(|(column, data)| (data.label.as_str(), ranges(&results.column_seeds(number, column))))
        .filter(|(_, seeds)| !seeds.is_empty())
        .collect();
    match &columns[..] {
        [] => String::new(),
        [(_, first), rest @ ..] if rest.iter().all(|(_, seeds)| seeds == first) => {
            format!(" Reported seeds: {first}.")
        }
        all => {
            let each: Vec<String> = all.iter().map(|(label, seeds)| format!("{label} {seeds}")).collect();
            format!(" Reported seeds: {}.", each.join("; "))
        }
    }
}

/// Numbers as text, neighbours as a range: `1 to 5, 7`.
fn ranges(numbers: &BTreeSet<u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): (u64, u64)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A table of one metric, and which columns it has.
struct Shown<'a> {
    number: usize,
    spec: &'a TableSpec,
    metric: Metric,
    results: &'a Results,
    /// Whether there are several seeds.
    several: bool,
    best_seed: bool,
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
        // What is the same for every seed has no best one.
        let per_seed = several && !metric.is_cost();
        let (best_seed, selected) = (per_seed && spec.best_seed, per_seed && spec.selected);
        Self { number, spec, metric, results, several, best_seed, selected, published: published.collect() }
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
                let deviation = deviation.filter(|_| !self.metric.is_cost());
                line.extend(self.cells(column, deviation, |number| found.as_ref().map(number), &[net]));
            }
            table.push(line);
        }
        if self.spec.mean {
            table.push(self.mean_line());
        }
        if self.metric == self.spec.metrics[0] {
            self.spec.published_rows.iter().for_each(|net| table.push(self.published_line(net)));
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
            columns.push(match !self.spec.mean && !self.metric.is_cost() && self.is_settled(place) {
                true => column.with_highlight(self.metric.highlight()),
                false => column,
            });
            columns.extend(self.best_seed.then(|| TableColumn::number("best seed")));
            columns.extend(self.selected.then(|| TableColumn::number("selected")));
            columns.extend(published.then(|| TableColumn::number(&self.spec.published)));
        }
        columns
    }

    /// Whether the best row of a column is better than every other by the confidence interval of the difference. A row with a
    /// seed that diverged is not: its mean is that of its lucky seeds.
    fn is_settled(&self, column: usize) -> bool {
        let cell = |row: usize| (self.number, column, row);
        let seeds = |row: usize| -> BTreeMap<u64, f64> {
            let runs = self.results.runs(cell(row));
            runs.filter_map(|(_, result)| Some((result.seed, self.metric.of(result)?))).collect()
        };
        let rows: BTreeMap<usize, BTreeMap<u64, f64>> = (0..self.spec.rows.len())
            .map(|row| (row, seeds(row)))
            .filter(|(_, seeds)| !seeds.is_empty())
            .collect();
        let mean = |row: usize| rows[&row].values().sum::<f64>() / rows[&row].len() as f64;
        let better = |a: usize, b: usize| if self.metric.is_better(mean(b), mean(a)) { b } else { a };
        let Some(best) = rows.keys().copied().reduce(better).filter(|_| rows.len() > 1) else { return false };
        let beats = |other: &BTreeMap<u64, f64>| {
            Difference::of(&rows[&best], other).is_some_and(|difference| difference.is_settled())
        };
        self.results.diverged(cell(best)) == 0
            && rows.iter().filter(|(row, _)| **row != best).all(|(_, other)| beats(other))
    }

    /// What is measured, which direction is better, from how many seeds.
    fn caption(&self) -> String {
        let counts = self.results.seeds(self.number, None);
        let (metric, seeds) = (self.metric.caption(), count_seeds(counts.iter().copied()));
        if counts.is_empty() {
            return format!("{metric}; nothing is trained yet.");
        }
        if self.metric.is_cost() {
            return format!("{metric}.");
        }
        if !self.several {
            return format!("{metric}; from {seeds}.");
        }
        let mut shown = vec![format!("mean ± standard deviation over {seeds}")];
        shown.extend(self.best_seed.then(|| "the best seed by the test".to_owned()));
        shown.extend(self.selected.then(|| "the seed selected by the lowest training loss".to_owned()));
        let shown = match &shown[..] {
            [one] => one.clone(),
            [first, second] => format!("{first}, and {second}"),
            all => format!("{}, and {}", all[..all.len() - 1].join(", "), all[all.len() - 1]),
        };
        format!("{metric}; {shown}. {BOLD}")
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
        let cell = |number: Option<f64>| match (number, self.metric) {
            (None, _) => TableCell::Empty,
            (Some(count), Metric::Parameters) => TableCell::count(count as u64),
            (Some(number), _) => TableCell::number(number, decimals),
        };
        let mean_number = number(|summary| summary.spread.mean);
        let mut cells = vec![match (mean_number, deviation) {
            (Some(mean), Some(deviation)) => TableCell::mean_std(mean, deviation, decimals),
            (mean, _) => cell(mean),
        }];
        cells.extend(self.best_seed.then(|| cell(number(|summary| summary.best))));
        cells.extend(self.selected.then(|| cell(number(|summary| summary.selected))));
        let data = &self.spec.columns[column];
        let published = || cell(mean(rows.iter().map(|net| net.published(data))));
        cells.extend(self.published[column].then(published));
        cells
    }

    /// A net that others trained. Its numbers have no seeds, so they are never bold.
    fn published_line(&self, net: &PublishedRow) -> Vec<TableCell> {
        let mut line = vec![TableCell::from(net.label.as_str())];
        let has_published = self.spec.rows.iter().any(|net| net.published_parameters.is_some());
        let parameters = usize::from(self.spec.parameters) * (1 + usize::from(has_published));
        line.extend((0..parameters).map(|_| TableCell::Empty));
        for (data, published) in self.spec.columns.iter().zip(&self.published) {
            let number = net.number(data).map(|number| self.metric.format(number));
            line.push(number.map_or(TableCell::Empty, TableCell::from));
            let others = usize::from(self.best_seed) + usize::from(self.selected) + usize::from(*published);
            line.extend((0..others).map(|_| TableCell::Empty));
        }
        line
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

#[cfg(test)]
mod tests {
    use matnet_train::Run;

    use super::*;
    use crate::args::Size;
    use crate::experiment::TableFile;
    use crate::metric::tests::result;

    const TABLE: &str = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error', 'parameters']
column = [{ name = 'a', label = 'A' }]
row = [{ variant = 'one', label = 'one' }, { variant = 'two', label = 'two' }]
published_row = [{ label = 'other', numbers = { a = 0.5 } }]
";

    /// The tables, where the two nets have these error rates in percent.
    fn markdown(keys: &str, errors: [&[f64]; 2]) -> String {
        with_diverged(keys, errors, [0, 0])
    }

    /// The same where so many more seeds of each net diverged.
    fn with_diverged(keys: &str, errors: [&[f64]; 2], diverged: [usize; 2]) -> String {
        let table = toml::from_str::<TableFile>(&format!("{TABLE}{keys}")).unwrap().of_size(Size::Quick);
        let mut results = Results::default();
        for (row, count) in diverged.into_iter().enumerate() {
            (0..count).for_each(|_| results.add_diverged((0, 0, row), Run::at("x"), "epoch 1".to_owned()));
        }
        for (row, errors) in errors.into_iter().enumerate() {
            for (error, seed) in errors.iter().zip(1..) {
                results.add((0, 0, row), Run::at("x"), result(seed, None, 0.0, Some(error / 100.0)));
            }
        }
        let mut markdown = String::new();
        Section::new(0, &table, &results).write(&mut Page::new("t"), &mut markdown);
        markdown
    }

    #[test]
    fn only_a_settled_difference_is_bold() {
        let one_seed = markdown("", [&[1.0], &[50.0]]);
        assert!(one_seed.contains("; from 1 seed.") && !one_seed.contains("**"), "{one_seed}");
        let luck = markdown("", [&[1.0, 9.0, 5.0], &[6.0, 4.0, 8.0]]);
        assert!(!luck.contains("**"), "{luck}");
        let settled = markdown("", [&[1.0, 1.2, 1.1], &[6.0, 6.1, 6.3]]);
        assert!(settled.contains("| **1.10 ± 0.10** |"), "{settled}");
        assert_eq!(settled.matches("**").count(), 2, "neither published numbers nor parameters: {settled}");
    }

    #[test]
    fn published_nets_are_rows() {
        let text = markdown("best_seed = false", [&[1.0, 2.0], &[3.0, 5.0]]);
        assert!(text.contains("| other |        0.50 |"), "{text}");
        assert!(!text.contains("best seed"), "{text}");
        assert!(text.contains("Number of parameters, lower is better.\n\n| net |   A |"), "{text}");
        assert!(markdown("", [&[1.0, 2.0], &[3.0, 5.0]]).contains("and the best seed by the test. Bold"));
    }

    #[test]
    fn two_seeds_are_never_bold() {
        // The differences of both seeds are equal, so that their interval has no width.
        let two = markdown("", [&[1.0, 2.0], &[51.0, 52.0]]);
        assert!(!two.contains("**"), "{two}");
    }

    #[test]
    fn a_net_with_a_seed_that_diverged_is_never_bold() {
        let errors: [&[f64]; 2] = [&[1.0, 1.2, 1.1], &[6.0, 6.1, 6.3]];
        let lucky = with_diverged("", errors, [1, 0]);
        assert!(!lucky.contains("**"), "{lucky}");
        // The other net diverged: that speaks for the first.
        let settled = with_diverged("", errors, [0, 1]);
        assert!(settled.contains("| **1.10 ± 0.10** |"), "{settled}");
    }

    #[test]
    fn reported_seeds_are_named() {
        assert!(markdown("", [&[1.0], &[2.0]]).contains(" Reported seeds: 1.\n"));
        let text = markdown("", [&[1.0, 2.0], &[2.0, 3.0, 4.0]]);
        assert!(text.contains(" Reported seeds: 1 to 3.\n"), "{text}");
        assert_eq!(ranges(&BTreeSet::from([4, 6, 7, 8, 1001])), "4, 6 to 8, 1001");
    }

    #[test]
    fn how_nets_were_tuned_is_said() {
        let text = markdown("tuning = { seeds = [101, 102], trials = 12 }", [&[1.0], &[2.0]]);
        let wanted =
            "tuned by `matnet tune` with 12 trials per net on the validation splits of seeds 101, 102. These";
        assert!(text.contains(wanted), "{text}");
        assert!(markdown("", [&[1.0], &[2.0]]).contains(NOT_TUNED));
    }
}
