//! Packed graphs: in memory, or in their folder if they would not fit.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::Device;
use matnet::graph::{BatchLimit, Features, Graph, GraphError, GraphStore, Sparse};
use matnet_data::pack::PackedGraph;
use matnet_data::{Array, GraphData};

use super::NormalizeFeatures;
use crate::ranks::Ranks;
use crate::tasks::source::{self, Place};
use crate::{Error, Result};

/// Bytes that a batch may take, roughly: a fixed number, so that the same batches are made on every machine.
const BATCH_BYTES: u64 = 1 << 30;
/// Numbers that a node of a batch takes beside its features, and the bytes of an edge, both roughly.
const STATES: u64 = 64;
const EDGE_BYTES: u64 = 32;

/// How large a batch of a packed graph may become, whose nodes have so many features.
pub(super) fn limit(features: usize) -> BatchLimit {
    let node = 4 * (features as u64 + STATES);
    BatchLimit { inputs: (BATCH_BYTES / node) as usize, entries: (BATCH_BYTES / EDGE_BYTES) as usize }
}

/// A graph that stays in its folder.
#[derive(Debug)]
pub struct StoredGraph {
    graph: PackedGraph,
    normalize: NormalizeFeatures,
    /// For each relation of the net, the one of the graph, if it has it.
    relations: Vec<Option<usize>>,
    columns: Columns,
    /// The first read that failed.
    failed: Mutex<Option<matnet_data::Error>>,
}

/// Edges and features.
#[derive(Clone, Debug)]
pub enum NodeGraph {
    /// In memory.
    Memory {
        /// The edges.
        graph: Graph,
        /// The features of all nodes, normalized, row by row.
        features: Vec<f32>,
    },
    /// In the folder of a packed graph that would not fit.
    Stored(Arc<StoredGraph>),
}

impl NodeGraph {
    /// Whether every edge goes both ways.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Memory { graph, .. } => graph.is_symmetric(),
            Self::Stored(stored) => stored.is_symmetric(),
        }
    }
}

/// What a packed graph says of its nodes, without edges and features; and both.
pub(super) struct Opened {
    /// Classes, split and relations.
    pub data: GraphData,
    pub graph: NodeGraph,
    /// The row of each node, unless nodes stand in the order of the source.
    pub places: Option<Arc<[u32]>>,
    pub checksum: String,
    pub width: usize,
}

/// The columns of a packed graph that are the features of a net, in its order.
#[derive(Debug)]
struct Columns {
    /// `None` where they are all columns as they stand.
    chosen: Option<Vec<usize>>,
    /// How many columns are chosen, and how many of their numbers are not zero.
    width: usize,
    nonzero: u64,
}

impl Columns {
    fn new(packed: &PackedGraph, chosen: Option<Vec<usize>>) -> Result<Self> {
        let header = packed.header();
        let width = chosen.as_ref().map_or(header.features, Vec::len);
        let nonzero = match &chosen {
            Some(columns) if width < header.features => packed.nonzero(columns)?,
            _ => header.nonzero,
        };
        Ok(Self { chosen, width, nonzero })
    }

    /// The chosen columns of rows.
    fn of(&self, rows: Vec<f32>, all: usize) -> Vec<f32> {
        match &self.chosen {
            None => rows,
            Some(chosen) => select(&rows, all, chosen),
        }
    }
}

/// Opens the packed graph at a path; `None` if there is none. A net that knows relations names them, and one that was trained on features with
/// names names these.
pub(super) fn open(
    path: &str,
    normalized: NormalizeFeatures,
    [relations, features]: [&[String]; 2],
    ranks: &Ranks,
) -> Result<Option<Opened>> {
    if !PackedGraph::is_packed(Path::new(path)) {
        return Ok(None);
    }
    let packed = PackedGraph::open(path)?;
    let header = packed.header().clone();
    let names: Vec<String> = match &header.relations[..] {
        [one] if one.name.is_empty() => Vec::new(),
        several => several.iter().map(|relation| relation.name.clone()).collect(),
    };
    let chosen = chosen_relations(&names, relations)?;
    let relation_names = if relations.is_empty() { names } else { relations.to_vec() };
    let own = packed.feature_names()?;
    let columns = Columns::new(&packed, chosen_features(&own, features)?)?;
    let data = GraphData {
        features: Array::new([header.nodes, 0], Vec::new())?,
        feature_names: if columns.chosen.is_some() { features.to_vec() } else { own },
        node_names: Vec::new(),
        labels: packed.labels()?,
        class_names: header.classes.clone(),
        weights: Vec::new(),
        edges: Vec::new(),
        relations: Vec::new(),
        relation_names,
        directed: !packed.is_symmetric(),
        splits: packed.split()?.into_iter().collect(),
    };
    let places = packed.places()?.map(Arc::from);
    let width = columns.width;
    let graph = match source::place(packed.bytes_in_memory(), ranks)? {
        Place::Memory => in_memory(&packed, normalized, &chosen, &columns)?,
        Place::Shared | Place::File => {
            let failed = Mutex::default();
            let stored =
                StoredGraph { graph: packed, normalize: normalized, relations: chosen, columns, failed };
            NodeGraph::Stored(Arc::new(stored))
        }
    };
    let checksum = header.checksum().to_owned();
    Ok(Some(Opened { data, graph, places, checksum, width }))
}

