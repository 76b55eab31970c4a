//! The UCI EEG database: alcoholic and control subjects, trials of 64 channels × 256 samples.
//!
//! Trials are read from folders as UCI publishes them (`co2a0000364/co2a0000364.rd.000.gz`), from archives of such folders, nested archives
//! included, or from two `.npz` files. Empty and broken trials are skipped and reported. A trial that is in both official halves is kept in
//! the test half only.

mod cache;
mod compact;
mod trial;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use cache::load_cached;
pub use trial::{CHANNELS, SAMPLES, Stimulus, Trial, parse as parse_trial, unpack as unpack_trial};

use crate::catalog::Cache;
use crate::format::archive;
use crate::format::bounded::Input;
use crate::{Array, Dataset, Error, Result, Samples, Target, memory};

/// The number of trials of an archive that are parsed in parallel.
const BATCH: usize = 256;
/// The maximum nesting of archives.
const DEEPEST: usize = 4;
/// The maximum size of a raw trial; real ones take a quarter of a mebibyte.
const LONGEST_FILE: u64 = 8 << 20;

/// The official set of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EegSubset {
    /// `SMNI_CMI_TEST`.
    Test,
    /// `SMNI_CMI_TRAIN`.
    Train,
    /// The full database, or anything else.
    Other,
}

/// Which trials to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EegSelection {
    /// The two official halves, `SMNI_CMI_TRAIN` and `SMNI_CMI_TEST`.
    Official,
    /// All trials.
    All,
}

/// The metadata of a trial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrialInfo {
    /// The subject, such as `co2a0000364`.
    pub subject: String,
    /// The number in the file name.
    pub number: u32,
    /// The official set.
    pub subset: EegSubset,
    /// The stimulus.
    pub stimulus: Stimulus,
    /// Whether the subject answered wrongly.
    pub wrong: bool,
    /// The number in the header of the file.
    pub header_trial: u32,
}

impl TrialInfo {
    /// Whether the subject is alcoholic, by the fourth letter of the name.
    pub fn alcoholic(&self) -> bool {
        self.subject.as_bytes().get(3) == Some(&b'a')
    }
}

/// The trials that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EegReport {
    /// Files without a valid trial, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Duplicate trials that were removed, as `subject number`.
    pub repeated: Vec<String>,
    /// Why the cache could not be written, if it failed.
    pub cache: Option<String>,
}

/// All valid trials, sorted by subject, number and subset.
#[derive(Clone, Debug, PartialEq)]
pub struct EegData {
    /// Microvolts `[trials, 64, 256]`.
    pub inputs: Array,
    /// The metadata of each trial.
    pub trials: Vec<TrialInfo>,
    /// The channel names; `X`, `nd` and `Y` are not on the scalp.
    pub channels: Vec<String>,
    /// The trials that were left out.
    pub report: EegReport,
}

impl EegData {
    /// The trials as samples: classes `control` and `alcoholic`, grouped by subject.
    pub fn into_samples(self) -> Samples {
        let mut names: Vec<String> = self.trials.iter().map(|trial| trial.subject.clone()).collect();
        names.dedup();
        let mut groups = Vec::with_capacity(self.trials.len());
        for trial in &self.trials {
            // trials are sorted by subject
            let group = names.binary_search(&trial.subject).unwrap_or_default();
            groups.push(group as u32);
        }
        let target = Target::Classes {
            labels: self.trials.iter().map(|trial| trial.alcoholic().into()).collect(),
            names: vec!["control".into(), "alcoholic".into()],
        };
        Samples { groups, group_names: names, ..Samples::new(self.inputs, target) }
    }
}

/// Loads the trials as a dataset, with a note on what was left out.
pub(in crate::catalog) fn load_dataset(
    folder: &Path,
    selection: EegSelection,
    cache: &Cache,
) -> Result<Dataset> {
    // The compact arrays load quickly; raw text is parsed once and cached.
    let compact = selection == EegSelection::Official && folder.join("smni_cmi_train.npz").is_file();
    let loaded = match compact {
        true => load(folder, selection)?,
        false => load_cached(folder, selection, cache.root().join("parsed"))?,
    };
    let EegReport { skipped, repeated, cache } = &loaded.report;
    let mut notes = Vec::new();
    if !repeated.is_empty() {
        notes.push(format!("{} trials that are in both official halves are used once", repeated.len()));
    }
    if !skipped.is_empty() {
        notes.push(format!("{} empty or broken files skipped", skipped.len()));
    }
    notes.extend(cache.as_ref().map(|why| format!("the parsed trials could not be cached: {why}")));
    Ok(Dataset { notes, ..loaded.into_samples().into() })
}

