//! Arrays with an entry per sample: classes, numbers, splits.

use std::collections::HashMap;
use std::path::Path;

use crate::format::class_names::{class_of, sort_classes};
use crate::format::npz::Npz;
use crate::format::raw::RawArray;
use crate::{Array, Error, Result, SplitIndices, Target};

/// Fails unless every label is known; `what` is a class, a group or a relation.
pub(super) fn require_known(labels: Vec<Option<u32>>, name: &Path, what: &str) -> Result<Vec<u32>> {
    let hole = labels.iter().position(Option::is_none);
    match hole {
        Some(at) => {
            let unit = if what == "relation" { "edge" } else { "sample" };
            let what = format!(
                "{unit} {at} has no {what}; one is expected (-1, ?, -, none and an empty text stand for an unknown one)"
            );
            Err(Error::format(name, what))
        }
        None => Ok(labels.into_iter().flatten().collect()),
    }
}

/// Labels and their names; −1 and empty strings are unknown. The classes are those that occur, sorted; integers by value.
pub(crate) fn label_indices(raw: &RawArray, name: &Path) -> Result<(Vec<Option<u32>>, Vec<String>)> {
    label_indices_where(raw, name, |_| true)
}

/// The same for the entries that `counts` selects; others are unknown, whatever they hold.
pub(super) fn label_indices_where(
    raw: &RawArray,
    name: &Path,
    counts: impl Fn(usize) -> bool,
) -> Result<(Vec<Option<u32>>, Vec<String>)> {
    let mut classes: HashMap<String, u32> = HashMap::new();
    let mut labels: Vec<Option<u32>> = if let Some(texts) = raw.texts() {
        let label = |(at, text): (usize, &String)| match counts(at) {
            true => class_of(text, &mut classes),
            false => None,
        };
        texts.iter().enumerate().map(label).collect()
    } else {
        let numbers = raw.integers(name)?;
        let mut label = |at: usize, n: i64| match n {
            _ if !counts(at) => Ok(None),
            _ if raw.is_boolean() => Ok(class_of(if n == 0 { "False" } else { "True" }, &mut classes)),
            -1 => Ok(None),
            ..-1 => {
                Err(Error::format(name, format!("class {n}; integers from 0 expected, or -1 for unknown")))
            }
            _ => Ok(class_of(&n.to_string(), &mut classes)),
        };
        numbers.iter().enumerate().map(|(at, &n)| label(at, n)).collect::<Result<_>>()?
    };
    let names = sort_classes(classes, &mut labels);
    require_distinct(&names, name)?;
    Ok((labels, names))
}

/// Renumbers labels, which count the sorted `names` that occur in `raw`, by the names of all classes.
pub(super) fn renumber(
    labels: &mut [Option<u32>],
    names: &[String],
    raw: &RawArray,
    classes: &[String],
) -> Result<(), String> {
    let place = names.iter().map(|name| class_index(name, raw, classes)).collect::<Result<Vec<_>, _>>()?;
    labels.iter_mut().flatten().for_each(|label| *label = place[*label as usize]);
    Ok(())
}

/// The place of a class among the given ones: integers count from 0, strings are looked up.
fn class_index(name: &str, raw: &RawArray, given: &[String]) -> Result<u32, String> {
    let at = match raw.texts().is_some() {
        true => given.iter().position(|known| known == name),
        false if raw.is_boolean() => Some(usize::from(name == "True")).filter(|&at| at < given.len()),
        false => name.parse().ok().filter(|&at: &usize| at < given.len()),
    };
    at.map(|at| at as u32)
        .ok_or_else(|| format!("class {name} is not one of the {} in `classes`", given.len()))
}

/// Fails unless all names are there, and differ by more than blanks around them.
pub(super) fn require_distinct(names: &[String], name: &Path) -> Result<()> {
    let mut known: HashMap<&str, &str> = HashMap::new();
    for text in names {
        if text.trim().is_empty() {
            return Err(Error::format(name, "a name is empty"));
        }
        if let Some(other) = known.insert(text.trim(), text) {
            return Err(Error::format(
                name,
                format!("the names {other:?} and {text:?}; different ones expected"),
            ));
        }
    }
    Ok(())
}

/// Samples below which every class may be that of a single one.
const FEW: usize = 20;
/// More values than a few classes have.
const MANY: usize = 20;

/// Fails if integers that stand for classes are so many that they must be values. `classes` is their number in `count` samples.
pub(super) fn require_few_classes(classes: usize, count: usize, name: &Path) -> Result<()> {
    match count >= FEW && classes > count / 2 {
        true => {
            let what = format!(
                "{classes} different integers in {count} samples; `target = \"value\"` makes them values, `target = \"class\"` classes"
            );
            Err(Error::format(name, what))
        }
        false => Ok(()),
    }
}

