//! Packing: from edges in any order and features to the files of a packed graph.
//!
//! Everything is written to a hidden folder beside the place of the result, which gets its name at the end. What a killed process left there
//! is removed by the next one.

use std::fs;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::array::{ArrayFile, ArrayWriter, sha256, write_all};
use super::edges::{Directed, EdgeFiles, NodeNames, each_edge};
use super::header::{PackHeader, PackedFile, PackedRelation};
use super::names::{DEGREES, FEATURES, LABELS, LOOPS, NAMES, ORDER, SPLIT, neighbors_name, offsets_name};
use super::nodes::{NodeFacts, each_node};
use super::order::{self, NodeOrder, reverse_cuthill_mckee};
use super::rows::{FeatureRows, RowWriter};
use super::sort::Sorter;
use super::work::{LOCK, SCRATCH, Work};
use crate::format::npz::Npz;
use crate::format::{archive, npy};
use crate::local::{self, folder, labels, leftovers};
use crate::{Error, GraphData, Result, SplitIndices, faults, files};

/// Rows between two calls of the progress function.
const BETWEEN: u64 = 1 << 16;

/// How a graph is packed.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// The bytes of edges that are sorted at once. More memory is taken by names and classes of nodes, and by the order: about 30 bytes per
    /// node.
    pub memory: u64,
    /// The order of the nodes in the files.
    pub order: NodeOrder,
    /// Which relations are directed.
    pub directed: Directed,
    /// Whether an existing packed graph is replaced.
    pub replace: bool,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self { memory: 512 << 20, order: NodeOrder::Natural, directed: Directed::AsStored, replace: false }
    }
}

/// How far packing has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackProgress {
    /// Nodes whose features were written.
    Nodes(u64),
    /// Edges that were read.
    Edges(u64),
    /// Entries of adjacency matrices that were sorted and written.
    Entries(u64),
    /// The order of the nodes is being found.
    Ordering,
    /// Bytes whose checksum was computed.
    Checksums(u64),
    /// A remark on what is left out.
    Note(String),
}

/// A graph to pack.
#[derive(Clone, Debug)]
pub enum PackSource {
    /// In memory.
    Memory(Box<GraphData>),
    /// An `.npz` with `features`, `edges` and perhaps other arrays, as [`local`](crate::local) reads it.
    Npz(PathBuf),
    /// A file of edges, a file of nodes, and perhaps a folder that has more arrays: `labels.npy`, `relations.npy`, `train.npy`,
    /// `valid.npy`, `test.npy`.
    Files {
        /// The edges: `.npy` `[m, 2]` or `[2, m]`, text, Parquet or Arrow.
        edges: PathBuf,
        /// The nodes: `.npy` `[nodes, features]`, or a table with a name per node, features and perhaps a class.
        nodes: PathBuf,
        /// Where the other arrays are.
        beside: Option<PathBuf>,
    },
}

impl PackSource {
    /// The graph at a path: an `.npz`, a folder with edges and nodes, or the nodes that belong to a file of edges.
    pub fn find(path: &Path, edges: Option<&Path>) -> Result<Self> {
        for path in [Some(path), edges].into_iter().flatten() {
            if !path.exists() {
                return Err(Error::Missing(format!("{}: there is no such file or folder", path.display())));
            }
        }
        if let Some(edges) = edges {
            return Ok(Self::Files { edges: edges.to_owned(), nodes: path.to_owned(), beside: None });
        }
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npz")) {
            return Ok(Self::Npz(path.to_owned()));
        }
        if path.is_dir() {
            let (files, _) = folder::list(path)?;
            if let Some((edges, nodes)) = local::graph_files(&files) {
                let beside = Some(path.to_owned());
                return Ok(Self::Files { edges: edges.clone(), nodes: nodes.clone(), beside });
            }
        }
        let what = "holds no graph; an .npz, a folder with edges.* and nodes.* or features.npy, or a file of nodes with --edges expected";
        Err(Error::format(path, what))
    }
}

type Progress<'a> = &'a mut dyn FnMut(PackProgress) -> ControlFlow<()>;

/// Packs a graph into a folder, which gets its name when all is done. Edges may be larger than memory. Returns what was packed.
pub fn pack(source: PackSource, out: &Path, options: &PackOptions, progress: Progress) -> Result<PackHeader> {
    let name = out.file_name().ok_or_else(|| Error::format(out, "the name of a folder expected"))?;
    let parent = out.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let unfinished = parent.join(format!(".unfinished-{}", name.to_string_lossy()));
    Work::restore(&unfinished, out)?;
    if out.exists() && !(options.replace && super::PackedGraph::is_packed(out)) {
        let what = match super::PackedGraph::is_packed(out) {
            true => "is a packed graph already; --force replaces it",
            false => "exists already; choose another name",
        };
        return Err(Error::format(out, what));
    }
    let work = Work::begin(unfinished, out)?;
    let mut packer = Packer { work: &work.folder, options, progress, header: PackHeader::new(options.order) };
    packer.run(source)?;
    let header = packer.header.write(&work.folder)?;
    work.finish(out)?;
    Ok(header)
}

