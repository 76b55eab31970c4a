//! Parquet tables of plain columns, as pandas, Arrow, Polars and DuckDB write them: uncompressed, or compressed with Snappy or gzip.
//!
//! Dates and times count as texts. Decimals, lists and structures are not read.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use crate::format::bounded::Budget;
use crate::format::table::{ColumnKind, Columns, TableHead, TextColumn};
use crate::{Array, Error, Result};

/// Values that are decoded at once.
const BLOCK: usize = 1024;

/// One value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Missing,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(&'a str),
}

/// A Parquet file whose columns are known.
pub struct ParquetTable {
    name: std::path::PathBuf,
    reader: Box<dyn FileReader>,
    size: u64,
    head: TableHead,
}

impl ParquetTable {
    /// Opens a file and finds its columns.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let meta = file.metadata().map_err(|e| Error::io(path, e))?;
        if !meta.is_file() {
            return Err(Error::format(path, "is no file; Parquet is read from its end"));
        }
        Self::new(path, file, meta.len())
    }

    /// The same from memory, with `name` for errors.
    pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Self> {
        Self::new(name.as_ref(), bytes::Bytes::copy_from_slice(bytes), bytes.len() as u64)
    }

    fn new(name: &Path, source: impl ChunkReader + 'static, size: u64) -> Result<Self> {
        guarded(name, || {
            let reader = SerializedFileReader::new(source).map_err(|e| failed(name, &e))?;
            let head = TableHead { names: Vec::new(), kinds: Vec::new(), rows: 0, named: true };
            let mut table = Self { name: name.to_owned(), reader: Box::new(reader), size, head };
            table.scan()?;
            Ok(table)
        })
    }

    /// The columns and the number of rows.
    pub fn head(&self) -> &TableHead {
        &self.head
    }

    fn scan(&mut self) -> Result<()> {
        let meta = self.reader.metadata().clone();
        let rows = meta.file_metadata().num_rows();
        self.head.rows = usize::try_from(rows).map_err(|_| self.error(format!("says it has {rows} rows")))?;
        for group in meta.row_groups() {
            for chunk in group.columns() {
                match chunk.compression() {
                    Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => {}
                    other => {
                        let codec = format!("{other:?}");
                        let codec = codec.split('(').next().unwrap_or_default().to_owned();
                        return Err(self.error(format!(
                            "is compressed with {codec}; save it with Snappy or gzip, or uncompressed"
                        )));
                    }
                }
            }
        }
        for (at, column) in meta.file_metadata().schema_descr().columns().iter().enumerate() {
            if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
                let what = format!(
                    "column {:?} holds lists or structures; plain values expected",
                    column.path().string()
                );
                return Err(self.error(what));
            }
            let kind = match kind(column) {
                kind @ (ColumnKind::Integer | ColumnKind::Boolean) if column.max_def_level() > 0 => {
                    let counted =
                        meta.row_groups().iter().map(|group| group.column(at).statistics()?.null_count_opt());
                    let missing = match counted.sum::<Option<u64>>() {
                        Some(count) => count > 0,
                        None => self.has_missing(at)?,
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
            let name = column.name();
            let name = if name.starts_with("__index_level_") { "" } else { name };
            self.head.names.push(name.to_owned());
            self.head.kinds.push(kind);
        }
        if self.head.rows == 0 || self.head.names.is_empty() {
            return Err(self.error("holds no row".to_owned()));
        }
        Ok(())
    }

    fn has_missing(&self, column: usize) -> Result<bool> {
        let mut missing = false;
        self.each(column, &mut |_, value| {
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
        let mut values = vec![f32::NAN; size];
        for (place, &column) in numbers.iter().enumerate() {
            self.each(column, &mut |row, value| {
                values[row * width + place] = match value {
                    Value::Missing => f32::NAN,
                    Value::Boolean(truth) => f32::from(u8::from(truth)),
                    Value::Integer(number) => number as f32,
                    Value::Float(number) => number as f32,
                    Value::Text(_) => return Err("does not hold numbers".to_owned()),
                };
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

    /// Passes every value of a column to `each`, with its row; there are as many as rows.
    pub(crate) fn each(
        &self,
        column: usize,
        each: &mut dyn FnMut(usize, Value) -> Result<(), String>,
    ) -> Result<()> {
        guarded(&self.name, || self.each_unguarded(column, each))
    }

    fn each_unguarded(
        &self,
        column: usize,
        each: &mut dyn FnMut(usize, Value) -> Result<(), String>,
    ) -> Result<()> {
        let describe = self.reader.metadata().file_metadata().schema_descr().column(column);
        let (rows, mut row) = (self.head.rows, 0);
        let mut failure = None;
        let mut next = |value: Value| {
            let done = match row < rows {
                true => each(row, value),
                false => Err(format!("has more than {rows} values")),
            };
            row += 1;
            done.map_err(|what| failure = Some(what)).is_ok()
        };
        let time = kind(&describe) == ColumnKind::Text;
        let unsigned =
            matches!(describe.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
        let integer = |number: i64, next: &mut dyn FnMut(Value) -> bool| match time {
            true => next(Value::Text(&number.to_string())),
            false => next(Value::Integer(number)),
        };
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| failed(&self.name, &e))?;
            let reader = group.get_column_reader(column).map_err(|e| failed(&self.name, &e))?;
            let levels = describe.max_def_level();
            let done = match reader {
                ColumnReader::BoolColumnReader(reader) => {
                    drain(reader, levels, &mut |v| next(v.map_or(Value::Missing, |&v| Value::Boolean(v))))
                }
                ColumnReader::Int32ColumnReader(reader) => drain(reader, levels, &mut |v| match v {
                    None => next(Value::Missing),
                    Some(&v) if unsigned => integer(i64::from(v as u32), &mut next),
                    Some(&v) => integer(i64::from(v), &mut next),
                }),
                ColumnReader::Int64ColumnReader(reader) => drain(reader, levels, &mut |v| match v {
                    None => next(Value::Missing),
                    Some(&v) => integer(v, &mut next),
                }),
                ColumnReader::FloatColumnReader(reader) => drain(reader, levels, &mut |v| {
                    next(v.map_or(Value::Missing, |&v| Value::Float(f64::from(v))))
                }),
                ColumnReader::DoubleColumnReader(reader) => {
                    drain(reader, levels, &mut |v| next(v.map_or(Value::Missing, |&v| Value::Float(v))))
                }
                ColumnReader::ByteArrayColumnReader(reader) => drain(reader, levels, &mut |v| match v {
                    None => next(Value::Missing),
                    Some(v) => next(v.as_utf8().map_or(Value::Text("\u{fffd}"), Value::Text)),
                }),
                _ => {
                    let what = format!(
                        "column {:?} holds decimals or raw bytes; numbers or texts expected",
                        describe.name()
                    );
                    return Err(self.error(what));
                }
            };
            done.map_err(|e| failed(&self.name, &e))?;
        }
        let failure = failure.or_else(|| (row != rows).then(|| format!("has {row} values in {rows} rows")));
        match failure {
            None => Ok(()),
            Some(what) => Err(self.error(format!("column {:?} {what}", describe.name()))),
        }
    }

    fn error(&self, what: String) -> Error {
        Error::format(&self.name, what)
    }
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

/// Runs `read`, and makes an error of a panic: the crate asserts what a damaged file may violate.
fn guarded<T>(name: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(Error::format(name, "is a damaged Parquet file")))
}

fn failed(name: &Path, error: &ParquetError) -> Error {
    Error::format(name, format!("is not a valid Parquet file: {error}"))
}

/// The type of a column, if no value is missing.
fn kind(column: &ColumnDescriptor) -> ColumnKind {
    let no_number = matches!(
        column.logical_type_ref(),
        Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_) | LogicalType::Decimal(_))
    ) || matches!(
        column.converted_type(),
        ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::DECIMAL
    );
    match column.physical_type() {
        _ if no_number => ColumnKind::Text,
        Type::BOOLEAN => ColumnKind::Boolean,
        Type::INT32 | Type::INT64 => ColumnKind::Integer,
        Type::FLOAT | Type::DOUBLE => ColumnKind::Float,
        Type::INT96 | Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => ColumnKind::Text,
    }
}

/// Passes the values of a column chunk to `one`, `None` where one is missing, until it returns false.
fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    most_level: i16,
    one: &mut dyn FnMut(Option<&T::T>) -> bool,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (records, ..) = reader.read_records(BLOCK, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Ok(());
        }
        let mut found = values.iter();
        let go_on = match most_level {
            0 => found.all(|value| one(Some(value))),
            _ => levels.iter().all(|&level| one(if level == most_level { found.next() } else { None })),
        };
        if !go_on {
            return Ok(());
        }
    }
}
