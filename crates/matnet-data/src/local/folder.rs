//! Folders of images, recordings or tables, a `.ts` dataset, or the two texts of a graph.

use std::path::{Path, PathBuf};

use super::files::{SampleFile, SampleFiles, graph_files};
use super::{ReadOptions, arrays, graph_tables, ts};
use crate::format::class_names::natural;
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
        return graph_tables::read(edges, nodes).map(graph_tables::with_note);
    }
    let series: Vec<PathBuf> = files.into_iter().filter(|file| ts::is_ts(file)).collect();
    if !series.is_empty() {
        return ts::load_folder(dir, &series, options);
    }
    let ClassFiles { found, names, unused } = class_files(dir)?;
    let (paths, classes): (Vec<PathBuf>, Vec<Option<u32>>) = found.into_iter().unzip();
    let mut files = SampleFiles::new(dir, paths, options)?;
    let (inputs, lengths) = files.read(0..files.len())?;
    let target = match names.is_empty() {
        true => Target::None,
        false => Target::Classes { labels: classes.into_iter().flatten().collect(), names },
    };
    let sample_rate = files.sample_rate();
    let dataset = Dataset::from(Samples { lengths, sample_rate, ..Samples::new(inputs, target) });
    let notes = files.note().into_iter().chain(unused_note(&unused));
    Ok(notes.fold(dataset, Dataset::with_note))
}

/// Names that a note lists.
const NAMED: usize = 3;

/// A remark on files and folders that are not used.
fn unused_note(unused: &[String]) -> Option<String> {
    let (named, more) =
        (unused.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", "), unused.len() > NAMED);
    let more = if more { ", …" } else { "" };
    match unused.len() {
        0 => None,
        1 => Some(format!("{named} is not used")),
        count => Some(format!("{count} files and folders are not used ({named}{more})")),
    }
}

/// The files of samples in a folder, or in its folders, for prediction.
pub(super) fn sample_files(dir: &Path) -> Result<Vec<PathBuf>> {
    Ok(class_files(dir)?.found.into_iter().map(|(file, _)| file).collect())
}

/// The files of a folder that hold one sample each.
struct ClassFiles {
    /// Sorted, with the class of each.
    found: Vec<(PathBuf, Option<u32>)>,
    /// The names of the classes.
    names: Vec<String>,
    /// What else is there.
    unused: Vec<String>,
}

/// Finds the files of samples in a folder. If there are folders of such files, they are the classes, and files beside them are not used.
fn class_files(dir: &Path) -> Result<ClassFiles> {
    let mut unused = Vec::new();
    let mut leave_out = |path: &Path| {
        unused.push(path.strip_prefix(dir).unwrap_or(path).display().to_string());
    };
    // Beside images or recordings, a text is a note, not a matrix: only the first kind counts.
    let samples = |files: Vec<PathBuf>| -> (Vec<PathBuf>, Vec<PathBuf>) {
        let kind = files.iter().filter_map(|file| SampleFile::of(file)).min();
        files.into_iter().partition(|file| kind.is_some() && SampleFile::of(file) == kind)
    };
    let (files, folders) = list(dir)?;
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for folder in &folders {
        let (files, below) = list(folder)?;
        let (files, others) = samples(files);
        if files.is_empty() {
            leave_out(folder);
            continue;
        }
        others.iter().chain(&below).for_each(|path| leave_out(path));
        let class = names.len() as u32;
        names.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        found.extend(files.into_iter().map(|file| (file, Some(class))));
    }
    let (files, others) = if names.is_empty() { samples(files) } else { (Vec::new(), files) };
    found.extend(files.into_iter().map(|file| (file, None)));
    others.iter().for_each(|path| leave_out(path));
    Ok(ClassFiles { found, names, unused })
}
