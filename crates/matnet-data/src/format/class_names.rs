//! Names of classes: which of them are known, and the order in which people expect them.

use std::collections::HashMap;
use std::path::Path;

use crate::{Error, Result};

/// The words for an unknown class.
const UNKNOWN: [&str; 4] = ["", "?", "-", "none"];

pub(crate) fn is_unknown(class: &str) -> bool {
    UNKNOWN.contains(&class.to_ascii_lowercase().as_str())
}

/// The index of a class, which may be new; `None` for an unknown class.
pub(crate) fn class_of(name: &str, classes: &mut HashMap<String, u32>) -> Option<u32> {
    if is_unknown(name) {
        return None;
    }
    if let Some(&known) = classes.get(name) {
        return Some(known);
    }
    let new = u32::try_from(classes.len()).ok()?;
    classes.insert(name.to_owned(), new);
    Some(new)
}

/// Nodes below which each may have a class of its own.
const FEW_NODES: usize = 20;

/// Fails if most nodes have a class of their own: the column that was taken for the classes holds names, dates or something else.
pub(crate) fn require_shared_classes(labels: &[Option<u32>], classes: usize, source: &Path) -> Result<()> {
    let known = labels.iter().flatten().count();
    match known >= FEW_NODES && classes > known / 2 {
        true => {
            let what = format!(
                "{classes} different classes for {known} nodes; name the column of the classes class, and leave out what each node has for itself"
            );
            Err(Error::format(source, what))
        }
        false => Ok(()),
    }
}

/// The sorted class names, by value if all are integers; the labels are renumbered accordingly.
pub(crate) fn sort_classes(classes: HashMap<String, u32>, labels: &mut [Option<u32>]) -> Vec<String> {
    let mut named: Vec<(String, u32)> = classes.into_iter().collect();
    if named.iter().all(|(name, _)| name.parse::<i64>().is_ok()) {
        named.sort_by_cached_key(|(name, old)| (name.parse::<i64>().unwrap_or_default(), *old));
    } else {
        named.sort_by_cached_key(|(name, old)| (natural(name), *old));
    }
    let mut place = vec![0u32; named.len()];
    for (new, &(_, old)) in named.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    for label in labels.iter_mut().flatten() {
        *label = place[*label as usize];
    }
    named.into_iter().map(|(name, _)| name).collect()
}

/// A key that sorts names as people do: s2 before s10.
pub(crate) fn natural(name: &str) -> Vec<(String, u128, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        // Longer numbers than fit are compared as text.
        parts.push((text.to_owned(), number.parse().unwrap_or(u128::MAX), number.to_owned()));
        rest = after;
    }
    parts
}
