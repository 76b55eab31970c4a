//! Datasets with a name: what they are, where they come from, how to tell that a file is the right one, and how to load them.
//!
//! [`load`] goes from a name to a [`Dataset`](crate::Dataset); [`fetch`] downloads its files into a [`Cache`]; [`all`] and [`get`]
//! give the entries themselves.

mod cache;
mod check;
mod download;
mod entries;
mod fetch;
mod load;
mod moving;
mod options;
pub mod readers;

use std::sync::LazyLock;

pub use cache::{CACHE_VARIABLE, Cache, Located};
pub use check::{Check, Verdict};
pub use download::FetchOptions;
pub use fetch::{FetchProgress, OnProgress, fetch, fetch_file};
pub use load::load;
pub use moving::MovingSequences;
pub use options::LoadOptions;

use crate::{Error, Result};

/// A dataset that the catalog knows.
#[derive(Clone, Debug)]
pub struct DatasetInfo {
    /// Its name.
    pub name: &'static str,
    /// Its contents, in one line.
    pub about: &'static str,
    /// Its publisher.
    pub home: &'static str,
    /// Its licence, as far as one is stated.
    pub terms: &'static str,
    /// Where the data come from.
    pub origin: Origin,
    /// The dataset it can be computed from when its own files are absent.
    pub derived_from: Option<&'static str>,
    /// The folder in the cache that holds its files.
    pub folder: &'static str,
    /// Sets of files, any of which holds the whole dataset. A fetch downloads the first; the others are used if they are there.
    pub variants: Vec<Vec<DatasetFile>>,
    /// Folders in `folder`, any of which also does: the dataset as its own archive unpacks. They are not checked.
    pub unpacked: &'static [&'static str],
    /// The file in the `data` folder of matnet's repository that holds the dataset.
    pub repository_file: Option<DatasetFile>,
    /// Whether its reader needs the cargo feature `research-formats`.
    pub research: bool,
}

/// Where the data of a dataset come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// They are part of this library.
    BuiltIn,
    /// They are computed from a seed. Where files are known too, those are used if they are there.
    Generated,
    /// A file in a clone of matnet's repository, found at run time; the published crate does not contain it.
    Repository,
    /// Files that are downloaded into the cache.
    Download,
}

/// One file of a dataset.
#[derive(Clone, Debug)]
pub struct DatasetFile {
    /// The file name.
    pub name: String,
    /// Where it can be downloaded, in the order to try.
    pub urls: Vec<String>,
    /// How to verify it: it must pass one of these.
    pub checks: Vec<Check>,
    /// A larger download is aborted.
    pub max_bytes: u64,
}

impl DatasetInfo {
    /// The files that a fetch downloads.
    pub fn files(&self) -> &[DatasetFile] {
        self.variants.first().map_or(&[], Vec::as_slice)
    }

    /// Fails unless the reader of this dataset is part of this build.
    fn require_reader(&self) -> Result<()> {
        if self.research && !cfg!(feature = "research-formats") {
            let what = "its reader is not part of this build; build matnet-data with the cargo feature `research-formats`";
            return Err(Error::Invalid(format!("{}: {what}", self.name)));
        }
        Ok(())
    }
}

/// All datasets; those that need no download come first.
pub fn all() -> &'static [DatasetInfo] {
    static ALL: LazyLock<Vec<DatasetInfo>> = LazyLock::new(entries::all);
    &ALL
}

/// The dataset called `name`, as `japanese-vowels` or as its publisher writes it, `JapaneseVowels`; the error suggests the nearest name.
pub fn get(name: &str) -> Result<&'static DatasetInfo> {
    let wanted = name.to_ascii_lowercase().replace('_', "-");
    let same = |known: &str| known.bytes().filter(|&b| b != b'-').eq(wanted.bytes().filter(|&b| b != b'-'));
    all().iter().find(|dataset| same(dataset.name)).ok_or_else(|| {
        let nearest = all().iter().map(|dataset| dataset.name).min_by_key(|known| distance(known, &wanted));
        let hint = nearest.filter(|known| distance(known, &wanted) <= known.len() / 2);
        let hint = hint.map(|known| format!(", did you mean `{known}`?")).unwrap_or_default();
        Error::Invalid(format!("no dataset is called `{name}`{hint}"))
    })
}

/// The Levenshtein distance of two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(100).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let best = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_found_and_near_misses_suggested() {
        assert_eq!(get("mnist").unwrap().name, "mnist");
        assert_eq!(get("Frey_Face").unwrap().name, "frey-face");
        assert_eq!(get("JapaneseVowels").unwrap().name, "japanese-vowels");
        assert_eq!(get("ETTh1").unwrap().name, "etth1");
        let message = |name| get(name).unwrap_err().to_string();
        assert_eq!(message("minst"), "no dataset is called `minst`, did you mean `mnist`?");
        assert_eq!(message("qqqqqqqqqqqqqq"), "no dataset is called `qqqqqqqqqqqqqq`");
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn entries_are_complete() {
        let names: BTreeSet<_> = all().iter().map(|dataset| dataset.name).collect();
        assert_eq!(names.len(), all().len(), "a name is used twice");
        for dataset in all() {
            assert!(!dataset.about.is_empty() && !dataset.terms.is_empty() && !dataset.home.is_empty());
            let has_files = !dataset.variants.is_empty();
            match dataset.origin {
                Origin::BuiltIn => assert!(!has_files && dataset.repository_file.is_none()),
                Origin::Generated => assert!(dataset.repository_file.is_none()),
                Origin::Repository => assert!(dataset.repository_file.is_some()),
                Origin::Download => assert!(has_files),
            }
            assert_eq!(has_files, !dataset.folder.is_empty(), "{}", dataset.name);
            assert!(dataset.derived_from.is_none_or(|name| get(name).is_ok()));
            for file in dataset.files() {
                assert!(!file.urls.is_empty(), "{}: {} has no address", dataset.name, file.name);
                assert!(!file.checks.is_empty(), "{}: {} has no check", dataset.name, file.name);
                assert!(file.urls.iter().all(|url| url.starts_with("http")));
                assert!(!file.name.contains(['/', '\\']));
            }
        }
    }
}
