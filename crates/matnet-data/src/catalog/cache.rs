//! The folder of downloaded files, and where else a dataset may be found.
//!
//! A cache has one folder per dataset: `CACHE/mnist/train-images-idx3-ubyte.gz`. A file that the user put there counts as
//! downloaded, once it passes the same checks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::{self, Verdict};
use super::{DatasetFile, DatasetInfo, Origin};
use crate::format::npz::Npz;
use crate::{Error, Result, StoryData, catalog};

/// The environment variable that names the cache folder.
pub const CACHE_VARIABLE: &str = "MATNET_DATA";

/// Files with these endings contain checksums, which reading them verifies.
const SELF_CHECKED: [&str; 4] = [".gz", ".tgz", ".zip", ".npz"];

/// A folder of downloaded files, and perhaps arrays and stories in memory.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    /// Arrays that stand for files of these names.
    arrays: Vec<Arc<Npz>>,
    /// Stories that stand for files of these names.
    stories: Vec<(String, Arc<StoryData>)>,
}

/// The files of a dataset on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The folder that holds them.
    pub folder: PathBuf,
    /// The files, in the order of the catalog, or the one folder they were unpacked to.
    pub files: Vec<PathBuf>,
}

impl Cache {
    /// The cache in the folder `root`, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), arrays: Vec::new(), stories: Vec::new() }
    }

    /// The same with arrays in memory, which are found by their name before any dataset or file of that name.
    pub fn with_arrays(mut self, arrays: Npz) -> Self {
        self.arrays.push(Arc::new(arrays));
        self
    }

    /// The arrays of this name.
    pub fn arrays(&self, name: &str) -> Option<&Npz> {
        self.arrays.iter().map(|arrays| &**arrays).find(|arrays| arrays.path() == Path::new(name))
    }

    /// The same with stories in memory, which are found by their name before any dataset or file of that name. Fails if a question
    /// comes after more sentences than its story has, or if a supporting fact is none of the sentences before it.
    pub fn with_stories(mut self, name: &str, stories: StoryData) -> Result<Self> {
        stories.check(Path::new(name))?;
        self.stories.push((name.to_owned(), Arc::new(stories)));
        Ok(self)
    }

    /// The stories of this name.
    pub fn stories(&self, name: &str) -> Option<&StoryData> {
        self.stories.iter().find(|(known, _)| known == name).map(|(_, stories)| &**stories)
    }

    /// The default cache: the folder in `MATNET_DATA`, or `matnet` in the platform's cache folder.
    pub fn standard() -> Result<Self> {
        if let Some(root) = std::env::var_os(CACHE_VARIABLE).filter(|root| !root.is_empty()) {
            return Ok(Self::new(root));
        }
        Self::platform().ok_or_else(|| {
            Error::Missing(format!("this platform has no cache folder: set {CACHE_VARIABLE} to a folder"))
        })
    }

    fn platform() -> Option<Self> {
        Some(Self::new(dirs::cache_dir()?.join("matnet")))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for the files of `dataset`; for a dataset that is computed from another one, that one's folder.
    pub fn folder(&self, dataset: &DatasetInfo) -> PathBuf {
        match dataset.derived_from.and_then(|name| catalog::get(name).ok()) {
            Some(source) if dataset.folder.is_empty() => self.folder(source),
            _ => self.root.join(dataset.folder),
        }
    }

    /// The path for `file` of `dataset`.
    pub fn path(&self, dataset: &DatasetInfo, file: &DatasetFile) -> PathBuf {
        self.folder(dataset).join(&file.name)
    }

    /// The files of `dataset`, if they are there: the first complete variant in the cache; for a dataset of matnet's repository, its
    /// file there, or the files of the dataset that it can be computed from.
    pub fn locate(&self, dataset: &DatasetInfo) -> Option<Located> {
        self.find(dataset).map(|(located, _)| located)
    }

    /// As [`Cache::locate`], with the catalog's entry of each file; there is none for unpacked folders.
    fn find<'d>(&self, dataset: &'d DatasetInfo) -> Option<(Located, &'d [DatasetFile])> {
        if let Some(file) = &dataset.repository_file
            && let Some(path) =
                self.repository_paths(dataset, file).into_iter().find(|path| is_right(file, path))
        {
            let folder = path.parent().unwrap_or(&path).to_owned();
            return Some((Located { folder, files: vec![path] }, &[]));
        }
        let folder = self.folder(dataset);
        let complete = |files: &'d Vec<DatasetFile>| {
            let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
            paths.iter().all(|path| path.is_file()).then_some((paths, files.as_slice()))
        };
        let unpacked = || {
            let found = dataset.unpacked.iter().map(|name| folder.join(name)).find(|path| path.is_dir());
            found.map(|path| (vec![path], &[][..]))
        };
        match dataset.variants.iter().find_map(complete).or_else(unpacked) {
            Some((files, known)) => Some((Located { folder, files }, known)),
            None if dataset.origin == Origin::Repository => {
                self.find(catalog::get(dataset.derived_from?).ok()?)
            }
            None => None,
        }
    }

    /// Where the repository's file of a dataset may be: this cache, the platform's cache, the repository that this crate was
    /// built in, and the `data` folder of the current folder or one of its parents.
    fn repository_paths(&self, dataset: &DatasetInfo, file: &DatasetFile) -> Vec<PathBuf> {
        let caches = [Some(self.clone()), Self::platform()];
        let caches = caches.into_iter().flatten().map(|cache| cache.root.join(dataset.name));
        let built_in = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data"));
        let here = std::env::current_dir().unwrap_or_default();
        let clones = here.ancestors().map(|folder| folder.join("data"));
        caches.chain([built_in]).chain(clones).map(|folder| folder.join(&file.name)).collect()
    }

    /// As [`Cache::locate`], with an error that says how to get what is missing.
    ///
    /// Files without checksums of their own are verified here.
    pub fn require(&self, dataset: &DatasetInfo) -> Result<Located> {
        let Some((located, known)) = self.find(dataset) else { return Err(self.missing(dataset)) };
        for (path, file) in located.files.iter().zip(known) {
            if SELF_CHECKED.iter().any(|end| file.name.ends_with(end)) {
                continue;
            }
            if let Verdict::Mismatch(what) = check::run(&file.checks, path, &check::record_of(path))? {
                return Err(Error::format(path, format!("{what}; remove it and fetch again")));
            }
        }
        Ok(located)
    }

    /// The error for a dataset that is not there.
    pub(super) fn missing(&self, dataset: &DatasetInfo) -> Error {
        let (name, root) = (dataset.name, self.root.display());
        let source = dataset.derived_from.and_then(|name| catalog::get(name).ok()).unwrap_or(dataset);
        let missing = source.files().iter().filter(|file| !self.path(source, file).is_file());
        let by_hand = by_hand(missing, &self.folder(source));
        let Some(file) = dataset.repository_file.as_ref().filter(|_| dataset.origin == Origin::Repository)
        else {
            return Error::Missing(format!(
                "{name} is not in {root}: run `matnet data fetch {name}`, or by hand:\n{by_hand}"
            ));
        };
        let clone =
            format!("copy data/{0} from a clone of matnet's repository to {root}/{name}/{0}", file.name);
        let about =
            format!("{name} ({}) is neither in {root} nor in a clone of matnet's repository", dataset.about);
        Error::Missing(match by_hand.is_empty() {
            true => format!("{about}: run matnet in a clone, or {clone}"),
            false => format!("{about}: run `matnet data fetch {name}`, or {clone}, or by hand:\n{by_hand}"),
        })
    }

    /// Verifies every file of `dataset` that is in the cache, of any variant.
    pub fn verify(&self, dataset: &DatasetInfo) -> Result<Vec<(PathBuf, Verdict)>> {
        let folder = self.folder(dataset);
        let own =
            dataset.repository_file.iter().map(|file| (self.root.join(dataset.name).join(&file.name), file));
        let files = dataset.variants.iter().flatten().map(|file| (folder.join(&file.name), file));
        let mut verdicts = Vec::new();
        for (path, file) in own.chain(files) {
            if path.is_file() {
                let verdict = check::run(&file.checks, &path, &check::record_of(&path))?;
                verdicts.push((path, verdict));
            }
        }
        Ok(verdicts)
    }
}

