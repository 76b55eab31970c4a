//! The runs of an experiment: checked, trained one after another, resumed where they were interrupted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use matnet_cli::failure::{Failure, Outcome};
use matnet_cli::{interrupt, say};
use matnet_report::text;
use matnet_train::{Error, Options, Run, write_file};

use crate::args::ReproduceArgs;
use crate::context::Context;
use crate::earlier_figure::EarlierFigure;
use crate::earlier_numbers::EarlierNumbers;
use crate::experiment::Experiment;
use crate::figure::{self, Cost};
use crate::files::{CellRun, ExperimentFiles};
use crate::folder;
use crate::metric::{Metric, add_largest_error_rise, add_train_seconds};
use crate::progress::RunProgress;
use crate::report;
use crate::results::Results;
use crate::run_state::{RunEnd, RunState, clear, end, other_settings, train};
use crate::section::Section;

/// The shortest time between two reports during training.
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);

/// An experiment with all its runs.
pub struct Reproduction<'a> {
    pub experiment: Experiment,
    pub folder: PathBuf,
    pub runs: Vec<CellRun>,
    pub results: Results,
    /// Which of the runs are in the results.
    collected: Vec<bool>,
    /// How many were trained by this process.
    pub trained: usize,
    /// The numbers of runs that are not here.
    earlier: Option<EarlierNumbers>,
    args: &'a ReproduceArgs,
}

/// The folder of all seeds of a run.
fn cell_folder(run: &CellRun) -> &Path {
    run.spec.folder.parent().unwrap_or(&run.spec.folder)
}

/// Whether a run is in one of the folders of `--only`; all are if there are none.
fn is_wanted(args: &ReproduceArgs, root: &Path, run: &CellRun) -> bool {
    let place = run.spec.folder.strip_prefix(root).unwrap_or(&run.spec.folder);
    args.only.is_empty() || args.only.iter().any(|folder| place.starts_with(folder))
}

impl<'a> Reproduction<'a> {
    /// Plans all runs of an experiment and fails if one of them could not be trained.
    pub fn plan(
        files: &ExperimentFiles,
        args: &'a ReproduceArgs,
        folder: PathBuf,
        context: &mut Context,
    ) -> Result<Self, Failure> {
        let mut experiment = files.experiment(args.size)?;
        let mut runs = files.runs(&experiment, args.seeds, &args.set, &folder)?;
        let has_runs = runs.iter().any(|run| Run::at(&run.spec.folder).exists());
        folder::check(&folder, &experiment.title, has_runs)?;
        let (mut results, mut missing) = (Results::default(), Vec::new());
        results.left_out.clone_from(&experiment.left_out);
        let mut operations = BTreeMap::<PathBuf, f64>::new();
        let options = Options::default().with_device(context.device.clone());
        for cell_run in &runs {
            let (table, column, row) = cell_run.cell;
            let data = &experiment.tables[table].columns[column];
            if missing.contains(&(table, column)) || operations.contains_key(cell_folder(cell_run)) {
                continue;
            }
            let plan = context.planner.plan(&cell_run.spec.document, context.cache);
            match plan.and_then(|plan| Ok((plan.check(&options)?, plan))) {
                Ok((number, plan)) => {
                    operations.insert(cell_folder(cell_run).to_owned(), number);
                    let run = Run::at(&cell_run.spec.folder);
                    if run.folder().exists()
                        && !(args.fresh && is_wanted(args, &folder, cell_run))
                        && let RunState::OtherSettings(difference) = RunState::of(&run, &*plan, false)
                    {
                        return Err(other_settings(&run, &difference));
                    }
                }
                Err(Error::Data(matnet_data::Error::Missing(_))) if data.optional => {
                    missing.push((table, column));
                    let source = cell_run.spec.document.source().unwrap_or("the dataset").to_owned();
                    results.left_out.push(format!("Left out: {}; {source} is not available.", data.label));
                }
                Err(error) => {
                    let net = &experiment.tables[table].rows[row].label;
                    return Err(error.within(format!("{}, {net}, {}", files.name, data.label)).into());
                }
            }
        }
        missing.sort_unstable();
        for (table, column) in missing.into_iter().rev() {
            experiment.tables[table].columns.remove(column);
            runs = files.runs(&experiment, args.seeds, &args.set, &folder)?;
        }
        for run in &runs {
            context.time.expect(&run.spec.folder, operations.get(cell_folder(run)).copied().unwrap_or(0.0));
        }
        let earlier = args.earlier.as_deref().map(EarlierNumbers::read).transpose()?;
        earlier.iter().try_for_each(|earlier| earlier.check(&experiment.tables))?;
        let collected = vec![false; runs.len()];
        Ok(Self { experiment, folder, runs, results, collected, trained: 0, earlier, args })
    }

