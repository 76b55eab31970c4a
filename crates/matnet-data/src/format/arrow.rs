//! Arrow's IPC file format, which is also Feather of version 2: uncompressed, or compressed with LZ4 or Zstandard.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Footer, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{DataType, Schema, TimeUnit};
use bytes::Bytes;

use crate::format::bounded::Budget;
use crate::format::calendar::{day_text, time_text};
use crate::format::columnar_file::{Column, ColumnarFile, EachValue, Value};
use crate::format::table::ColumnKind;

/// The last bytes of a file: the length of the footer, and `ARROW1`.
const TAIL: usize = 10;
const MAGIC: &[u8] = b"ARROW1";

/// An Arrow file.
pub(super) struct ArrowFile {
    buffer: Buffer,
    footer: std::ops::Range<usize>,
    schema: Arc<Schema>,
    rows: usize,
}

impl ArrowFile {
    /// Reads the description of a file; what it unpacks to is charged to `budget`.
    pub fn new(bytes: Bytes, budget: &Budget) -> Result<Self, String> {
        let end = bytes.len().checked_sub(TAIL).filter(|end| bytes[end + 4..] == *MAGIC);
        let end = end.ok_or_else(|| failed("it has no footer"))?;
        let length = i32::from_le_bytes([bytes[end], bytes[end + 1], bytes[end + 2], bytes[end + 3]]);
        let start = usize::try_from(length).ok().and_then(|length| end.checked_sub(length));
        let start = start.ok_or_else(|| failed("it has no footer"))?;
        let footer = root_as_footer(&bytes[start..end]).map_err(failed)?;
        let schema = footer.schema().ok_or_else(|| failed("it has no schema"))?;
        let fields = schema.fields().ok_or_else(|| failed("it has no schema"))?;
        // Nested columns are refused before a schema of any depth is built of them.
        for field in fields {
            if field.children().is_some_and(|children| !children.is_empty()) {
                let name = field.name().unwrap_or_default();
                return Err(format!("column {name:?} holds lists or structures; plain values expected"));
            }
        }
        let schema = Arc::new(try_fb_to_schema(schema).map_err(failed)?);
        let mut rows = 0_usize;
        for (block, is_dictionary) in blocks(&footer) {
            let batch_rows = check_block(&bytes, block, is_dictionary, budget)?;
            rows = rows.checked_add(batch_rows).ok_or_else(|| failed("it says it has too many rows"))?;
        }
        // A column without any value takes no byte, however many rows there are.
        budget.spend(rows as u64).map_err(|e| e.to_string())?;
        Ok(Self { footer: start..end, schema, rows, buffer: Buffer::from(bytes) })
    }

    fn footer(&self) -> Result<Footer<'_>, String> {
        root_as_footer(&self.buffer[self.footer.clone()]).map_err(failed)
    }

    /// The bytes of a block, whose place was checked.
    fn block(&self, block: &Block) -> Buffer {
        let length = block.metaDataLength() as usize + block.bodyLength() as usize;
        self.buffer.slice_with_length(block.offset() as usize, length)
    }
}

impl ColumnarFile for ArrowFile {
    fn rows(&self) -> Result<usize, String> {
        Ok(self.rows)
    }

    fn columns(&self) -> Result<Vec<Column>, String> {
        let describe = |field: &Arc<arrow_schema::Field>| {
            let missing = if field.is_nullable() { None } else { Some(false) };
            Column { name: field.name().clone(), kind: kind(field.data_type()), missing }
        };
        Ok(self.schema.fields().iter().map(describe).collect())
    }

    fn groups(&self) -> Result<Vec<usize>, String> {
        Ok(vec![self.rows])
    }

    fn each_in(&self, _group: usize, column: usize, each: &mut EachValue) -> Result<(), String> {
        let footer = self.footer()?;
        let mut decoder =
            FileDecoder::new(self.schema.clone(), footer.version()).with_projection(vec![column]);
        let field = self.schema.field(column);
        if matches!(field.data_type(), DataType::Dictionary(..)) {
            for block in footer.dictionaries().iter().flatten() {
                decoder.read_dictionary(block, &self.block(block)).map_err(failed)?;
            }
        }
        for block in footer.recordBatches().iter().flatten() {
            let batch = decoder.read_record_batch(block, &self.block(block)).map_err(failed)?;
            if let Some(batch) = batch {
                each_value(batch.column(0), field.name(), each)?;
            }
        }
        Ok(())
    }
}

