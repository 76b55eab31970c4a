//! What stands in the folder of a run, and whether it is taken for what is wanted.

use matnet_train::Run;
use matnet_train::run::{Plan, RunResult};

use crate::failure::{Failure, Outcome};

/// What stands in the folder of a run whose numbers stopped being numbers.
pub const DIVERGED: &str = "diverged.txt";

/// What stands in the folder of a run.
pub enum Standing {
    /// Nothing, or a run to go on with.
    Open,
    /// A run with these settings that has ended.
    Ended(Ended),
    /// A run with other settings, and where they differ.
    Other(String),
    /// A run with a file that is not what was written.
    Damaged(String),
}

impl Standing {
    /// Looks at a folder, and at the weights in it too if `thorough`.
    pub fn of(run: &Run, plan: &Plan, thorough: bool) -> Self {
        let ended = match ended(run) {
            Ok(ended) => ended,
            Err(error) => return Self::Damaged(error.to_string()),
        };
        // What another version of matnet came to still counts.
        let counts = |difference: &String| !(difference.starts_with("run.version") && ended.is_some());
        if let Some(difference) = difference(run, plan).filter(counts) {
            return Self::Other(difference);
        }
        match ended {
            None => Self::Open,
            Some(Ok(_)) if thorough && let Err(error) = run.check_weights() => {
                Self::Damaged(error.to_string())
            }
            Some(ended) => Self::Ended(ended),
        }
    }
}

/// Where the settings of a run differ; those of one that came to nothing and has no config are not known.
fn difference(run: &Run, plan: &Plan) -> Option<String> {
    let unknown = || !run.exists() && run.path(DIVERGED).exists();
    run.difference(&plan.config())
        .or_else(|| unknown().then(|| format!("it has a {DIVERGED} but no config.toml")))
}

/// A run is not taken for one with other settings.
pub fn other_settings(run: &Run, difference: &str) -> Failure {
    Failure::Failed(format!(
        "{}: a run with other settings stands here ({difference}); --fresh trains such runs again, --out chooses another folder",
        run.folder().display()
    ))
}

/// Clears a run away, what it came to first.
pub fn clear(run: &Run) -> Outcome {
    let path = run.path(DIVERGED);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::Failed(format!("{}: {error}", path.display())))
        }
        _ => Ok(run.clear()?),
    }
}

/// How a run ended: with a result, or where its numbers stopped being numbers.
pub type Ended = Result<RunResult, String>;

/// How a run ended, if it has.
pub fn ended(run: &Run) -> matnet_train::Result<Option<Ended>> {
    Ok(match run.result()? {
        Some(result) => Some(Ok(result)),
        None => std::fs::read_to_string(run.path(DIVERGED)).ok().map(Err),
    })
}
