//! `matnet tune`: which values of some keys do best on the validation split.
//!
//! Trials are drawn at random from `[search]`, by a seed. Successive halving spends epochs on the promising ones: all are trained
//! for a few epochs, the best third goes on from its checkpoints for three times as many, and so on. Every variant of a config
//! has a search of its own, with as many trials. The test split takes no part: trials are trained by
//! [`Plan::try_out`](crate::Plan::try_out), which does not evaluate it.
//!
//! A search is exact as a run is. Every trial leaves a record after every rung, so that a killed search resumes with
//! the same trials to the same end, and several processes can work on it together.

mod halving;
mod output;
#[cfg(feature = "report")]
mod page;
mod record;
mod rungs;
mod space;

use std::path::{Path, PathBuf};

use matnet_data::catalog::Cache;
use toml::{Table, Value};

use self::halving::Standing;
pub use self::output::{Best, TRIALS};
#[cfg(feature = "report")]
pub use self::page::{trials_table, tune_page};
use self::rungs::{Worker, climb};
pub use self::space::{Domain, SearchSpace};
use crate::config::Document;
use crate::metrics::Metric;
use crate::part::Part;
use crate::plan::Planner;
use crate::run::{Run, files, text_difference};
use crate::trainer::{Moved, Options, TrialScore};
use crate::{Error, Result, Split};

/// The file that says what a folder searches.
const SEARCH: &str = "search.toml";

/// How a search is carried out.
#[derive(Clone, Copy, Debug)]
pub struct TuneOptions {
    /// Trials of each net.
    pub trials: usize,
    /// The seed that draws them.
    pub seed: u64,
    /// The epochs of the first rung; by default about a ninth of all.
    pub min_epochs: Option<usize>,
}

/// A search over all nets of a config.
pub struct Search {
    folder: PathBuf,
    document: Document,
    options: TuneOptions,
    /// One for each variant, or one.
    pub nets: Vec<NetSearch>,
}

/// The search for one net.
pub struct NetSearch {
    /// The variant, if the config has any.
    pub name: Option<String>,
    /// What is searched.
    pub space: SearchSpace,
    /// The seeds of every trial.
    pub seeds: Vec<u64>,
    /// The epochs of every rung.
    pub rungs: Vec<usize>,
    /// What trials are judged by, on the validation split.
    pub metric: Metric,
    /// The trials.
    pub trials: Vec<Trial>,
    document: Document,
}

/// Some values of the keys, and how far they have come.
#[derive(Clone, Debug)]
pub struct Trial {
    /// From 1.
    pub number: usize,
    /// The values, in the order of the keys.
    pub values: Vec<Value>,
    /// Rungs it was trained for.
    pub rungs: usize,
    /// Epochs it was trained for.
    pub epochs: usize,
    /// The mean over the seeds of what is compared, and of the loss, in the last of these rungs.
    pub standing: Standing,
    /// Where it diverged, if it did.
    pub diverged: Option<String>,
}

/// What a search reports while it runs.
#[derive(Clone, Copy, Debug)]
pub enum TuneEvent<'a> {
    /// A trial is about to resume elsewhere than its checkpoint was computed.
    Moved {
        /// The net, if there are several.
        net: Option<&'a str>,
        /// Its number.
        trial: usize,
        /// From where to where.
        moved: &'a Moved,
    },
    /// A rung begins.
    Rung {
        /// The net, if there are several.
        net: Option<&'a str>,
        /// From 1.
        rung: usize,
        /// How many there are.
        rungs: usize,
        /// The epochs that trials have at its end.
        epochs: usize,
        /// How many trials are in it.
        trials: usize,
    },
    /// A trial has been trained for a rung.
    Trial {
        /// The net, if there are several.
        net: Option<&'a str>,
        /// Its number.
        trial: usize,
        /// Its seed.
        seed: u64,
        /// Which of the rung's trainings this is, from 1, and how many there are.
        place: (usize, usize),
        /// Its score; `None` if it diverged.
        score: Option<TrialScore>,
        /// What was measured.
        metric: Metric,
    },
}

/// Receives the events of a search and may stop it.
pub trait TuneObserver {
    /// Receives an event.
    fn event(&mut self, event: TuneEvent);
    /// Whether to save a checkpoint and stop now.
    fn stop(&mut self) -> bool {
        false
    }
}

