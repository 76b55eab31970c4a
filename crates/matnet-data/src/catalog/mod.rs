//! The datasets known by name: what they are, where they live, and how to tell that a file is the right one.

mod entries;

use std::sync::LazyLock;

pub use crate::check::Check;
use crate::{Error, Result};

/// A dataset with a name.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What to call it.
    pub name: &'static str,
    /// What it holds, in a line.
    pub about: &'static str,
    /// Who publishes it.
    pub home: &'static str,
    /// Under which terms, as far as they are stated.
    pub terms: &'static str,
    /// Where its numbers come from.
    pub source: Source,
}

/// Where the numbers of a dataset come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// They are part of this library.
    BuiltIn,
    /// They are files in a folder of the cache.
    Files {
        /// The folder below the cache.
        folder: &'static str,
        /// Sets of files, any of which holds the whole dataset. The first is what a fetch downloads; the others
        /// are used where someone has put them.
        variants: Vec<Vec<File>>,
        /// Folders below it, any of which also does: the dataset as its own archive unpacks. These are not checked.
        unpacked: &'static [&'static str],
        /// Whether the dataset can do without its files (it is computed, say).
        optional: bool,
    },
}

/// One file of a dataset.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name in the cache.
    pub name: String,
    /// Where it can be downloaded, the best first.
    pub urls: Vec<String>,
    /// How to tell it is right: it must pass one of these.
    pub checks: Vec<Check>,
    /// A download larger than this is given up.
    pub most_bytes: u64,
}

impl Dataset {
    /// The files a fetch downloads.
    pub fn files(&self) -> &[File] {
        match &self.source {
            Source::BuiltIn => &[],
            Source::Files { variants, .. } => variants.first().map_or(&[], Vec::as_slice),
        }
    }
}

/// All datasets, those that need no download first.
pub fn all() -> &'static [Dataset] {
    static ALL: LazyLock<Vec<Dataset>> = LazyLock::new(entries::all);
    &ALL
}

/// The dataset called `name`; the error names the nearest one.
pub fn get(name: &str) -> Result<&'static Dataset> {
    let wanted = name.to_ascii_lowercase().replace('_', "-");
    all().iter().find(|dataset| dataset.name == wanted).ok_or_else(|| {
        let nearest = all().iter().map(|dataset| dataset.name).min_by_key(|known| distance(known, &wanted));
        let hint = nearest.filter(|known| distance(known, &wanted) <= known.len() / 2);
        let hint = hint.map(|known| format!(", did you mean `{known}`?")).unwrap_or_default();
        Error::Invalid(format!("no dataset is called `{name}`{hint}"))
    })
}

/// How many letters must be added, dropped or changed to turn one word into the other.
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
    fn names_are_found_and_near_misses_named() {
        assert_eq!(get("mnist").unwrap().name, "mnist");
        assert_eq!(get("Frey_Face").unwrap().name, "frey-face");
        let message = |name| get(name).unwrap_err().to_string();
        assert_eq!(message("minst"), "no dataset is called `minst`, did you mean `mnist`?");
        assert_eq!(message("qqqqqqqqqqqqqq"), "no dataset is called `qqqqqqqqqqqqqq`");
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn entries_are_complete() {
        let names: BTreeSet<_> = all().iter().map(|dataset| dataset.name).collect();
        assert_eq!(names.len(), all().len(), "a name stands twice");
        for dataset in all() {
            assert!(!dataset.about.is_empty() && !dataset.terms.is_empty() && !dataset.home.is_empty());
            for file in dataset.files() {
                assert!(!file.urls.is_empty(), "{}: {} has no address", dataset.name, file.name);
                assert!(!file.checks.is_empty(), "{}: {} has no check", dataset.name, file.name);
                assert!(file.urls.iter().all(|url| url.starts_with("http")));
                assert!(!file.name.contains(['/', '\\']));
            }
        }
    }
}
