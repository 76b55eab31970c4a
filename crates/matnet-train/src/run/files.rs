//! Atomic file writes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::faults;
use crate::{Error, Result};

/// The prefix of unfinished files.
const UNFINISHED: &str = ".unfinished-";

/// Writes a file atomically: beside its place, synced, then renamed. Whatever happens, either all old bytes or all new
/// ones stand under its name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| Error::io(path, error))?;
    file.finish()
}

/// A file that gets its name only when it is finished; dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file beside its place.
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any file the user makes, the umask taken off.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = folder_of(path);
        faults::check().and_then(|()| fs::metadata(folder)).map_err(failed)?;
        // What tempfile says names a file that the user never asked for.
        let file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Syncs it and renames it.
    pub fn finish(self) -> Result<()> {
        let Self { path, file } = self;
        let failed = |error| Error::io(&path, error);
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        faults::check().and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        faults::check().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        sync_folder(folder_of(&path));
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = faults::check() {
            // A disk that is full takes some of the bytes.
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Renames a file within its folder.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    faults::check().and_then(|()| fs::rename(from, to)).map_err(|error| Error::io(from, error))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match faults::check().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    faults::check().and_then(|()| fs::read(path)).map_err(|error| Error::io(path, error))
}

/// Removes the unfinished files that a killed process left in a folder.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // One that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Makes a rename survive a power failure, where the system supports it.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_when_the_new_one_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        write(&path, b"old").unwrap();
        let missing = folder.path().join("no such folder").join("x");
        assert!(write(&missing, b"new").is_err());
        assert_eq!(read(&path).unwrap(), b"old");
        write(&path, b"new").unwrap();
        assert_eq!(read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(AtomicFile::create(folder.path()).is_err());
    }

    #[test]
    fn leftovers_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".unfinished-abc"), b"half").unwrap();
        fs::write(folder.path().join("mine"), b"whole").unwrap();
        sweep(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
