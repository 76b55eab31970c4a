//! Which paths are Parquet or Arrow.

use std::path::{Path, PathBuf};

use super::files::graph_files;
use crate::format::class_names::natural;
use crate::{Error, Result};

/// Whether a file name is that of a Parquet or Arrow table.
pub(crate) fn is_columnar(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ["parquet", "pq", "arrow", "feather"].contains(&ending.as_str())
}

/// The error for Parquet and Arrow where they cannot be read.
#[cfg(not(feature = "columnar"))]
pub(super) fn no_columnar(path: &Path) -> Error {
    let what =
        "is Parquet or Arrow, which this build cannot read; build it with the cargo feature `columnar`";
    Error::format(path, what)
}

/// The Parquet files that a path stands for: a folder of them, a pattern with `*` and `?` in the place of a file name, or one file. None if
/// it stands for something else.
pub(crate) fn shards(path: &Path) -> Result<Vec<PathBuf>> {
    let is_parquet = |path: &Path| {
        let end = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        ["parquet", "pq"].contains(&end.as_str())
    };
    let (folder, pattern) = match path.is_dir() {
        true => (path, None),
        false if path.exists() => {
            return Ok(if is_parquet(path) { vec![path.to_owned()] } else { Vec::new() });
        }
        false => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let folder = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            if !name.contains(['*', '?']) || !folder.is_dir() {
                return Ok(Vec::new());
            }
            (folder, Some(name))
        }
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))? {
        let entry = entry.map_err(|error| Error::io(folder, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Marks that Spark and others leave beside their files.
        if name.starts_with(['.', '_']) {
            continue;
        }
        let wanted = match &pattern {
            Some(pattern) => matches(pattern.as_bytes(), name.as_bytes()) && is_parquet(&entry.path()),
            None => is_parquet(&entry.path()),
        };
        match wanted {
            true => found.push(if pattern.is_some() && path.parent() == Some(Path::new("")) {
                PathBuf::from(name)
            } else {
                entry.path()
            }),
            // A folder that holds other things, too, is no table.
            false if pattern.is_none() => return Ok(Vec::new()),
            false => {}
        }
    }
    // A folder of nodes and edges is a graph.
    if pattern.is_none() && graph_files(&found).is_some() {
        return Ok(Vec::new());
    }
    found.sort_by_cached_key(|path| natural(&path.file_name().unwrap_or_default().to_string_lossy()));
    Ok(found)
}

/// Whether a name fits a pattern, in which `*` stands for any letters and `?` for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, n)| matches(pattern, n))
        }
        (Some((b'?', rest)), Some((_, name))) => matches(rest, name),
        (Some((a, rest)), Some((b, name))) => a == b && matches(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names() {
        let fits = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(fits("part-*.parquet", "part-0.parquet") && fits("*", "x") && fits("a?c*", "abc"));
        assert!(!fits("part-*.parquet", "part-0.parquet.crc") && !fits("?", "") && !fits("a", "ab"));
    }

    #[test]
    fn shards_stand_in_natural_order_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["part-10.parquet", "part-2.parquet", "_SUCCESS", ".hidden"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            shards(path).unwrap().iter().map(name).collect()
        };
        assert_eq!(names(folder.path()), ["part-2.parquet", "part-10.parquet"]);
        assert_eq!(names(&folder.path().join("*-2.*")), ["part-2.parquet"]);
        assert_eq!(names(&folder.path().join("part-2.parquet")), ["part-2.parquet"]);
        std::fs::write(folder.path().join("x.npy"), b"").unwrap();
        assert!(names(folder.path()).is_empty(), "a folder of other files");
        assert!(names(&folder.path().join("nothing")).is_empty());
    }
}
