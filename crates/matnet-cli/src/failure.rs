//! How a command can end other than well, and the exit code of each.

use std::io;
use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for something that cannot be: exit code 2.
    Usage(String),
    /// It tried and failed: exit code 1.
    Failed(String),
    /// It was interrupted, and what was done so far is kept: exit code 130.
    Interrupted,
    /// It was interrupted, and leaves nothing behind: exit code 130.
    Stopped,
    /// Whoever read the output has had enough: success.
    PipeClosed,
}

/// What every command returns.
pub type Outcome = Result<(), Failure>;

impl Failure {
    /// Says what went wrong and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::PipeClosed => ExitCode::SUCCESS,
            Self::Usage(what) => {
                eprintln!("error: {what}");
                ExitCode::from(2)
            }
            Self::Failed(what) => {
                eprintln!("error: {what}");
                ExitCode::from(1)
            }
            Self::Interrupted => {
                eprintln!("interrupted; the same command goes on from here");
                ExitCode::from(130)
            }
            Self::Stopped => {
                eprintln!("interrupted; nothing was written");
                ExitCode::from(130)
            }
        }
    }
}

impl From<matnet_data::Error> for Failure {
    fn from(error: matnet_data::Error) -> Self {
        match error {
            matnet_data::Error::Invalid(what) => Self::Usage(what),
            matnet_data::Error::Interrupted => Self::Interrupted,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<matnet_train::Error> for Failure {
    fn from(error: matnet_train::Error) -> Self {
        match error {
            matnet_train::Error::Config(what) => Self::Usage(what),
            matnet_train::Error::Data(error) => error.into(),
            matnet_train::Error::Interrupted => Self::Interrupted,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// Trouble with writing to the terminal or pipe.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}
