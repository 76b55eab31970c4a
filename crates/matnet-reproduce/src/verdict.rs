//! Whether a claim held, by the numbers of the nets that it is about.

use matnet_report::text;
use matnet_train::stats::{Difference, MIN_SEEDS};

use crate::claim::{Claim, Matched, PUBLISHED};
use crate::metric::Metric;
use crate::scored_net::ScoredNet;

/// By what factor two nets of matched size may differ in it.
const LARGEST_RATIO: f64 = 2.0;

impl Claim {
    /// The verdict on the trained nets; `None` if there are too few of them.
    pub(crate) fn judge(&self, own: &[ScoredNet], other: &[ScoredNet], metric: Metric) -> Option<String> {
        if let Some(matched) = self.matched {
            return self.judge_matched(matched, own, other, metric);
        }
        if self.better_than.is_some() || self.better_than_on.is_some() {
            return self.judge_best(own, other, metric);
        }
        if own.is_empty() {
            return None;
        }
        let listed = join(own.iter().map(|net| net.describe(metric)));
        let seeds = count_seeds(own.iter().map(ScoredNet::count));
        if let (Some(max), Some(fraction)) = (self.below, self.fraction) {
            let below = |net: &ScoredNet| net.seeds.values().filter(|seed| **seed <= max).count();
            let held = own.iter().all(|net| below(net) as f64 >= fraction * net.count() as f64);
            let several = own.iter().all(|net| net.count() >= MIN_SEEDS);
            let one = |net: &ScoredNet| format!("{} {} of {}", net.label, below(net), net.count());
            let found = if several { Found::of(held) } else { Found::NotSettled };
            return Some(verdict(found, &join(own.iter().map(one)), &seeds));
        }
        if self.below.is_some() || self.above.is_some() {
            let within = |net: &ScoredNet| {
                self.below.is_none_or(|max| net.number <= max)
                    && self.above.is_none_or(|min| net.number > min)
            };
            let limit = self.below.or(self.above).unwrap_or_default();
            let each =
                |net: &ScoredNet| (within(net), self.is_settled(net, &ScoredNet::published(limit), metric));
            let found = Found::of_all(own.iter().map(each));
            let number = own.iter().filter(|net| within(net)).count();
            let numbers = match number == own.len() || own.len() == 1 {
                true => listed,
                false => format!("{number} of {} nets: {listed}", own.len()),
            };
            return Some(verdict(found, &numbers, &seeds));
        }
        let pairs: Vec<(&ScoredNet, &ScoredNet)> = match self.worsens_after {
            Some(size) => {
                let given = own.iter().find(|net| net.units == Some(size))?;
                own.iter().filter(|net| net.units > Some(size)).map(|net| (given, net)).collect()
            }
            None => own.windows(2).map(|pair| (&pair[1], &pair[0])).collect(),
        };
        Some(verdict(self.compare(&pairs, metric)?, &listed, &seeds))
    }

    /// The best net against the best of the others, or against the published number.
    fn judge_best(&self, own: &[ScoredNet], other: &[ScoredNet], metric: Metric) -> Option<String> {
        let best = |nets: &[ScoredNet]| {
            let better =
                |a: ScoredNet, b: ScoredNet| if metric.is_better(b.number, a.number) { b } else { a };
            nets.iter().cloned().reduce(better)
        };
        let first = best(own)?;
        let second = match self.better_than.as_deref() {
            Some(PUBLISHED) => match own.iter().find_map(|net| net.published) {
                Some(number) => ScoredNet::published(number),
                None => return Some("no published number to compare with".to_owned()),
            },
            _ => best(other)?,
        };
        let mut numbers = match first.number.is_finite() || second.number.is_finite() {
            true => format!("{} against {}", first.format(metric), second.format(metric)),
            false => "both diverged".to_owned(),
        };
        let difference = difference(&first, &second).filter(|_| !self.selected);
        if let Some(Difference { mean, half_width: Some(half), .. }) = difference {
            let (mean, half) = (metric.format(mean.abs()), metric.format(half));
            numbers += &format!("; difference {mean} ± {half}, 95 % CI");
        }
        let seeds = match (first.count(), second.count()) {
            (one, other) if one == other || other == 0 => text::counted(one, "seed"),
            (one, other) => format!("{one} and {other} seeds"),
        };
        Some(verdict(self.compare(&[(&first, &second)], metric)?, &numbers, &seeds))
    }

