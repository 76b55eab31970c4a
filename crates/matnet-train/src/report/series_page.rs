//! A report about several runs, and the table of their results.

use std::collections::BTreeSet;

use matnet_report::chart::{BarChart, Bars};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Highlight, Table, TableCell, TableColumn};
use matnet_report::text;

use super::curves;
use crate::compare::{RunSeries, Spread};
use crate::run::{RunResult, Score};
use crate::{Result, Split};

/// Runs side by side.
pub fn series_page(series: &[RunSeries]) -> Result<Page> {
    let names: Vec<&str> = series.iter().map(|series| series.label.as_str()).collect();
    let mut page = Page::new(names.join(" and ")).with_summary("Runs side by side.");
    page.heading("Results");
    page.table(&results_table(series)?);
    let metric = Metric::of(series);
    // Without a test split, the validation split is the best there is.
    let spreads = |split: Split| -> Vec<Option<Spread>> {
        series.iter().map(|series| metric.spread(series, split)).collect()
    };
    let split = Split::ALL.into_iter().rev().find(|split| spreads(*split).iter().any(Option::is_some));
    if let Some(split) = split {
        let spreads = spreads(split);
        let means = spreads.iter().map(|spread| spread.map_or(f64::NAN, |spread| spread.mean));
        let deviations =
            spreads.iter().map(|spread| spread.and_then(|spread| spread.deviation).unwrap_or(0.0));
        let title = format!("{} {}", capitalized(split.title()), metric.name());
        let chart = BarChart::new(title, names.iter().copied())
            .with_axes("", metric.axis())
            .with_decimals(metric.decimals())
            .with_bars(Bars::new(split.title(), means).with_error_bars(deviations));
        let caption = match chart.has_error_bars() {
            true => "Mean over the seeds, lower is better; error bars are one standard deviation.",
            false => "Lower is better; one seed.",
        };
        page.figure(Figure::svg(chart.svg(), caption));
    }

    page.heading("Training");
    let first: Vec<_> =
        series.iter().filter_map(|series| Some((series.label.as_str(), &series.runs.first()?.0))).collect();
    for split in Split::ALL {
        let figures = curves::of_runs(&first, split)?;
        if !figures.is_empty() {
            page.subheading(&format!("{} split", capitalized(split.title())));
            page.figures(figures);
        }
    }
    if series.iter().any(|series| series.runs.len() > 1) {
        page.paragraph("The curves are those of the first seed.");
    }
    Ok(page)
}

/// What runs are compared by: the error rate where all have one, else the loss.
#[derive(Clone, Copy, PartialEq)]
enum Metric {
    Error,
    Loss,
}

impl Metric {
    fn of(series: &[RunSeries]) -> Self {
        let scores = |result: &RunResult| [result.test, result.valid, result.train];
        let mut all = series.iter().flat_map(|series| &series.runs).flat_map(|(_, result)| scores(result));
        if all.by_ref().flatten().all(|score| score.error.is_some()) { Self::Error } else { Self::Loss }
    }

    fn name(self) -> &'static str {
        if self == Self::Error { "error rate" } else { "loss" }
    }

    fn axis(self) -> &'static str {
        if self == Self::Error { "error (%)" } else { "loss" }
    }

    fn decimals(self) -> usize {
        if self == Self::Error { 2 } else { 4 }
    }

    fn value(self, score: Score) -> Option<f64> {
        match self {
            Self::Error => score.error.map(|error| 100.0 * error),
            Self::Loss => Some(score.loss),
        }
    }

    fn spread(self, series: &RunSeries, split: Split) -> Option<Spread> {
        let score = |result: &RunResult| match split {
            Split::Train => result.train,
            Split::Valid => result.valid,
            Split::Test => result.test,
        };
        Spread::of(series.runs.iter().filter_map(|(_, result)| self.value(score(result)?)))
    }

    /// The test score of the seed with the lowest training loss.
    fn selected(self, series: &RunSeries) -> Option<f64> {
        self.value(series.lowest_training_loss()?.test?)
    }
}

