//! A graph as two text files: a node table (name, features, optional class) and an edge list.
//!
//! A node's line is its name, its features, and its class: the column that a header calls `class`, `label`, `y`, `target` or `category`, or
//! else the last one, if it does not hold numbers, or below a header the only one that does not. An edge's line is two names, and the name of the relation if there are several. Fields are separated by commas,
//! semicolons, tabs or blanks. LINQS's `.content` and `.cites` are in this format.

use std::collections::HashMap;
use std::path::Path;

use crate::format::bounded::{Input, reserve};
use crate::format::fields::{Fields, Next};
use crate::{Array, Error, GraphData, Result};

/// The words for an unknown class.
const UNKNOWN: [&str; 4] = ["", "?", "-", "none"];

/// What a header may call the column of the classes.
pub const CLASS_COLUMNS: [&str; 5] = ["class", "label", "y", "target", "category"];

/// Reads a graph from an edge list and a node table; either may be gzipped.
pub fn read(edges: impl AsRef<Path>, nodes: impl AsRef<Path>) -> Result<GraphData> {
    parse(Input::open(edges)?, Input::open(nodes)?)
}

/// Reads a graph from two streams.
pub fn parse(edges: Input, nodes: Input) -> Result<GraphData> {
    let table = node_table(nodes)?;
    let list = edge_list(edges, &table.names)?;
    Ok(assemble(table, list))
}

/// The graph of a node table and an edge list.
pub(crate) fn assemble(table: NodeTable, list: EdgeList) -> GraphData {
    let EdgeList { edges, relations, relation_names } = list;
    let NodeTable { names, features, feature_names, labels, class_names } = table;
    GraphData {
        features,
        feature_names,
        node_names: names.texts(),
        labels,
        class_names,
        weights: Vec::new(),
        edges,
        relations,
        relation_names,
        directed: false,
        splits: Vec::new(),
    }
}

/// Names in one buffer, with a sorted index.
#[derive(Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    sorted: Vec<u32>,
}

impl Names {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    fn texts(&self) -> Vec<String> {
        (0..self.ends.len()).map(|at| String::from_utf8_lossy(self.get(at)).into_owned()).collect()
    }

    pub fn push(&mut self, name: &[u8], source: &Path) -> Result<()> {
        reserve(&mut self.bytes, name.len(), source)?;
        self.bytes.extend_from_slice(name);
        reserve(&mut self.ends, 1, source)?;
        let end = u32::try_from(self.bytes.len());
        self.ends.push(end.map_err(|_| Error::format(source, "the node names take more than 4 GiB"))?);
        Ok(())
    }

    /// Sorts the index; returns a duplicate name, if there is one.
    pub fn sort(&mut self) -> Option<String> {
        let mut sorted: Vec<u32> = (0..self.ends.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| self.get(a as usize).cmp(self.get(b as usize)));
        let twice = sorted.windows(2).find(|pair| self.get(pair[0] as usize) == self.get(pair[1] as usize));
        let twice = twice.map(|pair| String::from_utf8_lossy(self.get(pair[0] as usize)).into_owned());
        self.sorted = sorted;
        twice
    }

    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let at = self.sorted.binary_search_by(|&at| self.get(at as usize).cmp(name)).ok()?;
        Some(self.sorted[at])
    }
}

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
            return Err(fields.error(format!("{wide} features where the first node has {cols}")));
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
    let class_names = sort_classes(classes, &mut labels);
    // A class that stands last and was found by its words has no place in `class_at`.
    let class_at = class_at.or(has_class.and_then(|has| has.then_some(cols)));
    let feature_names = match headed {
        true => (0..columns.len()).filter(|&at| Some(at) != class_at).map(|at| columns[at].clone()).collect(),
        false => Vec::new(),
    };
    let feature_names = if feature_names.len() == cols { feature_names } else { Vec::new() };
    Ok(NodeRows { names, width: cols, feature_names, labels, class_names })
}

