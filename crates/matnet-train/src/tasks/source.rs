//! `data.source`: a dataset of the catalog, or else a file or folder.

use matnet_data::catalog::{self, Cache, LoadOptions};
use matnet_data::local::{self, ReadOptions};
use matnet_data::{Contents, Dataset, memory};

use crate::config::suggestion;
use crate::{Error, Result};

/// The environment variable that says how large data must be, in bytes, to stay in their files.
const STREAM_ABOVE: &str = "MATNET_STREAM_ABOVE";
/// Without it: this share of the memory that is available.
const SHARE: u64 = 4;

/// Whether data of so many bytes stay in their files.
pub fn stays_in_file(bytes: u64) -> Result<bool> {
    match std::env::var(STREAM_ABOVE) {
        Ok(text) => match text.trim().parse::<u64>() {
            Ok(limit) => Ok(bytes > limit),
            Err(_) => Err(Error::Mismatch(format!("{STREAM_ABOVE}={text}; a number of bytes expected"))),
        },
        Err(_) => Ok(memory::available().is_some_and(|available| bytes > available / SHARE)),
    }
}

/// Loads what a source names: arrays or stories in memory, a dataset, or a file; `None` if it is neither a dataset nor a file.
pub fn open(
    source: &str,
    cache: &Cache,
    options: LoadOptions,
    read: &ReadOptions,
) -> Result<Option<Dataset>> {
    if let Some(arrays) = cache.arrays(source) {
        return Ok(Some(local::load_arrays(arrays.clone(), read)?));
    }
    if let Some(stories) = cache.stories(source) {
        return Ok(Some(Dataset { contents: Contents::Stories(stories.clone()), notes: Vec::new() }));
    }
    if catalog::get(source).is_ok() {
        return Ok(Some(catalog::load(source, cache, options)?));
    }
    match local::exists(source) {
        true => Ok(Some(local::load_with(source, read)?)),
        false => Ok(None),
    }
}

/// The error for a source that is neither a dataset nor a file.
pub fn not_found(source: &str) -> Error {
    let names: Vec<String> = catalog::all().iter().map(|dataset| dataset.name.to_owned()).collect();
    let hint = suggestion(source, &names);
    Error::data_key("data.source", format!("`{source}` is neither a dataset nor a file; {hint}"))
}

/// The error for a source that holds another kind of data.
pub fn wrong_contents(source: &str, expected: &str) -> Error {
    let what = format!("`{source}` holds no {expected}, which is what this kind of net takes");
    Error::data_key("data.source", what)
}
