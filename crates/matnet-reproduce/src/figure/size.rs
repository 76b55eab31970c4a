//! The first metric against the number of parameters: a chart for each column, a point for each net.

use matnet_report::chart::{ChartSeries, LineChart};

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// The charts, side by side.
pub fn draw(canvas: &Canvas, figure: &FigureSpec) -> Groups {
    let metric = canvas.table.metrics[0];
    let mut group = Vec::new();
    for (column, data) in canvas.columns(figure) {
        let mut chart = LineChart::new(&data.label)
            .with_axes("parameters", metric.axis())
            .with_log_x()
            .with_size(420, 320);
        let mut any = false;
        for (row, net) in canvas.rows(figure) {
            let cell = (canvas.number, column, row);
            let Some(found) = canvas.results.summary(cell, metric) else { continue };
            let Some((_, result)) = canvas.results.runs(cell).next() else { continue };
            let point = [(result.parameters as f64, found.spread.mean)];
            let band = [found.spread.deviation.unwrap_or(0.0)];
            chart = chart.with_series(ChartSeries::new(&net.label, point).with_band(band));
            any = true;
        }
        if any {
            group.push(Drawn {
                name: canvas.name(&[&data.name, "parameters"]),
                caption: format!(
                    "{}: {}; mean over the seeds, against the number of parameters.",
                    data.label,
                    metric.caption()
                ),
                content: Content::Chart(chart.svg()),
            });
        }
    }
    vec![group]
}
