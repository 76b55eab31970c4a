//! Several runs that belong together: the variants of a config, each from several seeds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::tensor::Device;
use matnet_data::cache::Cache;

use crate::Result;
use crate::config::{DataConfig, Document};
use crate::data::Prepared;
use crate::run::{Plan, Run, RunResult};

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct Job {
    /// The variant, or the name of the folder.
    pub label: String,
    /// The config of this run.
    pub document: Document,
    /// Its folder.
    pub folder: PathBuf,
}

/// Every variant of a config, from every seed. A single run stands in `folder` itself, several in folders below it.
pub fn jobs(document: &Document, folder: &Path, seeds: Option<u32>) -> Result<Vec<Job>> {
    let mut variants = Vec::new();
    for name in document.variants() {
        variants.push((name.clone(), document.variant(&name)?, folder.join(&name)));
    }
    if variants.is_empty() {
        let label = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        variants.push((label, document.clone(), folder.to_owned()));
    }
    let mut jobs = Vec::new();
    for (label, document, folder) in variants {
        let first = document.train()?.seed;
        let Some(seeds) = seeds else {
            jobs.push(Job { label, document, folder });
            continue;
        };
        for seed in first..first.saturating_add(u64::from(seeds)) {
            let mut document = document.clone();
            document.set(&format!("train.seed={seed}"))?;
            let folder = folder.join(format!("seed-{seed}"));
            jobs.push(Job { label: label.clone(), document, folder });
        }
    }
    Ok(jobs)
}

/// Plans jobs one after another, loading the same data only once.
#[derive(Debug, Default)]
pub struct Planner {
    loaded: Option<(DataConfig, Option<u64>, Arc<Prepared>)>,
}

impl Planner {
    /// The plan of a job.
    pub fn plan(&mut self, document: &Document, cache: &Cache) -> Result<Plan> {
        let (data, train) = (document.data()?, document.train()?);
        // A split of its own makes the data those of one seed.
        let seed = data.split.per_run.then_some(train.seed);
        let prepared = match self.loaded.take() {
            Some((config, of, prepared)) if config == data && of == seed => prepared,
            _ => Arc::new(Prepared::load(&data, cache, train.seed)?),
        };
        self.loaded = Some((data, seed, Arc::clone(&prepared)));
        Plan::with_data(document, prepared)
    }

    /// Fails if a job could not begin. Its net is built for that, but with first values that are drawn quickly.
    pub fn check(&mut self, document: &Document, cache: &Cache) -> Result<()> {
        let mut quick = document.clone();
        quick.set("model.init=glorot")?;
        self.plan(document, cache)?;
        self.plan(&quick, cache)?.net(&Device::flex())?;
        Ok(())
    }
}

/// The runs of one variant.
#[derive(Clone, Debug)]
pub struct Series {
    /// The variant.
    pub label: String,
    /// The runs.
    pub runs: Vec<(Run, RunResult)>,
}

/// Mean, spread and best of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a sample; `None` for a single number.
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

impl Series {
    /// Spread of the test loss.
    pub fn test_loss(&self) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(|(_, result)| Some(result.test?.loss)))
    }

    /// Spread of the share of wrong answers in the test.
    pub fn test_error(&self) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(|(_, result)| result.test?.error))
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

    #[test]
    fn jobs_are_variants_times_seeds() {
        let text = "[train]\nseed = 5\n[variant.b]\n[variant.a]\ntrain.seed = 7";
        let document = Document::parse(text).unwrap();
        let jobs = jobs(&document, Path::new("runs/x"), Some(2)).unwrap();
        let folders: Vec<String> = jobs.iter().map(|job| job.folder.display().to_string()).collect();
        assert_eq!(folders, ["runs/x/b/seed-5", "runs/x/b/seed-6", "runs/x/a/seed-7", "runs/x/a/seed-8"]);
        assert_eq!(jobs[3].document.train().unwrap().seed, 8);
        let plain = Document::parse("").unwrap();
        let single = super::jobs(&plain, Path::new("runs/x"), None).unwrap();
        assert_eq!((single[0].label.as_str(), single[0].folder.as_path()), ("x", Path::new("runs/x")));
    }
}
