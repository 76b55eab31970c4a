//! Parquet: uncompressed, or compressed with Snappy, gzip, Zstandard or LZ4.

mod chunks;
mod pages;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use ::parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

pub(super) use self::chunks::Chunks;
use crate::format::bounded::Budget;
use crate::format::calendar::{day_text, time_text};
use crate::format::columnar_file::{Column, ColumnarFile, EachValue, Value};
use crate::format::raw::escaped;
use crate::format::table::ColumnKind;

/// Values that are decoded at once.
const BLOCK: usize = 1024;

/// A Parquet file, of which only the description is kept in memory.
pub(super) struct ParquetFile {
    chunks: Chunks,
    reader: SerializedFileReader<Chunks>,
    budget: Budget,
    /// The groups of rows, by column, whose pages were checked.
    checked: Mutex<HashSet<(usize, usize)>>,
}

impl ParquetFile {
    /// Reads the description of a file; what it unpacks to is charged to `budget`.
    pub fn new(chunks: Chunks, budget: &Budget) -> Result<Self, String> {
        let size = chunks.len();
        let tail = chunks.get_bytes(size.saturating_sub(8), size.min(8) as usize).map_err(failed)?;
        let length = tail.get(..4).map_or(0, |b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        // A length that cannot be is told by the check of what there is.
        let end = length.saturating_add(8).min(size);
        let footer = chunks.get_bytes(size - end, end as usize).map_err(failed)?;
        pages::check_footer(&footer, budget)?;
        let reader = SerializedFileReader::new(chunks.clone()).map_err(failed)?;
        for chunk in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
            match chunk.compression() {
                Compression::UNCOMPRESSED
                | Compression::SNAPPY
                | Compression::GZIP(_)
                | Compression::LZ4
                | Compression::LZ4_RAW
                | Compression::ZSTD(_) => {}
                other => {
                    let codec = format!("{other:?}");
                    let codec = codec.split('(').next().unwrap_or_default();
                    return Err(format!(
                        "is compressed with {codec}; save it with Snappy, gzip, zstd or lz4, or uncompressed"
                    ));
                }
            }
        }
        Ok(Self { chunks, reader, budget: budget.clone(), checked: Mutex::default() })
    }

    /// Checks the pages of a column in a group of rows, once, before they are read.
    fn check(&self, group: usize, column: usize) -> Result<(), String> {
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked().contains(&(group, column)) {
            return Ok(());
        }
        let damaged = || "is a damaged Parquet file".to_owned();
        let groups = self.reader.metadata().row_groups();
        let chunk = groups.get(group).and_then(|group| group.columns().get(column)).ok_or_else(damaged)?;
        let (start, length) = chunk.byte_range();
        let bytes = usize::try_from(length).map_err(|_| damaged())?;
        let bytes = self.chunks.get_bytes(start, bytes).map_err(|_| damaged())?;
        pages::check_chunk(&bytes, 0, length, &self.budget)?;
        checked().insert((group, column));
        Ok(())
    }

    fn column(&self, column: usize) -> std::sync::Arc<ColumnDescriptor> {
        self.reader.metadata().file_metadata().schema_descr().column(column)
    }
}

impl ColumnarFile for ParquetFile {
    fn rows(&self) -> Result<usize, String> {
        let rows = self.reader.metadata().file_metadata().num_rows();
        usize::try_from(rows).map_err(|_| format!("says it has {rows} rows"))
    }

