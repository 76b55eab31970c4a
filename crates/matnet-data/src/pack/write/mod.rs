//! Packing: from edges in any order and features to the files of a packed graph.
//!
//! Everything is written to a hidden folder beside the place of the result, which gets its name at the end. What a killed process left there
//! is removed by the next one.

mod reorder;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::array::{ArrayWriter, sha256};
use super::edges::{Directed, NodeNames, each_edge};
use super::header::{PackHeader, PackedFile, PackedRelation};
use super::names::{FEATURE_NAMES, LABELS, LOOPS, NAMES, SPLIT, neighbors_name, offsets_name, write_names};
use super::nodes::{NodeFacts, each_node};
use super::open::PackedGraph;
use super::order::NodeOrder;
use super::rows::{FeatureRows, RowWriter};
use super::sort::Sorter;
use super::source::{PackSource, SourceFiles};
use super::work::{LOCK, SCRATCH, Work};
use crate::format::edgelist::{integers_note, require_few_relations};
use crate::format::npz::Npz;
use crate::local::labels;
use crate::{Error, GraphData, Result, SplitIndices, files};

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

type Progress<'a> = &'a mut dyn FnMut(PackProgress) -> ControlFlow<()>;

/// Packs a graph into a folder, which gets its name when all is done. Edges may be larger than memory. Returns what was packed.
pub fn pack(source: PackSource, out: &Path, options: &PackOptions, progress: Progress) -> Result<PackHeader> {
    let name = out.file_name().ok_or_else(|| Error::format(out, "the name of a folder expected"))?;
    let parent = out.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let unfinished = parent.join(format!(".unfinished-{}", name.to_string_lossy()));
    Work::restore(&unfinished, out)?;
    if out.exists() && !(options.replace && PackedGraph::is_packed(out)) {
        let what = match PackedGraph::is_packed(out) {
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
                let folder = self.work.join(SCRATCH).join("unpacked");
                let (files, extra, note) = SourceFiles::unpacked(&path, &folder)?;
                note.map_or(Ok(()), |note| self.tell(PackProgress::Note(note)))?;
                self.files(files, extra, &stage, sorter)?
            }
            PackSource::Files { edges, nodes, beside } => {
                let (files, extra) = SourceFiles::beside(edges, nodes, beside.as_deref())?;
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
        let GraphData {
            features,
            feature_names,
            node_names,
            labels,
            class_names,
            edges,
            relations,
            relation_names,
            ..
        } = &data;
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
        let facts = NodeFacts {
            names,
            feature_names: feature_names.clone(),
            labels: labels.clone(),
            class_names: class_names.clone(),
        };
        Ok((facts, data.splits.into_iter().next()))
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
        require_few_relations(names.len(), self.header.edges, &files.edges.edges)?;
        if let Some(note) = integers_note(&names).filter(|_| files.edges.relations.is_none()) {
            self.tell(PackProgress::Note(note))?;
        }
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
        crate::format::class_names::sort_classes(known, &mut places);
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

    /// Classes, split and names of nodes, in the order of the source; the names of their features.
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
            let all = (0..names.len()).map(|at| String::from_utf8_lossy(names.get(at)));
            write_names(&self.work.join(NAMES), "node", all)?;
        }
        if !facts.feature_names.is_empty() {
            let all = facts.feature_names.iter().map(Into::into);
            write_names(&self.work.join(FEATURE_NAMES), "feature", all)?;
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
