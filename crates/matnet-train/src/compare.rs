//! Several runs that belong together: seeds of one net, and nets side by side.

use std::path::{Path, PathBuf};

use crate::run::{Run, RunResult};
use crate::{Error, Result};

/// Finished runs of one net, from one seed or several.
#[derive(Clone, Debug)]
pub struct RunSeries {
    /// The variant, or the folder.
    pub label: String,
    /// The runs with their results.
    pub runs: Vec<(Run, RunResult)>,
}

impl RunSeries {
    /// The run in a folder, or the runs of several seeds below it. All must be finished.
    pub fn read(folder: &Path) -> Result<Self> {
        let single = Run::at(folder);
        let found = match single.exists() {
            true => vec![single],
            false => folders(folder)?.into_iter().map(Run::at).filter(Run::exists).collect(),
        };
        let mut runs = Vec::new();
        for run in found {
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
        // Folders of seeds are the runs of one net, not nets of their own.
        let is_seed =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-"));
        if variants.iter().any(is_seed) {
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

    /// The spread of the test loss.
    pub fn test_loss(&self) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(|(_, result)| Some(result.test?.loss)))
    }

    /// The spread of the test error rate.
    pub fn test_error(&self) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(|(_, result)| result.test?.error))
    }

    /// The run with the lowest training loss.
    pub fn lowest_training_loss(&self) -> Option<&RunResult> {
        lowest_training_loss(self.runs.iter().map(|(_, result)| result))
    }
}

/// The folders in a folder, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    Ok(found)
}

/// The run with the lowest training loss, which is how a restart is selected without looking at the test split.
/// Ties go to the first.
pub fn lowest_training_loss<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Option<&'a RunResult> {
    let trained = runs.into_iter().filter_map(|result| Some((result.train?.loss, result)));
    trained.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, result)| result)
}

/// Mean, standard deviation and best of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; `None` for a single number.
    pub deviation: Option<f64>,
    /// The smallest.
    pub best: f64,
    /// How many.
    pub count: usize,
}

impl Spread {
    /// Of some numbers; `None` if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        let count = numbers.len();
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
        let best = numbers.iter().copied().reduce(f64::min)?;
        Some(Self {
            mean,
            deviation: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
            best,
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_samples() {
        let spread = Spread::of([2.0, 4.0, 4.0, 6.0]).unwrap();
        assert_eq!((spread.mean, spread.best, spread.count), (4.0, 2.0, 4));
        assert!((spread.deviation.unwrap() - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([3.0]).unwrap().deviation, None);
        assert_eq!(Spread::of([]), None);
    }
}
