//! A packed graph that stays in its folder: rows and features are read by position when they are needed.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::array::{ArrayFile, sha256};
use super::header::{self, PackHeader};
use super::{names, order};
use crate::{Array, Error, Result, SplitIndices, files};

/// A graph in a folder, made by [`pack`](super::pack()). In memory are the places of the rows, 8 bytes per node and relation, and no more.
///
/// Nodes have two numbers: the one of the source, by which classes, splits and names go, and the *place*, by which rows and features go.
/// They are the same unless the graph was packed in another order.
pub struct PackedGraph {
    folder: PathBuf,
    header: PackHeader,
    relations: Vec<Rows>,
    features: ArrayFile,
    /// Degrees over all relations, by place; empty where there is only one relation.
    degrees: Vec<u32>,
    /// The places of nodes with an edge to themselves.
    loops: Vec<u32>,
}

/// The rows of an adjacency matrix.
struct Rows {
    offsets: Vec<u64>,
    columns: ArrayFile,
}

impl fmt::Debug for PackedGraph {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "PackedGraph({}, {} nodes)", self.folder.display(), self.header.nodes)
    }
}

impl PackedGraph {
    /// Whether a path is the folder of a packed graph.
    pub fn is_packed(path: impl AsRef<Path>) -> bool {
        path.as_ref().join(header::NAME).is_file()
    }

