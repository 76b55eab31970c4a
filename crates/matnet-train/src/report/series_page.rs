//! A report about several runs, and the table of their results.

use std::collections::{BTreeMap, BTreeSet};

use matnet_report::chart::{BarChart, Bars};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Highlight, Table, TableCell, TableColumn};
use matnet_report::text;

use super::{curves, metric_title};
use crate::compare::{RunSeries, Spread};
use crate::config::{Loss, different_measure};
use crate::metrics::Metric;
use crate::run::RunResult;
use crate::stats::MIN_SEEDS;
use crate::{Result, Split};

/// Runs side by side.
pub fn series_page(series: &[RunSeries]) -> Result<Page> {
    let names: Vec<&str> = series.iter().map(|series| series.label.as_str()).collect();
    let mut page = Page::new(names.join(" and ")).with_summary("Runs side by side.");
    page.heading("Results");
    page.table(&results_table(series)?);
    let metric = main_metric(series)?;
    page.list(verdicts(series)?);
    let folds: BTreeSet<usize> = series.iter().flat_map(RunSeries::folds).collect();
    if !folds.is_empty() {
        page.table(&folds_table(series, &folds, metric));
    }
    // Without a test split, the validation split is the best there is.
    let spreads = |split: Split| -> Vec<Option<Spread>> {
        series.iter().map(|series| spread(metric, series, split)).collect()
    };
    let split = Split::ALL.into_iter().rev().find(|split| spreads(*split).iter().any(Option::is_some));
    if let Some(split) = split {
        let spreads = spreads(split);
        let means = spreads.iter().map(|spread| spread.map_or(f64::NAN, |spread| spread.mean));
        let deviations =
            spreads.iter().map(|spread| spread.and_then(|spread| spread.deviation).unwrap_or(0.0));
        let title = format!("{} {}", capitalized(split.title()), name(metric));
        let chart = BarChart::new(title, names.iter().copied())
            .with_axes("", metric_title(metric))
            .with_decimals(decimals(metric))
            .with_bars(Bars::new(split.title(), means).with_error_bars(deviations));
        let caption = match chart.has_error_bars() {
            true => {
                let over = if folds.is_empty() { "seeds" } else { "folds" };
                format!("Mean over the {over}, {}; error bars are one standard deviation.", better(metric))
            }
            false => format!("{}; one seed.", capitalized(better(metric))),
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
        let first = if folds.is_empty() { "seed" } else { "fold" };
        page.paragraph(&format!("The curves are those of the first {first}."));
    }
    Ok(page)
}

/// What runs are compared by: the metric that all of them monitor; else the error rate where all have one, else the loss.
pub fn main_metric(series: &[RunSeries]) -> Result<Metric> {
    let judged = |result: &RunResult| result.test.or(result.valid).or(result.train);
    let all_have = |metric: Metric| {
        let mut scores =
            series.iter().flat_map(|series| &series.runs).filter_map(|(_, result)| judged(result));
        scores.all(|score| score.metric(metric).is_some())
    };
    let mut monitored = BTreeSet::new();
    for (run, _) in series.iter().filter_map(|series| series.runs.first()) {
        let train = run.document()?.train()?;
        // Most nets monitor the loss unless told otherwise; those that learn classes do so only if told.
        let chosen = |metric: &Metric| *metric != Metric::Loss || train.loss == Some(Loss::CrossEntropy);
        monitored.insert(train.monitor.filter(chosen));
    }
    Ok(match Vec::from_iter(monitored)[..] {
        [Some(metric)] if all_have(metric) => metric,
        _ if all_have(Metric::Error) => Metric::Error,
        _ => Metric::Loss,
    })
}

/// Further metrics that matter, of those that every run has on the test split; a few, so that the table stays narrow.
fn further_metrics(series: &[RunSeries], main: Metric) -> Vec<Metric> {
    use Metric::{Auc, Error, ExactMatch, F1, R2, Rmse};
    let has = |metric: Metric| {
        let mut tests = series.iter().flat_map(|series| &series.runs).map(|(_, result)| result.test);
        tests.all(|test| test.is_some_and(|test| test.metric(metric).is_some()))
    };
    [Error, ExactMatch, F1, Auc, Rmse, R2]
        .into_iter()
        .filter(|&metric| metric != main && has(metric))
        .collect()
}

fn scale(metric: Metric) -> f64 {
    if metric == Metric::Error { 100.0 } else { 1.0 }
}

fn decimals(metric: Metric) -> usize {
    match metric {
        Metric::Error => 2,
        Metric::Loss | Metric::LogLoss | Metric::Mae | Metric::Rmse => 4,
        _ => 3,
    }
}

fn better(metric: Metric) -> &'static str {
    if metric.lower_is_better() { "lower is better" } else { "higher is better" }
}

