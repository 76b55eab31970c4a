//! Results as a small table.

use matnet_report::table::{Best, Cell, Column, Table};
use matnet_train::compare::{Series, Spread};
use matnet_train::run::{RunResult, Score};

use crate::text;

/// A score in words.
pub fn score(score: Score) -> String {
    match score.error {
        Some(error) => format!("error {:.2} % (loss {})", 100.0 * error, text::number(score.loss)),
        None => format!("loss {}", text::number(score.loss)),
    }
}

/// Mean ± deviation, best of so many; as percentages for errors.
pub fn spread(spread: Spread, percent: bool) -> String {
    let show = |x: f64| if percent { format!("{:.2}", 100.0 * x) } else { text::number(x) };
    let unit = if percent { " %" } else { "" };
    match spread.deviation {
        Some(deviation) => {
            format!("{} ± {}{unit}, best {}{unit}", show(spread.mean), show(deviation), show(spread.best))
        }
        None => format!("{}{unit}", show(spread.mean)),
    }
}

/// Seconds of training, summed over the epochs of a run.
fn seconds(series: &Series) -> Option<f64> {
    let mut total = 0.0;
    for (run, _) in &series.runs {
        let text = std::fs::read_to_string(run.path("times.csv")).ok()?;
        total +=
            text.lines().skip(1).filter_map(|line| line.split(',').nth(1)?.parse::<f64>().ok()).sum::<f64>();
    }
    Some(total / series.runs.len().max(1) as f64)
}

/// A line per variant; errors in percent.
pub fn results(series: &[Series]) -> Table {
    let errors = series.iter().any(|series| series.test_error().is_some());
    let several = series.iter().any(|series| series.runs.len() > 1);
    let (what, unit) = if errors { ("Wrong answers", "%") } else { ("Loss", "loss") };
    let measured = |name: &str| Column::number(format!("{name} {unit}"));
    let mut columns = vec![
        Column::text("net"),
        Column::number("parameters").with_best(Best::Lowest),
        Column::number("epochs"),
        measured("train"),
        measured("valid"),
        measured("test").with_best(Best::Lowest),
    ];
    if several {
        columns.extend([measured("best"), Column::number("runs")]);
    }
    columns.push(Column::number("seconds"));
    let best = if several { "; best is the best test of all seeds" } else { "" };
    let caption = format!("{what}, of the epoch with the best validation{best}.");
    let mut table = Table::new(columns).with_caption(caption);
    for series in series {
        let Some((_, first)) = series.runs.first() else { continue };
        let of = |part: fn(&RunResult) -> Option<Score>| {
            let number =
                |score: Score| if errors { 100.0 * score.error.unwrap_or(f64::NAN) } else { score.loss };
            Spread::of(series.runs.iter().filter_map(|(_, result)| part(result).map(number)))
        };
        let decimals = if errors { 2 } else { 4 };
        let cell = |spread: Option<Spread>| match spread {
            None => Cell::Empty,
            Some(Spread { mean, deviation: Some(deviation), .. }) => Cell::mean_sd(mean, deviation, decimals),
            Some(Spread { mean, .. }) => Cell::number(mean, decimals),
        };
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        let mut cells = vec![
            series.label.as_str().into(),
            Cell::count(first.parameters as u64),
            epochs.map_or(Cell::Empty, |epochs| text::number(epochs.mean).into()),
            cell(of(|result| result.train)),
            cell(of(|result| result.valid)),
            cell(of(|result| result.test)),
        ];
        if several {
            let best =
                of(|result| result.test).map_or(Cell::Empty, |spread| Cell::number(spread.best, decimals));
            cells.extend([best, Cell::count(series.runs.len() as u64)]);
        }
        cells.push(seconds(series).map_or(Cell::Empty, |seconds| Cell::number(seconds, 1)));
        table.push(cells);
    }
    table
}
