//! Tables with a sample per row, and long tables.

use std::path::Path;

use matnet_data::local::{ReadOptions, SampleReader, TargetKind, load, load_table, load_with};
use matnet_data::{Samples, TableData, Target};

#[cfg(feature = "columnar")]
use super::seeds::{ARROW_CODECS, arrow_file, parquet_codecs, parquet_file};
use super::seeds::{gzip, npy_file};
use super::{classes, f4};

fn options(targets: &[&str]) -> ReadOptions {
    let target_columns = targets.iter().map(|&name| name.to_owned()).collect();
    ReadOptions { target_columns, ..ReadOptions::default() }
}

fn with(text: &str, options: &ReadOptions) -> Result<(Samples, Vec<String>), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let shorten = |error: matnet_data::Error| error.to_string().replace(&path.display().to_string(), "t.csv");
    let found = load_with(&path, options).map_err(shorten)?;
    let notes = found.notes.clone();
    Ok((found.into_samples().unwrap(), notes))
}

fn long(path: &Path) -> TableData {
    load_table(path).unwrap().into_table().unwrap()
}

const HOUSES: &str =
    "town,rooms,area,price,old,sold\nBonn,3,70.5,100.5,0,1\nMainz,4,,200,1,1\nBonn,5,90,300,0,0\n";

#[test]
fn a_sample_per_row() {
    let (found, notes) = with(HOUSES, &options(&["price"])).unwrap();
    assert_eq!(found.inputs.shape(), [3, 4, 1]);
    assert_eq!(found.inputs.sample(0), [3., 70.5, 0., 1.]);
    assert!(found.inputs.sample(1)[1].is_nan());
    assert!(matches!(&found.target, Target::Values { values, names }
        if values.data() == [100.5, 200., 300.] && values.shape() == [3, 1] && names == &["price"]));
    assert_eq!(notes, ["columns left out, because they do not hold numbers: town"]);
    let matrix = ReadOptions { shape: Some([2, 2]), ..options(&["price"]) };
    assert_eq!(with(HOUSES, &matrix).unwrap().0.inputs.shape(), [3, 2, 2]);

    let (found, _) = with(HOUSES, &options(&["town"])).unwrap();
    assert_eq!(
        (found.inputs.shape(), classes(&found.target)),
        (&[3, 5, 1][..], (&[0, 1, 0][..], vec!["Bonn", "Mainz"]))
    );
    let (found, _) = with(HOUSES, &options(&["rooms"])).unwrap();
    assert_eq!(classes(&found.target), (&[0, 1, 2][..], vec!["3", "4", "5"]));
    let value = ReadOptions { target: Some(TargetKind::Value), ..options(&["rooms"]) };
    assert!(
        matches!(with(HOUSES, &value).unwrap().0.target, Target::Values { values, .. } if values.data() == [3., 4., 5.])
    );
    // Several targets, in the order of the user.
    let (found, _) = with(HOUSES, &options(&["price", "rooms"])).unwrap();
    assert!(matches!(found.target, Target::Values { values, .. } if values.sample(1) == [200., 4.]));
    let (found, _) = with(HOUSES, &options(&["sold", "old"])).unwrap();
    let flags = vec![true, false, true, true, false, false];
    assert_eq!(found.target, Target::MultiLabels { flags, names: vec!["sold".to_owned(), "old".to_owned()] });
    // Some features, in the order of the user, and no targets.
    let some = ReadOptions { columns: vec!["sold".to_owned(), "rooms".to_owned()], ..ReadOptions::default() };
    let (found, _) = with(HOUSES, &some).unwrap();
    assert_eq!(
        (found.inputs.shape(), found.inputs.sample(2), found.target),
        (&[3, 2, 1][..], &[0., 5.][..], Target::None)
    );
    // The index that pandas writes is no feature.
    let (found, notes) = with(",a,y\n0,1.5,x\n1,2,z\n", &options(&["y"])).unwrap();
    assert_eq!(notes, ["the column without a name is left out"]);
    assert_eq!((found.inputs.shape(), found.inputs.data()), (&[2, 1, 1][..], &[1.5, 2.][..]));
}

