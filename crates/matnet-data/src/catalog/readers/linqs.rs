//! LINQS citation graphs as plain text: `NAME.content` (paper, words, class) and `NAME.cites` (cited, citing).

use std::path::{Path, PathBuf};

use crate::format::archive;
use crate::format::bounded::Input;
use crate::format::edgelist;
use crate::{Error, GraphData, Result};

/// Loads a LINQS graph from a folder (or an archive) with one `.content` and one `.cites`.
///
/// Edges are as in `.cites`: (cited, citing), duplicates included; the graph is undirected.
pub fn load(path: impl AsRef<Path>) -> Result<GraphData> {
    let path = path.as_ref();
    if path.is_dir() {
        if let (Some(content), Some(cites)) = (with_ending(path, "content")?, with_ending(path, "cites")?) {
            return edgelist::read(cites, content);
        }
        let packed = files(path)?.into_iter().find(|file| archive::is_archive(&file.to_string_lossy()));
        return match packed {
            Some(packed) => load_archive(&packed),
            None => {
                Err(Error::Missing(format!("{}: no .content and .cites, and no archive", path.display())))
            }
        };
    }
    load_archive(path)
}

/// The files in a folder, sorted by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn with_ending(dir: &Path, ending: &str) -> Result<Option<PathBuf>> {
    Ok(files(dir)?.into_iter().find(|file| file.extension().is_some_and(|e| e == ending)))
}

fn load_archive(path: &Path) -> Result<GraphData> {
    let (mut content, mut cites) = (None, None);
    archive::each(path, &mut |mut entry| {
        if entry.name.ends_with(".content") {
            content = Some((entry.input.name().to_owned(), entry.input.rest()?));
        } else if entry.name.ends_with(".cites") {
            cites = Some((entry.input.name().to_owned(), entry.input.rest()?));
        }
        Ok(())
    })?;
    match (content, cites) {
        (Some((content_name, content)), Some((cites_name, cites))) => edgelist::parse(
            Input::bytes_packed(cites_name, &cites),
            Input::bytes_packed(content_name, &content),
        ),
        _ => Err(Error::format(path, "holds no .content and .cites")),
    }
}