struct Packer<'a> {
    work: &'a Path,
    options: &'a PackOptions,
    progress: Progress<'a>,
    header: PackHeader,
}

impl Packer<'_> {
    fn run(&mut self, source: PackSource) -> Result<()> {
        let natural = self.options.order == NodeOrder::Natural;
        let stage = if natural { self.work.to_owned() } else { self.work.join(SCRATCH) };
        let sorter = Sorter::new(&self.work.join(SCRATCH), self.options.memory)?;
        let (facts, split) = match source {
            PackSource::Memory(data) => self.memory(*data, &stage, sorter)?,
            PackSource::Npz(path) => {
                let (files, extra) = self.unpacked(&path)?;
                self.files(files, extra, &stage, sorter)?
            }
            PackSource::Files { edges, nodes, beside } => {
                let mut extra = Npz::new(beside.as_deref().unwrap_or(Path::new("")));
                let there = |key: &str| {
                    beside
                        .as_ref()
                        .map(|folder| folder.join(format!("{key}.npy")))
                        .filter(|path| path.is_file())
                };
                for key in ["train", "valid", "test"] {
                    if let Some(path) = there(key) {
                        extra.insert(key, npy::read(path)?);
                    }
                }
                let files = SourceFiles {
                    edges: EdgeFiles { edges, relations: there("relations") },
                    nodes,
                    labels: there("labels"),
                    directed: false,
                };
                self.files(files, extra, &stage, sorter)?
            }
        };
        if !natural {
            self.reorder(&stage)?;
        }
        self.degrees()?;
        self.nodes(&facts, split)?;
        self.checksums()
    }

    fn tell(&mut self, progress: PackProgress) -> Result<()> {
        match (self.progress)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    fn memory(
        &mut self,
        data: GraphData,
        stage: &Path,
        mut sorter: Sorter,
    ) -> Result<(NodeFacts, Option<SplitIndices>)> {
        let GraphData { features, node_names, labels, class_names, edges, relations, relation_names, .. } =
            &data;
        let nodes = labels.len();
        let names = match node_names.is_empty() {
            true => NodeNames::Count(nodes),
            false => {
                let mut names = crate::format::edgelist::Names::default();
                for name in node_names {
                    names.push(name.as_bytes(), Path::new("the nodes"))?;
                }
                NodeNames::Names(names)
            }
        };
        let width = features.shape().get(1).copied().unwrap_or(0);
        let mut rows = FeatureRows::create(stage)?;
        for row in features.data().chunks_exact(width.max(1)) {
            rows.push(row)?;
        }
        self.features(rows)?;
        self.relations(relation_names, data.directed)?;
        for (at, &(from, to)) in edges.iter().enumerate() {
            let relation = relations.get(at).copied().unwrap_or(0);
            for node in [from, to] {
                if node as usize >= nodes {
                    return Err(Error::Invalid(format!(
                        "edge {at} names node {node}, where there are {nodes}"
                    )));
                }
            }
            self.add(&mut sorter, relation, from, to)?;
        }
        self.rows(sorter, stage)?;
        let facts = NodeFacts { names, labels: labels.clone(), class_names: class_names.clone() };
        Ok((facts, data.splits.into_iter().next()))
    }

    /// The arrays of an `.npz`, each in a file of its own.
    fn unpacked(&mut self, path: &Path) -> Result<(SourceFiles, Npz)> {
        let folder = self.work.join(SCRATCH).join("unpacked");
        faults::file().and_then(|()| fs::create_dir(&folder)).map_err(|error| Error::io(&folder, error))?;
        let (mut found, mut extra, mut directed) = (Vec::new(), Npz::new(path), false);
        let mut unused = Vec::new();
        archive::each(path, &mut |mut entry| {
            let Some(key) = entry.name.strip_suffix(".npy") else { return Ok(()) };
            match key {
                "features" | "edges" | "labels" | "relations" => {
                    let to = folder.join(&entry.name);
                    let failed = |error| Error::io(&to, error);
                    let mut out = BufWriter::new(files::create(&to)?);
                    let mut block = vec![0; 1 << 16];
                    loop {
                        let from = |error| Error::io(path, error);
                        match std::io::Read::read(&mut entry.input, &mut block).map_err(from)? {
                            0 => break,
                            count => write_all(&mut out, &block[..count]).map_err(failed)?,
                        }
                    }
                    out.into_inner().map_err(|error| failed(error.into_error()))?;
                    found.push(key.to_owned());
                }
                "train" | "valid" | "test" => extra.insert(key, npy::parse(entry.input)?),
                "directed" => {
                    let name = path.join("directed");
                    directed = match &npy::parse(entry.input)?.integers(&name)?[..] {
                        [one] if (0..=1).contains(one) => *one == 1,
                        _ => return Err(Error::format(name, "one boolean expected")),
                    };
                }
                "weight" => {
                    let what = "a packed graph has no weights of nodes; leave it out";
                    return Err(Error::format(path.join("weight"), what));
                }
                "classes" => {
                    let what = "a packed graph has the names of its classes in labels; leave it out";
                    return Err(Error::format(path.join("classes"), what));
                }
                other => unused.push(other.to_owned()),
            }
            Ok(())
        })?;
        if let Some(note) = leftovers::graph(unused.iter().map(String::as_str), path)? {
            self.tell(PackProgress::Note(note))?;
        }
        let member =
            |key: &str| found.iter().any(|name| name == key).then(|| folder.join(format!("{key}.npy")));
        let needed = |key: &str| member(key).ok_or_else(|| Error::format(path, format!("no array {key:?}")));
        let edges = EdgeFiles { edges: needed("edges")?, relations: member("relations") };
        Ok((SourceFiles { edges, nodes: needed("features")?, labels: member("labels"), directed }, extra))
    }

    fn files(
        &mut self,
        files: SourceFiles,
        mut extra: Npz,
        stage: &Path,
        mut sorter: Sorter,
    ) -> Result<(NodeFacts, Option<SplitIndices>)> {
        let mut rows = FeatureRows::create(stage)?;
        let facts = each_node(&files.nodes, files.labels.as_ref(), &mut |row| {
            if rows.nodes.is_multiple_of(BETWEEN) {
                self.tell(PackProgress::Nodes(rows.nodes))?;
            }
            rows.push(row).map_err(|error| match error {
                Error::Invalid(what) => Error::format(&files.nodes, what),
                other => other,
            })
        })?;
        self.features(rows)?;
        if facts.names.len() == 0 {
            return Err(Error::format(&files.nodes, "holds no node"));
        }
        let names = each_edge(&files.edges, &facts.names, &mut |from, to, relation, names| {
            if names.len() > self.header.relations.len() {
                self.relations(names, files.directed)?;
            }
            if self.header.relations.is_empty() {
                self.relations(&[], files.directed)?;
            }
            self.add(&mut sorter, relation.unwrap_or(0), from, to)
        })?;
        if self.header.relations.is_empty() {
            self.relations(&names, files.directed)?;
        }
        if let Directed::Only(wanted) = &self.options.directed
            && let Some(name) = wanted.iter().find(|name| !names.contains(name))
        {
            let known = if names.is_empty() { "edges are of one kind".to_owned() } else { names.join(", ") };
            return Err(Error::Invalid(format!("no relation is called `{name}`; there are: {known}")));
        }
        self.rows(sorter, stage)?;
        let path = extra.path().to_owned();
        let split = labels::split(&mut extra, &path, facts.names.len(), "node")?;
        Ok((facts, split))
    }

    /// Counts and sizes of features that were written.
    fn features(&mut self, rows: FeatureRows) -> Result<()> {
        let FeatureRows { nodes, width, nonzero, writer, .. } = rows;
        (self.header.nodes, self.header.features) = (nodes as usize, width);
        self.header.nonzero = nonzero;
        if nodes > u64::from(u32::MAX - 1) {
            return Err(Error::Invalid(format!("{nodes} nodes; fewer than 2^32 expected")));
        }
        writer.map_or(Ok(()), ArrayWriter::finish)
    }

    /// Relations that were not there before; one without a name if there are none.
    fn relations(&mut self, names: &[String], stored: bool) -> Result<()> {
        let unnamed = [String::new()];
        let names = if names.is_empty() { &unnamed[..] } else { names };
        for name in &names[self.header.relations.len()..] {
            let directed = self.options.directed.is(name, stored);
            self.header.relations.push(PackedRelation {
                name: name.clone(),
                directed,
                entries: 0,
                longest_row: 0,
            });
        }
        Ok(())
    }

    /// Adds an edge, and the one back if it has no direction.
    fn add(&mut self, sorter: &mut Sorter, relation: u32, from: u32, to: u32) -> Result<()> {
        if self.header.edges.is_multiple_of(BETWEEN) {
            self.tell(PackProgress::Edges(self.header.edges))?;
        }
        self.header.edges += 1;
        sorter.push([relation, from, to])?;
        if !self.header.relations[relation as usize].directed && from != to {
            sorter.push([relation, to, from])?;
        }
        Ok(())
    }

    /// Writes offsets and neighbours of all relations, which stand in the order in which they occurred.
    fn rows(&mut self, sorter: Sorter, stage: &Path) -> Result<()> {
        let count = self.header.relations.len();
        let mut writers = Vec::new();
        for number in 0..count {
            writers.push(RowWriter::create(stage, number)?);
        }
        let (mut loops, mut done) = (Vec::new(), 0);
        sorter.finish(&mut |[relation, from, to]| {
            if from == to {
                loops.push(from);
            }
            done += 1;
            if done % BETWEEN == 0 {
                self.tell(PackProgress::Entries(done))?;
            }
            writers[relation as usize].push(from, to)
        })?;
        for (writer, relation) in writers.into_iter().zip(&mut self.header.relations) {
            (relation.entries, relation.longest_row) = writer.finish(self.header.nodes)?;
        }
        loops.sort_unstable();
        loops.dedup();
        self.header.loops = loops.len();
        self.list(stage, LOOPS, &loops)?;
        self.sort_relations(stage)
    }

    /// Numbers the relations by their names, as a graph in memory does.
    fn sort_relations(&mut self, stage: &Path) -> Result<()> {
        let before = std::mem::take(&mut self.header.relations);
        let known = before.iter().map(|relation| relation.name.clone()).zip(0..).collect();
        let mut places: Vec<Option<u32>> = (0..before.len() as u32).map(Some).collect();
        crate::format::edgelist::sort_classes(known, &mut places);
        let mut sorted: Vec<(u32, PackedRelation)> = places.into_iter().flatten().zip(before).collect();
        for (old, (new, _)) in sorted.iter().enumerate() {
            for name in [offsets_name, neighbors_name] {
                files::rename(&stage.join(name(old)), &stage.join(format!("moved-{}", name(*new as usize))))?;
            }
        }
        sorted.sort_by_key(|(new, _)| *new);
        self.header.relations = sorted.into_iter().map(|(_, relation)| relation).collect();
        for number in 0..self.header.relations.len() {
            for name in [offsets_name, neighbors_name] {
                let name = name(number);
                files::rename(&stage.join(format!("moved-{name}")), &stage.join(name))?;
            }
        }
        Ok(())
    }

    /// Writes a list.
    fn list(&self, folder: &Path, name: &str, numbers: &[u32]) -> Result<()> {
        let mut writer = ArrayWriter::<u32>::create(folder.join(name), None)?;
        writer.extend(numbers)?;
        writer.finish()
    }

    /// Finds another order of the nodes, and writes rows and features in it.
    fn reorder(&mut self, stage: &Path) -> Result<()> {
        self.tell(PackProgress::Ordering)?;
        let (nodes, width) = (self.header.nodes, self.header.features);
        let mut rows = Vec::new();
        for (number, relation) in self.header.relations.iter().enumerate() {
            let offsets = ArrayFile::open::<i64>(stage.join(offsets_name(number)), &[nodes + 1])?;
            let columns =
                ArrayFile::open::<u32>(stage.join(neighbors_name(number)), &[relation.entries as usize])?;
            rows.push((offsets.read_all::<i64>()?, columns));
        }
        let degree = |node: u32| {
            let node = node as usize;
            rows.iter().map(|(offsets, _)| (offsets[node + 1] - offsets[node]) as usize).sum::<usize>()
        };
        let read = |rows: &(Vec<i64>, ArrayFile), node: u32, into: &mut Vec<u32>| {
            let [first, end] = [rows.0[node as usize], rows.0[node as usize + 1]];
            rows.1.read(first as u64, (end - first) as usize, into)
        };
        let mut visited = 0;
        let order = reverse_cuthill_mckee(nodes, degree, |node, into| {
            visited += 1;
            if visited % BETWEEN == 0 {
                self.tell(PackProgress::Ordering)?;
            }
            rows.iter().try_for_each(|rows| read(rows, node, into))
        })?;
        let places = order::places(&order).map_err(Error::Invalid)?;
        let mut sorter = Sorter::new(&self.work.join(SCRATCH), self.options.memory)?;
        let mut row = Vec::new();
        for (number, rows) in rows.iter().enumerate() {
            for node in 0..nodes as u32 {
                if u64::from(node) % BETWEEN == 0 {
                    self.tell(PackProgress::Ordering)?;
                }
                row.clear();
                read(rows, node, &mut row)?;
                for &to in &row {
                    sorter.push([number as u32, places[node as usize], places[to as usize]])?;
                }
            }
        }
        drop(rows);
        self.rows(sorter, self.work)?;
        let features = ArrayFile::open::<f32>(stage.join(FEATURES), &[nodes, width])?;
        let mut writer = ArrayWriter::<f32>::create(self.work.join(FEATURES), Some(width))?;
        let mut row = Vec::new();
        for (done, &node) in order.iter().enumerate() {
            if (done as u64).is_multiple_of(BETWEEN) {
                self.tell(PackProgress::Nodes(done as u64))?;
            }
            row.clear();
            features.read(u64::from(node) * width as u64, width, &mut row)?;
            writer.extend(&row)?;
        }
        writer.finish()?;
        self.list(self.work, ORDER, &order)
    }

    /// With several relations: how many neighbours a node has in all of them together.
    fn degrees(&mut self) -> Result<()> {
        let nodes = self.header.nodes;
        if self.header.relations.len() == 1 {
            return Ok(());
        }
        let mut rows = Vec::new();
        for (number, relation) in self.header.relations.iter().enumerate() {
            let offsets = ArrayFile::open::<i64>(self.work.join(offsets_name(number)), &[nodes + 1])?;
            let entries = relation.entries as usize;
            let columns = ArrayFile::open::<u32>(self.work.join(neighbors_name(number)), &[entries])?;
            rows.push((offsets.read_all::<i64>()?, columns));
        }
        let mut writer = ArrayWriter::<u32>::create(self.work.join(DEGREES), None)?;
        let mut all: Vec<u32> = Vec::new();
        for node in 0..nodes {
            all.clear();
            for (offsets, columns) in &rows {
                columns.read(offsets[node] as u64, (offsets[node + 1] - offsets[node]) as usize, &mut all)?;
            }
            all.sort_unstable();
            all.dedup();
            writer.push(all.len() as u32)?;
        }
        writer.finish()
    }

    /// Classes, split and names, in the order of the source.
    fn nodes(&mut self, facts: &NodeFacts, split: Option<SplitIndices>) -> Result<()> {
        self.header.classes = facts.class_names.clone();
        self.header.labelled = facts.labels.iter().flatten().count();
        if !facts.class_names.is_empty() {
            let mut writer = ArrayWriter::<i32>::create(self.work.join(LABELS), None)?;
            for label in &facts.labels {
                writer.push(label.map_or(-1, |label| label as i32))?;
            }
            writer.finish()?;
        }
        if let Some(split) = split {
            let parts = [&split.train, &split.valid, &split.test];
            self.header.split = Some(parts.map(Vec::len));
            for (name, part) in SPLIT.iter().zip(parts) {
                let numbers: Vec<u32> = part.iter().map(|&node| node as u32).collect();
                self.list(self.work, name, &numbers)?;
            }
        }
        if let NodeNames::Names(names) = &facts.names {
            self.header.named = true;
            let path = self.work.join(NAMES);
            let failed = |error| Error::io(&path, error);
            let mut out = BufWriter::new(files::create(&path)?);
            for at in 0..names.len() {
                let name = String::from_utf8_lossy(names.get(at));
                if name.contains(['\n', '\r']) {
                    return Err(Error::Invalid(format!("node {at} has a line break in its name")));
                }
                write_all(&mut out, name.as_bytes())
                    .and_then(|()| write_all(&mut out, b"\n"))
                    .map_err(failed)?;
            }
            let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
            files::sync(&file, &path)?;
        }
        Ok(())
    }

    fn checksums(&mut self) -> Result<()> {
        let (mut names, mut done) = (Vec::new(), 0);
        for entry in fs::read_dir(self.work).map_err(|error| Error::io(self.work, error))? {
            let path = entry.map_err(|error| Error::io(self.work, error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && name != LOCK {
                names.push(name);
            }
        }
        names.sort();
        for name in names {
            let path = self.work.join(&name);
            let bytes = fs::metadata(&path).map_err(|error| Error::io(&path, error))?.len();
            let sha256 = sha256(&path, &mut |count| {
                done += count;
                self.tell(PackProgress::Checksums(done))
            })?;
            self.header.files.insert(name, PackedFile { bytes, sha256 });
        }
        Ok(())
    }
}

/// The files of a graph.
struct SourceFiles {
    edges: EdgeFiles,
    nodes: PathBuf,
    labels: Option<PathBuf>,
    directed: bool,
}
