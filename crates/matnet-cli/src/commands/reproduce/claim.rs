//! What the paper says of its tables, held against ours.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::experiment::{Cell, Comparison, Net};
use super::measure::Measure;
use super::results::Results;
use super::subject::{Subject, standard_error};
use crate::text;

/// The name that means the mean over all rows.
pub const ALL: &str = "all";
/// The name that means what was published.
pub const PUBLISHED: &str = "published";

/// That a net, or every size of a net, does as well as the paper says. One of `better_than`, `better_than_on`, `below`,
/// `above`, `improves` and `worsens_after` says what is meant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// A row, a variant with several rows, or `all` for the mean over all rows.
    pub of: String,
    /// The columns it is about; all if there are none.
    #[serde(default)]
    pub on: Vec<String>,
    /// What is compared, if not the first measure of the table.
    pub measure: Option<Measure>,
    /// Its best row is better than the best of these rows, or than what was `published` for it.
    pub better_than: Option<String>,
    /// Its best row is better than its best row on this other column.
    pub better_than_on: Option<String>,
    /// How far behind it may be.
    #[serde(default)]
    within: f64,
    /// All its rows stay at or below this.
    below: Option<f64>,
    /// With `below`: not by the mean, but by this share of the seeds at least.
    share: Option<f64>,
    /// Judged by the seed with the least training loss, not by the mean over the seeds.
    #[serde(default)]
    chosen: bool,
    /// All its rows stay above this.
    above: Option<f64>,
    /// From its smallest row to its largest, each is better than the one before.
    #[serde(default)]
    improves: bool,
    /// All its rows of more hidden units than this are worse than that of so many.
    pub worsens_after: Option<usize>,
}

impl Claim {
    /// What is wrong with it, if it does not say one thing.
    pub fn mistake(&self) -> Option<String> {
        let kinds = [
            self.better_than.is_some(),
            self.better_than_on.is_some(),
            self.below.is_some(),
            self.above.is_some(),
            self.improves,
            self.worsens_after.is_some(),
        ];
        let several = kinds.iter().filter(|said| **said).count() != 1;
        several.then(|| {
            format!(
                "claim `{}`: one of better_than, better_than_on, below, above, improves and worsens_after expected",
                self.says
            )
        })
    }

    /// Whether it held on each of its columns, in plain words; nothing of what is not in this size.
    pub fn sentences(&self, table: usize, comparison: &Comparison, results: &Results) -> Vec<String> {
        if !self.is_about(comparison) {
            return Vec::new();
        }
        let columns = comparison.columns.iter().enumerate();
        columns
            .filter(|(_, data)| self.on.is_empty() || self.on.contains(&data.name))
            .map(|(column, data)| {
                let verdict = self.verdict(&Look { claim: self, table, comparison, results }, column);
                format!("{}, {}: {verdict}.", self.says, data.label)
            })
            .collect()
    }

    /// Whether all that it names is in a table.
    pub fn is_about(&self, comparison: &Comparison) -> bool {
        let row = |name: &str| name == ALL || comparison.rows.iter().any(|net| net.is_called(name));
        let column = |name: &str| comparison.columns.iter().any(|data| data.name == name);
        let units =
            || comparison.rows.iter().filter(|net| net.is_called(&self.of)).filter_map(|net| net.units);
        row(&self.of)
            && self.better_than.as_deref().is_none_or(|name| name == PUBLISHED || row(name))
            && self.better_than_on.as_deref().is_none_or(column)
            && self
                .worsens_after
                .is_none_or(|size| units().any(|units| units == size) && units().any(|units| units > size))
    }

    fn verdict(&self, look: &Look, column: usize) -> String {
        let own = look.rows(&self.of, column);
        let other = match (self.better_than.as_deref(), self.better_than_on.as_deref()) {
            (Some(PUBLISHED), _) | (None, None) => Vec::new(),
            (Some(name), _) => look.rows(name, column),
            (None, Some(name)) => {
                let place = look.comparison.columns.iter().position(|data| data.name == name);
                look.rows(&self.of, place.unwrap_or(column))
            }
        };
        let (nets, trained) = (own.len() + other.len(), own.iter().chain(&other).flatten().count());
        let side = |rows: Vec<Option<Subject>>, name: &str| match name {
            // The mean of some would be another than that of all.
            ALL if rows.iter().any(Option::is_none) => Vec::new(),
            ALL => vec![Subject::mean(&rows.into_iter().flatten().collect::<Vec<_>>(), look.measure())],
            _ => rows.into_iter().flatten().collect(),
        };
        let own = side(own, &self.of);
        let other = side(other, self.better_than.as_deref().unwrap_or(&self.of));
        match self.judged(&own, &other, look.measure()) {
            None => "not trained yet".to_owned(),
            Some(verdict) if trained == nets => verdict,
            Some(verdict) => format!("so far {verdict}, with {trained} of {nets} nets trained"),
        }
    }

