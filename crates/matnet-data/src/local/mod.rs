//! The user's own files: a path in, a dataset out; the kind is found from what is there.
//!
//! | path | contents |
//! |---|---|
//! | `x.npy` | inputs `[n, rows, cols]` or `[n, time, rows, cols]`, without targets |
//! | `data.npz` | `x` as above; optional `y`: classes `[n]` or, one per step, `[n, time]` (integers or strings), matrices `[n, r, c]` or sequences `[n, time, r, c]`; optional `group`: one integer or string per sample |
//! | `graph.npz` | `features` `[nodes, k]`; `edges` `[m, 2]` or `[2, m]` (2×2 counts as `[m, 2]`), node indices from 0; optional `labels` `[nodes]`, −1 for unknown (or strings, empty for unknown); optional `relations` `[m]`, an integer or string per edge; optional `directed`: a boolean; optional `train`, `valid`, `test`: node indices, or a boolean per node |
//! | folder of folders | a class per folder: images, or one matrix per `.csv`/`.tsv`/`.txt` |
//! | folder of files | images or matrices without classes |
//! | folder with two texts | `edges.*` and `nodes.*` (or `features.*`), or LINQS's `.cites` and `.content`: a graph ([`edgelist`]) |
//!
//! [`SampleReader`] reads the samples of a file a chunk at a time, and [`load_stories`] reads stories.

mod folder;
mod npz;
mod reader;

use std::path::Path;

pub use reader::SampleReader;

use crate::format::npz as npz_format;
use crate::format::raw::RawArray;
use crate::format::{edgelist, images, npy, stories};
use crate::{Array, Dataset, Error, GraphData, QaTask, Result, Samples, StoryData, Target};

/// Loads the samples or the graph at `path`; the table of this module says what that may be.
pub fn load(path: impl AsRef<Path>) -> Result<Dataset> {
    let path = path.as_ref();
    match FileKind::of(path)? {
        FileKind::Folder => folder::load(path),
        FileKind::Npy => Ok(Samples::new(inputs(npy::read(path)?, path)?, Target::None).into()),
        FileKind::Npz => {
            let arrays = npz_format::read(path)?;
            match arrays.get("x").is_none() && arrays.get("edges").is_some() {
                true => Ok(npz::graph(arrays, path)?.into()),
                false => Ok(npz::samples(arrays, path)?.into()),
            }
        }
        FileKind::Matrix => {
            let one = folder::read_matrix(path)?;
            let shape = [1, one.shape()[0], one.shape()[1]];
            Ok(Samples::new(Array::new(shape, one.into_data())?, Target::None).into())
        }
    }
}

/// Loads a graph from an edge list and a node table, whatever their names.
pub fn load_graph(edges: impl AsRef<Path>, nodes: impl AsRef<Path>) -> Result<GraphData> {
    edgelist::read(edges, nodes)
}

/// Loads stories from a text file ([`format::stories`](crate::format::stories)): one task, without a test set.
pub fn load_stories(path: impl AsRef<Path>) -> Result<StoryData> {
    let path = path.as_ref();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let task = QaTask { number: 1, name, train: stories::read(path)?, test: Vec::new() };
    Ok(StoryData { tasks: vec![task], missing: Vec::new() })
}

/// What a path is, by its name.
enum FileKind {
    Folder,
    Npy,
    Npz,
    /// An image or a text table.
    Matrix,
}

impl FileKind {
    fn of(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self::Folder);
        }
        if !path.exists() {
            return Err(Error::Missing(format!("{}: there is no such file or folder", path.display())));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match name.strip_suffix(".gz").unwrap_or(&name) {
            name if name.ends_with(".npy") => Ok(Self::Npy),
            name if name.ends_with(".npz") => Ok(Self::Npz),
            _ if images::is_image(path) || folder::is_table(path) => Ok(Self::Matrix),
            _ => {
                let what = "is of no known kind; .npy, .npz, an image, .csv or a folder of them expected";
                Err(Error::format(path, what))
            }
        }
    }
}

/// An array of matrices or sequences.
fn inputs(raw: RawArray, name: &Path) -> Result<Array> {
    check_shape(raw.shape(), name)?;
    raw.into_array(name)
}

/// Fails unless the shape is that of matrices or of sequences, and not empty.
fn check_shape(shape: &[usize], name: &Path) -> Result<()> {
    if !(3..=4).contains(&shape.len()) {
        let what = format!("shape {shape:?}; [n, rows, cols] or [n, time, rows, cols] expected");
        return Err(Error::format(name, what));
    }
    if shape.contains(&0) {
        return Err(Error::format(name, format!("shape {shape:?} holds nothing")));
    }
    Ok(())
}
