//! Learning curves from `metrics.csv`.

use matnet_report::chart::{LineChart, Series as Line};
use matnet_report::page::Figure;
use matnet_train::Run;
use matnet_train::data::Part;

/// A line of `metrics.csv`.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub epoch: f64,
    pub loss: f64,
    pub error: Option<f64>,
}

/// What a run noted about a part, by epoch; empty if there is nothing.
pub fn points(run: &Run, part: Part) -> Vec<Point> {
    let text = std::fs::read_to_string(run.path("metrics.csv")).unwrap_or_default();
    let line = |line: &str| {
        let mut cells = line.split(',');
        let epoch = cells.next()?.parse().ok()?;
        (cells.next()? == part.name()).then_some(())?;
        let loss = cells.next()?.parse().ok()?;
        Some(Point { epoch, loss, error: cells.next()?.parse().ok() })
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// The curves of a run: loss, and error where there are classes.
pub fn figures(run: &Run) -> Vec<Figure> {
    let parts: Vec<(&str, Vec<Point>)> = [
        ("training", points(run, Part::Train)),
        ("validation", points(run, Part::Valid)),
        ("test", points(run, Part::Test)),
    ]
    .into_iter()
    .filter(|(_, points)| !points.is_empty())
    .collect();
    both(&parts)
}

/// One curve for each run, of a part that all of them measured.
pub fn compared(runs: &[(&str, &Run)], part: Part) -> Vec<Figure> {
    let parts: Vec<(&str, Vec<Point>)> = runs
        .iter()
        .map(|(name, run)| (*name, points(run, part)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    both(&parts)
}

fn both(curves: &[(&str, Vec<Point>)]) -> Vec<Figure> {
    let mut loss = LineChart::new("Loss").with_axes("epoch", "mean loss").with_size(560, 360);
    let mut error = LineChart::new("Error").with_axes("epoch", "wrong answers (%)").with_size(560, 360);
    for (name, points) in curves {
        loss = loss.with_series(Line::new(*name, points.iter().map(|point| (point.epoch, point.loss))));
        let errors = points.iter().filter_map(|point| Some((point.epoch, 100.0 * point.error?)));
        error = error.with_series(Line::new(*name, errors));
    }
    let mut figures = vec![Figure::svg(loss.svg(), "Mean loss after each epoch.")];
    if curves.iter().any(|(_, points)| points.iter().any(|point| point.error.is_some())) {
        figures.push(Figure::svg(error.svg(), "Share of wrong answers after each epoch."));
    }
    figures
}
