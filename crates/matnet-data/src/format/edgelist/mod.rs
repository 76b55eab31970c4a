//! A graph as two text files: a node table (name, features, optional class) and an edge list.
//!
//! A node's line is its name, its features, and its class: the column that a header calls `class`, `label`, `y`, `target` or `category`, or
//! else the last one, if it does not hold numbers, or below a header the only one that does not. An edge's line is two names, and the name of the relation if there are several. Fields are separated by commas,
//! semicolons, tabs or blanks. LINQS's `.content` and `.cites` are in this format.

mod edges;
mod names;
mod nodes;

use std::path::Path;

use self::edges::edge_list;
pub(crate) use self::edges::{
    EachEdge, EdgeList, NO_WEIGHTS, collect_edges, each_edge, integers_note, is_weight, require_few_relations,
};
pub(crate) use self::names::Names;
pub use self::nodes::CLASS_COLUMNS;
use self::nodes::node_table;
pub(crate) use self::nodes::{NodeRows, NodeTable, collect_nodes, each_node, is_class_column};
use crate::format::bounded::Input;
use crate::{GraphData, Result};

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
        assert_eq!(error("id,w0,class\na,1,red\nb,0\n"), "n: line 3: 2 fields where the header has 3");
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
        // An empty third field is none.
        assert!(graph("a,b,\nb,a,?\n", nodes).unwrap().relation_names.is_empty());
        for (edges, said) in [
            ("a,b,likes\nb,a,\n", "e: line 2: no relation where the edges before have one"),
            ("a,b,-\nb,a,likes\n", "e: line 2: a relation where the edges before have none"),
            ("a b 0.5\n", "e: line 1: 0.5: edges have no weights"),
            ("from,to,weight\na,b,1\n", "e: line 1: column weight: edges have no weights"),
        ] {
            let error = graph(edges, nodes).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn a_relation_per_edge_is_none() {
        let nodes = "a 1 red\nb 0 blue\n";
        let edges = |count: u32, other: u32| -> String {
            (0..count).map(|at| format!("a b {}\n", 1_466_000_000 + at % other)).collect()
        };
        let error = graph(&edges(20, 11), nodes).unwrap_err().to_string();
        assert!(error.starts_with("e: 11 different relations for 20 edges; leave the column out"), "{error}");
        for (count, other) in [(20, 10), (19, 19)] {
            assert_eq!(graph(&edges(count, other), nodes).unwrap().relation_names.len(), other as usize);
        }
        let note =
            |names: &[&str]| integers_note(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert!(note(&["1", "20"]).unwrap().contains("names 2 relations"));
        assert!(note(&["1", "b"]).is_none() && note(&["1"]).is_none() && note(&[]).is_none());
    }

    #[test]
    fn a_class_per_node_is_none() {
        let nodes = |count: u32, classes: u32| -> String {
            (0..count).map(|at| format!("n{at},{at},2020-{}\n", at % classes)).collect()
        };
        let error = graph("", &format!("id,x,since\n{}", nodes(20, 11))).unwrap_err().to_string();
        assert!(error.starts_with("n: 11 different classes for 20 nodes; name the column"), "{error}");
        for (count, classes) in [(20, 10), (19, 19)] {
            assert_eq!(graph("", &nodes(count, classes)).unwrap().class_names.len(), classes as usize);
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
