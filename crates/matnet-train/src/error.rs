//! What can go wrong with a config, a dataset or a run.

use std::path::{Path, PathBuf};

use matnet::ConfigError;

/// Why a run could not start, continue or be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key of the config has an invalid value.
    #[error("{section}.{error}")]
    Config {
        /// The table: `data`, `model`, `train` or `variant`.
        section: &'static str,
        /// The key below it, its value, and what would be right.
        #[source]
        error: ConfigError,
    },
    /// The config is not valid TOML, or not a config at all.
    #[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Syntax {
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// A key of the config names data that cannot be used.
    #[error("{key}: {error}")]
    DataKey {
        /// The key.
        key: &'static str,
        /// What is wrong with the data.
        #[source]
        error: matnet_data::Error,
    },
    /// An error inside a file, a variant or another named thing.
    #[error("{context}: {error}")]
    In {
        /// The file or the variant.
        context: String,
        /// The error.
        #[source]
        error: Box<Error>,
    },
    /// The dataset cannot be loaded.
    #[error(transparent)]
    Data(matnet_data::Error),
    /// The report cannot be drawn.
    #[cfg(feature = "report")]
    #[error("report: {0}")]
    Report(#[from] matnet_report::ReportError),
    /// The operating system refused a file operation.
    #[error("{}: {}", path.display(), matnet_data::describe(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file of a run is damaged.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Training diverged: a loss or a parameter is not finite.
    #[error("{0}")]
    NotFinite(String),
    /// The inputs do not fit the net.
    #[error("{0}")]
    Mismatch(String),
    /// The run folder cannot be used as it is.
    #[error("{}: {what}", folder.display())]
    Run {
        /// The folder.
        folder: PathBuf,
        /// Why.
        what: String,
    },
    /// Another process has the run folder.
    #[error("{}: another process is training here", .0.display())]
    Busy(PathBuf),
    /// One of several processes that train a run together has failed.
    #[error("rank {rank}: {message}")]
    Rank {
        /// Which one, from 0.
        rank: usize,
        /// Whether it was asked for something that cannot be.
        usage: bool,
        /// What it said.
        message: String,
    },
    /// The user stopped the run; its checkpoint is saved.
    #[error("interrupted")]
    Interrupted,
}

/// The result of anything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error about `section.key`.
    pub fn config(
        section: &'static str,
        key: impl Into<String>,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Config { section, error: ConfigError::new(key, value, expected) }
    }

    /// The same error, said of a file, a variant or a command-line option.
    pub fn within(self, context: impl Into<String>) -> Self {
        Self::In { context: context.into(), error: Box::new(self) }
    }

    /// An error about the data that `key` names.
    pub(crate) fn data_key(key: &'static str, what: impl Into<String>) -> Self {
        Self::DataKey { key, error: matnet_data::Error::Invalid(what.into()) }
    }

    /// The same error without the key, for data that were not named by a config.
    pub(crate) fn without_key(self) -> Self {
        match self {
            Self::DataKey { error, .. } => Self::Data(error),
            other => other,
        }
    }

    /// Whether the user asked for something that cannot be, in contrast to something that failed.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Config { .. } | Self::Syntax { .. } | Self::DataKey { .. } => true,
            Self::Data(matnet_data::Error::Invalid(_) | matnet_data::Error::Unknown { .. }) => true,
            Self::In { error, .. } => error.is_usage(),
            Self::Rank { usage, .. } => *usage,
            _ => false,
        }
    }

    pub(crate) fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    pub(crate) fn damaged(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.as_ref().to_owned(), what: what.into() }
    }

    pub(crate) fn run(folder: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Run { folder: folder.as_ref().to_owned(), what: what.into() }
    }
}

impl From<matnet_data::Error> for Error {
    fn from(error: matnet_data::Error) -> Self {
        match error {
            matnet_data::Error::Io { path, source } => Self::Io { path, source },
            error => Self::Data(error),
        }
    }
}

/// Turns an error about a key into one about `section.key`.
pub(crate) fn at(section: &'static str) -> impl Fn(ConfigError) -> Error {
    move |error| Error::Config { section, error }
}
