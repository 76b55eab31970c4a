//! A metric against the number of hidden units, a line for each family of nets.

use matnet_report::chart::{ChartSeries, LineChart};

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// A line of the chart: its name, and hidden units, mean and standard deviation of every point.
type Line = (String, Vec<(f64, f64, f64)>);

/// A chart for every metric, with a line for each family in each column.
pub fn draw(canvas: &Canvas, figure: &FigureSpec) -> Groups {
    let mut groups = Vec::new();
    let columns = canvas.columns(figure);
    for metric in &canvas.table.metrics {
        let mut lines: Vec<Line> = Vec::new();
        for &(column, data) in &columns {
            for (row, net) in canvas.rows(figure) {
                let found = canvas.results.summary((canvas.number, column, row), *metric);
                let (Some(units), Some(found)) = (net.units, found) else { continue };
                let name = match columns.len() {
                    1 => net.family.clone(),
                    _ => format!("{}, {}", net.family, data.label),
                };
                let point = (units as f64, found.spread.mean, found.spread.deviation.unwrap_or(0.0));
                match lines.iter_mut().find(|(line, _)| *line == name) {
                    Some((_, points)) => points.push(point),
                    None => lines.push((name, vec![point])),
                }
            }
        }
        let mut chart =
            LineChart::new(&canvas.table.title).with_axes("hidden units", metric.axis()).with_log_x();
        for (name, mut points) in lines {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line = points.iter().map(|&(units, mean, _)| (units, mean));
            let band = points.iter().map(|&(_, _, deviation)| deviation);
            chart = chart.with_series(ChartSeries::new(name, line).with_band(band));
        }
        let seeds = match canvas.results.seeds(canvas.number, None).iter().any(|&seeds| seeds > 1) {
            true => "mean over the seeds, with a band of one standard deviation",
            false => "one seed",
        };
        groups.push(vec![Drawn {
            name: canvas.name(&["units", metric.name()]),
            caption: format!("{}; against the number of hidden units, {seeds}.", metric.caption()),
            content: Content::Chart(chart.svg()),
        }]);
    }
    groups
}
