//! Tables with a sample per row.

use std::collections::HashMap;
use std::path::Path;

use super::columnar::{is_columnar, shards};
use super::files::SampleFile;
use super::labels::{classes_note, require_few_classes, require_finite};
use super::table_files::{Features, TableFiles, unnamed_note};
use super::{ReadOptions, TargetKind};
#[cfg(feature = "columnar")]
use crate::StoredArray;
use crate::format::class_names::sort_classes;
#[cfg(feature = "columnar")]
use crate::format::columnar::ColumnarTable;
use crate::format::table::{ColumnKind, TableNames, TextColumn};
#[cfg(feature = "columnar")]
use crate::stored::StoredTable;
use crate::{Array, Dataset, Error, Result, Samples, Target};

/// Whether a path is read as a table with a sample per row.
pub(super) fn has_rows(path: &Path, options: &ReadOptions) -> bool {
    is_columnar(path)
        || shards(path).is_ok_and(|files| !files.is_empty())
        || SampleFile::of(path) == Some(SampleFile::Table) && options.ask_for_rows()
}

/// A table with a sample per row.
pub(super) fn load(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let described = Described::open(path, options)?;
    let (samples, notes) = described.samples(options, |files, features| {
        let [high, across] = shape(options.shape, features.len(), path)?;
        Array::new([files.head.rows, high, across], files.numbers(features)?)
    })?;
    Ok(Dataset { notes, ..Dataset::from(samples) })
}

/// A table in Parquet files, whose inputs stay there; and remarks for the user.
#[cfg(feature = "columnar")]
pub(super) fn open_stored(
    path: &Path,
    options: &ReadOptions,
) -> Result<Option<(Samples<StoredArray>, Vec<String>)>> {
    let described = Described::open(path, options)?;
    let stored = |files: &TableFiles, features: &[usize]| stored(files, features, path, options);
    described.samples(options, stored).map(Some)
}

#[cfg(not(feature = "columnar"))]
pub(super) fn open_stored(
    path: &Path,
    _: &ReadOptions,
) -> Result<Option<(Samples<crate::StoredArray>, Vec<String>)>> {
    Err(no_columnar(path))
}

#[cfg(feature = "columnar")]
fn stored(files: &TableFiles, features: &[usize], path: &Path, options: &ReadOptions) -> Result<StoredArray> {
    let [high, across] = shape(options.shape, features.len(), path)?;
    let again = shards(path)?.iter().map(ColumnarTable::open).collect::<Result<Vec<_>>>()?;
    let table = StoredTable::new(again, features.to_vec());
    Ok(StoredArray::of_table(path, vec![files.head.rows, high, across], table))
}

/// The inputs of Parquet files with a sample per row, for prediction: they stay there, target columns are ignored.
#[cfg(feature = "columnar")]
pub(super) fn stored_inputs(path: &Path, options: &ReadOptions) -> Result<StoredArray> {
    let (files, features) = input_columns(path, options)?;
    stored(&files, &features, path, options)
}

/// The inputs of a table with a sample per row, for prediction: target columns are ignored, and may be absent.
pub(super) fn inputs(path: &Path, options: &ReadOptions) -> Result<Array> {
    let (files, features) = input_columns(path, options)?;
    let [high, across] = shape(options.shape, features.len(), path)?;
    Array::new([files.head.rows, high, across], files.numbers(&features)?)
}

fn input_columns(path: &Path, options: &ReadOptions) -> Result<(TableFiles, Vec<usize>)> {
    options.allow(path, "a table", &["target_column", "columns", "shape"])?;
    let files = TableFiles::open(path, TableNames::Given)?;
    let targets: Vec<usize> = options.target_columns.iter().filter_map(|name| files.find(name)).collect();
    let features = files.features(options, &targets)?.columns;
    Ok((files, features))
}

/// A table whose columns are known.
struct Described {
    files: TableFiles,
    features: Features,
    targets: Vec<usize>,
    kind: Option<TargetKind>,
}

