//! Downloading a dataset into the cache: addresses in turn, resumed where possible, checked before use.
//!
//! Bytes are written to `FILE.part` beside their place; only what is whole, passes its checks and is on disk gets
//! its real name. What fails its checks is removed.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ureq::Agent;

use crate::cache::{Cache, by_hand};
use crate::catalog::{Dataset, File, Source};
use crate::check::{self, Verdict};
use crate::download::{Failure, Part, agent};
use crate::{Error, Result};

pub use crate::download::Patience;

/// What a fetch tells while it works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress<'a> {
    /// The file is already there, and right.
    Present(&'a str),
    /// An address is being asked for the file.
    Asking(&'a str, &'a str),
    /// So many bytes of the file have come, of so many if the server says.
    Bytes(&'a str, u64, Option<u64>),
    /// The bytes are being checked.
    Checking(&'a str),
    /// Something went wrong with an address; the next attempt follows.
    Trouble(&'a str, &'a str),
    /// The file is whole, right, and in place.
    Done(&'a str),
}

/// Whom a fetch tells, and who may stop it between two pieces of a file.
pub type Report<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Brings all files of `dataset` into `cache`; those that are there and right stay. Returns where they are.
pub fn fetch(dataset: &Dataset, cache: &Cache, patience: &Patience, report: Report) -> Result<Vec<PathBuf>> {
    let folder = cache.folder(dataset);
    if let Some(found) = other_variant(dataset, &folder)? {
        for path in &found {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = report(Progress::Present(&name));
        }
        return Ok(found);
    }
    dataset.files().iter().map(|file| fetch_file(file, &folder, patience, report)).collect()
}

/// The files of a variant that is not the downloaded one, if they are all there and right.
fn other_variant(dataset: &Dataset, folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let Source::Files { variants, .. } = &dataset.source else { return Ok(None) };
    'variants: for files in variants.iter().skip(1) {
        let mut found = Vec::new();
        for file in files {
            let path = folder.join(&file.name);
            let right = || check::run(&file.checks, &path, &check::record_of(&path));
            if !path.is_file() || right()? != Verdict::Right {
                continue 'variants;
            }
            found.push(path);
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Brings one file into `folder`.
pub fn fetch_file(file: &File, folder: &Path, patience: &Patience, report: Report) -> Result<PathBuf> {
    let target = folder.join(&file.name);
    if target.is_file() {
        match check::run(&file.checks, &target, &check::record_of(&target))? {
            Verdict::Wrong(what) => {
                let what = format!("{} {what}", target.display());
                let _ = report(Progress::Trouble(&file.name, &what));
            }
            verdict => {
                // The folder may be someone else's, to read only; then the next run finds it unknown again.
                let _ = keep_record(&target, verdict);
                let _ = report(Progress::Present(&file.name));
                return Ok(target);
            }
        }
    }
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let agent = agent(patience);
    let mut troubles = String::new();
    for url in &file.urls {
        for attempt in 1..=patience.attempts.max(1) {
            if attempt > 1 {
                std::thread::sleep(patience.pause);
            }
            let (what, lasting) = match bring(file, url, &target, &agent, patience, report) {
                Ok(()) => return Ok(target),
                Err(Failure::Passing(what)) => (what, false),
                Err(Failure::Lasting(what)) => (what, true),
                Err(Failure::Stopped) => return Err(Error::Interrupted),
                Err(Failure::Local(error)) => return Err(error),
            };
            let line = format!("{url}: {what}");
            troubles += &format!("  {line}\n");
            if report(Progress::Trouble(&file.name, &line)).is_break() {
                return Err(Error::Interrupted);
            }
            if lasting {
                break;
            }
        }
    }
    Err(Error::Fetch(format!(
        "could not fetch {}:\n{troubles}by hand:\n{}",
        file.name,
        by_hand(std::iter::once(file), folder)
    )))
}

/// One attempt: download, check, put in place.
fn bring(
    file: &File,
    url: &str,
    target: &Path,
    agent: &Agent,
    patience: &Patience,
    report: Report,
) -> Result<(), Failure> {
    let mut part = Part::open(target).map_err(Failure::Local)?;
    let _ = report(Progress::Asking(&file.name, url));
    let mut bytes = |done, total| report(Progress::Bytes(&file.name, done, total));
    if let Err(failure) = part.download(agent, url, patience, file.most_bytes, &mut bytes) {
        part.keep_if_any().map_err(Failure::Local)?;
        return Err(failure);
    }
    let _ = report(Progress::Checking(&file.name));
    match check::run(&file.checks, part.path(), &check::record_of(target)).map_err(Failure::Local)? {
        Verdict::Wrong(what) => {
            let what = format!("what came {what}; it has been removed");
            let resumed = part.resumed;
            part.discard().map_err(Failure::Local)?;
            // Two versions of the file may have been joined: the whole of one deserves a chance.
            Err(if resumed { Failure::Passing(what) } else { Failure::Lasting(what) })
        }
        verdict => {
            part.finish(target).and_then(|()| keep_record(target, verdict)).map_err(Failure::Local)?;
            let _ = report(Progress::Done(&file.name));
            Ok(())
        }
    }
}

/// Keeps the checksum of a file that has no published one.
fn keep_record(target: &Path, verdict: Verdict) -> Result<()> {
    let Verdict::Unknown(sum) = verdict else { return Ok(()) };
    let record = check::record_of(target);
    std::fs::write(&record, format!("{sum}\n")).map_err(|e| Error::io(&record, e))
}
