//! Results as a small table.

use std::io::{self, Write};

use matnet_train::compare::{Series, Spread};
use matnet_train::run::Score;

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

/// A line per variant.
pub fn write(out: &mut impl Write, series: &[Series]) -> io::Result<()> {
    let errors = series.iter().any(|series| series.test_error().is_some());
    let head = ["net", "parameters", "epochs", "train", "valid", "test", "seconds"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for series in series {
        let part = |of: fn(&matnet_train::run::RunResult) -> Option<Score>| {
            let number = |score: Score| if errors { score.error.unwrap_or(f64::NAN) } else { score.loss };
            Spread::of(series.runs.iter().filter_map(|(_, result)| of(result).map(number)))
                .map_or("–".to_owned(), |numbers| spread(numbers, errors))
        };
        let Some((_, first)) = series.runs.first() else { continue };
        let epochs = Spread::of(series.runs.iter().map(|(_, result)| result.epochs as f64));
        rows.push(vec![
            series.label.clone(),
            text::count(first.parameters),
            epochs.map_or_else(String::new, |epochs| text::number(epochs.mean)),
            part(|result| result.train),
            part(|result| result.valid),
            part(|result| result.test),
            seconds(series).map_or("–".to_owned(), |seconds| format!("{seconds:.1}")),
        ]);
    }
    if errors {
        for cell in &mut rows[0][3..6] {
            cell.push_str(" error");
        }
    } else {
        for cell in &mut rows[0][3..6] {
            cell.push_str(" loss");
        }
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
        if index == 0 {
            let rule = |(column, &width): (usize, &usize)| match column {
                0 => "-".repeat(width + 2),
                _ => format!("{}:", "-".repeat(width + 1)),
            };
            writeln!(out, "|{}|", widths.iter().enumerate().map(rule).collect::<Vec<_>>().join("|"))?;
        }
    }
    Ok(())
}