impl Described {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let mut allowed = vec!["target_column", "columns", "shape"];
        allowed.extend((!options.target_columns.is_empty()).then_some("target"));
        options.allow(path, "a table without `target_column`", &allowed)?;
        let files = TableFiles::open(path, TableNames::Given)?;
        if options.target_columns.is_empty() && options.columns.is_empty() {
            files.require_names()?;
        }
        let targets = files.named(&options.target_columns)?;
        let features = files.features(options, &targets)?;
        let kind = files.target_kind(options.target, &targets)?;
        Ok(Self { files, features, targets, kind })
    }

    /// The samples, with inputs that are made of the columns of features; and remarks for the user.
    fn samples<I>(
        self,
        options: &ReadOptions,
        inputs: impl FnOnce(&TableFiles, &[usize]) -> Result<I>,
    ) -> Result<(Samples<I>, Vec<String>)> {
        let Self { files, features, targets, kind } = self;
        let inputs = inputs(&files, &features.columns)?;
        let column_names = features.columns.iter().map(|&column| files.head.names[column].clone()).collect();
        let values = || Array::new([files.head.rows, targets.len()], files.numbers(&targets)?);
        let target = match kind {
            None => Target::None,
            Some(TargetKind::Class) => {
                let target = classes(files.read(&[], &targets)?.texts, &files.path)?;
                if let (Target::Classes { names, .. }, None, ColumnKind::Integer) =
                    (&target, options.target, files.head.kinds[targets[0]])
                {
                    require_few_classes(names.len(), files.head.rows, &files.path)?;
                }
                target
            }
            Some(TargetKind::Labels) => labels(&values()?, &files, options, &files.path)?,
            Some(TargetKind::Value | TargetKind::Matrix) => {
                let values = values()?;
                require_finite(&values, &files.path, "the target of ")?;
                Target::Values { values, names: options.target_columns.clone() }
            }
        };
        let left_out = features.left_out.join(", ");
        let note = format!("columns left out, because they do not hold numbers: {left_out}");
        let note = Some(note).filter(|_| !left_out.is_empty());
        let notes = [
            note,
            unnamed_note(features.unnamed),
            classes_note(&target).filter(|_| options.target.is_none()),
        ];
        let samples = Samples { column_names, ..Samples::new(inputs, target) };
        Ok((samples, notes.into_iter().flatten().collect()))
    }
}

/// Rows and columns of a sample of `count` features.
fn shape(shape: Option<[usize; 2]>, count: usize, path: &Path) -> Result<[usize; 2]> {
    match shape {
        None => Ok([count, 1]),
        Some([rows, cols]) if rows.checked_mul(cols) == Some(count) => Ok([rows, cols]),
        Some([rows, cols]) => {
            let what = format!("{count} features cannot fill {rows}x{cols}, which is what `shape` says");
            Err(Error::format(path, what))
        }
    }
}

fn classes(mut texts: Vec<TextColumn>, path: &Path) -> Result<Target> {
    let Some(mut column) = texts.pop() else { return Ok(Target::None) };
    if let Some(at) = column.indices.iter().position(Option::is_none) {
        return Err(Error::format(path, format!("sample {at} has no class; one is expected")));
    }
    let known: HashMap<String, u32> = column.names.into_iter().zip(0..).collect();
    let names = sort_classes(known, &mut column.indices);
    Ok(Target::Classes { labels: column.indices.into_iter().flatten().collect(), names })
}

fn labels(values: &Array, files: &TableFiles, options: &ReadOptions, path: &Path) -> Result<Target> {
    let width = options.target_columns.len();
    if let Some(at) = values.data().iter().position(|&x| x != 0.0 && x != 1.0) {
        let what = format!(
            "sample {} has {} in column {:?}; labels of 0 and 1 expected, or `target = \"value\"`",
            at / width,
            values.data()[at],
            options.target_columns[at % width]
        );
        return Err(Error::format(&files.path, what));
    }
    let flags: Vec<bool> = values.data().iter().map(|&x| x == 1.0).collect();
    if flags.is_empty() {
        return Err(Error::format(path, "holds no samples"));
    }
    Ok(Target::MultiLabels { flags, names: options.target_columns.clone() })
}
