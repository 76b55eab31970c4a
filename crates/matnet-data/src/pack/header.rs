//! `graph.json`: what a packed graph holds, and the checksums of its files.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::NodeOrder;
use super::array::hex;
use crate::{Error, Result, files};

/// The file that makes a folder a packed graph.
pub(super) const NAME: &str = "graph.json";
const FORMAT: &str = "matnet packed graph";
const VERSION: u32 = 1;
/// A header holds names of classes and relations, and no more.
const MAX_BYTES: u64 = 64 << 20;

/// What a packed graph holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackHeader {
    format: String,
    version: u32,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of features of a node.
    pub features: usize,
    /// How many of all features are not zero.
    pub nonzero: u64,
    /// The edges that were read, repeats included.
    pub edges: u64,
    /// The order of the nodes in the files.
    pub order: NodeOrder,
    /// The relations; one without a name if edges are of one kind.
    pub relations: Vec<PackedRelation>,
    /// A name per class.
    pub classes: Vec<String>,
    /// How many nodes have a class.
    pub labelled: usize,
    /// Whether the nodes have names.
    pub named: bool,
    /// The number of nodes with an edge to themselves.
    pub loops: usize,
    /// The public split, if there is one: how many nodes are for training, validation and test.
    pub split: Option<[usize; 3]>,
    /// Size and checksum of every other file.
    pub files: BTreeMap<String, PackedFile>,
    /// Over all of the above.
    sha256: String,
}

/// The edges of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedRelation {
    /// The name; empty if there is only one relation.
    pub name: String,
    /// Whether only the first node of an edge aggregates from the second.
    pub directed: bool,
    /// Entries of the adjacency matrix.
    pub entries: u64,
    /// Entries of its longest row.
    pub longest_row: usize,
}

/// A file of a packed graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedFile {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hex.
    pub sha256: String,
}

impl PackHeader {
    /// The header of an empty graph, to be filled in.
    pub(super) fn new(order: NodeOrder) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            nodes: 0,
            features: 0,
            nonzero: 0,
            edges: 0,
            order,
            relations: Vec::new(),
            classes: Vec::new(),
            labelled: 0,
            named: false,
            loops: 0,
            split: None,
            files: BTreeMap::new(),
            sha256: String::new(),
        }
    }

    /// A checksum of the graph: of this header, which holds those of all files.
    pub fn checksum(&self) -> &str {
        &self.sha256
    }

    fn computed(&self) -> String {
        let bare = Self { sha256: String::new(), ..self.clone() };
        hex(&Sha256::digest(serde_json::to_vec(&bare).unwrap_or_default()))
    }

    pub(super) fn write(mut self, folder: &Path) -> Result<Self> {
        self.sha256 = self.computed();
        let text = serde_json::to_string_pretty(&self).map_err(|e| Error::Invalid(e.to_string()))?;
        files::write(&folder.join(NAME), format!("{text}\n").as_bytes())?;
        Ok(self)
    }

    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let size = std::fs::metadata(&path).map_err(|error| Error::io(&path, error))?.len();
        if size > MAX_BYTES {
            return Err(Error::format(path, format!("{size} bytes; at most {MAX_BYTES} expected")));
        }
        Self::parse(&path, &files::read(&path)?)
    }

    /// Reads a header; `path` is its name in errors.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        // Another version may have other keys; it is looked at first.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let wrong = |error: serde_json::Error| {
            Error::format(path, format!("is not the description of a packed graph: {error}"))
        };
        let head: Head = serde_json::from_slice(bytes).map_err(wrong)?;
        if head.format != FORMAT {
            return Err(Error::format(path, format!("format {:?}; {FORMAT:?} expected", head.format)));
        }
        if head.version != VERSION {
            let what = format!(
                "version {}, where this program reads {VERSION}; pack the graph again with `matnet data pack`",
                head.version
            );
            return Err(Error::format(path, what));
        }
        let header: Self = serde_json::from_slice(bytes).map_err(wrong)?;
        if header.computed() != header.sha256 {
            return Err(Error::format(path, "was changed or damaged: its checksum is another"));
        }
        header.check().map_err(|what| Error::format(path, what))?;
        Ok(header)
    }

    /// What no graph that was packed here says.
    fn check(&self) -> Result<(), String> {
        let entries = (self.nodes as u64).checked_mul(self.features as u64);
        match self.nodes {
            0 => return Err("no nodes".to_owned()),
            1..=0xFFFF_FFFE => {}
            nodes => return Err(format!("{nodes} nodes; fewer than 2^32 expected")),
        }
        if self.features == 0 || entries.is_none_or(|all| all < self.nonzero || all > 1 << 60) {
            return Err(format!("{} features, {} of all not zero", self.features, self.nonzero));
        }
        if let Some(name) = self.files.keys().find(|name| name.contains(['/', '\\']) || name.starts_with('.'))
        {
            return Err(format!("lists {name:?}, which is not a file of the folder"));
        }
        if self.relations.is_empty() {
            return Err("no relations".to_owned());
        }
        if self.relations.iter().any(|relation| relation.entries > 1 << 60) {
            return Err("more entries than can be numbered".to_owned());
        }
        if self.labelled > self.nodes || self.loops > self.nodes {
            return Err("more classes or loops than nodes".to_owned());
        }
        if self.split.is_some_and(|parts| parts.iter().any(|&part| part > self.nodes)) {
            return Err("more nodes in the split than there are".to_owned());
        }
        Ok(())
    }
}
