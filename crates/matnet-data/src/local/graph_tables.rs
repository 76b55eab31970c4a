//! A graph from a table of nodes and a list of edges, each as text, Parquet or Arrow.

use std::path::Path;

use super::columnar::is_columnar;
use crate::format::bounded::Input;
use crate::format::edgelist::{self, EachEdge, NodeRows};
use crate::{Dataset, GraphData, Result};

/// Reads a graph; the two files may be of different formats.
pub(super) fn read(edges: &Path, nodes: &Path) -> Result<GraphData> {
    let table = edgelist::collect_nodes(nodes, |each| match is_columnar(nodes) {
        true => each_node(nodes, each),
        false => edgelist::each_node(Input::open(nodes)?, each),
    })?;
    let find = |name: &[u8]| table.names.find(name);
    let list = edgelist::collect_edges(edges, |each| match is_columnar(edges) {
        true => each_edge(edges, &find, each),
        false => edgelist::each_edge(Input::open(edges)?, &find, each),
    })?;
    Ok(edgelist::assemble(table, list))
}

/// The dataset of a graph, with a remark if its relations may be something else.
pub(super) fn with_note(graph: GraphData) -> Dataset {
    let note = edgelist::integers_note(&graph.relation_names);
    note.into_iter().fold(graph.into(), Dataset::with_note)
}

#[cfg(not(feature = "columnar"))]
pub(crate) fn each_node(path: &Path, _: &mut dyn FnMut(&[f32]) -> Result<()>) -> Result<NodeRows> {
    Err(super::columnar::no_columnar(path))
}

#[cfg(not(feature = "columnar"))]
pub(crate) fn each_edge(path: &Path, _: &dyn Fn(&[u8]) -> Option<u32>, _: EachEdge) -> Result<Vec<String>> {
    Err(super::columnar::no_columnar(path))
}

#[cfg(feature = "columnar")]
pub(crate) use columnar::{each_edge, each_node};

#[cfg(feature = "columnar")]
mod columnar {
    use std::collections::HashMap;

    use super::*;
    use crate::Error;
    use crate::format::class_names::{class_of, is_unknown, require_shared_classes, sort_classes};
    use crate::format::columnar::{ColumnarTable, word};
    use crate::format::edgelist::{NO_WEIGHTS, Names, is_class_column, is_weight};
    use crate::format::table::ColumnKind;

    /// The names of columns that name the nodes; without one of them, it is the first column.
    const IDS: [&str; 4] = ["id", "node", "node_id", "name"];

    /// Nodes: a column of names, columns of features, and perhaps a class: the column that is called so, or else the last one if it holds no
    /// numbers, or the only one that does not.
    pub fn each_node(path: &Path, each: &mut dyn FnMut(&[f32]) -> Result<()>) -> Result<NodeRows> {
        let table = ColumnarTable::open(path)?;
        let head = table.head();
        let id = head.names.iter().position(|name| IDS.iter().any(|id| id.eq_ignore_ascii_case(name)));
        let id = id.unwrap_or(0);
        let last = head.names.len() - 1;
        let class = (0..=last)
            .find(|&column| column != id && is_class_column(&head.names[column]))
            .or((last != id && head.kinds[last] == ColumnKind::Text).then_some(last))
            .or_else(|| (0..=last).find(|&column| column != id && head.kinds[column] == ColumnKind::Text));
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
        require_shared_classes(&labels, classes.len(), path)?;
        let class_names = sort_classes(classes, &mut labels);
        for group in 0..table.groups().len() {
            table.read_group(group, &features)?.chunks_exact(features.len()).try_for_each(&mut *each)?;
        }
        let feature_names = features.iter().map(|&column| head.names[column].clone()).collect();
        Ok(NodeRows { names, width: features.len(), feature_names, labels, class_names })
    }

    /// Edges: two columns of names, and perhaps one of relations. Gives the names of the relations in the order of their first appearance.
    pub fn each_edge(
        path: &Path,
        find: &dyn Fn(&[u8]) -> Option<u32>,
        each: EachEdge,
    ) -> Result<Vec<String>> {
        let table = ColumnarTable::open(path)?;
        let head = table.head();
        let columns: Vec<usize> =
            (0..head.names.len()).filter(|&column| !head.names[column].is_empty()).collect();
        let (from, to, relation) = match columns[..] {
            [from, to] => (from, to, None),
            [_, _, relation]
                if is_weight(&head.names[relation]) || head.kinds[relation] == ColumnKind::Float =>
            {
                let what = format!("column {:?}: {NO_WEIGHTS}", head.names[relation]);
                return Err(Error::format(path, what));
            }
            [from, to, relation] => (from, to, Some(relation)),
            _ => {
                let what =
                    format!("{} columns; two of nodes and an optional relation expected", columns.len());
                return Err(Error::format(path, what));
            }
        };
        let (mut known, mut relation_names): (HashMap<String, u32>, Vec<String>) = Default::default();
        for group in 0..table.groups().len() {
            let ends = |column: usize| -> Result<Vec<u32>> {
                let mut found = Vec::new();
                table.each_in(group, column, &mut |value| {
                    let name = word(value);
                    let unknown = || format!("names node {name:?}, which is not in the node table");
                    found.push(find(name.as_bytes()).ok_or_else(unknown)?);
                    Ok(())
                })?;
                Ok(found)
            };
            let (from, to) = (ends(from)?, ends(to)?);
            let mut relations = Vec::new();
            if let Some(relation) = relation {
                table.each_in(group, relation, &mut |value| {
                    let name = word(value);
                    if is_unknown(&name) {
                        return Err(format!("has an edge without a relation ({name:?}); one is expected"));
                    }
                    let number = *known.entry(name).or_insert_with_key(|name| {
                        relation_names.push(name.clone());
                        (relation_names.len() - 1) as u32
                    });
                    relations.push(number);
                    Ok(())
                })?;
            }
            for (at, (from, to)) in from.into_iter().zip(to).enumerate() {
                each(from, to, relations.get(at).copied(), &relation_names)?;
            }
        }
        Ok(relation_names)
    }
}
