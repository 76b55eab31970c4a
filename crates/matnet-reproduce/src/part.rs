//! The runs of an experiment, trained by several processes together.

use std::io::Write;
use std::path::{Path, PathBuf};

use matnet_cli::failure::{Failure, Outcome};
use matnet_cli::say;
use matnet_cli::screen::Screen;
use matnet_cli::together::{Attempt, Share};
use matnet_report::text;
use matnet_train::{Part, Run};

use crate::context::Context;
use crate::progress::RunProgress;
use crate::reproduction::Reproduction;
use crate::run_state::{RunState, end, other_settings, train};

/// Trains the runs of a part in every experiment, then whatever others have left. Tables and figures are drawn by the
/// command without `--part`.
pub fn train_part(part: Part, all: &[Reproduction], quiet: bool, context: &mut Context) -> Outcome {
    let mut share = Share::default();
    for one in all {
        if !quiet {
            one.experiment.quick_note.iter().for_each(|note| say!("{note}"));
        }
        let folders: Vec<PathBuf> = one.wanted_runs().map(|run| run.spec.folder.clone()).collect();
        share.work(part, folders.len(), |at| attempt(one, at, &folders, quiet, context))?;
    }
    Ok(writeln!(Screen::lock(), "{}", share.summary(part)?)?)
}

/// Trains one of the wanted runs, unless it is finished or in other hands.
fn attempt(
    of: &Reproduction,
    at: usize,
    folders: &[PathBuf],
    quiet: bool,
    context: &mut Context,
) -> Result<Attempt, Failure> {
    let run = Run::at(&folders[at]);
    // Neither of these needs the dataset, which may be slow to load.
    match end(&run) {
        // A process that was killed may have left a result without its report.
        Ok(Some(end)) if end.is_err() || run.path("report.html").exists() => return Ok(Attempt::Finished),
        Ok(_) => {}
        Err(error) => return Attempt::failed(error),
    }
    let Some(cell_run) = of.wanted_runs().nth(at) else { return Ok(Attempt::Finished) };
    if of.earlier_end(cell_run).is_some() {
        return Ok(Attempt::Finished);
    }
    if let Err(error) = run.lock() {
        return Attempt::failed(error);
    }
    let plan = context.planner.plan(&cell_run.spec.document, context.cache)?;
    match RunState::of(&run, &*plan, false) {
        RunState::Unfinished => {}
        RunState::Ended(_) => return Ok(Attempt::Finished),
        RunState::Damaged(what) => return Ok(Attempt::Failed(what)),
        RunState::OtherSettings(difference) => return Err(other_settings(&run, &difference)),
    }
    let waiting: Vec<&Path> =
        folders.iter().filter(|folder| **folder != folders[at]).map(|path| &**path).collect();
    let name = format!("{}/{} {}", at + 1, folders.len(), run.folder().display());
    let mut progress = RunProgress::new(name.clone(), context.time.seconds(&waiting), quiet);
    match train(&*plan, &run, context.device, &mut progress) {
        Ok(end) => {
            folders.iter().for_each(|folder| context.time.update(folder));
            if !quiet {
                let left = text::duration(context.time.seconds(&waiting));
                say!("{name}: {}, about {left} left for one process", of.describe(cell_run, &end));
            }
            Ok(Attempt::Trained)
        }
        Err(error) => Attempt::failed(error),
    }
}
