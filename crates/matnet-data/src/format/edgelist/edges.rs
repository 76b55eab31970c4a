//! The list of edges.

use std::collections::HashMap;
use std::path::Path;

use super::Names;
use crate::format::bounded::{Input, reserve};
use crate::format::class_names::{is_unknown, sort_classes};
use crate::format::fields::{Fields, Next};
use crate::{Error, Result};

/// The edges of a graph, each perhaps of a named relation.
#[derive(Default)]
pub(crate) struct EdgeList {
    pub edges: Vec<(u32, u32)>,
    pub relations: Vec<u32>,
    pub relation_names: Vec<String>,
}

/// Reads an edge list between named nodes.
pub(crate) fn edge_list(input: Input, names: &Names) -> Result<EdgeList> {
    let name = input.name().to_owned();
    collect_edges(&name, |each| each_edge(input, &|name| names.find(name), each))
}

/// The edges of a reader that passes them on one by one.
pub(crate) fn collect_edges(
    source: &Path,
    read: impl FnOnce(EachEdge) -> Result<Vec<String>>,
) -> Result<EdgeList> {
    let mut list = EdgeList::default();
    let mut relations: Vec<Option<u32>> = Vec::new();
    let known = read(&mut |from, to, relation, _| {
        reserve(&mut list.edges, 1, source)?;
        list.edges.push((from, to));
        if relation.is_some() {
            reserve(&mut relations, 1, source)?;
            relations.push(relation);
        }
        Ok(())
    })?;
    require_few_relations(known.len(), list.edges.len() as u64, source)?;
    let known: HashMap<String, u32> = known.into_iter().zip(0..).collect();
    list.relation_names = sort_classes(known, &mut relations);
    list.relations = relations.into_iter().flatten().collect();
    Ok(list)
}

/// What is said of a third column of edges that holds weights.
pub(crate) const NO_WEIGHTS: &str = "edges have no weights, and a third column names their relations; leave it out, or give the relations words";

/// Whether a column of edges is called a weight.
pub(crate) fn is_weight(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("edge_").unwrap_or(&name);
    ["weight", "weights", "w", "value", "score"].contains(&name)
}

/// Edges below which each may have a relation of its own.
const FEW_EDGES: u64 = 20;

/// Fails if most edges have a relation of their own: a net has weights for each relation, and the column holds times or something else.
pub(crate) fn require_few_relations(relations: usize, edges: u64, source: &Path) -> Result<()> {
    match edges >= FEW_EDGES && relations as u64 > edges / 2 {
        true => {
            let what = format!(
                "{relations} different relations for {edges} edges; leave the column out if it holds times, weights or numbers of edges"
            );
            Err(Error::format(source, what))
        }
        false => Ok(()),
    }
}

/// A remark on relations that are all integers, and may be weights.
pub(crate) fn integers_note(relations: &[String]) -> Option<String> {
    let whole = relations.len() > 1 && relations.iter().all(|name| name.parse::<i64>().is_ok());
    whole.then(|| {
        format!(
            "the third column of the edges holds integers, and names {} relations; edges have no weights",
            relations.len()
        )
    })
}

/// Whether the name of a relation is a number, and no integer.
fn is_fraction(name: &str) -> bool {
    name.parse::<i64>().is_err() && name.parse::<f64>().is_ok()
}

/// What is done with an edge: its ends, its relation, and the names of the relations so far.
pub(crate) type EachEdge<'a> = &'a mut dyn FnMut(u32, u32, Option<u32>, &[String]) -> Result<()>;

/// Reads an edge list and passes its edges to `each`. Returns the names of the relations, in the order in which they occur first;
/// none if edges have no relation.
pub(crate) fn each_edge(
    input: Input,
    find: &dyn Fn(&[u8]) -> Option<u32>,
    each: EachEdge,
) -> Result<Vec<String>> {
    let mut fields = Fields::new(input);
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut relation_names: Vec<String> = Vec::new();
    // The ends of an edge, or names of unknown nodes; its relation.
    let mut ends: Vec<std::result::Result<u32, String>> = Vec::new();
    let mut relation: Option<String> = None;
    // The error of a first line with unknown names, unless it turns out to be a header.
    let mut heading: Option<Error> = None;
    let (mut line, mut edges) = (0usize, 0u64);
    loop {
        match fields.next()? {
            Next::Field if ends.len() < 2 => {
                let name = || String::from_utf8_lossy(fields.field()).into_owned();
                ends.push(find(fields.field()).ok_or_else(name));
            }
            Next::Field if relation.is_none() => relation = Some(fields.text()?.to_owned()),
            Next::Field => {
                return Err(fields
                    .error("an edge is two names and an optional relation; this line has a fourth field"));
            }
            Next::Line => {
                let unknown = |name: &String| fields.error(format!("node {name:?} is not in the node table"));
                match &ends[..] {
                    [Ok(from), Ok(to)] => {
                        let told = !relation_names.is_empty();
                        // As in the other formats, these words stand for a relation that nobody knows.
                        relation = relation.filter(|name| !is_unknown(name));
                        if edges > 0 && told != relation.is_some() {
                            let which = if told {
                                "no relation where the edges before have one"
                            } else {
                                "a relation where the edges before have none"
                            };
                            return Err(fields.error(which));
                        }
                        if let Some(name) = relation.as_ref().filter(|name| is_fraction(name)) {
                            return Err(fields.error(format!("{name}: {NO_WEIGHTS}")));
                        }
                        let number = relation.take().map(|name| {
                            *known.entry(name).or_insert_with_key(|name| {
                                relation_names.push(name.clone());
                                (relation_names.len() - 1) as u32
                            })
                        });
                        each(*from, *to, number, &relation_names)?;
                        edges += 1;
                    }
                    [Err(from), Err(to)]
                        if line == 0 && from.parse::<f64>().is_err() && to.parse::<f64>().is_err() =>
                    {
                        if let Some(name) = relation.as_ref().filter(|name| is_weight(name)) {
                            return Err(fields.error(format!("column {name}: {NO_WEIGHTS}")));
                        }
                        heading = Some(unknown(from));
                    }
                    [Err(name), _] | [_, Err(name)] => return Err(unknown(name)),
                    _ => return Err(fields.error("an edge is two names; this line has one")),
                }
                ends.clear();
                relation = None;
                line += 1;
                fields.next_line();
            }
            Next::End => break,
        }
    }
    match heading.filter(|_| edges == 0) {
        Some(error) => Err(error),
        None => Ok(relation_names),
    }
}
