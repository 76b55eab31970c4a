//! Samples from the arrays of an `.npz`.

use std::path::Path;

use super::labels::{classes_note, label_indices, require_known, require_one_each, split};
use super::target::{TargetContext, clear_padding};
use super::{ReadOptions, inputs, leftovers};
use crate::format::npz::Npz;
use crate::format::raw::RawArray;
use crate::pieces::Pieces;
use crate::{Array, Dataset, Error, Result, Samples, SplitIndices, StoredArray, Target};

/// Samples from `x` and, if they are there, the other arrays in the table of [`local`](crate::local).
pub(super) fn samples(mut npz: Npz, path: &Path, options: &ReadOptions) -> Result<Dataset> {
    options.allow(path, "an .npz", &["target"])?;
    let counted = npz.get("length").is_some();
    let (x, lengths) = inputs_and_lengths(&mut npz, path)?;
    if !counted && options.lengths_differ {
        refuse_padding(&x, path)?;
    }
    let padding = if counted { None } else { padding_note(&x) };
    let shape = x.shape().to_vec();
    let (samples, mut notes) = described(npz, path, options, x, &shape, lengths)?;
    notes.extend(padding);
    Ok(Dataset { notes, ..Dataset::from(samples) })
}

/// The number of sequences that end in steps of zeros, and whether all of these ends are of one length.
fn zero_ends(x: &Array) -> (usize, bool) {
    let &[_, time, rows, cols] = x.shape() else { return (0, true) };
    let ends = x.data().chunks_exact((time * rows * cols).max(1)).map(|sequence| {
        let zero = |step: &&[f32]| step.iter().all(|&value| value == 0.0);
        sequence.chunks_exact(rows * cols).rev().take_while(zero).count()
    });
    // A sequence of nothing but zeros has no end.
    let ends: Vec<usize> = ends.filter(|&end| end < time).collect();
    (ends.iter().filter(|&&end| end > 0).count(), ends.iter().all(|&end| end == ends[0]))
}

/// A remark on sequences without lengths that look padded.
fn padding_note(x: &Array) -> Option<String> {
    let (count, even) = zero_ends(x);
    let all = x.len();
    (count > 0 && !even).then(|| {
        format!(
            "{count} of {all} sequences end in steps of zeros; if these are padding, an array `length` says how many steps each has"
        )
    })
}

/// Fails if sequences without lengths end in zeros.
pub(super) fn refuse_padding(x: &Array, path: &Path) -> Result<()> {
    let what = "sequences end in steps of zeros; those of the training data had different lengths, so an array `length` with the steps of each is expected here, too: in an .npz, or beside x.npy in a folder";
    match zero_ends(x).0 {
        0 => Ok(()),
        _ => Err(Error::format(path, what)),
    }
}

/// The same of sequences that stay in their file.
pub(super) fn refuse_stored_padding(x: &StoredArray, path: &Path) -> Result<()> {
    let pieces = Pieces::of(x.shape());
    (0..pieces.count()).try_for_each(|piece| refuse_padding(&x.samples(pieces.samples(piece))?, path))
}

/// Samples with these inputs, and the arrays beside `x`; also remarks for the user.
pub(super) fn described<I>(
    mut npz: Npz,
    path: &Path,
    options: &ReadOptions,
    x: I,
    shape: &[usize],
    lengths: Vec<usize>,
) -> Result<(Samples<I>, Vec<String>)> {
    let target = target(&mut npz, path, shape, &lengths, options)?;
    let mut notes: Vec<String> =
        classes_note(&target).filter(|_| options.target.is_none()).into_iter().collect();
    let count = shape[0];
    let mut found = Samples { lengths, ..Samples::new(x, target) };
    if let Some((raw, name)) = optional(&mut npz, path, "group")? {
        require_one_each(&raw, &name, "group", count)?;
        let (labels, names) = label_indices(&raw, &name)?;
        found.groups = require_known(labels, &name, "group")?;
        found.group_names = names;
    }
    if let Some((raw, name)) = optional(&mut npz, path, "weight")? {
        found.weights = weights_of(raw, &name, count, "sample")?;
    }
    let trained = npz.get("train").is_some();
    found.split = split(&mut npz, path, count, "sample")?;
    notes.extend(leftovers::samples(&npz, path)?);
    match found.split.as_mut().map_or(0, |split| complete(split, trained, count)) {
        0 => {}
        unused => notes.push(format!(
            "{unused} of {count} samples are in none of train, valid and test, and are not used"
        )),
    }
    Ok((found, notes))
}

