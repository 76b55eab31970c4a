//! `matnet reproduce`: an experiment of the paper, from its files to its tables.

mod claim;
mod experiment;
mod figure;
mod folder;
mod index;
mod measure;
mod only;
mod pace;
mod results;
mod standing;
mod subject;
mod work;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use experiment::{EXPERIMENTS, Files};
use matnet_train::compare::Planner;
use pace::Pace;
use work::{Tools, Work};

use super::{data, machine};
use crate::cli::Reproduce;
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// Trains whatever is not trained yet, then writes what it came to.
pub fn run(args: Reproduce) -> Outcome {
    let chosen: Vec<&Files> = EXPERIMENTS
        .iter()
        .filter(|files| args.experiment == "all" || files.name == args.experiment)
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|files| files.name).collect();
        let what =
            format!("`{}`: no such experiment; there are {} and all", args.experiment, names.join(", "));
        return Err(Failure::Usage(what));
    }
    let page =
        args.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("all-{}", args.size.word())));
    if args.experiment == "all" {
        folder::check(&page, index::TITLE, false)?;
    }
    check_only(&args, &chosen)?;
    let device = machine::set_up(&args.machine)?;
    let cache = data::cache(&args.cache)?;
    let (begun, mut planner, mut pace) = (Instant::now(), Planner::default(), Pace::default());
    // Whatever is wrong or missing should be known before hours are spent on others.
    let mut all = Vec::new();
    for files in &chosen {
        let folder = place(&args, files.name);
        all.push(Work::plan(files, &args, folder, &cache, &mut planner, &mut pace)?);
    }
    if !args.only.is_empty() && all.iter().all(|work| work.wanted_steps().next().is_none()) {
        let left_out: Vec<&str> =
            all.iter().flat_map(|work| &work.results.left_out).map(String::as_str).collect();
        return Err(Failure::Failed(format!("--only: nothing is left to train. {}", left_out.join(" "))));
    }
    let runs: Vec<PathBuf> =
        all.iter().flat_map(Work::wanted_steps).map(|step| step.job.folder.clone()).collect();
    let (mut before, mut drawn) = (0, Vec::new());
    let tools = &mut Tools { device: &device, cache: &cache, planner: &mut planner };
    for work in &mut all {
        before += work.wanted_steps().count();
        work.train(&mut pace, &runs[before..], tools)?;
        let sections = work.drawn(tools)?;
        work.write(&sections)?;
        drawn.push(sections);
    }
    let mut out = io::stdout().lock();
    for work in &all {
        let path = work.folder.join("results.md");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "{text}{}", work.folder.join("report.html").display())?;
    }
    if args.experiment == "all" {
        interrupt::watch();
        writeln!(out, "{}", index::write(&page, &all, &drawn)?.display())?;
    }
    let fresh = all.iter().map(|work| work.fresh).sum();
    if fresh > 0 {
        let time = text::duration(begun.elapsed().as_secs_f64());
        eprintln!("{} trained in {time}", text::counted(fresh, "run"));
    }
    match all.iter().map(|work| work.results.damaged.len()).sum() {
        0 => Ok(()),
        damaged => Err(Failure::Failed(format!(
            "{} damaged, and not all that was asked for is in the report; --fresh trains these runs again",
            if damaged == 1 { "a file is".to_owned() } else { format!("{damaged} files are") }
        ))),
    }
}

/// Whether every `--only` names runs of the experiments.
fn check_only(args: &Reproduce, chosen: &[&Files]) -> Outcome {
    let mut experiments = Vec::new();
    for files in chosen.iter().filter(|_| !args.only.is_empty()) {
        let experiment = files.experiment(args.size)?;
        let seeds = args.seeds.unwrap_or(experiment.seeds);
        let steps = files.steps(&experiment, seeds, &args.set, Path::new(""))?;
        experiments.push((experiment, steps));
    }
    only::check(&args.only, &experiments)
}

/// The folder of an experiment.
fn place(args: &Reproduce, name: &str) -> PathBuf {
    match &args.out {
        Some(folder) if args.experiment == "all" => folder.join(name),
        Some(folder) => folder.clone(),
        None => PathBuf::from("runs").join(format!("{name}-{}", args.size.word())),
    }
}
