//! Graphs that are ready to be learnt from: loaded, normalised, divided.

use std::path::Path;

use burn::tensor::Device;
use matnet::ConfigError;
use matnet::graph::{Edges, Features, Graph};
use matnet::random::SeededRng;
use matnet_data::cache::Cache;
use matnet_data::named::{self, Contents, Options};
use matnet_data::{GraphData, Split, catalog, own, split};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::NodeNote;
use crate::config::{Amount, suggestion};
use crate::data::Part;
use crate::sealed::hex;
use crate::{Error, Result, evaluate};

/// Which graph, what is done to it, and how its nodes are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphDataConfig {
    /// A dataset's name (`matnet data list`), or the path of your own graph: an .npz, a folder with edges and nodes, or
    /// the table of nodes that `edges` belongs to.
    pub source: String,
    /// The list of edges, where `source` is a table of nodes.
    #[serde(default)]
    pub edges: Option<String>,
    /// Which relations go one way only: all, none, or those with these names. Default: what the data say, which is none but in an
    /// .npz.
    #[serde(default)]
    pub directed: Option<Directed>,
    /// The seed of the split. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// What is done to the features of a node. Default: nothing.
    #[serde(default)]
    pub normalise: Normalise,
    /// Of more neighbours than this, so many are drawn anew for every training step. Default: all are heard.
    #[serde(default)]
    pub neighbours: Option<usize>,
    /// The probability with which a training step leaves out a neighbour of a node. Default: 0.
    #[serde(default)]
    pub edge_dropout: f64,
    /// The parts.
    #[serde(default)]
    pub split: GraphSplitConfig,
}

/// Which relations go one way only, from the node that hears to the one that is heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "true, false, or a list of names of relations")]
pub enum Directed {
    /// All or none.
    All(bool),
    /// Those with these names.
    Only(Vec<String>),
}

/// What is done to the features of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// Nothing.
    #[default]
    None,
    /// They are divided by the sum of their sizes; a node without any stays as it is.
    Rows,
}

/// How the nodes with a known class are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphSplitConfig {
    /// The rule. Default: public where the graph comes with a split, else random.
    pub rule: Option<GraphSplitRule>,
    /// Nodes that decide when to stop: a number, or a fraction of those with a class. Default: 0.1.
    pub valid: Amount,
    /// Nodes that the result is measured on. Default: 0.2.
    pub test: Amount,
    /// Training nodes of every class, for the rule per-class. Default: 20.
    pub each: Option<usize>,
    /// Whether each seed of a run has its own split. Default: no, all share one.
    pub per_run: bool,
}

impl Default for GraphSplitConfig {
    fn default() -> Self {
        let (valid, test) = (Amount::Share(0.1), Amount::Share(0.2));
        Self { rule: None, valid, test, each: None, per_run: false }
    }
}

/// The rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphSplitRule {
    /// The split that came with the graph.
    Public,
    /// At random.
    Random,
    /// So many training nodes of every class, at random; validation and test from the others.
    PerClass,
}

impl GraphDataConfig {
    /// Everything that can be checked without the data.
    pub fn check(&self) -> Result<()> {
        let wrong = |key: &str, value: String, expected: &str| {
            Err(Error::key("data", ConfigError::new(key, value, expected)))
        };
        self.split.valid.check("split.valid").map_err(|error| Error::key("data", error))?;
        self.split.test.check("split.test").map_err(|error| Error::key("data", error))?;
        if self.neighbours == Some(0) {
            return wrong("neighbours", "0".to_owned(), "must be at least 1; leave it out to hear all");
        }
        if !(0.0..1.0).contains(&self.edge_dropout) {
            let value = self.edge_dropout.to_string();
            return wrong("edge_dropout", value, "must be at least 0 and below 1");
        }
        match (self.split.per_class, self.split.rule) {
            (Some(0), _) => wrong("split.per_class", "0".to_owned(), "must be at least 1"),
            (Some(each), rule) if rule != Some(GraphSplitRule::PerClass) => {
                wrong("split.per_class", each.to_string(), "only the rule per-class uses it")
            }
            _ => Ok(()),
        }
    }
}

/// A graph, the classes of its nodes, and the parts.
#[derive(Clone, Debug)]
pub struct PreparedGraph {
    /// Who hears whom.
    pub graph: Graph,
    /// How many features a node has.
    pub width: usize,
    /// The features of all nodes, normalised, row by row.
    features: Vec<f32>,
    /// A name per node; empty where they are only counted.
    pub node_names: Vec<String>,
    /// A name per relation; empty where there is only one.
    pub relation_names: Vec<String>,
    /// The class of each node, where it is known.
    pub labels: Vec<Option<u32>>,
    /// A name per class.
    pub class_names: Vec<String>,
    /// The parts.
    pub split: Split,
    /// The config, with the defaults that the data decided.
    pub config: GraphDataConfig,
    /// Over everything as it was loaded.
    pub checksum: String,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl PreparedGraph {
    /// Loads and prepares the graph of a config. `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &GraphDataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        let (data, notes) = find(config, cache)?;
        let (split, config) = divide(&data, config, seed)?;
        Self::prepared(data, split, config, notes)
    }

