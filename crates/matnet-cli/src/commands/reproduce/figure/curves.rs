//! Learning curves: training and test after every epoch.

use std::collections::BTreeMap;

use matnet_report::chart::{LineChart, Series};
use matnet_train::compare::Spread;
use matnet_train::data::Part;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::curves::points;

/// Two charts for every column, side by side: the mean over the seeds, with a band of one standard deviation.
pub fn draw(stage: &Stage, wish: &Wish) -> Vec<Vec<Drawn>> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        let trained = |row: usize| stage.results.trained((stage.number, column, row));
        if !stage.rows(wish).into_iter().any(|(row, _)| trained(row)) {
            continue;
        }
        let mut group = Vec::new();
        for (part, title, place) in [(Part::Train, "Training", "training"), (Part::Test, "Test", "the test")]
        {
            let (mut chart, mut errors) = (LineChart::new(format!("{title}: {}", data.label)), false);
            for (row, net) in stage.rows(wish) {
                let mut by_epoch = BTreeMap::<usize, Vec<f64>>::new();
                for (run, _) in stage.results.runs((stage.number, column, row)) {
                    for point in points(run, part) {
                        errors |= point.error.is_some();
                        let value = point.error.map_or(point.loss, |error| 100.0 * error);
                        by_epoch.entry(point.epoch as usize).or_default().push(value);
                    }
                }
                let spreads: Vec<(usize, Spread)> = by_epoch
                    .into_iter()
                    .filter_map(|(epoch, values)| Some((epoch, Spread::of(values)?)))
                    .collect();
                if spreads.is_empty() {
                    continue;
                }
                let line = spreads.iter().map(|(epoch, spread)| (*epoch as f64, spread.mean));
                let band = spreads.iter().map(|(_, spread)| spread.deviation.unwrap_or(0.0));
                chart = chart.with_series(Series::new(&net.label, line).with_band(band));
            }
            let axis = if errors { "wrong answers (%)" } else { "loss" };
            let chart = chart.with_axes("epoch", axis).with_size(560, 380);
            let what = if errors { "Wrong answers, in percent," } else { "Loss" };
            let seeds = match stage.results.seeds((stage.number, column)) {
                1 => "one seed",
                _ => "mean over the seeds, with a band of one standard deviation",
            };
            group.push(Drawn {
                name: stage.name(&[&data.name, "curves", part.name()]),
                caption: format!("{what} in {place} after every epoch, {}; {seeds}.", data.label),
                content: Content::Chart(chart.svg()),
            });
        }
        groups.push(group);
    }
    groups
}
