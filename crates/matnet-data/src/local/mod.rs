//! The user's own files: a path in, a dataset out; the kind is found from what is there.
//!
//! | path | contents |
//! |---|---|
//! | `x.npy` | inputs `[n, rows, cols]` or `[n, time, rows, cols]`, without targets |
//! | `data.npz` | `x` as above, and optionally targets, lengths, weights, groups and a split: see below |
//! | `graph.npz` | `features` `[nodes, k]`; `edges` `[m, 2]` or `[2, m]` (2×2 counts as `[m, 2]`), node indices from 0; optional `labels` `[nodes]`, −1 for unknown (or strings, empty for unknown); optional `relations` `[m]`, an integer or string per edge; optional `directed`: a boolean; optional `train`, `valid`, `test`: node indices, or a boolean per node |
//! | `.ts` | series with classes or values ([`format::ts`](crate::format::ts)); of `NAME_TRAIN.ts` and `NAME_TEST.ts` both, as the official split, unless [`ReadOptions::single_file`] |
//! | `.csv`, `.tsv`, `.txt` with [`target_columns`](ReadOptions::target_columns), [`columns`](ReadOptions::columns) or [`shape`](ReadOptions::shape); `.parquet`, `.arrow`, `.feather` (cargo feature `columnar`) | a sample per row |
//! | folder of `.parquet`, or a pattern such as `shards/part-*.parquet` | the rows of all files, in order of their names |
//! | the same with a column of times, or with [`long_table`](ReadOptions::long_table) | one long table ([`load_table`]) |
//! | any other picture, table or `.wav` | one sample |
//! | folder with `x.npy` and any of `y.npy`, `length.npy`, … | the arrays of an `.npz`, each in a file of its own: see below |
//! | folder of folders | a class per folder, a sample per file: pictures, `.wav`, `.npy`, or one matrix per `.csv`/`.tsv`/`.txt`; [`layout`](ReadOptions::layout) says whether rows are steps |
//! | folder of files | the same without classes; or the two halves of a `.ts` dataset |
//! | folder with two tables | `edges.*` and `nodes.*` (or `features.*`), or LINQS's `.cites` and `.content`: a graph ([`edgelist`](crate::format::edgelist)), as text, Parquet or Arrow |
//!
//! The arrays of samples in an `.npz`, of which only `x` is required:
//!
//! | array | shape | meaning |
//! |---|---|---|
//! | `x` | `[n, rows, cols]` or `[n, time, rows, cols]` | matrices, or sequences of matrices; NaN is kept |
//! | `y` | `[n]` integers, strings or booleans | a class per sample |
//! | | `[n, time]` integers or strings, beside sequences | a class per step |
//! | | `[n]` or `[n, k]` floats | one or several values |
//! | | `[n, k]` booleans, or integers 0 and 1 | several labels at once |
//! | | `[n, r, c]` or `[n, time, r, c]` | a matrix, or a sequence of matrices |
//! | `classes`, `target_names` | `[k]` strings | names of the classes that integers in `y` stand for; of values or labels |
//! | `length` | `[n]` integers from 1 to time | the steps of each sequence; what follows in `x` and `y` is set to zero |
//! | `weight` | `[n]` numbers from 0 | the weight of each sample in the loss |
//! | `group` | `[n]` integers or strings | the group of each sample |
//! | `train`, `valid`, `test` | indices, or `[n]` booleans | a split; without `train`, all other samples are for training |
//!
//! [`ReadOptions::target`] overrides what type and shape of `y` say.
//!
//! [`SampleReader`] reads the samples of a file a chunk at a time, and [`load_stories`] reads stories.

mod arrays;
pub(crate) mod columnar;
mod files;
pub(crate) mod folder;
mod graph;
pub(crate) mod graph_tables;
pub(crate) mod labels;
pub(crate) mod leftovers;
mod long_table;
mod npz;
mod options;
mod reader;
mod series;
mod table;
mod table_files;
mod target;
mod times;
mod ts;

use std::path::Path;

pub use arrays::open_stored;
pub(crate) use files::graph_files;
pub use long_table::load_table;
pub use options::{Layout, ReadOptions, TargetKind};
pub use reader::{SampleChunk, SampleReader};

