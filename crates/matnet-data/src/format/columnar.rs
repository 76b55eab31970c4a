//! Tables that are stored by column: `Parquet` and `Arrow`, as pandas, Arrow, Polars and DuckDB write them.
//!
//! Dates and times count as texts. Decimals, lists and structures are not read. An Arrow file is held in memory as a whole, a Parquet file is
//! read page by page; what they may unpack to is limited by a [`Budget`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use bytes::Bytes;

use crate::format::arrow::ArrowFile;
use crate::format::bounded::{Budget, Input};
use crate::format::columnar_file::{Column, ColumnarFile, Value};
use crate::format::parquet::{Chunks, ParquetFile};
use crate::format::table::{ColumnKind, Columns, TableHead, TextColumn};
use crate::{Array, Error, Result, files, memory};

/// A table whose columns are known.
pub struct ColumnarTable {
    name: PathBuf,
    file: Box<dyn ColumnarFile>,
    size: u64,
    head: TableHead,
    /// The rows of each group that can be read on its own.
    groups: Vec<usize>,
}

impl ColumnarTable {
    /// Opens a file and finds its columns. Its first bytes say which format it has.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut input = Input::open_packed(path)?;
        let in_file = input.left().filter(|&size| size > 8);
        let parquet = in_file.is_some() && input.peek(4)? == *b"PAR1";
        match in_file.filter(|_| parquet) {
            Some(size) => {
                let file = files::open(path)?;
                Self::of(path, size, |budget| {
                    Ok(Box::new(ParquetFile::new(Chunks::File(Arc::new(file), size), budget)?))
                })
            }
            None => Self::new(path, input.rest()?.into()),
        }
    }

    /// The same from memory, with `name` for errors.
    pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Self> {
        let copy = memory::collect(bytes.iter().copied(), name.as_ref().display())?;
        Self::new(name.as_ref(), copy.into())
    }

    fn new(name: &Path, bytes: Bytes) -> Result<Self> {
        Self::of(name, bytes.len() as u64, |budget| {
            Ok(match &bytes[..] {
                [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Box::new(ArrowFile::new(bytes, budget)?),
                [b'F', b'E', b'A', b'1', ..] => {
                    return Err("is a Feather file of version 1; save it with version 2".to_owned());
                }
                [0xff, 0xff, 0xff, 0xff, ..] => {
                    return Err("is an Arrow stream; save it as an Arrow file".to_owned());
                }
                _ => Box::new(ParquetFile::new(Chunks::Memory(bytes), budget)?),
            })
        })
    }

    fn of(
        name: &Path,
        size: u64,
        open: impl FnOnce(&Budget) -> Result<Box<dyn ColumnarFile>, String>,
    ) -> Result<Self> {
        let budget = Budget::for_size(size);
        let file = guarded(|| open(&budget)).map_err(|what| Error::format(name, what))?;
        let head = TableHead { names: Vec::new(), kinds: Vec::new(), rows: 0, named: true };
        let mut table = Self { name: name.to_owned(), file, size, head, groups: Vec::new() };
        table.scan()?;
        Ok(table)
    }

    /// The file.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// The rows of each group that can be read on its own.
    pub(crate) fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// The numbers of some columns in a group of rows, row by row, in the order of the columns.
    pub(crate) fn read_group(&self, group: usize, columns: &[usize]) -> Result<Vec<f32>> {
        let (rows, width) = (self.groups[group], columns.len());
        let size = rows.checked_mul(width).filter(|size| size.checked_mul(4).is_some());
        let size = size.ok_or_else(|| self.error(format!("says it has {rows} rows")))?;
        Budget::for_size(self.size).spend(4 * size as u64).map_err(|e| self.error(e.to_string()))?;
        let mut values = memory::filled(f32::NAN, size, self.name.display())?;
        for (place, &column) in columns.iter().enumerate() {
            let mut row = 0;
            self.each_in(group, column, &mut |value| {
                values[row * width + place] = number(value)?;
                row += 1;
                Ok(())
            })?;
        }
        Ok(values)
    }

    /// The columns and the number of rows.
    pub fn head(&self) -> &TableHead {
        &self.head
    }

    fn scan(&mut self) -> Result<()> {
        let file = &*self.file;
        let found = guarded(|| Ok((file.rows()?, file.columns()?, file.groups()?)));
        let (rows, columns, groups) = found.map_err(|what| self.error(what))?;
        if rows == 0 || columns.is_empty() {
            return Err(self.error("holds no row".to_owned()));
        }
        if groups.iter().try_fold(0_usize, |all, &group| all.checked_add(group)) != Some(rows) {
            return Err(self.error(format!("says it has {rows} rows, but its groups have another number")));
        }
        (self.head.rows, self.groups) = (rows, groups);
        for (at, Column { name, kind, missing }) in columns.into_iter().enumerate() {
            let kind = match kind {
                kind @ (ColumnKind::Integer | ColumnKind::Boolean) => {
                    let missing = match missing {
                        Some(known) => known,
                        None => self.has_missing(at, &name)?,
                    };
                    match (missing, kind) {
                        (false, kind) => kind,
                        (true, ColumnKind::Integer) => ColumnKind::Float,
                        (true, _) => ColumnKind::Text,
                    }
                }
                kind => kind,
            };
            // The index that pandas writes has no name.
            let name = if name.starts_with("__index_level_") { String::new() } else { name };
            self.head.names.push(name);
            self.head.kinds.push(kind);
        }
        Ok(())
    }

    fn has_missing(&self, column: usize, name: &str) -> Result<bool> {
        let mut missing = false;
        self.each_of(column, name, &mut |_, value| {
            missing |= value == Value::Missing;
            Ok(())
        })?;
        Ok(missing)
    }

    /// Reads some columns; both lists are of indices in increasing order.
    pub fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        let (rows, width) = (self.head.rows, numbers.len());
        let size = rows.checked_mul(width).filter(|size| size.checked_mul(4).is_some());
        let size = size.ok_or_else(|| self.error(format!("says it has {rows} rows")))?;
        Budget::for_size(self.size).spend(4 * size as u64).map_err(|e| self.error(e.to_string()))?;
        let mut values = memory::filled(f32::NAN, size, self.name.display())?;
        for (place, &column) in numbers.iter().enumerate() {
            self.each(column, &mut |row, value| {
                values[row * width + place] = number(value)?;
                Ok(())
            })?;
        }
        let mut columns = Vec::with_capacity(texts.len());
        for &column in texts {
            let mut found = TextColumn::default();
            self.each(column, &mut |_, value| found.push(&word(value)))?;
            columns.push(found);
        }
        Ok(Columns { numbers: Array::new([rows, width], values)?, texts: columns })
    }

    /// Passes every value of a column in a group of rows to `each`; there are as many as rows.
    pub(crate) fn each_in(
        &self,
        group: usize,
        column: usize,
        each: &mut dyn FnMut(Value) -> Result<(), String>,
    ) -> Result<()> {
        let (name, rows, mut row) = (&self.head.names[column], self.groups[group], 0);
        let budget = Budget::for_size(self.size);
        let read = guarded(|| {
            self.file.each_in(group, column, &mut |value| {
                if row == rows {
                    return Err(format!("column {name:?} has more than {rows} values in a group of rows"));
                }
                let length = if let Value::Text(text) = value { text.len() } else { 0 };
                budget.spend(4 + length as u64).map_err(|e| e.to_string())?;
                each(value).map_err(|what| format!("column {name:?} {what}"))?;
                row += 1;
                Ok(())
            })
        });
        read.map_err(|what| self.error(what))?;
        match row == rows {
            true => Ok(()),
            false => Err(self.error(format!("column {name:?} has {row} values in {rows} rows"))),
        }
    }

    /// Passes every value of a column to `each`, with its row; there are as many as rows.
    pub(crate) fn each(
        &self,
        column: usize,
        each: &mut dyn FnMut(usize, Value) -> Result<(), String>,
    ) -> Result<()> {
        self.each_of(column, &self.head.names[column], each)
    }

    fn each_of(
        &self,
        column: usize,
        name: &str,
        each: &mut dyn FnMut(usize, Value) -> Result<(), String>,
    ) -> Result<()> {
        let (rows, mut row) = (self.head.rows, 0);
        // A run of equal values takes few bytes, however long it is.
        let budget = Budget::for_size(self.size);
        let mut next = |value: Value| {
            if row == rows {
                return Err(format!("column {name:?} has more than {rows} values"));
            }
            let length = if let Value::Text(text) = value { text.len() } else { 0 };
            budget.spend(4 + length as u64).map_err(|e| e.to_string())?;
            each(row, value).map_err(|what| format!("column {name:?} {what}"))?;
            row += 1;
            Ok(())
        };
        let groups = 0..self.groups.len();
        let read =
            guarded(|| groups.into_iter().try_for_each(|group| self.file.each_in(group, column, &mut next)));
        read.map_err(|what| self.error(what))?;
        match row == rows {
            true => Ok(()),
            false => Err(self.error(format!("column {name:?} has {row} values in {rows} rows"))),
        }
    }

    fn error(&self, what: String) -> Error {
        Error::format(&self.name, what)
    }
}