#[test]
fn wrong_tables_say_what_is_wrong() {
    let error = |text: &str, options: &ReadOptions| with(text, options).unwrap_err();
    assert_eq!(
        error(HOUSES, &options(&["cost"])),
        "t.csv: no column \"cost\"; there are: town, rooms, area, price, old, sold"
    );
    assert_eq!(
        error(HOUSES, &options(&["area"])),
        "t.csv: the target of sample 1 holds NaN; finite numbers expected"
    );
    assert_eq!(error("a,y\n1,x\n2,\n", &options(&["y"])), "t.csv: sample 1 has no class; one is expected");
    assert_eq!(
        error(HOUSES, &ReadOptions { shape: Some([2, 3]), ..options(&["price"]) }),
        "t.csv: 4 features cannot fill 2x3, which is what `shape` says"
    );
    assert!(
        error(HOUSES, &options(&["town", "price"])).contains("target column \"town\" does not hold numbers")
    );
    assert_eq!(
        error(HOUSES, &options(&["rooms", "old"])),
        "t.csv: sample 0 has 3 in column \"rooms\"; labels of 0 and 1 expected, or `target = \"value\"`"
    );
    let both = ReadOptions { columns: vec!["price".to_owned()], ..options(&["price"]) };
    assert_eq!(error(HOUSES, &both), "t.csv: column \"price\" is a feature and a target");
    assert_eq!(error(HOUSES, &options(&["old", "old"])), "t.csv: column \"old\" is named twice");
    let class = ReadOptions { target: Some(TargetKind::Class), ..options(&["old", "sold"]) };
    assert_eq!(error(HOUSES, &class), "t.csv: 2 target columns; one class per sample expected");
    let color = ReadOptions { color: true, ..options(&["price"]) };
    assert!(error(HOUSES, &color).contains("`color` has no effect on"));
    assert!(error("y\nx\n", &options(&["y"])).contains("no column of numbers is left"));
    // A column that another has the name of would be a feature, or found in its place.
    let twice = "a,y,y\n1,p,1\n2,q,2\n";
    assert_eq!(error(twice, &options(&["y"])), "t.csv: 2 columns are called \"y\"; one expected");
    assert_eq!(error("a,a,y\n1,1,p\n", &options(&["y"])), "t.csv: 2 columns are called \"a\"; one expected");
    // A first row would be lost as names.
    let shape = ReadOptions { shape: Some([2, 1]), ..ReadOptions::default() };
    assert_eq!(
        error("0.5,1\n2,3\n", &shape),
        "t.csv: its first line holds numbers (0.5, …); the names of the columns expected there"
    );
    assert_eq!(
        with("0,1\n2,3\n", &shape).unwrap().0.inputs.data(),
        [2., 3.],
        "the names that pandas makes up"
    );
    let prices: String = (0..24).map(|at| format!("{at},{}\n", 1000 + at)).collect();
    assert!(
        error(&format!("a,y\n{prices}"), &options(&["y"])).starts_with("t.csv: 24 different integers in 24")
    );
    // Without these options, a table is one matrix.
    assert!(with("1,2\n3,4\n", &ReadOptions::default()).unwrap().0.inputs.shape() == [1, 2, 2]);
}

#[test]
fn prediction_needs_no_target_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.csv");
    std::fs::write(&path, "rooms,area\n1,2\n3,4\n5,6\n").unwrap();
    let mut reader = SampleReader::open_with(&path, &options(&["price"])).unwrap();
    assert_eq!((reader.len(), reader.sample_size(), reader.file_names().is_none()), (3, Some(2), true));
    let chunk = reader.next_chunk(2).unwrap().unwrap();
    assert_eq!((chunk.inputs.shape(), chunk.inputs.data()), (&[2, 2, 1][..], &[1., 2., 3., 4.][..]));
    std::fs::write(&path, "price,rooms,area\n9,1,2\n").unwrap();
    let mut reader = SampleReader::open_with(&path, &options(&["price"])).unwrap();
    assert_eq!(reader.next_chunk(2).unwrap().unwrap().inputs.data(), [1., 2.]);
}

