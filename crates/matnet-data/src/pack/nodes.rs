//! The nodes of any source: their features one after another, their classes, their names.

use std::path::{Path, PathBuf};

use super::edges::NodeNames;
use crate::format::bounded::Input;
use crate::format::edgelist::{self, NodeRows};
use crate::format::npy;
use crate::local::columnar::is_columnar;
use crate::local::graph_tables;
use crate::local::labels::label_indices;
use crate::{Error, Result, StoredArray};

/// What is known of the nodes but for their features.
pub(super) struct NodeFacts {
    pub names: NodeNames,
    /// A name per feature; empty where they have none.
    pub feature_names: Vec<String>,
    pub labels: Vec<Option<u32>>,
    pub class_names: Vec<String>,
}

/// Passes the features of all nodes to `each`, row by row. Those in an `.npy` may have their classes in a file of their own.
pub(super) fn each_node(
    nodes: &Path,
    labels: Option<&PathBuf>,
    each: &mut dyn FnMut(&[f32]) -> Result<()>,
) -> Result<NodeFacts> {
    let name = nodes.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".npy") {
        return each_of_array(nodes, labels, each);
    }
    if let Some(labels) = labels {
        return Err(Error::format(labels, "the classes of a table of nodes stand in the table"));
    }
    let NodeRows { names, feature_names, labels, class_names, .. } = match is_columnar(nodes) {
        true => graph_tables::each_node(nodes, each)?,
        false => edgelist::each_node(Input::open(nodes)?, each)?,
    };
    Ok(NodeFacts { names: NodeNames::Names(names), feature_names, labels, class_names })
}

fn each_of_array(
    path: &Path,
    labels: Option<&PathBuf>,
    each: &mut dyn FnMut(&[f32]) -> Result<()>,
) -> Result<NodeFacts> {
    /// Numbers that are read at once.
    const BLOCK: usize = 1 << 18;
    let two = |shape: &[usize]| match *shape {
        [nodes, width] if nodes > 0 && width > 0 => Ok((nodes, width)),
        _ => Err(Error::format(path, format!("shape {shape:?}; [nodes, features] expected"))),
    };
    let count = match StoredArray::open(path)? {
        Some(array) => {
            let (nodes, width) = two(array.shape())?;
            let step = (BLOCK / width).max(1);
            for first in (0..nodes).step_by(step) {
                let some = array.samples(first..(first + step).min(nodes))?;
                some.data().chunks_exact(width).try_for_each(&mut *each)?;
            }
            nodes
        }
        // Compressed, or in Fortran order.
        None => {
            let array = npy::read(path)?.into_array(path)?;
            let (nodes, width) = two(array.shape())?;
            array.data().chunks_exact(width).try_for_each(each)?;
            nodes
        }
    };
    let (mut known, mut class_names) = (vec![None; count], Vec::new());
    if let Some(path) = labels {
        let raw = npy::read(path)?;
        if raw.shape() != [count] {
            let what = format!("shape {:?}; one label for each of {count} nodes expected", raw.shape());
            return Err(Error::format(path, what));
        }
        (known, class_names) = label_indices(&raw, path)?;
    }
    Ok(NodeFacts { names: NodeNames::Count(count), feature_names: Vec::new(), labels: known, class_names })
}
