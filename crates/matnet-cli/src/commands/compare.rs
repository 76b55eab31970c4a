//! `matnet compare`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use matnet_train::Run;
use matnet_train::compare::{self, Series};

use super::{report, table, train};
use crate::cli::Compare;
use crate::failure::{Failure, Outcome};

/// Trains the variants of a config, or takes runs that are there, and puts them side by side.
pub fn run(args: Compare) -> Outcome {
    let runs = args.what.iter().filter(|path| path.is_dir()).count();
    // Runs that are there are compared on the spot, unless a place for a report is named.
    let mut place = args.out.clone();
    let series = match &args.what[..] {
        [config] if runs == 0 => {
            let document = train::read(config, &args.changes)?;
            let folder = args.out.clone().unwrap_or_else(|| train::standard_folder(config));
            let jobs = compare::jobs(&document, &folder, args.how.seeds)?;
            place = Some(folder.join("report.html"));
            train::work(&jobs, &args.how)?
        }
        folders if runs == folders.len() => {
            let mut series = Vec::new();
            for folder in folders {
                series.push(finished(folder)?);
            }
            series
        }
        _ => {
            let what = "give one config, or the folders of runs, not both";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    let mut out = io::stdout().lock();
    write!(out, "{}", table::results(&series).markdown())?;
    if let Some(path) = place {
        let report = report::about_several(&series, path)?;
        writeln!(out, "\n{}", report.display())?;
    }
    Ok(())
}

/// The runs below a folder, a series for each variant.
pub fn below(folder: &Path) -> Result<Vec<Series>, Failure> {
    let mut variants: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    variants.sort();
    // Folders of seeds are the runs of one net, not nets of their own.
    let seeds =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-"));
    if variants.iter().any(seeds) {
        return Ok(vec![finished(folder)?]);
    }
    let mut found = Vec::new();
    for path in variants {
        let mut series = finished(&path)?;
        if let Some(name) = path.file_name() {
            series.label = name.to_string_lossy().into_owned();
        }
        found.push(series);
    }
    if found.is_empty() {
        return Err(Failure::Usage(format!("{}: there is no run here", folder.display())));
    }
    Ok(found)
}

/// The runs in a folder: the run it is, or the runs of several seeds below it.
pub fn finished(folder: &Path) -> Result<Series, Failure> {
    let label = folder.display().to_string();
    let mut runs = Vec::new();
    let single = Run::at(folder);
    let below: Vec<Run> = match single.exists() {
        true => vec![single],
        false => {
            let mut found: Vec<_> = std::fs::read_dir(folder)
                .map_err(|error| Failure::Failed(format!("{label}: {error}")))?
                .flatten()
                .map(|entry| Run::at(entry.path()))
                .filter(Run::exists)
                .collect();
            found.sort_by(|a, b| a.folder().cmp(b.folder()));
            found
        }
    };
    for run in below {
        let Some(result) = run.result()? else {
            let what = "is not finished; `matnet train` goes on with it";
            return Err(Failure::Failed(format!("{}: {what}", run.folder().display())));
        };
        runs.push((run, result));
    }
    if runs.is_empty() {
        return Err(Failure::Usage(format!("{label}: there is no run here")));
    }
    Ok(Series { label, runs })
}