    /// The verdict on what is trained; `None` if that is too little for one.
    fn judged(&self, own: &[Subject], other: &[Subject], measure: Measure) -> Option<String> {
        let best = |subjects: &'_ [Subject]| {
            let better = |a: Subject, b: Subject| if measure.beats(b.number, a.number) { b } else { a };
            subjects.iter().cloned().reduce(better)
        };
        let listed = || join(own.iter().map(|subject| subject.said(measure)));
        let all = || counted(own.iter().map(Subject::count));
        if self.better_than.is_some() || self.better_than_on.is_some() {
            let first = best(own)?;
            let second = match self.better_than.as_deref() {
                Some(PUBLISHED) => match own.iter().find_map(|subject| subject.published) {
                    Some(number) => Subject::published(number),
                    None => return Some("nothing is published to compare with".to_owned()),
                },
                _ => best(other)?,
            };
            let numbers = match first.number.is_finite() || second.number.is_finite() {
                true => format!("{} against {}", first.number(measure), second.number(measure)),
                false => "both came to nothing".to_owned(),
            };
            let seeds = match (first.count(), second.count()) {
                (one, other) if one == other || other == 0 => text::counted(one, "seed"),
                (one, other) => format!("{one} and {other} seeds"),
            };
            let (held, close) = self.compared(&[(&first, &second)], measure)?;
            return Some(said(held, close, &numbers, &seeds));
        }
        if own.is_empty() {
            return None;
        }
        if let Some(size) = self.worsens_after {
            let given = own.iter().find(|subject| subject.units == Some(size))?;
            let larger = own.iter().filter(|subject| subject.units > Some(size));
            let pairs: Vec<_> = larger.map(|subject| (given, subject)).collect();
            let (held, close) = self.compared(&pairs, measure)?;
            return Some(said(held, close, &listed(), &all()));
        }
        if let (Some(most), Some(share)) = (self.below, self.share) {
            let below = |subject: &Subject| subject.seeds.values().filter(|seed| **seed <= most).count();
            let enough = |subject: &Subject| below(subject) as f64 >= share * subject.count() as f64;
            let one =
                |subject: &Subject| format!("{} {} of {}", subject.label, below(subject), subject.count());
            return Some(said(own.iter().all(enough), false, &join(own.iter().map(one)), &all()));
        }
        if let Some(is_so) = self.bound() {
            let so = own.iter().filter(|subject| is_so(subject.number)).count();
            let held = so == own.len();
            let numbers = match held || own.len() == 1 {
                true => listed(),
                false => format!("{so} of {} nets: {}", own.len(), listed()),
            };
            return Some(said(held, false, &numbers, &all()));
        }
        let pairs: Vec<_> = own.windows(2).map(|pair| (&pair[1], &pair[0])).collect();
        let (held, close) = self.compared(&pairs, measure)?;
        Some(said(held, close, &listed(), &all()))
    }

    /// Whether a number stays at or below, or above, what the claim says.
    fn bound(&self) -> Option<impl Fn(f64) -> bool> {
        let (below, above) = (self.below, self.above);
        (below.is_some() || above.is_some()).then_some(move |number: f64| {
            below.is_none_or(|most| number <= most) && above.is_none_or(|least| number > least)
        })
    }

    /// Whether the first of every pair is better than the second, and whether other seeds might have said otherwise; `None` if
    /// there is no pair.
    fn compared(&self, pairs: &[(&Subject, &Subject)], measure: Measure) -> Option<(bool, bool)> {
        // A published number is to be reached, another net to be beaten.
        let reached = self.within > 0.0 || self.better_than.as_deref() == Some(PUBLISHED);
        let better = |(first, second): &(&Subject, &Subject)| match reached {
            true => measure.reaches(first.number, second.number, self.within),
            false => measure.beats(first.number, second.number),
        };
        let close = |(first, second): &(&Subject, &Subject)| {
            let ahead =
                if measure.rises() { 1.0 } else { -1.0 } * (first.number - second.number) + self.within;
            // The seed that was chosen is no mean.
            !self.chosen
                && standard_error(&first.seeds, &second.seeds).is_some_and(|error| ahead.abs() < 2.0 * error)
        };
        (!pairs.is_empty()).then(|| match pairs.iter().all(better) {
            true => (true, pairs.iter().any(close)),
            false => (false, pairs.iter().filter(|pair| !better(pair)).all(close)),
        })
    }
}