#[test]
fn long_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv.gz");
    let write = |text: &str| std::fs::write(&path, gzip(text.as_bytes())).unwrap();
    write("date,a,b\n2016-07-01 00:00:00,1,2\n2016-07-01 01:00:00,3,NaN\n");
    let found = load_table(&path).unwrap();
    assert_eq!(found.notes, ["column \"date\" holds times and is left out"]);
    // A table with times can be nothing else.
    assert!(load(&path).unwrap().into_table().is_ok());
    let table = long(&path);
    assert_eq!((table.values.shape(), &table.values.data()[..3]), (&[2, 2][..], &[1., 2., 3.][..]));
    assert!(table.values.data()[3].is_nan());
    assert_eq!(table.column_names, ["a", "b"]);
    // What is left out is not called a time unless it is.
    write(",a,kind\n0,1,x\n1,3,y\n");
    let left_out =
        ["column \"kind\" does not hold numbers and is left out", "the column without a name is left out"];
    assert_eq!(load_table(&path).unwrap().notes, left_out);
    write("1,2\n3,4\n");
    assert_eq!(long(&path).column_names.len(), 0);
    assert_eq!(load(&path).unwrap().into_samples().unwrap().inputs.shape(), [1, 2, 2]);
    write("a,Timestamp\n1,10\n3,20\n");
    assert_eq!(long(&path).values.data(), [1., 3.]);
    let options = ReadOptions { long_table: true, ..ReadOptions::default() };
    assert_eq!(load_with(&path, &options).unwrap().into_table().unwrap().column_names, ["a"]);
    // By name, in the order of the user.
    write("time,a,b\n1,2,3\n2,4,5\n");
    let chosen = |columns: &[&str]| {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        load_with(&path, &ReadOptions { columns, ..options.clone() }).map(|found| found.into_table().unwrap())
    };
    let found = chosen(&["b", "a"]).unwrap();
    assert_eq!(
        (found.values.data(), &found.column_names[..]),
        (&[3., 2., 5., 4.][..], &["b".to_owned(), "a".into()][..])
    );
    assert_eq!(chosen(&["b"]).unwrap().values.data(), [3., 5.]);
    assert!(chosen(&["c"]).unwrap_err().to_string().ends_with("no column \"c\"; there are: time, a, b"));
    write("1,2\n3,4\n");
    assert!(chosen(&["a", "b"]).is_err(), "no names");
    let predicted = ReadOptions { columns: vec!["a".into(), "b".into()], ..options.clone() };
    let mut reader = SampleReader::open_with(&path, &predicted).unwrap();
    assert_eq!(reader.next_chunk(1).unwrap().unwrap().inputs.data(), [1., 2., 3., 4.], "as they stand");
    // Rows in the order of time.
    write("date,a\n2016-07-02,1\n2016-07-01,3\n");
    assert!(load_table(&path).unwrap_err().to_string().ends_with(
        "row 1 (2016-07-01) is before row 0 (2016-07-02); rows in the order of column \"date\" expected"
    ));
    write("date,who,a\n2016-07-01,x,1\n");
    let error = load_table(&path).unwrap_err().to_string();
    assert!(error.ends_with(
        "column \"who\" does not hold numbers; only a column of times is left out, which is \"date\""
    ));
    write("date\n2016-07-01\n");
    assert!(load_table(&path).unwrap_err().to_string().ends_with("holds no column of numbers"));
    let array = dir.path().join("t.npy");
    std::fs::write(&array, npy_file("<f4", false, "(2, 2)", &f4(&[1., 2., 3., 4.]))).unwrap();
    assert_eq!(long(&array).values.shape(), [2, 2]);
    assert!(load(&array).unwrap_err().to_string().contains("shape [2, 2]"));
}

