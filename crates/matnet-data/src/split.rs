//! Training, validation and test splits: seeded, disjoint, and easy to record.
//!
//! | rule | function | used for |
//! |---|---|---|
//! | fractions of all samples | [`by_fraction`] | faces 70/20/10, moving digits 6k/3k/1k |
//! | an official test set, validation drawn from the rest | [`official_test`] | digits 50k/10k/10k |
//! | fractions of each subject's trials | [`within_groups`] | EEG as in the paper |
//! | whole subjects | [`between_groups`] | EEG, harder |
//! | the split that came with the graph | [`public`] | Planetoid |
//! | a number of random test and validation nodes | [`random_test`] | citations as in the paper |
//! | a number of random training nodes per class | [`per_class`] | Planetoid's rule on other graphs |

use std::collections::BTreeMap;
use std::ops::Range;

use rand::Rng;
use rand::seq::SliceRandom;

use crate::{Error, GraphData, Result, SplitIndices};

/// The fractions of validation and test; the rest is for training.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SplitFractions {
    /// The validation split.
    pub valid: f64,
    /// The test split.
    pub test: f64,
}

impl SplitFractions {
    /// Fails unless both are fractions and their sum is below 1.
    pub fn new(valid: f64, test: f64) -> Result<Self> {
        let fractions = Self { valid, test };
        fractions.check()?;
        Ok(fractions)
    }

    fn check(&self) -> Result<()> {
        let ok = |part: f64| (0.0..1.0).contains(&part);
        if ok(self.valid) && ok(self.test) && self.valid + self.test < 1.0 {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "fractions valid = {} and test = {}: each must be at least 0, their sum below 1",
            self.valid, self.test
        )))
    }

    /// The number of validation and of test samples of `count`: rounded, but at least one training sample is left.
    fn counts(&self, count: usize) -> (usize, usize) {
        let part = |fraction: f64| (fraction * count as f64).round() as usize;
        let test = part(self.test).min(count.saturating_sub(1));
        (part(self.valid).min(count.saturating_sub(test + 1)), test)
    }
}