/// Where a claim looks for its numbers.
struct Look<'a> {
    claim: &'a Claim,
    table: usize,
    comparison: &'a Comparison,
    results: &'a Results,
}

impl Look<'_> {
    fn measure(&self) -> Measure {
        self.claim.measure.unwrap_or(self.comparison.measures[0])
    }

    /// The rows that a name means on a column; `None` for one that is not trained.
    fn rows(&self, name: &str, column: usize) -> Vec<Option<Subject>> {
        let rows = self.comparison.rows.iter().enumerate();
        rows.filter(|(_, net)| name == ALL || net.is_called(name))
            .map(|(row, net)| self.row(net, (self.table, column, row)))
            .collect()
    }

    fn row(&self, net: &Net, cell: Cell) -> Option<Subject> {
        let (measure, nothing) = (self.measure(), self.results.nothing(cell));
        let runs = self.results.runs(cell);
        let seeds: BTreeMap<u64, f64> =
            runs.filter_map(|(_, result)| Some((result.seed, measure.of(result)?))).collect();
        let number = match self.results.summary(cell, measure) {
            // A net that mostly comes to nothing is not judged by its lucky seeds.
            _ if nothing > 0 && nothing >= seeds.len() => measure.worst(),
            found if self.claim.chosen => found?.chosen,
            found => found?.spread.mean,
        };
        let published = net.published(&self.comparison.columns[cell.1]);
        Some(Subject { label: net.label.clone(), units: net.units, number, seeds, nothing, published })
    }
}

/// A verdict with what it rests on.
fn said(held: bool, close: bool, numbers: &str, seeds: &str) -> String {
    let held = if held { "held" } else { "did not hold" };
    let close = if close { ", within the spread of the seeds" } else { "" };
    format!("{held}{close} ({numbers}; {seeds})")
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// How many seeds, where rows may have different numbers of them.
fn counted(seeds: impl Iterator<Item = usize> + Clone) -> String {
    match (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0)) {
        (least, most) if least == most => text::counted(most, "seed"),
        (least, most) => format!("{least} to {most} seeds"),
    }
}

#[cfg(test)]
mod tests {
    use matnet_train::Run;
    use matnet_train::run::{RunResult, Score};

    use super::super::experiment::TableDescription;
    use super::*;
    use crate::cli::Size;

    const TABLE: &str = "
name = 't'
title = 't'
config = 'c.toml'
measures = ['wrong']
published = 'paper'
column = [{ name = 'a', label = 'A', size = 'quick' }, { name = 'b', label = 'B', size = 'quick' }]
row = [
    { variant = 'small', label = 'small', published = { a = 4.0 } },
    { variant = 'net', label = 'net', hidden = { quick = [[2], [3]] } },
]
";

    fn table() -> Comparison {
        toml::from_str::<TableDescription>(TABLE).unwrap().of_size(Size::Quick)
    }

    fn claim(text: &str) -> Claim {
        toml::from_str(&format!("says = 'X'\n{text}")).unwrap()
    }

    /// A run that got so many percent wrong.
    fn add(results: &mut Results, cell: Cell, seed: u64, wrong: f64) {
        let test = Some(Score { loss: 0.0, error: Some(wrong / 100.0), examples: 9 });
        let (kind, form) = (String::new(), String::new());
        let result = RunResult {
            kind,
            form,
            parameters: 1,
            seed,
            epochs: 1,
            best_epoch: 1,
            train: None,
            valid: None,
            test,
            also: [].into(),
        };
        results.add(cell, Run::at("x"), result);
    }