    /// Every net against that of the others which is nearest in size. Nets that have no other within a factor of two are left out.
    fn judge_matched(
        &self,
        matched: Matched,
        own: &[ScoredNet],
        other: &[ScoredNet],
        metric: Metric,
    ) -> Option<String> {
        if own.is_empty() || other.is_empty() {
            return None;
        }
        let ratio = |one: &ScoredNet, two: &ScoredNet| {
            let (one, two) = (one.size(matched)?, two.size(matched)?);
            Some(one.max(two) as f64 / one.min(two).max(1) as f64)
        };
        let nearest = |net: &ScoredNet| {
            let near = other.iter().filter_map(|other| Some((ratio(net, other)?, other)));
            let near = near.filter(|(ratio, _)| *ratio <= LARGEST_RATIO);
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
        };
        let pairs: Vec<(&ScoredNet, &ScoredNet)> =
            own.iter().filter_map(|net| Some((net, nearest(net)?))).collect();
        let Some(found) = self.compare(&pairs, metric) else {
            return Some(format!("no two nets have nearly as many {}", matched.name()));
        };
        let one = |net: &ScoredNet| {
            let size = text::count(net.size(matched).unwrap_or(0) as usize);
            format!("{} ({size} {}) {}", net.label, matched.name(), net.format(metric))
        };
        let numbers =
            join(pairs.iter().map(|(first, second)| format!("{} against {}", one(first), one(second))));
        let seeds = count_seeds(pairs.iter().flat_map(|(first, second)| [first.count(), second.count()]));
        Some(verdict(found, &numbers, &seeds))
    }

    /// Whether the first of every pair is better than the second; `None` if there is no pair.
    fn compare(&self, pairs: &[(&ScoredNet, &ScoredNet)], metric: Metric) -> Option<Found> {
        // A published number is to be reached, another net to be beaten.
        let reach = self.within > 0.0 || self.better_than.as_deref() == Some(PUBLISHED);
        let better = |(first, second): &(&ScoredNet, &ScoredNet)| match reach {
            true => metric.reaches(first.number, second.number, self.within),
            false => metric.is_better(first.number, second.number),
        };
        let each = |pair: &(&ScoredNet, &ScoredNet)| (better(pair), self.is_settled(pair.0, pair.1, metric));
        (!pairs.is_empty()).then(|| Found::of_all(pairs.iter().map(each)))
    }

    /// Whether the seeds settle on which side of the claim a difference lies: its 95 % confidence interval by Student's t, over
    /// paired seeds where both nets have the same, excludes the limit. Fewer than three seeds settle nothing.
    fn is_settled(&self, first: &ScoredNet, second: &ScoredNet, metric: Metric) -> bool {
        let is_number = second.count() == 0;
        if first.count() < MIN_SEEDS || (!is_number && second.count() < MIN_SEEDS) {
            return false;
        }
        // A selected seed is no mean, and a net that diverged has none.
        if self.selected || !first.number.is_finite() || !second.number.is_finite() {
            return true;
        }
        difference(first, second).is_some_and(|found| {
            let distance = (metric.advantage(found.mean, 0.0) + self.within).abs();
            // Seeds that did not diverge may be fewer than those that were trained.
            found.fewest >= MIN_SEEDS && found.half_width.is_some_and(|half| distance > half || half == 0.0)
        })
    }
}

/// The difference between two nets, or between a net and a number.
fn difference(first: &ScoredNet, second: &ScoredNet) -> Option<Difference> {
    match second.count() {
        0 => Difference::from_number(&first.seeds, second.number),
        _ => Difference::of(&first.seeds, &second.seeds),
    }
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Held,
    DidNotHold,
    NotSettled,
}

impl Found {
    fn of(held: bool) -> Self {
        if held { Self::Held } else { Self::DidNotHold }
    }