#[cfg(feature = "columnar")]
#[test]
fn parquet_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    for (_, codec) in parquet_codecs() {
        std::fs::write(&path, parquet_file(codec)).unwrap();
        let found = load_with(&path, &options(&["n"])).unwrap();
        assert_eq!(found.notes, ["columns left out, because they do not hold numbers: id"]);
        let found = found.into_samples().unwrap();
        assert_eq!((found.inputs.shape(), found.inputs.sample(2)), (&[3, 2, 1][..], &[1.5, 1.][..]));
        assert!(found.inputs.sample(1)[0].is_nan());
        assert_eq!(classes(&found.target), (&[1, 0, 1][..], vec!["-1", "7"]));
        let found = load_with(&path, &options(&["ok"])).unwrap().into_samples().unwrap();
        assert_eq!(classes(&found.target), (&[1, 0, 1][..], vec!["False", "True"]));
    }
    assert_eq!(load(&path).unwrap().into_samples().unwrap().inputs.shape(), [3, 3, 1]);
    let table = long(&path);
    assert_eq!(
        (table.column_names, table.values.sample(0)),
        (vec!["n".into(), "x".into(), "ok".into()], &[7., 0.5, 1.][..])
    );
    let mut reader = SampleReader::open_with(&path, &options(&["n"])).unwrap().keep_missing();
    assert_eq!(reader.next_chunk(2).unwrap().unwrap().inputs.shape(), [2, 2, 1]);
    std::fs::write(&path, b"PAR1").unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("is not a valid Parquet file"));

    // Unsigned integers, and bytes that are no UTF-8, stay what they are.
    std::fs::write(&path, odd_file()).unwrap();
    let found = load_with(&path, &options(&["u"])).unwrap().into_samples().unwrap();
    assert_eq!(classes(&found.target), (&[0, 1][..], vec!["9223372036854775808", "9223372036854775809"]));
    let found = load_with(&path, &options(&["b"])).unwrap().into_samples().unwrap();
    assert_eq!(classes(&found.target), (&[1, 0][..], vec!["\\xe8", "\\xe9"]));
    assert_eq!(found.inputs.data(), [9.223372e18, 3., 9.223372e18, 4.]);

    // Floats of 16 bits are numbers, too.
    std::fs::write(&path, half_file()).unwrap();
    let found = load_with(&path, &options(&["y"])).unwrap().into_samples().unwrap();
    assert_eq!((found.inputs.shape(), found.inputs.data()), (&[2, 1, 1][..], &[1.5, -2.][..]));

    // A graph: nodes as Parquet, whose last column is not called a class and is a feature; edges as text, or as Parquet.
    let graph = dir.path().join("graph");
    std::fs::create_dir(&graph).unwrap();
    std::fs::write(graph.join("nodes.parquet"), edge_file(&["a", "b"], &["x", "y"])).unwrap();
    std::fs::write(graph.join("edges.csv"), "a,b\n").unwrap();
    assert!(load(&graph).unwrap_err().to_string().contains("no column of numbers is left"));
    std::fs::write(graph.join("nodes.parquet"), parquet_file(parquet_codecs()[1].1)).unwrap();
    let found = load(&graph).unwrap().into_graph().unwrap();
    assert_eq!((found.features.shape(), &found.edges[..]), (&[3, 3][..], &[(0, 1)][..]));
    assert_eq!(
        (&found.node_names[..], found.labels),
        (&["a".to_owned(), "b".into(), "c".into()][..], vec![None; 3])
    );
    std::fs::remove_file(graph.join("edges.csv")).unwrap();
    std::fs::write(graph.join("edges.parquet"), edge_file(&["a", "c"], &["b", "b"])).unwrap();
    assert_eq!(load(&graph).unwrap().into_graph().unwrap().edges, [(0, 1), (2, 1)]);
    std::fs::write(
        graph.join("edges.parquet"),
        text_file(&[("from", &["a"]), ("to", &["b"]), ("how", &[""])]),
    )
    .unwrap();
    let error = load(&graph).unwrap_err().to_string();
    assert!(
        error.ends_with("column \"how\" has an edge without a relation (\"\"); one is expected"),
        "{error}"
    );
    std::fs::write(graph.join("edges.parquet"), edge_file(&["a"], &["z"])).unwrap();
    let error = load(&graph).unwrap_err().to_string();
    assert!(error.ends_with("column \"to\" names node \"z\", which is not in the node table"), "{error}");
}

