//! Where a graph that is packed comes from.

use std::fs;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

use super::array::write_all;
use super::edges::EdgeFiles;
use crate::format::npz::Npz;
use crate::format::{archive, npy};
use crate::local::{self, folder, leftovers};
use crate::{Error, GraphData, Result, faults, files};

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

/// The files of a graph.
pub(super) struct SourceFiles {
    pub edges: EdgeFiles,
    pub nodes: PathBuf,
    pub labels: Option<PathBuf>,
    pub directed: bool,
}

impl SourceFiles {
    /// The files of edges and nodes, with the other arrays of a folder; and the split.
    pub fn beside(edges: PathBuf, nodes: PathBuf, beside: Option<&Path>) -> Result<(Self, Npz)> {
        let there =
            |key: &str| beside.map(|folder| folder.join(format!("{key}.npy"))).filter(|path| path.is_file());
        let mut extra = Npz::new(beside.unwrap_or(Path::new("")));
        for key in ["train", "valid", "test"] {
            if let Some(path) = there(key) {
                extra.insert(key, npy::read(path)?);
            }
        }
        let edges = EdgeFiles { edges, relations: there("relations") };
        Ok((Self { edges, nodes, labels: there("labels"), directed: false }, extra))
    }

    /// The arrays of an `.npz`, each in a file of its own in a new folder; the split; and a remark on what is not used.
    pub fn unpacked(path: &Path, folder: &Path) -> Result<(Self, Npz, Option<String>)> {
        faults::file().and_then(|()| fs::create_dir(folder)).map_err(|error| Error::io(folder, error))?;
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
                        match entry.input.read(&mut block).map_err(from)? {
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
        let note = leftovers::graph(unused.iter().map(String::as_str), path)?;
        let member =
            |key: &str| found.iter().any(|name| name == key).then(|| folder.join(format!("{key}.npy")));
        let needed = |key: &str| member(key).ok_or_else(|| Error::format(path, format!("no array {key:?}")));
        let edges = EdgeFiles { edges: needed("edges")?, relations: member("relations") };
        let files = Self { edges, nodes: needed("features")?, labels: member("labels"), directed };
        Ok((files, extra, note))
    }
}
