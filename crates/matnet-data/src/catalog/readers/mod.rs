//! One reader per dataset, each for the files as their publisher serves them.

pub mod babi;
pub mod builtin;
#[cfg(feature = "research-formats")]
pub mod eeg;
pub mod ett;
#[cfg(feature = "research-formats")]
pub mod frey;
pub mod graph_npz;
pub mod linqs;
pub mod mnist;
pub mod moving_mnist;
#[cfg(feature = "research-formats")]
pub mod planetoid;
pub(super) mod repository;
pub mod uea;

use std::path::{Path, PathBuf};

use crate::format::npz::Npz;
use crate::{Array, Error, Result, Target};

/// The first of `names` that is a file in `dir`; the error lists them all.
fn first_of(dir: &Path, names: &[&str]) -> Result<PathBuf> {
    let found = names.iter().map(|name| dir.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| Error::Missing(format!("{}: none of {} is there", dir.display(), names.join(", "))))
}

/// The array `x` of an `.npz`.
fn inputs(file: &mut Npz) -> Result<Array> {
    let name = file.name_of("x");
    file.take("x")?.into_array(&name)
}

/// The array `x` of an `.npz`, whose values run from 0 to `levels`, as numbers between 0 and 1.
fn grey_inputs(file: &mut Npz, levels: f32) -> Result<Array> {
    let mut pixels = inputs(file)?;
    pixels.data_mut().iter_mut().for_each(|pixel| *pixel /= levels);
    Ok(pixels)
}

/// The array `y` of an `.npz`: class numbers below the number of `names`.
fn numbered_classes(file: &mut Npz, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Target> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    let path = file.name_of("y");
    let labels = file
        .take("y")?
        .map_integers(|class| u32::try_from(class).ok().filter(|&c| (c as usize) < names.len()));
    let labels = labels
        .ok_or_else(|| Error::format(&path, format!("classes from 0 to {} expected", names.len() - 1)))?;
    Ok(Target::Classes { labels, names })
}

/// Class names in the order of their first appearance, as classes.
fn named_classes(samples: impl IntoIterator<Item = String>) -> Target {
    let (mut labels, mut names) = (Vec::new(), Vec::<String>::new());
    for name in samples {
        let known = names.iter().position(|known| *known == name);
        labels.push(known.unwrap_or(names.len()) as u32);
        if known.is_none() {
            names.push(name);
        }
    }
    Target::Classes { labels, names }
}
