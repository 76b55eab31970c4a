//! The datasets of the paper, each read as its public home serves it.

pub mod babi;
pub mod eeg;
pub mod frey;
pub mod linqs;
pub mod mnist;
pub mod moving;
pub mod moving_mnist_npy;
pub mod planetoid;

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The first of `names` that stands in `dir`; the error lists them all.
pub(crate) fn first_of(dir: &Path, names: &[&str]) -> Result<PathBuf> {
    let found = names.iter().map(|name| dir.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| Error::Missing(format!("{}: none of {} is there", dir.display(), names.join(", "))))
}