/// Whether this is the repository's file: a folder called `data` may hold any file of that name.
fn is_right(file: &DatasetFile, path: &Path) -> bool {
    path.is_file() && matches!(check::run(&file.checks, path, path), Ok(Verdict::Verified))
}

/// What to download from where, and where to put it.
pub(super) fn by_hand<'a>(files: impl Iterator<Item = &'a DatasetFile>, folder: &Path) -> String {
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

    #[test]
    fn a_missing_dataset_is_reported_with_its_address_and_its_path() {
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
    fn a_missing_repository_file_is_reported_with_every_way_to_get_it() {
        let cache = Cache::new("CACHE");
        let message = |name| cache.missing(catalog::get(name).unwrap()).to_string();
        assert_eq!(
            message("faces"),
            "faces (100 photographed faces 25×25) is neither in CACHE nor in a clone of matnet's repository: run matnet in a \
             clone, or copy data/faces.npz from a clone of matnet's repository to CACHE/faces/faces.npz"
        );
        for (name, file) in
            [("digits", "train-labels-idx1-ubyte.gz"), ("citations", "cora.tgz"), ("motions", ".zip")]
        {
            let message = message(name);
            assert!(message.contains(&format!("run `matnet data fetch {name}`")), "{message}");
            assert!(message.contains("download https://") && message.contains(file), "{message}");
        }
    }

    #[test]
    fn a_wrong_file_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let file = catalog::get("moving-mnist").unwrap();
        let path = cache.path(file, &file.files()[0]);
        std::fs::create_dir_all(cache.folder(file)).unwrap();
        std::fs::write(&path, "<html>").unwrap();
        let error = cache.require(file).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.ends_with("; remove it and fetch again"), "{error}");

        // A wrong copy of a repository file is passed over, and `verify` reports it.
        let faces = catalog::get("faces").unwrap();
        let copy = folder.path().join("faces").join("faces.npz");
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(&copy, "not an image").unwrap();
        assert!(cache.locate(faces).is_none_or(|found| found.files != [copy.clone()]));
        assert!(matches!(&cache.verify(faces).unwrap()[..], [(path, Verdict::Mismatch(_))] if *path == copy));
    }

    #[test]
    fn a_variant_counts_only_when_it_is_complete() {
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
        assert_eq!(verdicts[0].1, Verdict::Mismatch("is 1 byte, not 7270914".into()));

        std::fs::create_dir_all(folder.path().join("linqs-cora/cora")).unwrap();
        assert!(cache.locate(catalog::get("linqs-cora").unwrap()).is_some(), "an unpacked folder counts too");
    }
}
