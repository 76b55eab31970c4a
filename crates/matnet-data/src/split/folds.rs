//! Cross-validation: every sample is tested once.

use rand::Rng;

use super::{by_class, members, most_frequent, shuffled, stratified_order};
use crate::{Error, Result, SplitIndices};

/// How samples are divided into folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldRule {
    /// k folds of the same size; with classes, each has the same share of every class (scikit-learn's `StratifiedKFold`).
    KFold,
    /// k folds of whole groups, of similar size and with similar shares of the classes (`StratifiedGroupKFold`).
    GroupKFold,
    /// One fold per group, in the order of their numbers (`LeaveOneGroupOut`).
    LeaveOneGroupOut,
}

/// Folds of a dataset: each sample is in exactly one of them. The same generator gives the same folds.
///
/// ```
/// use matnet_data::random::SeededRng;
/// use matnet_data::split::Folds;
///
/// let classes = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
/// let folds = Folds::k_fold(10, Some(&classes), 5, &mut SeededRng::new(0, "folds"))?;
/// let split = folds.split(2, |left| left / 4, &mut SeededRng::new(0, "validation of fold 2"))?;
/// assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (6, 2, 2));
/// # Ok::<(), matnet_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// Samples that stay together.
    units: Vec<Unit>,
    count: usize,
    /// What a unit is called in errors.
    word: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    samples: Vec<usize>,
    class: u32,
    fold: usize,
}

impl Folds {
    /// The folds by a rule. `k` is the number of folds; [`FoldRule::LeaveOneGroupOut`] takes none. `classes` has the class of each of
    /// the `count` samples, if they have one; `groups` is empty where there are none.
    pub fn new(
        rule: FoldRule,
        k: Option<usize>,
        count: usize,
        classes: Option<&[u32]>,
        groups: &[u32],
        rng: &mut impl Rng,
    ) -> Result<Self> {
        let given = || k.ok_or_else(|| Error::Invalid("the number of folds is not given".into()));
        match (rule, k) {
            (FoldRule::KFold, _) => Self::k_fold(count, classes, given()?, rng),
            (FoldRule::GroupKFold, _) => Self::group_k_fold(groups, classes, given()?, rng),
            (FoldRule::LeaveOneGroupOut, None) => Self::leave_one_group_out(groups, classes),
            (FoldRule::LeaveOneGroupOut, Some(k)) => {
                let there = members(groups)?.len();
                let what = format!(
                    "{k} folds: leave-one-group-out has one per group, {there}; leave the number out"
                );
                Err(Error::Invalid(what))
            }
        }
    }

    /// `k` folds whose sizes differ by at most one, and with classes the number of samples of each class too.
    pub fn k_fold(count: usize, classes: Option<&[u32]>, k: usize, rng: &mut impl Rng) -> Result<Self> {
        check_number(k, count, "samples")?;
        let class = |sample: usize| classes.map_or(0, |classes| classes[sample]);
        // Class after class is dealt out like cards.
        let lists = by_class((0..count).collect(), class);
        let order: Vec<usize> = lists.into_iter().flat_map(|list| shuffled(list, rng)).collect();
        let mut units: Vec<Unit> =
            (0..count).map(|sample| Unit { samples: vec![sample], class: class(sample), fold: 0 }).collect();
        for (place, sample) in order.into_iter().enumerate() {
            units[sample].fold = place % k;
        }
        Ok(Self { units, count: k, word: "samples" })
    }

