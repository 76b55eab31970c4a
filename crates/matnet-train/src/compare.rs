//! Several runs that belong together: the variants of a config, each from several seeds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use matnet_data::cache::Cache;

use crate::config::{DataConfig, Document};
use crate::data::Prepared;
use crate::graph::{self, GraphDataConfig, GraphModelConfig, NodeTask, PreparedGraph};
use crate::model::{self, ModelConfig};
use crate::program::{self, ProgramData, ProgramModelConfig, ProgramTask};
use crate::run::{Plan, Run, RunResult, Work};
use crate::stories::{self, PreparedStories, StoryDataConfig, StoryModelConfig, StoryTask};
use crate::task::{Kind, SampleTask};
use crate::{Error, Result};

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
    samples: Kept<DataConfig, Prepared>,
    graph: Kept<GraphDataConfig, PreparedGraph>,
    stories: Kept<StoryDataConfig, PreparedStories>,
}

/// The data of the last job: their config, and the seed if they are those of one seed.
type Kept<C, D> = Option<(C, Option<u64>, Arc<D>)>;

/// What was kept, if it is what is wanted, or else loaded anew.
fn kept<C: PartialEq, D>(
    kept: &mut Kept<C, D>,
    config: C,
    seed: Option<u64>,
    load: impl FnOnce(&C) -> Result<D>,
) -> Result<Arc<D>> {
    let data = match kept.take() {
        Some((before, of, data)) if before == config && of == seed => data,
        _ => Arc::new(load(&config)?),
    };
    *kept = Some((config, seed, Arc::clone(&data)));
    Ok(data)
}

impl Planner {
    /// The plan of a job.
    pub fn plan(&mut self, document: &Document, cache: &Cache) -> Result<Plan> {
        let variants = document.variants();
        if !variants.is_empty() {
            return Err(Error::Config(format!(
                "this config has the variants {}: `matnet compare` trains them all, --variant chooses one",
                variants.join(", ")
            )));
        }
        model::check_kind(document)?;
        let train = document.train()?;
        // A split of its own makes the data those of one seed.
        let of = |per_run: bool| per_run.then_some(train.seed);
        match Kind::of(document) {
            Kind::Samples => {
                let config = document.data()?;
                let seed = of(config.split.per_seed);
                let load = |config: &DataConfig| Prepared::load(config, cache, train.seed);
                let data = kept(&mut self.samples, config, seed, load)?;
                let model = ModelConfig::read(document, &data)?;
                Ok(Plan::Samples(Work::new(document, SampleTask::new(data, model, &train)?)?))
            }
            Kind::Nodes => {
                let config = graph::data_config(document)?;
                let seed = of(config.split.per_seed);
                let load = |config: &GraphDataConfig| PreparedGraph::load(config, cache, train.seed);
                let data = kept(&mut self.graph, config, seed, load)?;
                let model = GraphModelConfig::read(document, &data)?;
                Ok(Plan::Nodes(Work::new(document, NodeTask::new(data, model, &train)?)?))
            }
            Kind::Stories => {
                let config = stories::data_config(document)?;
                let seed = of(config.split.per_seed);
                let load = |config: &StoryDataConfig| PreparedStories::load(config, cache, train.seed);
                let data = kept(&mut self.stories, config, seed, load)?;
                let model = StoryModelConfig::read(document, &data)?;
                Ok(Plan::Stories(Work::new(document, StoryTask::new(data, model, &train)?)?))
            }
            Kind::Program => {
                let data = Arc::new(ProgramData::new(&program::data_config(document)?)?);
                let model = ProgramModelConfig::read(document, &data.config)?;
                Ok(Plan::Program(Work::new(document, ProgramTask::new(data, model, &train)?)?))
            }
        }
    }

    /// Fails if a job could not begin. Its net is built for that, but with first values that are drawn quickly. Gives
    /// about how many operations its training takes, for comparing jobs.
    pub fn check(&mut self, document: &Document, cache: &Cache) -> Result<f64> {
        let plan = self.plan(document, cache)?;
        if let Plan::Stories(_) = plan {
            return plan.check();
        }
        let mut quick = document.clone();
        quick.set("model.init=glorot")?;
        self.plan(&quick, cache)?.check()
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

/// The run that had the least training loss in the end, which is how a restart is chosen without looking at the test.
/// Of several with the same loss it is the first.
pub fn least_training_loss<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Option<&'a RunResult> {
    let trained = runs.into_iter().filter_map(|result| Some((result.train?.loss, result)));
    trained.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, result)| result)
}

impl Series {
    /// Spread of the test loss.
    pub fn test_loss(&self) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(|(_, result)| Some(result.test?.loss)))
    }

    /// The run that had the least training loss in the end.
    pub fn least_training_loss(&self) -> Option<&RunResult> {
        least_training_loss(self.runs.iter().map(|(_, result)| result))
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
