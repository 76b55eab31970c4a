//! Learning curves.

use matnet_report::chart::{ChartSeries, LineChart};
use matnet_report::page::Figure;

use crate::metrics::Metric;
use crate::run::{MetricsRow, Run};
use crate::{Result, Split};

/// The curves of a run: loss, and error rate where there is one.
pub fn of_run(run: &Run) -> Result<Vec<Figure>> {
    let rows = run.metrics()?;
    let curve = |split: Split| (split.title(), of_split(&rows, split));
    let mut all = figures(&Split::ALL.map(curve));
    all.extend(of_metrics(&of_split(&rows, Split::Valid)));
    Ok(all)
}

/// The other metrics of the validation split: those where higher is better in one chart, the others in a second.
fn of_metrics(rows: &[MetricsRow]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (lower, better) in [(false, "higher is better"), (true, "lower is better")] {
        let mut chart =
            LineChart::new("Validation metrics").with_axes("epoch", if lower { "error" } else { "score" });
        let mut drawn = false;
        for metric in Metric::ALL.into_iter().filter(|metric| metric.lower_is_better() == lower) {
            let points = rows.iter().filter_map(|row| Some((row.epoch as f64, row.metrics.get(metric)?)));
            let points: Vec<(f64, f64)> = points.collect();
            drawn |= !points.is_empty();
            if !points.is_empty() {
                chart = chart.with_series(ChartSeries::new(metric.title(), points));
            }
        }
        if drawn {
            figures.push(Figure::svg(
                chart.svg(),
                format!("Metrics of the validation split after each epoch; {better}."),
            ));
        }
    }
    figures
}

/// One curve for each run, of a split that they were evaluated on.
pub fn of_runs(runs: &[(&str, &Run)], split: Split) -> Result<Vec<Figure>> {
    let mut curves = Vec::new();
    for (name, run) in runs {
        curves.push((*name, of_split(&run.metrics()?, split)));
    }
    Ok(figures(&curves))
}

fn of_split(rows: &[MetricsRow], split: Split) -> Vec<MetricsRow> {
    rows.iter().filter(|row| row.split == split).copied().collect()
}

fn figures(curves: &[(&str, Vec<MetricsRow>)]) -> Vec<Figure> {
    let mut loss = LineChart::new("Loss").with_axes("epoch", "mean loss");
    let mut error = LineChart::new("Error rate").with_axes("epoch", "error (%)");
    let curves = || curves.iter().filter(|(_, rows)| !rows.is_empty());
    for (name, rows) in curves() {
        let points = rows.iter().map(|row| (row.epoch as f64, row.loss));
        loss = loss.with_series(ChartSeries::new(*name, points));
        let points = rows.iter().filter_map(|row| Some((row.epoch as f64, 100.0 * row.error?)));
        error = error.with_series(ChartSeries::new(*name, points));
    }
    let mut figures = Vec::new();
    if curves().next().is_some() {
        figures.push(Figure::svg(loss.svg(), "Mean loss after each epoch; lower is better."));
    }
    if curves().any(|(_, rows)| rows.iter().any(|row| row.error.is_some())) {
        figures.push(Figure::svg(error.svg(), "Error rate after each epoch; lower is better."));
    }
    figures
}