    /// `k` folds of whole groups. The largest group comes first; each goes to the fold that has the least of its samples' classes so far.
    pub fn group_k_fold(
        groups: &[u32],
        classes: Option<&[u32]>,
        k: usize,
        rng: &mut impl Rng,
    ) -> Result<Self> {
        let mut units = group_units(groups, classes)?;
        check_number(k, units.len(), "groups")?;
        let class_count =
            classes.map_or(1, |classes| classes.iter().max().map_or(0, |&last| last as usize + 1));
        let counts_of = |samples: &[usize]| {
            let mut counts = vec![0.0; class_count];
            samples
                .iter()
                .for_each(|&sample| counts[classes.map_or(0, |classes| classes[sample] as usize)] += 1.0);
            counts
        };
        let everything: Vec<usize> = (0..groups.len()).collect();
        let totals: Vec<f64> = counts_of(&everything).iter().map(|n: &f64| n.max(1.0)).collect();
        let mut order = shuffled((0..units.len()).collect(), rng);
        order.sort_by_key(|&unit| std::cmp::Reverse(units[unit].samples.len()));
        let mut filled = vec![(vec![0.0; class_count], 0.0); k];
        for unit in order {
            let counts = counts_of(&units[unit].samples);
            let size = units[unit].samples.len() as f64;
            // How much this group adds to the sum of squared shares, which is least when all folds are alike. The last term keeps
            // the sizes alike; for an empty fold all is 0, so that none stays empty.
            let cost = |(classes, all): &(Vec<f64>, f64)| {
                let by_class = classes.iter().zip(&counts).zip(&totals);
                let by_class: f64 = by_class.map(|((have, more), total)| have * more / (total * total)).sum();
                by_class + all * size / (groups.len() as f64).powi(2)
            };
            let best = (0..k).min_by(|&a, &b| cost(&filled[a]).total_cmp(&cost(&filled[b]))).unwrap_or(0);
            units[unit].fold = best;
            filled[best].0.iter_mut().zip(&counts).for_each(|(have, more)| *have += more);
            filled[best].1 += size;
        }
        Ok(Self { units, count: k, word: "groups" })
    }

    /// One fold per group, in the order of their numbers. `classes` are for the validation split.
    pub fn leave_one_group_out(groups: &[u32], classes: Option<&[u32]>) -> Result<Self> {
        let mut units = group_units(groups, classes)?;
        check_number(units.len(), units.len(), "groups")?;
        units.iter_mut().enumerate().for_each(|(fold, unit)| unit.fold = fold);
        Ok(Self { count: units.len(), units, word: "groups" })
    }

    /// The number of folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The split that tests on fold `fold`, counted from 0. `valid` gets the number of samples (for folds of groups: of groups) outside
    /// of it, and says how many of them are for validation; these have the same share of every class, or are whole groups.
    pub fn split(
        &self,
        fold: usize,
        valid: impl FnOnce(usize) -> usize,
        rng: &mut impl Rng,
    ) -> Result<SplitIndices> {
        if fold >= self.count {
            let what = format!("fold {fold}: there are {}, counted from 0", self.count);
            return Err(Error::Invalid(what));
        }
        let others: Vec<usize> =
            (0..self.units.len()).filter(|&unit| self.units[unit].fold != fold).collect();
        let left = others.len();
        let valid = valid(left);
        if valid >= left {
            let what = format!(
                "{valid} validation {} of {left} outside of a fold leave none for training",
                self.word
            );
            return Err(Error::Invalid(what));
        }
        let mut order = stratified_order(others, |unit| self.units[unit].class, rng);
        let train = order.split_off(valid);
        let test = (0..self.units.len()).filter(|&unit| self.units[unit].fold == fold).collect();
        let samples = |units: Vec<usize>| {
            units.into_iter().flat_map(|unit| &self.units[unit].samples).copied().collect()
        };
        Ok(SplitIndices { train: samples(train), valid: samples(order), test: samples(test) }.sorted())
    }
}

/// The groups, each with the class that most of its samples have.
fn group_units(groups: &[u32], classes: Option<&[u32]>) -> Result<Vec<Unit>> {
    let class = |samples: &[usize]| classes.map_or(0, |classes| most_frequent(samples, classes));
    let units = members(groups)?.into_values();
    Ok(units.map(|samples| Unit { class: class(&samples), samples, fold: 0 }).collect())
}

