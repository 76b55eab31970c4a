//! Splits of the nodes of a graph.

use std::collections::BTreeMap;

use rand::Rng;

use super::{check_train_left, shuffled};
use crate::{Error, GraphData, Result, SplitIndices};

/// The split number `index`, from 0, of those that came with the graph. Planetoid's graphs have one, Tolokers has ten.
pub fn public(graph: &GraphData, index: usize) -> Result<SplitIndices> {
    let split = graph.splits.get(index).cloned().ok_or_else(|| {
        Error::Invalid(match graph.splits.len() {
            0 => "this graph has no public split".into(),
            count => format!("public split {index}: there are {count}, counted from 0"),
        })
    })?;
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

fn known(labels: &[Option<u32>]) -> Vec<usize> {
    (0..labels.len()).filter(|&node| labels[node].is_some()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{rng, total};
    use super::*;

    proptest! {
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
