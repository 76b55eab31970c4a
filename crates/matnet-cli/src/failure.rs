//! How a command can end other than well, and its exit codes.

use std::io;

/// Prints a line to standard error; whoever read it may be gone, and the work goes on all the same.
#[macro_export]
macro_rules! say {
    ($($arg:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{}", $crate::screen::printable(&format!($($arg)*)));
    }};
}

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
    /// The reader of the output has closed the pipe: success.
    PipeClosed,
    /// It failed with this exit code, and another rank or this one has said why.
    Reported(u8),
}

/// What every command returns.
pub type Outcome = Result<(), Failure>;

impl Failure {
    /// Prints what went wrong and gives the exit code.
    pub fn report(self) -> u8 {
        let code = self.code();
        match self {
            Self::PipeClosed | Self::Reported(_) => {}
            Self::Usage(what) | Self::Failed(what) => say!("error: {what}"),
            Self::Interrupted => say!("interrupted; the same command resumes from here"),
            Self::Stopped => say!("interrupted; nothing was written"),
        }
        code
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::PipeClosed => 0,
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted | Self::Stopped => 130,
            Self::Reported(code) => *code,
        }
    }
}

impl From<matnet_data::Error> for Failure {
    fn from(error: matnet_data::Error) -> Self {
        matnet_train::Error::Data(error).into()
    }
}

impl From<matnet_train::Error> for Failure {
    fn from(error: matnet_train::Error) -> Self {
        use matnet_train::Error;
        match error {
            Error::Interrupted | Error::Data(matnet_data::Error::Interrupted) => Self::Interrupted,
            error if error.is_usage() => Self::Usage(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<matnet_report::ReportError> for Failure {
    fn from(error: matnet_report::ReportError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Trouble with writing to the terminal or pipe.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::Failed(format!("cannot write the output: {}", matnet_data::describe(&error))),
        }
    }
}
