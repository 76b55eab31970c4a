//! The error type of this crate. Messages say what is wrong, where, and what is expected.

use std::path::{Path, PathBuf};

/// An error while locating, fetching, reading or preparing data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The contents of a file violate its format.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, where in the file, and what is expected.
        what: String,
    },
    /// An invalid argument: a size, a fraction, a name.
    #[error("{0}")]
    Invalid(String),
    /// A file was not found; the message says how to get it.
    #[error("{0}")]
    Missing(String),
    /// A download failed; the message says what to download by hand and where to put it.
    #[error("{0}")]
    Fetch(String),
    /// The caller stopped the operation; a partial download is kept.
    #[error("interrupted")]
    Interrupted,
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An operating-system error about `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    /// A format error in the file `path`.
    pub fn format(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Format { path: path.as_ref().to_owned(), what: what.into() }
    }
}