fn check_number(k: usize, units: usize, word: &str) -> Result<()> {
    if (2..=units).contains(&k) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "{k} folds of {units} {word}: at least 2 are needed, and no more than {word}"
    )))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::tests::{rng, total};
    use super::*;

    #[test]
    fn subjects_of_two_classes_are_in_every_fold() {
        // 20 subjects, 10 of each class, 30 trials each.
        let groups: Vec<u32> = (0..600).map(|trial| trial / 30).collect();
        let classes: Vec<u32> = groups.iter().map(|&subject| subject % 2).collect();
        for seed in 0..20 {
            let folds = Folds::group_k_fold(&groups, Some(&classes), 5, &mut rng(seed)).unwrap();
            for fold in 0..5 {
                let split = folds.split(fold, |left| left / 4, &mut rng(seed)).unwrap();
                for part in [&split.test, &split.valid] {
                    let second = part.iter().filter(|&&trial| classes[trial] == 1).count();
                    assert_eq!((part.len(), second), (120, 60), "seed {seed}, fold {fold}");
                }
            }
        }
    }

    #[test]
    fn one_group_is_left_out_at_a_time() {
        let groups = [5, 2, 5, 9, 2, 9, 9];
        let folds = Folds::leave_one_group_out(&groups, None).unwrap();
        assert_eq!(folds.count(), 3);
        let test = |fold| folds.split(fold, |_| 1, &mut rng(0)).unwrap().test;
        assert_eq!((test(0), test(1), test(2)), (vec![1, 4], vec![0, 2], vec![3, 5, 6]));
    }

    #[test]
    fn impossible_folds_say_what_is_wrong() {
        let new = |rule, k, groups: &[u32]| Folds::new(rule, k, 4, None, groups, &mut rng(0));
        let message = |folds: Result<Folds>| folds.unwrap_err().to_string();
        assert_eq!(
            message(new(FoldRule::KFold, Some(5), &[])),
            "5 folds of 4 samples: at least 2 are needed, and no more than samples"
        );
        assert_eq!(message(new(FoldRule::KFold, None, &[])), "the number of folds is not given");
        assert_eq!(
            message(new(FoldRule::GroupKFold, Some(2), &[])),
            "these data have no groups (subjects) to split by"
        );
        assert_eq!(
            message(new(FoldRule::LeaveOneGroupOut, Some(3), &[0, 1, 1, 0])),
            "3 folds: leave-one-group-out has one per group, 2; leave the number out"
        );
        assert!(
            new(FoldRule::LeaveOneGroupOut, None, &[0, 0, 0, 0]).is_err(),
            "one group leaves none to train on"
        );
        let folds = new(FoldRule::KFold, Some(2), &[]).unwrap();
        let message = |fold, valid| folds.split(fold, |_| valid, &mut rng(0)).unwrap_err().to_string();
        assert_eq!(message(2, 0), "fold 2: there are 2, counted from 0");
        assert_eq!(message(0, 2), "2 validation samples of 2 outside of a fold leave none for training");
    }

    proptest! {
        #[test]
        fn every_sample_is_tested_once(
            classes in prop::collection::vec(0u32..4, 12..200), k in 2usize..12, with_classes: bool, seed: u64,
        ) {
            let count = classes.len();
            let given = with_classes.then_some(&classes[..]);
            let draw = || Folds::k_fold(count, given, k, &mut rng(seed)).unwrap();
            prop_assert_eq!(draw(), draw());
            let splits: Vec<SplitIndices> =
                (0..k).map(|fold| draw().split(fold, |left| left / 5, &mut rng(seed)).unwrap()).collect();
            let mut tested: Vec<usize> = splits.iter().flat_map(|split| &split.test).copied().collect();
            tested.sort_unstable();
            prop_assert_eq!(tested, (0..count).collect::<Vec<_>>());
            for split in &splits {
                split.check(count).unwrap();
                prop_assert_eq!(total(split), count);
                prop_assert!(split.test.len() == count / k || split.test.len() == count / k + 1);
                for class in (0..4).filter(|_| with_classes) {
                    let of = |part: &[usize]| part.iter().filter(|&&sample| classes[sample] == class).count();
                    let all = classes.iter().filter(|&&c| c == class).count();
                    prop_assert!((all / k..=all.div_ceil(k)).contains(&of(&split.test)));
                }
            }
        }

        #[test]
        fn groups_stay_whole(
            groups in prop::collection::vec(0u32..30, 60..300), k in 2usize..6, with_classes: bool, seed: u64,
        ) {
            let classes: Vec<u32> = (0..groups.len() as u32).map(|sample| sample % 3).collect();
            let given = with_classes.then_some(&classes[..]);
            let folds = Folds::group_k_fold(&groups, given, k, &mut rng(seed)).unwrap();
            prop_assert_eq!(&folds, &Folds::group_k_fold(&groups, given, k, &mut rng(seed)).unwrap());
            let of = |part: &[usize]| part.iter().map(|&s| groups[s]).collect::<BTreeSet<_>>();
            let mut tested = 0;
            for fold in 0..k {
                let split = folds.split(fold, |left| left / 3, &mut rng(seed)).unwrap();
                split.check(groups.len()).unwrap();
                prop_assert_eq!(total(&split), groups.len());
                prop_assert!(!split.test.is_empty());
                prop_assert!(of(&split.train).is_disjoint(&of(&split.test)));
                prop_assert!(of(&split.train).is_disjoint(&of(&split.valid)));
                prop_assert!(of(&split.valid).is_disjoint(&of(&split.test)));
                tested += split.test.len();
            }
            prop_assert_eq!(tested, groups.len());
        }
    }
}