fn failed(error: impl std::fmt::Display) -> String {
    // Of several lines the first says what is wrong, the others where.
    let error = error.to_string();
    format!("is not a valid Arrow file: {}", error.lines().next().unwrap_or_default().trim_end_matches('.'))
}

/// The places of all dictionaries and batches, and which of them are dictionaries.
fn blocks<'a>(footer: &Footer<'a>) -> impl Iterator<Item = (&'a Block, bool)> + use<'a> {
    let dictionaries = footer.dictionaries().into_iter().flatten().map(|block| (block, true));
    dictionaries.chain(footer.recordBatches().into_iter().flatten().map(|block| (block, false)))
}

/// Checks that a block lies in the file, and charges what its buffers unpack to; gives the rows of a batch.
fn check_block(bytes: &[u8], block: &Block, is_dictionary: bool, budget: &Budget) -> Result<usize, String> {
    let damaged = || failed("a block lies outside of it");
    let [offset, meta, body] =
        [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(usize::try_from);
    let (offset, meta, body) = (offset.ok(), meta.ok(), body.ok());
    let part = |start: Option<usize>, length: Option<usize>| {
        let (start, length) = (start?, length?);
        bytes.get(start..start.checked_add(length)?)
    };
    let head = part(offset, meta).ok_or_else(damaged)?;
    let after = offset.zip(meta).and_then(|(offset, meta)| offset.checked_add(meta));
    let body = part(after, body).ok_or_else(damaged)?;
    // A message begins with its length, since version 0.15 after a marker.
    let head = match head {
        [0xff, 0xff, 0xff, 0xff, _, _, _, _, rest @ ..] => rest,
        [_, _, _, _, rest @ ..] => rest,
        _ => return Err(damaged()),
    };
    let message = root_as_message(head).map_err(failed)?;
    let batch = match is_dictionary {
        true => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        false => message.header_as_record_batch(),
    };
    let batch = batch.ok_or_else(|| failed("a block is no batch"))?;
    budget.spend(unpacked(&batch, body)?).map_err(|e| e.to_string())?;
    match is_dictionary {
        true => Ok(0),
        false => usize::try_from(batch.length()).map_err(|_| failed("a batch has no number of rows")),
    }
}

/// The bytes that the buffers of a batch take, once they are decompressed.
fn unpacked(batch: &RecordBatch, body: &[u8]) -> Result<u64, String> {
    let mut total = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let damaged = || failed("a buffer lies outside of its block");
        let (offset, length) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
        let (offset, length) = (offset.map_err(|_| damaged())?, length.map_err(|_| damaged())?);
        let end = offset.checked_add(length).filter(|&end| end <= body.len()).ok_or_else(damaged)?;
        let size = match (batch.compression(), body[offset..end].first_chunk::<8>()) {
            (Some(_), Some(&prefix)) => u64::try_from(i64::from_le_bytes(prefix)).unwrap_or(length as u64),
            _ => length as u64,
        };
        total = total.saturating_add(size);
    }
    Ok(total)
}

/// The type of a column, if no value is missing.
fn kind(of: &DataType) -> ColumnKind {
    match of {
        DataType::Boolean => ColumnKind::Boolean,
        of if of.is_integer() => ColumnKind::Integer,
        DataType::Null | DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnKind::Float,
        _ => ColumnKind::Text,
    }
}

/// Passes the values of an array on.
fn each_value(array: &ArrayRef, name: &str, each: &mut EachValue) -> Result<(), String> {
    macro_rules! numbers {
        ($type:ty, $value:expr) => {{
            let value: fn(_) -> _ = $value;
            for number in array.as_primitive::<$type>().iter() {
                each(number.map_or(Value::Missing, value))?;
            }
        }};
    }
    macro_rules! times {
        ($type:ty, $text:expr) => {{
            let text: fn(_) -> String = $text;
            for number in array.as_primitive::<$type>().iter() {
                match number {
                    Some(number) => each(Value::Text(&text(number)))?,
                    None => each(Value::Missing)?,
                }
            }
        }};
    }
    macro_rules! texts {
        ($texts:expr) => {
            for text in $texts.iter() {
                each(text.map_or(Value::Missing, Value::Text))?;
            }
        };
    }
    match array.data_type() {
        DataType::Null => (0..array.len()).try_for_each(|_| each(Value::Missing))?,
        DataType::Boolean => {
            for truth in array.as_boolean().iter() {
                each(truth.map_or(Value::Missing, Value::Boolean))?;
            }
        }
        DataType::Int8 => numbers!(Int8Type, |v| Value::Integer(i128::from(v))),
        DataType::Int16 => numbers!(Int16Type, |v| Value::Integer(i128::from(v))),
        DataType::Int32 => numbers!(Int32Type, |v| Value::Integer(i128::from(v))),
        DataType::Int64 => numbers!(Int64Type, |v| Value::Integer(i128::from(v))),
        DataType::UInt8 => numbers!(UInt8Type, |v| Value::Integer(i128::from(v))),
        DataType::UInt16 => numbers!(UInt16Type, |v| Value::Integer(i128::from(v))),
        DataType::UInt32 => numbers!(UInt32Type, |v| Value::Integer(i128::from(v))),
        DataType::UInt64 => numbers!(UInt64Type, |v| Value::Integer(i128::from(v))),
        DataType::Float16 => numbers!(Float16Type, |v| Value::Float(f64::from(v))),
        DataType::Float32 => numbers!(Float32Type, |v| Value::Float(f64::from(v))),
        DataType::Float64 => numbers!(Float64Type, Value::Float),
        DataType::Utf8 => texts!(array.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
        DataType::Utf8View => texts!(array.as_string_view()),
        DataType::Date32 => times!(Date32Type, |days: i32| day_text(days.into())),
        DataType::Date64 => times!(Date64Type, |time| time_text(time, 1000)),
        DataType::Time32(TimeUnit::Second) => times!(Time32SecondType, |time: i32| time.to_string()),
        DataType::Time32(_) => times!(Time32MillisecondType, |time: i32| time.to_string()),
        DataType::Time64(TimeUnit::Microsecond) => {
            times!(Time64MicrosecondType, |time: i64| time.to_string())
        }
        DataType::Time64(_) => times!(Time64NanosecondType, |time: i64| time.to_string()),
        DataType::Timestamp(TimeUnit::Second, _) => times!(TimestampSecondType, |time| time_text(time, 1)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            times!(TimestampMillisecondType, |time| time_text(time, 1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            times!(TimestampMicrosecondType, |time| time_text(time, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            times!(TimestampNanosecondType, |time| time_text(time, 1_000_000_000))
        }
        DataType::Dictionary(key, values) if is_text(values) => match **key {
            DataType::Int8 => each_entry::<Int8Type>(array, each)?,
            DataType::Int16 => each_entry::<Int16Type>(array, each)?,
            DataType::Int32 => each_entry::<Int32Type>(array, each)?,
            DataType::Int64 => each_entry::<Int64Type>(array, each)?,
            DataType::UInt8 => each_entry::<UInt8Type>(array, each)?,
            DataType::UInt16 => each_entry::<UInt16Type>(array, each)?,
            DataType::UInt32 => each_entry::<UInt32Type>(array, each)?,
            _ => each_entry::<UInt64Type>(array, each)?,
        },
        other => {
            return Err(format!("column {name:?} holds {other}; numbers or texts expected"));
        }
    }
    Ok(())
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Passes on the texts that the keys of a dictionary stand for, as pandas writes categories.
fn each_entry<K: ArrowDictionaryKeyType>(array: &ArrayRef, each: &mut EachValue) -> Result<(), String> {
    let dictionary = array.as_dictionary::<K>();
    let texts = dictionary.values();
    for row in 0..dictionary.len() {
        let key = dictionary.key(row).filter(|&key| !texts.is_null(key));
        let text = key.map(|key| match texts.data_type() {
            DataType::Utf8 => texts.as_string::<i32>().value(key),
            DataType::LargeUtf8 => texts.as_string::<i64>().value(key),
            _ => texts.as_string_view().value(key),
        });
        each(text.map_or(Value::Missing, Value::Text))?;
    }
    Ok(())
}
