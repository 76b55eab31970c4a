//! A table as bar charts.

use matnet_report::chart::{BarChart, Bars};

use super::{Canvas, Content, Drawn, Groups};

/// A chart for every metric: a group of bars for each column, a colour for each row.
pub fn draw(canvas: &Canvas) -> Groups {
    let (table, number) = (canvas.table, canvas.number);
    let has_run = |column, row| canvas.results.has_run((number, column, row));
    let (columns, rows) = (0..table.columns.len(), 0..table.rows.len());
    let shown_columns: Vec<usize> =
        columns.clone().filter(|&column| rows.clone().any(|row| has_run(column, row))).collect();
    let shown_rows: Vec<usize> =
        rows.filter(|&row| columns.clone().any(|column| has_run(column, row))).collect();
    let scores = table.metrics.iter().filter(|metric| !metric.is_cost());
    let charts = scores.map(|metric| {
        let labels = shown_columns.iter().map(|&column| table.columns[column].label.as_str());
        let mut chart = BarChart::new(&table.title, labels)
            .with_axes("", metric.axis())
            .with_decimals(metric.decimals())
            .with_y_max(metric.max())
            .with_truncated_axis()
            .with_reference_name("published");
        for &row in &shown_rows {
            let net = &table.rows[row];
            let spreads: Vec<_> = shown_columns
                .iter()
                .map(|&column| {
                    canvas.results.summary((number, column, row), *metric).map(|found| found.spread)
                })
                .collect();
            let means = spreads.iter().map(|spread| spread.map_or(f64::NAN, |spread| spread.mean));
            let deviations =
                spreads.iter().map(|spread| spread.and_then(|spread| spread.deviation).unwrap_or(0.0));
            let mut bars = Bars::new(&net.label, means).with_error_bars(deviations);
            if *metric == table.metrics[0] {
                let published = |&column: &usize| net.published(&table.columns[column]).unwrap_or(f64::NAN);
                bars = bars.with_references(shown_columns.iter().map(published));
            }
            chart = chart.with_bars(bars);
        }
        let seeds = match chart.has_error_bars() {
            true => "mean over the seeds; error bars are one standard deviation",
            false => "one seed",
        };
        Drawn {
            name: canvas.name(&["bars", metric.name()]),
            caption: format!("{}; {seeds}.", metric.caption()),
            content: Content::Chart(chart.svg()),
        }
    });
    charts.map(|chart| vec![chart]).collect()
}
