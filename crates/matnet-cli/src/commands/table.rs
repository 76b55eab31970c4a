//! Results as a small table.

use matnet_report::table::{Best, Cell, Column, Table};
use matnet_train::compare::{Series, Spread};
use matnet_train::run::{RunResult, Score};
use matnet_train::stories::on_different_tasks;

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
        columns.extend([measured("best"), measured("chosen"), Column::number("runs")]);
    }
    columns.push(Column::number("seconds"));
    let best = match several {
        true => "; best is the best test of all seeds, chosen that of the seed with the least training loss",
        false => "",
    };
    let caption = format!("{what}, of the epoch with the best validation{best}.");
    let mut table = Table::new(columns).with_caption(caption);
    let decimals = if errors { 2 } else { 4 };
    let number = |number: Option<f64>| number.map_or(Cell::Empty, |number| Cell::number(number, decimals));
    let cell = |spread: Option<Spread>| match spread {
        Some(Spread { mean, deviation: Some(deviation), .. }) => Cell::mean_sd(mean, deviation, decimals),
        spread => number(spread.map(|spread| spread.mean)),
    };
    for series in series {
        let Some((_, first)) = series.runs.first() else { continue };
        let line = Line::of(series, errors);
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        let mut cells = vec![
            series.label.as_str().into(),
            Cell::count(first.parameters as u64),
            epochs.map_or(Cell::Empty, |epochs| text::number(epochs.mean).into()),
        ];
        cells.extend(line.parts.map(cell));
        if several {
            let best = line.parts[2].map(|spread| spread.best);
            cells.extend([number(best), number(line.chosen), Cell::count(series.runs.len() as u64)]);
        }
        cells.push(seconds(series).map_or(Cell::Empty, |seconds| Cell::number(seconds, 1)));
        table.push(cells);
    }
    if on_different_tasks(series) {
        let lines: Vec<Line> = series.iter().map(|series| Line::of(series, errors)).collect();
        let mean = |of: &dyn Fn(&Line) -> Option<f64>| {
            number(Spread::of(lines.iter().filter_map(of)).map(|spread| spread.mean))
        };
        let mut cells = vec!["mean".into(), Cell::Empty, Cell::Empty];
        cells.extend([0, 1, 2].map(|part| mean(&|line| Some(line.parts[part]?.mean))));
        if several {
            cells.extend([mean(&|line| Some(line.parts[2]?.best)), mean(&|line| line.chosen), Cell::Empty]);
        }
        cells.push(Cell::Empty);
        table.push(cells);
    }
    table
}

/// What a variant came to; errors in percent.
struct Line {
    /// Training, validation, test.
    parts: [Option<Spread>; 3],
    /// The test of the seed with the least training loss.
    chosen: Option<f64>,
}

impl Line {
    fn of(series: &Series, errors: bool) -> Self {
        let number = |score: Score| if errors { 100.0 * score.error.unwrap_or(f64::NAN) } else { score.loss };
        let parts: [fn(&RunResult) -> Option<Score>; 3] =
            [|result| result.train, |result| result.valid, |result| result.test];
        let spread = |part: fn(&RunResult) -> Option<Score>| {
            Spread::of(series.runs.iter().filter_map(|(_, result)| part(result).map(number)))
        };
        let chosen = series.least_training_loss().and_then(|result| result.test).map(number);
        Self { parts: parts.map(spread), chosen }
    }
}
