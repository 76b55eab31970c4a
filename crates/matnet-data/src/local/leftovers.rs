//! Arrays of an `.npz` that nothing uses.

use std::path::Path;

use crate::format::npz::Npz;
use crate::{Error, Result};

/// Names that mean something elsewhere, or are likely misspelt: such an array is not ignored.
const SAMPLES: [&str; 21] = [
    "lengths",
    "weights",
    "sample_weight",
    "groups",
    "subject",
    "subjects",
    "label",
    "labels",
    "target",
    "targets",
    "X",
    "Y",
    "val",
    "validation",
    "train_idx",
    "valid_idx",
    "val_idx",
    "test_idx",
    "class_names",
    "classes",
    "target_names",
];

const GRAPH: [&str; 23] = [
    "y",
    "label",
    "target",
    "targets",
    "class",
    "classes",
    "class_names",
    "weights",
    "edge_weight",
    "edge_weights",
    "edge_attr",
    "edge_type",
    "edge_index",
    "relation",
    "val",
    "validation",
    "train_mask",
    "valid_mask",
    "val_mask",
    "test_mask",
    "train_idx",
    "valid_idx",
    "test_idx",
];

/// What is left of the arrays of samples: an error if a name says that it matters, else a remark for the user.
pub(super) fn samples(npz: &Npz, path: &Path) -> Result<Option<String>> {
    let known = "samples are x, y, length, weight, group, train, valid, test, classes and target_names";
    leftovers(npz.names(), path, &SAMPLES, known)
}

/// The same for the arrays of a graph with these names.
pub(crate) fn graph<'a>(names: impl Iterator<Item = &'a str>, path: &Path) -> Result<Option<String>> {
    let known =
        "a graph are features, edges, labels, classes, weight, relations, directed, train, valid and test";
    leftovers(names, path, &GRAPH, known)
}

/// The same beside one long table.
pub(super) fn table(npz: &Npz, path: &Path) -> Result<Option<String>> {
    leftovers(npz.names(), path, &[], "")
}

fn leftovers<'a>(
    names: impl Iterator<Item = &'a str>,
    path: &Path,
    matter: &[&str],
    known: &str,
) -> Result<Option<String>> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let (matter, other): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| matter.contains(name));
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