impl Trial {
    /// `trial-007`
    fn folder(&self) -> String {
        format!("trial-{:03}", self.number)
    }

    /// Its values by key: `model.depth = 3, train.l2 = 0.1`.
    pub fn describe(&self, space: &SearchSpace) -> String {
        let each = space.keys.iter().zip(&self.values).map(|((key, _), value)| format!("{key} = {value}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

impl Search {
    /// Draws the trials of every net and checks all of them, so that nothing is trained in vain.
    pub fn plan(
        document: &Document,
        folder: &Path,
        options: TuneOptions,
        planner: &mut Planner,
        cache: &Cache,
        training: &Options,
    ) -> Result<Self> {
        let names = document.variants();
        let mut nets = Vec::new();
        if names.is_empty() {
            nets.push(NetSearch::plan(None, document, options, planner, cache, training)?);
        }
        for name in &names {
            let variant = document.variant(name)?;
            let net = NetSearch::plan(Some(name.clone()), &variant, options, planner, cache, training);
            nets.push(net.map_err(|error| error.within(format!("variant {name}")))?);
        }
        Ok(Self { folder: folder.to_owned(), document: document.clone(), options, nets })
    }

    /// Removes what an earlier search left in a folder, and nothing else.
    pub fn clear(&self) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let _lock = Run::at(&self.folder).lock()?;
        let mut folders = vec![self.folder.clone()];
        folders.extend(self.nets.iter().filter_map(|net| Some(self.folder.join(net.name.as_ref()?))));
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let number = name.strip_prefix("trial-").is_some_and(|rest| rest.parse::<u64>().is_ok());
                if number && entry.path().is_dir() {
                    let removed = std::fs::remove_dir_all(entry.path());
                    removed.map_err(|error| Error::io(entry.path(), error))?;
                } else if name.starts_with("best") && name.ends_with(".toml")
                    || [SEARCH, TRIALS, "report.html"].contains(&name.as_str())
                {
                    files::remove(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Trains the trials, or resumes them, and writes the table, the report and the best config.
    pub fn run(
        &mut self,
        planner: &mut Planner,
        cache: &Cache,
        options: &Options,
        observer: &mut dyn TuneObserver,
    ) -> Result<Vec<Best>> {
        let _lock = Run::at(&self.folder).lock()?;
        self.claim()?;
        let mut worker = Worker { planner, cache, options, observer, part: None };
        let winners = climb(&mut self.nets, &self.folder, &mut worker)?;
        let missing = |net: &NetSearch| {
            let of = net.name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
            let trials = net.trials.len();
            Error::NotFinite(format!(
                "all {trials} trials{of} diverged; a search over smaller values of train.learning_rate would help"
            ))
        };
        let winners = self.nets.iter().zip(winners).map(|(net, winner)| winner.ok_or_else(|| missing(net)));
        let winners = winners.collect::<Result<Vec<_>>>()?;
        self.write(&winners)
    }

    /// Trains the trials together with other processes that do the same, until all are trained. [`run`](Self::run) then only
    /// collects the results.
    pub fn work(
        &mut self,
        part: Part,
        planner: &mut Planner,
        cache: &Cache,
        options: &Options,
        observer: &mut dyn TuneObserver,
    ) -> Result<()> {
        let _lock = Run::at(&self.folder).lock_together()?;
        self.claim()?;
        let mut worker = Worker { planner, cache, options, observer, part: Some(part) };
        climb(&mut self.nets, &self.folder, &mut worker).map(drop)
    }

    /// Makes the folder that of this search, unless it is that of another.
    fn claim(&self) -> Result<()> {
        let (path, text) = (self.folder.join(SEARCH), self.text());
        match files::read_text(&path)?.and_then(|before| text_difference(&before, &text)) {
            Some(difference) => {
                let what = format!(
                    "the folder holds another search ({difference}); --out chooses another folder, --fresh overwrites it"
                );
                Err(Error::run(&self.folder, what))
            }
            None => files::write(&path, text.as_bytes()),
        }
    }

    /// What is searched, for the record.
    fn text(&self) -> String {
        let TuneOptions { trials, seed, .. } = self.options;
        let number = |number: usize| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let mut table = Table::new();
        table.insert("version".to_owned(), Value::String(env!("CARGO_PKG_VERSION").to_owned()));
        table.insert("trials".to_owned(), number(trials));
        table.insert("seed".to_owned(), Value::Integer(seed as i64));
        let rungs = self.nets.iter().map(|net| Value::Array(net.rungs.iter().copied().map(number).collect()));
        table.insert("rungs".to_owned(), Value::Array(rungs.collect()));
        let table: Table = [("tune".to_owned(), Value::Table(table))].into_iter().collect();
        format!(
            "# What `matnet tune` searches here.\n\n{}\n{}",
            toml::to_string(&table).unwrap_or_default(),
            self.document.text()
        )
    }
}

impl NetSearch {
    fn plan(
        name: Option<String>,
        document: &Document,
        options: TuneOptions,
        planner: &mut Planner,
        cache: &Cache,
        training: &Options,
    ) -> Result<Self> {
        let space = SearchSpace::of(document)?;
        let mut base = document.without(&["search", "tuned"]);
        base.remove("train", "log_test");
        let epochs = base.train()?.epochs;
        let seeds = space.seeds.clone().unwrap_or_else(|| vec![base.seed()]);
        let min = options.min_epochs.unwrap_or(halving::default_min(epochs));
        let (rungs, metric) = (halving::rungs(min, epochs), Metric::Loss);
        let trials = draw(&space, options);
        let mut search = Self { name, space, seeds, rungs, metric, trials, document: base };
        search.check(planner, cache, training)?;
        Ok(search)
    }

    /// Plans every trial, and every choice and both ends of every range, which few trials might miss.
    fn check(&mut self, planner: &mut Planner, cache: &Cache, training: &Options) -> Result<()> {
        let mut plan = |document: &Document| {
            let plan = planner.plan(document, cache)?;
            plan.check(training).map(|_| plan)
        };
        let first = self.trial_document(&self.trials[0], self.seeds[0])?;
        for (key, domain) in &self.space.keys {
            for value in domain.examples() {
                let mut document = first.clone();
                document.put(&key.split('.').collect::<Vec<_>>(), value)?;
                plan(&document).map_err(|error| error.within("search"))?;
            }
        }
        for trial in &self.trials {
            let document = self.trial_document(trial, self.seeds[0])?;
            let plan = plan(&document).map_err(|error| {
                error.within(format!("trial {} ({})", trial.number, trial.describe(&self.space)))
            })?;
            if plan.split_size(Split::Valid) == 0 {
                let expected = "a search judges by the validation split; data.split.valid makes one";
                return Err(Error::config("data", "split.valid", "is empty", expected));
            }
            self.metric = plan.train_config().monitor.unwrap_or(Metric::Loss);
        }
        self.space.check_measure(&first, self.metric == Metric::Loss)
    }

    fn trial_document(&self, trial: &Trial, seed: u64) -> Result<Document> {
        let mut document = self.space.apply(&self.document, &trial.values)?;
        document.put(&["train", "seed"], Value::Integer(seed as i64))?;
        Ok(document)
    }
}

/// Draws trials that differ from each other, as long as there are any.
fn draw(space: &SearchSpace, options: TuneOptions) -> Vec<Trial> {
    /// Draws until a new combination is found; enough for all but the last of a large list.
    const ATTEMPTS: usize = 1000;
    let mut trials: Vec<Trial> = Vec::new();
    for number in 1..=options.trials {
        if space.combinations().is_some_and(|all| trials.len() as u64 >= all) {
            break;
        }
        let new = (0..ATTEMPTS)
            .map(|attempt| space.draw(options.seed, number, attempt))
            .find(|values| trials.iter().all(|trial| trial.values != *values));
        let Some(values) = new else { break };
        trials.push(Trial { number, values, rungs: 0, epochs: 0, standing: None, diverged: None });
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_differ_until_there_are_no_more() {
        let text = "[search]\nmodel.depth = [1, 2, 3]\nmodel.hidden = [[4, 4], [5, 5]]";
        let space = SearchSpace::of(&Document::parse(text).unwrap()).unwrap();
        let trials = |trials| draw(&space, TuneOptions { trials, seed: 1, min_epochs: None });
        assert_eq!((trials(4).len(), trials(50).len()), (4, 6));
        // The first trials do not depend on how many there are.
        assert!(trials(4).iter().zip(trials(50)).all(|(a, b)| a.values == b.values));
        assert!(trials(1)[0].describe(&space).starts_with("model.depth = "));
    }
}
