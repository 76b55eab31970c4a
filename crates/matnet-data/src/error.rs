//! The one error type of this crate: what is wrong, where, and what would be right.

use std::path::{Path, PathBuf};

/// What went wrong while finding, fetching, reading or preparing data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file's content breaks its format.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file concerned.
        path: PathBuf,
        /// What is wrong, where in the file, and what would be right.
        what: String,
    },
    /// A request that no data can satisfy: sizes, fractions, names.
    #[error("{0}")]
    Invalid(String),
    /// A file is not where it was looked for; the text says how to get it.
    #[error("{0}")]
    Missing(String),
    /// A download failed; the text says what to fetch by hand and where to put it.
    #[error("{0}")]
    Fetch(String),
    /// The caller stopped the work; what was done so far is kept.
    #[error("interrupted")]
    Interrupted,
}

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An operating-system error about `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    /// A breach of format in the file `path`.
    pub fn format(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Format { path: path.as_ref().to_owned(), what: what.into() }
    }
}
