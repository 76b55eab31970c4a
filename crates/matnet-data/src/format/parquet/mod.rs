//! Parquet: uncompressed, or compressed with Snappy, gzip, Zstandard or LZ4.

mod pages;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;

use crate::format::bounded::Budget;
use crate::format::columnar::{Column, ColumnarFile, EachValue, Value};
use crate::format::table::ColumnKind;

/// Values that are decoded at once.
const BLOCK: usize = 1024;

/// A Parquet file.
pub(super) struct ParquetFile {
    reader: SerializedFileReader<Bytes>,
}

impl ParquetFile {
    /// Reads the description of a file; what it unpacks to is charged to `budget`.
    pub fn new(bytes: Bytes, budget: &Budget) -> Result<Self, String> {
        pages::check_footer(&bytes, budget)?;
        let reader = SerializedFileReader::new(bytes.clone()).map_err(failed)?;
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
            let (start, length) = chunk.byte_range();
            pages::check_chunk(&bytes, start, length, budget)?;
        }
        Ok(Self { reader })
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

    fn each(&self, column: usize, each: &mut EachValue) -> Result<(), String> {
        let describe = self.column(column);
        let mut failure = None;
        let mut next = |value: Value| each(value).map_err(|what| failure = Some(what)).is_ok();
        let time = kind(&describe) == ColumnKind::Text;
        let unsigned =
            matches!(describe.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
        let integer = |number: i64, next: &mut dyn FnMut(Value) -> bool| match time {
            true => next(Value::Text(&number.to_string())),
            false => next(Value::Integer(number)),
        };
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(failed)?;
            let reader = group.get_column_reader(column).map_err(failed)?;
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
        }
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
