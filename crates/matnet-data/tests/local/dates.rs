//! Types of columns in Parquet and Arrow files: dates and times are those that texts have; all files of a table have the same.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float32Array, RecordBatch, TimestampMillisecondArray, TimestampNanosecondArray,
};
use matnet_data::local::{ReadOptions, load, load_table, load_with};
use parquet::data_type::{BoolType, FloatType, Int32Type, Int64Type};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::classes;

/// Days from 1970 to 2024.
const DAYS: i64 = 19_723;
const HOUR: i64 = 3_600_000;

/// A Parquet table of two columns, in one group of rows.
fn two_columns(
    columns: [&str; 2],
    first: impl FnOnce(&mut SerializedColumnWriter),
    second: impl FnOnce(&mut SerializedColumnWriter),
) -> Vec<u8> {
    let [a, b] = columns;
    let schema = format!("message t {{ required {a}; required {b}; }}");
    let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    first(&mut column);
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    second(&mut column);
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    out
}

/// A Parquet table: a column `date` of this type, and `a`.
fn parquet_file(date: &str, times: &[i64]) -> Vec<u8> {
    let values: Vec<f32> = (0..times.len()).map(|at| at as f32).collect();
    let write_times = |column: &mut SerializedColumnWriter| {
        if date.starts_with("int32") {
            let days: Vec<i32> = times.iter().map(|&time| time as i32).collect();
            column.typed::<Int32Type>().write_batch(&days, None, None).unwrap();
        } else {
            column.typed::<Int64Type>().write_batch(times, None, None).unwrap();
        }
    };
    two_columns([date, "float a"], write_times, |column| {
        column.typed::<FloatType>().write_batch(&values, None, None).unwrap();
    })
}

/// The same as an Arrow file.
fn arrow_file(date: ArrayRef) -> Vec<u8> {
    let a: ArrayRef = Arc::new(Float32Array::from_iter_values((0..date.len()).map(|at| at as f32)));
    let batch = RecordBatch::try_from_iter([("date", date), ("a", a)]).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Each type with the times at these hours after the beginning of 2024; those of days are so many days after it.
fn files(hours: &[i64]) -> Vec<(&'static str, Vec<u8>)> {
    let times =
        |unit: i64| hours.iter().map(move |hour| (24 * DAYS + hour) * 3600 * unit).collect::<Vec<_>>();
    let days: Vec<i64> = hours.iter().map(|hour| DAYS + hour).collect();
    let days32 = days.iter().map(|&day| day as i32).collect::<Vec<_>>();
    vec![
        ("day.parquet", parquet_file("int32 date (DATE)", &days)),
        ("milli.parquet", parquet_file("int64 date (TIMESTAMP(MILLIS,true))", &times(1000))),
        ("old.parquet", parquet_file("int64 date (TIMESTAMP_MICROS)", &times(1_000_000))),
        ("nano.parquet", parquet_file("int64 date (TIMESTAMP(NANOS,false))", &times(1_000_000_000))),
        ("day.arrow", arrow_file(Arc::new(Date32Array::from(days32)))),
        ("milli.arrow", arrow_file(Arc::new(TimestampMillisecondArray::from(times(1000))))),
        ("nano.feather", arrow_file(Arc::new(TimestampNanosecondArray::from(times(1_000_000_000))))),
    ]
}

fn written(folder: &Path, (name, bytes): (&str, Vec<u8>)) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn rows_have_an_order_and_a_step() {
    let folder = tempfile::tempdir().unwrap();
    for file in files(&[0, 1, 2, 3]) {
        let path = written(folder.path(), file);
        let unit = if path.display().to_string().contains("day.") { 1.0 } else { 1.0 / 24.0 };
        let table = load_table(&path).unwrap().into_table().unwrap();
        assert!((table.row_step.unwrap() - unit).abs() < 1e-6, "{}: {:?}", path.display(), table.row_step);
        let other = ReadOptions { long_table: true, row_step: Some(30.0), ..ReadOptions::default() };
        let error = load_with(&path, &other).unwrap_err().to_string();
        assert!(error.contains("those of the training data after 30 days"), "{error}");
    }
    for file in files(&[0, 2, 1, 3]) {
        let path = written(folder.path(), file);
        let error = load_table(&path).unwrap_err().to_string();
        let (later, earlier) = match path.display().to_string().contains("day.") {
            true => ("2024-01-03", "2024-01-02"),
            false => ("2024-01-01 02:00:00", "2024-01-01 01:00:00"),
        };
        assert!(error.contains(&format!("row 2 ({earlier}) is before row 1 ({later})")), "{error}");
    }
}

#[test]
fn classes_that_are_dates_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions { target_columns: vec!["date".to_owned()], ..ReadOptions::default() };
    for file in files(&[0, 1, 0]) {
        let path = written(folder.path(), file);
        let found = load_with(&path, &options).unwrap().into_samples().unwrap();
        let (labels, names) = classes(&found.target);
        assert_eq!(labels, [0, 1, 0]);
        assert!(names.iter().all(|name| name.starts_with("2024-01-0")), "{names:?}");
    }
}

#[test]
fn decimals_are_refused_however_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = ("d.parquet", parquet_file("int64 date (DECIMAL(12,2))", &[HOUR, 2 * HOUR]));
    let path = written(folder.path(), file);
    let options = ReadOptions { target_columns: vec!["date".to_owned()], ..ReadOptions::default() };
    let error = load_with(&path, &options).unwrap_err().to_string();
    assert!(
        error.ends_with("column \"date\" holds decimals or raw bytes; numbers or texts expected"),
        "{error}"
    );
    assert_eq!(load(&path).unwrap().notes, ["columns left out, because they do not hold numbers: date"]);
}

/// A Parquet table of truth values or of integers, `y`.
fn truth_file(as_integers: bool) -> Vec<u8> {
    let kind = if as_integers { "int32 y" } else { "boolean y" };
    let write_values = |column: &mut SerializedColumnWriter| {
        column.typed::<FloatType>().write_batch(&[0.5, 1.5], None, None).unwrap();
    };
    two_columns(["float a", kind], write_values, |column| {
        match as_integers {
            true => column.typed::<Int32Type>().write_batch(&[0, 1], None, None).unwrap(),
            false => column.typed::<BoolType>().write_batch(&[false, true], None, None).unwrap(),
        };
    })
}

#[test]
fn truth_values_in_one_file_are_not_numbers_in_another() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions { target_columns: vec!["y".to_owned()], ..ReadOptions::default() };
    for (integers, fits) in
        [([false, false], true), ([true, true], true), ([false, true], false), ([true, false], false)]
    {
        for (at, integers) in integers.into_iter().enumerate() {
            written(folder.path(), (&format!("{at}.parquet"), truth_file(integers)));
        }
        let error = load_with(folder.path(), &options).err().map(|error| error.to_string());
        assert_eq!(error.is_none(), fits);
        if let Some(error) = error {
            assert!(error.contains("1.parquet: column \"y\" holds booleans here or in "), "{error}");
        }
    }
}
