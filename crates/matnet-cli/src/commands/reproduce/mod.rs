//! `matnet reproduce`: an experiment of the paper, from its files to its tables.

mod experiment;
mod results;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use experiment::{EXPERIMENTS, Experiment, Step};
use matnet_data::cache::Cache;
use matnet_train::compare::Planner;
use matnet_train::run::Plan;
use matnet_train::{Options, Run, train};
use results::{Cloud, Scores};

use super::progress::Teller;
use super::{data, machine, report};
use crate::cli::{Reproduce, Size};
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// Trains whatever is not trained yet, then writes what it came to.
pub fn run(args: Reproduce) -> Outcome {
    let Some(files) = EXPERIMENTS.iter().find(|files| files.name == args.experiment) else {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|files| files.name).collect();
        let what = format!("`{}`: no such experiment; there are {}", args.experiment, names.join(", "));
        return Err(Failure::Usage(what));
    };
    let experiment = files.experiment()?;
    let size = args.size.word();
    let standard = || PathBuf::from("runs").join(format!("{}-{size}", files.name));
    let folder = args.out.clone().unwrap_or_else(standard);
    let steps = files.steps(&experiment, args.size, args.seeds, &folder)?;
    let options = Options { device: machine::set_up(&args.machine)?, ..Options::default() };
    let cache = data::cache(&args.cache)?;
    // Missing data should be known before hours are spent on others.
    let mut planner = Planner::default();
    let first = |step: &&Step| step.job.document.train().is_ok_and(|train| train.seed == 1);
    for step in steps.iter().filter(first) {
        planner.check(&step.job.document, &cache)?;
    }
    if args.size == Size::Quick {
        eprintln!("{}", experiment.quick);
    }
    let (begun, mut spent, mut fresh) = (Instant::now(), Vec::new(), 0_usize);
    let mut scores = Scores::default();
    for (done, step) in steps.iter().enumerate() {
        let run = Run::at(&step.job.folder);
        let finished = run.result()?;
        let result = match finished {
            Some(result) => result,
            None => {
                let plan = planner.plan(&step.job.document, &cache)?;
                interrupt::watch();
                let outcome = train(&plan, &run, &options, &mut Teller::new(true))?;
                report::write(&run, &plan, &options.device)?;
                fresh += 1;
                outcome.result
            }
        };
        let right = result.test.and_then(|test| test.error).map(|error| 100.0 * (1.0 - error));
        if let Some(right) = right {
            scores.add(step.cell, right);
        }
        if let Some(seconds) = seconds(&run) {
            spent.push((step.cell, seconds));
        }
        let left = left(&spent, &steps[done + 1..]);
        eprintln!(
            "{}/{} {}: {} right, {}, about {} left",
            done + 1,
            steps.len(),
            run.folder().display(),
            right.map_or("–".to_owned(), |right| format!("{right:.1} %")),
            text::counted(result.epochs, "epoch"),
            text::duration(left)
        );
        // Whoever looks while it goes on finds what there is.
        let round = steps.get(done + 1).is_some_and(|next| next.cell == steps[0].cell);
        if round && fresh > 0 {
            results::write(&folder, &experiment, args.size, &scores, &[], (done + 1, steps.len()))?;
        }
    }
    let clouds = clouds(&folder, &experiment, &steps, &cache, &mut planner)?;
    results::write(&folder, &experiment, args.size, &scores, &clouds, (steps.len(), steps.len()))?;
    let mut out = io::stdout().lock();
    let text = std::fs::read_to_string(folder.join("results.md"))?;
    writeln!(out, "{text}{}", folder.join("report.html").display())?;
    if fresh > 0 {
        eprintln!("{} trained in {}", text::counted(fresh, "run"), text::duration(elapsed(begun.elapsed())));
    }
    Ok(())
}

fn elapsed(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Seconds that a run took.
fn seconds(run: &Run) -> Option<f64> {
    let text = std::fs::read_to_string(run.path("times.csv")).ok()?;
    Some(text.lines().skip(1).filter_map(|line| line.split(',').nth(1)?.parse::<f64>().ok()).sum())
}

/// Seconds that the steps left will take: each as long as others of its cell did, or as others at all.
fn left(spent: &[((usize, usize, usize), f64)], steps: &[Step]) -> f64 {
    let mean = |of: &dyn Fn(&(usize, usize, usize)) -> bool| {
        let all: Vec<f64> = spent.iter().filter(|(cell, _)| of(cell)).map(|(_, seconds)| *seconds).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let one = |step: &Step| {
        mean(&|cell| *cell == step.cell)
            .or_else(|| mean(&|cell| cell.1 == step.cell.1))
            .or_else(|| mean(&|_| true))
    };
    steps.iter().filter_map(one).sum()
}

/// The hidden states of the first seed, of the nets that the experiment names, as points and as pictures.
fn clouds(
    folder: &Path,
    experiment: &Experiment,
    steps: &[Step],
    cache: &Cache,
    planner: &mut Planner,
) -> Result<Vec<Cloud>, Failure> {
    let mut clouds = Vec::new();
    let mut seen = Vec::new();
    for step in steps {
        let (table, column, row) = step.cell;
        let comparison = &experiment.table[table];
        let net = &comparison.row[row];
        if !comparison.clouds.contains(&net.variant) || seen.contains(&step.cell) {
            continue;
        }
        seen.push(step.cell);
        let Plan::Nodes(work) = planner.plan(&step.job.document, cache)? else { continue };
        let points = report::cloud(&Run::at(&step.job.folder), &work)?;
        let data = &comparison.column[column];
        let name = format!("{}-{}-{}", comparison.name, data.name, net.variant);
        std::fs::create_dir_all(folder.join("figures"))?;
        report::write_angles(&points, &folder.join("figures").join(name))?;
        let caption = format!(
            "{}: the last hidden states of the test nodes of {}, first seed, placed by t-SNE.",
            net.label, data.label
        );
        clouds.push(Cloud { table, caption, points });
    }
    Ok(clouds)
}
