//! Learning curves: training and test after every epoch.

use std::collections::BTreeMap;

use matnet_cli::failure::Failure;
use matnet_report::chart::{ChartSeries, LineChart};
use matnet_train::Split;
use matnet_train::compare::Spread;

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// Two charts for every column, side by side: the mean over the seeds, with a band of one standard deviation.
pub fn draw(canvas: &Canvas, figure: &FigureSpec) -> Result<Groups, Failure> {
    let mut groups = Vec::new();
    for (column, data) in canvas.columns(figure) {
        let has_run = |row: usize| canvas.results.runs_here((canvas.number, column, row)).next().is_some();
        if !canvas.rows(figure).into_iter().any(|(row, _)| has_run(row)) {
            continue;
        }
        let mut group = Vec::new();
        for (split, title) in [(Split::Train, "Training"), (Split::Test, "Test")] {
            let (mut chart, mut errors) = (LineChart::new(format!("{title}: {}", data.label)), false);
            for (row, net) in canvas.rows(figure) {
                let mut by_epoch = BTreeMap::<usize, Vec<f64>>::new();
                for (run, _) in canvas.results.runs_here((canvas.number, column, row)) {
                    for point in run.metrics()?.into_iter().filter(|point| point.split == split) {
                        errors |= point.error.is_some();
                        let value = point.error.map_or(point.loss, |error| 100.0 * error);
                        by_epoch.entry(point.epoch).or_default().push(value);
                    }
                }
                let spreads =
                    by_epoch.into_iter().filter_map(|(epoch, values)| Some((epoch, Spread::of(values)?)));
                let spreads: Vec<(usize, Spread)> = spreads.collect();
                if spreads.is_empty() {
                    continue;
                }
                let line = spreads.iter().map(|(epoch, spread)| (*epoch as f64, spread.mean));
                let band = spreads.iter().map(|(_, spread)| spread.deviation.unwrap_or(0.0));
                chart = chart.with_series(ChartSeries::new(&net.label, line).with_band(band));
            }
            let metric = if errors { "error rate (%)" } else { "loss" };
            let several = canvas.results.seeds(canvas.number, Some(column)).iter().any(|&seeds| seeds > 1);
            let seeds = match several {
                false => "one seed",
                true => "mean over the seeds, with a band of one standard deviation",
            };
            group.push(Drawn {
                name: canvas.name(&[&data.name, "curves", split.name()]),
                caption: format!(
                    "{title} {metric} after every epoch, {}; lower is better, {seeds}.",
                    data.label
                ),
                content: Content::Chart(chart.with_axes("epoch", metric).svg()),
            });
        }
        groups.push(group);
    }
    Ok(groups)
}