    /// Another graph, by name or path, for a trained net, its list of edges apart if it is a table of nodes; all nodes with a
    /// class are the test part. `config` is that of the run, `note` that of the weights.
    pub fn load_whole(
        source: &str,
        edges: Option<&str>,
        config: &GraphDataConfig,
        note: &NodeNote,
        cache: &Cache,
    ) -> Result<Self> {
        let config = GraphDataConfig {
            source: source.to_owned(),
            edges: edges.map(str::to_owned),
            normalise: note.normalise,
            ..config.clone()
        };
        let (data, notes) = find(&config, cache).map_err(|error| match error {
            // What is wrong is not the run's config.
            Error::Config(what) => Error::Config(what.trim_start_matches("data.source: ").to_owned()),
            other => other,
        })?;
        let data = with_relations(data, &note.relations)?;
        let test = (0..data.labels.len()).filter(|&node| data.labels[node].is_some()).collect();
        Self::prepared(data, Split { test, ..Split::default() }, config, notes)
    }

    fn prepared(
        data: GraphData,
        split: Split,
        config: GraphDataConfig,
        mut notes: Vec<String>,
    ) -> Result<Self> {
        let checksum = checksum(&data);
        let width = data.features.shape()[1];
        let wrong = |what: String| Error::Config(format!("data.source: {}: {what}", config.source));
        if width == 0 {
            return Err(wrong("nodes have no features; at least one expected".to_owned()));
        }
        if let Some(at) = data.features.data().iter().position(|x| !x.is_finite()) {
            let (node, number) = (at / width, data.features.data()[at]);
            return Err(wrong(format!("node {node} holds {number}; finite numbers expected")));
        }
        let graph = graph(&data, config.directed.as_ref(), &wrong)?;
        let unknown = data.labels.iter().filter(|label| label.is_none()).count();
        if unknown > 0 {
            notes.push(format!("{unknown} nodes without a class; they are heard, but not learnt from"));
        }
        let GraphData { features, node_names, relation_names, labels, class_names, .. } = data;
        let mut features = features.into_data();
        if config.normalise == Normalise::Rows {
            for row in features.chunks_mut(width) {
                let sum: f32 = row.iter().map(|x| x.abs()).sum();
                if sum > 0.0 {
                    row.iter_mut().for_each(|x| *x /= sum);
                }
            }
        }
        Ok(Self {
            graph,
            width,
            features,
            node_names,
            relation_names,
            labels,
            class_names,
            split,
            config,
            checksum,
            notes,
        })
    }

    /// The features of all nodes, kept sparse where most are zero.
    pub fn features(&self, device: &Device) -> Features {
        Features::new(self.features.clone(), self.width, device).expect("a row for every node")
    }

    /// The nodes of a part.
    pub fn part(&self, part: Part) -> &[usize] {
        match part {
            Part::Train => &self.split.train,
            Part::Valid => &self.split.valid,
            Part::Test => &self.split.test,
        }
    }

    /// The smallest, mean and largest number of neighbours.
    pub fn degrees(&self) -> (usize, f64, usize) {
        let degrees = || (0..self.graph.nodes()).map(|node| self.graph.degree(node));
        let mean = degrees().sum::<usize>() as f64 / self.graph.nodes() as f64;
        (degrees().min().unwrap_or(0), mean, degrees().max().unwrap_or(0))
    }

    /// The same graph with no class known, for a net that is to say them all.
    pub fn unlabelled(mut self) -> Self {
        self.labels.fill(None);
        self.split = Split::default();
        self
    }

    /// The same graph with its classes numbered as a net's are.
    pub(crate) fn with_classes(mut self, classes: &[String]) -> Result<Self> {
        if self.class_names != classes {
            for label in self.labels.iter_mut().flatten() {
                *label = evaluate::renumbered(*label, &self.class_names, classes)?;
            }
            self.class_names = classes.to_vec();
        }
        Ok(self)
    }
}

