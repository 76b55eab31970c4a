//! What can go wrong in a run.

use std::path::{Path, PathBuf};

use matnet::ConfigError;

/// Why a run could not begin, go on or be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The config says something that cannot be: the key, what stands there, what would be right.
    #[error("{0}")]
    Config(String),
    /// The data cannot be had.
    #[error(transparent)]
    Data(#[from] matnet_data::Error),
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file of a run is not what was written.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A number stopped being one.
    #[error("{0}")]
    NotFinite(String),
    /// The run folder cannot be used as it is.
    #[error("{0}")]
    Run(String),
    /// The user stopped the run; its state is saved.
    #[error("interrupted")]
    Interrupted,
}

/// The result of anything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    pub(crate) fn damaged(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.as_ref().to_owned(), what: what.into() }
    }

    /// The same error, said of one of several.
    pub fn about(self, what: &str) -> Self {
        match self {
            Self::Config(error) => Self::Config(format!("{what}: {error}")),
            other => other,
        }
    }

    /// An error about `section.key`.
    pub(crate) fn key(section: &str, error: ConfigError) -> Self {
        Self::Config(format!("{section}.{error}"))
    }
}

/// An error about a whole key.
impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}