    /// Of parts that all must hold: whether each does, and whether that is settled.
    fn of_all(parts: impl Iterator<Item = (bool, bool)>) -> Self {
        let mut found = Self::Held;
        for part in parts {
            match part {
                (true, true) => {}
                (false, true) => return Self::DidNotHold,
                (_, false) => found = Self::NotSettled,
            }
        }
        found
    }
}

/// A verdict with the numbers behind it.
fn verdict(found: Found, numbers: &str, seeds: &str) -> String {
    let found = match found {
        Found::Held => "held",
        Found::DidNotHold => "did not hold",
        Found::NotSettled => "not settled",
    };
    format!("{found} ({numbers}; {seeds})")
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// How many seeds, where rows may have different numbers of them.
pub(crate) fn count_seeds(seeds: impl Iterator<Item = usize> + Clone) -> String {
    match (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0)) {
        (min, max) if min == max => text::counted(max, "seed"),
        (min, max) => format!("{min} to {max} seeds"),
    }
}

#[cfg(test)]
mod tests {
    use matnet_train::Run;

    use super::*;
    use crate::args::Size;
    use crate::experiment::{TableFile, TableSpec};
    use crate::files::CellIndex;
    use crate::metric::tests::result;
    use crate::results::Results;

    const TABLE: &str = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error']
published = 'paper'
column = [{ name = 'a', label = 'A', size = 'quick' }, { name = 'b', label = 'B', size = 'quick' }]
row = [
    { variant = 'small', label = 'small', published = { a = 4.0 } },
    { variant = 'net', label = 'net', hidden = { quick = [[2], [3]] } },
]
";

    fn table() -> TableSpec {
        toml::from_str::<TableFile>(TABLE).unwrap().of_size(Size::Quick)
    }

    fn claim(text: &str) -> Claim {
        toml::from_str(&format!("says = 'X'\n{text}")).unwrap()
    }

    /// A run with this error rate in percent.
    fn add(results: &mut Results, cell: CellIndex, seed: u64, error: f64) {
        results.add(cell, Run::at("x"), result(seed, None, 0.0, Some(error / 100.0)));
    }

    fn verdicts(text: &str) -> Vec<String> {
        let mut results = Results::default();
        // Error rates in column a of small, net 2 and net 3; column b is one worse, but net 3 is missing.
        for (cell, error) in
            [((0, 0, 0), 5.0), ((0, 0, 1), 6.0), ((0, 0, 2), 3.0), ((0, 1, 0), 6.0), ((0, 1, 1), 7.0)]
        {
            // Three seeds that differ by as much in every net.
            for (seed, luck) in [(1, -0.01), (2, 0.0), (3, 0.01)] {
                add(&mut results, cell, seed, error + luck);
            }
        }
        claim(text).verdicts(0, &table(), &results)
    }

    /// The verdict on column a, where every row has the numbers of these seeds, and some more that diverged.
    fn on_a(text: &str, rows: [(&[f64], usize); 3]) -> String {
        let mut results = Results::default();
        for (row, (seeds, diverged)) in rows.into_iter().enumerate() {
            for (error, seed) in seeds.iter().zip(1..) {
                add(&mut results, (0, 0, row), seed, *error);
            }
            (0..diverged).for_each(|_| results.add_diverged((0, 0, row), Run::at("x"), "epoch 1".to_owned()));
        }
        claim(&format!("{text}\non = ['a']")).verdicts(0, &table(), &results).concat()
    }

