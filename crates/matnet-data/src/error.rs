//! The error type of this crate. Messages say what is wrong, where, and what is expected.

use std::path::{Path, PathBuf};

/// An error while locating, fetching, reading or preparing data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {}", path.display(), describe(source))]
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
    /// A name that is neither a dataset nor a file.
    #[error("`{name}` is neither a dataset nor a file; {hint}")]
    Unknown {
        /// The name.
        name: String,
        /// What there is.
        hint: String,
    },
    /// There is not enough memory.
    #[error("{what}: not enough memory for {} MiB more", bytes.div_ceil(1 << 20))]
    Memory {
        /// The file, or what else needs it.
        what: String,
        /// How much could not be had, in bytes.
        bytes: u64,
    },
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

/// What the operating system said, in words that name the cause.
pub fn describe(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match (error.raw_os_error(), error.kind()) {
        (Some(_), ErrorKind::StorageFull) => "no space left on the disk".to_owned(),
        (Some(_), ErrorKind::QuotaExceeded) => "the disk quota is used up".to_owned(),
        (Some(_), ErrorKind::FileTooLarge) => {
            "grows larger than `ulimit -f` or the file system allows".to_owned()
        }
        (_, ErrorKind::OutOfMemory) => "not enough memory to read it".to_owned(),
        // The number says nothing to anybody who does not know it by heart.
        (Some(code), _) => error.to_string().replace(&format!(" (os error {code})"), ""),
        _ => error.to_string(),
    }
}

/// A count with its noun: `1 channel`, `2 channels`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
