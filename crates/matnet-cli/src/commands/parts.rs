//! `matnet compare --part`: the runs of a comparison, trained by several processes together.

use std::io::Write;

use matnet_train::plan::RunSpec;
use matnet_train::{Part, Plan, Planner, Run};

use super::train;
use crate::cli::TrainArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::screen::Screen;
use crate::together::{Attempt, Share};

/// Trains the runs of a part, then whatever others have left.
pub fn train_part(specs: Vec<RunSpec>, part: Part, how: &TrainArgs) -> Outcome {
    let (cache, options, mut planner) = (how.cache.cache()?, train::options(how)?, Planner::default());
    let specs = match how.folds {
        Some(count) => planner.fold_specs(&specs, count, &cache)?,
        None => specs,
    };
    // Whatever is wrong with a run of its share is said at once; the others are checked by those whose share they are.
    for (_, spec) in specs.iter().enumerate().filter(|(at, _)| part.owns(*at, specs.len())) {
        let plan = train::checked_plan(&mut planner, spec, &specs, &cache, &options)?;
        let run = Run::at(&spec.folder);
        if let Some(difference) = plan.difference(&run)? {
            let what = "the folder holds a run with another config";
            let what = format!("{}: {what} ({difference})", run.folder().display());
            return Err(Failure::Failed(format!("{what}; --out chooses another folder")));
        }
    }
    let mut observer = train::observer(how)?;
    let attempt = |at: usize| {
        let (spec, run) = (&specs[at], Run::at(&specs[at].folder));
        // Neither of these needs the dataset, which may be slow to load.
        match run.result() {
            Ok(Some(_)) => return Ok(Attempt::Finished),
            Ok(None) => {}
            Err(error) => return Attempt::failed(error),
        }
        if let Err(error) = run.lock() {
            return Attempt::failed(error);
        }
        let plan: Box<dyn Plan> = planner.plan(&spec.document, &cache)?;
        interrupt::watch();
        match plan.train(&run, &options, observer.as_mut()) {
            Ok(outcome) if outcome.was_finished => Ok(Attempt::Finished),
            Ok(_) => Ok(Attempt::Trained),
            Err(error) => Attempt::failed(error),
        }
    };
    let mut share = Share::default();
    share.work(part, specs.len(), attempt)?;
    Ok(writeln!(Screen::lock(), "{}", share.summary(part)?)?)
}
