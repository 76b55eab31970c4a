//! Which classes the splits have: a net cannot learn a class without a training sample, and a score over one class says little.

use std::collections::BTreeSet;

use matnet_data::SplitIndices;

use crate::{Error, Result};

/// Classes that a note names.
const NAMED: usize = 5;

/// Fails if the training split has one class only.
pub(crate) fn check(
    split: &SplitIndices,
    class: impl Fn(usize) -> Option<u32>,
    names: &[String],
) -> Result<()> {
    match &found(&split.train, class)[..] {
        [only] => {
            let value = format!("the training split has one class only ({})", names[*only as usize]);
            let expected =
                "at least two expected; choose another rule, or smaller validation and test splits";
            Err(Error::config("data", "split", value, expected))
        }
        _ => Ok(()),
    }
}

/// Remarks on classes that splits lack.
pub(crate) fn notes(
    split: &SplitIndices,
    class: impl Fn(usize) -> Option<u32> + Copy,
    names: &[String],
) -> Vec<String> {
    let mut notes = Vec::new();
    let trained = found(&split.train, class);
    let without: Vec<&str> =
        (0..names.len()).filter(|&at| !trained.contains(&(at as u32))).map(|at| names[at].as_str()).collect();
    if !without.is_empty() && !split.train.is_empty() {
        let more = if without.len() > NAMED { ", …" } else { "" };
        let (named, count) = (without[..without.len().min(NAMED)].join(", "), without.len());
        let classes = if count == 1 { "class has" } else { "classes have" };
        notes.push(format!("{count} {classes} no training sample ({named}{more})"));
    }
    for (split, samples) in [("validation", &split.valid), ("test", &split.test)] {
        if let ([only], true) = (&found(samples, class)[..], names.len() > 1) {
            notes.push(format!("the {split} split has one class only ({})", names[*only as usize]));
        }
    }
    notes
}

fn found(samples: &[usize], class: impl Fn(usize) -> Option<u32>) -> Vec<u32> {
    samples.iter().filter_map(|&sample| class(sample)).collect::<BTreeSet<u32>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_that_lack_classes_are_told() {
        let class = |sample: usize| [Some(0), Some(1), Some(0), Some(2), None].get(sample).copied().flatten();
        let names = ["a", "b", "c"].map(str::to_owned);
        let split = |train: &[usize], valid: &[usize], test: &[usize]| SplitIndices {
            train: train.to_vec(),
            valid: valid.to_vec(),
            test: test.to_vec(),
        };
        assert!(notes(&split(&[0, 1, 3], &[0, 1], &[2, 3]), class, &names).is_empty());
        assert_eq!(
            notes(&split(&[0, 1], &[3], &[0, 2]), class, &names),
            [
                "1 class has no training sample (c)",
                "the validation split has one class only (c)",
                "the test split has one class only (a)"
            ]
        );
        assert!(check(&split(&[0, 1], &[], &[]), class, &names).is_ok());
        let error = check(&split(&[0, 2, 4], &[1], &[3]), class, &names).unwrap_err().to_string();
        assert!(
            error.starts_with("data.split: the training split has one class only (a); at least two"),
            "{error}"
        );
    }
}
