//! How long the remaining runs will take.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use matnet_train::Run;

use crate::run_state::DIVERGED;

/// Seconds per operation before anything was measured: the two cores of a laptop.
const GUESS: f64 = 1.0 / 40e9;

/// The operations of every run, and the seconds of those that are done.
#[derive(Debug, Default)]
pub struct TimeLeft {
    operations: BTreeMap<PathBuf, f64>,
    /// `None` for a run that diverged: it says nothing about how long the others take.
    done: BTreeMap<PathBuf, Option<f64>>,
}

impl TimeLeft {
    /// Adds a run of so many operations.
    pub fn expect(&mut self, run: &Path, operations: f64) {
        self.operations.insert(run.to_owned(), operations);
        self.update(run);
    }

    /// Looks whether a run is done: its folder says how long it took.
    pub fn update(&mut self, folder: &Path) {
        let run = Run::at(folder);
        if run.path(DIVERGED).exists() {
            self.done.insert(folder.to_owned(), None);
        } else if run.path("result.json").exists()
            && let Ok(seconds) = run.times()
            && !seconds.is_empty()
        {
            self.done.insert(folder.to_owned(), Some(seconds.iter().sum()));
        }
    }

    /// Seconds that these runs will take: each as long as other seeds of it, or in proportion to its operations.
    pub fn seconds(&self, runs: &[&Path]) -> f64 {
        let (mut seconds, mut operations) = (0.0, 0.0);
        for (run, took) in &self.done {
            let Some(took) = took else { continue };
            seconds += took;
            operations += self.operations.get(run).copied().unwrap_or(0.0);
        }
        let per_operation = if operations > 0.0 { seconds / operations } else { GUESS };
        let one = |run: &&Path| {
            let other_seeds: Vec<f64> = self
                .done
                .range(run.parent().unwrap_or(*run).to_owned()..)
                .take_while(|(other, _)| other.parent() == run.parent())
                .filter_map(|(_, took)| *took)
                .collect();
            match other_seeds.is_empty() {
                false => other_seeds.iter().sum::<f64>() / other_seeds.len() as f64,
                true => per_operation * self.operations.get(*run).copied().unwrap_or(0.0),
            }
        };
        runs.iter().filter(|run| !self.done.contains_key(**run)).map(one).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_seeds_count_more_than_operations() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str| folder.path().join(name);
        let mut time = TimeLeft::default();
        for (name, operations) in [("a/seed-1", 100.0), ("a/seed-2", 100.0), ("b/seed-1", 1000.0)] {
            time.expect(&run(name), operations);
        }
        std::fs::create_dir_all(run("a/seed-1")).unwrap();
        std::fs::write(run("a/seed-1/times.csv"), "epoch,seconds\n1,3.0\n2,4.0\n").unwrap();
        time.update(&run("a/seed-1"));
        assert!(time.done.is_empty(), "it has no result yet");
        std::fs::write(run("a/seed-1/result.json"), "{}").unwrap();
        time.update(&run("a/seed-1"));
        let left = |names: &[&str]| {
            let runs: Vec<PathBuf> = names.iter().map(|name| run(name)).collect();
            time.seconds(&runs.iter().map(PathBuf::as_path).collect::<Vec<_>>())
        };
        assert_eq!([left(&["a/seed-1"]), left(&["a/seed-2"])], [0.0, 7.0]);
        assert_eq!(left(&["a/seed-2", "b/seed-1"]), 7.0 + 70.0);
    }

    #[test]
    fn a_run_that_diverged_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["a/seed-1", "a/seed-2"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(&first).unwrap();
        std::fs::write(first.join("times.csv"), "epoch,seconds\n1,3.0\n").unwrap();
        std::fs::write(first.join(DIVERGED), "epoch 2").unwrap();
        let mut time = TimeLeft::default();
        time.expect(&first, 100.0);
        time.expect(&second, 100.0);
        assert_eq!(time.seconds(&[&first]), 0.0);
        assert_eq!(time.seconds(&[&first, &second]), 100.0 * GUESS, "its time says nothing about the others");
    }
}
