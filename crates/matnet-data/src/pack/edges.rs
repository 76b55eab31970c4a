//! Edges of any source, one after another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::format::bounded::Input;
use crate::format::class_names::is_unknown;
use crate::format::edgelist::{self, Names};
use crate::format::raw::{RawArray, RawValues};
use crate::local::columnar::is_columnar;
use crate::local::graph_tables;
use crate::{Error, Result, StoredArray};

/// Which relations are directed, from the node that aggregates to its neighbour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Directed {
    /// As the source says, which is none but in an `.npz`.
    #[default]
    AsStored,
    /// All of them.
    All,
    /// Those with these names.
    Only(Vec<String>),
}

impl Directed {
    /// Whether a relation is directed where the source says `stored`.
    pub(super) fn is(&self, name: &str, stored: bool) -> bool {
        match self {
            Self::AsStored => stored,
            Self::All => true,
            Self::Only(names) => names.iter().any(|known| known == name),
        }
    }
}

/// How the source names its nodes.
pub(super) enum NodeNames {
    /// By number, from 0.
    Count(usize),
    Names(Names),
}

impl NodeNames {
    pub fn len(&self) -> usize {
        match self {
            Self::Count(count) => *count,
            Self::Names(names) => names.len(),
        }
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        match self {
            Self::Count(count) => {
                let number = std::str::from_utf8(name).ok()?.parse::<u32>().ok()?;
                ((number as usize) < *count).then_some(number)
            }
            Self::Names(names) => names.find(name),
        }
    }
}

/// Where edges stand, and their relations if these have a file of their own.
pub(super) struct EdgeFiles {
    pub edges: PathBuf,
    pub relations: Option<PathBuf>,
}

/// What is done with an edge: its ends, its relation, and the names of the relations so far.
pub(super) type EachEdge<'a> = edgelist::EachEdge<'a>;

/// Passes all edges to `each`; gives the names of the relations in the order in which they occur first, none if there is only one.
pub(super) fn each_edge(files: &EdgeFiles, nodes: &NodeNames, each: EachEdge) -> Result<Vec<String>> {
    let path = &files.edges;
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".npy") {
        return each_of_array(files, nodes.len(), each);
    }
    if is_columnar(path) {
        return graph_tables::each_edge(path, &|name| nodes.find(name), each);
    }
    edgelist::each_edge(Input::open(path)?, &|name| nodes.find(name), each)
}

/// Edges that are read at once.
const BLOCK: usize = 1 << 16;

fn each_of_array(files: &EdgeFiles, nodes: usize, each: EachEdge) -> Result<Vec<String>> {
    let path = &files.edges;
    let edges = Integers::open(path)?;
    let (count, by_row) = match *edges.array.shape() {
        [count, 2] => (count, true),
        [2, count] => (count, false),
        ref shape => return Err(Error::format(path, format!("shape {shape:?}; [m, 2] or [2, m] expected"))),
    };
    let relations = match &files.relations {
        None => None,
        Some(path) => {
            let array = stored(path)?;
            if array.shape() != [count] {
                let what =
                    format!("shape {:?}; one relation for each of {count} edges expected", array.shape());
                return Err(Error::format(path, what));
            }
            Some((path, array))
        }
    };
    let (mut known, mut names): (HashMap<String, u32>, Vec<String>) = Default::default();
    let (mut flat, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
    for first in (0..count).step_by(BLOCK) {
        let size = BLOCK.min(count - first);
        from.clear();
        to.clear();
        if by_row {
            flat.clear();
            edges.read(2 * first, 2 * size, &mut flat)?;
            from.extend(flat.iter().step_by(2));
            to.extend(flat.iter().skip(1).step_by(2));
        } else {
            edges.read(first, size, &mut from)?;
            edges.read(count + first, size, &mut to)?;
        }
        let of = match &relations {
            None => Vec::new(),
            Some((path, array)) => texts(&array.raw(first..first + size)?, path)?,
        };
        for at in 0..size {
            let node = |number: i64| match u32::try_from(number).ok().filter(|&node| (node as usize) < nodes)
            {
                Some(node) => Ok(node),
                None => {
                    let what =
                        format!("edge {} names node {number}; 0 to {} expected", first + at, nodes - 1);
                    Err(Error::format(path, what))
                }
            };
            if let Some(name) = of.get(at).filter(|name| is_unknown(name) || *name == "-1") {
                let what = format!("edge {} has no relation ({name:?}); one is expected", first + at);
                return Err(Error::format(path, what));
            }
            let relation = of.get(at).map(|name| match known.get(name) {
                Some(&number) => number,
                None => {
                    known.insert(name.clone(), names.len() as u32);
                    names.push(name.clone());
                    names.len() as u32 - 1
                }
            });
            each(node(from[at])?, node(to[at])?, relation, &names)?;
        }
    }
    Ok(names)
}

/// Words, or integers as words.
fn texts(raw: &RawArray, path: &Path) -> Result<Vec<String>> {
    match raw.texts() {
        Some(texts) => Ok(texts),
        None => Ok(raw.integers(path)?.into_iter().map(|number| number.to_string()).collect()),
    }
}

/// An array that can be read in pieces.
fn stored(path: &Path) -> Result<StoredArray> {
    StoredArray::open_any(path)?.ok_or_else(|| {
        Error::format(
            path,
            "is compressed or in Fortran order; save it uncompressed in C order (np.ascontiguousarray)",
        )
    })
}

/// Integers that stay in their file.
struct Integers<'a> {
    path: &'a Path,
    array: StoredArray,
}

impl<'a> Integers<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        Ok(Self { path, array: stored(path)? })
    }

    fn read(&self, first: usize, count: usize, into: &mut Vec<i64>) -> Result<()> {
        let raw = self.array.raw_numbers(first as u64, count)?;
        if matches!(raw.values(), RawValues::F32(_) | RawValues::F64(_)) {
            return Err(Error::format(self.path, "holds floats where numbers of nodes were expected"));
        }
        into.extend(raw.integers(self.path)?);
        Ok(())
    }
}
