//! File operations that leave nothing half-done: atomic writes, locks. Each of them can be made to fail, see `faults`.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use tempfile::TempPath;

use crate::{Error, Result, faults};

/// The prefix of unfinished files.
const UNFINISHED: &str = ".unfinished-";

/// The environment variable with which the user says that no other process writes to the same folder.
pub const NO_LOCKS: &str = "MATNET_NO_LOCKS";

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
    file: BufWriter<File>,
    unfinished: TempPath,
}

impl AtomicFile {
    /// Starts a file beside its place.
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            // The new file would take the place of the device itself.
            Ok(meta) if !meta.is_file() => {
                return Err(Error::format(path, "is a device or a pipe; the name of a file expected"));
            }
            _ => {}
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
        faults::file().and_then(|()| fs::metadata(folder)).map_err(failed)?;
        let (file, unfinished) =
            builder.tempfile_in(folder).map_err(|error| failed(without_path(error)))?.into_parts();
        Ok(Self { path: path.to_owned(), file: BufWriter::with_capacity(1 << 16, file), unfinished })
    }

    /// Syncs it and renames it.
    pub fn finish(self) -> Result<()> {
        let Self { path, file, unfinished } = self;
        let failed = |error| Error::io(&path, error);
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        sync(&file, &path)?;
        faults::file().map_err(failed)?;
        unfinished.persist(&path).map_err(|error| failed(without_path(error.error)))?;
        sync_folder(folder_of(&path));
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_some(&mut self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes some bytes, as [`Write::write`] does.
pub fn write_some(file: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    let half = &bytes[..bytes.len() / 2];
    match faults::write() {
        // A disk that is full takes some of the bytes.
        Err(error) => file.write_all(half).and(Err(error)),
        Ok(true) if !half.is_empty() => file.write_all(half).map(|()| half.len()),
        Ok(_) => file.write(bytes),
    }
}

/// Opens a file that only one process may have open, and keeps others out until it is dropped. A new file is created; what stands in an
/// old one stays.
pub fn open_alone(path: &Path) -> Result<File, LockError> {
    open_locked(path, File::try_lock)
}

/// Opens a file that others may open in the same way, but not [alone](open_alone).
pub fn open_together(path: &Path) -> Result<File, LockError> {
    open_locked(path, File::try_lock_shared)
}

/// Whether the user does without locks: `MATNET_NO_LOCKS` is set, and not to 0.
pub fn without_locks() -> bool {
    std::env::var_os(NO_LOCKS).is_some_and(|value| !value.is_empty() && value != "0")
}

fn open_locked(path: &Path, lock: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<File, LockError> {
    let failed = |error| LockError::Failed(Error::io(path, error));
    // Whatever a link points at may be somebody else's.
    if path.is_symlink() {
        return Err(LockError::Failed(Error::format(path, "is a symbolic link; a file of its own expected")));
    }
    let file = faults::file()
        .and_then(|()| File::options().read(true).write(true).create(true).truncate(false).open(path));
    let file = file.map_err(failed)?;
    let locked = faults::file().map_err(TryLockError::Error).and_then(|()| lock(&file));
    match locked {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LockError::Taken),
        Err(TryLockError::Error(_)) if without_locks() => Ok(file),
        Err(TryLockError::Error(error)) => {
            let what = format!(
                "cannot be locked ({error}), and two processes could write here at once; choose a folder on a file system with \
                 locks, or set {NO_LOCKS}=1 if no other process writes here"
            );
            Err(LockError::Failed(Error::format(path, what)))
        }
    }
}

/// Why a file could not be opened alone.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it open.
    Taken,
    /// It cannot be opened or locked.
    Failed(Error),
}

/// Creates a folder and those that it is in, if they are not there.
pub fn create_folder(path: &Path) -> Result<()> {
    faults::file().and_then(|()| fs::create_dir_all(path)).map_err(|error| Error::io(path, error))
}

/// Renames a file within its folder.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    faults::file().and_then(|()| fs::rename(from, to)).map_err(|error| Error::io(from, error))
}

/// Syncs a file to disk, unless it is in a [`Scratch`] folder.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    let synced = || if Scratch::holds(path) { Ok(()) } else { file.sync_all() };
    faults::file().and_then(|()| synced()).map_err(|error| Error::io(path, error))
}

