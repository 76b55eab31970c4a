//! Samples from `.ts` files: one file, or the two halves of a dataset.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::labels::require_finite;
use super::series::{SeriesForm, SeriesList};
use super::{Layout, ReadOptions, TargetKind};
use crate::error::counted;
use crate::format::class_names::sort_classes;
use crate::format::ts::{self, TimeSeries};
use crate::{Array, Dataset, Error, Result, Samples, Target};

/// Whether a file name is that of a `.ts`.
pub(super) fn is_ts(path: &Path) -> bool {
    stem(path).is_some()
}

/// The file name without `.ts` or `.ts.gz`, if it has that ending.
fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let lower = name.to_ascii_lowercase();
    let short = lower.strip_suffix(".gz").unwrap_or(&lower).strip_suffix(".ts")?.len();
    name.get(..short).map(str::to_owned)
}

/// The name of the dataset of which a file is a half, and whether it is the training half.
fn half(path: &Path) -> Option<(String, bool)> {
    let stem = stem(path)?;
    let ends = |end: &str| {
        let at = stem.len().checked_sub(end.len())?;
        let (name, found) = (stem.get(..at)?, stem.get(at..)?);
        found.eq_ignore_ascii_case(end).then(|| name.to_owned())
    };
    ends("_TRAIN").map(|name| (name, true)).or(ends("_TEST").map(|name| (name, false)))
}

/// Loads a file, with its other half if that lies beside it.
pub(super) fn load(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let other = half(path).filter(|_| !options.single_file).and_then(|(name, train)| {
        let folder = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let beside = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut found: Vec<PathBuf> =
            beside.filter(|file| half(file).is_some_and(|(n, t)| n == name && t != train)).collect();
        found.sort();
        Some((found.into_iter().next()?, train))
    });
    match other {
        Some((test, true)) => read(&[path, &test], options),
        Some((train, false)) => read(&[&train, path], options),
        None => read(&[path], options),
    }
}

/// Loads the only file, or the only two halves, of a folder.
pub(super) fn load_folder(dir: &Path, files: &[PathBuf], options: &ReadOptions) -> Result<Dataset> {
    match files {
        [one] => read(&[one], options),
        [a, b] => match (half(a), half(b)) {
            (Some((x, true)), Some((y, false))) if x == y => read(&[a, b], options),
            (Some((x, false)), Some((y, true))) if x == y => read(&[b, a], options),
            _ => Err(several(dir, files)),
        },
        _ => Err(several(dir, files)),
    }
}

fn several(dir: &Path, files: &[PathBuf]) -> Error {
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let some: Vec<String> = files.iter().take(4).map(name).collect();
    let more = if files.len() > 4 { ", …" } else { "" };
    let what = format!(
        "holds several .ts files ({}{more}); name one, or keep one pair NAME_TRAIN.ts and NAME_TEST.ts",
        some.join(", ")
    );
    Error::format(dir, what)
}

/// Reads one file, or the training and the test half.
fn read(files: &[&Path], options: &ReadOptions) -> Result<Dataset> {
    let mut halves = Vec::with_capacity(files.len());
    for file in files {
        options.allow(file, "a .ts file", &["target", "layout"])?;
        let series = ts::read(file)?;
        if series.lengths.is_empty() {
            return Err(Error::format(file, "holds no series"));
        }
        halves.push(series);
    }
    let targets = halves.iter().zip(files).map(|(half, file)| targets(half, file, options.target));
    let target = merge(targets.collect::<Result<_>>()?, files)?;
    if let [first, second] = &halves[..]
        && first.channels != second.channels
    {
        let (channels, whose) = (counted(second.channels, "channel"), files[0].display());
        let what = format!("{channels} where {whose} has {}", first.channels);
        return Err(Error::format(files[1], what));
    }
    let counts: Vec<usize> = halves.iter().map(|half| half.lengths.len()).collect();
    let (inputs, lengths) = series(halves, options, files[files.len() - 1])?;
    let samples = Samples { lengths, ..Samples::new(inputs, target) };
    Ok(match counts[..] {
        [train, test] => {
            let names =
                [0, 1].map(|at| files[at].file_name().unwrap_or_default().to_string_lossy().into_owned());
            let note = format!("{train} samples of {} and {test} test samples of {}", names[0], names[1]);
            Dataset::from(samples.with_official_test(train..train + test)).with_note(note)
        }
        _ => samples.into(),
    })
}