fn name(metric: Metric) -> &'static str {
    if metric == Metric::Error { "error rate" } else { metric.title() }
}

/// The values of the seeds or folds on a split; error rates in percent.
fn values(metric: Metric, series: &RunSeries, split: Split) -> Vec<f64> {
    series.values(split, metric).into_values().map(|value| scale(metric) * value).collect()
}

fn spread(metric: Metric, series: &RunSeries, split: Split) -> Option<Spread> {
    Spread::of(values(metric, series, split))
}

/// What the numbers settle, in sentences: the net with the best mean against each of the others.
pub fn verdicts(series: &[RunSeries]) -> Result<Vec<String>> {
    let metric = main_metric(series)?;
    if let Some(why) = unlike(series, metric)? {
        return Ok(vec![format!("not compared: {why}")]);
    }
    let Some(first) = best_series(series, metric) else { return Ok(Vec::new()) };
    let others = series.iter().filter(|other| !std::ptr::eq(*other, first));
    Ok(others.filter_map(|other| verdict(first, other, metric)).collect())
}

fn verdict(first: &RunSeries, other: &RunSeries, metric: Metric) -> Option<String> {
    let difference = first.difference(other, metric)?;
    let number = |value: f64| format!("{:.*}", decimals(metric), scale(metric) * value);
    let (a, b, test) = (&first.label, &other.label, format!("test {}", metric_title(metric)));
    let Some(half) = difference.half_width else {
        return Some(format!(
            "{a} against {b}: not settled (difference {}, {test}; one seed tells nothing of the spread, --seeds 5 would)",
            number(difference.mean.abs())
        ));
    };
    let over = match (first.folds().is_empty(), difference.pairs) {
        (true, Some(pairs)) => text::counted(pairs, "paired seed"),
        (false, Some(pairs)) => text::counted(pairs, "paired fold"),
        (_, None) => "unpaired seeds".to_owned(),
    };
    let numbers = format!("{} ± {}", number(difference.mean.abs()), number(half));
    Some(match difference.is_settled() {
        true => format!("{a} better than {b} by {numbers} ({test}, 95 % CI over {over})"),
        false => {
            let few = if difference.fewest < MIN_SEEDS { "; fewer than three settle nothing" } else { "" };
            format!("{a} against {b}: not settled (difference {numbers}, {test}, 95 % CI over {over}{few})")
        }
    })
}

