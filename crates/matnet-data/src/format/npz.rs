//! NumPy's `.npz`: a zip of `.npy` members.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::format::archive;
use crate::format::npy;
use crate::format::raw::RawArray;
use crate::{Error, Result};

/// The maximum number of arrays.
const MOST_ARRAYS: usize = 1024;

/// The arrays of an `.npz`, by name.
#[derive(Clone, Debug)]
pub struct Npz {
    path: PathBuf,
    arrays: Vec<(String, RawArray)>,
}

/// Reads all arrays of an `.npz` file.
pub fn read(path: impl AsRef<Path>) -> Result<Npz> {
    let path = path.as_ref();
    let mut npz = Npz { path: path.to_owned(), arrays: Vec::new() };
    archive::each(path, &mut |entry| npz.add(entry))?;
    Ok(npz)
}

/// Reads all arrays but one, which may be large.
pub(crate) fn read_but(path: &Path, but: &str) -> Result<Npz> {
    let mut npz = Npz { path: path.to_owned(), arrays: Vec::new() };
    archive::each(path, &mut |entry| match entry.name.strip_suffix(".npy") == Some(but) {
        true => Ok(()),
        false => npz.add(entry),
    })?;
    Ok(npz)
}

/// Reads a folder of `.npy` files as if they were the members of an `.npz`, all but those called `but`.
pub fn read_folder(folder: impl AsRef<Path>, names: &[String], but: &str) -> Result<Npz> {
    let path = folder.as_ref();
    let mut npz = Npz { path: path.to_owned(), arrays: Vec::new() };
    for key in names.iter().filter(|name| *name != but) {
        npz.arrays.push((key.clone(), npy::read(path.join(format!("{key}.npy")))?));
    }
    Ok(npz)
}

/// Reads all arrays of an `.npz` in memory.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Npz> {
    let name = name.as_ref();
    if !bytes.starts_with(b"PK") {
        return Err(Error::format(name, "is not .npz: it is not a zip archive"));
    }
    let mut npz = Npz { path: name.to_owned(), arrays: Vec::new() };
    archive::each_bytes(name, bytes, &mut |entry| npz.add(entry))?;
    Ok(npz)
}

impl Npz {
    /// No arrays yet; `name` stands for the file in errors.
    pub fn new(name: impl Into<PathBuf>) -> Self {
        Self { path: name.into(), arrays: Vec::new() }
    }

    /// The file, or what stands for it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an array, or replaces the one of that name.
    pub fn insert(&mut self, key: &str, array: RawArray) {
        self.arrays.retain(|(name, _)| name != key);
        self.arrays.push((key.to_owned(), array));
    }

    fn add(&mut self, entry: archive::ArchiveEntry) -> Result<()> {
        let Some(key) = entry.name.strip_suffix(".npy") else {
            let what = format!("member {:?} is not an .npy", entry.name);
            return Err(Error::format(&self.path, what));
        };
        if self.arrays.len() == MOST_ARRAYS {
            return Err(Error::format(&self.path, format!("holds more than {MOST_ARRAYS} arrays")));
        }
        if self.arrays.iter().any(|(name, _)| name == key) {
            return Err(Error::format(&self.path, format!("array {key:?} occurs twice")));
        }
        self.arrays.push((key.to_owned(), npy::parse(entry.input)?));
        Ok(())
    }

    /// The names of the arrays, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// The array called `key`.
    pub fn get(&self, key: &str) -> Option<&RawArray> {
        self.arrays.iter().find(|(name, _)| name == key).map(|(_, raw)| raw)
    }

    /// Removes and returns the array called `key`; the error lists those there are.
    pub fn take(&mut self, key: &str) -> Result<RawArray> {
        match self.arrays.iter().position(|(name, _)| name == key) {
            Some(at) => Ok(self.arrays.swap_remove(at).1),
            None => {
                let there: Vec<_> = self.names().collect();
                let what = format!("no array {key:?}; there are: {}", there.join(", "));
                Err(Error::format(&self.path, what))
            }
        }
    }

    /// The name of an array in errors: the file, then the array.
    pub fn name_of(&self, key: &str) -> PathBuf {
        self.path.join(key)
    }
}

/// Writes an `.npz`, member by member, without compression.
pub struct NpzWriter<W: Write> {
    zip: rawzip::ZipArchiveWriter<W>,
}

impl<W: Write> NpzWriter<W> {
    /// Starts an `.npz` in `out`.
    pub fn new(out: W) -> Self {
        Self { zip: rawzip::ZipArchiveWriter::new(out) }
    }

    /// Adds an array; `write` writes the whole `.npy`.
    pub fn add(&mut self, key: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let name = format!("{key}.npy");
        let start = self.zip.new_file(name.as_str()).compression_method(rawzip::CompressionMethod::STORE);
        let (mut entry, config) = start.start().map_err(io::Error::other)?;
        let mut writer = config.wrap(&mut entry);
        write(&mut writer)?;
        let (_, descriptor) = writer.finish().map_err(io::Error::other)?;
        entry.finish(descriptor).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the central directory and returns the output.
    pub fn finish(self) -> io::Result<W> {
        self.zip.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_survive_the_round_trip_and_errors_list_the_keys() {
        let mut writer = NpzWriter::new(Vec::new());
        writer.add("x", |out| npy::write_f32(&mut { out }, &[2], &[1.0, 2.0])).unwrap();
        writer.add("y", |out| npy::write_f32(&mut { out }, &[1], &[3.0])).unwrap();
        let file = writer.finish().unwrap();
        let mut npz = parse("t.npz", &file).unwrap();
        assert_eq!(npz.names().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(npz.take("x").unwrap().shape(), [2]);
        assert_eq!(npz.take("z").unwrap_err().to_string(), "t.npz: no array \"z\"; there are: y");
    }
}
