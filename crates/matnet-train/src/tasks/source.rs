//! `data.source`: a dataset of the catalog, or else a file or folder.

use matnet_data::catalog::{self, Cache, LoadOptions};
use matnet_data::local::{self, ReadOptions};
use matnet_data::{Contents, Dataset, memory};

use crate::config::suggestion;
use crate::ranks::Ranks;
use crate::{Error, Result};

/// The environment variable that says how large data must be, in bytes, to stay in their files.
const STREAM_ABOVE: &str = "MATNET_STREAM_ABOVE";
/// Without it: this share of the memory that is available.
const SHARE: u64 = 4;

/// Data that every rank loads, in bytes: to read a sample at a time would cost more than it saves.
const SMALL: u64 = 1 << 20;

/// Where data are that could stay in their files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In memory.
    Memory,
    /// In their files: they would fit into memory, but each of several ranks needs a part of them.
    Shared,
    /// In their files: they would not fit into memory.
    File,
}

/// Where data of so many bytes are.
pub fn place(bytes: u64, ranks: &Ranks) -> Result<Place> {
    let limit = limit()?;
    let most = limit.or_else(|| memory::available().map(|available| available / SHARE));
    Ok(match most.is_none_or(|most| bytes <= most) {
        false => Place::File,
        true if limit.is_some() || ranks.is_alone() || bytes <= SMALL => Place::Memory,
        true => Place::Shared,
    })
}

/// The limit that the user has set.
fn limit() -> Result<Option<u64>> {
    let Ok(text) = std::env::var(STREAM_ABOVE) else { return Ok(None) };
    let wrong = |_| Error::Mismatch(format!("{STREAM_ABOVE}={text}; a number of bytes expected"));
    text.trim().parse().map(Some).map_err(wrong)
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

/// Whether a source is a dataset or a file.
pub fn exists(source: &str, cache: &Cache) -> bool {
    let in_memory = cache.arrays(source).is_some() || cache.stories(source).is_some();
    in_memory || catalog::get(source).is_ok() || local::exists(source)
}

/// The error for a source that is neither a dataset nor a file.
pub fn not_found(source: &str) -> Error {
    let names: Vec<String> = catalog::all().iter().map(|dataset| dataset.name.to_owned()).collect();
    let hint = suggestion(source, &names);
    let error = matnet_data::Error::Unknown { name: source.to_owned(), hint };
    Error::DataKey { key: "data.source", error }
}

/// The error for a source that holds another kind of data.
pub fn wrong_contents(source: &str, expected: &str) -> Error {
    let what = format!("`{source}` holds no {expected}, which is what this kind of net takes");
    Error::data_key("data.source", what)
}
