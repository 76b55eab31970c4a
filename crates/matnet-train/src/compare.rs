//! Several runs that belong together: seeds and folds of one net, and nets side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::config::is_part_name;
use crate::metrics::Metric;
use crate::run::{Run, RunResult, Score};
use crate::stats::Difference;
pub use crate::stats::Spread;
use crate::{Error, Result, Split, csv};

/// Finished runs of one net, from one seed or several, on one split or several folds.
#[derive(Clone, Debug)]
pub struct RunSeries {
    /// The variant, or the folder.
    pub label: String,
    /// The runs with their results.
    pub runs: Vec<(Run, RunResult)>,
}

impl RunSeries {
    /// The run in a folder, or the runs of several seeds and folds below it. All must be finished.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut runs = Vec::new();
        for run in runs_below(folder)? {
            let Some(result) = run.result()? else {
                return Err(Error::run(run.folder(), "is not finished; `matnet train` resumes it"));
            };
            runs.push((run, result));
        }
        match runs.is_empty() {
            true => Err(Error::run(folder, "there is no run here")),
            false => Ok(Self { label: folder.display().to_string(), runs }),
        }
    }

    /// The runs below a folder, a series for each variant.
    pub fn read_variants(folder: &Path) -> Result<Vec<Self>> {
        let variants = folders(folder)?;
        // Folders of seeds and folds are the runs of one net, not nets of their own.
        if variants.iter().any(|path| is_part(path)) {
            return Ok(vec![Self::read(folder)?]);
        }
        let mut found = Vec::new();
        for path in variants {
            let mut series = Self::read(&path)?;
            series.label = Run::at(path).name();
            found.push(series);
        }
        match found.is_empty() {
            true => Err(Error::run(folder, "there is no run here")),
            false => Ok(found),
        }
    }

    /// Adds a run to the series of its label, or starts one.
    pub fn add(all: &mut Vec<Self>, label: &str, run: Run, result: RunResult) {
        match all.iter_mut().find(|series| series.label == label) {
            Some(series) => series.runs.push((run, result)),
            None => all.push(Self { label: label.to_owned(), runs: vec![(run, result)] }),
        }
    }

    /// The value of a metric on a split for every run, by seed and fold.
    pub fn scores(&self, split: Split, metric: Metric) -> Vec<(u64, Option<usize>, f64)> {
        let value = |run: &Run, result: &RunResult| {
            Some((result.seed, run.fold(), score(result, split)?.metric(metric)?))
        };
        self.runs.iter().filter_map(|(run, result)| value(run, result)).collect()
    }

    /// The numbers that means and deviations are over: the value of every seed, or of every fold as the mean over its seeds.
    pub fn values(&self, split: Split, metric: Metric) -> BTreeMap<u64, f64> {
        let mut lists = BTreeMap::<u64, Vec<f64>>::new();
        for (seed, fold, value) in self.scores(split, metric) {
            lists.entry(fold.map_or(seed, |fold| fold as u64)).or_default().push(value);
        }
        let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
        lists.into_iter().map(|(key, list)| (key, mean(list))).collect()
    }

    /// The spread of a metric over the seeds, or over the folds.
    pub fn spread(&self, split: Split, metric: Metric) -> Option<Spread> {
        Spread::of(self.values(split, metric).into_values())
    }

    /// The folds that there are runs of; empty without folds.
    pub fn folds(&self) -> BTreeSet<usize> {
        self.runs.iter().filter_map(|(run, _)| run.fold()).collect()
    }

    /// The seeds that there are runs of.
    pub fn seeds(&self) -> BTreeSet<u64> {
        self.runs.iter().map(|(_, result)| result.seed).collect()
    }

    /// The test score of this series minus that of another. Folds share training samples, so their interval is widened as
    /// Nadeau and Bengio propose.
    pub fn difference(&self, other: &Self, metric: Metric) -> Option<Difference> {
        let (own, others) = (self.values(Split::Test, metric), other.values(Split::Test, metric));
        let difference = Difference::of(&own, &others).filter(|difference| difference.mean.is_finite())?;
        match self.folds().len() {
            0 | 1 => Some(difference),
            folds => Some(difference.widened_for_folds(folds)),
        }
    }

    /// The run with the lowest training loss.
    pub fn lowest_training_loss(&self) -> Option<&RunResult> {
        lowest_training_loss(self.runs.iter().map(|(_, result)| result))
    }
}

/// The score of a split.
pub(crate) fn score(result: &RunResult, split: Split) -> Option<Score> {
    match split {
        Split::Train => result.train,
        Split::Valid => result.valid,
        Split::Test => result.test,
    }
}

/// A line per run with everything that was measured, to be kept beside a table of means.
pub fn results_csv(series: &[RunSeries]) -> String {
    let runs = || series.iter().flat_map(|one| one.runs.iter().map(move |(run, result)| (one, run, result)));
    let mut columns: Vec<(Split, Metric)> = Vec::new();
    for (split, metric) in Split::ALL.into_iter().flat_map(|split| Metric::ALL.map(|metric| (split, metric)))
    {
        if runs().any(|(_, _, result)| score(result, split).and_then(|score| score.metric(metric)).is_some())
        {
            columns.push((split, metric));
        }
    }
    let further: BTreeSet<&String> = runs().flat_map(|(_, _, result)| result.metrics.keys()).collect();
    let fixed = ["net", "seed", "fold", "kind", "form", "parameters", "epochs", "best_epoch"];
    let mut header: Vec<String> = fixed.map(str::to_owned).to_vec();
    header.extend(columns.iter().map(|(split, metric)| format!("{}_{}", split.name(), metric.key())));
    header.extend(further.iter().map(|name| format!("test_{name}")));
    let mut text = csv::line(&header);
    for (series, run, result) in runs() {
        let mut cells = vec![
            series.label.clone(),
            result.seed.to_string(),
            run.fold().map(|fold| fold.to_string()).unwrap_or_default(),
            result.kind.clone(),
            result.form.clone(),
            result.parameters.to_string(),
            result.epochs.to_string(),
            result.best_epoch.to_string(),
        ];
        cells.extend(columns.iter().map(|&(split, metric)| {
            csv::number(score(result, split).and_then(|score| score.metric(metric)))
        }));
        cells.extend(further.iter().map(|name| csv::number(result.metrics.get(*name).copied())));
        text += &csv::line(cells);
    }
    text
}

/// The runs in a folder: itself, or those of the seeds and folds below it.
fn runs_below(folder: &Path) -> Result<Vec<Run>> {
    let single = Run::at(folder);
    if single.exists() {
        return Ok(vec![single]);
    }
    let mut runs = Vec::new();
    for path in folders(folder)? {
        match is_part(&path) {
            true => runs.extend(runs_below(&path)?),
            false => runs.extend(Some(Run::at(path)).filter(Run::exists)),
        }
    }
    Ok(runs)
}

/// Whether a folder is one of several seeds or folds.
fn is_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_part_name(&name.to_string_lossy()))
}

/// The folders in a folder, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    // fold-10 comes after fold-9.
    found.sort_by_key(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = name.rsplit_once('-').and_then(|(_, number)| number.parse::<u64>().ok());
        (is_part(path).then_some(number).flatten(), name)
    });
    Ok(found)
}

/// The run with the lowest training loss, which is how a restart is selected without looking at the test split.
/// Ties go to the first.
pub fn lowest_training_loss<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Option<&'a RunResult> {
    let trained = runs.into_iter().filter_map(|result| Some((result.train?.loss, result)));
    trained.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, result)| result)
}
