//! `matnet compare`

use std::io::{self, Write};

use matnet_report::text::{count, number};
use matnet_train::compare::{RunSeries, Spread};
use matnet_train::plan::run_specs;
use matnet_train::report::{results_table, series_page, write_page};

use super::train;
use crate::cli::Compare;
use crate::failure::{Failure, Outcome};

/// Trains the variants of a config, or takes finished runs, and puts them side by side.
pub fn run(args: Compare) -> Outcome {
    let runs = args.what.iter().filter(|path| path.is_dir()).count();
    // Finished runs are compared on the spot, unless a place for a report is given.
    let mut report = args.out.clone();
    let series = match &args.what[..] {
        [config] if runs == 0 => {
            let document = train::read(config, &args.overrides)?;
            let folder = args.out.clone().unwrap_or_else(|| train::standard_folder(config));
            let specs = run_specs(&document, &folder, args.how.seeds)?;
            report = Some(folder.join("report.html"));
            train::train_all(&specs, &args.how)?
        }
        folders if runs == folders.len() => {
            folders.iter().map(|folder| RunSeries::read(folder)).collect::<Result<_, _>>()?
        }
        _ => {
            let what = "give one config, or the folders of runs, not both";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    let mut out = io::stdout().lock();
    write!(out, "{}", results_table(&series)?.markdown())?;
    if let Some(sentence) = summary(&series) {
        writeln!(out, "\n{sentence}")?;
    }
    if let Some(path) = report {
        write_page(&path, &series_page(&series)?)?;
        writeln!(out, "\n{}", path.display())?;
    }
    Ok(())
}

/// What the comparison shows, in a sentence: the best net against the next one.
fn summary(series: &[RunSeries]) -> Option<String> {
    let errors = series.iter().all(|series| series.test_error().is_some());
    let test = |series: &RunSeries| if errors { series.test_error() } else { series.test_loss() };
    let mut order: Vec<(&RunSeries, Spread)> =
        series.iter().filter_map(|one| Some((one, test(one)?))).collect();
    order.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    let [(best, first), (next, second), ..] = order[..] else { return None };
    let metric = if errors { "error" } else { "loss" };
    let show = |mean: f64| if errors { format!("{:.2} %", 100.0 * mean) } else { number(mean) };
    let parameters = |series: &RunSeries| Some(count(series.runs.first()?.1.parameters));
    let seeds = match first.count.min(second.count) {
        1 => "one seed, which settles little: --seeds 5 shows the spread".to_owned(),
        seeds => format!("mean of {seeds} seeds"),
    };
    Some(format!(
        "{}: test {metric} {} with {} parameters; {}: {} with {} ({seeds})",
        best.label,
        show(first.mean),
        parameters(best)?,
        next.label,
        show(second.mean),
        parameters(next)?,
    ))
}