/// The inputs of one file, for prediction: whatever stands at the end of its lines is ignored.
pub(super) fn inputs(path: &Path, options: &ReadOptions) -> Result<(Array, Vec<usize>)> {
    series(vec![ts::read(path)?], options, path)
}

/// The series of all halves, in the layout of the options.
fn series(halves: Vec<TimeSeries>, options: &ReadOptions, path: &Path) -> Result<(Array, Vec<usize>)> {
    let mut list = SeriesList::new(&[halves[0].channels]);
    for half in halves {
        let mut rest = &half.values[..];
        for &length in &half.lengths {
            let (one, after) = rest.split_at(length as usize * half.channels);
            list.push_channels(one)?;
            rest = after;
        }
    }
    list.finish(SeriesForm::of(options, Layout::Sequence), path)
}

/// The targets of a file, before the classes of both halves have one numbering.
enum Half {
    None,
    Classes(Vec<String>),
    Values(Vec<f32>),
}

fn targets(series: &TimeSeries, path: &Path, kind: Option<TargetKind>) -> Result<Half> {
    let (classes, values) = (!series.labels.is_empty(), !series.targets.is_empty());
    let names = || series.labels.iter().map(|&label| series.class_names[label as usize].clone());
    let found = match kind {
        None if values => Half::Values(series.targets.clone()),
        None if classes => Half::Classes(names().collect()),
        None => Half::None,
        Some(_) if !classes && !values => {
            return Err(Error::format(path, "`target` says what the targets are, but the file has none"));
        }
        Some(TargetKind::Value) if values => Half::Values(series.targets.clone()),
        Some(TargetKind::Value) => {
            let parse = |(at, name): (usize, String)| {
                name.parse::<f32>().map_err(|_| {
                    Error::format(path, format!("the target of sample {at} is {name:?}; a number expected"))
                })
            };
            Half::Values(names().enumerate().map(parse).collect::<Result<_>>()?)
        }
        Some(TargetKind::Class) if classes => Half::Classes(names().collect()),
        Some(TargetKind::Class) => {
            return Err(Error::format(
                path,
                "holds values to predict (@targetlabel), where `target` says classes",
            ));
        }
        Some(TargetKind::Labels | TargetKind::Matrix) => {
            return Err(Error::format(
                path,
                "a .ts file has one class or value per series; `target` says otherwise",
            ));
        }
    };
    if let Half::Values(values) = &found {
        require_finite(&Array::new([values.len()], values.clone())?, path, "the target of ")?;
    }
    Ok(found)
}

/// The targets of all halves, with one numbering of the classes.
fn merge(halves: Vec<Half>, files: &[&Path]) -> Result<Target> {
    let (mut values, mut labels, mut classes) = (Vec::new(), Vec::new(), HashMap::new());
    let (mut none, mut spelled) = (0, HashMap::new());
    let count = halves.len();
    for (half, file) in halves.into_iter().zip(files) {
        match half {
            Half::None => none += 1,
            Half::Values(more) => values.extend(more),
            Half::Classes(names) => {
                for (at, name) in names.into_iter().enumerate() {
                    if name.is_empty() || name == "?" {
                        return Err(Error::format(
                            file,
                            format!("sample {at} has no class; one is expected"),
                        ));
                    }
                    let known = spelled.entry(ts::spelling(&name)).or_insert_with(|| name.clone());
                    if *known != name {
                        let what = format!("the classes {known:?} and {name:?}; one spelling expected");
                        return Err(Error::format(file, what));
                    }
                    let next = classes.len() as u32;
                    labels.push(Some(*classes.entry(name).or_insert(next)));
                }
            }
        }
    }
    let (some_values, some_classes) = (!values.is_empty(), !labels.is_empty());
    if some_values && some_classes || none > 0 && none < count {
        return Err(Error::format(
            files[1],
            format!("has targets of another kind than {}; the same expected", files[0].display()),
        ));
    }
    if some_values {
        return Ok(Target::Values {
            values: Array::new([values.len(), 1], values)?,
            names: vec!["y".to_owned()],
        });
    }
    if !some_classes {
        return Ok(Target::None);
    }
    let names = sort_classes(classes, &mut labels);
    Ok(Target::Classes { labels: labels.into_iter().flatten().collect(), names })
}
