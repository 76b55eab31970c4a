//! The experiments of the paper: from the files under `experiments/` to tables, figures and verdicts on its claims.
//!
//! - [`ReproduceArgs`]: the command line.
//! - `files`, `experiment` and `figure_spec`: the descriptions (`experiment.toml`), and the runs that they describe; `only` selects some.
//! - `reproduction`: trains the runs, `part` a share of them; `context`, `run_state`, `progress` and `time_left` are used by both.
//! - `results`, `earlier_numbers`, `metric`, `claim`, `scored_net`, `scores` and `verdict`: the numbers, and whether the claims held.
//! - `section`, `figure`, `earlier_figure`, `report`, `index` and `folder`: what is written.

#![forbid(unsafe_code)]

mod args;
mod claim;
mod context;
mod earlier_figure;
mod earlier_numbers;
mod experiment;
mod figure;
mod figure_spec;
mod files;
mod folder;
mod index;
mod metric;
mod only;
mod part;
mod progress;
mod report;
mod reproduction;
mod results;
mod run_state;
mod scored_net;
mod scores;
mod section;
mod time_left;
mod verdict;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use matnet_cli::failure::{Failure, Outcome};
use matnet_cli::screen::Screen;
use matnet_cli::{interrupt, say};
use matnet_report::text;
use matnet_train::Planner;

pub use self::args::{ReproduceArgs, Size};
use self::context::Context;
use self::files::{EXPERIMENTS, ExperimentFiles};
use self::reproduction::Reproduction;
use self::time_left::TimeLeft;

/// Trains whatever is not trained yet, then writes tables, figures and verdicts.
pub fn run(args: &ReproduceArgs) -> Outcome {
    let mut files: Vec<&ExperimentFiles> =
        EXPERIMENTS.iter().filter(|files| args.all() || files.name == args.experiment).collect();
    let own;
    if files.is_empty() {
        let folder = Path::new(&args.experiment);
        if !ExperimentFiles::is_in(folder) {
            let names: Vec<&str> = EXPERIMENTS.iter().map(|files| &*files.name).collect();
            let (name, names) = (&args.experiment, names.join(", "));
            let what = format!(
                "`{name}`: no such experiment; there are {names} and all; a folder with an experiment.toml is one, too"
            );
            return Err(Failure::Usage(what));
        }
        own = ExperimentFiles::read(folder)?;
        files.push(&own);
    }
    if args.all() && args.earlier.is_some() {
        return Err(Failure::Usage(
            "--earlier: the numbers of one experiment, which must be named".to_owned(),
        ));
    }
    let index_folder = args.index_folder();
    if args.all() {
        folder::check(&index_folder, folder::ALL_TITLE, false)?;
    }
    check_only(args, &files)?;
    let (device, cache, begun) = (args.machine.device()?, args.cache.cache()?, Instant::now());
    let (planner, time) = (&mut Planner::default(), &mut TimeLeft::default());
    let context = &mut Context { device: &device, cache: &cache, planner, time };
    // Invalid configs and missing data should be known before hours are spent on others.
    let mut all = Vec::new();
    for files in &files {
        all.push(Reproduction::plan(files, args, args.folder(&files.name), context)?);
    }
    if !args.only.is_empty() && all.iter().all(|one| one.wanted_runs().next().is_none()) {
        let left_out: Vec<&str> =
            all.iter().flat_map(|one| &one.results.left_out).map(String::as_str).collect();
        return Err(Failure::Failed(format!("--only: nothing is left to train. {}", left_out.join(" "))));
    }
    if let Some(part) = args.parts.part {
        return part::train_part(part, &all, args.quiet, context);
    }
    let runs: Vec<PathBuf> =
        all.iter().flat_map(Reproduction::wanted_runs).map(|run| run.spec.folder.clone()).collect();
    let (mut before, mut drawn) = (0, Vec::new());
    for one in &mut all {
        before += one.wanted_runs().count();
        one.train(&runs[before..], context)?;
        // Figures load the data of their runs themselves; two copies need not be in memory.
        *context.planner = Planner::default();
        let sections = one.draw(context)?;
        one.write(&sections)?;
        drawn.push(sections);
    }
    print(args, &index_folder, &all, &drawn)?;
    let trained = all.iter().map(|one| one.trained).sum();
    if trained > 0 && !args.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        say!("{} trained in {}", text::counted(trained, "run"), text::duration(seconds));
    }
    match all.iter().map(|one| one.results.damaged.len()).sum() {
        0 => Ok(()),
        damaged => Err(Failure::Failed(format!(
            "{} damaged and the report is not complete; --fresh trains these runs again",
            if damaged == 1 { "a file is".to_owned() } else { format!("{damaged} files are") }
        ))),
    }
}

/// Prints the results of all experiments, and the paths of their reports.
fn print(
    args: &ReproduceArgs,
    index_folder: &Path,
    all: &[Reproduction],
    drawn: &[Vec<section::Section>],
) -> Outcome {
    let mut out = Screen::lock();
    for one in all {
        let path = one.folder.join("results.md");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "{text}{}", one.folder.join("report.html").display())?;
    }
    if args.all() {
        interrupt::watch();
        writeln!(out, "{}", index::write(index_folder, all, drawn)?.display())?;
    }
    Ok(())
}

/// Fails unless every `--only` names runs of the experiments.
fn check_only(args: &ReproduceArgs, files: &[&ExperimentFiles]) -> Outcome {
    let mut experiments = Vec::new();
    for files in files.iter().filter(|_| !args.only.is_empty()) {
        let experiment = files.experiment(args.size)?;
        let runs = files.runs(&experiment, args.seeds, &args.set, Path::new(""))?;
        experiments.push((experiment, runs));
    }
    only::check(&args.only, &experiments)
}