impl SplitIndices {
    /// Fails unless every index is below `count` and occurs once.
    pub fn check(&self, count: usize) -> Result<()> {
        let mut seen = vec![false; count];
        for &position in self.train.iter().chain(&self.valid).chain(&self.test) {
            match seen.get_mut(position) {
                Some(place) if !*place => *place = true,
                Some(_) => return Err(Error::Invalid(format!("split contains index {position} twice"))),
                None => {
                    return Err(Error::Invalid(format!(
                        "split contains index {position}, the data have {count}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Deals out `order`: the first go to the test split, the next to validation, the rest to training.
    fn from_order(mut order: Vec<usize>, valid: usize, test: usize) -> Self {
        let train = order.split_off(test + valid);
        let valid = order.split_off(test);
        Self { train, valid, test: order }.sorted()
    }

    /// Sorted splits are small to record and read in order; training shuffles anyway.
    fn sorted(mut self) -> Self {
        self.train.sort_unstable();
        self.valid.sort_unstable();
        self.test.sort_unstable();
        self
    }
}

/// Splits `count` samples randomly by fraction.
pub fn by_fraction(count: usize, fractions: SplitFractions, rng: &mut impl Rng) -> Result<SplitIndices> {
    fractions.check()?;
    let (valid, test) = fractions.counts(count);
    Ok(SplitIndices::from_order(shuffled((0..count).collect(), rng), valid, test))
}

/// Uses `test` as the test split and draws `valid` of the other samples for validation.
pub fn official_test(
    count: usize,
    test: Range<usize>,
    valid: usize,
    rng: &mut impl Rng,
) -> Result<SplitIndices> {
    if test.start > test.end || test.end > count {
        return Err(Error::Invalid(format!("test samples {test:?}, the data have {count}")));
    }
    let others = shuffled((0..count).filter(|position| !test.contains(position)).collect(), rng);
    check_train_left(others.len(), valid, 0)?;
    Ok(SplitIndices { test: test.collect(), ..SplitIndices::from_order(others, valid, 0) })
}

/// Splits the samples of each group by fraction: every group is in every split, no sample in two.
pub fn within_groups(groups: &[u32], fractions: SplitFractions, rng: &mut impl Rng) -> Result<SplitIndices> {
    fractions.check()?;
    let mut split = SplitIndices::default();
    for members in members(groups)?.into_values() {
        let (valid, test) = fractions.counts(members.len());
        let part = SplitIndices::from_order(shuffled(members, rng), valid, test);
        split.train.extend(part.train);
        split.valid.extend(part.valid);
        split.test.extend(part.test);
    }
    Ok(split.sorted())
}

/// Puts whole groups into each split, `valid` and `test` of them, so that no group is in two splits. With classes, each split gets
/// groups of every class as far as there are enough: a group counts for the class that most of its samples have.
pub fn between_groups(
    groups: &[u32],
    classes: Option<&[u32]>,
    valid: usize,
    test: usize,
    rng: &mut impl Rng,
) -> Result<SplitIndices> {
    let members = members(groups)?;
    if valid.saturating_add(test) >= members.len() {
        return Err(Error::Invalid(format!(
            "{valid} validation and {test} test groups of {} leave none to train on",
            members.len()
        )));
    }
    let mut by_class: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let all: Vec<Vec<usize>> = members.into_values().collect();
    for (group, samples) in all.iter().enumerate() {
        by_class.entry(classes.map_or(0, |classes| most_frequent(samples, classes))).or_default().push(group);
    }
    // Each class's groups in random order; the classes take turns, the one with the largest share left first.
    let total = all.len() as f64;
    let mut queues: Vec<(f64, Vec<usize>)> =
        by_class.into_values().map(|groups| (groups.len() as f64 / total, shuffled(groups, rng))).collect();
    let mut order = Vec::with_capacity(all.len());
    let mut taken = vec![0.0; queues.len()];
    while order.len() < all.len() {
        let next = (0..queues.len())
            .filter(|&class| !queues[class].1.is_empty())
            .max_by(|&a, &b| {
                let due = |class: usize| queues[class].0 * (order.len() + 1) as f64 - taken[class];
                due(a).total_cmp(&due(b)).then(b.cmp(&a))
            })
            .expect("a group is left");
        order.extend(queues[next].1.pop());
        taken[next] += 1.0;
    }
    let chosen = SplitIndices::from_order(order, valid, test);
    let samples = |groups: Vec<usize>| groups.into_iter().flat_map(|group| all[group].clone()).collect();
    let split = SplitIndices {
        train: samples(chosen.train),
        valid: samples(chosen.valid),
        test: samples(chosen.test),
    };
    Ok(split.sorted())
}

/// The number of different groups.
pub fn group_count(groups: &[u32]) -> Result<usize> {
    Ok(members(groups)?.len())
}

/// The class that most of these samples have; ties go to the lower one.
fn most_frequent(samples: &[usize], classes: &[u32]) -> u32 {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &sample in samples {
        *counts.entry(classes[sample]).or_default() += 1;
    }
    counts.into_iter().max_by(|(a, m), (b, n)| m.cmp(n).then(b.cmp(a))).map_or(0, |(class, _)| class)
}

/// The split that came with the graph, as published for the Planetoid files.
pub fn public(graph: &GraphData) -> Result<SplitIndices> {
    let split = graph.split.clone().ok_or_else(|| Error::Invalid("this graph has no public split".into()))?;
    split.check(graph.labels.len())?;
    Ok(split)
}

/// Draws `test` and `valid` nodes randomly among those with a known class; the other known ones are training nodes.
pub fn random_test(
    labels: &[Option<u32>],
    valid: usize,
    test: usize,
    rng: &mut impl Rng,
) -> Result<SplitIndices> {
    let order = shuffled(known(labels), rng);
    check_train_left(order.len(), valid, test)?;
    Ok(SplitIndices::from_order(order, valid, test))
}

/// Draws `per_class` training nodes of every class, then `valid` and `test` nodes of the others.
pub fn per_class(
    labels: &[Option<u32>],
    per_class: usize,
    valid: usize,
    test: usize,
    rng: &mut impl Rng,
) -> Result<SplitIndices> {
    let mut taken = BTreeMap::new();
    let (mut train, mut others) = (Vec::new(), Vec::new());
    for node in shuffled(known(labels), rng) {
        let count = taken.entry(labels[node]).or_insert(0);
        if *count < per_class {
            *count += 1;
            train.push(node);
        } else {
            others.push(node);
        }
    }
    if valid.saturating_add(test) > others.len() {
        return Err(Error::Invalid(format!(
            "{valid} validation and {test} test nodes requested, {} are left beside {} for training",
            others.len(),
            train.len()
        )));
    }
    others.truncate(valid + test);
    Ok(SplitIndices { train, ..SplitIndices::from_order(others, valid, test) }.sorted())
}

fn check_train_left(count: usize, valid: usize, test: usize) -> Result<()> {
    if valid.saturating_add(test) < count {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "{valid} validation and {test} test samples of {count} leave none for training"
    )))
}

fn known(labels: &[Option<u32>]) -> Vec<usize> {
    (0..labels.len()).filter(|&node| labels[node].is_some()).collect()
}

fn members(groups: &[u32]) -> Result<BTreeMap<u32, Vec<usize>>> {
    if groups.is_empty() {
        return Err(Error::Invalid("these data have no groups (subjects) to split by".into()));
    }
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (position, &group) in groups.iter().enumerate() {
        members.entry(group).or_default().push(position);
    }
    Ok(members)
}

fn shuffled(mut order: Vec<usize>, rng: &mut impl Rng) -> Vec<usize> {
    order.shuffle(rng);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SeededRng;

    fn rng(seed: u64) -> SeededRng {
        SeededRng::new(seed, "split")
    }

    fn total(split: &SplitIndices) -> usize {
        split.train.len() + split.valid.len() + split.test.len()
    }

    #[test]
    fn the_papers_sizes() {
        let sizes = |split: SplitIndices| (split.train.len(), split.valid.len(), split.test.len());
        let faces = by_fraction(1965, SplitFractions::new(0.1, 0.2).unwrap(), &mut rng(0)).unwrap();
        assert_eq!(sizes(faces), (1375, 197, 393));
        let digits = official_test(70_000, 60_000..70_000, 10_000, &mut rng(0)).unwrap();
        assert_eq!(digits.test[0], 60_000);
        assert_eq!(sizes(digits), (50_000, 10_000, 10_000));
        let eeg: Vec<u32> = (0..1200).map(|trial| trial / 60).collect();
        let fractions = SplitFractions::new(0.2, 0.2).unwrap();
        assert_eq!(sizes(within_groups(&eeg, fractions, &mut rng(0)).unwrap()), (720, 240, 240));
        assert_eq!(sizes(between_groups(&eeg, None, 4, 4, &mut rng(0)).unwrap()), (720, 240, 240));
        let cora = vec![Some(0); 2708];
        assert_eq!(sizes(random_test(&cora, 100, 1000, &mut rng(0)).unwrap()), (1608, 100, 1000));
    }

    #[test]
    fn groups_are_stratified_by_class() {
        // 12 subjects of one class and 8 of the other, 5 trials each.
        let groups: Vec<u32> = (0..100).map(|trial| trial / 5).collect();
        let classes: Vec<u32> = groups.iter().map(|&subject| u32::from(subject >= 12)).collect();
        for seed in 0..50 {
            let split = between_groups(&groups, Some(&classes), 5, 5, &mut rng(seed)).unwrap();
            for part in [&split.valid, &split.test] {
                let second = part.iter().filter(|&&trial| classes[trial] == 1).count();
                assert_eq!((part.len(), second), (25, 10), "seed {seed}");
            }
        }
        let error = between_groups(&[0, 1, 2], None, 1, 2, &mut rng(0)).unwrap_err();
        assert_eq!(error.to_string(), "1 validation and 2 test groups of 3 leave none to train on");
    }

    #[test]
    fn impossible_requests_say_what_is_wrong() {
        let message = |error: Error| error.to_string();
        assert_eq!(
            message(SplitFractions::new(0.5, 0.5).unwrap_err()),
            "fractions valid = 0.5 and test = 0.5: each must be at least 0, their sum below 1"
        );
        assert!(SplitFractions::new(f64::NAN, 0.1).is_err());
        assert_eq!(
            message(random_test(&[Some(0); 50], 10, 1000, &mut rng(0)).unwrap_err()),
            "10 validation and 1000 test samples of 50 leave none for training"
        );
        assert_eq!(
            message(within_groups(&[], SplitFractions { valid: 0.2, test: 0.2 }, &mut rng(0)).unwrap_err()),
            "these data have no groups (subjects) to split by"
        );
        let twice = SplitIndices { train: vec![0, 1], valid: vec![], test: vec![1] };
        assert_eq!(message(twice.check(2).unwrap_err()), "split contains index 1 twice");
        assert_eq!(message(twice.check(1).unwrap_err()), "split contains index 1, the data have 1");
    }

    #[test]
    fn a_split_survives_serialization() {
        let split = by_fraction(30, SplitFractions::new(0.2, 0.3).unwrap(), &mut rng(3)).unwrap();
        let text = serde_json::to_string(&split).unwrap();
        assert_eq!(serde_json::from_str::<SplitIndices>(&text).unwrap(), split);
    }

    proptest! {
        #[test]
        fn every_sample_is_in_exactly_one_split(
            count in 1usize..400, valid in 0.0..0.5, test in 0.0..0.5, seed: u64,
        ) {
            let fractions = SplitFractions::new(valid, test).unwrap();
            let split = by_fraction(count, fractions, &mut rng(seed)).unwrap();
            split.check(count).unwrap();
            prop_assert_eq!(total(&split), count);
            prop_assert!(!split.train.is_empty());
            prop_assert!((split.test.len() as f64 - test * count as f64).abs() <= 1.0);
            prop_assert_eq!(&split, &by_fraction(count, fractions, &mut rng(seed)).unwrap());
        }

        #[test]
        fn groups_are_divided_or_kept_whole(
            groups in prop::collection::vec(0u32..9, 1..300), valid in 0.0..0.5, test in 0.0..0.5, seed: u64,
        ) {
            let fractions = SplitFractions::new(valid, test).unwrap();
            let within = within_groups(&groups, fractions, &mut rng(seed)).unwrap();
            within.check(groups.len()).unwrap();
            prop_assert_eq!(total(&within), groups.len());
            for group in &groups {
                prop_assert!(within.train.iter().any(|&sample| groups[sample] == *group));
            }

            let count = group_count(&groups).unwrap();
            let part = |fraction: f64| (fraction * count as f64) as usize;
            let between = between_groups(&groups, None, part(valid), part(test), &mut rng(seed)).unwrap();
            between.check(groups.len()).unwrap();
            prop_assert_eq!(total(&between), groups.len());
            let of = |part: &[usize]| part.iter().map(|&s| groups[s]).collect::<std::collections::BTreeSet<_>>();
            prop_assert!(of(&between.train).is_disjoint(&of(&between.test)));
            prop_assert!(of(&between.train).is_disjoint(&of(&between.valid)));
            prop_assert!(of(&between.valid).is_disjoint(&of(&between.test)));
        }

        #[test]
        fn only_nodes_with_a_class_are_drawn(
            labels in prop::collection::vec(prop::option::of(0u32..4), 20..200), seed: u64,
        ) {
            let known = labels.iter().flatten().count();
            prop_assume!(known > 6);
            let split = random_test(&labels, 2, 4, &mut rng(seed)).unwrap();
            split.check(labels.len()).unwrap();
            prop_assert_eq!((total(&split), split.valid.len(), split.test.len()), (known, 2, 4));
            prop_assert!(split.train.iter().all(|&node| labels[node].is_some()));

            if let Ok(split) = per_class(&labels, 3, 2, 4, &mut rng(seed)) {
                split.check(labels.len()).unwrap();
                for class in 0..4 {
                    let have = labels.iter().filter(|label| **label == Some(class)).count();
                    let took = split.train.iter().filter(|&&node| labels[node] == Some(class)).count();
                    prop_assert_eq!(took, have.min(3));
                }
            }
        }
    }
}
