//! Where downloaded files are kept, and what is there.
//!
//! A cache is a folder with one folder per dataset: `CACHE/mnist/train-images-idx3-ubyte.gz`. Files that were put
//! there by hand are as good as downloaded ones, once they pass the same checks.

use std::path::{Path, PathBuf};

use crate::catalog::{Dataset, File, Source};
use crate::check;
pub use crate::check::Verdict;
use crate::{Error, Result};

/// The environment variable that names the cache folder.
pub const VARIABLE: &str = "MATNET_DATA";

/// Files that end so hold checksums of their content.
const PACKED: [&str; 4] = [".gz", ".tgz", ".zip", ".npz"];

/// A folder of downloaded files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// A dataset's files, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The folder they are in.
    pub folder: PathBuf,
    /// The files, in the catalogue's order, or the one folder they were unpacked to.
    pub files: Vec<PathBuf>,
}

impl Cache {
    /// The cache in the folder `root`, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The cache to use when nobody says which: `MATNET_DATA`, or the platform's folder for such things.
    pub fn standard() -> Result<Self> {
        if let Some(root) = std::env::var_os(VARIABLE).filter(|root| !root.is_empty()) {
            return Ok(Self::new(root));
        }
        match dirs::cache_dir() {
            Some(root) => Ok(Self::new(root.join("matnet"))),
            None => Err(Error::Missing(format!("no cache folder is known here: set {VARIABLE} to a folder"))),
        }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the files of `dataset` belong.
    pub fn folder(&self, dataset: &Dataset) -> PathBuf {
        match &dataset.source {
            Source::BuiltIn => self.root.clone(),
            Source::Files { folder, .. } => self.root.join(folder),
        }
    }

    /// Where `file` of `dataset` belongs.
    pub fn path(&self, dataset: &Dataset, file: &File) -> PathBuf {
        self.folder(dataset).join(&file.name)
    }

    /// The first variant of `dataset` whose files are all there, if one is.
    pub fn locate(&self, dataset: &Dataset) -> Option<Located> {
        self.find(dataset).map(|(located, _)| located)
    }

    /// As [`Cache::locate`], with what the catalogue knows of the files; nothing is known of unpacked ones.
    fn find<'d>(&self, dataset: &'d Dataset) -> Option<(Located, &'d [File])> {
        let Source::Files { variants, unpacked, .. } = &dataset.source else { return None };
        let folder = self.folder(dataset);
        let whole = |files: &'d Vec<File>| {
            let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
            paths.iter().all(|path| path.is_file()).then_some((paths, files.as_slice()))
        };
        let unpacked = || {
            let found = unpacked.iter().map(|name| folder.join(name)).find(|path| path.is_dir());
            found.map(|path| (vec![path], &[][..]))
        };
        let (files, known) = variants.iter().find_map(whole).or_else(unpacked)?;
        Some((Located { folder, files }, known))
    }

    /// As [`Cache::locate`], with an error that says how to get what is missing.
    ///
    /// Packed files carry checksums of their own, which reading them tests; the others are checked here.
    pub fn require(&self, dataset: &Dataset) -> Result<Located> {
        let Some((located, known)) = self.find(dataset) else { return Err(self.missing(dataset)) };
        for (path, file) in located.files.iter().zip(known) {
            if PACKED.iter().any(|end| file.name.ends_with(end)) {
                continue;
            }
            if let Verdict::Wrong(what) = check::run(&file.checks, path, &check::record_of(path))? {
                return Err(Error::format(path, format!("{what}; remove it and fetch again")));
            }
        }
        Ok(located)
    }

    fn missing(&self, dataset: &Dataset) -> Error {
        let missing = dataset.files().iter().filter(|file| !self.path(dataset, file).is_file());
        Error::Missing(format!(
            "{} is not in {}: run `matnet data fetch {}`, or by hand:\n{}",
            dataset.name,
            self.root.display(),
            dataset.name,
            by_hand(missing, &self.folder(dataset))
        ))
    }

    /// Checks every file of `dataset` that is there, of any variant.
    pub fn verify(&self, dataset: &Dataset) -> Result<Vec<(PathBuf, Verdict)>> {
        let Source::Files { variants, .. } = &dataset.source else { return Ok(Vec::new()) };
        let mut verdicts = Vec::new();
        for file in variants.iter().flatten() {
            let path = self.path(dataset, file);
            if path.is_file() {
                let verdict = check::run(&file.checks, &path, &check::record_of(&path))?;
                verdicts.push((path, verdict));
            }
        }
        Ok(verdicts)
    }
}

/// What to download from where, and where to put it.
pub(crate) fn by_hand<'a>(files: impl Iterator<Item = &'a File>, folder: &Path) -> String {
    let mut text = String::new();
    for file in files {
        text += &format!("  download {}\n", file.urls.join("\n        or "));
        text += &format!("  and put it at {}\n", folder.join(&file.name).display());
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn what_is_missing_is_said_with_its_address_and_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let error = cache.require(catalog::get("frey-face").unwrap()).unwrap_err().to_string();
        let root = folder.path().display();
        let separator = std::path::MAIN_SEPARATOR;
        assert_eq!(
            error,
            format!(
                "frey-face is not in {root}: run `matnet data fetch frey-face`, or by hand:\n  \
                 download https://cs.nyu.edu/~roweis/data/frey_rawface.mat\n        \
                 or http://www.cs.nyu.edu/~roweis/data/frey_rawface.mat\n  \
                 and put it at {root}{separator}frey-face{separator}frey_rawface.mat"
            )
        );
    }

    #[test]
    fn a_wrong_file_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let faces = catalog::get("frey-face").unwrap();
        let path = cache.path(faces, &faces.files()[0]);
        std::fs::create_dir_all(cache.folder(faces)).unwrap();
        std::fs::write(&path, "<html>").unwrap();
        let error = cache.require(faces).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.ends_with("; remove it and fetch again"), "{error}");
    }

    #[test]
    fn a_variant_counts_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let eeg = catalog::get("uci-eeg").unwrap();
        let place = cache.folder(eeg);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("smni_cmi_train.npz"), "x").unwrap();
        assert_eq!(cache.locate(eeg), None);
        std::fs::write(place.join("smni_cmi_test.npz"), "x").unwrap();
        assert!(cache.locate(eeg).unwrap().files[1].ends_with("smni_cmi_test.npz"));
        let verdicts = cache.verify(eeg).unwrap();
        assert_eq!(verdicts.len(), 2);
        assert_eq!(verdicts[0].1, Verdict::Wrong("is 1 bytes, not 7270914".into()));

        std::fs::create_dir_all(folder.path().join("linqs-cora/cora")).unwrap();
        assert!(cache.locate(catalog::get("linqs-cora").unwrap()).is_some(), "unpacked is as good");
    }
}
