//! A report about several runs.

use matnet_report::chart::{BarChart, Bars};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Best, Cell, Column, Table};
use matnet_train::compare::{Series, Spread};
use matnet_train::data::Part;
use matnet_train::run::{RunResult, Score};

use super::curves;
use crate::text;

/// The runs side by side.
pub fn page(series: &[Series]) -> Page {
    let names: Vec<&str> = series.iter().map(|series| series.label.as_str()).collect();
    let mut page = Page::new(names.join(" and ")).with_lede("Runs side by side.");
    let errors = series.iter().any(|series| series.test_error().is_some());
    page.heading("Results");
    page.table(&table(series, errors));
    let unit = if errors { "wrong answers (%)" } else { "loss" };
    let spread = |series: &Series| if errors { series.test_error() } else { series.test_loss() };
    let factor = if errors { 100.0 } else { 1.0 };
    let means = series.iter().map(|series| spread(series).map_or(f64::NAN, |spread| factor * spread.mean));
    let deviations = series
        .iter()
        .map(|series| factor * spread(series).and_then(|spread| spread.deviation).unwrap_or(0.0));
    let bars = Bars::new("test", means).with_deviations(deviations);
    let chart = BarChart::new("In the test", names.iter().copied())
        .with_axes("", unit)
        .with_decimals(if errors { 2 } else { 4 })
        .with_bars(bars);
    page.figure(Figure::svg(chart.svg(), "Mean over the seeds; whiskers are one standard deviation."));

    page.heading("Learning");
    let first: Vec<_> =
        series.iter().filter_map(|series| Some((series.label.as_str(), &series.runs.first()?.0))).collect();
    for (part, name) in [(Part::Train, "training"), (Part::Valid, "validation"), (Part::Test, "test")] {
        if first.iter().all(|(_, run)| curves::points(run, part).is_empty()) {
            continue;
        }
        page.subheading(&format!("On the {name} part"));
        page.figures(curves::compared(&first, part));
    }
    if series.iter().any(|series| series.runs.len() > 1) {
        page.paragraph("The curves are those of the first seed.");
    }
    page
}

fn table(series: &[Series], errors: bool) -> Table {
    let unit = if errors { "error (%)" } else { "loss" };
    let measured = |name: &str| Column::number(format!("{name} {unit}"));
    let mut table = Table::new([
        Column::text("net"),
        Column::number("parameters").with_best(Best::Lowest),
        Column::number("runs"),
        Column::number("epochs"),
        measured("training"),
        measured("validation"),
        measured("test").with_best(Best::Lowest),
        measured("best test"),
    ]);
    for series in series {
        let Some((_, first)) = series.runs.first() else { continue };
        let of = |part: fn(&RunResult) -> Option<Score>| {
            let number =
                |score: Score| if errors { 100.0 * score.error.unwrap_or(f64::NAN) } else { score.loss };
            Spread::of(series.runs.iter().filter_map(|(_, result)| part(result).map(number)))
        };
        let decimals = if errors { 2 } else { 4 };
        let cell = |spread: Option<Spread>| match spread {
            None => Cell::Empty,
            Some(Spread { mean, deviation: Some(deviation), .. }) => Cell::mean_sd(mean, deviation, decimals),
            Some(Spread { mean, .. }) => Cell::number(mean, decimals),
        };
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        table.push([
            series.label.as_str().into(),
            Cell::count(first.parameters as u64),
            Cell::count(series.runs.len() as u64),
            epochs.map_or(Cell::Empty, |epochs| text::number(epochs.mean).into()),
            cell(of(|result| result.train)),
            cell(of(|result| result.valid)),
            cell(of(|result| result.test)),
            of(|result| result.test).map_or(Cell::Empty, |spread| Cell::number(spread.best, decimals)),
        ]);
    }
    table
}