    fn sentences(text: &str) -> Vec<String> {
        let mut results = Results::default();
        // Percent wrong in column a of small, net 2 and net 3; column b is one worse, but for net 3, which is missing.
        for (cell, wrong) in
            [((0, 0, 0), 5.0), ((0, 0, 1), 6.0), ((0, 0, 2), 3.0), ((0, 1, 0), 6.0), ((0, 1, 1), 7.0)]
        {
            add(&mut results, cell, 1, wrong);
        }
        claim(text).sentences(0, &table(), &results)
    }

    /// The sentence on column a, where every row has the numbers of these seeds, and some more that came to nothing.
    fn on_a(text: &str, rows: [(&[f64], usize); 3]) -> String {
        let mut results = Results::default();
        for (row, (seeds, nothing)) in rows.into_iter().enumerate() {
            for (wrong, seed) in seeds.iter().zip(1..) {
                add(&mut results, (0, 0, row), seed, *wrong);
            }
            (0..nothing).for_each(|_| results.add_nothing((0, 0, row), Run::at("x"), "epoch 1".to_owned()));
        }
        let sentences = claim(&format!("{text}\non = ['a']")).sentences(0, &table(), &results);
        sentences.concat()
    }

    #[test]
    fn claims_are_judged_by_the_better_direction() {
        let better = sentences("of = 'net'\nbetter_than = 'small'");
        assert_eq!(
            better,
            [
                "X, A: held (3.00 against 5.00; 1 seed).",
                "X, B: so far did not hold (7.00 against 6.00; 1 seed), with 2 of 3 nets trained."
            ]
        );
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'net'"),
            [
                "X, A: did not hold (5.00 against 3.00; 1 seed).",
                "X, B: so far held (6.00 against 7.00; 1 seed), with 2 of 3 nets trained."
            ],
            "the best of those to be beaten may be one that is missing"
        );
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'published'\nwithin = 1.0"),
            ["X, A: held (5.00 against 4.00; 1 seed).", "X, B: nothing is published to compare with."]
        );
        assert_eq!(
            sentences("of = 'net-2'\nbetter_than_on = 'b'\non = ['a']"),
            ["X, A: held (6.00 against 7.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nbetter_than_on = 'b'\non = ['a']"),
            ["X, A: so far held (3.00 against 7.00; 1 seed), with 3 of 4 nets trained."]
        );
        assert!(sentences("of = 'net-2'\nbetter_than_on = 'gone'").is_empty());
        assert!(sentences("of = 'net-4'\nbetter_than = 'small'").is_empty());
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'small'\non = ['a']"),
            ["X, A: did not hold (5.00 against 5.00; 1 seed)."],
            "as good is not better"
        );
        assert_eq!(
            sentences("of = 'net'\nbelow = 5.0\non = ['a']"),
            ["X, A: did not hold (1 of 2 nets: net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nabove = 2.0\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nimproves = true\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nbelow = 5.0\nshare = 0.5\non = ['a']"),
            ["X, A: did not hold (net 2 0 of 1, net 3 1 of 1; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'all'\nbelow = 5.0\nchosen = true"),
            ["X, A: held (all 4.67; 1 seed).", "X, B: not trained yet."]
        );
        assert_eq!(
            sentences("of = 'all'\nbetter_than = 'published'"),
            ["X, A: nothing is published to compare with.", "X, B: not trained yet."]
        );
    }

    #[test]
    fn larger_nets_may_be_said_to_get_worse() {
        let worse = "of = 'net'\nworsens_after = 2";
        let one = |small: f64, large: f64| on_a(worse, [(&[], 0), (&[small], 0), (&[large], 0)]);
        assert_eq!(one(3.0, 6.0), "X, A: held (net 2 3.00, net 3 6.00; 1 seed).");
        assert_eq!(one(6.0, 3.0), "X, A: did not hold (net 2 6.00, net 3 3.00; 1 seed).");
        assert_eq!(
            on_a(worse, [(&[], 0), (&[3.0], 0), (&[], 1)]),
            "X, A: held (net 2 3.00, net 3 came to nothing; 1 seed)."
        );
        assert_eq!(on_a(worse, [(&[], 0), (&[3.0], 0), (&[], 0)]), "X, A: not trained yet.");
        assert_eq!(
            on_a("of = 'net'\nimproves = true", [(&[], 0), (&[3.0], 0), (&[], 0)]),
            "X, A: not trained yet."
        );
        // In this size there is none of such a size, or none that is larger.
        assert!(sentences("of = 'net'\nworsens_after = 4").is_empty());
        assert!(sentences("of = 'net'\nworsens_after = 3").is_empty());
    }

    #[test]
    fn a_difference_that_other_seeds_might_turn_round_is_called_one() {
        let better = "of = 'net-2'\nbetter_than = 'small'";
        let two = |small: &[f64], net: &[f64]| on_a(better, [(small, 0), (net, 0), (&[], 0)]);
        assert_eq!(
            two(&[5.0, 7.0], &[4.0, 6.1]),
            "X, A: held (5.05 against 6.00; 2 seeds).",
            "by the same seeds"
        );
        assert_eq!(
            two(&[5.0, 7.0, 6.0], &[4.0, 6.1]),
            "X, A: held, within the spread of the seeds (5.05 against 6.00; 2 and 3 seeds)."
        );
        assert_eq!(
            two(&[5.0, 7.0], &[8.0, 4.5]),
            "X, A: did not hold, within the spread of the seeds (6.25 against 6.00; 2 seeds)."
        );
        assert_eq!(two(&[5.0, 5.2, 5.1], &[4.0]), "X, A: held (4.00 against 5.10; 1 and 3 seeds).");
        let published =
            |small: &[f64]| on_a("of = 'small'\nbetter_than = 'published'", [(small, 0), (&[], 0), (&[], 0)]);
        assert_eq!(
            published(&[3.0, 4.5]),
            "X, A: held, within the spread of the seeds (3.75 against 4.00; 2 seeds)."
        );
        assert_eq!(published(&[3.0, 3.1]), "X, A: held (3.05 against 4.00; 2 seeds).");
        assert_eq!(
            on_a("of = 'all'\nbelow = 9.0", [(&[5.0], 0), (&[5.0, 5.0], 0), (&[5.0], 0)]),
            "X, A: held (all 5.00; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0", [(&[], 0), (&[5.0, 5.0], 0), (&[5.0], 0)]),
            "X, A: held (net 2 5.00, net 3 5.00; 1 to 2 seeds)."
        );
    }

    #[test]
    fn a_net_that_came_to_nothing_is_the_worst_there_is() {
        let fails = [(&[5.0][..], 0), (&[][..], 1), (&[6.0][..], 0)];
        assert_eq!(
            on_a("of = 'net'\nabove = 5.0", fails),
            "X, A: held (net 2 came to nothing, net 3 6.00; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0", fails),
            "X, A: did not hold (1 of 2 nets: net 2 came to nothing, net 3 6.00; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'small'\nbetter_than = 'net-2'", fails),
            "X, A: held (5.00 against what came to nothing; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net-2'\nbetter_than = 'net-3'", [(&[], 0), (&[], 1), (&[], 1)]),
            "X, A: did not hold (both came to nothing; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net'\nbetter_than = 'small'", fails),
            "X, A: did not hold (6.00 against 5.00; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0\nshare = 0.6", [(&[], 0), (&[1.0], 1), (&[1.0, 1.0], 0)]),
            "X, A: did not hold (net 2 1 of 2, net 3 2 of 2; 2 seeds)."
        );
        assert_eq!(
            on_a("of = 'all'\nbelow = 9.0", fails),
            "X, A: did not hold (one of all came to nothing; 1 seed)."
        );
        // One of three is said, but does not outweigh the others.
        assert_eq!(
            on_a("of = 'net'\nabove = 5.0", [(&[], 0), (&[2.0, 3.0], 1), (&[6.0, 6.0, 6.0], 0)]),
            "X, A: did not hold (1 of 2 nets: net 2 2.50 without 1 of 3 that came to nothing, net 3 6.00; 3 seeds)."
        );
    }

    #[test]
    fn a_claim_says_one_thing() {
        assert_eq!(claim("of = 'net'\nbelow = 5.0\nshare = 0.5").mistake(), None);
        assert_eq!(claim("of = 'net'\nworsens_after = 200").mistake(), None);
        for wrong in ["of = 'net'", "of = 'net'\nbelow = 5.0\nworsens_after = 200"] {
            let said = claim(wrong).mistake().unwrap();
            assert!(
                said.starts_with("claim `X`: one of better_than, ") && said.ends_with("expected"),
                "{said}"
            );
        }
    }
}
