//! Folders of images, tables, or the two texts of a graph.

use std::path::{Path, PathBuf};

use crate::format::edgelist::natural;
use crate::format::{csv, edgelist, images};
use crate::{Array, Dataset, Error, Result, Samples, Target};

/// Whether a file name is that of a table of numbers.
pub(super) fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".csv", ".tsv", ".txt"].iter().any(|end| name.ends_with(end))
}

pub(super) fn read_matrix(path: &Path) -> Result<Array> {
    if images::is_image(path) { images::read(path) } else { csv::read(path) }
}

/// The files and the folders in a folder, sorted by name, without hidden ones.
fn list(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
    }
    let name = |path: &PathBuf| natural(&path.file_name().unwrap_or_default().to_string_lossy());
    files.sort_by_cached_key(name);
    folders.sort_by_cached_key(name);
    Ok((files, folders))
}

/// Loads the graph, or the matrices by class, of a folder.
pub(super) fn load(dir: &Path) -> Result<Dataset> {
    let (files, _) = list(dir)?;
    if let Some((edges, nodes)) = graph_files(&files) {
        return Ok(edgelist::read(edges, nodes)?.into());
    }
    let mut found = MatrixList::default();
    let (matrices, names) = matrix_files(dir)?;
    for (file, class) in &matrices {
        found.add(file, *class)?;
    }
    let Some((_, [rows, cols])) = found.first else {
        return Err(Error::format(
            dir,
            "holds no images and no .csv, neither in it nor in folders by class, and no edges and nodes",
        ));
    };
    let inputs = Array::new([found.count, rows, cols], found.data)?;
    let target =
        if names.is_empty() { Target::None } else { Target::Classes { labels: found.labels, names } };
    Ok(Samples::new(inputs, target).into())
}

/// The files of a folder that hold one matrix each, sorted, with the class of each; and the class names. If there are folders of such
/// files, they are the classes, and files beside them are ignored.
#[allow(clippy::type_complexity)]
pub(super) fn matrix_files(dir: &Path) -> Result<(Vec<(PathBuf, Option<u32>)>, Vec<String>)> {
    // Beside images, a text is a note, not a matrix.
    let matrices = |files: Vec<PathBuf>| -> Vec<PathBuf> {
        let images = files.iter().any(|path| images::is_image(path));
        let is_matrix = |path: &PathBuf| images::is_image(path) || !images && is_table(path);
        files.into_iter().filter(is_matrix).collect()
    };
    let (files, folders) = list(dir)?;
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for folder in &folders {
        let (files, _) = list(folder)?;
        let files = matrices(files);
        if files.is_empty() {
            continue;
        }
        let class = names.len() as u32;
        names.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        found.extend(files.into_iter().map(|file| (file, Some(class))));
    }
    if names.is_empty() {
        found.extend(matrices(files).into_iter().map(|file| (file, None)));
    }
    Ok((found, names))
}

/// The edge list and the node table, if the folder has both.
fn graph_files(files: &[PathBuf]) -> Option<(&PathBuf, &PathBuf)> {
    let called = |stems: &[&str], ending: &str| {
        files.iter().find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            let (stem, _) = name.split_once('.').unwrap_or((&name, ""));
            stems.contains(&stem) || name.strip_suffix(".gz").unwrap_or(&name).ends_with(ending)
        })
    };
    let edges = called(&["edges", "edge_list", "edgelist"], ".cites")?;
    let nodes = called(&["nodes", "features"], ".content")?;
    Some((edges, nodes))
}

/// Matrices of one size, collected file by file.
#[derive(Default)]
pub(super) struct MatrixList {
    data: Vec<f32>,
    labels: Vec<u32>,
    count: usize,
    /// The first file and its size, which all others must have.
    first: Option<(PathBuf, [usize; 2])>,
}

impl MatrixList {
    /// The matrices since the last call, `[n, rows, cols]`; later ones must have the same size.
    pub fn take(&mut self) -> Result<Array> {
        let [rows, cols] = self.first.as_ref().map_or([0, 0], |(_, size)| *size);
        let count = std::mem::take(&mut self.count);
        self.labels.clear();
        Array::new([count, rows, cols], std::mem::take(&mut self.data))
    }

    /// Appends the matrix of a file.
    pub fn add(&mut self, path: &Path, class: Option<u32>) -> Result<()> {
        let matrix = read_matrix(path)?;
        let size = [matrix.shape()[0], matrix.shape()[1]];
        let (first, wanted) = self.first.get_or_insert_with(|| (path.to_owned(), size));
        if *wanted != size {
            let what = format!(
                "{}x{} where {} is {}x{}; all must have the same size",
                size[0],
                size[1],
                first.display(),
                wanted[0],
                wanted[1]
            );
            return Err(Error::format(path, what));
        }
        self.data.extend(matrix.data());
        self.labels.extend(class);
        self.count += 1;
        Ok(())
    }
}
