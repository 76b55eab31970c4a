//! From a config to a run that can be trained: the dataset loaded, the sizes known, everything checked.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use matnet::net::{Net, NetConfig};
use matnet::summary::LayerSummary;
use matnet_data::catalog::Cache;

use crate::config::{Document, FoldCount, TrainConfig};
use crate::ranks::Ranks;
use crate::run::{Run, RunLock};
use crate::task::{ExampleShape, Task, TaskData};
use crate::trainer::{self, Observer, Options, Outcome, Planned, TrialScore};
use crate::{Error, Result, Split};

/// A run that can be trained, whatever its kind of net.
pub trait Plan {
    /// The kind of net.
    fn kind(&self) -> &'static str;
    /// matrix or vector.
    fn form(&self) -> String;
    /// The name or path of the dataset.
    fn source(&self) -> &str;
    /// How it is trained, defaults written out.
    fn train_config(&self) -> &TrainConfig;
    /// The text of `config.toml`.
    fn config(&self) -> String;
    /// What one example is.
    fn example(&self) -> ExampleShape;
    /// The layers of the net.
    fn summary(&self) -> Result<Vec<LayerSummary>>;
    /// Fails if the net cannot be built, or its training not be carried out like this; nothing is written. Gives about how many
    /// operations the training takes, for comparing runs.
    fn check(&self, options: &Options) -> Result<f64>;
    /// Trains the net in a run folder: from the start, or on from its checkpoint. Leaves a report there.
    fn train(&self, run: &Run, options: &Options, observer: &mut dyn Observer) -> Result<Outcome>;
    /// Trains one epoch in a new run folder, as scikit-learn's `partial_fit`: from the start, or on from where the run `before` stands,
    /// whose data may be others. Weights, optimizer, learning rate schedule and random numbers go on; `train.epochs` is the length
    /// of the schedule. Leaves no report.
    fn partial_fit(
        &self,
        run: &Run,
        before: Option<&Run>,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Outcome>;
    /// Trains a trial of a search up to some epoch; a later call goes on from there. The test split is not evaluated. The
    /// caller holds the lock of the run.
    fn try_out(
        &self,
        run: &Run,
        lock: &RunLock,
        epochs: usize,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<TrialScore>;
    /// Where the config of a run differs from this one; `None` if it does not, or if there is no run.
    fn difference(&self, run: &Run) -> Result<Option<String>>;
    /// How many examples a split has.
    fn split_size(&self, split: Split) -> usize;
    /// How many folds its split rule has, if it has any.
    fn fold_count(&self) -> Option<usize>;
    /// Whether two plans share one dataset in memory.
    fn shares_data_with(&self, other: &dyn Plan) -> bool;
    /// The address of the dataset.
    #[doc(hidden)]
    fn data_address(&self) -> *const ();
}

impl<T: Task> Plan for Planned<T> {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn form(&self) -> String {
        self.task.form()
    }

    fn source(&self) -> &str {
        self.task.data().source()
    }

    fn train_config(&self) -> &TrainConfig {
        &self.train
    }

    fn config(&self) -> String {
        self.config_text()
    }

    fn example(&self) -> ExampleShape {
        self.task.example()
    }

    fn summary(&self) -> Result<Vec<LayerSummary>> {
        Ok(self.blank()?.summary(self.task.example().steps))
    }

    fn check(&self, options: &Options) -> Result<f64> {
        trainer::check_device(&self.train, &options.device)?;
        let net = self.blank()?;
        self.check_names(&net)?;
        self.check_source(net.clone())?;
        let ExampleShape { steps, per_epoch, .. } = self.task.example();
        let layers = net.summary(steps);
        self.check_memory(&layers)?;
        let each: u64 = layers.iter().map(|layer| layer.flops).sum();
        Ok(3.0 * each as f64 * per_epoch as f64 * self.train.epochs as f64)
    }

    fn train(&self, run: &Run, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
        trainer::train(self, run, options, observer)
    }

    fn partial_fit(
        &self,
        run: &Run,
        before: Option<&Run>,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        trainer::partial_fit(self, run, before, options, observer)
    }

    fn try_out(
        &self,
        run: &Run,
        _lock: &RunLock,
        epochs: usize,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<TrialScore> {
        trainer::try_out(self, run, epochs, options, observer)
    }

    fn difference(&self, run: &Run) -> Result<Option<String>> {
        Ok(run.difference(&self.with_source(run)?.0.config_text()))
    }

    fn split_size(&self, split: Split) -> usize {
        self.task.data().split(split).len()
    }

    fn fold_count(&self) -> Option<usize> {
        self.task.data().fold_count()
    }

    fn shares_data_with(&self, other: &dyn Plan) -> bool {
        self.data_address() == other.data_address()
    }

    fn data_address(&self) -> *const () {
        Arc::as_ptr(self.task.data()).cast()
    }
}

/// Plans runs one after another, and loads the same dataset only once.
#[derive(Default)]
pub struct Planner {
    /// The last dataset of each type, with its config and, if the split depends on it, the seed.
    datasets: HashMap<TypeId, Box<dyn Any>>,
    pub(crate) ranks: Ranks,
}

/// A dataset in memory: its config, the seed of its split, and the data.
type Kept<T> = (<T as Task>::DataConfig, Option<u64>, Arc<<T as Task>::Data>);

/// What planning a run needs.
pub(crate) struct Request<'a> {
    pub planner: &'a mut Planner,
    pub document: &'a Document,
    pub cache: &'a Cache,
    pub train: TrainConfig,
}

impl Request<'_> {
    /// The dataset, from memory if it is the same as before.
    pub fn data<T: Task>(&mut self) -> Result<Arc<T::Data>> {
        let config: T::DataConfig = self.document.data()?;
        let seed = T::split_per_seed(&config).then_some(self.train.seed);
        let kept = self.planner.datasets.remove(&TypeId::of::<T::Data>());
        let kept = kept.and_then(|kept| kept.downcast::<Kept<T>>().ok());
        let data = match kept.map(|kept| *kept) {
            Some((before, of, data)) if before == config && of == seed => data,
            _ => Arc::new(T::load(&config, self.cache, self.train.seed, &self.planner.ranks)?),
        };
        let kept: Kept<T> = (config, seed, Arc::clone(&data));
        self.planner.datasets.insert(TypeId::of::<T::Data>(), Box::new(kept));
        Ok(data)
    }

    /// The plan of a task.
    pub fn plan<T: Task>(mut self, kind: &'static str) -> Result<Box<dyn Plan>> {
        let data = T::view(self.data::<T>()?)?;
        let net = T::net_config(self.document.model()?, &data)?.resolved();
        let task = T::new(data, net, &self.train, &self.planner.ranks)?;
        let mut planned = Planned::new(kind, self.train, task)?;
        planned.tuned = self.document.tuned()?;
        Ok(Box::new(planned))
    }
}

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The variant, or the name of the folder.
    pub label: String,
    /// The config of this run.
    pub document: Document,
    /// Its folder.
    pub folder: PathBuf,
}

