//! Training, validation and test splits: seeded, disjoint, and easy to record.
//!
//! | rule | function | used for |
//! |---|---|---|
//! | a part of the training samples | [`draw_train`] | learning curves |
//! | fractions of all samples | [`by_fraction`] | faces 70/20/10, moving digits 6k/3k/1k |
//! | fractions of each class | [`stratified`] | samples with classes |
//! | the split that comes with the data, validation drawn from the rest | [`official`] | digits 50k/10k/10k |
//! | fractions of each subject's trials | [`within_groups`] | EEG as in the paper |
//! | whole subjects | [`between_groups`] | EEG, harder |
//! | one of k folds for testing, validation drawn from the rest | [`Folds`] | cross-validation |
//! | training before validation before test | [`in_order`], [`chronological`] | series, forecasting |
//! | the split that came with the graph | [`public`] | Planetoid |
//! | a number of random test and validation nodes | [`random_test`] | citations as in the paper |
//! | a number of random training nodes per class | [`per_class`] | Planetoid's rule on other graphs |

mod folds;
mod nodes;
mod time;

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

pub use crate::dataset::RowCounts;
pub use folds::{FoldRule, Folds};
pub use nodes::{per_class, public, random_test};
pub use time::{chronological, in_order};

use crate::{Error, Result, SplitIndices};

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

    /// What is left of the split when only the samples in `kept`, which is sorted, remain.
    pub fn select(&self, kept: &[usize]) -> Self {
        let select = |all: &[usize]| all.iter().filter_map(|at| kept.binary_search(at).ok()).collect();
        Self { train: select(&self.train), valid: select(&self.valid), test: select(&self.test) }
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

/// Splits samples randomly by fraction, with the same shares of all classes in every split, as far as whole samples allow. Every
/// class keeps a training sample if there are as many training samples as classes.
pub fn stratified(classes: &[u32], fractions: SplitFractions, rng: &mut impl Rng) -> Result<SplitIndices> {
    fractions.check()?;
    let (valid, test) = fractions.counts(classes.len());
    let order = stratified_order((0..classes.len()).collect(), |sample| classes[sample], rng);
    Ok(SplitIndices::from_order(order, valid, test))
}

/// Uses the split that comes with the data; if it has no validation split, draws `valid` of its training samples for one.
pub fn official(given: SplitIndices, valid: usize, rng: &mut impl Rng) -> Result<SplitIndices> {
    if !given.valid.is_empty() {
        return Ok(given.sorted());
    }
    check_train_left(given.train.len(), valid, 0)?;
    let drawn = SplitIndices::from_order(shuffled(given.train, rng), valid, 0);
    Ok(SplitIndices { test: given.test, ..drawn }.sorted())
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

/// Draws `number` of the training samples, with the shares of all classes as far as whole samples allow. A larger number from the same
/// generator contains a smaller one, so that a learning curve adds samples and does not exchange them.
pub fn draw_train(
    train: Vec<usize>,
    classes: Option<&[u32]>,
    number: usize,
    rng: &mut impl Rng,
) -> Result<Vec<usize>> {
    if number == 0 || number > train.len() {
        let have = train.len();
        return Err(Error::Invalid(format!(
            "{number} training samples: must be 1 to {have}, there are no more"
        )));
    }
    let mut order = in_turns(by_class(train, |sample| classes.map_or(0, |classes| classes[sample])), rng);
    order.truncate(number);
    order.sort_unstable();
    Ok(order)
}

/// Puts whole groups into each split, `valid` and `test` of them, so that no group is in two splits. With classes, each split gets
/// groups of every class as far as there are enough, training first: a group counts for the class that most of its samples have.
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
    let all: Vec<Vec<usize>> = members.into_values().collect();
    let class = |group: usize| classes.map_or(0, |classes| most_frequent(&all[group], classes));
    let mut order = in_turns(by_class((0..all.len()).collect(), class), rng);
    keep_for_training(&mut order, valid + test, class);
    let chosen = SplitIndices::from_order(order, valid, test);
    let samples = |groups: Vec<usize>| groups.into_iter().flat_map(|group| all[group].clone()).collect();
    let split = SplitIndices {
        train: samples(chosen.train),
        valid: samples(chosen.valid),
        test: samples(chosen.test),
    };
    Ok(split.sorted())
}

/// Exchanges groups before `start` with later ones, so that each class has one from `start` on, as far as there is room.
fn keep_for_training(order: &mut [usize], start: usize, class: impl Fn(usize) -> u32) {
    let count = |order: &[usize], wanted: u32| order.iter().filter(|&&group| class(group) == wanted).count();
    for at in (0..start).rev() {
        if count(&order[start..], class(order[at])) > 0 {
            continue;
        }
        // The class that training has most of gives one away; ties go to the first.
        let most =
            (start..order.len()).rev().max_by_key(|&other| count(&order[start..], class(order[other])));
        if let Some(other) = most.filter(|&other| count(&order[start..], class(order[other])) > 1) {
            order.swap(at, other);
        }
    }
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

fn check_train_left(count: usize, valid: usize, test: usize) -> Result<()> {
    if valid.saturating_add(test) < count {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "{valid} validation and {test} test samples of {count} leave none for training"
    )))
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

/// The items of each class, classes in ascending order.
fn by_class(items: Vec<usize>, class: impl Fn(usize) -> u32) -> Vec<Vec<usize>> {
    let mut lists: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for item in items {
        lists.entry(class(item)).or_default().push(item);
    }
    lists.into_values().collect()
}

/// A random order in which every beginning has about the same share of all lists: they take turns, the one with the largest share left
/// first.
fn in_turns(lists: Vec<Vec<usize>>, rng: &mut impl Rng) -> Vec<usize> {
    let total: usize = lists.iter().map(Vec::len).sum();
    let mut queues: Vec<(f64, Vec<usize>)> =
        lists.into_iter().map(|list| (list.len() as f64 / total as f64, shuffled(list, rng))).collect();
    let mut taken = vec![0.0; queues.len()];
    let mut order = Vec::with_capacity(total);
    while order.len() < total {
        let next = (0..queues.len())
            .filter(|&list| !queues[list].1.is_empty())
            .max_by(|&a, &b| {
                let due = |list: usize| queues[list].0 * (order.len() + 1) as f64 - taken[list];
                due(a).total_cmp(&due(b)).then(b.cmp(&a))
            })
            .expect("an item is left");
        order.extend(queues[next].1.pop());
        taken[next] += 1.0;
    }
    order
}

/// A random order whose beginnings have about the same share of all classes. One item of each class is among the last, so that it stays
/// for training.
fn stratified_order(items: Vec<usize>, class: impl Fn(usize) -> u32, rng: &mut impl Rng) -> Vec<usize> {
    let mut lists = by_class(items, class);
    let last = lists.iter_mut().map(|list| list.swap_remove(rng.random_range(0..list.len()))).collect();
    lists.retain(|list| !list.is_empty());
    let mut order = in_turns(lists, rng);
    order.extend(shuffled(last, rng));
    order
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

    pub(super) fn rng(seed: u64) -> SeededRng {
        SeededRng::new(seed, "split")
    }

    pub(super) fn total(split: &SplitIndices) -> usize {
        split.train.len() + split.valid.len() + split.test.len()
    }

    #[test]
    fn the_papers_sizes() {
        let sizes = |split: SplitIndices| (split.train.len(), split.valid.len(), split.test.len());
        let faces = by_fraction(1965, SplitFractions::new(0.1, 0.2).unwrap(), &mut rng(0)).unwrap();
        assert_eq!(sizes(faces), (1375, 197, 393));
        let given =
            SplitIndices { train: (0..60_000).collect(), valid: vec![], test: (60_000..70_000).collect() };
        let digits = official(given.clone(), 10_000, &mut rng(0)).unwrap();
        assert_eq!(digits.test[0], 60_000);
        assert_eq!(sizes(digits.clone()), (50_000, 10_000, 10_000));
        assert_eq!(
            official(digits.clone(), 5, &mut rng(1)).unwrap(),
            digits,
            "its own validation split stays"
        );
        let kept = given.select(&[3, 7, 60_000, 69_999]);
        assert_eq!((kept.train, kept.test), (vec![0, 1], vec![2, 3]));
        let eeg: Vec<u32> = (0..1200).map(|trial| trial / 60).collect();
        let fractions = SplitFractions::new(0.2, 0.2).unwrap();
        assert_eq!(sizes(within_groups(&eeg, fractions, &mut rng(0)).unwrap()), (720, 240, 240));
        assert_eq!(sizes(between_groups(&eeg, None, 4, 4, &mut rng(0)).unwrap()), (720, 240, 240));
        let cora = vec![Some(0); 2708];
        assert_eq!(sizes(random_test(&cora, 100, 1000, &mut rng(0)).unwrap()), (1608, 100, 1000));
    }

    #[test]
    fn rare_classes_are_divided_too() {
        let classes: Vec<u32> = (0..100).map(|sample| u32::from(sample % 10 == 0)).collect();
        for seed in 0..20 {
            let split = stratified(&classes, SplitFractions::new(0.1, 0.2).unwrap(), &mut rng(seed)).unwrap();
            let rare = |part: &[usize]| part.iter().filter(|&&sample| classes[sample] == 1).count();
            assert_eq!((rare(&split.train), rare(&split.valid), rare(&split.test)), (7, 1, 2), "seed {seed}");
        }
        let one = [0, 0, 0, 0, 0, 0, 0, 1];
        for seed in 0..20 {
            let split = stratified(&one, SplitFractions::new(0.3, 0.3).unwrap(), &mut rng(seed)).unwrap();
            assert!(split.train.contains(&7), "the only sample of a class is for training");
        }
    }

    #[test]
    fn fewer_training_samples_are_stratified_and_nested() {
        // Three classes; every third sample is for testing.
        let classes: Vec<u32> = (0..90).map(|sample| sample % 3).collect();
        let train: Vec<usize> = (0..90).filter(|sample| sample % 9 < 6).collect();
        let draw = |number, seed| draw_train(train.clone(), Some(&classes), number, &mut rng(seed));
        let mut before = Vec::new();
        for number in [3, 10, 30, 60] {
            let drawn = draw(number, 1).unwrap();
            assert_eq!(drawn.len(), number);
            assert!(drawn.is_sorted() && drawn.iter().all(|sample| train.contains(sample)));
            assert!(before.iter().all(|sample| drawn.contains(sample)), "{number} contains the smaller ones");
            for class in 0..3 {
                let of_class = drawn.iter().filter(|&&sample| classes[sample] == class).count();
                assert!(of_class.abs_diff(number / 3) <= 1, "{number}: {of_class} of class {class}");
            }
            before = drawn;
        }
        assert_eq!(before, train);
        assert_ne!(draw(10, 1).unwrap(), draw(10, 2).unwrap());
        assert_eq!(draw_train(train.clone(), None, 10, &mut rng(1)).unwrap().len(), 10);
        for number in [0, 61] {
            let error = draw(number, 1).unwrap_err().to_string();
            assert_eq!(error, format!("{number} training samples: must be 1 to 60, there are no more"));
        }
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
        // One subject of the first class, three of the second: training keeps both.
        let (few, of) = ([0, 1, 2, 3], [0, 1, 1, 1]);
        for seed in 0..50 {
            let split = between_groups(&few, Some(&of), 1, 1, &mut rng(seed)).unwrap();
            assert!(split.train.contains(&0), "seed {seed}: {split:?}");
            assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (2, 1, 1));
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
        fn stratified_splits_have_the_shares_of_the_whole(
            classes in prop::collection::vec(0u32..4, 8..300), valid in 0.0..0.4, test in 0.0..0.4, seed: u64,
        ) {
            let fractions = SplitFractions::new(valid, test).unwrap();
            let split = stratified(&classes, fractions, &mut rng(seed)).unwrap();
            split.check(classes.len()).unwrap();
            let plain = by_fraction(classes.len(), fractions, &mut rng(seed)).unwrap();
            let sizes = |split: &SplitIndices| (split.train.len(), split.valid.len(), split.test.len());
            prop_assert_eq!(sizes(&split), sizes(&plain));
            for class in 0..4 {
                let of = |part: &[usize]| part.iter().filter(|&&s| classes[s] == class).count() as f64;
                let all = classes.iter().filter(|&&c| c == class).count() as f64;
                prop_assert!((of(&split.test) - test * all).abs() <= 2.0);
                prop_assert!((of(&split.valid) - valid * all).abs() <= 3.0);
                prop_assert!(all == 0.0 || split.train.len() < 4 || of(&split.train) > 0.0);
            }
            prop_assert_eq!(&split, &stratified(&classes, fractions, &mut rng(seed)).unwrap());

            let given = SplitIndices { valid: vec![], train: split.train.clone(), test: split.test.clone() };
            let drawn = split.train.len() / 3;
            let official = official(given, drawn, &mut rng(seed)).unwrap();
            official.check(classes.len()).unwrap();
            prop_assert_eq!((official.valid.len(), &official.test), (drawn, &split.test));
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
    }
}
