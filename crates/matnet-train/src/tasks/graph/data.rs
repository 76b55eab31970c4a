//! Graphs that are ready for training: loaded, normalized, split.

use std::path::Path;
use std::sync::Arc;

use burn::tensor::Device;
use matnet::graph::{Edges, Features, Graph, GraphStore};
use matnet::random::SeededRng;
use matnet_data::catalog::{Cache, LoadOptions};
use matnet_data::checksum::add_numbers;
use matnet_data::format::edgelist::CLASS_COLUMNS;
use matnet_data::local::ReadOptions;
use matnet_data::pack::PackedGraph;
use matnet_data::{Contents, Dataset, GraphData, SplitIndices, local, split};
use sha2::{Digest, Sha256};

use super::packed::{self, NodeGraph, Opened, chosen_features, normalize, select};
use super::{Directed, GraphDataConfig, GraphMetadata, GraphSplitRule};
use crate::config::Amount;
use crate::error::at;
use crate::ranks::Ranks;
use crate::run::checksummed::hex;
use crate::task::{OtherData, impl_task_data, renumber};
use crate::tasks::{check_weights, classes, source};
use crate::{Error, Result};

/// A graph with node features and classes, split.
#[derive(Clone, Debug)]
pub struct NodeData {
    /// Edges and features.
    pub graph: NodeGraph,
    /// The row of each node in edges and features, where they stand in another order than the classes.
    places: Option<Arc<[u32]>>,
    /// Whether it is a packed graph, in memory or not.
    pub(super) packed: bool,
    /// How many features a node has.
    pub width: usize,
    /// A name per feature; empty where they have none.
    pub feature_names: Vec<String>,
    /// A name per node; empty where they are only counted.
    pub node_names: Vec<String>,
    /// A name per relation; empty where there is only one.
    pub relation_names: Vec<String>,
    /// The class of each node, where it is known.
    pub labels: Vec<Option<u32>>,
    /// A name per class.
    pub class_names: Vec<String>,
    /// The weight of each node in loss and metrics; empty where all count the same.
    pub weights: Vec<f32>,
    /// The splits.
    pub indices: SplitIndices,
    /// The config, with the defaults that the data decided.
    pub config: GraphDataConfig,
    checksum: String,
    notes: Vec<String>,
}

impl NodeData {
    /// Loads and prepares the graph of a config; `seed` is that of the run, for splits that depend on it. On several ranks a packed graph
    /// stays in its folder.
    pub fn load(config: &GraphDataConfig, cache: &Cache, seed: u64, ranks: &Ranks) -> Result<Self> {
        config.check()?;
        if let Some(opened) = packed::open(&config.source, config.normalize, [&[], &[]], ranks)? {
            let (indices, config) = divide(&opened.data, config, seed)?;
            return Self::opened(opened, indices, config);
        }
        let (data, notes) = find(config, cache)?;
        let (indices, config) = divide(&data, config, seed)?;
        Self::prepared(data, indices, config, notes)
    }

    /// Another graph for a trained net; all nodes with a class are the test split. `config` is that of the run.
    pub fn load_other(
        other: OtherData,
        config: &GraphDataConfig,
        metadata: &GraphMetadata,
        cache: &Cache,
    ) -> Result<Self> {
        let config = GraphDataConfig {
            source: other.source.to_owned(),
            edges: other.edges.map(str::to_owned),
            normalize: metadata.normalize,
            ..config.clone()
        };
        let labelled = |data: &GraphData| {
            let test = (0..data.labels.len()).filter(|&node| data.labels[node].is_some()).collect();
            SplitIndices { test, ..SplitIndices::default() }
        };
        // Directions of other data are their own.
        let own = GraphDataConfig { directed: None, ..config.clone() };
        if let Some(opened) = packed::open(
            &own.source,
            own.normalize,
            [&metadata.relations, &metadata.features],
            &Ranks::default(),
        )? {
            let indices = labelled(&opened.data);
            return Self::opened(opened, indices, own);
        }
        let (data, notes) = find(&config, cache).map_err(Error::without_key)?;
        let data = with_features(with_relations(data, &metadata.relations)?, &metadata.features)?;
        let indices = labelled(&data);
        Self::prepared(data, indices, config, notes)
    }

