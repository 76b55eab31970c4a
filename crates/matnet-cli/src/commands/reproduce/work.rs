//! The runs of an experiment: checked, trained one after another, and taken up again where they were left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use burn::tensor::Device;
use matnet_data::cache::Cache;
use matnet_train::compare::Planner;
use matnet_train::run::Plan;
use matnet_train::{Error, Options, Run, train};

use super::experiment::{Experiment, Files, Step};
use super::figure::{self, Which};
use super::folder;
use super::measure::{Measure, note_rise};
use super::pace::{Pace, Watch};
use super::results::{self, Earlier, Results, Section};
use super::standing::{DIVERGED, Ended, Standing, clear, ended, other_settings};
use crate::cli::Reproduce;
use crate::commands::report;
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// The least time between two reports while runs go on.
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);

/// What training and drawing need.
pub struct Tools<'a> {
    pub device: &'a Device,
    pub cache: &'a Cache,
    pub planner: &'a mut Planner,
}

/// An experiment with all its runs.
pub struct Work {
    pub experiment: Experiment,
    pub folder: PathBuf,
    pub steps: Vec<Step>,
    pub results: Results,
    /// Which of the steps the results tell of.
    told: Vec<bool>,
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
        let has_runs = steps.iter().any(|step| Run::at(&step.job.folder).exists());
        folder::check(&folder, &experiment.title, has_runs)?;
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
                    if run.folder().exists() && !(args.fresh && asked_for(&args.only, &folder, step)) {
                        let plan = planner.plan(&step.job.document, cache)?;
                        if let Standing::Other(difference) = Standing::of(&run, &plan, false) {
                            return Err(other_settings(&run, &difference));
                        }
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
        let (told, only) = (vec![false; steps.len()], args.only.clone());
        Ok(Self { experiment, folder, steps, results, told, fresh: 0, again: args.fresh, only })
    }

