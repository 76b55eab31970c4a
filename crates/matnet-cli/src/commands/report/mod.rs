//! `matnet report`, and the reports that training leaves behind.

mod curves;
mod pictures;
mod several;
mod single;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet_report::page::Page;
use matnet_train::Run;
use matnet_train::compare::{Planner, Series};
use matnet_train::run::Plan;

use super::{compare, data};
use crate::cli::Report;
use crate::failure::{Failure, Outcome};

/// Writes the report of a run, or one about several.
pub fn run(args: Report) -> Outcome {
    let cache = data::cache(&args.cache)?;
    let path = match (&args.what[..], &args.out) {
        ([folder], out) if Run::at(folder).exists() => {
            let run = Run::at(folder);
            let plan = Planner::default().plan(&run.document()?, &cache)?;
            let path = out.clone().unwrap_or_else(|| run.path("report.html"));
            write_page(&path, &single::page(&run, &plan, &Device::flex())?)?;
            path
        }
        ([folder], None) => about_several(&compare::below(folder)?, folder.join("report.html"))?,
        (folders, Some(out)) => {
            let series =
                folders.iter().map(|folder| compare::finished(folder)).collect::<Result<Vec<_>, _>>()?;
            about_several(&series, out.clone())?
        }
        (_, None) => {
            let what = "a report about several runs needs a place: --out report.html";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    writeln!(io::stdout().lock(), "{}", path.display())?;
    Ok(())
}

/// Writes the report of a run into its folder.
pub fn write(run: &Run, plan: &Plan, device: &Device) -> Outcome {
    write_page(&run.path("report.html"), &single::page(run, plan, device)?)
}

/// Writes a report about several runs.
pub fn about_several(series: &[Series], path: PathBuf) -> Result<PathBuf, Failure> {
    write_page(&path, &several::page(series))?;
    Ok(path)
}

fn write_page(path: &Path, page: &Page) -> Outcome {
    Ok(matnet_train::write_file(path, page.html().as_bytes())?)
}