    #[test]
    fn claims_are_judged_by_the_better_direction() {
        let better = verdicts("of = 'net'\nbetter_than = 'small'");
        assert_eq!(
            better,
            [
                "X, A: held (3.00 against 5.00; difference 2.00 ± 0.00, 95 % CI; 3 seeds).",
                "X, B: so far did not hold (7.00 against 6.00; difference 1.00 ± 0.00, 95 % CI; 3 seeds), with 2 of 3 nets trained."
            ]
        );
        assert_eq!(
            verdicts("of = 'small'\nbetter_than = 'net'"),
            [
                "X, A: did not hold (5.00 against 3.00; difference 2.00 ± 0.00, 95 % CI; 3 seeds).",
                "X, B: so far held (6.00 against 7.00; difference 1.00 ± 0.00, 95 % CI; 3 seeds), with 2 of 3 nets trained."
            ],
            "the best of the others may be one that is missing"
        );
        assert_eq!(
            verdicts("of = 'small'\nbetter_than = 'published'\nwithin = 1.5"),
            [
                "X, A: held (5.00 against 4.00; difference 1.00 ± 0.02, 95 % CI; 3 seeds).",
                "X, B: no published number to compare with."
            ]
        );
        assert_eq!(
            verdicts("of = 'net-2'\nbetter_than_on = 'b'\non = ['a']"),
            ["X, A: held (6.00 against 7.00; difference 1.00 ± 0.00, 95 % CI; 3 seeds)."]
        );
        assert_eq!(
            verdicts("of = 'net'\nbetter_than_on = 'b'\non = ['a']"),
            [
                "X, A: so far held (3.00 against 7.00; difference 4.00 ± 0.00, 95 % CI; 3 seeds), with 3 of 4 nets trained."
            ]
        );
        assert!(verdicts("of = 'net-2'\nbetter_than_on = 'gone'").is_empty());
        assert!(verdicts("of = 'net-4'\nbetter_than = 'small'").is_empty());
        assert_eq!(
            verdicts("of = 'small'\nbetter_than = 'small'\non = ['a']"),
            ["X, A: did not hold (5.00 against 5.00; difference 0.00 ± 0.00, 95 % CI; 3 seeds)."],
            "as good is not better"
        );
        assert_eq!(
            verdicts("of = 'net'\nbelow = 5.0\non = ['a']"),
            ["X, A: did not hold (1 of 2 nets: net 2 6.00, net 3 3.00; 3 seeds)."]
        );
        assert_eq!(
            verdicts("of = 'net'\nabove = 2.0\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 3 seeds)."]
        );
        assert_eq!(
            verdicts("of = 'net'\nimproves = true\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 3 seeds)."]
        );
        assert_eq!(
            verdicts("of = 'net'\nbelow = 5.0\nfraction = 0.5\non = ['a']"),
            ["X, A: did not hold (net 2 0 of 3, net 3 3 of 3; 3 seeds)."]
        );
        assert_eq!(
            verdicts("of = 'all'\nbelow = 5.0\nselected = true"),
            ["X, A: held (all 4.66; 3 seeds).", "X, B: not trained yet."]
        );
        assert_eq!(
            verdicts("of = 'all'\nbetter_than = 'published'"),
            ["X, A: no published number to compare with.", "X, B: not trained yet."]
        );
    }

    #[test]
    fn larger_nets_may_get_worse() {
        let worse = "of = 'net'\nworsens_after = 2";
        let one = |small: f64, large: f64| {
            let of = |first: f64| [first, first + 0.05, first + 0.1];
            on_a(worse, [(&[], 0), (&of(small), 0), (&of(large), 0)])
        };
        assert_eq!(one(3.0, 6.0), "X, A: held (net 2 3.05, net 3 6.05; 3 seeds).");
        assert_eq!(one(6.0, 3.0), "X, A: did not hold (net 2 6.05, net 3 3.05; 3 seeds).");
        assert_eq!(
            on_a(worse, [(&[], 0), (&[3.0; 3], 0), (&[], 3)]),
            "X, A: held (net 2 3.00, net 3 diverged; 3 seeds)."
        );
        assert_eq!(
            on_a(worse, [(&[], 0), (&[3.0; 2], 0), (&[], 2)]),
            "X, A: not settled (net 2 3.00, net 3 diverged; 2 seeds)."
        );
        assert_eq!(on_a(worse, [(&[], 0), (&[3.0], 0), (&[], 0)]), "X, A: not trained yet.");
        assert_eq!(
            on_a("of = 'net'\nimproves = true", [(&[], 0), (&[3.0], 0), (&[], 0)]),
            "X, A: not trained yet."
        );
        // There is no row of this size, or no larger one.
        assert!(verdicts("of = 'net'\nworsens_after = 4").is_empty());
        assert!(verdicts("of = 'net'\nworsens_after = 3").is_empty());
    }