/// By name, or else by path.
fn find(config: &GraphDataConfig, cache: &Cache) -> Result<(GraphData, Vec<String>)> {
    let source = &config.source;
    if let Some(edges) = &config.edges {
        for (key, path) in [("source", source), ("edges", edges)] {
            if !Path::new(path).is_file() {
                return Err(Error::Config(format!("data.{key}: `{path}`: there is no such file")));
            }
        }
        return Ok((own::load_graph(edges, source)?, Vec::new()));
    }
    let (contents, notes) = if catalog::get(source).is_ok() {
        let named = named::load(source, cache, Options { seed: config.seed, ..Options::default() })?;
        (named.contents, named.notes)
    } else if Path::new(source).exists() {
        match own::load(source)? {
            own::Loaded::Graph(graph) => (Contents::Graph(graph), Vec::new()),
            own::Loaded::Samples(samples) => (Contents::Samples(samples), Vec::new()),
        }
    } else {
        let names: Vec<String> = catalog::all().iter().map(|dataset| dataset.name.to_owned()).collect();
        let hint = suggestion(source, &names);
        let what = format!("data.source: `{source}` is neither a dataset nor a file; {hint}");
        return Err(Error::Config(what));
    };
    match contents {
        Contents::Graph(graph) => Ok((graph, notes)),
        _ => Err(Error::Config(format!(
            "data.source: `{source}` holds no graph, which is what this net takes"
        ))),
    }
}

/// Who hears whom.
fn graph(data: &GraphData, directed: Option<&Directed>, wrong: &impl Fn(String) -> Error) -> Result<Graph> {
    if let Some(Directed::Only(names)) = directed
        && let Some(name) = names.iter().find(|name| !data.relation_names.contains(name))
    {
        let there = match &data.relation_names[..] {
            [] => "the edges are all of one, which has no name".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        return Err(Error::Config(format!("data.directed: no relation is called `{name}`; {there}")));
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
    Graph::with_relations(data.labels.len(), &edges).map_err(|error| wrong(error.to_string()))
}

/// The same graph with its relations numbered as a net's are, by name; left as it is for a net that does not tell them apart.
fn with_relations(mut data: GraphData, names: &[String]) -> Result<GraphData> {
    if names.is_empty() {
        return Ok(data);
    }
    if data.relation_names.is_empty() {
        let what = format!("the net tells relations apart ({}), this graph names none", names.join(", "));
        return Err(Error::Run(what));
    }
    let place = |name: &String| {
        names.iter().position(|known| known == name).map(|place| place as u32).ok_or_else(|| {
            let what = format!("the net knows no relation `{name}`, only {}", names.join(", "));
            Error::Run(what)
        })
    };
    let places: Vec<u32> = data.relation_names.iter().map(place).collect::<Result<_>>()?;
    data.relations.iter_mut().for_each(|relation| *relation = places[*relation as usize]);
    data.relation_names = names.to_vec();
    Ok(data)
}

fn divide(data: &GraphData, config: &GraphDataConfig, seed: u64) -> Result<(Split, GraphDataConfig)> {
    let mut config = config.clone();
    let wrong = |error: matnet_data::Error| Error::Config(format!("data.split: {error}"));
    let known = data.labels.iter().filter(|label| label.is_some()).count();
    if known == 0 {
        let what = format!("data.source: {}: no node has a class to learn", config.source);
        return Err(Error::Config(what));
    }
    let rule = config.split.rule.unwrap_or(match data.split {
        Some(_) => GraphSplitRule::Public,
        None => GraphSplitRule::Random,
    });
    config.split.rule = Some(rule);
    let wanted = &mut config.split;
    let name = if wanted.per_run { format!("split of run {seed}") } else { "split".to_owned() };
    let mut rng = SeededRng::new(config.seed, &name);
    let (valid, test) = (wanted.valid.count(known), wanted.test.count(known));
    let split = match rule {
        GraphSplitRule::Public => {
            let split = split::public(data).map_err(|_| {
                let what = format!(
                    "data.split.rule: public; {} comes without a split of its own, \"random\" draws one",
                    config.source
                );
                Error::Config(what)
            })?;
            let parts = split.train.iter().chain(&split.valid).chain(&split.test);
            if let Some(node) = parts.copied().find(|&node| data.labels[node].is_none()) {
                let what = format!("data.split: node {node} stands in the split but has no class");
                return Err(Error::Config(what));
            }
            split
        }
        GraphSplitRule::Random => {
            split::random_test(&data.labels, valid, test, &mut rng).map_err(wrong)?
        }
        GraphSplitRule::PerClass => {
            let each = *wanted.each.get_or_insert(20);
            split::per_class(&data.labels, each, valid, test, &mut rng).map_err(wrong)?
        }
    };
    Ok((split, config))
}

/// Over features, classes, edges and the public split.
fn checksum(data: &GraphData) -> String {
    let mut sha = Sha256::new();
    sha.update(format!("{:?}", data.features.shape()));
    for chunk in data.features.data().chunks(1 << 14) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|x| x.to_le_bytes()).collect();
        sha.update(&bytes);
    }
    sha.update(format!("{:?} {:?} {}", data.labels, data.class_names, data.directed));
    for (from, to) in &data.edges {
        sha.update(from.to_le_bytes());
        sha.update(to.to_le_bytes());
    }
    sha.update(format!("{:?}", data.split));
    if !data.relations.is_empty() {
        sha.update(format!("{:?} {:?}", data.relation_names, data.relations));
    }
    hex(&sha.finalize())
}
