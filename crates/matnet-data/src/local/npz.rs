//! Samples or a graph from the arrays of an `.npz`.

use std::collections::HashMap;
use std::path::Path;

use super::inputs;
use crate::format::edgelist::{class_of, sort_classes};
use crate::format::npz::Npz;
use crate::format::raw::RawArray;
use crate::{Error, GraphData, Result, Samples, SplitIndices, Target};

/// Samples from `x` and, if they are there, `y` and `group`.
pub(super) fn samples(mut npz: Npz, path: &Path) -> Result<Samples> {
    let x = inputs(npz.take("x")?, &path.join("x"))?;
    let target = match npz.get("y") {
        None => Target::None,
        Some(_) => {
            let (raw, name) = (npz.take("y")?, path.join("y"));
            if raw.shape().first() != Some(&x.len()) {
                let what =
                    format!("shape {:?} beside {} samples in x; as many expected", raw.shape(), x.len());
                return Err(Error::format(name, what));
            }
            match raw.shape() {
                &[_] | &[_, 1] => classes(&raw, &name)?,
                &[_, time] if x.shape().len() == 4 && x.shape()[1] == time => {
                    let (labels, names) = label_indices(&raw, &name)?;
                    Target::StepClasses { labels: require_known(labels, &name)?, names }
                }
                &[_, _, _] | &[_, _, _, _] => Target::Matrices(raw.into_array(&name)?),
                shape => {
                    let what = format!(
                        "shape {shape:?}; classes [n] or [n, time], matrices [n, r, c] or sequences [n, time, r, c] expected"
                    );
                    return Err(Error::format(name, what));
                }
            }
        }
    };
    let mut found = Samples::new(x, target);
    if npz.get("group").is_some() {
        let (raw, name) = (npz.take("group")?, path.join("group"));
        if raw.shape() != [found.inputs.len()] {
            let what = format!(
                "shape {:?}; one group for each of {} samples expected",
                raw.shape(),
                found.inputs.len()
            );
            return Err(Error::format(name, what));
        }
        let (labels, names) = label_indices(&raw, &name)?;
        found.groups = require_known(labels, &name)?;
        found.group_names = names;
    }
    refuse_leftovers(&npz, path)?;
    Ok(found)
}

/// Names that mean something elsewhere: such an array is not ignored.
const MEANINGFUL: [&str; 16] = [
    "train", "valid", "test", "length", "lengths", "weight", "weights", "groups", "subject", "subjects",
    "label", "labels", "target", "targets", "X", "Y",
];

/// Fails if an array is left whose name says that it matters.
fn refuse_leftovers(npz: &Npz, path: &Path) -> Result<()> {
    let left: Vec<&str> = npz.names().filter(|name| MEANINGFUL.contains(name)).collect();
    match left.is_empty() {
        true => Ok(()),
        false => {
            let what =
                format!("{} would be ignored; the arrays of samples are x, y and group", left.join(", "));
            Err(Error::format(path, what))
        }
    }
}

/// A class per sample.
fn classes(raw: &RawArray, name: &Path) -> Result<Target> {
    let (labels, names) = label_indices(raw, name)?;
    Ok(Target::Classes { labels: require_known(labels, name)?, names })
}

/// Fails unless every label is known.
fn require_known(labels: Vec<Option<u32>>, name: &Path) -> Result<Vec<u32>> {
    let hole = labels.iter().position(Option::is_none);
    match hole {
        Some(at) => Err(Error::format(name, format!("sample {at} has no class; one is expected"))),
        None => Ok(labels.into_iter().flatten().collect()),
    }
}

/// Labels and their names; −1 and empty strings are unknown. The classes are those that occur, sorted; integers by value.
fn label_indices(raw: &RawArray, name: &Path) -> Result<(Vec<Option<u32>>, Vec<String>)> {
    let mut classes: HashMap<String, u32> = HashMap::new();
    if let Some(texts) = raw.texts() {
        let mut labels: Vec<_> = texts.iter().map(|text| class_of(text, &mut classes)).collect();
        let names = sort_classes(classes, &mut labels);
        return Ok((labels, names));
    }
    let numbers = raw.integers(name)?;
    let least = numbers.iter().copied().min().unwrap_or(0);
    if least < -1 {
        return Err(Error::format(
            name,
            format!("class {least}; integers from 0 expected, or -1 for unknown"),
        ));
    }
    let mut labels: Vec<_> =
        numbers.iter().map(|&n| if n < 0 { None } else { class_of(&n.to_string(), &mut classes) }).collect();
    let names = sort_classes(classes, &mut labels);
    Ok((labels, names))
}

