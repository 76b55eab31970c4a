//! The splits of samples.

use matnet::random::SeededRng;
use matnet_data::split::{self, Folds, SplitFractions};
use matnet_data::{SplitIndices, Target};

use super::raw::Raw;
use super::{SampleDataConfig, SplitRule, target};
use crate::config::Amount;
use crate::tasks::classes;
use crate::{Error, Result};

/// The test split, unless the config says how large.
pub(super) const DEFAULT_TEST: Amount = Amount::Fraction(0.2);

/// The splits of a config, and the config with its defaults written out; `seed` is that of the run.
pub(super) fn divide(
    raw: &Raw,
    config: &SampleDataConfig,
    seed: u64,
) -> Result<(SplitIndices, SampleDataConfig)> {
    // Validation samples from a file of their own stand after all that are to be split.
    let (count, groups, official) = (raw.own_valid.start, &raw.groups[..], raw.official.clone());
    let classes = match &raw.target {
        Target::Classes { labels, .. } => Some(&labels[..count]),
        _ => None,
    };
    let mut config = config.with_columns(&raw.column_names);
    let rule = config.split.rule.unwrap_or(match official {
        Some(_) => SplitRule::Official,
        None if classes.is_some() => SplitRule::Stratified,
        None => SplitRule::Random,
    });
    if config.test.is_some() && rule != SplitRule::Official {
        let expected = "data.test is the test split; leave the rule out";
        return Err(Error::config("data", "split.rule", rule.name(), expected));
    }
    config.split.rule = Some(rule);
    match (rule, config.split.test) {
        (SplitRule::Official, Some(test)) if official.is_some() => {
            let expected = "the official test split decides it; leave it out, or choose another rule";
            return Err(Error::config("data", "split.test", test.to_string(), expected));
        }
        (SplitRule::Official, _) => {}
        (rule, _) if rule.has_folds() => {}
        (_, test) => config.split.test = Some(test.unwrap_or(DEFAULT_TEST)),
    }
    if config.valid.is_some() {
        config.split.valid = Amount::Count(0);
    }
    let wanted = &config.split;
    let test = wanted.test.unwrap_or(DEFAULT_TEST);
    let name = if wanted.per_seed { format!("split of run {seed}") } else { "split".to_owned() };
    let mut rng = SeededRng::new(config.seed, &name);
    let wrong = |error| Error::DataKey { key: "data.split", error };
    let fractions = || SplitFractions::new(wanted.valid.fraction(count), test.fraction(count)).map_err(wrong);
    let indices = match (rule, official) {
        (SplitRule::Random, _) => split::by_fraction(count, fractions()?, &mut rng),
        (SplitRule::WithinGroups, _) => split::within_groups(groups, fractions()?, &mut rng),
        (SplitRule::BetweenGroups, _) => {
            let groups_in_all = split::group_count(groups).map_err(wrong)?;
            // A fraction above 0 is one group at least.
            let number = |amount: Amount| match amount.count(groups_in_all) {
                0 if amount.fraction(groups_in_all) > 0.0 => 1,
                number => number,
            };
            split::between_groups(groups, classes, number(wanted.valid), number(test), &mut rng)
        }
        (SplitRule::Official, Some(given)) => {
            let valid = wanted.valid.count(given.train.len());
            split::official(given, valid, &mut rng)
        }
        (SplitRule::Official, None) => {
            let expected = format!("{} has no official test split; \"random\" draws one", config.source);
            return Err(Error::config("data", "split.rule", "official", expected));
        }
        (SplitRule::Stratified, _) => match classes {
            Some(classes) => split::stratified(classes, fractions()?, &mut rng),
            None => {
                let have = target::describe(&raw.target);
                let expected = format!("only a class per sample can be stratified, the data have {have}");
                return Err(Error::config("data", "split.rule", "stratified", expected));
            }
        },
        (SplitRule::Chronological, _) => split::in_order(count, fractions()?),
        (SplitRule::KFold | SplitRule::GroupKFold | SplitRule::LeaveOneGroupOut, _) => {
            let folds = match rule {
                SplitRule::KFold => Folds::k_fold(count, classes, wanted.folds(), &mut rng),
                SplitRule::GroupKFold => Folds::group_k_fold(groups, classes, wanted.folds(), &mut rng),
                _ => Folds::leave_one_group_out(groups, classes),
            };
            let valid = |left: usize| match wanted.valid.count(left) {
                0 if wanted.valid.fraction(left) > 0.0 => 1,
                number => number,
            };
            folds.and_then(|folds| folds.split(wanted.fold.unwrap_or(0), valid, &mut rng))
        }
    };
    let mut indices = indices.map_err(wrong)?;
    if let Some(train) = wanted.train {
        // A fraction above 0 is one sample at least.
        let number = train.count(indices.train.len()).max(1);
        // A generator of its own: the other splits stay as they are.
        let mut rng = SeededRng::new(config.seed, &format!("training samples of the {name}"));
        indices.train = split::draw_train(indices.train, classes, number, &mut rng)
            .map_err(|error| Error::DataKey { key: "data.split.train", error })?;
    }
    if !raw.own_valid.is_empty() {
        indices.valid = raw.own_valid.clone().collect();
    }
    for (key, amount, split) in [
        ("split.valid", Some(wanted.valid), &indices.valid),
        ("split.test", config.split.test, &indices.test),
    ] {
        let asked = amount.filter(|amount| amount.fraction(count) > 0.0 && split.is_empty());
        if let Some(amount) = asked {
            let value = format!("{} of {count} samples are none", amount.fraction(count));
            return Err(Error::config("data", key, value, "a larger fraction, or 0 for no such split"));
        }
    }
    Ok((indices, config))
}

/// Remarks on what a split leaves out: groups, an official split, classes.
pub(super) fn notes(raw: &Raw, indices: &SplitIndices, config: &SampleDataConfig) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(rule) = config.split.rule else { return notes };
    if !raw.groups.is_empty() && !rule.uses_groups() {
        notes.push(format!(
            "groups are not used by split.rule = \"{}\"; \"between-groups\" keeps each in one split",
            rule.name()
        ));
    }
    if raw.official.is_some() && rule != SplitRule::Official {
        notes.push(format!(
            "the split that comes with the data is not used by split.rule = \"{}\"",
            rule.name()
        ));
    }
    if let Target::Classes { labels, names } = &raw.target {
        notes.extend(classes::notes(indices, |sample| Some(labels[sample]), names));
    }
    notes
}
