//! What the folder of a run holds.

use std::io::ErrorKind;

use burn::tensor::Device;
use matnet_cli::failure::{Failure, Outcome};
use matnet_cli::interrupt;
use matnet_train::run::RunResult;
use matnet_train::{Error, Observer, Options, Plan, Run, write_file};

/// The file in the folder of a run that diverged; it says where.
pub const DIVERGED: &str = "diverged.txt";

/// How a run ended: with a result, or where it diverged.
pub type RunEnd = Result<RunResult, String>;

/// What the folder of a run holds.
pub enum RunState {
    /// Nothing, or a run to resume.
    Unfinished,
    /// A run with these settings that has ended.
    Ended(Box<RunEnd>),
    /// A run with other settings, and the difference.
    OtherSettings(String),
    /// A run with a damaged file.
    Damaged(String),
}

impl RunState {
    /// Of a run; `check_weights` reads its weights too.
    pub fn of(run: &Run, plan: &dyn Plan, check_weights: bool) -> Self {
        let end = match end(run) {
            Ok(end) => end,
            Err(error) => return Self::Damaged(error.to_string()),
        };
        // The result of another version of matnet still counts.
        let counts = |difference: &String| !(difference.starts_with("run.version") && end.is_some());
        // Nor can the settings of a run that diverged be known without a config.
        let unknown = || !run.exists() && run.path(DIVERGED).exists();
        let difference = match plan.difference(run) {
            Ok(difference) => difference,
            Err(error) => return Self::Damaged(error.to_string()),
        };
        let difference =
            difference.or_else(|| unknown().then(|| format!("it has a {DIVERGED} but no config.toml")));
        let same = difference.is_none();
        if let Some(difference) = difference.filter(counts) {
            return Self::OtherSettings(difference);
        }
        match end {
            None => Self::Unfinished,
            // A process was killed between the two.
            Some(Ok(_)) if same && !run.path("report.html").exists() => Self::Unfinished,
            Some(Ok(_)) if check_weights && let Err(error) = run.check_weights() => {
                Self::Damaged(error.to_string())
            }
            Some(end) => Self::Ended(Box::new(end)),
        }
    }
}

/// How a run ended, if it has.
pub fn end(run: &Run) -> matnet_train::Result<Option<RunEnd>> {
    Ok(match run.result()? {
        Some(result) => Some(Ok(result)),
        None => std::fs::read_to_string(run.path(DIVERGED)).ok().map(Err),
    })
}

/// The error for a run with other settings.
pub fn other_settings(run: &Run, difference: &str) -> Failure {
    Failure::Failed(format!(
        "{}: a run with other settings is here ({difference}); --fresh trains such runs again, --out names another folder",
        run.folder().display()
    ))
}

/// Removes the files of a run.
pub fn clear(run: &Run) -> Outcome {
    // Fails if another process is training it.
    run.clear()?;
    let path = run.path(DIVERGED);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::Failed(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Trains a run, or resumes it.
pub fn train(
    plan: &dyn Plan,
    run: &Run,
    device: &Device,
    observer: &mut dyn Observer,
) -> matnet_train::Result<RunEnd> {
    interrupt::watch();
    let options = Options::default().with_device(device.clone());
    let trained = match plan.train(run, &options, observer) {
        // A damaged checkpoint is no loss if the one before it is valid.
        Err(error @ Error::Damaged { .. }) => {
            match plan.train(run, &options.with_from_previous(true), observer) {
                Err(Error::Damaged { .. } | Error::Io { .. }) => Err(error),
                other => other,
            }
        }
        other => other,
    };
    match trained {
        Ok(outcome) => Ok(Ok(outcome.result)),
        Err(Error::NotFinite(what)) => {
            write_file(&run.path(DIVERGED), what.as_bytes())?;
            Ok(Err(what))
        }
        Err(other) => Err(other),
    }
}
