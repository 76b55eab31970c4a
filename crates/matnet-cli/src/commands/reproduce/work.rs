//! The runs of an experiment: checked, trained one after another, and taken up again where they were left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet_data::cache::Cache;
use matnet_train::compare::Planner;
use matnet_train::run::{Plan, RunResult};
use matnet_train::{Error, Options, Run, train};

use super::experiment::{Experiment, Files, Step};
use super::pace::{Pace, Watch};
use super::results::{self, Results, Section};
use crate::cli::Reproduce;
use crate::commands::report;
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// What stands in the folder of a run whose numbers stopped being numbers.
const DIVERGED: &str = "diverged.txt";

/// An experiment with all its runs.
pub struct Work {
    pub experiment: Experiment,
    pub folder: PathBuf,
    pub steps: Vec<Step>,
    pub results: Results,
    /// How many were trained by this process.
    pub fresh: usize,
    /// Whether runs with other settings are trained again.
    again: bool,
    /// The folders whose runs are trained; all if there are none.
    only: Vec<PathBuf>,
}

/// The folder of all seeds of a run.
fn cell(step: &Step) -> &Path {
    step.job.folder.parent().unwrap_or(&step.job.folder)
}

/// Whether a run is in one of the folders below `root` that are asked for; all are if there are none.
fn asked_for(only: &[PathBuf], root: &Path, step: &Step) -> bool {
    let place = step.job.folder.strip_prefix(root).unwrap_or(&step.job.folder);
    only.is_empty() || only.iter().any(|folder| place.starts_with(folder))
}

impl Work {
    /// Understands an experiment and fails if one of its runs could not begin.
    pub fn plan(
        files: &Files,
        args: &Reproduce,
        folder: PathBuf,
        cache: &Cache,
        planner: &mut Planner,
        pace: &mut Pace,
    ) -> Result<Self, Failure> {
        let mut experiment = files.experiment(args.size)?;
        let seeds = args.seeds.unwrap_or(experiment.seeds);
        let mut steps = files.steps(&experiment, seeds, &args.set, &folder)?;
        let (mut results, mut missing) = (Results::default(), Vec::new());
        let mut operations = BTreeMap::<PathBuf, f64>::new();
        for step in &steps {
            let (table, column, row) = step.cell;
            let data = &experiment.tables[table].columns[column];
            if missing.contains(&(table, column)) || operations.contains_key(cell(step)) {
                continue;
            }
            match planner.check(&step.job.document, cache) {
                Ok(number) => {
                    operations.insert(cell(step).to_owned(), number);
                    let run = Run::at(&step.job.folder);
                    if run.exists() && !(args.fresh && asked_for(&args.only, &folder, step)) {
                        same_settings(&run, &planner.plan(&step.job.document, cache)?, false)?;
                    }
                }
                Err(Error::Data(matnet_data::Error::Missing(_))) if data.optional => {
                    missing.push((table, column));
                    let source = step.job.document.source().unwrap_or("the data").to_owned();
                    results.left_out.push(format!("Left out: {}; {source} is not here.", data.label));
                }
                Err(error) => {
                    let net = &experiment.tables[table].rows[row].label;
                    let what = format!("{}, {net}, {}", files.name, data.label);
                    return Err(error.about(&what).into());
                }
            }
        }
        missing.sort_unstable();
        for (table, column) in missing.into_iter().rev() {
            experiment.tables[table].columns.remove(column);
            steps = files.steps(&experiment, seeds, &args.set, &folder)?;
        }
        for step in &steps {
            pace.expect(&step.job.folder, operations.get(cell(step)).copied().unwrap_or(0.0));
        }
        let only = args.only.clone();
        Ok(Self { experiment, folder, steps, results, fresh: 0, again: args.fresh, only })
    }