    /// The runs that may be trained now.
    pub fn wanted_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| self.wanted(step))
    }

    fn wanted(&self, step: &Step) -> bool {
        asked_for(&self.only, &self.folder, step)
    }

    /// Trains what is not trained yet; `later` are the folders of runs that come after this experiment.
    pub fn train(&mut self, pace: &mut Pace, later: &[PathBuf], tools: &mut Tools) -> Outcome {
        self.take_up(tools)?;
        let trained = self.train_others(pace, later, tools);
        if let Err(Failure::Interrupted) = trained {
            self.write_meanwhile(tools)?;
        }
        trained?;
        stop_if_asked()?;
        // Another process may have trained others in the same folder.
        self.take_up(tools)
    }

    /// Takes up every run that has ended, and marks it as told.
    fn take_up(&mut self, tools: &mut Tools) -> Outcome {
        let mut order: Vec<usize> = (0..self.steps.len()).filter(|at| !self.told[*at]).collect();
        // Runs on the same data one after another, so that these are loaded once.
        order.sort_by_cached_key(|at| {
            let (table, column, row) = self.steps[*at].cell;
            (table, column, self.steps[*at].job.folder.file_name().map(ToOwned::to_owned), row)
        });
        for at in order {
            let step = &self.steps[at];
            let run = Run::at(&step.job.folder);
            if matches!(ended(&run), Ok(None)) {
                continue;
            }
            let again = self.again && self.wanted(step);
            let plan = tools.planner.plan(&step.job.document, tools.cache)?;
            match Standing::of(&run, &plan, again) {
                Standing::Ended(ended) => self.tell(at, run, ended),
                Standing::Damaged(what) if !again => self.tell_damage(at, &what),
                Standing::Other(difference) if !again => return Err(other_settings(&run, &difference)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Trains the runs that are wanted and not told yet.
    fn train_others(&mut self, pace: &mut Pace, later: &[PathBuf], tools: &mut Tools) -> Outcome {
        let count = self.steps.len();
        let (mut written, mut took) = (Instant::now(), Duration::ZERO);
        for at in 0..count {
            let step = &self.steps[at];
            if self.told[at] || !self.wanted(step) {
                continue;
            }
            let run = Run::at(&step.job.folder);
            let plan = tools.planner.plan(&step.job.document, tools.cache)?;
            match Standing::of(&run, &plan, self.again) {
                Standing::Open => {}
                Standing::Other(_) | Standing::Damaged(_) if self.again => clear(&run)?,
                Standing::Other(difference) => return Err(other_settings(&run, &difference)),
                Standing::Damaged(what) => {
                    self.tell_damage(at, &what);
                    continue;
                }
                Standing::Ended(ended) => {
                    self.tell(at, run, ended);
                    continue;
                }
            }
            if self.fresh == 0 {
                self.experiment.stand_in.iter().for_each(|note| eprintln!("{note}"));
            }
            let waiting = self.steps[at + 1..].iter().filter(|step| self.wanted(step));
            let waiting = waiting.map(|step| &step.job.folder).chain(later);
            let waiting: Vec<&Path> = waiting.map(PathBuf::as_path).collect();
            let name = format!("{}/{count} {}", at + 1, run.folder().display());
            let watch = || Watch::new(name.clone(), pace.left(&waiting));
            let ended = match train_one(&plan, &run, tools.device, watch()) {
                Err(Error::Damaged { .. }) if self.again => {
                    clear(&run)?;
                    train_one(&plan, &run, tools.device, watch())
                }
                other => other,
            };
            match ended {
                Ok(ended) => {
                    report_on(&ended, &run, &plan, tools.device)?;
                    pace.done(run.folder());
                    let left = text::duration(pace.left(&waiting));
                    eprintln!("{name}: {}, about {left} left", self.said(step, &ended));
                    self.fresh += 1;
                    self.tell(at, run, ended);
                }
                Err(error @ Error::Damaged { .. }) => self.tell_damage(at, &error.to_string()),
                Err(error) => return Err(error.into()),
            }
            // Whoever looks while it goes on finds what there is.
            if written.elapsed() > BETWEEN_REPORTS.max(20 * took) {
                let begun = Instant::now();
                self.write_meanwhile(tools)?;
                (written, took) = (Instant::now(), begun.elapsed());
            }
        }
        Ok(())
    }

    fn tell(&mut self, at: usize, run: Run, ended: Ended) {
        self.told[at] = true;
        let cell = self.steps[at].cell;
        match ended {
            Ok(mut result) => {
                if self.experiment.tables[cell.0].measures.contains(&Measure::Rise) {
                    note_rise(&run, &mut result);
                }
                self.results.add(cell, run, result);
            }
            Err(what) => self.results.add_nothing(cell, run, what),
        }
    }

    fn tell_damage(&mut self, at: usize, what: &str) {
        self.told[at] = true;
        self.damaged(what);
    }

    /// Notes what is missing because a file of a run is damaged.
    pub fn damaged(&mut self, what: &str) {
        let what = match what.contains("--fresh") {
            true => what.to_owned(),
            false => format!("{what}; --fresh trains the run again"),
        };
        eprintln!("damaged: {what}");
        self.results.damaged.push(what);
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

    /// What stands before the tables.
    pub fn notes(&self) -> Vec<String> {
        let steps = self.steps.iter().zip(&self.told);
        let untold: Vec<&Step> = steps.filter(|(_, told)| !**told).map(|(step, _)| step).collect();
        let to_come = match untold.iter().any(|step| self.wanted(step)) {
            true => "the same command goes on",
            false if untold.is_empty() => "--fresh trains the others again",
            false => "the command without --only goes on with the others",
        };
        let stand_in = self.experiment.stand_in.iter().cloned();
        stand_in.chain(self.results.notes(self.steps.len(), to_come)).collect()
    }

    /// Tables and sentences, without figures.
    pub fn sections(&self) -> Vec<Section> {
        let tables = self.experiment.tables.iter().enumerate();
        tables.map(|(number, table)| Section::new(number, table, &self.results)).collect()
    }

    /// Tables, sentences and all figures.
    pub fn drawn(&mut self, tools: &mut Tools) -> Result<Vec<Section>, Failure> {
        let mut sections = self.sections();
        for (number, section) in sections.iter_mut().enumerate() {
            let (figures, damaged) = figure::draw(self, number, tools, Which::All)?;
            section.figures = figures;
            damaged.iter().for_each(|what| self.damaged(what));
        }
        Ok(sections)
    }

    /// Writes everything that is done.
    pub fn write(&self, sections: &[Section]) -> Outcome {
        interrupt::watch();
        results::write(&self.folder, &self.experiment, &self.notes(), sections)?;
        stop_if_asked()
    }

    /// The same before all is done: figures that are quickly drawn, and those of the report before.
    fn write_meanwhile(&self, tools: &mut Tools) -> Outcome {
        let (mut sections, earlier) = (self.sections(), Earlier::all(&self.folder));
        let tables = self.experiment.tables.iter();
        for ((number, table), section) in tables.enumerate().zip(&mut sections) {
            section.figures = figure::draw(self, number, tools, Which::Quick)?.0;
            let kept = earlier.iter().filter(|earlier| earlier.is_kept(&table.title, &section.figures));
            section.earlier = kept.cloned().collect();
        }
        self.write(&sections)
    }
}

/// Stops if the user wants to, and lets Ctrl-C end the process at once until something is trained or written again.
fn stop_if_asked() -> Outcome {
    interrupt::unwatch();
    if interrupt::asked() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Trains a run, or goes on with it.
fn train_one(plan: &Plan, run: &Run, device: &Device, mut watch: Watch) -> matnet_train::Result<Ended> {
    interrupt::watch();
    let options = Options { device: device.clone(), ..Options::default() };
    let trained = match train(plan, run, &options, &mut watch) {
        // A damaged state is no loss while the one before it is good.
        Err(error @ Error::Damaged { .. }) => {
            match train(plan, run, &Options { from_previous: true, ..options }, &mut watch) {
                Err(Error::Damaged { .. } | Error::Io { .. }) => Err(error),
                other => other,
            }
        }
        other => other,
    };
    match trained {
        Ok(outcome) => Ok(Ok(outcome.result)),
        Err(Error::NotFinite(what)) => {
            matnet_train::write_file(&run.path(DIVERGED), what.as_bytes())?;
            Ok(Err(what))
        }
        Err(other) => Err(other),
    }
}

/// Writes the report of a run that came to something.
fn report_on(ended: &Ended, run: &Run, plan: &Plan, device: &Device) -> Outcome {
    if ended.is_ok() { report::write(run, plan, device) } else { Ok(()) }
}