    /// The runs that are to be trained now.
    pub fn wanted_runs(&self) -> impl Iterator<Item = &CellRun> {
        self.runs.iter().filter(|run| self.is_wanted(run))
    }

    fn is_wanted(&self, run: &CellRun) -> bool {
        is_wanted(self.args, &self.folder, run)
    }

    /// How a run ended, if an earlier report is to stand in for it.
    pub fn earlier_end(&self, run: &CellRun) -> Option<&RunEnd> {
        let seed = run.spec.document.train().ok()?.seed;
        self.earlier.as_ref()?.end(&self.experiment.tables, run.cell, seed)
    }

    /// Trains what is not trained yet; `later` are the folders of runs that follow this experiment.
    pub fn train(&mut self, later: &[PathBuf], context: &mut Context) -> Outcome {
        self.collect(context)?;
        let trained = self.train_rest(later, context);
        if let Err(Failure::Interrupted) = trained {
            self.write_interim(context)?;
        }
        trained?;
        stop_if_asked()?;
        // Another process may have trained others in the same folder.
        self.collect(context)
    }

    /// Collects the results of all runs that have ended.
    fn collect(&mut self, context: &mut Context) -> Outcome {
        let mut order: Vec<usize> = (0..self.runs.len()).filter(|at| !self.collected[*at]).collect();
        // Runs on the same data one after another, so that these are loaded once.
        order.sort_by_cached_key(|at| {
            let CellRun { cell: (table, column, row), spec } = &self.runs[*at];
            (*table, *column, spec.folder.file_name().map(ToOwned::to_owned), *row)
        });
        for at in order {
            let cell_run = &self.runs[at];
            let run = Run::at(&cell_run.spec.folder);
            if matches!(end(&run), Ok(None)) {
                if let (Some(end), Some(path)) = (self.earlier_end(cell_run).cloned(), &self.args.earlier) {
                    self.results.add_earlier(cell_run.cell, run, end, path);
                    self.collected[at] = true;
                }
                continue;
            }
            let again = self.args.fresh && self.is_wanted(cell_run);
            let plan = context.planner.plan(&cell_run.spec.document, context.cache)?;
            match RunState::of(&run, &*plan, again) {
                RunState::Ended(end) => self.add(at, run, *end),
                RunState::Damaged(what) if !again => self.add_damaged(at, &what),
                RunState::OtherSettings(difference) if !again => {
                    return Err(other_settings(&run, &difference));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Trains the wanted runs that are not collected yet.
    fn train_rest(&mut self, later: &[PathBuf], context: &mut Context) -> Outcome {
        let (count, fresh, quiet) = (self.runs.len(), self.args.fresh, self.args.quiet);
        let (mut written, mut took) = (Instant::now(), Duration::ZERO);
        for at in 0..count {
            let cell_run = &self.runs[at];
            if self.collected[at] || !self.is_wanted(cell_run) {
                continue;
            }
            let run = Run::at(&cell_run.spec.folder);
            let plan = context.planner.plan(&cell_run.spec.document, context.cache)?;
            match RunState::of(&run, &*plan, fresh) {
                RunState::Unfinished => {}
                RunState::OtherSettings(_) | RunState::Damaged(_) if fresh => clear(&run)?,
                RunState::OtherSettings(difference) => return Err(other_settings(&run, &difference)),
                RunState::Damaged(what) => {
                    self.add_damaged(at, &what);
                    continue;
                }
                RunState::Ended(end) => {
                    self.add(at, run, *end);
                    continue;
                }
            }
            if self.trained == 0 && !quiet {
                self.experiment.quick_note.iter().for_each(|note| say!("{note}"));
            }
            let waiting = self.runs[at + 1..].iter().filter(|run| self.is_wanted(run));
            let waiting = waiting.map(|run| &run.spec.folder).chain(later);
            let waiting: Vec<&Path> = waiting.map(PathBuf::as_path).collect();
            let name = format!("{}/{count} {}", at + 1, run.folder().display());
            let progress = || RunProgress::new(name.clone(), context.time.seconds(&waiting), quiet);
            let end = match train(&*plan, &run, context.device, &mut progress()) {
                Err(Error::Damaged { .. }) if fresh => {
                    clear(&run)?;
                    train(&*plan, &run, context.device, &mut progress())
                }
                other => other,
            };
            match end {
                Ok(end) => {
                    context.time.update(run.folder());
                    if !quiet {
                        let left = text::duration(context.time.seconds(&waiting));
                        say!("{name}: {}, about {left} left", self.describe(cell_run, &end));
                    }
                    self.trained += 1;
                    self.add(at, run, end);
                }
                Err(error @ Error::Damaged { .. }) => self.add_damaged(at, &error.to_string()),
                Err(error) => return Err(error.into()),
            }
            // The report is up to date while training goes on.
            if written.elapsed() > BETWEEN_REPORTS.max(20 * took) {
                let begun = Instant::now();
                self.write_interim(context)?;
                (written, took) = (Instant::now(), begun.elapsed());
            }
        }
        Ok(())
    }

    fn add(&mut self, at: usize, run: Run, end: RunEnd) {
        self.collected[at] = true;
        let cell = self.runs[at].cell;
        match end {
            Ok(mut result) => {
                let metrics = &self.experiment.tables[cell.0].metrics;
                let has = |metric| metrics.contains(&metric);
                let (rise, seconds) = (has(Metric::LargestErrorRise), has(Metric::TrainSeconds));
                let mut added = if rise { add_largest_error_rise(&run, &mut result) } else { Ok(()) };
                if seconds {
                    added = added.and(add_train_seconds(&run, &mut result));
                }
                if let Err(error) = added {
                    self.note_damage(&error.to_string());
                }
                self.results.add(cell, run, result);
            }
            Err(what) => self.results.add_diverged(cell, run, what),
        }
    }

    fn add_damaged(&mut self, at: usize, what: &str) {
        self.collected[at] = true;
        self.note_damage(what);
    }

    /// Notes what is missing because a file of a run is damaged.
    fn note_damage(&mut self, what: &str) {
        let what = match what.contains("--fresh") {
            true => what.to_owned(),
            false => format!("{what}; --fresh trains the run again"),
        };
        say!("damaged: {what}");
        self.results.damaged.push(what);
    }

    /// How a run ended, in a line.
    pub fn describe(&self, run: &CellRun, end: &RunEnd) -> String {
        let Ok(result) = end else { return "diverged".to_owned() };
        let metric = self.experiment.tables[run.cell.0].metrics[0];
        let number = metric.of(result).map_or("–".to_owned(), |number| metric.format(number));
        format!("{} {number}, {}", metric.axis(), text::counted(result.epochs, "epoch"))
    }

    /// The notes before the tables.
    pub fn notes(&self) -> Vec<String> {
        let runs = self.runs.iter().zip(&self.collected);
        let missing: Vec<&CellRun> = runs.filter(|(_, collected)| !**collected).map(|(run, _)| run).collect();
        let how = match missing.iter().any(|run| self.is_wanted(run)) {
            true => "the same command resumes",
            false if missing.is_empty() => "--fresh trains the others again",
            false => "the command without --only trains the others",
        };
        let quick = self.experiment.quick_note.iter().cloned();
        quick.chain(self.results.notes(self.runs.len(), how)).collect()
    }

    /// Tables and verdicts, without figures.
    fn sections(&self) -> Vec<Section> {
        let tables = self.experiment.tables.iter().enumerate();
        tables.map(|(number, table)| Section::new(number, table, &self.results)).collect()
    }

    /// Tables, verdicts and all figures.
    pub fn draw(&mut self, context: &Context) -> Result<Vec<Section>, Failure> {
        let mut sections = self.sections();
        for (number, section) in sections.iter_mut().enumerate() {
            let table = &self.experiment.tables[number];
            let (figures, damaged) = figure::draw(number, table, &self.results, context, Cost::Any)?;
            section.figures = figures;
            damaged.iter().for_each(|what| self.note_damage(what));
        }
        Ok(sections)
    }

    /// Writes the report.
    pub fn write(&self, sections: &[Section]) -> Outcome {
        interrupt::watch();
        report::write(&self.folder, &self.experiment, &self.notes(), sections)?;
        let numbers = self.results.csv(&self.experiment.tables);
        write_file(&self.folder.join("seeds.csv"), numbers.as_bytes())?;
        stop_if_asked()
    }

    /// Writes a report during training: the cheap figures, and the others from the report before.
    fn write_interim(&self, context: &Context) -> Outcome {
        let (mut sections, earlier) = (self.sections(), EarlierFigure::all(&self.folder));
        let tables = self.experiment.tables.iter().enumerate();
        for ((number, table), section) in tables.zip(&mut sections) {
            section.figures = figure::draw(number, table, &self.results, context, Cost::Low)?.0;
            let kept = earlier.iter().filter(|earlier| earlier.is_kept(&table.title, &section.figures));
            section.earlier = kept.cloned().collect();
        }
        self.write(&sections)
    }
}

/// Stops if the user asked for it, and lets Ctrl-C end the process at once until something is trained or written again.
fn stop_if_asked() -> Outcome {
    interrupt::unwatch();
    if interrupt::asked() { Err(Failure::Interrupted) } else { Ok(()) }
}