pub(crate) fn is_class_column(name: &str) -> bool {
    CLASS_COLUMNS.contains(&name.to_ascii_lowercase().as_str())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &str, nodes: &str) -> Result<GraphData> {
        parse(Input::bytes("e", edges.as_bytes()).unwrap(), Input::bytes("n", nodes.as_bytes()).unwrap())
    }

    #[test]
    fn names_features_and_classes() {
        let g = graph("a b\nb c\nb c\n", "a 1 0 red\nb 0 1 blue\nc 1 1 red\n").unwrap();
        assert_eq!(g.features.shape(), [3, 2]);
        assert_eq!(g.features.data(), [1., 0., 0., 1., 1., 1.]);
        assert_eq!(g.class_names, ["blue", "red"]);
        assert_eq!(g.labels, [Some(1), Some(0), Some(1)]);
        assert_eq!(g.edges, [(0, 1), (1, 2), (1, 2)]);
    }

    #[test]
    fn column_names_and_numbers_for_classes() {
        let nodes = "id,f1,f2,class\n10,0.5,1,3\n11,0,2,20\n12,0,2,?\n";
        let g = graph("source,target\n10,11\n", nodes).unwrap();
        assert_eq!((g.features.shape(), g.class_names.len()), (&[3, 2][..], 2));
        assert_eq!(g.labels, [Some(0), Some(1), None]);
        assert_eq!(g.edges, [(0, 1)]);
        // without names the last number is a feature
        let g = graph("10 11\n", "10 0.5 1 3\n11 0 2 20\n").unwrap();
        assert_eq!((g.features.shape(), g.labels), (&[2, 3][..], vec![None, None]));
    }

    #[test]
    fn the_class_may_have_another_name_or_place() {
        for nodes in [
            "id,w0,w1,subject\na,1,0,red\nb,0,1,blue\n",
            "id,w0,w1,target\na,1,0,9\nb,0,1,7\n",
            "id,Category,w0,w1\na,9,1,0\nb,7,0,1\n",
            "id,w0,label,w1\na,1,red,0\nb,0,blue,1\n",
            "id,w0,species,w1\na,1,red,0\nb,0,blue,1\n",
            "id,species,w0,w1\na,red,1,0\nb,blue,0,1\n",
        ] {
            let g = graph("a,b\n", nodes).unwrap();
            assert_eq!(
                (g.features.shape(), g.features.data()),
                (&[2, 2][..], &[1., 0., 0., 1.][..]),
                "{nodes}"
            );
            assert_eq!((g.labels, g.class_names.len()), (vec![Some(1), Some(0)], 2), "{nodes}");
        }
        let error = |nodes: &str| graph("a,b\n", nodes).unwrap_err().to_string();
        assert_eq!(error("id,w0,class\na,1,red\nb,0\n"), "n: line 3: no class where the header has one");
        assert_eq!(
            error("id,class,w0\na,red,1\nb,blue,x\n"),
            "n: line 3: \"x\" in column w0 is not a number"
        );
        assert_eq!(error("id,w0,w1\na,,1\nb,2,1\n"), "n: line 2: \"\" in column w0 is not a number");
        assert_eq!(
            error("id,w0,w1\na,x,1\nb,2,1\n"),
            "n: line 3: column w0 holds words and numbers; name the column of the classes class"
        );
        // A column of numbers is a feature, unless its name says otherwise.
        assert_eq!(graph("a,b\n", "id,w0,kind\na,1,3\nb,0,4\n").unwrap().labels, [None, None]);
    }

    #[test]
    fn relations_have_names() {
        let nodes = "a 1 red\nb 0 blue\n";
        let g = graph("from,to,how\na,b,likes\nb,a,cites\na,a,likes\n", nodes).unwrap();
        assert_eq!(g.relation_names, ["cites", "likes"]);
        assert_eq!(g.edges_by_relation(), [vec![(1, 0)], vec![(0, 1), (0, 0)]]);
        assert_eq!(g.node_names, ["a", "b"]);
        let g = graph("a b\n", nodes).unwrap();
        assert_eq!((g.edges_by_relation(), g.relation_names.len()), (vec![vec![(0, 1)]], 0));
        assert_eq!(graph("a b 1\nb a 0\n", nodes).unwrap().relation_names, ["0", "1"]);
        for (edges, said) in [
            ("a b 0.5\n", "e: line 1: 0.5: edges have no weights"),
            ("from,to,weight\na,b,1\n", "e: line 1: column weight: edges have no weights"),
        ] {
            let error = graph(edges, nodes).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn features_have_the_names_of_the_header() {
        for nodes in [
            "id,w0,w1,subject\na,1,0,red\nb,0,1,blue\n",
            "id,Category,w0,w1\na,9,1,0\nb,7,0,1\n",
            "id,w0,species,w1\na,1,red,0\nb,0,blue,1\n",
            "id,w0,w1\na,1,0\nb,0,1\n",
        ] {
            assert_eq!(graph("a,b\n", nodes).unwrap().feature_names, ["w0", "w1"], "{nodes}");
        }
        assert!(graph("a,b\n", "a 1 0 red\nb 0 1 blue\n").unwrap().feature_names.is_empty());
    }

    #[test]
    fn files_of_spreadsheets_are_read() {
        let g = graph("\u{feff}from,to\r\na,b\r\n", "\u{feff}id,w0\r\na,1\r\nb,2\r\n").unwrap();
        assert_eq!((g.features.data(), g.edges), (&[1.0, 2.0][..], vec![(0, 1)]));
        assert_eq!(g.labels, [None, None]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |edges: &str, nodes: &str| graph(edges, nodes).unwrap_err().to_string();
        let nodes = "a 1 red\nb 0 blue\n";
        assert_eq!(error("a b\na c\n", nodes), "e: line 2: node \"c\" is not in the node table");
        assert_eq!(error("a b\na\n", nodes), "e: line 2: an edge is two names; this line has one");
        assert_eq!(
            error("a b c d\n", nodes),
            "e: line 1: an edge is two names and an optional relation; this line has a fourth field"
        );
        assert_eq!(error("a b\na b c\n", nodes), "e: line 2: a relation where the edges before have none");
        assert_eq!(error("a b c\na b\n", nodes), "e: line 2: no relation where the edges before have one");
        // A first line is a header only if it cannot be an edge.
        for first in ["a q", "q a", "q 7", "-1 99", "q r"] {
            let unknown = first.split(' ').find(|name| *name != "a").unwrap();
            let said = format!("e: line 1: node {unknown:?} is not in the node table");
            assert_eq!(error(&format!("{first}\n"), nodes), said);
        }
        assert_eq!(error("", "a 1 red\na 1 red\n"), "n: node \"a\" occurs twice");
        assert_eq!(error("", "a 1 red\nb 1 2 red\n"), "n: line 2: 2 features where the first node has 1");
        assert_eq!(error("", "a 1 red\nb x red\n"), "n: line 2: \"x\" is not a number");
    }
}