use self::files::{SampleFile, SampleFiles};
use self::long_table::Nameless;
use crate::format::npz::{self as npz_format, Npz};
use crate::format::raw::RawArray;
use crate::format::{npy, stories};
use crate::{Array, Dataset, Error, QaTask, Result, Samples, StoryData, TableData, Target};

/// Whether there is something at `path`: a file, a folder, or Parquet files that a pattern stands for.
pub fn exists(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    path.exists() || columnar::shards(path).is_ok_and(|files| !files.is_empty())
}

/// Whether a path is a table whose columns have names, or may have them: text, Parquet or Arrow.
pub fn has_columns(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    SampleFile::of(path) == Some(SampleFile::Table) && !path.is_dir()
        || columnar::is_columnar(path)
        || columnar::shards(path).is_ok_and(|files| !files.is_empty())
}

/// Loads the samples or the graph at `path`; the table of this module says what that may be.
pub fn load(path: impl AsRef<Path>) -> Result<Dataset> {
    load_with(path, &ReadOptions::default())
}

/// The same, where the files leave a choice.
pub fn load_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset> {
    let path = path.as_ref();
    match FileKind::of(path, options)? {
        FileKind::Folder => folder::load(path, options),
        _ if long_table::is_long(path, options) => {
            options.allow(path, "one long table", &["columns"])?;
            long_table::load_columns(path, options, Nameless::Refused)
        }
        FileKind::Npy => {
            options.allow(path, "an .npy", &[])?;
            Ok(Samples::new(inputs(npy::read(path)?, path)?, Target::None).into())
        }
        FileKind::Npz => load_arrays(npz_format::read(path)?, options),
        FileKind::Ts => ts::load(path, options),
        FileKind::Rows => table::load(path, options),
        FileKind::Sample => {
            let mut file = SampleFiles::new(path, vec![path.to_owned()], options)?;
            let (inputs, _) = file.read(0..1)?;
            let sample_rate = file.sample_rate();
            let dataset = Dataset::from(Samples { sample_rate, ..Samples::new(inputs, Target::None) });
            Ok(match file.note() {
                Some(note) => dataset.with_note(note),
                None => dataset,
            })
        }
    }
}

/// The samples or the graph in arrays, which are named as in an `.npz`. With [`ReadOptions::long_table`], `x` may be one long table
/// `[rows, columns]`.
pub fn load_arrays(mut arrays: Npz, options: &ReadOptions) -> Result<Dataset> {
    let path = arrays.path().to_owned();
    let path = path.as_path();
    if arrays.get("x").is_none() && arrays.get("edges").is_some() {
        options.allow(path, "a graph", &[])?;
        let (graph, notes) = graph::graph(arrays, path)?;
        return Ok(Dataset { notes, ..graph.into() });
    }
    let table = arrays.get("x").is_some_and(|x| x.shape().len() == 2 && !x.shape().contains(&0));
    if options.long_table && table {
        options.allow(path, "one long table", &[])?;
        let table = TableData::new(arrays.take("x")?.into_array(&path.join("x"))?)?;
        return Ok(Dataset { notes: leftovers::table(&arrays, path)?.into_iter().collect(), ..table.into() });
    }
    npz::samples(arrays, path, options)
}

/// Loads a graph from an edge list and a node table, whatever their names.
pub fn load_graph(edges: impl AsRef<Path>, nodes: impl AsRef<Path>) -> Result<Dataset> {
    graph_tables::read(edges.as_ref(), nodes.as_ref()).map(graph_tables::with_note)
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
    Ts,
    /// A table with a sample per row.
    Rows,
    /// An image, a recording or a text table.
    Sample,
}

impl FileKind {
    fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        if (path.is_dir() || !path.exists()) && !columnar::shards(path)?.is_empty() {
            return Ok(Self::Rows);
        }
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
            _ if ts::is_ts(path) => Ok(Self::Ts),
            _ if table::has_rows(path, options) => Ok(Self::Rows),
            _ if SampleFile::of(path).is_some() => Ok(Self::Sample),
            _ => {
                let what = "is of no known kind; .npy, .npz, .ts, .wav, an image, .csv, .parquet, .arrow or a folder of them expected";
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