/// Loads trials from a folder of raw files, an archive, or a folder with `smni_cmi_train.npz` and `smni_cmi_test.npz`.
pub fn load(path: impl AsRef<Path>, select: EegSelection) -> Result<EegData> {
    let path = path.as_ref();
    if let Some(compact) = compact::load(path)? {
        return compact.finish(path);
    }
    let mut gather = Gather { select, ..Gather::default() };
    if path.is_dir() {
        let (mut raw, mut packed) = (Vec::new(), Vec::new());
        for file in walk(path)? {
            let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            // the folder itself may be one of the halves
            let name = format!("{}/{name}", path.file_name().unwrap_or_default().to_string_lossy());
            if archive::is_archive(&name) {
                packed.push((file, name));
            } else if number_of(&name).is_some() && gather.wants(&name) {
                raw.push((file, name));
            }
        }
        gather.add_files(&raw);
        for (file, name) in packed {
            gather.add_archive(&name, Box::new(|visit| archive::each(&file, visit)), 1)?;
        }
    } else if archive::is_archive(&path.to_string_lossy()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        gather.add_archive(&name, Box::new(|visit| archive::each(path, visit)), 1)?;
    } else {
        gather.add_files(&[(path.to_owned(), path.to_string_lossy().into_owned())]);
    }
    gather.finish(path)
}

