//! The hidden folder in which a graph is packed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result, faults, files};

/// Removed before the folder gets its name.
pub(super) const LOCK: &str = ".lock";
/// What is not part of the result.
pub(super) const SCRATCH: &str = "scratch";

/// The folder that is written to, and its lock.
pub(super) struct Work {
    pub folder: PathBuf,
    lock: Option<fs::File>,
}

impl Work {
    pub fn begin(folder: PathBuf, out: &Path) -> Result<Self> {
        // Everything in it will be removed, and what a link points at may be somebody else's.
        if folder.is_symlink() {
            return Err(Error::format(folder, "is a symbolic link; a folder of its own expected"));
        }
        files::create_folder(&folder)?;
        let lock = match files::open_alone(&folder.join(LOCK)) {
            Ok(lock) => lock,
            Err(files::LockError::Taken) => {
                return Err(Error::format(out, "another process is packing a graph there"));
            }
            Err(files::LockError::Failed(error)) => return Err(error),
        };
        let work = Self { folder, lock: Some(lock) };
        for entry in fs::read_dir(&work.folder).map_err(|error| Error::io(&work.folder, error))? {
            let path = entry.map_err(|error| Error::io(&work.folder, error))?.path();
            let gone = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false if path.ends_with(LOCK) => Ok(()),
                false => fs::remove_file(&path),
            };
            gone.map_err(|error| Error::io(&path, error))?;
        }
        let scratch = work.folder.join(SCRATCH);
        faults::file().and_then(|()| fs::create_dir(&scratch)).map_err(|error| Error::io(&scratch, error))?;
        Ok(work)
    }

    /// Gives a graph its name back, if a process was killed while another one was taking its place.
    pub fn restore(folder: &Path, out: &Path) -> Result<()> {
        let old = old(folder);
        match !out.exists() && old.is_dir() {
            true => files::rename(&old, out),
            false => Ok(()),
        }
    }

    /// Gives the folder its name.
    pub fn finish(mut self, out: &Path) -> Result<()> {
        let scratch = self.folder.join(SCRATCH);
        fs::remove_dir_all(&scratch).map_err(|error| Error::io(&scratch, error))?;
        files::sync_folder(&self.folder);
        files::remove(&self.folder.join(LOCK))?;
        if out.exists() {
            // Only a whole graph takes the place of another one; between the two steps there is none, but never half of one.
            let old = old(&self.folder);
            let _ = fs::remove_dir_all(&old);
            files::rename(out, &old)?;
            if let Err(error) = files::rename(&self.folder, out) {
                files::rename(&old, out)?;
                return Err(error);
            }
            let _ = fs::remove_dir_all(&old);
        } else {
            files::rename(&self.folder, out)?;
        }
        files::sync_folder(out.parent().unwrap_or(Path::new(".")));
        self.lock = None;
        Ok(())
    }
}

/// What a graph is called while another one takes its place.
fn old(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

impl Drop for Work {
    fn drop(&mut self) {
        // Renamed, if all went well.
        if self.lock.take().is_some() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
