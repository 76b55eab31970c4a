//! Learning curves: the first metric against the number of training samples, a line for each net.

use matnet_report::chart::{ChartSeries, LineChart};

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// One chart, with the columns that say how many training samples they have.
pub fn draw(canvas: &Canvas, figure: &FigureSpec) -> Groups {
    let metric = canvas.table.metrics[0];
    let mut chart =
        LineChart::new(&canvas.table.title).with_axes("training samples", metric.axis()).with_log_x();
    let mut any = false;
    for (row, net) in canvas.rows(figure) {
        let point = |samples: usize, column: usize| {
            let spread = canvas.results.summary((canvas.number, column, row), metric)?.spread;
            Some((samples as f64, spread.mean, spread.deviation.unwrap_or(0.0)))
        };
        let columns = canvas.columns(figure).into_iter();
        let mut points: Vec<(f64, f64, f64)> =
            columns.filter_map(|(column, data)| point(data.samples?, column)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        any |= !points.is_empty();
        let line = points.iter().map(|&(samples, mean, _)| (samples, mean));
        let band = points.iter().map(|&(_, _, deviation)| deviation);
        chart = chart.with_series(ChartSeries::new(&net.label, line).with_band(band));
    }
    let drawn = Drawn {
        name: canvas.name(&["samples", metric.name()]),
        caption: format!(
            "{}; against the number of training samples, mean over the seeds, with a band of one standard deviation.",
            metric.caption()
        ),
        content: Content::Chart(chart.svg()),
    };
    if any { vec![vec![drawn]] } else { Vec::new() }
}
