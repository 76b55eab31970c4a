//! `matnet report`, and the reports that training leaves behind.

pub mod curves;
mod nodes;
pub mod pictures;
pub mod program;
mod several;
mod single;
pub mod stories;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet_report::chart::{Camera, Scatter3};
use matnet_report::page::Page;
use matnet_train::Run;
use matnet_train::compare::{Planner, Series};
use matnet_train::graph::NodeTask;
use matnet_train::run::{Plan, Work};
use matnet_train::task::Task;

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
            let page = match &plan {
                Plan::Samples(work) => single::page(&run, work, &Device::flex())?,
                Plan::Nodes(work) => {
                    let title = format!("Hidden states of {}, by t-SNE", work.task.facts().source);
                    let cloud = cloud(&run, work, &title)?;
                    write_angles(&cloud, &path.with_file_name("hidden"))?;
                    nodes::page(&run, work, Some(&cloud), &Device::flex())?
                }
                Plan::Program(work) => program::page(&run, work, &Device::flex())?,
                Plan::Stories(work) => {
                    let looked = stories::looked(&run, work, &Device::flex())?;
                    stories::write_pictures(&looked, &path)?;
                    stories::page(&run, work, &looked, &Device::flex())?
                }
            };
            write_page(&path, &page)?;
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
    let page = match plan {
        Plan::Samples(work) => single::page(run, work, device)?,
        // Hidden states are placed in space where they are asked for: that takes longer than some runs.
        Plan::Nodes(work) => nodes::page(run, work, None, device)?,
        Plan::Program(work) => program::page(run, work, device)?,
        Plan::Stories(work) => stories::page(run, work, &stories::looked(run, work, device)?, device)?,
    };
    write_page(&run.path("report.html"), &page)
}

/// Writes a report about several runs.
pub fn about_several(series: &[Series], path: PathBuf) -> Result<PathBuf, Failure> {
    write_page(&path, &several::page(series))?;
    Ok(path)
}

/// The last hidden states of a run's test nodes, placed in space.
pub fn cloud(run: &Run, work: &Work<NodeTask>, title: &str) -> Result<Scatter3, Failure> {
    nodes::cloud(run, work, title, &Device::flex())
}

/// Points in space as pictures from two angles, NAME-1.png and NAME-2.png.
pub fn write_angles(cloud: &Scatter3, name: &Path) -> Outcome {
    for (number, around) in [(1, 35.0), (2, 125.0)] {
        let camera = Camera { around, ..Camera::default() };
        let picture = cloud.clone().with_camera(camera).svg().to_png(2.0)?;
        let file = format!("{}-{number}.png", name.display());
        matnet_train::write_file(Path::new(&file), &picture)?;
    }
    Ok(())
}

pub(super) fn write_page(path: &Path, page: &Page) -> Outcome {
    Ok(matnet_train::write_file(path, page.html().as_bytes())?)
}
