//! One side of a claim: a net with the numbers of its seeds.

use std::collections::BTreeMap;

use crate::claim::{ALL, Matched, PUBLISHED};
use crate::metric::{Metric, mean};

/// A net with its number.
#[derive(Clone)]
pub struct ScoredNet {
    pub label: String,
    pub units: Option<usize>,
    /// The number of its parameters, if a seed of it did not diverge.
    pub parameters: Option<u64>,
    /// What it is judged by; the worst possible number if it diverged.
    pub number: f64,
    /// The numbers of the seeds that did not diverge.
    pub seeds: BTreeMap<u64, f64>,
    /// How many seeds diverged.
    pub diverged: usize,
    pub published: Option<f64>,
}

impl ScoredNet {
    /// The mean of several, and of the seeds that all of them have.
    pub fn mean(all: &[Self], metric: Metric) -> Self {
        let over = |number: &dyn Fn(&Self) -> Option<f64>| mean(all.iter().map(number));
        let seeds = all.first().into_iter().flat_map(|net| net.seeds.keys());
        let seed = |seed: &u64| Some((*seed, over(&|net| net.seeds.get(seed).copied())?));
        Self {
            label: ALL.to_owned(),
            units: None,
            parameters: None,
            number: over(&|net| Some(net.number)).unwrap_or(metric.worst()),
            seeds: seeds.filter_map(seed).collect(),
            diverged: all.iter().map(|net| net.diverged).max().unwrap_or(0),
            published: over(&|net| net.published),
        }
    }

    /// A published number.
    pub fn published(number: f64) -> Self {
        let (label, seeds) = (PUBLISHED.to_owned(), BTreeMap::new());
        Self { label, units: None, parameters: None, number, seeds, diverged: 0, published: None }
    }

    /// How many it has of what nets are matched by.
    pub fn size(&self, matched: Matched) -> Option<u64> {
        match matched {
            Matched::Parameters => self.parameters,
            Matched::Units => self.units.map(|units| units as u64),
        }
    }

    /// How many seeds were trained.
    pub fn count(&self) -> usize {
        self.seeds.len() + self.diverged
    }

    /// Its number.
    pub fn format(&self, metric: Metric) -> String {
        match (self.number.is_finite(), self.diverged) {
            (false, _) => "a net that diverged".to_owned(),
            (true, 0) => metric.format(self.number),
            (true, n) => {
                format!("{} with {n} of {} seeds diverged", metric.format(self.number), self.count())
            }
        }
    }

    /// Its name and its number.
    pub fn describe(&self, metric: Metric) -> String {
        match self.number.is_finite() {
            true => format!("{} {}", self.label, self.format(metric)),
            false if self.label == ALL => "a net diverged".to_owned(),
            false => format!("{} diverged", self.label),
        }
    }
}
