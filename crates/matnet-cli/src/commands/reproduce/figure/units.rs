//! A measure against the number of hidden units, a line for each family of nets.

use matnet_report::chart::{LineChart, Series};

use super::{Content, Drawn, Stage, Wish};

/// A line of the chart: its name, and hidden units, mean and deviation of every point.
type Family = (String, Vec<(f64, f64, f64)>);

/// A chart for every measure, with a line for each family in each column.
pub fn draw(stage: &Stage, wish: &Wish) -> Vec<Vec<Drawn>> {
    let mut groups = Vec::new();
    let columns = stage.columns(wish);
    for measure in &stage.comparison.measures {
        let mut families: Vec<Family> = Vec::new();
        for &(column, data) in &columns {
            for (row, net) in stage.rows(wish) {
                let found = stage.results.summary((stage.number, column, row), *measure);
                let (Some(units), Some(found)) = (net.units, found) else { continue };
                let name = match columns.len() {
                    1 => net.family.clone(),
                    _ => format!("{}, {}", net.family, data.label),
                };
                let point = (units as f64, found.spread.mean, found.spread.deviation.unwrap_or(0.0));
                match families.iter_mut().find(|(family, _)| *family == name) {
                    Some((_, points)) => points.push(point),
                    None => families.push((name, vec![point])),
                }
            }
        }
        let mut chart = LineChart::new(&stage.comparison.title)
            .with_axes("hidden units", measure.axis())
            .with_log_x()
            .with_size(760, 460);
        for (family, mut points) in families {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line = points.iter().map(|&(units, mean, _)| (units, mean));
            let band = points.iter().map(|&(_, _, deviation)| deviation);
            chart = chart.with_series(Series::new(family, line).with_band(band));
        }
        let seeds = match stage.results.several(stage.comparison, stage.number) {
            true => "mean over the seeds",
            false => "one seed",
        };
        groups.push(vec![Drawn {
            name: stage.name(&["units", measure.word()]),
            caption: format!("{} against the number of hidden units; {seeds}.", measure.name()),
            content: Content::Chart(chart.svg()),
        }]);
    }
    groups
}