/// Why the numbers of some nets say nothing about which is better: losses of different kinds or in different units, different tasks, different
/// data, or different test splits.
pub fn unlike(series: &[RunSeries], metric: Metric) -> Result<Option<String>> {
    let (mut kinds, mut sources, mut sums) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut data = BTreeMap::<String, BTreeSet<String>>::new();
    let mut tests = BTreeMap::<(u64, Option<usize>), BTreeSet<String>>::new();
    let mut documents = Vec::new();
    for (run, result) in series.iter().flat_map(|series| &series.runs) {
        let document = run.document()?;
        if metric == Metric::Loss {
            kinds.extend(document.train()?.loss.map(Loss::name));
        }
        let (table, sum) = (document.data_text(), run.data_checksum()?);
        sources.insert(document.source().unwrap_or_default().to_owned());
        sums.insert(sum.clone());
        data.entry(table).or_default().insert(sum);
        tests.entry((result.seed, run.fold())).or_default().extend(run.test_split(&document)?);
        documents.push(document);
    }
    if kinds.len() > 1 {
        return Ok(Some(format!("the losses are of different kinds ({})", Vec::from_iter(kinds).join(", "))));
    }
    if let Some(difference) = different_measure(documents.iter(), metric == Metric::Loss) {
        return Ok(Some(difference));
    }
    let named = Vec::from_iter(&sources).iter().map(|source| source.as_str()).collect::<Vec<_>>().join(", ");
    let several = |sets: &BTreeSet<String>| sets.len() > 1;
    Ok(match data.values().any(several) {
        true => Some(format!("{named} changed between the runs")),
        // One file may be written in two ways, and one source read in two ways.
        false if sources.len() > 1 && sums.len() > 1 => Some(format!("the data are different ({named})")),
        false => tests.values().any(several).then(|| "the test splits are different".to_owned()),
    })
}

/// The series with the best mean on the test split.
fn best_series(series: &[RunSeries], metric: Metric) -> Option<&RunSeries> {
    let sign = if metric.lower_is_better() { 1.0 } else { -1.0 };
    let means = series.iter().filter_map(|one| Some((sign * one.spread(Split::Test, metric)?.mean, one)));
    let means = means.filter(|(mean, _)| !mean.is_nan());
    means.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, one)| one)
}

/// Whether the best series is better than every other, by more than the luck of the seeds.
fn is_settled(series: &[RunSeries], metric: Metric) -> Result<bool> {
    let Some(first) = best_series(series, metric) else { return Ok(false) };
    if unlike(series, metric)?.is_some() {
        return Ok(false);
    }
    let mut others = series.iter().filter(|other| !std::ptr::eq(*other, first)).peekable();
    Ok(others.peek().is_some()
        && others.all(|other| first.difference(other, metric).is_some_and(|found| found.is_settled())))
}

/// The test score of every fold.
fn folds_table(series: &[RunSeries], folds: &BTreeSet<usize>, metric: Metric) -> Table {
    let columns = series.iter().map(|series| TableColumn::number(&series.label));
    let columns = [TableColumn::text("fold")].into_iter().chain(columns);
    let mut table = Table::new(columns).with_caption(format!("Test {} of every fold.", metric_title(metric)));
    for fold in folds {
        let value = |series: &RunSeries| series.values(Split::Test, metric).get(&(*fold as u64)).copied();
        let cell = |value: Option<f64>| {
            value.map_or(TableCell::Empty, |value| TableCell::number(scale(metric) * value, decimals(metric)))
        };
        let cells = series.iter().map(|series| cell(value(series)));
        table.push([TableCell::from(fold.to_string())].into_iter().chain(cells));
    }
    table
}

/// The best test score of all seeds.
fn best(metric: Metric, series: &RunSeries) -> Option<f64> {
    let values = values(metric, series, Split::Test).into_iter();
    values.reduce(if metric.lower_is_better() { f64::min } else { f64::max })
}

/// The test score of the seed with the lowest training loss.
fn selected(metric: Metric, series: &RunSeries) -> Option<f64> {
    Some(scale(metric) * series.lowest_training_loss()?.test?.metric(metric)?)
}