    fn columns(&self) -> Result<Vec<Column>, String> {
        let meta = self.reader.metadata();
        let describe = |(at, column): (usize, &std::sync::Arc<ColumnDescriptor>)| {
            if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
                let path = column.path().string();
                return Err(format!("column {path:?} holds lists or structures; plain values expected"));
            }
            let counted = || {
                let nulls =
                    meta.row_groups().iter().map(|group| group.column(at).statistics()?.null_count_opt());
                nulls.sum::<Option<u64>>().map(|count| count > 0)
            };
            let missing = if column.max_def_level() > 0 { counted() } else { Some(false) };
            Ok(Column { name: column.name().to_owned(), kind: kind(column), missing })
        };
        meta.file_metadata().schema_descr().columns().iter().enumerate().map(describe).collect()
    }

    fn groups(&self) -> Result<Vec<usize>, String> {
        let rows = |rows: i64| usize::try_from(rows).map_err(|_| format!("says it has {rows} rows"));
        self.reader.metadata().row_groups().iter().map(|group| rows(group.num_rows())).collect()
    }

    fn each_in(&self, group: usize, column: usize, each: &mut EachValue) -> Result<(), String> {
        self.check(group, column)?;
        let describe = self.column(column);
        let mut failure = None;
        let mut next = |value: Value| each(value).map_err(|what| failure = Some(what)).is_ok();
        let whole = whole(&describe).map_err(|()| {
            let name = describe.name();
            format!("column {name:?} holds decimals or raw bytes; numbers or texts expected")
        })?;
        let unsigned =
            matches!(describe.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
        let integer = |number: i64, next: &mut dyn FnMut(Value) -> bool| match whole {
            Whole::Number => next(Value::Integer(number.into())),
            Whole::Day => next(Value::Text(&day_text(number))),
            Whole::Time(per_second) => next(Value::Text(&time_text(number, per_second))),
            Whole::OfDay => next(Value::Text(&number.to_string())),
        };
        let group = self.reader.get_row_group(group).map_err(failed)?;
        let reader = group.get_column_reader(column).map_err(failed)?;
        let levels = describe.max_def_level();
        let done = match reader {
            ColumnReader::BoolColumnReader(reader) => {
                drain(reader, levels, &mut |v| next(v.map_or(Value::Missing, |&v| Value::Boolean(v))))
            }
            ColumnReader::Int32ColumnReader(reader) => drain(reader, levels, &mut |v| match v {
                None => next(Value::Missing),
                Some(&v) if unsigned => next(Value::Integer((v as u32).into())),
                Some(&v) => integer(v.into(), &mut next),
            }),
            ColumnReader::Int64ColumnReader(reader) => drain(reader, levels, &mut |v| match v {
                None => next(Value::Missing),
                Some(&v) if unsigned => next(Value::Integer((v as u64).into())),
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
                Some(v) => next(Value::Text(&escaped(v.data()))),
            }),
            ColumnReader::FixedLenByteArrayColumnReader(reader) if is_half(&describe) => {
                drain(reader, levels, &mut |v| match v.map(|v| v.data()) {
                    Some(&[a, b]) => next(Value::Float(half::f16::from_le_bytes([a, b]).to_f64())),
                    _ => next(Value::Missing),
                })
            }
            _ => {
                let name = describe.name();
                return Err(format!(
                    "column {name:?} holds decimals or raw bytes; numbers or texts expected"
                ));
            }
        };
        done.map_err(failed)?;
        failure.map_or(Ok(()), Err)
    }
}

fn failed(error: ParquetError) -> String {
    format!("is not a valid Parquet file: {error}")
}

/// Whether a column holds floats of 16 bits.
fn is_half(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Float16))
}

/// What the integers of a column stand for.
#[derive(Clone, Copy)]
enum Whole {
    Number,
    /// Days since 1970.
    Day,
    /// Time since the beginning of 1970; a second has so many units.
    Time(i64),
    /// The time of a day.
    OfDay,
}

/// What integers stand for; an error for decimals.
fn whole(column: &ColumnDescriptor) -> Result<Whole, ()> {
    Ok(match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => return Err(()),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Whole::Day,
        (Some(LogicalType::Timestamp(time)), _) => Whole::Time(match time.unit {
            TimeUnit::MILLIS => 1000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Whole::Time(1000),
        (_, ConvertedType::TIMESTAMP_MICROS) => Whole::Time(1_000_000),
        (Some(LogicalType::Time(_)), _) | (_, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
            Whole::OfDay
        }
        _ => Whole::Number,
    })
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
        Type::FIXED_LEN_BYTE_ARRAY if is_half(column) => ColumnKind::Float,
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