    #[test]
    fn a_difference_within_its_interval_is_not_settled() {
        let better = "of = 'net-2'\nbetter_than = 'small'";
        let two = |small: &[f64], net: &[f64]| on_a(better, [(small, 0), (net, 0), (&[], 0)]);
        assert_eq!(
            two(&[5.0, 7.0, 6.0], &[4.0, 6.1, 5.0]),
            "X, A: held (5.03 against 6.00; difference 0.97 ± 0.14, 95 % CI; 3 seeds).",
            "by the same seeds"
        );
        assert_eq!(
            two(&[5.0, 7.0, 6.0, 6.0], &[4.0, 6.1, 5.0]),
            "X, A: not settled (5.03 against 6.00; difference 0.97 ± 2.09, 95 % CI; 3 and 4 seeds)."
        );
        assert_eq!(
            two(&[5.0, 7.0, 6.0], &[8.0, 4.5, 6.1]),
            "X, A: not settled (6.20 against 6.00; difference 0.20 ± 6.83, 95 % CI; 3 seeds)."
        );
        assert_eq!(two(&[5.0, 5.2, 5.1], &[4.0]), "X, A: not settled (4.00 against 5.10; 1 and 3 seeds).");
        let published =
            |small: &[f64]| on_a("of = 'small'\nbetter_than = 'published'", [(small, 0), (&[], 0), (&[], 0)]);
        assert_eq!(
            published(&[3.0, 4.5, 3.75]),
            "X, A: not settled (3.75 against 4.00; difference 0.25 ± 1.86, 95 % CI; 3 seeds)."
        );
        assert_eq!(
            published(&[3.0, 3.1, 3.05]),
            "X, A: held (3.05 against 4.00; difference 0.95 ± 0.12, 95 % CI; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'all'\nbelow = 9.0", [(&[5.0], 0), (&[5.0, 5.0], 0), (&[5.0], 0)]),
            "X, A: not settled (all 5.00; 1 seed)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0", [(&[], 0), (&[5.0; 3], 0), (&[5.0], 0)]),
            "X, A: not settled (net 2 5.00, net 3 5.00; 1 to 3 seeds)."
        );
    }

    /// Two seeds whose differences are equal have an interval of width 0. They settle nothing all the same.
    #[test]
    fn two_seeds_settle_nothing() {
        let two = [(&[5.0, 7.0][..], 0), (&[4.0, 6.0][..], 0), (&[1.0, 1.0][..], 0)];
        for (text, wanted) in [
            (
                "of = 'net-2'\nbetter_than = 'small'",
                "(5.00 against 6.00; difference 1.00 ± 0.00, 95 % CI; 2 seeds)",
            ),
            ("of = 'net-3'\nbetter_than = 'published'", "no published number"),
            ("of = 'net-3'\nbelow = 9.0", "(net 3 1.00; 2 seeds)"),
            ("of = 'net-3'\nbelow = 9.0\nfraction = 0.5", "(net 3 2 of 2; 2 seeds)"),
            ("of = 'net'\nimproves = true", "(net 2 5.00, net 3 1.00; 2 seeds)"),
            ("of = 'net-3'\nbelow = 9.0\nselected = true", "(net 3 1.00; 2 seeds)"),
        ] {
            let found = on_a(text, two);
            let not_settled = !found.contains("held") && !found.contains("did not hold");
            assert!(not_settled && found.contains(wanted), "{text}: {found}");
        }
        // Three were trained, but only two of them have a number.
        let diverged = on_a("of = 'small'\nbelow = 9.0", [(&[1.0, 1.1], 1), (&[], 0), (&[], 0)]);
        assert!(diverged.contains("X, A: not settled"), "{diverged}");
    }

    #[test]
    fn sizes_are_matched() {
        let sized = |sizes: [(u64, f64); 3], text: &str| {
            let mut results = Results::default();
            for (row, (parameters, error)) in sizes.into_iter().enumerate() {
                for (seed, luck) in [(1, -0.01), (2, 0.0), (3, 0.01)] {
                    let mut found = result(seed, None, 0.0, Some((error + luck) / 100.0));
                    found.parameters = parameters as usize;
                    results.add((0, 0, row), Run::at("x"), found);
                }
            }
            claim(&format!("{text}\non = ['a']")).verdicts(0, &table(), &results).concat()
        };
        let matched = "of = 'net'\nbetter_than = 'small'\nmatched = 'parameters'";
        assert_eq!(
            sized([(1000, 5.0), (1500, 4.0), (9000, 1.0)], matched),
            "X, A: held (net 2 (1,500 parameters) 4.00 against small (1,000 parameters) 5.00; 3 seeds).",
            "the large net is better, but it is no match"
        );
        assert_eq!(
            sized([(1000, 5.0), (900, 6.0), (1100, 4.0)], matched),
            "X, A: did not hold (net 2 (900 parameters) 6.00 against small (1,000 parameters) 5.00, net 3 (1,100 parameters) 4.00 against small (1,000 parameters) 5.00; 3 seeds)."
        );
        assert_eq!(
            sized([(1000, 5.0), (2001, 4.0), (499, 1.0)], matched),
            "X, A: no two nets have nearly as many parameters."
        );
        // 2 and 3 hidden units; the description has none for the small net.
        assert_eq!(
            sized([(1, 5.0), (1, 4.0), (1, 1.0)], "of = 'net-2'\nbetter_than = 'net-3'\nmatched = 'units'"),
            "X, A: did not hold (net 2 (2 hidden units) 4.00 against net 3 (3 hidden units) 1.00; 3 seeds)."
        );
        for (text, wanted) in [
            ("of = 'net'\nbelow = 5.0\nmatched = 'units'", "matched goes with better_than"),
            ("of = 'net'\nbetter_than = 'published'\nmatched = 'units'", "matched goes with better_than"),
        ] {
            let found = claim(text).mistake().unwrap();
            assert!(found.contains(wanted), "{found}");
        }
    }

    #[test]
    fn a_net_that_diverged_is_the_worst() {
        let fails = [(&[5.0; 3][..], 0), (&[][..], 3), (&[6.0; 3][..], 0)];
        assert_eq!(
            on_a("of = 'net'\nabove = 5.0", fails),
            "X, A: held (net 2 diverged, net 3 6.00; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0", fails),
            "X, A: did not hold (1 of 2 nets: net 2 diverged, net 3 6.00; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'small'\nbetter_than = 'net-2'", fails),
            "X, A: held (5.00 against a net that diverged; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'net-2'\nbetter_than = 'net-3'", [(&[], 0), (&[], 3), (&[], 3)]),
            "X, A: did not hold (both diverged; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'net'\nbetter_than = 'small'", fails),
            "X, A: did not hold (6.00 against 5.00; difference 1.00 ± 0.00, 95 % CI; 3 seeds)."
        );
        assert_eq!(
            on_a("of = 'net'\nbelow = 9.0\nfraction = 0.6", [(&[], 0), (&[1.0], 2), (&[1.0; 3], 0)]),
            "X, A: did not hold (net 2 1 of 3, net 3 3 of 3; 3 seeds)."
        );
        assert_eq!(on_a("of = 'all'\nbelow = 9.0", fails), "X, A: did not hold (a net diverged; 3 seeds).");
        // One seed of four is named, but does not outweigh the others.
        assert_eq!(
            on_a("of = 'net'\nabove = 5.0", [(&[], 0), (&[2.0, 2.1, 2.05], 1), (&[6.0; 4], 0)]),
            "X, A: did not hold (1 of 2 nets: net 2 2.05 with 1 of 4 seeds diverged, net 3 6.00; 4 seeds)."
        );
    }

    #[test]
    fn a_claim_makes_one_statement() {
        assert_eq!(claim("of = 'net'\nbelow = 5.0\nfraction = 0.5").mistake(), None);
        assert_eq!(claim("of = 'net'\nworsens_after = 200").mistake(), None);
        for invalid in ["of = 'net'", "of = 'net'\nbelow = 5.0\nworsens_after = 200"] {
            let error = claim(invalid).mistake().unwrap();
            assert!(
                error.starts_with("claim `X`: one of better_than, ") && error.ends_with("expected"),
                "{error}"
            );
        }
    }
}