    /// Opens a packed graph. The header, the sizes of all files and everything that is read into memory are checked; rows and features are
    /// checked when they are read, and by [`verify`](Self::verify).
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let header = PackHeader::read(folder)?;
        for (name, wanted) in &header.files {
            let path = folder.join(name);
            let found = std::fs::metadata(&path).map_err(|error| Error::io(&path, error))?.len();
            if found != wanted.bytes {
                let what = format!("{found} bytes, where {} were packed", wanted.bytes);
                return Err(Error::format(path, what));
            }
        }
        let nodes = header.nodes;
        let mut relations = Vec::new();
        for (number, relation) in header.relations.iter().enumerate() {
            let path = checked(folder, &header, &names::offsets_name(number))?;
            let offsets = ArrayFile::open::<i64>(path.clone(), &[nodes + 1])?.read_all::<i64>()?;
            if offsets.first() != Some(&0)
                || !offsets.is_sorted()
                || offsets[nodes] as u64 != relation.entries
            {
                let what = format!("offsets that rise from 0 to {} expected", relation.entries);
                return Err(Error::format(path, what));
            }
            let offsets = offsets.into_iter().map(|offset| offset as u64).collect();
            let path = listed(folder, &header, &names::neighbors_name(number))?;
            let columns = ArrayFile::open::<u32>(path, &[relation.entries as usize])?;
            relations.push(Rows { offsets, columns });
        }
        let features = listed(folder, &header, names::FEATURES)?;
        let features = ArrayFile::open::<f32>(features, &[nodes, header.features])?;
        let degrees = match relations.len() {
            1 => Vec::new(),
            _ => {
                let path = checked(folder, &header, names::DEGREES)?;
                ArrayFile::open::<u32>(path, &[nodes])?.read_all()?
            }
        };
        let path = checked(folder, &header, names::LOOPS)?;
        let loops: Vec<u32> = ArrayFile::open::<u32>(path.clone(), &[header.loops])?.read_all()?;
        if loops.windows(2).any(|pair| pair[0] >= pair[1])
            || loops.last().is_some_and(|&last| last as usize >= nodes)
        {
            return Err(Error::format(path, "rising numbers of nodes expected"));
        }
        Ok(Self { folder: folder.to_owned(), header, relations, features, degrees, loops })
    }

    /// What the graph holds.
    pub fn header(&self) -> &PackHeader {
        &self.header
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes that edges and features would take in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        // A matrix is kept with its transpose and the order of its entries.
        let entries: u64 = self.header.relations.iter().map(|relation| relation.entries).sum();
        let features =
            (self.header.nodes as u64).saturating_mul(self.header.features as u64).saturating_mul(4);
        features.saturating_add(entries.saturating_mul(12))
    }

    /// Whether all relations are undirected.
    pub fn is_symmetric(&self) -> bool {
        self.header.relations.iter().all(|relation| !relation.directed)
    }

    /// Appends the places of the neighbours of the node at `place`, in increasing order.
    pub fn neighbors(&self, relation: usize, place: u32, into: &mut Vec<u32>) -> Result<()> {
        let Rows { offsets, columns } = &self.relations[relation];
        let [first, end] = [offsets[place as usize], offsets[place as usize + 1]];
        let before = into.len();
        columns.read(first, (end - first) as usize, into)?;
        let row = &into[before..];
        if row.windows(2).any(|pair| pair[0] >= pair[1])
            || row.last().is_some_and(|&last| last as usize >= self.header.nodes)
        {
            let what = format!("row {place} is damaged; `matnet data verify` checks all of the graph");
            return Err(Error::format(columns.path(), what));
        }
        Ok(())
    }

    /// How many neighbours a node has in one relation.
    pub fn row_length(&self, relation: usize, place: u32) -> usize {
        let offsets = &self.relations[relation].offsets;
        (offsets[place as usize + 1] - offsets[place as usize]) as usize
    }

    /// How many neighbours a node has in all relations together, each counted once.
    pub fn degree(&self, place: u32) -> usize {
        match self.degrees.is_empty() {
            true => self.row_length(0, place),
            false => self.degrees[place as usize] as usize,
        }
    }

    /// Whether a node is its own neighbour.
    pub fn has_loop(&self, place: u32) -> bool {
        self.loops.binary_search(&place).is_ok()
    }

    /// Appends the features of the nodes at these places.
    pub fn features(&self, places: &[u32], into: &mut Vec<f32>) -> Result<()> {
        let width = self.header.features;
        for &place in places {
            let before = into.len();
            self.features.read(u64::from(place) * width as u64, width, into)?;
            if let Some(number) = into[before..].iter().find(|x| !x.is_finite()) {
                let what = format!("row {place} holds {number}; it is damaged");
                return Err(Error::format(self.features.path(), what));
            }
        }
        Ok(())
    }

    /// The offsets and the columns of an adjacency matrix, all of it.
    pub fn adjacency(&self, relation: usize) -> Result<(Vec<usize>, Vec<u32>)> {
        let Rows { offsets, columns } = &self.relations[relation];
        Ok((offsets.iter().map(|&offset| offset as usize).collect(), columns.read_all()?))
    }

    /// The features of all nodes, by place.
    pub fn all_features(&self) -> Result<Array> {
        Array::new([self.header.nodes, self.header.features], self.features.read_all()?)
    }

    /// The place of each node; none if they stand in the order of the source.
    pub fn places(&self) -> Result<Option<Vec<u32>>> {
        if self.header.order == super::NodeOrder::Natural {
            return Ok(None);
        }
        let path = checked(&self.folder, &self.header, names::ORDER)?;
        let order = ArrayFile::open::<u32>(path.clone(), &[self.header.nodes])?.read_all::<u32>()?;
        order::places(&order).map(Some).map_err(|what| Error::format(path, what))
    }

    /// The class of each node, where it is known.
    pub fn labels(&self) -> Result<Vec<Option<u32>>> {
        let classes = self.header.classes.len();
        if classes == 0 {
            return Ok(vec![None; self.header.nodes]);
        }
        let path = checked(&self.folder, &self.header, names::LABELS)?;
        let labels = ArrayFile::open::<i32>(path.clone(), &[self.header.nodes])?.read_all::<i32>()?;
        let label = |label: i32| match label {
            -1 => Ok(None),
            known if (0..classes as i64).contains(&known.into()) => Ok(Some(known as u32)),
            other => Err(Error::format(&path, format!("class {other}, where there are {classes}"))),
        };
        labels.into_iter().map(label).collect()
    }

    /// The public split, if there is one.
    pub fn split(&self) -> Result<Option<SplitIndices>> {
        let Some(sizes) = self.header.split else { return Ok(None) };
        let mut used = vec![false; self.header.nodes];
        let mut part = |name: &str, size: usize| -> Result<Vec<usize>> {
            let path = checked(&self.folder, &self.header, name)?;
            let nodes = ArrayFile::open::<u32>(path.clone(), &[size])?.read_all::<u32>()?;
            for &node in &nodes {
                let free = used.get_mut(node as usize).is_some_and(|used| !std::mem::replace(used, true));
                if !free {
                    return Err(Error::format(path, format!("node {node} is not there, or in two splits")));
                }
            }
            Ok(nodes.into_iter().map(|node| node as usize).collect())
        };
        let [train, valid, test] = names::SPLIT;
        Ok(Some(SplitIndices {
            train: part(train, sizes[0])?,
            valid: part(valid, sizes[1])?,
            test: part(test, sizes[2])?,
        }))
    }

    /// The names of the nodes, one after another, in the order of the source; `None` if they have none.
    pub fn names(&self) -> Result<Option<impl Iterator<Item = Result<String>> + use<>>> {
        if !self.header.named {
            return Ok(None);
        }
        let path = listed(&self.folder, &self.header, names::NAMES)?;
        let file = files::open(&path)?;
        let lines = BufReader::new(file).lines();
        Ok(Some(lines.map(move |line| line.map_err(|error| Error::io(&path, error)))))
    }

    /// A name per feature; empty if they have none.
    pub fn feature_names(&self) -> Result<Vec<String>> {
        if !self.header.files.contains_key(names::FEATURE_NAMES) {
            return Ok(Vec::new());
        }
        let path = checked(&self.folder, &self.header, names::FEATURE_NAMES)?;
        let text = files::read(&path)?;
        let text = String::from_utf8(text).map_err(|_| Error::format(&path, "is not UTF-8"))?;
        let found: Vec<String> = text.lines().map(str::to_owned).collect();
        match found.len() == self.header.features {
            true => Ok(found),
            false => {
                let (have, want) = (found.len(), self.header.features);
                Err(Error::format(path, format!("{have} names, where there are {want} features")))
            }
        }
    }

    /// How many numbers in these columns of the features are not zero.
    pub fn nonzero(&self, columns: &[usize]) -> Result<u64> {
        /// Numbers that are read at once.
        const BLOCK: usize = 1 << 18;
        let (nodes, width) = (self.header.nodes, self.header.features);
        let step = (BLOCK / width).max(1);
        let (mut block, mut found) = (Vec::new(), 0);
        for first in (0..nodes).step_by(step) {
            block.clear();
            let rows = step.min(nodes - first);
            self.features.read(first as u64 * width as u64, rows * width, &mut block)?;
            let filled = |row: &[f32]| columns.iter().filter(|&&column| row[column] != 0.0).count() as u64;
            found += block.chunks_exact(width).map(filled).sum::<u64>();
        }
        Ok(found)
    }

    /// Compares all files with their checksums, and gives those that differ, in words. `each` is told the bytes that were read; it may end it
    /// with an error.
    pub fn verify(&self, each: &mut dyn FnMut(u64) -> Result<()>) -> Result<Vec<(PathBuf, String)>> {
        let mut wrong = Vec::new();
        for (name, wanted) in &self.header.files {
            let path = self.folder.join(name);
            let found = sha256(&path, each)?;
            if found != wanted.sha256 {
                wrong.push((path, format!("SHA-256 {found}, where {} was packed", wanted.sha256)));
            }
        }
        Ok(wrong)
    }
}

/// The path of a file that the header must list.
fn listed(folder: &Path, header: &PackHeader, name: &str) -> Result<PathBuf> {
    match header.files.contains_key(name) {
        true => Ok(folder.join(name)),
        false => Err(Error::format(folder.join(header::NAME), format!("does not list {name}"))),
    }
}

/// The same, for a file that is read as a whole: its checksum is compared first.
fn checked(folder: &Path, header: &PackHeader, name: &str) -> Result<PathBuf> {
    let path = listed(folder, header, name)?;
    match sha256(&path, &mut |_| Ok(()))? == header.files[name].sha256 {
        true => Ok(path),
        false => Err(Error::format(path, "was changed or damaged: its checksum is another")),
    }
}