/// A row per series: parameters, epochs, the scores of all splits, seconds. Lower is better.
pub fn results_table(series: &[RunSeries]) -> Result<Table> {
    let metric = Metric::of(series);
    let several = series.iter().any(|series| series.runs.len() > 1);
    let column = |name: &str| TableColumn::number(format!("{name} {}", metric.axis()));
    let mut columns = vec![
        TableColumn::text("net"),
        TableColumn::number("parameters").with_highlight(Highlight::Min),
        TableColumn::number("epochs"),
        column("train"),
        column("valid"),
        column("test").with_highlight(Highlight::Min),
    ];
    if several {
        columns.extend([column("best"), column("selected"), TableColumn::number("seeds")]);
    }
    columns.push(TableColumn::number("seconds"));
    let explained = match several {
        true => {
            "; mean ± standard deviation over the seeds; best: the best test of all seeds; selected: the test of the seed with the lowest training loss"
        }
        false => ", from one seed",
    };
    let caption = format!(
        "{} of the epoch with the best validation, lower is better{explained}.",
        capitalized(metric.name())
    );
    let mut table = Table::new(columns).with_caption(caption);
    let number = |value: Option<f64>| {
        value.map_or(TableCell::Empty, |value| TableCell::number(value, metric.decimals()))
    };
    let cell = |spread: Option<Spread>| match spread {
        Some(Spread { mean, deviation: Some(deviation), .. }) => {
            TableCell::mean_std(mean, deviation, metric.decimals())
        }
        spread => number(spread.map(|spread| spread.mean)),
    };
    for series in series {
        let Some((_, first)) = series.runs.first() else { continue };
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        let mut cells = vec![
            series.label.as_str().into(),
            TableCell::count(first.parameters as u64),
            epochs.map_or(TableCell::Empty, |epochs| text::number(epochs.mean).into()),
        ];
        cells.extend(Split::ALL.map(|split| cell(metric.spread(series, split))));
        if several {
            let best = metric.spread(series, Split::Test).map(|spread| spread.best);
            let seeds = TableCell::count(series.runs.len() as u64);
            cells.extend([number(best), number(metric.selected(series)), seeds]);
        }
        cells.push(TableCell::number(seconds(series)?, 1));
        table.push(cells);
    }
    if on_different_tasks(series) {
        let mean = |of: &dyn Fn(&RunSeries) -> Option<f64>| {
            number(Spread::of(series.iter().filter_map(of)).map(|spread| spread.mean))
        };
        let mut cells = vec!["mean".into(), TableCell::Empty, TableCell::Empty];
        cells.extend(Split::ALL.map(|split| mean(&|series| Some(metric.spread(series, split)?.mean))));
        if several {
            let best = mean(&|series| Some(metric.spread(series, Split::Test)?.best));
            cells.extend([best, mean(&|series| metric.selected(series)), TableCell::Empty]);
        }
        cells.push(TableCell::Empty);
        table.push(cells);
    }
    Ok(table)
}

/// Seconds of training per run.
fn seconds(series: &RunSeries) -> Result<f64> {
    let mut total = 0.0;
    for (run, _) in &series.runs {
        total += run.times()?.iter().sum::<f64>();
    }
    Ok(total / series.runs.len().max(1) as f64)
}

/// Whether no two series are on the same `data.tasks`: then a mean over them means something.
fn on_different_tasks(series: &[RunSeries]) -> bool {
    let tasks = |series: &RunSeries| {
        let document = series.runs.first()?.0.document().ok()?;
        Some(document.get("data", "tasks")?.to_string())
    };
    let all: Option<Vec<String>> = series.iter().map(tasks).collect();
    series.len() > 1 && all.is_some_and(|all| all.iter().collect::<BTreeSet<_>>().len() == all.len())
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
