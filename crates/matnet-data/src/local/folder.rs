//! Folders of images, recordings or tables, a `.ts` dataset, or the two texts of a graph.

use std::path::{Path, PathBuf};

use super::files::{SampleFile, SampleFiles};
use super::{ReadOptions, arrays, graph_tables, ts};
use crate::format::edgelist::natural;
use crate::{Dataset, Error, Result, Samples, Target};

/// The files and the folders in a folder, sorted by name, without hidden ones.
pub(crate) fn list(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
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

/// Loads the graph, the series, or the matrices by class, of a folder.
pub(super) fn load(dir: &Path, options: &ReadOptions) -> Result<Dataset> {
    if let Some(names) = arrays::names(dir)? {
        return arrays::load(dir, &names, options);
    }
    let (files, _) = list(dir)?;
    if let Some((edges, nodes)) = graph_files(&files) {
        options.allow(dir, "a graph", &[])?;
        return Ok(graph_tables::read(edges, nodes)?.into());
    }
    let series: Vec<PathBuf> = files.into_iter().filter(|file| ts::is_ts(file)).collect();
    if !series.is_empty() {
        return ts::load_folder(dir, &series, options);
    }
    let (found, names) = class_files(dir)?;
    let (paths, classes): (Vec<PathBuf>, Vec<Option<u32>>) = found.into_iter().unzip();
    let mut files = SampleFiles::new(dir, paths, options)?;
    let (inputs, lengths) = files.read(0..files.len())?;
    let target = match names.is_empty() {
        true => Target::None,
        false => Target::Classes { labels: classes.into_iter().flatten().collect(), names },
    };
    let dataset = Dataset::from(Samples { lengths, ..Samples::new(inputs, target) });
    Ok(match files.note() {
        Some(note) => dataset.with_note(note),
        None => dataset,
    })
}

/// The files of samples in a folder, or in its folders, for prediction.
pub(super) fn sample_files(dir: &Path) -> Result<Vec<PathBuf>> {
    Ok(class_files(dir)?.0.into_iter().map(|(file, _)| file).collect())
}

/// The files of a folder that hold one sample each, sorted, with the class of each; and the class names. If there are folders of such
/// files, they are the classes, and files beside them are ignored.
#[allow(clippy::type_complexity)]
fn class_files(dir: &Path) -> Result<(Vec<(PathBuf, Option<u32>)>, Vec<String>)> {
    // Beside images or recordings, a text is a note, not a matrix: only the first kind counts.
    let samples = |files: Vec<PathBuf>| -> Vec<PathBuf> {
        let kind = files.iter().filter_map(|file| SampleFile::of(file)).min();
        files.into_iter().filter(|file| kind.is_some() && SampleFile::of(file) == kind).collect()
    };
    let (files, folders) = list(dir)?;
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for folder in &folders {
        let (files, _) = list(folder)?;
        let files = samples(files);
        if files.is_empty() {
            continue;
        }
        let class = names.len() as u32;
        names.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        found.extend(files.into_iter().map(|file| (file, Some(class))));
    }
    if names.is_empty() {
        found.extend(samples(files).into_iter().map(|file| (file, None)));
    }
    Ok((found, names))
}

/// The edge list and the node table, if the folder has both.
pub(crate) fn graph_files(files: &[PathBuf]) -> Option<(&PathBuf, &PathBuf)> {
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