/// For each relation that a net knows by name, the one of the graph; all of the graph's if the net knows none.
fn chosen_relations(names: &[String], wanted: &[String]) -> Result<Vec<Option<usize>>> {
    if wanted.is_empty() {
        return Ok((0..names.len().max(1)).map(Some).collect());
    }
    if names.is_empty() {
        let what = format!("the net distinguishes relations ({}), this graph names none", wanted.join(", "));
        return Err(Error::Mismatch(what));
    }
    if let Some(name) = names.iter().find(|name| !wanted.contains(name)) {
        let known = wanted.join(", ");
        return Err(Error::Mismatch(format!("the net knows no relation `{name}`, only {known}")));
    }
    Ok(wanted.iter().map(|name| names.iter().position(|known| known == name)).collect())
}

fn in_memory(
    packed: &PackedGraph,
    normalized: NormalizeFeatures,
    relations: &[Option<usize>],
    columns: &Columns,
) -> Result<NodeGraph> {
    let nodes = packed.header().nodes;
    let wrong = |error: GraphError| Error::Mismatch(format!("{}: {error}", packed.folder().display()));
    let matrix = |relation: &Option<usize>| -> Result<Sparse> {
        let (offsets, columns) = match relation {
            Some(relation) => packed.adjacency(*relation)?,
            None => (vec![0; nodes + 1], Vec::new()),
        };
        Sparse::new(nodes, offsets, columns, None).map_err(wrong)
    };
    let matrices = relations.iter().map(matrix).collect::<Result<Vec<_>>>()?;
    let graph = Graph::from_adjacency(matrices, packed.is_symmetric()).map_err(wrong)?;
    let features = packed.all_features()?;
    let width = packed.header().features;
    if let Some(at) = features.data().iter().position(|x| !x.is_finite()) {
        let what = format!("features.npy: row {} holds {}; it is damaged", at / width, features.data()[at]);
        return Err(Error::Mismatch(format!("{}: {what}", packed.folder().display())));
    }
    let mut features = columns.of(features.into_data(), width);
    normalize(&mut features, columns.width, normalized);
    Ok(NodeGraph::Memory { graph, features })
}

/// The places of the features that a net knows by name; `None` if they are all of the graph's in their order, or where either has no names.
pub(super) fn chosen_features(own: &[String], wanted: &[String]) -> Result<Option<Vec<usize>>> {
    if wanted.is_empty() || own.is_empty() || own == wanted {
        return Ok(None);
    }
    let place = |name: &String| {
        let mut places = (0..own.len()).filter(|&at| own[at] == *name);
        let first = places.next();
        if first.is_some() && places.next().is_some() {
            let what = format!("several features of the nodes are called `{name}`; one expected");
            return Err(Error::Mismatch(what));
        }
        first.ok_or_else(|| {
            let some = own.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if own.len() > 12 { ", …" } else { "" };
            Error::Mismatch(format!("the nodes have no feature `{name}`, only {some}{more}"))
        })
    };
    wanted.iter().map(place).collect::<Result<_>>().map(Some)
}

/// Some columns of rows of `width` features.
pub(super) fn select(rows: &[f32], width: usize, columns: &[usize]) -> Vec<f32> {
    rows.chunks_exact(width).flat_map(|row| columns.iter().map(|&column| row[column])).collect()
}

/// Normalizes rows of features.
pub(super) fn normalize(features: &mut [f32], width: usize, how: NormalizeFeatures) {
    if how == NormalizeFeatures::Rows {
        for row in features.chunks_mut(width) {
            let sum: f32 = row.iter().map(|x| x.abs()).sum();
            if sum > 0.0 {
                row.iter_mut().for_each(|x| *x /= sum);
            }
        }
    }
}

impl StoredGraph {
    /// The features of the nodes at these places, as those of a graph in memory would be selected.
    pub(super) fn features(&self, places: &[u32], device: &Device) -> Result<Features, GraphError> {
        let header = self.graph.header();
        let mut numbers = Vec::with_capacity(places.len() * header.features);
        self.graph.features(places, &mut numbers).map_err(|error| self.keep(error))?;
        let Columns { width, nonzero, .. } = self.columns;
        let mut numbers = self.columns.of(numbers, header.features);
        normalize(&mut numbers, width, self.normalize);
        let all = header.nodes as u64 * width as u64;
        Features::of_whole(numbers, width, [nonzero, all], device)
    }

    /// The names of the nodes, one after another; `None` if they have none.
    pub(super) fn names(&self) -> Result<Option<impl Iterator<Item = matnet_data::Result<String>> + use<>>> {
        Ok(self.graph.names()?)
    }

    /// How many neighbours a node has, over all relations.
    pub(super) fn neighbor_count(&self, place: u32) -> usize {
        self.relations.iter().flatten().map(|&relation| self.graph.row_length(relation, place)).sum()
    }

    /// Keeps an error for [`take_error`](Self::take_error); gives it in the form of the sampler.
    pub(super) fn keep(&self, error: matnet_data::Error) -> GraphError {
        let said = GraphError::Read(error.to_string());
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        said
    }

    /// The first read that failed since this was asked.
    pub(super) fn take_error(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map(Error::from)
    }
}

impl GraphStore for StoredGraph {
    fn nodes(&self) -> usize {
        self.graph.header().nodes
    }

    fn relations(&self) -> usize {
        self.relations.len()
    }

    fn is_symmetric(&self) -> bool {
        self.graph.is_symmetric()
    }

    fn neighbors(&self, relation: usize, node: u32, into: &mut Vec<u32>) -> Result<(), GraphError> {
        match self.relations[relation] {
            Some(relation) => self.graph.neighbors(relation, node, into).map_err(|error| self.keep(error)),
            None => Ok(()),
        }
    }

    fn degree(&self, node: u32) -> usize {
        self.graph.degree(node)
    }

    fn has_loop(&self, node: u32) -> bool {
        self.graph.has_loop(node)
    }
}