/// A remark on values and labels that look like classes.
pub(super) fn classes_note(target: &Target) -> Option<String> {
    one_hot_note(target).or_else(|| whole_values_note(target))
}

/// A remark on a single 1 among zeros in every sample.
fn one_hot_note(target: &Target) -> Option<String> {
    let (read_as, count, one_hot) = match target {
        Target::MultiLabels { flags, names } => {
            let one = |row: &[bool]| row.iter().filter(|&&flag| flag).count() == 1;
            ("labels", names.len(), flags.chunks_exact(names.len().max(1)).all(one))
        }
        Target::Values { values, names } => {
            let only =
                |row: &[f32]| row.iter().all(|&x| x == 0.0 || x == 1.0) && row.iter().sum::<f32>() == 1.0;
            ("values", names.len(), values.data().chunks_exact(names.len().max(1)).all(only))
        }
        _ => return None,
    };
    (one_hot && count > 1).then(|| {
        format!(
            "every sample has a single 1 among its {count} {read_as}, as one-hot classes do; classes are one integer or name per sample"
        )
    })
}

/// A remark on few different values, all of them whole.
fn whole_values_note(target: &Target) -> Option<String> {
    let Target::Values { values, names } = target else { return None };
    if names.len() != 1 || values.data().iter().any(|x| x.fract() != 0.0) {
        return None;
    }
    let mut found: Vec<u32> = values.data().iter().map(|x| x.to_bits()).collect();
    found.sort_unstable();
    found.dedup();
    let few = (2..=MANY).contains(&found.len()) && 2 * found.len() <= values.len();
    few.then(|| {
        format!(
            "the targets are {} different whole numbers, stored as floats, and read as values; `data.target = \"class\"` makes them classes",
            found.len()
        )
    })
}

/// Fails at the first value that is not finite; `whose` stands before the sample.
pub(super) fn require_finite(array: &Array, name: &Path, whose: &str) -> Result<()> {
    let Some(at) = array.data().iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let size = (array.data().len() / array.len().max(1)).max(1);
    let what = format!("{whose}sample {} holds {}; finite numbers expected", at / size, array.data()[at]);
    Err(Error::format(name, what))
}

/// Fails unless the array has one entry for each of `count` samples.
pub(super) fn require_one_each(raw: &RawArray, name: &Path, what: &str, count: usize) -> Result<()> {
    match raw.shape() == [count] {
        true => Ok(()),
        false => {
            let what = format!("shape {:?}; one {what} for each of {count} samples expected", raw.shape());
            Err(Error::format(name, what))
        }
    }
}

/// The split in the arrays `train`, `valid` and `test`: indices, or a boolean for each of `count` units.
pub(crate) fn split(npz: &mut Npz, path: &Path, count: usize, unit: &str) -> Result<Option<SplitIndices>> {
    let mut split = SplitIndices::default();
    let (mut any, mut used) = (false, vec![false; count]);
    for (key, indices) in
        [("train", &mut split.train), ("valid", &mut split.valid), ("test", &mut split.test)]
    {
        if npz.get(key).is_none() {
            continue;
        }
        any = true;
        let (raw, name) = (npz.take(key)?, path.join(key));
        if raw.is_boolean() && raw.shape() != [count] {
            let what = format!(
                "{} booleans; indices, or one boolean for each of {count} {unit}s expected",
                raw.shape().iter().product::<usize>()
            );
            return Err(Error::format(name, what));
        }
        let chosen = match raw.is_boolean() {
            true => raw.integers(&name)?.into_iter().map(|truth| u32::from(truth != 0)).collect(),
            false => unit_numbers(&raw, &name, count, unit)?,
        };
        // A boolean per unit, perhaps stored as integers; as indices they would contain duplicates.
        let mask = raw.is_boolean() || chosen.len() == count && count > 2 && chosen.iter().all(|&n| n < 2);
        let chosen: Vec<u32> = match mask {
            true => (0..count as u32).filter(|&at| chosen[at as usize] != 0).collect(),
            false => chosen,
        };
        for at in chosen {
            if std::mem::replace(&mut used[at as usize], true) {
                return Err(Error::format(name, format!("{unit} {at} is in two splits, or twice in one")));
            }
            indices.push(at as usize);
        }
    }
    Ok(any.then_some(split))
}

/// Indices below `count`.
pub(super) fn unit_numbers(raw: &RawArray, name: &Path, count: usize, unit: &str) -> Result<Vec<u32>> {
    let one = |n: i64| match u32::try_from(n).ok().filter(|&n| (n as usize) < count) {
        Some(at) => Ok(at),
        None => Err(Error::format(name, format!("{unit} {n}; 0 to {} expected", count.saturating_sub(1)))),
    };
    raw.integers(name)?.into_iter().map(one).collect()
}