/// A row per series: parameters, epochs, the scores of all splits, further metrics of the test split, seconds.
pub fn results_table(series: &[RunSeries]) -> Result<Table> {
    let metric = main_metric(series)?;
    let further = further_metrics(series, metric);
    let folds = series.iter().any(|series| !series.folds().is_empty());
    let several = !folds && series.iter().any(|series| series.runs.len() > 1);
    let column = |name: &str, metric: Metric| TableColumn::number(format!("{name} {}", metric_title(metric)));
    // A number is bold only if it is better than the others, not if it was luckier.
    let test = |metric: Metric| -> Result<TableColumn> {
        let highlight = if metric.lower_is_better() { Highlight::Min } else { Highlight::Max };
        Ok(match is_settled(series, metric)? {
            true => column("test", metric).with_highlight(highlight),
            false => column("test", metric),
        })
    };
    let mut columns = vec![
        TableColumn::text("net"),
        TableColumn::number("parameters").with_highlight(Highlight::Min),
        TableColumn::number("epochs"),
        column("train", metric),
        column("valid", metric),
        test(metric)?,
    ];
    if several {
        columns.extend([column("best", metric), column("selected", metric), TableColumn::number("seeds")]);
    }
    if folds {
        columns.extend([TableColumn::number("folds"), TableColumn::number("seeds")]);
    }
    for &metric in &further {
        columns.push(test(metric)?);
    }
    columns.push(TableColumn::number("seconds"));
    let explained = match (several, folds) {
        (true, _) => {
            "; mean ± standard deviation over the seeds; best: the best test of all seeds; selected: the test of the seed with the lowest training loss; bold: better than all others by the 95 % confidence interval of the difference"
        }
        (_, true) => {
            "; mean ± standard deviation over the folds; bold: better than all others by the 95 % confidence interval of the difference"
        }
        _ => ", from one seed",
    };
    let caption = format!(
        "{} of the epoch with the best validation, {}{explained}.",
        capitalized(name(metric)),
        better(metric)
    );
    let mut table = Table::new(columns).with_caption(caption);
    let number = |metric: Metric, value: Option<f64>| {
        value.map_or(TableCell::Empty, |value| TableCell::number(value, decimals(metric)))
    };
    let cell = |metric: Metric, spread: Option<Spread>| match spread {
        Some(Spread { mean, deviation: Some(deviation), .. }) => {
            TableCell::mean_std(mean, deviation, decimals(metric))
        }
        spread => number(metric, spread.map(|spread| spread.mean)),
    };
    for series in series {
        let Some((_, first)) = series.runs.first() else { continue };
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        let mut cells = vec![
            series.label.as_str().into(),
            TableCell::count(first.parameters as u64),
            epochs.map_or(TableCell::Empty, |epochs| text::number(epochs.mean).into()),
        ];
        cells.extend(Split::ALL.map(|split| cell(metric, spread(metric, series, split))));
        if several {
            let seeds = TableCell::count(series.runs.len() as u64);
            let (best, selected) = (best(metric, series), selected(metric, series));
            cells.extend([number(metric, best), number(metric, selected), seeds]);
        }
        if folds {
            cells.extend([series.folds().len(), series.seeds().len()].map(|n| TableCell::count(n as u64)));
        }
        cells.extend(further.iter().map(|&metric| cell(metric, spread(metric, series, Split::Test))));
        cells.push(TableCell::number(seconds(series)?, 1));
        table.push(cells);
    }
    if on_different_tasks(series)? {
        let mean = |metric: Metric, of: &dyn Fn(&RunSeries) -> Option<f64>| {
            number(metric, Spread::of(series.iter().filter_map(of)).map(|spread| spread.mean))
        };
        let over =
            |metric: Metric, split: Split| mean(metric, &|series| Some(spread(metric, series, split)?.mean));
        let mut cells = vec!["mean".into(), TableCell::Empty, TableCell::Empty];
        cells.extend(Split::ALL.map(|split| over(metric, split)));
        if several {
            let best = mean(metric, &|series| best(metric, series));
            cells.extend([best, mean(metric, &|series| selected(metric, series)), TableCell::Empty]);
        }
        if folds {
            cells.extend([TableCell::Empty, TableCell::Empty]);
        }
        cells.extend(further.iter().map(|&metric| over(metric, Split::Test)));
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
fn on_different_tasks(series: &[RunSeries]) -> Result<bool> {
    let mut all = BTreeSet::new();
    for (run, _) in series.iter().filter_map(|series| series.runs.first()) {
        all.extend(run.document()?.get("data", "tasks").map(ToString::to_string));
    }
    Ok(series.len() > 1 && all.len() == series.len())
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