    /// The runs that may be trained now.
    pub fn wanted_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| self.wanted(step))
    }

    fn wanted(&self, step: &Step) -> bool {
        asked_for(&self.only, &self.folder, step)
    }

    /// Trains what is not trained yet; `later` are the folders of runs that come after this experiment.
    pub fn train(
        &mut self,
        pace: &mut Pace,
        later: &[PathBuf],
        device: &Device,
        cache: &Cache,
        planner: &mut Planner,
    ) -> Outcome {
        let count = self.steps.len();
        let mut unwritten = 0;
        for at in 0..count {
            let step = &self.steps[at];
            let run = Run::at(&step.job.folder);
            if !self.wanted(step) && ended(&run)?.is_none() {
                continue;
            }
            let plan = planner.plan(&step.job.document, cache)?;
            same_settings(&run, &plan, self.again && self.wanted(step))?;
            let waiting = self.steps[at + 1..].iter().filter(|step| self.wanted(step));
            let waiting = waiting.map(|step| &step.job.folder).chain(later);
            let waiting: Vec<&Path> = waiting.map(PathBuf::as_path).collect();
            let name = format!("{}/{count} {}", at + 1, run.folder().display());
            let ended = match ended(&run)? {
                Some(ended) => ended,
                None => {
                    if self.fresh == 0 {
                        self.experiment.stand_in.iter().for_each(|note| eprintln!("{note}"));
                    }
                    let watch = Watch::new(name.clone(), pace.left(&waiting));
                    let ended = train_one(&plan, &run, device, watch)?;
                    pace.done(run.folder());
                    let left = text::duration(pace.left(&waiting));
                    eprintln!("{name}: {}, about {left} left", self.said(step, &ended));
                    self.fresh += 1;
                    unwritten += 1;
                    ended
                }
            };
            match ended {
                Ok(result) => self.results.add(step.cell, run, result),
                Err(what) => self.results.diverged.push(format!("{}: {what}", run.folder().display())),
            }
            // Whoever looks while it goes on finds what there is.
            let round = self.steps.get(at + 1).is_some_and(|next| next.cell == self.steps[0].cell);
            if unwritten >= 20 || unwritten > 0 && round {
                unwritten = 0;
                self.write(&self.sections())?;
            }
        }
        Ok(())
    }

    /// What a run came to.
    fn said(&self, step: &Step, ended: &Ended) -> String {
        let Ok(result) = ended else {
            return "came to nothing, its numbers stopped being numbers".to_owned();
        };
        let measure = self.experiment.tables[step.cell.0].measures[0];
        let number = measure.of(result).map_or("–".to_owned(), |number| measure.said(number));
        format!("{} {number}, {}", measure.axis(), text::counted(result.epochs, "epoch"))
    }

    /// Tables and sentences, without figures.
    pub fn sections(&self) -> Vec<Section> {
        let tables = self.experiment.tables.iter().enumerate();
        tables.map(|(number, table)| Section::new(number, table, &self.results)).collect()
    }

    /// Writes everything that is done.
    pub fn write(&self, sections: &[Section]) -> Outcome {
        results::write(&self.folder, &self.experiment, &self.results, sections, self.steps.len())
    }
}

/// A run is not taken for one with other settings: it is an error, or it is cleared away to be trained again.
fn same_settings(run: &Run, plan: &Plan, again: bool) -> Outcome {
    let Some(difference) = run.difference(&plan.config()) else { return Ok(()) };
    // What another version of matnet came to still counts.
    if difference.starts_with("run.version") && run.result()?.is_some() {
        return Ok(());
    }
    if !again {
        return Err(Failure::Failed(format!(
            "{}: a run with other settings stands here ({difference}); --fresh trains such runs again, --out chooses another folder",
            run.folder().display()
        )));
    }
    run.clear()?;
    match std::fs::remove_file(run.path(DIVERGED)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// How a run ended: with a result, or where its numbers stopped being numbers.
type Ended = Result<RunResult, String>;

/// How a run ended, if it has.
fn ended(run: &Run) -> Result<Option<Ended>, Failure> {
    Ok(match run.result()? {
        Some(result) => Some(Ok(result)),
        None => std::fs::read_to_string(run.path(DIVERGED)).ok().map(Err),
    })
}

/// Trains a run, or goes on with it.
fn train_one(plan: &Plan, run: &Run, device: &Device, mut watch: Watch) -> Result<Ended, Failure> {
    interrupt::watch();
    let options = Options { device: device.clone(), ..Options::default() };
    match train(plan, run, &options, &mut watch) {
        Ok(outcome) => {
            report::write(run, plan, device)?;
            Ok(Ok(outcome.result))
        }
        Err(Error::NotFinite(what)) => {
            matnet_train::write_file(&run.path(DIVERGED), what.as_bytes())?;
            Ok(Err(what))
        }
        Err(other) => Err(other.into()),
    }
}