    /// A packed graph.
    fn opened(opened: Opened, indices: SplitIndices, config: GraphDataConfig) -> Result<Self> {
        if let Some(directed) = &config.directed {
            let value =
                toml::Value::try_from(directed).map_or_else(|_| String::new(), |value| value.to_string());
            let expected = "a packed graph has its directions; `matnet data pack --directed` decides them";
            return Err(Error::config("data", "directed", value, expected));
        }
        let Opened { data, graph, places, checksum, width } = opened;
        let GraphData { feature_names, relation_names, labels, class_names, .. } = data;
        let notes = note_unknown(&labels).into_iter().collect();
        Ok(Self {
            graph,
            places,
            packed: true,
            width,
            feature_names,
            node_names: Vec::new(),
            relation_names,
            labels,
            class_names,
            weights: Vec::new(),
            indices,
            config,
            checksum,
            notes,
        })
    }

    fn prepared(
        data: GraphData,
        indices: SplitIndices,
        config: GraphDataConfig,
        mut notes: Vec<String>,
    ) -> Result<Self> {
        let checksum = checksum(&data);
        let width = data.features.shape()[1];
        let wrong = |what: String, expected: &str| {
            Error::config("data", "source", format!("{}: {what}", config.source), expected)
        };
        if width == 0 {
            return Err(wrong("nodes have no features".to_owned(), "at least one expected"));
        }
        if let Some(at) = data.features.data().iter().position(|x| !x.is_finite()) {
            let (node, number) = (at / width, data.features.data()[at]);
            return Err(wrong(format!("node {node} holds {number}"), "finite numbers expected"));
        }
        let graph = graph(&data, &config)?;
        notes.extend(note_unknown(&data.labels));
        notes.extend(classes::notes(&indices, |node| data.labels[node], &data.class_names));
        let GraphData {
            features,
            feature_names,
            node_names,
            relation_names,
            labels,
            class_names,
            weights,
            ..
        } = data;
        check_weights(&weights, &indices, "node")?;
        let mut features = features.into_data();
        normalize(&mut features, width, config.normalize);
        Ok(Self {
            graph: NodeGraph::Memory { graph, features },
            places: None,
            packed: false,
            width,
            feature_names,
            node_names,
            relation_names,
            labels,
            class_names,
            weights,
            indices,
            config,
            checksum,
            notes,
        })
    }

    /// The features of all nodes, by place, kept sparse where most are zero; none if they are not in memory.
    pub fn features(&self, device: &Device) -> Option<Features> {
        match &self.graph {
            NodeGraph::Memory { features, .. } => {
                Some(Features::new(features.clone(), self.width, device).expect("a row for every node"))
            }
            NodeGraph::Stored(_) => None,
        }
    }

    /// How many nodes.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }

    /// How many relations.
    pub fn relations(&self) -> usize {
        match &self.graph {
            NodeGraph::Memory { graph, .. } => graph.relations(),
            NodeGraph::Stored(stored) => stored.relations(),
        }
    }

    /// The rows of some nodes in edges and features.
    pub fn places(&self, nodes: &[usize]) -> Vec<u32> {
        match &self.places {
            None => nodes.iter().map(|&node| node as u32).collect(),
            Some(places) => nodes.iter().map(|&node| places[node]).collect(),
        }
    }

    /// The names of all nodes; none if they are only counted.
    pub fn names(&self) -> Result<Option<Vec<String>>> {
        if !self.packed {
            return Ok(Some(self.node_names.clone()).filter(|names| !names.is_empty()));
        }
        let names = PackedGraph::open(&self.config.source)?.names()?;
        Ok(names.map(|names| names.collect::<matnet_data::Result<_>>()).transpose()?)
    }

