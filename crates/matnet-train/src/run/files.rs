//! The atomic file operations of `matnet-data`, with the errors of this crate.

use std::path::Path;

use matnet_data::files;

use crate::{Error, Result};

/// Writes a file atomically: whatever happens, either all old bytes or all new ones stand under its name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(files::write(path, bytes)?)
}

/// Renames a file within its folder.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    Ok(files::rename(from, to)?)
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    Ok(files::remove(path)?)
}

/// Reads a whole text; `None` if the file is not there.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>> {
    match files::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| Error::damaged(path, "damaged: it is not UTF-8"))
        }
        Err(matnet_data::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    Ok(files::read(path)?)
}
