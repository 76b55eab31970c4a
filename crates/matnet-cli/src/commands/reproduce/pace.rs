//! How long it will still take, and how it goes meanwhile.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use matnet_train::{Event, Observer};

use super::standing::DIVERGED;
use crate::{interrupt, text};

/// Seconds between plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(30);
/// What one operation takes before anything was measured: the two cores of a laptop.
const GUESS: f64 = 1.0 / 40e9;

/// What every run is expected to take, by its operations, and what those that are done took.
#[derive(Debug, Default)]
pub struct Pace {
    operations: BTreeMap<PathBuf, f64>,
    /// Nothing of a run that broke off: how long the others take is not to be seen from it.
    done: BTreeMap<PathBuf, Option<f64>>,
}

impl Pace {
    /// A run of so many operations is to come.
    pub fn expect(&mut self, run: &Path, operations: f64) {
        self.operations.insert(run.to_owned(), operations);
        self.done(run);
    }

    /// A run may be done: its folder says how long it took.
    pub fn done(&mut self, run: &Path) {
        if run.join(DIVERGED).exists() {
            self.done.insert(run.to_owned(), None);
        } else if run.join("result.json").exists()
            && let Ok(text) = std::fs::read_to_string(run.join("times.csv"))
        {
            let seconds = text.lines().skip(1).filter_map(|line| line.split(',').nth(1)?.parse::<f64>().ok());
            self.done.insert(run.to_owned(), Some(seconds.sum()));
        }
    }

    /// Seconds that these runs will take: each as long as other seeds of it did, or as its operations let expect.
    pub fn left(&self, runs: &[&Path]) -> f64 {
        let (mut seconds, mut operations) = (0.0, 0.0);
        for (run, took) in &self.done {
            let Some(took) = took else { continue };
            seconds += took;
            operations += self.operations.get(run).copied().unwrap_or(0.0);
        }
        let each = if operations > 0.0 { seconds / operations } else { GUESS };
        let one = |run: &&Path| {
            let alike: Vec<f64> = self
                .done
                .range(run.parent().unwrap_or(*run).to_owned()..)
                .take_while(|(other, _)| other.parent() == run.parent())
                .filter_map(|(_, took)| *took)
                .collect();
            match alike.is_empty() {
                false => alike.iter().sum::<f64>() / alike.len() as f64,
                true => each * self.operations.get(*run).copied().unwrap_or(0.0),
            }
        };
        runs.iter().filter(|run| !self.done.contains_key(**run)).map(one).sum()
    }
}

/// Tells how one of many runs goes: a bar on a terminal, a line now and then elsewhere.
pub struct Watch {
    what: String,
    /// Seconds that the runs after this one will take.
    later: f64,
    bar: Option<ProgressBar>,
    epochs: usize,
    steps: usize,
    /// Steps done before this process took over.
    before: usize,
    began: Instant,
    told: Instant,
}

impl Watch {
    pub fn new(what: String, later: f64) -> Self {
        let now = Instant::now();
        Self { what, later, bar: None, epochs: 0, steps: 0, before: 0, began: now, told: now }
    }

    fn step(&mut self, epoch: usize, step: usize, loss: f64) {
        let (done, all) = (epoch * self.steps + step, self.epochs * self.steps);
        let each = self.began.elapsed().as_secs_f64() / (done - self.before).max(1) as f64;
        let own = each * (all - done) as f64;
        let left =
            format!("{} left of this run, {} of all", text::duration(own), text::duration(own + self.later));
        let (epoch, epochs, loss) = (epoch + 1, self.epochs, text::number(loss));
        match &self.bar {
            Some(bar) => {
                bar.set_position(done as u64);
                bar.set_message(format!("epoch {epoch}/{epochs}, loss {loss}, {left}"));
            }
            None if self.told.elapsed() > BETWEEN_LINES => {
                eprintln!("{}: epoch {epoch}/{epochs}, loss {loss}, {left}", self.what);
                self.told = Instant::now();
            }
            None => {}
        }
    }
}

impl Observer for Watch {
    fn event(&mut self, event: Event) {
        match event {
            Event::Begin { epochs, steps, resumed, .. } => {
                (self.epochs, self.steps) = (epochs, steps);
                self.before = resumed.map_or(0, |(epoch, step)| epoch * steps + step);
                self.began = Instant::now();
                if io::stderr().is_terminal() {
                    let bar = ProgressBar::new((epochs * steps) as u64);
                    // If the template did not parse, the default style would do.
                    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:16}] {wide_msg}") {
                        bar.set_style(style.progress_chars("=> "));
                    }
                    bar.set_prefix(self.what.clone());
                    self.bar = Some(bar);
                }
            }
            Event::Step { epoch, step, loss, .. } => self.step(epoch, step, loss),
            Event::End => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
            }
            Event::Epoch { .. } | Event::Measuring(_) => {}
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_seeds_tell_more_than_operations() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str| folder.path().join(name);
        let mut pace = Pace::default();
        for (name, operations) in [("a/seed-1", 100.0), ("a/seed-2", 100.0), ("b/seed-1", 1000.0)] {
            pace.expect(&run(name), operations);
        }
        std::fs::create_dir_all(run("a/seed-1")).unwrap();
        std::fs::write(run("a/seed-1/times.csv"), "epoch,seconds\n1,3.0\n2,4.0\n").unwrap();
        pace.done(&run("a/seed-1"));
        assert!(pace.done.is_empty(), "it has no result yet");
        std::fs::write(run("a/seed-1/result.json"), "{}").unwrap();
        pace.done(&run("a/seed-1"));
        let left = |names: &[&str]| {
            let runs: Vec<PathBuf> = names.iter().map(|name| run(name)).collect();
            pace.left(&runs.iter().map(PathBuf::as_path).collect::<Vec<_>>())
        };
        assert_eq!([left(&["a/seed-1"]), left(&["a/seed-2"])], [0.0, 7.0]);
        assert_eq!(left(&["a/seed-2", "b/seed-1"]), 7.0 + 70.0);
    }

    #[test]
    fn a_run_that_came_to_nothing_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["a/seed-1", "a/seed-2"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(&first).unwrap();
        std::fs::write(first.join("times.csv"), "epoch,seconds\n1,3.0\n").unwrap();
        std::fs::write(first.join(DIVERGED), "epoch 2").unwrap();
        let mut pace = Pace::default();
        pace.expect(&first, 100.0);
        pace.expect(&second, 100.0);
        assert_eq!(pace.left(&[&first]), 0.0);
        assert_eq!(pace.left(&[&first, &second]), 100.0 * GUESS, "that it broke off says nothing of others");
    }
}