    /// The minimum, mean and maximum degree.
    pub fn degrees(&self) -> (usize, f64, usize) {
        let degree = |node: usize| match &self.graph {
            NodeGraph::Memory { graph, .. } => graph.degree(node),
            NodeGraph::Stored(stored) => stored.neighbor_count(node as u32),
        };
        let degrees = || (0..self.nodes()).map(degree);
        let mean = degrees().sum::<usize>() as f64 / self.nodes() as f64;
        (degrees().min().unwrap_or(0), mean, degrees().max().unwrap_or(0))
    }

    /// The same graph without any class, for predictions.
    pub fn unlabelled(mut self) -> Self {
        self.labels.fill(None);
        self.indices = SplitIndices::default();
        self
    }

    /// The same graph with its classes numbered as a net's are.
    pub(crate) fn with_classes(mut self, classes: &[String]) -> Result<Self> {
        if self.class_names != classes {
            for label in self.labels.iter_mut().flatten() {
                *label = renumber(*label, &self.class_names, classes)?;
            }
            self.class_names = classes.to_vec();
        }
        Ok(self)
    }
}

impl_task_data!(
    NodeData,
    fn take_read_error(&self) -> Option<Error> {
        match &self.graph {
            NodeGraph::Memory { .. } => None,
            NodeGraph::Stored(stored) => stored.take_error(),
        }
    }
);

/// A remark on nodes without a class, if there are any.
fn note_unknown(labels: &[Option<u32>]) -> Option<String> {
    let unknown = labels.iter().filter(|label| label.is_none()).count();
    let (have, they) = if unknown == 1 { ("node has", "it is") } else { ("nodes have", "they are") };
    let note = format!("{unknown} {have} no class; {they} aggregated from, but not trained on");
    (unknown > 0).then_some(note)
}

fn find(config: &GraphDataConfig, cache: &Cache) -> Result<(GraphData, Vec<String>)> {
    let name = &config.source;
    if let Some(edges) = &config.edges {
        for (key, path) in [("data.source", name), ("data.edges", edges)] {
            if !Path::new(path).is_file() {
                return Err(Error::data_key(key, format!("there is no file `{path}`")));
            }
        }
        return graph_of(local::load_graph(edges, name)?, name);
    }
    let options = LoadOptions { seed: config.seed, ..LoadOptions::default() };
    let found = source::open(name, cache, options, &ReadOptions::default())?
        .ok_or_else(|| source::not_found(name))?;
    graph_of(found, name)
}

fn graph_of(found: Dataset, name: &str) -> Result<(GraphData, Vec<String>)> {
    match found.contents {
        Contents::Graph(graph) => Ok((graph, found.notes)),
        _ => Err(source::wrong_contents(name, "graph")),
    }
}

