//! `matnet tune`

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use matnet_report::text;
use matnet_train::tune::{Best, Search, TuneEvent, TuneObserver, TuneOptions, trials_table};
use matnet_train::{Moved, Options, Planner};

use super::train;
use crate::cli::Tune;
use crate::failure::Outcome;
use crate::screen::Screen;
use crate::together::COLLECT;
use crate::{interrupt, say};

/// Trials that the printed table shows.
const SHOWN: usize = 10;

/// Searches for the best values of some keys.
pub fn run(args: Tune) -> Outcome {
    let document = train::read(&args.config, &args.overrides)?;
    let folder = args.out.clone().unwrap_or_else(|| {
        let mut folder = train::standard_folder(&args.config).into_os_string();
        folder.push("-tune");
        folder.into()
    });
    let cache = args.cache.cache()?;
    let options = Options::default()
        .with_device(args.machine.device()?)
        .with_save_every(Duration::from_secs(args.save_every));
    let trials = TuneOptions {
        trials: args.trials as usize,
        seed: args.seed,
        min_epochs: args.min_epochs.map(|epochs| epochs as usize),
    };
    let mut planner = Planner::default();
    let mut search = Search::plan(&document, &folder, trials, &mut planner, &cache, &options)?;
    if args.fresh {
        search.clear()?;
    }
    for net in search.nets.iter().filter(|net| !args.quiet && net.trials.len() < trials.trials) {
        let of = net.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        say!("{of}{} only: there are no more combinations", text::counted(net.trials.len(), "trial"));
    }
    interrupt::watch();
    let mut progress = Progress { quiet: args.quiet, best: None, moved: None };
    if let Some(part) = args.parts.part {
        search.work(part, &mut planner, &cache, &options, &mut progress)?;
        let what = format!("part {part}: all trials are trained; {}", COLLECT);
        return Ok(writeln!(Screen::lock(), "{what}")?);
    }
    let best = search.run(&mut planner, &cache, &options, &mut progress)?;
    print(&search, &best, &folder)
}

/// Prints the best trials of every net, and where the rest is.
fn print(search: &Search, best: &[Best], folder: &Path) -> Outcome {
    let mut out = Screen::lock();
    for (net, best) in search.nets.iter().zip(best) {
        let of = net.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        let winner = net.trials.iter().position(|trial| trial.number == best.trial).unwrap_or(0);
        let table = trials_table(net, winner, Some(SHOWN));
        let caption = match table.caption().split_at_checked(1) {
            Some((first, rest)) if !of.is_empty() => format!("{}{rest}", first.to_lowercase()),
            _ => table.caption().to_owned(),
        };
        writeln!(out, "{of}{caption}\n\n{}", table.text())?;
        writeln!(out, "{of}trial {} is the best: {}; {}", best.trial, best.score, best.values)?;
        if best.net.is_some() {
            writeln!(out, "{}\n", best.config.display())?;
        }
    }
    for file in ["best.toml", "trials.csv", "report.html"] {
        writeln!(out, "{}", folder.join(file).display())?;
    }
    Ok(())
}

/// A line for every trial.
struct Progress {
    quiet: bool,
    /// The best score of the rung, lower is better.
    best: Option<f64>,
    /// What was said last about a trial that resumes elsewhere.
    moved: Option<Moved>,
}

impl TuneObserver for Progress {
    fn event(&mut self, event: TuneEvent) {
        let name = |net: Option<&str>| net.map(|net| format!("{net}: ")).unwrap_or_default();
        match event {
            TuneEvent::Moved { net, trial, moved } => {
                // Once is enough: other trials have moved in the same way.
                if self.moved.replace(moved.clone()).as_ref() != Some(moved) {
                    say!("warning: {}trial {trial}: {moved}", name(net));
                }
            }
            TuneEvent::Rung { net, rung, rungs, epochs, trials } => {
                self.best = None;
                if !self.quiet {
                    let (trials, epochs) = (text::counted(trials, "trial"), text::counted(epochs, "epoch"));
                    say!("{}rung {rung} of {rungs}: {trials} up to {epochs}", name(net));
                }
            }
            TuneEvent::Trial { net, trial, seed, place: (done, total), score, metric } => {
                let best = score.is_some_and(|score| self.best.is_none_or(|best| score.value < best));
                if best {
                    self.best = score.map(|score| score.value);
                }
                if !self.quiet {
                    let what = match score {
                        Some(score) => format!("valid {}", score.text(metric)),
                        None => "diverged".to_owned(),
                    };
                    let star = if best { " *" } else { "" };
                    say!("{}{done}/{total}: trial {trial}, seed {seed}: {what}{star}", name(net));
                }
            }
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
