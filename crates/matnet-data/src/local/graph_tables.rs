//! A graph from a table of nodes and a list of edges, each as text, Parquet or Arrow.

use std::path::Path;

use super::table::is_columnar;
use crate::format::bounded::Input;
use crate::format::edgelist::{self, EdgeList, NodeTable};
use crate::{GraphData, Result};

/// Reads a graph; the two files may be of different formats.
pub(super) fn read(edges: &Path, nodes: &Path) -> Result<GraphData> {
    let table = match is_columnar(nodes) {
        true => node_table(nodes)?,
        false => edgelist::node_table(Input::open(nodes)?)?,
    };
    let list = match is_columnar(edges) {
        true => edge_list(edges, &|name| table.names.find(name))?,
        false => edgelist::edge_list(Input::open(edges)?, &table.names)?,
    };
    Ok(edgelist::assemble(table, list))
}

#[cfg(not(feature = "columnar"))]
pub(crate) fn node_table(path: &Path) -> Result<NodeTable> {
    Err(super::table::no_columnar(path))
}

#[cfg(not(feature = "columnar"))]
pub(crate) fn edge_list(path: &Path, _: &dyn Fn(&[u8]) -> Option<u32>) -> Result<EdgeList> {
    Err(super::table::no_columnar(path))
}

#[cfg(feature = "columnar")]
pub(crate) use columnar::{edge_list, node_table};

#[cfg(feature = "columnar")]
mod columnar {
    use std::collections::HashMap;

    use super::*;
    use crate::Error;
    use crate::format::columnar::{ColumnarTable, word};
    use crate::format::edgelist::{Names, class_of, is_class_column, sort_classes};
    use crate::format::table::ColumnKind;

    /// The names of columns that name the nodes; without one of them, it is the first column.
    const IDS: [&str; 4] = ["id", "node", "node_id", "name"];

    /// Nodes: a column of names, columns of features, and perhaps a class, which is the last column if it holds no numbers or is called
    /// `class`, `label` or `y`.
    pub fn node_table(path: &Path) -> Result<NodeTable> {
        let table = ColumnarTable::open(path)?;
        let head = table.head();
        let id = head.names.iter().position(|name| IDS.iter().any(|id| id.eq_ignore_ascii_case(name)));
        let id = id.unwrap_or(0);
        let last = head.names.len() - 1;
        let class = (0..=last)
            .find(|&column| column != id && is_class_column(&head.names[column]))
            .or((last != id && head.kinds[last] == ColumnKind::Text).then_some(last));
        let unnamed = |column: usize| head.names[column].is_empty();
        let features: Vec<usize> = (0..head.names.len())
            .filter(|&column| column != id && Some(column) != class && !unnamed(column))
            .collect();
        if let Some(&text) = features.iter().find(|&&column| head.kinds[column] == ColumnKind::Text) {
            let what = format!(
                "column {:?} does not hold numbers; the class is the last column, or called class, label, y, target or category",
                head.names[text]
            );
            return Err(Error::format(path, what));
        }
        if features.is_empty() {
            return Err(Error::format(path, "no column of numbers is left for the features of the nodes"));
        }
        let mut names = Names::default();
        table.each(id, &mut |_, value| {
            names.push(word(value).as_bytes(), path).map_err(|error| error.to_string())
        })?;
        if let Some(twice) = names.sort() {
            return Err(Error::format(path, format!("node {twice:?} occurs twice")));
        }
        let (mut classes, mut labels) = (HashMap::new(), vec![None; head.rows]);
        if let Some(class) = class {
            table.each(class, &mut |row, value| {
                labels[row] = class_of(&word(value), &mut classes);
                Ok(())
            })?;
        }
        let class_names = sort_classes(classes, &mut labels);
        Ok(NodeTable { names, features: table.read(&features, &[])?.numbers, labels, class_names })
    }

    /// Edges: two columns of names, and perhaps one of relations.
    pub fn edge_list(path: &Path, find: &dyn Fn(&[u8]) -> Option<u32>) -> Result<EdgeList> {
        let table = ColumnarTable::open(path)?;
        let head = table.head();
        let columns: Vec<usize> =
            (0..head.names.len()).filter(|&column| !head.names[column].is_empty()).collect();
        let (from, to, relation) = match columns[..] {
            [from, to] => (from, to, None),
            [from, to, relation] => (from, to, Some(relation)),
            _ => {
                let what =
                    format!("{} columns; two of nodes and an optional relation expected", columns.len());
                return Err(Error::format(path, what));
            }
        };
        let ends = |column: usize| -> Result<Vec<u32>> {
            let mut found = Vec::new();
            table.each(column, &mut |_, value| {
                let name = word(value);
                found.push(
                    find(name.as_bytes())
                        .ok_or_else(|| format!("names node {name:?}, which is not in the node table"))?,
                );
                Ok(())
            })?;
            Ok(found)
        };
        let edges = ends(from)?.into_iter().zip(ends(to)?).collect();
        let mut list = EdgeList { edges, ..EdgeList::default() };
        if let Some(relation) = relation {
            let mut known: HashMap<String, u32> = HashMap::new();
            let mut relations = Vec::new();
            table.each(relation, &mut |_, value| {
                let next = known.len() as u32;
                relations.push(Some(*known.entry(word(value)).or_insert(next)));
                Ok(())
            })?;
            list.relation_names = sort_classes(known, &mut relations);
            list.relations = relations.into_iter().flatten().collect();
        }
        Ok(list)
    }
}
