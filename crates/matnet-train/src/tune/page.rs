//! A report about a search, and the table of its trials.

use matnet_report::chart::{ParallelAxis, ParallelChart};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text::counted;
use toml::Value;

use super::{Domain, NetSearch, Search};
use crate::metrics::Metric;

/// Trials that the table shows at once; the others are on request.
const SHOWN: usize = 20;

/// A search: every net with its trials, and the best config.
pub fn tune_page(search: &Search, winners: &[usize], best: &str) -> Page {
    let mut page = Page::new(search.name()).with_summary(
        "A search for the values that do best on the validation split. The test split took no part.",
    );
    for (net, &winner) in search.nets.iter().zip(winners) {
        page.heading(net.name.as_deref().unwrap_or("Trials"));
        let trial = &net.trials[winner];
        page.paragraph(&format!(
            "The best of {} is trial {}: {}, with {}.",
            counted(net.trials.len(), "trial"),
            trial.number,
            net.score_text(trial),
            trial.describe(&net.space)
        ));
        let seeds: Vec<String> = net.seeds.iter().map(u64::to_string).collect();
        let rungs = net.rungs.iter().enumerate().map(|(rung, epochs)| {
            let trials = net.trials.iter().filter(|trial| trial.rungs > rung).count();
            format!("{} for {}", counted(trials, "trial"), counted(*epochs, "epoch"))
        });
        let diverged = net.trials.iter().filter(|trial| trial.diverged.is_some()).count();
        page.facts([
            ("judged by", format!("validation {}", net.metric.title())),
            ("seeds of each trial", seeds.join(", ")),
            ("successive halving", rungs.collect::<Vec<_>>().join(", then ")),
            ("diverged", diverged.to_string()),
        ]);
        let caption = "One line per trial, blue for the best by rank, orange for the worst; thick: trained to the end. \
                       Trials that were stopped have the score of their last rung; those that diverged are left out.";
        page.figure(Figure::svg(chart(net, winner).svg(), caption));
        page.table(&trials_table(net, winner, Some(SHOWN)));
        if net.trials.len() > SHOWN {
            page.details("all trials", |page| page.table(&trials_table(net, winner, None)));
        }
    }
    page.heading("Best config");
    page.details("best.toml", |page| page.code(best));
    page
}

/// The trials of a net from the best to the worst: those that were trained longer first.
pub fn trials_table(net: &NetSearch, winner: usize, most: Option<usize>) -> Table {
    let unit = if percent(net.metric) { " (%)" } else { "" };
    let mut columns = vec![
        TableColumn::number("trial"),
        TableColumn::number(format!("valid {}{unit} {}", net.metric.title(), net.metric.arrow())),
        TableColumn::number("epochs"),
        TableColumn::text("end"),
    ];
    columns.extend(net.space.keys.iter().map(|(key, _)| TableColumn::text(key)));
    let mut order: Vec<usize> = (0..net.trials.len()).collect();
    order.sort_by(|&a, &b| {
        let rank = |at: usize| {
            let trial = &net.trials[at];
            let (value, loss) = trial.standing.unwrap_or((f64::INFINITY, f64::INFINITY));
            (trial.standing.is_none(), std::cmp::Reverse(trial.rungs), value, loss, at)
        };
        rank(a).partial_cmp(&rank(b)).unwrap_or(a.cmp(&b))
    });
    let shown = most.unwrap_or(order.len()).min(order.len());
    let caption = match shown < order.len() {
        true => format!("The best {shown} of {} trials.", order.len()),
        false => format!("All {}.", counted(order.len(), "trial")),
    };
    let mut table = Table::new(columns).with_caption(caption);
    for at in order.into_iter().take(shown) {
        let trial = &net.trials[at];
        let score = net.score(trial).map_or(TableCell::Empty, |score| match percent(net.metric) {
            true => TableCell::number(100.0 * score, 2),
            false => TableCell::number(score, 4),
        });
        let mut cells = vec![
            TableCell::count(trial.number as u64),
            score,
            TableCell::count(trial.epochs as u64),
            net.end(at, winner).into(),
        ];
        cells.extend(trial.values.iter().map(|value| TableCell::from(value_text(value))));
        table.push(cells);
    }
    table
}

fn percent(metric: Metric) -> bool {
    matches!(metric, Metric::Error | Metric::Accuracy)
}

/// A value as a reader would write it, without the quotes of strings.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn chart(net: &NetSearch, winner: usize) -> ParallelChart {
    let mut chart = ParallelChart::new("Trials");
    for (key, domain) in &net.space.keys {
        chart = chart.with_axis(match domain {
            Domain::Choices(choices) => ParallelAxis::names(key, choices.iter().map(value_text)),
            _ if domain.is_log() => ParallelAxis::numbers(key).with_log(),
            _ => ParallelAxis::numbers(key),
        });
    }
    let factor = if percent(net.metric) { 100.0 } else { 1.0 };
    let unit = if percent(net.metric) { " (%)" } else { "" };
    let name = format!("valid {}{unit}", net.metric.title());
    let scores: Vec<f64> = net.trials.iter().filter_map(|trial| net.score(trial)).collect();
    let spread = |pick: fn(f64, f64) -> f64| scores.iter().copied().reduce(pick);
    let axis = ParallelAxis::numbers(name);
    // A few trials that do very badly would press all others to one end.
    let log = matches!((spread(f64::min), spread(f64::max)), (Some(low), Some(high)) if low > 0.0 && high > 50.0 * low);
    chart = chart.with_axis(if log { axis.with_log() } else { axis });
    for (at, trial) in net.trials.iter().enumerate() {
        let (Some(score), Some((value, _))) = (net.score(trial), trial.standing) else { continue };
        let place = |((_, domain), value): (&(String, Domain), &Value)| match domain {
            Domain::Choices(choices) => {
                choices.iter().position(|choice| choice == value).map_or(f64::NAN, |at| at as f64)
            }
            _ => value.as_float().or(value.as_integer().map(|value| value as f64)).unwrap_or(f64::NAN),
        };
        let mut values: Vec<f64> = net.space.keys.iter().zip(&trial.values).map(place).collect();
        values.push(factor * score);
        let width = if at == winner {
            3.6
        } else if trial.rungs == net.rungs.len() {
            2.4
        } else {
            1.3
        };
        let tooltip =
            format!("trial {}: {}\n{}", trial.number, net.score_text(trial), trial.describe(&net.space));
        chart = chart.with_line(values, value, width, tooltip);
    }
    chart
}
