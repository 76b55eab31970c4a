//! A cache of parsed trials, as one `.npz`.

use std::io::{self, Write};
use std::path::Path;

use crate::catalog::readers::eeg::{
    CHANNELS, EegData, EegReport, EegSelection, EegSubset, SAMPLES, Stimulus, TrialInfo, load, walk,
};
use crate::files::{self, AtomicFile};
use crate::format::npy;
use crate::format::npz::{self, Npz, NpzWriter};
use crate::{Error, Result};

/// Changes with the format of the cache.
const VERSION: &str = "1";

/// Like [`load`], with the parsed trials cached in the folder `cache`.
///
/// The cache depends on the names, sizes and times of the files at `path`; it is rebuilt if one of them changes, or if it cannot be read. A
/// failure to write it is in the report.
pub fn load_cached(path: impl AsRef<Path>, select: EegSelection, cache: impl AsRef<Path>) -> Result<EegData> {
    let (path, cache) = (path.as_ref(), cache.as_ref());
    let file = cache.join(format!("eeg-{:016x}.npz", stamp(path, select)?));
    if let Ok(eeg) = read(&file) {
        return Ok(eeg);
    }
    let mut eeg = load(path, select)?;
    if let Err(e) = write(&file, cache, &eeg) {
        eeg.report.cache = Some(e.to_string());
    }
    Ok(eeg)
}

/// A hash of the names, sizes and times of the files.
fn stamp(path: &Path, select: EegSelection) -> Result<u64> {
    let files = if path.is_dir() { walk(path)? } else { vec![path.to_owned()] };
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut mix = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    mix(format!("{VERSION} {select:?}").as_bytes());
    for file in files {
        let meta = file.metadata().map_err(|e| Error::io(&file, e))?;
        let time = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        mix(file.as_os_str().as_encoded_bytes());
        mix(format!(" {} {:?}\n", meta.len(), time.map(|t| t.as_nanos())).as_bytes());
    }
    Ok(hash)
}

/// Writes atomically, so that a cache is never incomplete.
fn write(path: &Path, dir: &Path, eeg: &EegData) -> Result<()> {
    files::create_folder(dir)?;
    let mut file = AtomicFile::create(path)?;
    write_npz(&mut file, eeg).map_err(|e| Error::io(path, e))?;
    file.finish()
}

fn write_npz(file: &mut AtomicFile, eeg: &EegData) -> io::Result<()> {
    let mut npz = NpzWriter::new(file);
    npz.add("x", |out| npy::write_f32(&mut { out }, eeg.inputs.shape(), eeg.inputs.data()))?;
    let facts: Vec<[u32; 5]> = eeg.trials.iter().map(facts).collect();
    npz.add("facts", |mut out| {
        npy::write_header(&mut out, "<u4", &[facts.len(), 5])?;
        out.write_all(&facts.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>())
    })?;
    let subjects: Vec<&str> = eeg.trials.iter().map(|trial| trial.subject.as_str()).collect();
    let skipped: Vec<String> =
        eeg.report.skipped.iter().map(|(name, why)| format!("{name}\t{why}")).collect();
    write_texts(&mut npz, "subject", &subjects)?;
    write_texts(&mut npz, "channels", &eeg.channels)?;
    write_texts(&mut npz, "skipped", &skipped)?;
    write_texts(&mut npz, "repeated", &eeg.report.repeated)?;
    npz.finish()?.flush()
}

fn write_texts<W: Write>(npz: &mut NpzWriter<W>, key: &str, texts: &[impl AsRef<str>]) -> io::Result<()> {
    let width = texts.iter().map(|text| text.as_ref().len()).max().unwrap_or(0).max(1);
    npz.add(key, |mut out| {
        npy::write_header(&mut out, &format!("|S{width}"), &[texts.len()])?;
        for text in texts {
            let mut bytes = text.as_ref().as_bytes().to_vec();
            bytes.resize(width, 0);
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

/// The metadata of a trial as numbers.
fn facts(trial: &TrialInfo) -> [u32; 5] {
    let stimulus = match trial.stimulus {
        Stimulus::Single => 0,
        Stimulus::Match => 1,
        Stimulus::NoMatch => 2,
    };
    let subset = match trial.subset {
        EegSubset::Test => 0,
        EegSubset::Train => 1,
        EegSubset::Other => 2,
    };
    [trial.number, subset, stimulus, trial.wrong.into(), trial.header_trial]
}

/// The metadata from these numbers.
fn from_facts(subject: String, facts: &[u32; 5]) -> Option<TrialInfo> {
    let &[number, subset, stimulus, wrong, header_trial] = facts;
    Some(TrialInfo {
        subject,
        number,
        subset: *[EegSubset::Test, EegSubset::Train, EegSubset::Other].get(subset as usize)?,
        stimulus: *[Stimulus::Single, Stimulus::Match, Stimulus::NoMatch].get(stimulus as usize)?,
        wrong: wrong != 0,
        header_trial,
    })
}

fn read(file: &Path) -> Result<EegData> {
    let wrong = || Error::format(file, "is not a cache of trials");
    let mut npz = npz::read(file)?;
    let inputs = npz.take("x")?.into_array(file)?;
    let texts = |npz: &mut Npz, key: &str| npz.take(key)?.texts().ok_or_else(wrong);
    let subjects = texts(&mut npz, "subject")?;
    let channels = texts(&mut npz, "channels")?;
    let skipped = texts(&mut npz, "skipped")?;
    let repeated = texts(&mut npz, "repeated")?;
    let facts = npz.take("facts")?.map_integers(|n| u32::try_from(n).ok()).ok_or_else(wrong)?;
    let facts = facts.as_chunks::<5>().0;
    let fits = inputs.shape() == [subjects.len(), CHANNELS, SAMPLES] && facts.len() == subjects.len();
    if !fits || channels.len() != CHANNELS {
        return Err(wrong());
    }
    let trials: Option<Vec<TrialInfo>> =
        subjects.into_iter().zip(facts).map(|(s, f)| from_facts(s, f)).collect();
    let split = |line: String| {
        let (name, why) = line.split_once('\t').unwrap_or((&line, ""));
        (name.to_owned(), why.to_owned())
    };
    let skipped = skipped.into_iter().map(split).collect();
    let report = EegReport { skipped, repeated, cache: None };
    Ok(EegData { inputs, trials: trials.ok_or_else(wrong)?, channels, report })
}
