//! A report about several runs.

use matnet_report::chart::{BarChart, Bars};
use matnet_report::page::{Figure, Page};
use matnet_train::compare::Series;
use matnet_train::data::Part;

use super::curves;
use crate::commands::table;

/// The runs side by side.
pub fn page(series: &[Series]) -> Page {
    let names: Vec<&str> = series.iter().map(|series| series.label.as_str()).collect();
    let mut page = Page::new(names.join(" and ")).with_lede("Runs side by side.");
    let errors = series.iter().any(|series| series.test_error().is_some());
    page.heading("Results");
    page.table(&table::results(series));
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
