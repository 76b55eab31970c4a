//! A folder of `.npy` files with the names of the arrays in an `.npz`: samples that may be larger than memory.

use std::path::Path;

use super::npz::{described, lengths, refuse_stored_padding, samples};
use super::{ReadOptions, check_shape, columnar, table};
use crate::format::npz::{Npz, read_but, read_folder};
use crate::{Dataset, Error, Result, Samples, StoredArray, Target};

/// The files that such a folder may have beside `x.npy`.
const NAMES: [&str; 9] =
    ["y", "length", "weight", "group", "train", "valid", "test", "classes", "target_names"];

/// The names of the arrays in a folder of them; `None` if it is another folder. One `x.npy` alone is a sample.
pub(super) fn names(folder: &Path) -> Result<Option<Vec<String>>> {
    if !folder.join("x.npy").is_file() {
        return Ok(None);
    }
    let (mut names, mut others) = (Vec::new(), false);
    for entry in std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))? {
        let name = entry.map_err(|error| Error::io(folder, error))?.file_name();
        let name = name.to_string_lossy().into_owned();
        match name.strip_suffix(".npy") {
            _ if name.starts_with('.') => {}
            Some(key) if key == "x" || NAMES.contains(&key) => names.push(key.to_owned()),
            _ => others = true,
        }
    }
    names.sort();
    Ok((names.len() > 1 && !others).then_some(names))
}

/// All of it in memory.
pub(super) fn load(folder: &Path, names: &[String], options: &ReadOptions) -> Result<Dataset> {
    samples(read_folder(folder, names, "")?, folder, options)
}

/// All but the inputs, and the lengths of sequences.
pub(super) fn beside(folder: &Path, names: &[String], shape: &[usize]) -> Result<(Npz, Vec<usize>)> {
    let mut npz = read_folder(folder, names, "x")?;
    let lengths = lengths(&mut npz, folder, shape)?;
    Ok((npz, lengths))
}

/// The samples of an `.npy`, of an `.npz` or a folder of arrays, or of Parquet files, whose inputs stay in their file, with remarks for the
/// user. `None` if the path is something else, or must be read as a whole: compressed (but for Parquet), or in Fortran order.
///
/// What follows the last step of a sequence may be anything but zero here: the reader of [`Samples::inputs`] has to ignore it.
pub fn open_stored(
    path: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Option<(Samples<StoredArray>, Vec<String>)>> {
    let path = path.as_ref();
    if !columnar::shards(path)?.is_empty() {
        return table::open_stored(path, options);
    }
    if path.is_file() && path.extension().is_some_and(|end| end == "npz") {
        return open_stored_npz(path, options);
    }
    let found = if path.is_dir() { names(path)? } else { None };
    let file = match &found {
        Some(_) => path.join("x.npy"),
        None if path.is_file() && path.extension().is_some_and(|end| end == "npy") => path.to_owned(),
        None => return Ok(None),
    };
    let Some(inputs) = StoredArray::open(&file)? else { return Ok(None) };
    let shape = inputs.shape().to_vec();
    check_shape(&shape, &file)?;
    let Some(names) = found else {
        options.allow(path, "an .npy", &[])?;
        return Ok(Some((Samples::new(inputs, Target::None), Vec::new())));
    };
    options.allow(path, "a folder of arrays", &["target"])?;
    let (npz, lengths) = beside(path, &names, &shape)?;
    if options.lengths_differ && !names.iter().any(|name| name == "length") {
        refuse_stored_padding(&inputs, path)?;
    }
    described(npz, path, options, inputs, &shape, lengths).map(Some)
}

/// An `.npz` whose `x` is not compressed.
fn open_stored_npz(
    path: &Path,
    options: &ReadOptions,
) -> Result<Option<(Samples<StoredArray>, Vec<String>)>> {
    let Some(inputs) = StoredArray::open_member(path, "x")? else { return Ok(None) };
    let shape = inputs.shape().to_vec();
    if options.long_table && shape.len() == 2 {
        return Ok(None);
    }
    check_shape(&shape, &path.join("x"))?;
    options.allow(path, "an .npz", &["target"])?;
    let mut npz = read_but(path, "x")?;
    if options.lengths_differ && npz.get("length").is_none() {
        refuse_stored_padding(&inputs, path)?;
    }
    let lengths = lengths(&mut npz, path, &shape)?;
    described(npz, path, options, inputs, &shape, lengths).map(Some)
}
