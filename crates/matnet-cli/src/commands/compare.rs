//! `matnet compare`

use std::io::Write;

use matnet_report::text::{count, number};
use matnet_train::compare::{RunSeries, Spread, results_csv};
use matnet_train::metrics::Metric;
use matnet_train::plan::run_specs;
use matnet_train::report::{main_metric, results_table, series_page, unlike, verdicts, write_page};
use matnet_train::{Ranks, Split, write_file};

use super::{parts, train};
use crate::args::require_ending;
use crate::cli::Compare;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;

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
            if let Some(part) = args.parts.part {
                return parts::train_part(specs, part, &args.how);
            }
            report = Some(folder.join("report.html"));
            train::train_all(specs, &args.how, false, &Ranks::default())?
        }
        _ if args.parts.part.is_some() => {
            return Err(Failure::Usage("--part: there is nothing to train; give one config".to_owned()));
        }
        folders if runs == folders.len() => {
            if let Some(out) = &args.out {
                require_ending("--out", out, &["html", "htm"], "")?;
            }
            folders.iter().map(|folder| RunSeries::read(folder)).collect::<Result<_, _>>()?
        }
        _ => {
            let what = "give one config, or the folders of runs, not both";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    let mut out = Screen::lock();
    write!(out, "{}", results_table(&series)?.markdown())?;
    let metric = main_metric(&series)?;
    let alike = unlike(&series, metric)?.is_none();
    if let Some(sentence) = summary(&series, metric).filter(|_| alike) {
        writeln!(out, "\n{sentence}")?;
    }
    for verdict in verdicts(&series)? {
        writeln!(out, "{verdict}")?;
    }
    if let Some(path) = report {
        let numbers = path.with_file_name("results.csv");
        write_file(&numbers, results_csv(&series).as_bytes())?;
        write_page(&path, &series_page(&series)?)?;
        writeln!(out, "\n{}\n{}", numbers.display(), path.display())?;
    }
    Ok(())
}

/// What the comparison shows, in a sentence: the best net against the next one.
fn summary(series: &[RunSeries], metric: Metric) -> Option<String> {
    let test =
        |series: &RunSeries| series.spread(Split::Test, metric).filter(|spread| spread.mean.is_finite());
    let mut order: Vec<(&RunSeries, Spread)> =
        series.iter().filter_map(|one| Some((one, test(one)?))).collect();
    order.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    if !metric.lower_is_better() {
        order.reverse();
    }
    let [(best, first), (next, second), ..] = order[..] else { return None };
    let show = |mean: f64| match metric {
        Metric::Error => format!("{:.2} %", 100.0 * mean),
        _ => number(mean),
    };
    let parameters = |series: &RunSeries| Some(count(series.runs.first()?.1.parameters));
    let over = match (first.count.min(second.count), best.folds().is_empty()) {
        (1, _) => "one seed".to_owned(),
        (seeds, true) => format!("mean of {seeds} seeds"),
        (folds, false) => format!("mean of {folds} folds"),
    };
    Some(format!(
        "{}: test {} {} with {} parameters; {}: {} with {} ({over})",
        best.label,
        metric.title(),
        show(first.mean),
        parameters(best)?,
        next.label,
        show(second.mean),
        parameters(next)?,
    ))
}