/// All files below a folder, sorted by name; links are not followed.
fn walk(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).map_err(|e| Error::io(&dir, e))? {
            let entry = entry.map_err(|e| Error::io(&dir, e))?;
            let kind = entry.file_type().map_err(|e| Error::io(entry.path(), e))?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The number of a file called `….rd.NNN`, `….rd.NNN.gz` or `….rd.NNN.gz.txt`.
fn number_of(name: &str) -> Option<u32> {
    let file = name.rsplit('/').next()?;
    let (_, rest) = file.split_once(".rd.")?;
    let digits = rest.split('.').next()?;
    digits.parse().ok().filter(|_| digits.len() == 3)
}

fn subset_of(name: &str) -> EegSubset {
    let name = name.to_ascii_uppercase();
    if name.contains("SMNI_CMI_TEST") {
        EegSubset::Test
    } else if name.contains("SMNI_CMI_TRAIN") {
        EegSubset::Train
    } else {
        EegSubset::Other
    }
}

/// Collects trials.
struct Gather {
    select: EegSelection,
    found: Vec<(TrialInfo, Vec<f32>)>,
    channels: Vec<String>,
    report: EegReport,
    /// The number of raw files that were not selected.
    unwanted: usize,
}

impl Default for Gather {
    fn default() -> Self {
        let (found, channels) = (Vec::new(), Vec::new());
        Self { select: EegSelection::All, found, channels, report: EegReport::default(), unwanted: 0 }
    }
}

type Parsed = std::result::Result<(TrialInfo, Vec<String>, Vec<f32>), String>;

impl Gather {
    fn wants(&mut self, name: &str) -> bool {
        let wanted = self.select == EegSelection::All || subset_of(name) != EegSubset::Other;
        self.unwanted += usize::from(!wanted);
        wanted
    }

    fn add_files(&mut self, files: &[(PathBuf, String)]) {
        let read = |text: &mut Vec<u8>, (file, name): &(PathBuf, String)| -> Parsed {
            let bytes = Input::open_packed(file).and_then(|mut input| match input.left() {
                Some(size) if size > LONGEST_FILE => Err(input.error("is too long for a trial")),
                _ => input.rest(),
            });
            read_trial(name, &bytes.map_err(|e| e.to_string())?, text)
        };
        let parsed: Vec<Parsed> = files.par_iter().map_init(Vec::new, read).collect();
        for ((_, name), parsed) in files.iter().zip(parsed) {
            self.add(name, parsed);
        }
    }

    /// Visits an archive and the archives in it, parsing a batch of trials at a time.
    fn add_archive(
        &mut self,
        name: &str,
        each: Box<dyn FnOnce(archive::Visit) -> Result<()> + '_>,
        depth: usize,
    ) -> Result<()> {
        let mut batch: Vec<(String, Vec<u8>)> = Vec::new();
        each(&mut |mut entry| {
            let inner = format!("{name}/{}", entry.name);
            if archive::is_archive(&entry.name) {
                // the full database in UCI's archive is large: it is decompressed only if it is selected
                let maybe =
                    self.select == EegSelection::All || depth > 1 || subset_of(&inner) != EegSubset::Other;
                if depth < DEEPEST && maybe {
                    let each = Box::new(|visit: archive::Visit| archive::each_in(entry.input, visit));
                    return self.add_archive(&inner, each, depth + 1);
                }
                self.unwanted += 1;
            } else if number_of(&entry.name).is_some() && self.wants(&inner) {
                let bytes = entry.input.take_up_to(LONGEST_FILE)?;
                batch.push((inner, bytes));
                if batch.len() == BATCH {
                    self.add_batch(&mut batch);
                }
            }
            Ok(())
        })?;
        self.add_batch(&mut batch);
        Ok(())
    }

    fn add_batch(&mut self, batch: &mut Vec<(String, Vec<u8>)>) {
        let read = |text: &mut Vec<u8>, (name, bytes): &(String, Vec<u8>)| read_trial(name, bytes, text);
        let parsed: Vec<Parsed> = batch.par_iter().map_init(Vec::new, read).collect();
        for ((name, _), parsed) in batch.drain(..).zip(parsed) {
            self.add(&name, parsed);
        }
    }

    fn add(&mut self, name: &str, parsed: Parsed) {
        match parsed {
            Ok((info, channels, microvolts)) => {
                if self.channels.is_empty() {
                    self.channels = channels;
                } else if self.channels != channels {
                    let why = "its channels differ from those of the first trial".to_owned();
                    return self.report.skipped.push((name.to_owned(), why));
                }
                self.found.push((info, microvolts));
            }
            Err(why) => self.report.skipped.push((name.to_owned(), why)),
        }
    }

    /// Sorts the trials, removes duplicates, and concatenates the samples.
    fn finish(mut self, path: &Path) -> Result<EegData> {
        if self.found.is_empty() {
            let skipped = self.report.skipped.len();
            let others = self.unwanted;
            return Err(Error::Missing(format!(
                "{}: no valid trial of the selected kind (subject.rd.NNN[.gz]); {skipped} broken, {others} others",
                path.display()
            )));
        }
        // test before train before others, so that the first of equal trials is kept
        self.found.sort_by(|(a, _), (b, _)| {
            (&a.subject, a.number, a.subset).cmp(&(&b.subject, b.number, b.subset))
        });
        let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut keep = vec![true; self.found.len()];
        for at in 0..self.found.len() {
            let (info, data) = &self.found[at];
            let equals = first.entry(fingerprint(info, data)).or_default();
            let twin = equals.iter().copied().find(|&other| {
                let (known, known_data) = &self.found[other];
                known.subject == info.subject && known_data == data
            });
            match twin {
                None => equals.push(at),
                Some(other) => {
                    let drop = if self.found[other].0.subset <= info.subset { at } else { other };
                    keep[drop] = false;
                    if drop == other {
                        equals.retain(|&kept| kept != other);
                        equals.push(at);
                    }
                    let (gone, _) = &self.found[drop];
                    self.report.repeated.push(format!("{} {:03}", gone.subject, gone.number));
                }
            }
        }
        let count = keep.iter().filter(|&&kept| kept).count();
        let mut data = memory::with_capacity(count * CHANNELS * SAMPLES, "EEG trials")?;
        let mut trials = Vec::with_capacity(count);
        for ((info, microvolts), keep) in self.found.into_iter().zip(keep) {
            if keep {
                data.extend(microvolts);
                trials.push(info);
            }
        }
        self.report.skipped.sort();
        self.report.repeated.sort();
        let inputs = Array::new([count, CHANNELS, SAMPLES], data)?;
        Ok(EegData { inputs, trials, channels: self.channels, report: self.report })
    }
}

/// Decompresses and parses one raw file.
fn read_trial(name: &str, bytes: &[u8], text: &mut Vec<u8>) -> Parsed {
    let trial = trial::parse(trial::unpack(bytes, text)?)?;
    let info = TrialInfo {
        subject: trial.subject,
        number: number_of(name).unwrap_or(trial.header_trial),
        subset: subset_of(name),
        stimulus: trial.stimulus,
        wrong: trial.wrong,
        header_trial: trial.header_trial,
    };
    Ok((info, trial.channels, trial.microvolts))
}

/// A hash of a trial.
fn fingerprint(info: &TrialInfo, data: &[f32]) -> u64 {
    let start = info
        .subject
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    data.iter().fold(start, |h, x| (h ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01b3))
}
