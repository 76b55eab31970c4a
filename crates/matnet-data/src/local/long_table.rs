//! One long series as a table: a row per time step, a column per channel.

use std::path::Path;

use super::ReadOptions;
use super::columnar::is_columnar;
use super::files::SampleFile;
use super::table_files::{TableFiles, unnamed_note};
use super::times::{TimeOrder, duration, same_step};
use crate::format::bounded::Input;
use crate::format::npy;
use crate::format::table::{self, ColumnKind, TIMES, TableHead, TableNames};
use crate::{Array, Dataset, Error, Result, TableData};

/// Loads one long table, a row per time step and a column per channel, for forecasting: `.csv`, `.tsv` or `.txt`, gzipped or not,
/// `.parquet`, `.arrow`, `.feather`, or an `.npy` `[rows, columns]`.
///
/// A column of times is left out, with a note: one that is called `date`, `time`, `datetime`, `timestamp` or `ds`, or else the first
/// one that does not hold numbers. Dates that are out of order are an error. Any other column must hold numbers; missing ones are NaN.
pub fn load_table(path: impl AsRef<Path>) -> Result<Dataset> {
    load_columns(path.as_ref(), &ReadOptions::default(), Nameless::Refused)
}

/// What is done with a table without names where columns are wanted by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nameless {
    /// It is an error.
    Refused,
    /// As many columns as wanted are taken as they stand.
    AsTheyStand,
}

/// The same with the columns of the options only, in their order; all if there are none.
pub(super) fn load_columns(path: &Path, options: &ReadOptions, nameless: Nameless) -> Result<Dataset> {
    let wanted = &options.columns[..];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".npy") {
        if !wanted.is_empty() && nameless == Nameless::Refused {
            return Err(Error::format(path, "`columns` has no effect on an .npy; its columns have no names"));
        }
        let values = npy::read(path)?.into_array(path)?;
        return match values.shape() {
            [rows, columns] if rows * columns > 0 => Ok(TableData::new(values)?.into()),
            shape => Err(Error::format(path, format!("shape {shape:?}; one table [rows, columns] expected"))),
        };
    }
    let files = TableFiles::open(path, TableNames::Detect)?;
    let head = &files.head;
    let by_name = head.names.iter().position(|name| TIMES.iter().any(|time| time.eq_ignore_ascii_case(name)));
    let time = by_name.or(head.kinds.iter().position(|kind| *kind == ColumnKind::Text));
    // A column without a name is the index that pandas writes.
    let mut columns: Vec<usize> = (0..head.names.len())
        .filter(|&column| Some(column) != time && !head.names[column].is_empty())
        .collect();
    let chosen = !wanted.is_empty() && (head.named || nameless == Nameless::Refused);
    if chosen {
        columns = files.named(wanted)?;
    } else if head.named {
        files.require_distinct(&columns)?;
    }
    if let Some(&text) = columns.iter().find(|&&column| head.kinds[column] == ColumnKind::Text) {
        let what = format!(
            "column {:?} does not hold numbers; only a column of times is left out, which is {:?}",
            head.names[text],
            time.map_or("", |time| &head.names[time])
        );
        return Err(Error::format(path, what));
    }
    if columns.is_empty() {
        return Err(Error::format(path, "holds no column of numbers"));
    }
    let values = Array::new([head.rows, columns.len()], files.numbers(&columns)?)?;
    let mut table = TableData::new(values)?;
    if head.named {
        table.column_names = columns.iter().map(|&column| head.names[column].clone()).collect();
    }
    let times = time.map(|time| time_order(&files, time, options.row_step)).transpose()?;
    table.row_step = times.as_ref().and_then(|(step, _)| *step);
    let mut dataset = Dataset::from(table);
    if let Some(note) = times.and_then(|(_, note)| note) {
        dataset = dataset.with_note(note);
    }
    if chosen {
        return Ok(dataset);
    }
    if let Some(time) = time {
        let what = if by_name.is_some() { "holds times" } else { "does not hold numbers" };
        dataset = dataset.with_note(format!("column {:?} {what} and is left out", head.names[time]));
    }
    let unnamed = (0..head.names.len()).filter(|&at| Some(at) != time && head.names[at].is_empty()).count();
    Ok(unnamed_note(unnamed).into_iter().fold(dataset, Dataset::with_note))
}

/// Fails if the rows of a table are not in the order of the dates in a column, or if these have another step than wanted. Gives their step, and
/// a remark on what may be wrong otherwise.
fn time_order(
    files: &TableFiles,
    column: usize,
    wanted: Option<f64>,
) -> Result<(Option<f64>, Option<String>)> {
    let name = &files.head.names[column];
    let mut order = TimeOrder::default();
    files.each_word(column, &mut |row, word| {
        order
            .see(row, word)
            .map_err(|what| files.error(format!("{what}; rows in the order of column {name:?} expected")))
    })?;
    let step = order.step();
    if let (Some(found), Some(wanted)) = (step, wanted)
        && !same_step(found, wanted)
    {
        let (found, wanted) = (duration(found), duration(wanted));
        return Err(files.error(format!(
            "in column {name:?} rows follow each other after {found}, those of the training data after {wanted}; resample before"
        )));
    }
    Ok((step, order.note(name)))
}

/// Whether a path is read as one long table: the user says so, or it is text that has a column of times.
pub(super) fn is_long(path: &Path, options: &ReadOptions) -> bool {
    let text = SampleFile::of(path) == Some(SampleFile::Table);
    if options.long_table && options.target_columns.is_empty() && options.shape.is_none() {
        return text || is_columnar(path) || SampleFile::of(path) == Some(SampleFile::Npy);
    }
    if options.ask_for_rows() {
        return false;
    }
    let has_text = |head: TableHead| head.kinds.contains(&ColumnKind::Text);
    text && options.layout.is_none() && table::scan(path, TableNames::Detect).is_ok_and(has_text)
}

/// Whether a path is a table of rows and columns, and nothing more.
pub(super) fn is_one_table(path: &Path) -> Result<bool> {
    Ok(match SampleFile::of(path) {
        _ if path.is_dir() => false,
        Some(SampleFile::Table) => true,
        Some(SampleFile::Npy) => npy::header(&mut Input::open(path)?)?.shape.len() == 2,
        _ => is_columnar(path),
    })
}
