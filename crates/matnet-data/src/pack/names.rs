//! The names of the files of a packed graph, and files that hold names.

use std::borrow::Cow;
use std::io::BufWriter;
use std::path::Path;

use super::array::write_all;
use crate::{Error, Result, files};

pub(super) const FEATURES: &str = "features.npy";
pub(super) const DEGREES: &str = "degrees.npy";
pub(super) const LOOPS: &str = "loops.npy";
pub(super) const ORDER: &str = "order.npy";
pub(super) const LABELS: &str = "labels.npy";
pub(super) const NAMES: &str = "names.txt";
pub(super) const FEATURE_NAMES: &str = "features.txt";
pub(super) const SPLIT: [&str; 3] = ["train.npy", "valid.npy", "test.npy"];

pub(super) fn offsets_name(relation: usize) -> String {
    format!("offsets-{relation}.npy")
}

pub(super) fn neighbors_name(relation: usize) -> String {
    format!("neighbors-{relation}.npy")
}

/// Writes names, one per line; `what` has them.
pub(super) fn write_names<'a>(
    path: &Path,
    what: &str,
    names: impl Iterator<Item = Cow<'a, str>>,
) -> Result<()> {
    let failed = |error| Error::io(path, error);
    let mut out = BufWriter::new(files::create(path)?);
    for (at, name) in names.enumerate() {
        if name.contains(['\n', '\r']) {
            return Err(Error::Invalid(format!("{what} {at} has a line break in its name")));
        }
        write_all(&mut out, name.as_bytes()).and_then(|()| write_all(&mut out, b"\n")).map_err(failed)?;
    }
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    files::sync(&file, path)
}
