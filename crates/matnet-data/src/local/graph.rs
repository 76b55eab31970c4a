//! A graph from the arrays of an `.npz`.

use std::path::Path;

use super::labels::{label_indices, renumber, require_known, split, unit_numbers};
use super::leftovers;
use super::npz::{optional, texts, weights_of};
use crate::format::edgelist::require_few_relations;
use crate::format::npz::Npz;
use crate::{Error, GraphData, Result};

/// A graph from `features`, `edges` and perhaps `labels`, `classes`, `weight`, `train`, `valid` and `test`; also remarks for the user.
pub(super) fn graph(mut npz: Npz, path: &Path) -> Result<(GraphData, Vec<String>)> {
    let raw = npz.take("features")?;
    let &[nodes, _] = raw.shape() else {
        let what = format!("shape {:?}; [nodes, features] expected", raw.shape());
        return Err(Error::format(path.join("features"), what));
    };
    let features = raw.into_array(&path.join("features"))?;
    let (raw, name) = (npz.take("edges")?, path.join("edges"));
    let flat = unit_numbers(&raw, &name, nodes, "node")?;
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
        (relations, relation_names) = (require_known(labels, &name, "relation")?, names);
        require_few_relations(relation_names.len(), edges.len() as u64, &name)?;
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
        if let Some(classes) = texts(&mut npz, path, "classes")? {
            let wrong = |what| Error::format(&name, what);
            renumber(&mut labels, &class_names, &raw, &classes).map_err(wrong)?;
            class_names = classes;
        }
    }
    let weights = match optional(&mut npz, path, "weight")? {
        None => Vec::new(),
        Some((raw, name)) => weights_of(raw, &name, nodes, "node")?,
    };
    let splits = split(&mut npz, path, nodes, "node")?.into_iter().collect();
    let (node_names, notes) = (Vec::new(), leftovers::graph(npz.names(), path)?.into_iter().collect());
    let graph = GraphData {
        features,
        feature_names: Vec::new(),
        node_names,
        labels,
        class_names,
        weights,
        edges,
        relations,
        relation_names,
        directed,
        splits,
    };
    Ok((graph, notes))
}