fn graph(data: &GraphData, config: &GraphDataConfig) -> Result<Graph> {
    let directed = config.directed.as_ref();
    if let Some(Directed::Only(names)) = directed
        && let Some(name) = names.iter().find(|name| !data.relation_names.contains(name))
    {
        let known = match &data.relation_names[..] {
            [] => "all edges are of one relation, which has no name".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        return Err(Error::config("data", "directed", format!("no relation is called `{name}`"), known));
    }
    let lists = data.edges_by_relation();
    let edges = lists.iter().enumerate().map(|(relation, list)| {
        let directed = match directed {
            None => data.directed,
            Some(Directed::All(all)) => *all,
            Some(Directed::Only(names)) => names.contains(&data.relation_names[relation]),
        };
        Edges { list, directed }
    });
    let edges: Vec<Edges> = edges.collect();
    Graph::with_relations(data.labels.len(), &edges)
        .map_err(|error| Error::config("data", "source", &config.source, error.to_string()))
}

/// The same graph with its relations numbered as a net's are, by name; unchanged for a net that does not distinguish them.
fn with_relations(mut data: GraphData, names: &[String]) -> Result<GraphData> {
    if names.is_empty() {
        return Ok(data);
    }
    if data.relation_names.is_empty() {
        let what = format!("the net distinguishes relations ({}), this graph names none", names.join(", "));
        return Err(Error::Mismatch(what));
    }
    let place = |name: &String| {
        names.iter().position(|known| known == name).map(|place| place as u32).ok_or_else(|| {
            Error::Mismatch(format!("the net knows no relation `{name}`, only {}", names.join(", ")))
        })
    };
    let places: Vec<u32> = data.relation_names.iter().map(place).collect::<Result<_>>()?;
    data.relations.iter_mut().for_each(|relation| *relation = places[*relation as usize]);
    data.relation_names = names.to_vec();
    Ok(data)
}

/// The graph with its features in the order of these names; unchanged where either of them has none.
fn with_features(mut data: GraphData, names: &[String]) -> Result<GraphData> {
    let Some(columns) = chosen_features(&data.feature_names, names)? else { return Ok(data) };
    let values = select(data.features.data(), data.feature_names.len(), &columns);
    data.features = matnet_data::Array::new([data.labels.len(), names.len()], values)?;
    data.feature_names = names.to_vec();
    Ok(data)
}

fn divide(data: &GraphData, config: &GraphDataConfig, seed: u64) -> Result<(SplitIndices, GraphDataConfig)> {
    let mut config = config.clone();
    let wrong = |error| Error::DataKey { key: "data.split", error };
    let known = data.labels.iter().filter(|label| label.is_some()).count();
    if known == 0 {
        let expected = format!(
            "no node has a class to learn; in a table of nodes their column is called {}, or is the last one and holds words",
            CLASS_COLUMNS.join(", ")
        );
        return Err(Error::config("data", "source", &config.source, expected));
    }
    let rule = config.split.rule.unwrap_or(match data.splits.is_empty() {
        false => GraphSplitRule::Public,
        true => GraphSplitRule::Random,
    });
    config.split.rule = Some(rule);
    let wanted = &mut config.split;
    let name = if wanted.per_seed { format!("split of run {seed}") } else { "split".to_owned() };
    let mut rng = SeededRng::new(config.seed, &name);
    if rule != GraphSplitRule::Public {
        wanted.valid.get_or_insert(Amount::Fraction(0.1));
        wanted.test.get_or_insert(Amount::Fraction(0.2));
    }
    if let Some(index) = wanted.index.filter(|_| rule != GraphSplitRule::Public) {
        let expected = format!("{} comes without a split", config.source);
        return Err(Error::config("data", "split.index", index.to_string(), expected));
    }
    let [valid, test] = [("split.valid", wanted.valid), ("split.test", wanted.test)].map(|(key, amount)| {
        let unit = "labelled node";
        amount.map_or(Ok(0), |amount| amount.count_some(key, known, unit).map_err(at("data")))
    });
    let (valid, test) = (valid?, test?);
    let indices = match rule {
        GraphSplitRule::Public => {
            if data.splits.is_empty() {
                let expected = format!("{} comes without a split; \"random\" draws one", config.source);
                return Err(Error::config("data", "split.rule", "public", expected));
            }
            let index = match wanted.per_seed {
                true => (seed % data.splits.len() as u64) as usize,
                false => wanted.index.unwrap_or(0),
            };
            if index >= data.splits.len() {
                let expected =
                    format!("{} has {} public splits, counted from 0", config.source, data.splits.len());
                return Err(Error::config("data", "split.index", index.to_string(), expected));
            }
            if data.splits.len() > 1 && !wanted.per_seed {
                wanted.index = Some(index);
            }
            let indices = split::public(data, index).map_err(wrong)?;
            let given = [("split.valid", wanted.valid), ("split.test", wanted.test)];
            if let Some((key, Some(amount))) = given.into_iter().find(|(_, amount)| amount.is_some()) {
                let expected =
                    "the split that comes with the graph decides it; leave it out, or choose another rule";
                return Err(Error::config("data", key, amount.to_string(), expected));
            }
            if wanted.per_seed && data.splits.len() == 1 {
                let expected =
                    "the graph comes with one split for all seeds; leave it out, or choose another rule";
                return Err(Error::config("data", "split.per_seed", "true", expected));
            }
            let all = indices.train.iter().chain(&indices.valid).chain(&indices.test);
            if let Some(node) = all.copied().find(|&node| data.labels[node].is_none()) {
                let value = format!("node {node} stands in the split");
                return Err(Error::config("data", "split", value, "but has no class"));
            }
            indices
        }
        GraphSplitRule::Random => split::random_test(&data.labels, valid, test, &mut rng).map_err(wrong)?,
        GraphSplitRule::PerClass => {
            let per_class = *wanted.per_class.get_or_insert(20);
            split::per_class(&data.labels, per_class, valid, test, &mut rng).map_err(wrong)?
        }
    };
    Ok((indices, config))
}

/// Over features, classes, weights, edges and the public split.
fn checksum(data: &GraphData) -> String {
    let mut sha = Sha256::new();
    sha.update(format!("{:?}", data.features.shape()));
    add_numbers(&mut sha, data.features.data());
    sha.update(format!("{:?} {:?} {}", data.labels, data.class_names, data.directed));
    for (from, to) in &data.edges {
        sha.update(from.to_le_bytes());
        sha.update(to.to_le_bytes());
    }
    sha.update(format!("{:?}", data.splits.first()));
    if data.splits.len() > 1 {
        sha.update(format!("{:?}", &data.splits[1..]));
    }
    if !data.relations.is_empty() {
        sha.update(format!("{:?} {:?}", data.relation_names, data.relations));
    }
    if !data.weights.is_empty() {
        sha.update(format!("{:?}", data.weights));
    }
    hex(&sha.finalize())
}

#[cfg(test)]
mod tests {
    use matnet_data::Array;

    use super::*;
    use crate::tasks::graph::GraphSplitConfig;

    fn graph(splits: usize) -> GraphData {
        let split = |test| SplitIndices { train: vec![(test + 1) % 4], valid: vec![], test: vec![test] };
        GraphData {
            features: Array::new([4, 1], vec![0.0; 4]).unwrap(),
            feature_names: Vec::new(),
            node_names: Vec::new(),
            labels: vec![Some(0), Some(1), Some(0), Some(1)],
            class_names: vec!["a".into(), "b".into()],
            weights: Vec::new(),
            edges: vec![(0, 1)],
            relations: Vec::new(),
            relation_names: Vec::new(),
            directed: false,
            splits: (0..splits).map(split).collect(),
        }
    }

    fn config(index: Option<usize>, per_seed: bool) -> GraphDataConfig {
        let split = GraphSplitConfig { index, per_seed, ..GraphSplitConfig::default() };
        GraphDataConfig { split, ..toml::from_str("source = \"mine\"").unwrap() }
    }

    #[test]
    fn one_of_several_public_splits_is_selected() {
        let test = |config: &GraphDataConfig, seed| divide(&graph(3), config, seed).unwrap().0.test[0];
        assert_eq!(test(&config(None, false), 5), 0);
        assert_eq!(test(&config(Some(2), false), 5), 2);
        let per_seed = config(None, true);
        assert_eq!([0, 1, 2, 3].map(|seed| test(&per_seed, seed)), [0, 1, 2, 0]);
        let recorded = divide(&graph(3), &config(None, false), 0).unwrap().1;
        assert_eq!(recorded.split.index, Some(0), "the default is written out");

        let message = |splits, config: &GraphDataConfig| {
            divide(&graph(splits), config, 0).map(drop).unwrap_err().to_string()
        };
        let text = message(3, &config(Some(3), false));
        assert!(text.contains("split.index: 3; mine has 3 public splits, counted from 0"), "{text}");
        let text = message(0, &config(Some(0), false));
        assert!(text.contains("split.index: 0; mine comes without a split"), "{text}");
        let text = config(Some(0), true).check().unwrap_err().to_string();
        assert!(text.contains("split.index: 0; with split.per_seed the seed selects the split"), "{text}");
    }
}
