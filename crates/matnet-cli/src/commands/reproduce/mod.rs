//! `matnet reproduce`: an experiment of the paper, from its files to its tables.

mod claim;
mod experiment;
mod figure;
mod index;
mod measure;
mod pace;
mod results;
mod work;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use experiment::{EXPERIMENTS, Files};
use matnet_train::compare::Planner;
use pace::Pace;
use work::Work;

use super::{data, machine};
use crate::cli::Reproduce;
use crate::failure::{Failure, Outcome};
use crate::text;

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
        let tables = all.iter().flat_map(|work| &work.experiment.tables);
        let tables: Vec<&str> = tables.map(|table| table.name.as_str()).collect();
        let only: Vec<_> = args.only.iter().map(|folder| folder.display().to_string()).collect();
        let what =
            format!("--only {}: no run stands there; tables are {}", only.join(" "), tables.join(", "));
        return Err(Failure::Usage(what));
    }
    let runs: Vec<PathBuf> =
        all.iter().flat_map(Work::wanted_steps).map(|step| step.job.folder.clone()).collect();
    let mut before = 0;
    for work in &mut all {
        before += work.wanted_steps().count();
        work.train(&mut pace, &runs[before..], &device, &cache, &mut planner)?;
        let mut sections = work.sections();
        for (number, section) in sections.iter_mut().enumerate() {
            section.figures = figure::draw(work, number, &device, &cache, &mut planner)?;
        }
        work.write(&sections)?;
    }
    let mut out = io::stdout().lock();
    for work in &all {
        let text = std::fs::read_to_string(work.folder.join("results.md"))?;
        writeln!(out, "{text}{}", work.folder.join("report.html").display())?;
    }
    if args.experiment == "all" {
        let folder = match &args.out {
            Some(folder) => folder.clone(),
            None => PathBuf::from("runs").join(format!("all-{}", args.size.word())),
        };
        writeln!(out, "{}", index::write(&folder, &all)?.display())?;
    }
    let fresh = all.iter().map(|work| work.fresh).sum();
    if fresh > 0 {
        let time = text::duration(begun.elapsed().as_secs_f64());
        eprintln!("{} trained in {time}", text::counted(fresh, "run"));
    }
    Ok(())
}

/// The folder of an experiment.
fn place(args: &Reproduce, name: &str) -> PathBuf {
    match &args.out {
        Some(folder) if args.experiment == "all" => folder.join(name),
        Some(folder) => folder.clone(),
        None => PathBuf::from("runs").join(format!("{name}-{}", args.size.word())),
    }
}
