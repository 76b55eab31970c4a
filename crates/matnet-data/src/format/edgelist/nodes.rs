//! The table of nodes.

use std::collections::HashMap;
use std::path::Path;

use super::Names;
use crate::error::counted;
use crate::format::bounded::{Input, reserve};
use crate::format::class_names::{class_of, is_unknown, require_shared_classes, sort_classes};
use crate::format::fields::{Fields, Next};
use crate::{Array, Error, Result};

/// What a header may call the column of the classes.
pub const CLASS_COLUMNS: [&str; 5] = ["class", "label", "y", "target", "category"];

/// The node table of a graph.
pub(crate) struct NodeTable {
    pub names: Names,
    pub features: Array,
    /// A name per feature; empty without a header.
    pub feature_names: Vec<String>,
    pub labels: Vec<Option<u32>>,
    pub class_names: Vec<String>,
}

/// Reads a node table.
pub(crate) fn node_table(input: Input) -> Result<NodeTable> {
    let name = input.name().to_owned();
    collect_nodes(&name, |each| each_node(input, each))
}

/// The node table of a reader that passes features on row by row.
pub(crate) fn collect_nodes(
    source: &Path,
    read: impl FnOnce(&mut dyn FnMut(&[f32]) -> Result<()>) -> Result<NodeRows>,
) -> Result<NodeTable> {
    let mut features: Vec<f32> = Vec::new();
    let NodeRows { names, width, feature_names, labels, class_names } = read(&mut |row| {
        reserve(&mut features, row.len(), source)?;
        features.extend_from_slice(row);
        Ok(())
    })?;
    let features = Array::new([labels.len(), width], features)?;
    Ok(NodeTable { features, feature_names, names, labels, class_names })
}

/// A node table but for its features.
pub(crate) struct NodeRows {
    pub names: Names,
    /// The features of a node.
    pub width: usize,
    /// A name per feature; empty without a header.
    pub feature_names: Vec<String>,
    pub labels: Vec<Option<u32>>,
    pub class_names: Vec<String>,
}

/// Reads a node table and passes the features of each node to `each`.
pub(crate) fn each_node(input: Input, each: &mut dyn FnMut(&[f32]) -> Result<()>) -> Result<NodeRows> {
    let source = input.name().to_owned();
    let mut fields = Fields::new(input);
    let mut names = Names::default();
    // of the node that is being read
    let mut features: Vec<f32> = Vec::new();
    let mut classes: HashMap<String, u32> = HashMap::new();
    let mut labels: Vec<Option<u32>> = Vec::new();
    // whether there is a class; known after the first node, or after a header that names its column
    let mut has_class: Option<bool> = None;
    let mut headed = false;
    let mut columns: Vec<String> = Vec::new();
    let mut class_at: Option<usize> = None;
    // whether the classes were found by their words, below a header with other names
    let mut guessed = false;
    let mut cols = 0usize;
    let mut count = 0usize;
    // the previous field, held back until it is known whether it is the last one of the line
    let mut held = String::new();
    loop {
        if fields.next()? == Next::End {
            break;
        }
        let name = fields.field().to_vec();
        features.clear();
        let mut words = 0usize;
        let mut held_any = false;
        let mut head = false;
        loop {
            let next = fields.next()?;
            let known = has_class == Some(false) || class_at.is_some();
            if held_any && (next == Next::Field || known) && !head {
                match held.parse::<f32>() {
                    Ok(_) if class_at == Some(words - 1) && guessed => {
                        let what = format!(
                            "column {} holds words and numbers; name the column of the classes class",
                            columns[words - 1]
                        );
                        return Err(fields.error(what));
                    }
                    _ if class_at == Some(words - 1) => labels.push(class_of(&held, &mut classes)),
                    Ok(number) => {
                        reserve(&mut features, 1, &source)?;
                        features.push(number);
                    }
                    // words in the middle of the first line: it is a header
                    Err(_) if count == 0 && !headed => head = true,
                    // words below a header that names no class: their column holds the classes
                    Err(_) if count == 0 && has_class.is_none() && !is_unknown(&held) => {
                        (class_at, has_class, guessed) = (Some(words - 1), Some(true), true);
                        labels.push(class_of(&held, &mut classes));
                    }
                    Err(_) => {
                        let column = columns.get(words - 1).filter(|_| headed);
                        let of = column.map(|name| format!(" in column {name}")).unwrap_or_default();
                        return Err(fields.error(format!("{held:?}{of} is not a number")));
                    }
                }
                held_any = false;
            }
            if next != Next::Field {
                break;
            }
            held.clear();
            held.push_str(fields.text()?);
            held_any = true;
            words += 1;
            if count == 0 && !headed {
                columns.push(held.clone());
            } else if headed && words > columns.len() {
                return Err(fields.error(other_width(words, columns.len())));
            }
        }
        // A line with one word and no feature is a header too.
        let head =
            head || (held_any && (is_class_column(&held) || words == 1 && held.parse::<f32>().is_err()));
        if head && count == 0 && !headed {
            headed = true;
            class_at = columns.iter().position(|name| is_class_column(name));
            has_class = class_at.map(|_| true);
            fields.next_line();
            continue;
        }
        if words == 0 {
            return Err(fields.error("a node without features"));
        }
        if headed && words < columns.len() {
            return Err(fields.error(other_width(words, columns.len())));
        }
        if held_any {
            // the last field of a node: a class, unless it is a number and no header calls it a class
            let number = held.parse::<f32>().ok();
            match (has_class, number) {
                (None, Some(number)) => {
                    has_class = Some(false);
                    features.push(number);
                }
                _ => {
                    has_class = Some(true);
                    labels.push(class_of(&held, &mut classes));
                }
            }
        }
        if has_class == Some(false) {
            labels.push(None);
        }
        if labels.len() != count + 1 {
            let name = class_at.map_or("class", |at| columns[at].as_str());
            return Err(fields.error(format!("no {name} where the header has one")));
        }
        let wide = features.len();
        if count == 0 {
            cols = wide;
        } else if wide != cols {
            return Err(fields.error(format!("{} where the first node has {cols}", counted(wide, "feature"))));
        }
        names.push(&name, &source)?;
        each(&features)?;
        count += 1;
        fields.next_line();
    }
    if count == 0 {
        return Err(fields.error("no node"));
    }
    if let Some(twice) = names.sort() {
        return Err(Error::format(source, format!("node {twice:?} occurs twice")));
    }
    require_shared_classes(&labels, classes.len(), &source)?;
    let class_names = sort_classes(classes, &mut labels);
    // A class that stands last and was found by its words has no place in `class_at`.
    let class_at = class_at.or(has_class.and_then(|has| has.then_some(cols)));
    let feature_names = match headed {
        true => (0..columns.len()).filter(|&at| Some(at) != class_at).map(|at| columns[at].clone()).collect(),
        false => Vec::new(),
    };
    Ok(NodeRows { names, width: cols, feature_names, labels, class_names })
}

/// What is said of a node with another number of fields than the header, beside its name.
fn other_width(words: usize, columns: usize) -> String {
    let all = columns + 1;
    match words > columns {
        true => format!("more fields than the {all} of the header"),
        false => format!("{} fields where the header has {all}", words + 1),
    }
}

pub(crate) fn is_class_column(name: &str) -> bool {
    CLASS_COLUMNS.contains(&name.to_ascii_lowercase().as_str())
}
