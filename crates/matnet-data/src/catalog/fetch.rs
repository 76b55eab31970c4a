//! Downloading a dataset into the cache: the addresses are tried in turn, downloads are resumed where possible, and verified before
//! use.
//!
//! Bytes are written to `FILE.part`; a file gets its real name once it is complete, verified and synced to disk. A file that fails its
//! checks is removed.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ureq::Agent;

use super::cache::{Cache, by_hand};
use super::check::{self, Verdict};
use super::download::{Failure, FetchOptions, PartialFile, agent};
use super::{DatasetFile, DatasetInfo, Origin};
use crate::{Error, Result, catalog, files};

/// An event of a running fetch; the first field is the file name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FetchProgress<'a> {
    /// The file is already there and verified.
    Present(&'a str),
    /// A request is sent to this address.
    Connecting(&'a str, &'a str),
    /// Bytes received so far, and in total if the server says.
    Bytes(&'a str, u64, Option<u64>),
    /// The file is being verified.
    Verifying(&'a str),
    /// An attempt failed, for this reason; the next one follows.
    AttemptFailed(&'a str, &'a str),
    /// The file is complete, verified, and in place.
    Done(&'a str),
}

/// Receives the events of a fetch; `ControlFlow::Break` stops it.
pub type OnProgress<'a> = &'a mut dyn FnMut(FetchProgress) -> ControlFlow<()>;

/// Downloads all files of `dataset` into `cache`, except those that are there and verified. Returns their paths.
///
/// A dataset that is computed from another one fetches the files of that one.
pub fn fetch(
    dataset: &DatasetInfo,
    cache: &Cache,
    options: &FetchOptions,
    on_progress: OnProgress,
) -> Result<Vec<PathBuf>> {
    if dataset.origin == Origin::Repository
        && let Some(found) = cache.locate(dataset)
    {
        return Ok(present(found.files, on_progress));
    }
    if dataset.files().is_empty() {
        return match dataset.derived_from {
            Some(source) => fetch(catalog::get(source)?, cache, options, on_progress),
            None if dataset.origin == Origin::Repository => Err(cache.missing(dataset)),
            None => Ok(Vec::new()),
        };
    }
    let folder = cache.folder(dataset);
    match other_variant(dataset, &folder)? {
        Some(found) => Ok(present(found, on_progress)),
        None => dataset.files().iter().map(|file| fetch_file(file, &folder, options, on_progress)).collect(),
    }
}

fn present(paths: Vec<PathBuf>, on_progress: OnProgress) -> Vec<PathBuf> {
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = on_progress(FetchProgress::Present(&name));
    }
    paths
}

/// The files of a variant other than the downloaded one, if all of them are there and verified.
fn other_variant(dataset: &DatasetInfo, folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    'variants: for files in dataset.variants.iter().skip(1) {
        let mut found = Vec::new();
        for file in files {
            let path = folder.join(&file.name);
            let verdict = || check::run(&file.checks, &path, &check::record_of(&path));
            if !path.is_file() || verdict()? != Verdict::Verified {
                continue 'variants;
            }
            found.push(path);
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Downloads one file into `folder`, unless it is there and verified.
pub fn fetch_file(
    file: &DatasetFile,
    folder: &Path,
    options: &FetchOptions,
    on_progress: OnProgress,
) -> Result<PathBuf> {
    let target = folder.join(&file.name);
    if target.is_file() {
        match check::run(&file.checks, &target, &check::record_of(&target))? {
            Verdict::Mismatch(what) => {
                let what = format!("{} {what}", target.display());
                let _ = on_progress(FetchProgress::AttemptFailed(&file.name, &what));
            }
            verdict => {
                // The folder may be read-only; then the next run finds the file unverified again.
                let _ = keep_record(&target, verdict);
                let _ = on_progress(FetchProgress::Present(&file.name));
                return Ok(target);
            }
        }
    }
    files::create_folder(folder)?;
    let agent = agent(options);
    let mut failures = String::new();
    for url in &file.urls {
        for attempt in 1..=options.attempts.max(1) {
            if attempt > 1 {
                std::thread::sleep(options.retry_delay);
            }
            let (what, permanent) = match attempt_download(file, url, &target, &agent, options, on_progress) {
                Ok(()) => return Ok(target),
                Err(Failure::Transient(what)) => (what, false),
                Err(Failure::Permanent(what)) => (what, true),
                Err(Failure::Stopped) => return Err(Error::Interrupted),
                Err(Failure::Local(error)) => return Err(error),
            };
            let line = format!("{url}: {what}");
            failures += &format!("  {line}\n");
            if on_progress(FetchProgress::AttemptFailed(&file.name, &line)).is_break() {
                return Err(Error::Interrupted);
            }
            if permanent {
                break;
            }
        }
    }
    Err(Error::Fetch(format!(
        "could not fetch {}:\n{failures}by hand:\n{}",
        file.name,
        by_hand(std::iter::once(file), folder)
    )))
}

/// One attempt: download, verify, rename.
fn attempt_download(
    file: &DatasetFile,
    url: &str,
    target: &Path,
    agent: &Agent,
    options: &FetchOptions,
    on_progress: OnProgress,
) -> Result<(), Failure> {
    let mut part = PartialFile::open(target).map_err(Failure::Local)?;
    let _ = on_progress(FetchProgress::Connecting(&file.name, url));
    let mut bytes = |done, total| on_progress(FetchProgress::Bytes(&file.name, done, total));
    if let Err(failure) = part.download(agent, url, options, file.max_bytes, &mut bytes) {
        part.keep_unless_empty().map_err(Failure::Local)?;
        return Err(failure);
    }
    let _ = on_progress(FetchProgress::Verifying(&file.name));
    match check::run(&file.checks, part.path(), &check::record_of(target)).map_err(Failure::Local)? {
        Verdict::Mismatch(what) => {
            let what = format!("the download {what}; it was removed");
            let resumed = part.resumed;
            part.discard().map_err(Failure::Local)?;
            // A resumed download may join two versions of the file: download it again as a whole.
            Err(if resumed { Failure::Transient(what) } else { Failure::Permanent(what) })
        }
        verdict => {
            part.finish(target).and_then(|()| keep_record(target, verdict)).map_err(Failure::Local)?;
            let _ = on_progress(FetchProgress::Done(&file.name));
            Ok(())
        }
    }
}

/// Stores the checksum of a file that has no published one.
fn keep_record(target: &Path, verdict: Verdict) -> Result<()> {
    let Verdict::Unverified(sum) = verdict else { return Ok(()) };
    files::write(&check::record_of(target), format!("{sum}\n").as_bytes())
}