/// Every variant of a config, from every seed. A single run stands in `folder` itself, several in folders below it.
pub fn run_specs(document: &Document, folder: &Path, seeds: Option<u32>) -> Result<Vec<RunSpec>> {
    let mut variants = Vec::new();
    for name in document.variants() {
        variants.push((name.clone(), document.variant(&name)?, folder.join(&name)));
    }
    if variants.is_empty() {
        let label = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        variants.push((label, document.clone(), folder.to_owned()));
    }
    let mut specs = Vec::new();
    for (label, document, folder) in variants {
        let Some(seeds) = seeds else {
            specs.push(RunSpec { label, document, folder });
            continue;
        };
        let first = document.seed();
        for seed in first..first.saturating_add(u64::from(seeds)) {
            let mut document = document.clone();
            document.set(&format!("train.seed={seed}"))?;
            let folder = folder.join(format!("seed-{seed}"));
            specs.push(RunSpec { label: label.clone(), document, folder });
        }
    }
    Ok(specs)
}

impl Planner {
    /// The same for runs that several ranks train together: all of them plan the same runs in the same order, and what they read at the
    /// start is divided among them.
    #[must_use]
    pub fn with_ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = ranks;
        self
    }

    /// Every run once for each fold, in folders `fold-0`, `fold-1`, …
    pub fn fold_specs(&mut self, specs: &[RunSpec], count: FoldCount, cache: &Cache) -> Result<Vec<RunSpec>> {
        let mut folds = Vec::new();
        for spec in specs {
            let mut document = spec.document.clone();
            document.split_into(count)?;
            let number = match count {
                FoldCount::Number(number) => number,
                FoldCount::Groups => {
                    let plan = self.plan(&document, cache)?;
                    plan.fold_count().ok_or_else(|| {
                        let expected = "these data have no groups (subjects) to leave out";
                        Error::config("data", "split.rule", "leave-one-group-out", expected)
                    })?
                }
            };
            for fold in 0..number {
                let mut document = document.clone();
                document.put(&["data", "split", "fold"], toml::Value::Integer(fold as i64))?;
                let (label, folder) = (spec.label.clone(), spec.folder.join(format!("fold-{fold}")));
                folds.push(RunSpec { label, document, folder });
            }
        }
        Ok(folds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_variants_times_seeds() {
        let text = "[train]\nseed = 5\n[variant.b]\n[variant.a]\ntrain.seed = 7";
        let document = Document::parse(text).unwrap();
        let specs = run_specs(&document, Path::new("runs/x"), Some(2)).unwrap();
        let folders: Vec<String> = specs.iter().map(|spec| spec.folder.display().to_string()).collect();
        assert_eq!(folders, ["runs/x/b/seed-5", "runs/x/b/seed-6", "runs/x/a/seed-7", "runs/x/a/seed-8"]);
        assert_eq!(specs[3].document.train().unwrap().seed, 8);
        let plain = Document::parse("").unwrap();
        let single = run_specs(&plain, Path::new("runs/x"), None).unwrap();
        assert_eq!((single[0].label.as_str(), single[0].folder.as_path()), ("x", Path::new("runs/x")));
    }
}