/// `x`, and the lengths in `length`; whatever stands after the last step of a sequence is set to zero.
pub(super) fn inputs_and_lengths(npz: &mut Npz, path: &Path) -> Result<(Array, Vec<usize>)> {
    let mut x = inputs(npz.take("x")?, &path.join("x"))?;
    let lengths = lengths(npz, path, x.shape())?;
    clear_padding(&mut x, &lengths);
    Ok((x, lengths))
}

/// The lengths in `length` of inputs of this shape; none if all sequences have the same.
pub(super) fn lengths(npz: &mut Npz, path: &Path, shape: &[usize]) -> Result<Vec<usize>> {
    let Some((raw, name)) = optional(npz, path, "length")? else { return Ok(Vec::new()) };
    let &[count, time, _, _] = shape else {
        let what = format!("x has shape {shape:?}; only sequences [n, time, rows, cols] have lengths");
        return Err(Error::format(name, what));
    };
    require_one_each(&raw, &name, "length", count)?;
    let length = |(at, steps): (usize, i64)| match usize::try_from(steps) {
        Ok(steps) if (1..=time).contains(&steps) => Ok(steps),
        _ => Err(Error::format(&name, format!("sample {at} has {steps} steps; 1 to {time} expected"))),
    };
    let mut lengths = raw.integers(&name)?.into_iter().enumerate().map(length).collect::<Result<Vec<_>>>()?;
    if lengths.iter().all(|&length| length == time) {
        lengths.clear();
    }
    Ok(lengths)
}

/// The targets in `y`.
fn target(
    npz: &mut Npz,
    path: &Path,
    shape: &[usize],
    lengths: &[usize],
    options: &ReadOptions,
) -> Result<Target> {
    let Some((raw, name)) = optional(npz, path, "y")? else {
        return match options.target {
            None => Ok(Target::None),
            Some(_) => {
                Err(Error::format(path, "`target` says what the targets are, but there is no array y"))
            }
        };
    };
    let (class_names, names) = (texts(npz, path, "classes")?, texts(npz, path, "target_names")?);
    let context =
        TargetContext { name: &name, inputs: shape, lengths, kind: options.target, class_names, names };
    context.read(raw)
}

/// A list of strings, if it is there.
pub(super) fn texts(npz: &mut Npz, path: &Path, key: &str) -> Result<Option<Vec<String>>> {
    let Some((raw, name)) = optional(npz, path, key)? else { return Ok(None) };
    match (raw.shape(), raw.texts()) {
        ([_], Some(texts)) => Ok(Some(texts)),
        (shape, _) => Err(Error::format(name, format!("shape {shape:?}; a list of strings expected"))),
    }
}

/// An array and its name in errors, if it is there.
pub(super) fn optional(
    npz: &mut Npz,
    path: &Path,
    key: &str,
) -> Result<Option<(RawArray, std::path::PathBuf)>> {
    match npz.get(key) {
        None => Ok(None),
        Some(_) => Ok(Some((npz.take(key)?, path.join(key)))),
    }
}

/// The weight of each sample or node, which is the `thing` that errors name.
pub(super) fn weights_of(raw: RawArray, name: &Path, count: usize, thing: &str) -> Result<Vec<f32>> {
    if raw.shape() != [count] {
        let what = format!("shape {:?}; one weight for each of {count} {thing}s expected", raw.shape());
        return Err(Error::format(name, what));
    }
    let weights = raw.into_array(name)?;
    if let Some(at) = weights.data().iter().position(|w| !w.is_finite() || *w < 0.0) {
        let what = format!("{thing} {at} has weight {}; finite numbers from 0 expected", weights.data()[at]);
        return Err(Error::format(name, what));
    }
    if weights.data().iter().all(|&w| w == 0.0) {
        return Err(Error::format(name, "all weights are 0; some above 0 expected"));
    }
    Ok(weights.into_data())
}

/// Where the file has no `train`, all samples that are in no other split are for training. Returns how many are in none.
fn complete(split: &mut SplitIndices, trained: bool, count: usize) -> usize {
    let mut used = vec![false; count];
    for &at in split.train.iter().chain(&split.valid).chain(&split.test) {
        used[at] = true;
    }
    let unused = (0..count).filter(|&at| !used[at]);
    if trained {
        return unused.count();
    }
    split.train = unused.collect();
    0
}