/// A value as number; NaN where it is missing.
fn number(value: Value) -> Result<f32, String> {
    Ok(match value {
        Value::Missing => f32::NAN,
        Value::Boolean(truth) => f32::from(u8::from(truth)),
        Value::Integer(number) => number as f32,
        Value::Float(number) => number as f32,
        Value::Text(_) => return Err("does not hold numbers".to_owned()),
    })
}

/// A value as text; nothing where it is missing.
pub(crate) fn word(value: Value) -> String {
    match value {
        Value::Missing => String::new(),
        Value::Boolean(true) => "True".to_owned(),
        Value::Boolean(false) => "False".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.to_owned(),
    }
}

thread_local! {
    /// Whether this thread reads a file, so that a panic becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read`, and makes an error of a panic: the crates that read the formats assert what a damaged file may violate. Such a panic
/// prints nothing; any other is printed as before.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.try_with(Cell::get).unwrap_or(false) {
                before(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    done.unwrap_or_else(|_| Err("is damaged".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That nothing is printed is tested from outside, in the tests of the command.
    #[test]
    fn a_panic_is_an_error() {
        let error = guarded(|| -> Result<(), String> { panic!("asserted") }).unwrap_err();
        assert_eq!(error, "is damaged");
        assert!(!GUARDED.get(), "panics are printed again");
        assert_eq!(guarded(|| guarded(|| Ok(7))), Ok(7));
    }
}
