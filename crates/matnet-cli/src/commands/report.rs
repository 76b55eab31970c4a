//! `matnet report`

use std::io::Write;

use burn::tensor::Device;
use matnet_train::compare::RunSeries;
use matnet_train::report::{series_page, write_angles, write_page};
use matnet_train::run::BEST;
use matnet_train::task::{FigureKind, TaskFigure};
use matnet_train::{Run, write_file};

use crate::args::require_ending;
use crate::cli::Report;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;

/// Writes the report of a run, or one about several.
pub fn run(args: Report) -> Outcome {
    if let Some(out) = &args.out {
        require_ending("--out", out, &["html", "htm"], "")?;
    }
    let path = match (&args.what[..], &args.out) {
        ([folder], out) if Run::at(folder).exists() => {
            let run = Run::at(folder);
            let path = out.clone().unwrap_or_else(|| run.path("report.html"));
            let model = run.load(BEST, &Device::flex())?.with_run_data(&args.cache.cache()?)?;
            let mut embedding = None;
            for figure in model.figures(FigureKind::Embedding)? {
                if let TaskFigure::Embedding(points) = figure {
                    write_angles(&points, &path.with_file_name("hidden"))?;
                    embedding = Some(points);
                }
            }
            for (at, figure) in model.figures(FigureKind::Attention)?.into_iter().enumerate() {
                if let TaskFigure::Attention(map) = figure {
                    let file = path.with_file_name(format!("attention-{}.png", at + 1));
                    write_file(&file, &map.svg().to_png(2.0)?)?;
                }
            }
            write_page(&path, &model.report(embedding.as_ref())?)?;
            path
        }
        ([folder], None) => {
            let path = folder.join("report.html");
            write_page(&path, &series_page(&RunSeries::read_variants(folder)?)?)?;
            path
        }
        (folders, Some(out)) => {
            let series =
                folders.iter().map(|folder| RunSeries::read(folder)).collect::<Result<Vec<_>, _>>()?;
            write_page(out, &series_page(&series)?)?;
            out.clone()
        }
        (_, None) => {
            let what = "a report about several runs needs a place: --out report.html";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    writeln!(Screen::lock(), "{}", path.display())?;
    Ok(())
}
