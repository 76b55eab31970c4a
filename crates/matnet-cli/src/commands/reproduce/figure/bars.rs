//! A table as bars.

use matnet_report::chart::{BarChart, Bars};

use super::super::measure::Measure;
use super::{Content, Drawn, Stage};

/// Pixels that a bar should have.
const BAR: u32 = 24;

/// A chart for every measure: a group of bars for each column, a colour for each row.
pub fn draw(stage: &Stage) -> Vec<Vec<Drawn>> {
    let comparison = stage.comparison;
    let trained = |column, row| stage.results.trained((stage.number, column, row));
    let rows = comparison.rows.iter().enumerate();
    let columns = comparison.columns.iter().enumerate();
    let shown_rows: Vec<_> =
        rows.clone().filter(|(row, _)| columns.clone().any(|(column, _)| trained(column, *row))).collect();
    let shown_columns: Vec<_> =
        columns.filter(|(column, _)| rows.clone().any(|(row, _)| trained(*column, row))).collect();
    let (rows, columns) = (shown_rows, shown_columns);
    let several = stage.results.several(comparison, stage.number);
    // Bars too thin to be told apart would be no figure.
    let bars = columns.len() * rows.len();
    let width = (BAR * bars as u32 + 80).clamp(720, 1400);
    let charts = comparison.measures.iter().map(|measure| {
        let labels: Vec<&str> = columns.iter().map(|(_, data)| data.label.as_str()).collect();
        let mut chart = BarChart::new(&comparison.title, labels)
            .with_axes("", measure.axis())
            .with_decimals(measure.decimals())
            .with_size(width, 400)
            .with_most(most(*measure))
            .with_cut()
            .with_reference_name("published");
        for (row, net) in rows.iter().copied() {
            let found = || {
                columns
                    .iter()
                    .map(|(column, _)| stage.results.summary((stage.number, *column, row), *measure))
            };
            let means = found().map(|found| found.map_or(f64::NAN, |found| found.spread.mean));
            let deviations =
                found().map(|found| found.and_then(|found| found.spread.deviation).unwrap_or(0.0));
            let mut bars = Bars::new(&net.label, means).with_deviations(deviations);
            if *measure == comparison.measures[0] {
                let published = columns.iter().map(|(_, data)| net.published(data).unwrap_or(f64::NAN));
                bars = bars.with_references(published);
            }
            chart = chart.with_bars(bars);
        }
        Drawn {
            name: stage.name(&["bars", measure.word()]),
            caption: match several {
                true => {
                    format!("{}. Means over the seeds; whiskers are one standard deviation.", measure.name())
                }
                false => format!("{}, from one seed.", measure.name()),
            },
            content: Content::Chart(chart.svg()),
        }
    });
    charts.map(|chart| vec![chart]).collect()
}

/// The largest number that a measure can give.
fn most(measure: Measure) -> f64 {
    match measure {
        Measure::Right | Measure::Wrong => 100.0,
        _ => f64::INFINITY,
    }
}