#[cfg(feature = "columnar")]
#[test]
fn arrow_tables() {
    let dir = tempfile::tempdir().unwrap();
    for (ending, (_, codec)) in ["arrow", "feather", "FEATHER"].into_iter().zip(ARROW_CODECS) {
        let path = dir.path().join(format!("t.{ending}"));
        std::fs::write(&path, arrow_file(codec)).unwrap();
        let found = load_with(&path, &options(&["kind"])).unwrap();
        assert_eq!(found.notes, ["columns left out, because they do not hold numbers: id"]);
        let found = found.into_samples().unwrap();
        assert_eq!((found.inputs.shape(), found.inputs.sample(2)), (&[3, 3, 1][..], &[7., 1.5, 1.][..]));
        assert!(found.inputs.sample(1)[1].is_nan());
        assert_eq!(classes(&found.target), (&[1, 0, 1][..], vec!["down", "up"]));
        let found = load_with(&path, &options(&["n"])).unwrap().into_samples().unwrap();
        assert_eq!(classes(&found.target), (&[1, 0, 1][..], vec!["-1", "7"]));
        let mut reader = SampleReader::open_with(&path, &options(&["kind"])).unwrap().keep_missing();
        assert_eq!(reader.next_chunk(2).unwrap().unwrap().inputs.shape(), [2, 3, 1]);
    }
    let path = dir.path().join("t.arrow");
    for (bytes, expected) in [
        (&b"ARROW1 and no more"[..], "is not a valid Arrow file: it has no footer"),
        (b"FEA1....", "is a Feather file of version 1; save it with version 2"),
        (b"\xff\xff\xff\xff....", "is an Arrow stream; save it as an Arrow file"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }

    // A graph: nodes as Arrow, edges as text.
    let graph = dir.path().join("graph");
    std::fs::create_dir(&graph).unwrap();
    std::fs::write(graph.join("nodes.arrow"), arrow_file(None)).unwrap();
    std::fs::write(graph.join("edges.csv"), "a,b\n").unwrap();
    let found = load(&graph).unwrap().into_graph().unwrap();
    assert_eq!((found.features.shape(), &found.edges[..]), (&[3, 3][..], &[(0, 1)][..]));
    assert_eq!(
        (found.class_names, found.labels),
        (vec!["down".to_owned(), "up".into()], vec![Some(1), Some(0), Some(1)])
    );
}

/// A Parquet table of two rows: `h`, floats of 16 bits, and `y`.
#[cfg(feature = "columnar")]
fn half_file() -> Vec<u8> {
    use parquet::data_type::{ByteArray, FixedLenByteArray, FixedLenByteArrayType, Int32Type};
    let schema = "message t { required fixed_len_byte_array(2) h (FLOAT16); required int32 y; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut out = Vec::new();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(&mut out, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let halves = [0x3e00_u16, 0xc000]
        .map(|bits| FixedLenByteArray::from(ByteArray::from(bits.to_le_bytes().to_vec())));
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<FixedLenByteArrayType>().write_batch(&halves, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[0, 1], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    out
}

/// A Parquet table of two rows: `u`, unsigned integers of 64 bits, `b`, bytes in Latin-1, and `x`.
#[cfg(feature = "columnar")]
fn odd_file() -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
    let schema = "message t { required int64 u (INTEGER(64,false)); required binary b; required int32 x; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut out = Vec::new();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(&mut out, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[i64::MIN, i64::MIN + 1], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let bytes = [0xe9_u8, 0xe8].map(|byte| ByteArray::from(vec![byte]));
    column.typed::<ByteArrayType>().write_batch(&bytes, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[3, 4], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    out
}

/// A Parquet table of two columns of texts, `from` and `to`.
#[cfg(feature = "columnar")]
fn edge_file(from: &[&str], to: &[&str]) -> Vec<u8> {
    text_file(&[("from", from), ("to", to)])
}

/// A Parquet table of columns of texts.
#[cfg(feature = "columnar")]
fn text_file(columns: &[(&str, &[&str])]) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType};
    let fields: String = columns.iter().map(|(name, _)| format!("required binary {name} (UTF8); ")).collect();
    let schema = format!("message t {{ {fields}}}");
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let mut out = Vec::new();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(&mut out, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (_, texts) in columns {
        let values: Vec<ByteArray> = texts.iter().map(|&text| text.into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    out
}

#[cfg(not(feature = "columnar"))]
#[test]
fn columnar_tables_are_named_where_they_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    std::fs::write(&path, b"PAR1").unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.ends_with(
        "is Parquet or Arrow, which this build cannot read; build it with the cargo feature `columnar`"
    ));
}

/// The tables that forecasts are published for, where they are at hand.
#[test]
fn electricity_transformers() {
    let folder = std::env::var_os("MATNET_DATA").map(|root| Path::new(&root).join("forecast"));
    let Some(path) = folder.map(|folder| folder.join("ETTh1.csv.gz")).filter(|path| path.exists()) else {
        println!("SKIPPED: set MATNET_DATA to a folder that holds forecast/ to read long tables");
        return;
    };
    let table = long(&path);
    assert_eq!(table.values.shape(), [17_420, 7]);
    assert_eq!(table.column_names, ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]);
    assert_eq!(table.values.data()[..2], [5.827, 2.009]);
    assert!(table.values.data().iter().all(|x| x.is_finite()));
}
