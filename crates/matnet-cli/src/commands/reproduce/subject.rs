//! One side of a claim: a net with the numbers of its seeds.

use std::collections::BTreeMap;

use matnet_train::compare::Spread;

use super::claim::{ALL, PUBLISHED};
use super::measure::{Measure, mean};

/// What a claim is about.
#[derive(Clone)]
pub struct Subject {
    pub label: String,
    pub units: Option<usize>,
    /// What it is judged by; the worst there is if it came to nothing.
    pub number: f64,
    /// The numbers of the seeds that came to one.
    pub seeds: BTreeMap<u64, f64>,
    /// How many seeds came to nothing.
    pub nothing: usize,
    pub published: Option<f64>,
}

impl Subject {
    /// The mean of several, and of the seeds that all of them have.
    pub fn mean(all: &[Self], measure: Measure) -> Self {
        let over = |number: &dyn Fn(&Self) -> Option<f64>| mean(all.iter().map(number));
        let first = all.first().map(|subject| &subject.seeds);
        let seeds = first.into_iter().flat_map(|seeds| seeds.keys());
        let seed = |seed: &u64| Some((*seed, over(&|subject| subject.seeds.get(seed).copied())?));
        Self {
            label: ALL.to_owned(),
            units: None,
            number: over(&|subject| Some(subject.number)).unwrap_or(measure.worst()),
            seeds: seeds.filter_map(seed).collect(),
            nothing: all.iter().map(|subject| subject.nothing).max().unwrap_or(0),
            published: over(&|subject| subject.published),
        }
    }

    /// A mere number.
    pub fn published(number: f64) -> Self {
        let (label, seeds) = (PUBLISHED.to_owned(), BTreeMap::new());
        Self { label, units: None, number, seeds, nothing: 0, published: None }
    }

    /// How many seeds were trained.
    pub fn count(&self) -> usize {
        self.seeds.len() + self.nothing
    }

    /// Its number.
    pub fn number(&self, measure: Measure) -> String {
        match self.number.is_finite() {
            true => format!("{}{}", measure.said(self.number), self.losses()),
            false => "what came to nothing".to_owned(),
        }
    }

    /// Its name and its number.
    pub fn said(&self, measure: Measure) -> String {
        match self.number.is_finite() {
            true => format!("{} {}{}", self.label, measure.said(self.number), self.losses()),
            false if self.label == ALL => "one of all came to nothing".to_owned(),
            false => format!("{} came to nothing", self.label),
        }
    }

    /// How many of its seeds its number leaves out.
    fn losses(&self) -> String {
        match self.nothing {
            0 => String::new(),
            nothing => format!(" without {nothing} of {} that came to nothing", self.count()),
        }
    }
}

/// The standard error of the difference between two means over seeds, or of the first alone where the second is a mere
/// number; `None` if so few seeds do not tell.
pub fn standard_error(first: &BTreeMap<u64, f64>, second: &BTreeMap<u64, f64>) -> Option<f64> {
    let of_mean = |spread: Spread| Some(spread.deviation? / (spread.count as f64).sqrt());
    if second.is_empty() {
        return of_mean(Spread::of(first.values().copied())?);
    }
    // The same seeds had the same splits: what is hard for both falls out of the difference.
    if first.keys().eq(second.keys()) {
        return of_mean(Spread::of(first.values().zip(second.values()).map(|(a, b)| a - b))?);
    }
    let (a, b) = (Spread::of(first.values().copied())?, Spread::of(second.values().copied())?);
    let squares = |spread: Spread| spread.deviation.unwrap_or(0.0).powi(2) * (spread.count - 1) as f64;
    let freedom = a.count + b.count - 2;
    let variance = (squares(a) + squares(b)) / freedom as f64;
    (freedom > 0).then(|| (variance * (1.0 / a.count as f64 + 1.0 / b.count as f64)).sqrt())
}