/// A graph from `features`, `edges` and perhaps `labels`, `train`, `valid` and `test`.
pub(super) fn graph(mut npz: Npz, path: &Path) -> Result<GraphData> {
    let raw = npz.take("features")?;
    let &[nodes, _] = raw.shape() else {
        let what = format!("shape {:?}; [nodes, features] expected", raw.shape());
        return Err(Error::format(path.join("features"), what));
    };
    let features = raw.into_array(&path.join("features"))?;
    let node_numbers = |raw: &RawArray, name: &Path| -> Result<Vec<u32>> {
        let one = |n: i64| match u32::try_from(n).ok().filter(|&n| (n as usize) < nodes) {
            Some(node) => Ok(node),
            None => Err(Error::format(name, format!("node {n}; 0 to {} expected", nodes.saturating_sub(1)))),
        };
        raw.integers(name)?.into_iter().map(one).collect()
    };
    let (raw, name) = (npz.take("edges")?, path.join("edges"));
    let flat = node_numbers(&raw, &name)?;
    let edges: Vec<(u32, u32)> = match raw.shape() {
        &[_, 2] => flat.as_chunks::<2>().0.iter().map(|&[from, to]| (from, to)).collect(),
        &[2, count] => flat[..count].iter().copied().zip(flat[count..].iter().copied()).collect(),
        shape => return Err(Error::format(name, format!("shape {shape:?}; [m, 2] or [2, m] expected"))),
    };
    let (mut relations, mut relation_names) = (Vec::new(), Vec::new());
    if npz.get("relations").is_some() {
        let (raw, name) = (npz.take("relations")?, path.join("relations"));
        if raw.shape() != [edges.len()] {
            let what =
                format!("shape {:?}; one relation for each of {} edges expected", raw.shape(), edges.len());
            return Err(Error::format(name, what));
        }
        let (labels, names) = label_indices(&raw, &name)?;
        (relations, relation_names) = (require_known(labels, &name)?, names);
    }
    let directed = match npz.get("directed") {
        None => false,
        Some(_) => match &npz.take("directed")?.integers(&path.join("directed"))?[..] {
            [one] if (0..=1).contains(one) => *one == 1,
            _ => return Err(Error::format(path.join("directed"), "one boolean expected")),
        },
    };
    let (mut labels, mut class_names) = (vec![None; nodes], Vec::new());
    if npz.get("labels").is_some() {
        let (raw, name) = (npz.take("labels")?, path.join("labels"));
        if raw.shape() != [nodes] {
            let what = format!("shape {:?}; one label for each of {nodes} nodes expected", raw.shape());
            return Err(Error::format(name, what));
        }
        (labels, class_names) = label_indices(&raw, &name)?;
    }
    let mut split = SplitIndices::default();
    let mut any = false;
    let mut used = vec![false; nodes];
    for (key, indices) in
        [("train", &mut split.train), ("valid", &mut split.valid), ("test", &mut split.test)]
    {
        if npz.get(key).is_none() {
            continue;
        }
        any = true;
        let (raw, name) = (npz.take(key)?, path.join(key));
        let mut chosen = node_numbers(&raw, &name)?;
        // A boolean per node; as indices they would contain duplicates.
        if chosen.len() == nodes && nodes > 2 && chosen.iter().all(|&number| number < 2) {
            chosen = (0..nodes as u32).filter(|&node| chosen[node as usize] == 1).collect();
        }
        for node in chosen {
            if std::mem::replace(&mut used[node as usize], true) {
                return Err(Error::format(name, format!("node {node} is in two splits, or twice in one")));
            }
            indices.push(node as usize);
        }
    }
    let split = any.then_some(split);
    let node_names = Vec::new();
    Ok(GraphData {
        features,
        node_names,
        labels,
        class_names,
        edges,
        relations,
        relation_names,
        directed,
        split,
    })
}