/// A folder that goes with the process. As long as this is there, its files do not wait for the disk, which takes longer than training a
/// small net (the row "60 matrices" of `python/tools/timing.py`).
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// The scratch folders of this process.
static SCRATCH: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

impl Scratch {
    /// Files are synced again once this is dropped.
    pub fn new(folder: &Path) -> Self {
        SCRATCH.write().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
        Self(folder.to_owned())
    }

    fn holds(path: &Path) -> bool {
        let folders = SCRATCH.read().unwrap_or_else(PoisonError::into_inner);
        folders.iter().any(|folder| path.starts_with(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut folders = SCRATCH.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = folders.iter().position(|folder| *folder == self.0) {
            folders.swap_remove(at);
        }
    }
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<()> {
    match faults::file().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File> {
    faults::file().and_then(|()| File::open(path)).map_err(|error| Error::io(path, error))
}

/// Creates a file, or empties it, for writing in place; [`write`](fn@write) is for files that others may see.
pub fn create(path: &Path) -> Result<File> {
    faults::file().and_then(|()| File::create(path)).map_err(|error| Error::io(path, error))
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    faults::file().and_then(|()| fs::read(path)).map_err(|error| Error::io(path, error))
}

/// The longest text that is read whole.
const MOST_TEXT: u64 = 64 << 20;

/// Reads a whole text, such as a config, which may come from a pipe; what has no end is an error.
pub fn read_text(path: &Path) -> Result<String> {
    let failed = |error| Error::io(path, error);
    let file = open(path)?;
    let mut text = String::new();
    file.take(MOST_TEXT + 1).read_to_string(&mut text).map_err(failed)?;
    match text.len() as u64 > MOST_TEXT {
        true => Err(Error::format(path, format!("has more than {} MiB; a config expected", MOST_TEXT >> 20))),
        false => Ok(text),
    }
}

/// Removes the unfinished files that a killed process left in a folder.
pub fn sweep(folder: &Path) {
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

/// What the operating system said; tempfile adds the name of a file that the user never asked for.
fn without_path(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|error| error.source()?.downcast_ref::<io::Error>());
    match source.unwrap_or(&error).raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}

/// Makes a rename in a folder survive a power failure, where the system supports it.
pub fn sync_folder(folder: &Path) {
    if Scratch::holds(folder) {
        return;
    }
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// What a file is: its number in the file system, its size, and when it and its description were changed last. Machines that share the file
/// see the same; a copy has a number and a time of its own, even if its contents and its date are the same.
#[cfg(unix)]
pub(crate) fn identity(meta: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let changed = [(meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec())];
    Some(format!("{} {} {changed:?}", meta.ino(), meta.size()))
}

#[cfg(not(unix))]
pub(crate) fn identity(_meta: &fs::Metadata) -> Option<String> {
    None
}

/// Fills a buffer from a place in a file, without moving the place of other reads.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, into: &mut [u8], from: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, from)
}

#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut into: &mut [u8], mut from: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, from)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                into = &mut into[read..];
                from += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
pub(crate) fn read_exact_at(_file: &File, _into: &mut [u8], _from: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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

    #[cfg(unix)]
    #[test]
    fn a_copy_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        fs::write(&one, b"the same").unwrap();
        fs::copy(&one, &other).unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let modified = fs::metadata(&one).unwrap().modified().unwrap();
        File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
        let of = |path: &Path| identity(&fs::metadata(path).unwrap()).unwrap();
        assert_eq!(of(&one), of(&link));
        assert_ne!(of(&one), of(&other));
        let before = of(&one);
        fs::write(&one, b"others").unwrap();
        assert_ne!(of(&one), before);
    }

    #[test]
    fn a_scratch_folder_is_one_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, beside) = (folder.path().join("run/best"), folder.path().join("run2/best"));
        let held = [(); 2].map(|()| Scratch::new(&folder.path().join("run")));
        assert!(Scratch::holds(&inside) && !Scratch::holds(&beside) && !Scratch::holds(folder.path()));
        let [first, second] = held;
        drop(first);
        assert!(Scratch::holds(&inside));
        drop(second);
        assert!(!Scratch::holds(&inside));
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
