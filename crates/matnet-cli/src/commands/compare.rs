//! `matnet compare`

use std::io::{self, Write};

use matnet_train::compare::RunSeries;
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
    if let Some(path) = report {
        write_page(&path, &series_page(&series)?)?;
        writeln!(out, "\n{}", path.display())?;
    }
    Ok(())
}
