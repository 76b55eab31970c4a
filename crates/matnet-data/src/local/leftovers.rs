//! Arrays of an `.npz` that nothing uses.

use std::path::Path;

use crate::format::npz::Npz;
use crate::{Error, Result};

/// The names of the arrays of samples, and other words for them: such an array is not ignored.
const SAMPLES: [&str; 19] = [
    "x",
    "y",
    "length",
    "weight",
    "group",
    "train",
    "valid",
    "test",
    "classes",
    "target_names",
    "subject",
    "label",
    "target",
    "val",
    "validation",
    "class_names",
    "split",
    "fold",
    "seq_len",
];

/// The same for a graph.
const GRAPH: [&str; 24] = [
    "features",
    "edges",
    "labels",
    "weight",
    "relations",
    "directed",
    "train",
    "valid",
    "test",
    "x",
    "y",
    "target",
    "class",
    "classes",
    "class_names",
    "edge_weight",
    "edge_attr",
    "edge_type",
    "edge_index",
    "val",
    "validation",
    "split",
    "fold",
    "adjacency",
];

/// Whether a name is one of these but for its case, a plural, or what is often put before or after it.
fn is_close(name: &str, known: &[&str]) -> bool {
    let plain = |name: &str| name.to_ascii_lowercase().trim_end_matches('s').to_owned();
    let name = plain(name);
    let is_one = |part: &str| known.iter().any(|known| plain(known) == plain(part));
    let ends = ["_mask", "_idx", "_index", "_indice", "_id", "_split", "_set"];
    is_one(&name)
        || ends.iter().any(|end| name.strip_suffix(end).is_some_and(is_one))
        || name.strip_prefix("sample_").is_some_and(is_one)
        || name.split_once('_').is_some_and(|(first, last)| is_one(first) && is_one(last))
}

/// What is left of the arrays of samples: an error if a name says that it matters, else a remark for the user.
pub(super) fn samples(npz: &Npz, path: &Path) -> Result<Option<String>> {
    let known = "samples are x, y, length, weight, group, train, valid, test, classes and target_names";
    leftovers(npz.names(), path, |name| is_close(name, &SAMPLES), known)
}

/// The same for the arrays of a graph with these names.
pub(crate) fn graph<'a>(names: impl Iterator<Item = &'a str>, path: &Path) -> Result<Option<String>> {
    let known =
        "a graph are features, edges, labels, classes, weight, relations, directed, train, valid and test";
    leftovers(names, path, |name| is_close(name, &GRAPH), known)
}

/// The same beside one long table.
pub(super) fn table(npz: &Npz, path: &Path) -> Result<Option<String>> {
    leftovers(npz.names(), path, |_| false, "")
}

fn leftovers<'a>(
    names: impl Iterator<Item = &'a str>,
    path: &Path,
    matters: impl Fn(&str) -> bool,
    known: &str,
) -> Result<Option<String>> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let (matter, other): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| matters(name));
    if !matter.is_empty() {
        let what = format!("{} would be ignored; the arrays of {known}", matter.join(", "));
        return Err(Error::format(path, what));
    }
    Ok(match &other[..] {
        [] => None,
        [one] => Some(format!("the array {one} is not used")),
        several => Some(format!("the arrays {} are not used", several.join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_right_are_close() {
        for name in [
            "Train",
            "TEST",
            "Length",
            "train_mask",
            "test_indices",
            "sample_weights",
            "y_train",
            "x_test",
            "valid_ids",
            "Y",
        ] {
            assert!(is_close(name, &SAMPLES), "{name}");
        }
        for name in ["ages", "scanner", "id", "training_time", "xy", "tester", "mask"] {
            assert!(!is_close(name, &SAMPLES), "{name}");
        }
        assert!(is_close("Train_Mask", &GRAPH) && !is_close("colours", &GRAPH));
    }
}
