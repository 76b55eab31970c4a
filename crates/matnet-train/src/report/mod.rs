//! Reports: everything about a run, or several, on one HTML page.

mod curves;
mod outcomes;
mod run_page;
mod series_page;

use std::path::Path;

use matnet_report::chart::Scatter3d;
use matnet_report::page::Page;

pub(crate) use self::run_page::page;
pub use self::run_page::{breakdown_cell, group_name, metric_cell, metric_title};
pub use self::series_page::{main_metric, results_table, series_page, unlike, verdicts};
use crate::Result;
use crate::run::files;
use crate::task::{Fitted, Task};

/// Writes the report of a run into its folder. Hidden states are placed in space only where they are asked for: that takes
/// longer than some runs.
pub(crate) fn write<T: Task>(fitted: &Fitted<T>) -> Result<()> {
    write_page(&fitted.run.path("report.html"), &page(fitted, None)?)
}

/// Writes a page atomically.
pub fn write_page(path: &Path, page: &Page) -> Result<()> {
    files::write(path, page.html().as_bytes())
}

/// Writes points in space as pictures from two angles, NAME-1.png and NAME-2.png.
pub fn write_angles(points: &Scatter3d, name: &Path) -> Result<()> {
    for (number, azimuth) in [(1, 35.0), (2, 125.0)] {
        let picture = points.clone().with_azimuth(azimuth).svg().to_png(2.0)?;
        files::write(Path::new(&format!("{}-{number}.png", name.display())), &picture)?;
    }
    Ok(())
}
