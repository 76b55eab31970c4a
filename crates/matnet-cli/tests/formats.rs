//! Every file format from `train` to `predict`: a table of small files, each with the config that reads it.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use common::run;
use matnet_data::format::npy::{self, write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

/// Samples per file.
const N: usize = 40;

/// Entry `at` of sample `sample`: the two classes, even and odd, differ in their sign.
fn value(sample: usize, at: usize) -> f32 {
    let sign = if sample.is_multiple_of(2) { 1.0 } else { -1.0 };
    sign * (0.5 + ((sample * 7 + at * 3) % 5) as f32 / 10.0)
}

fn values(count: usize) -> Vec<f32> {
    (0..N).flat_map(|sample| (0..count).map(move |at| value(sample, at))).collect()
}

fn class(sample: usize) -> &'static str {
    if sample.is_multiple_of(2) { "even" } else { "odd" }
}

/// One case: what lies in the folder, `[data]` and `[model]` of the config, the input of `predict`, and the shape of its output.
struct Case {
    name: &'static str,
    write: fn(&Path),
    data: &'static str,
    model: &'static str,
    input: &'static str,
    shape: &'static [usize],
}

const CLASSIFIER: &str = "kind = 'feedforward'\nhidden = [3, 3]";
const SEQUENCES: &str = "kind = 'sequence-classifier'\nhidden = [3, 3]";
const GRAPH: &str = "kind = 'gcn'\nhidden = [4]";

const CASES: &[Case] = &[
    Case {
        name: ".npz with classes",
        write: |at| {
            let mut file = NpzWriter::new(fs::File::create(at.join("x.npz")).unwrap());
            file.add("x", |mut out| write_f32(&mut out, &[N, 4, 3], &values(12))).unwrap();
            let y: Vec<i64> = (0..N as i64).map(|sample| sample % 2).collect();
            file.add("y", |mut out| write_i64(&mut out, &[N], &y)).unwrap();
            file.finish().unwrap();
        },
        data: "source = 'x.npz'",
        model: CLASSIFIER,
        input: "x.npz",
        shape: &[N, 2],
    },
    Case {
        name: ".npy, reconstructed",
        write: |at| {
            write_f32(&mut fs::File::create(at.join("x.npy")).unwrap(), &[N, 4, 3], &values(12)).unwrap()
        },
        data: "source = 'x.npy'",
        model: "kind = 'autoencoder'\nhidden = [3, 2]\ndepth = 2",
        input: "x.npy",
        shape: &[N, 4, 3],
    },
    Case {
        name: ".ts with official halves",
        write: |at| {
            fs::write(at.join("toy_TRAIN.ts"), series(0..30, |_| 6)).unwrap();
            fs::write(at.join("toy_TEST.ts"), series(30..N, |_| 6)).unwrap();
        },
        data: "source = 'toy_TRAIN.ts'",
        model: SEQUENCES,
        input: "toy_TEST.ts",
        shape: &[10, 2],
    },
    Case {
        name: ".ts.gz of different lengths",
        write: |at| {
            let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            file.write_all(series(0..N, |sample| 3 + sample % 4).as_bytes()).unwrap();
            fs::write(at.join("toy.ts.gz"), file.finish().unwrap()).unwrap();
        },
        data: "source = 'toy.ts.gz'",
        model: SEQUENCES,
        input: "toy.ts.gz",
        shape: &[N, 2],
    },
    Case {
        name: ".wav by folders, as log-mel spectrograms",
        write: |at| {
            for sample in 0..N {
                let folder = at.join("sounds").join(class(sample));
                fs::create_dir_all(&folder).unwrap();
                let format = hound::WavSpec {
                    channels: 1,
                    sample_rate: 8000,
                    bits_per_sample: 16,
                    sample_format: hound::SampleFormat::Int,
                };
                let mut file =
                    hound::WavWriter::create(folder.join(format!("{sample}.wav")), format).unwrap();
                let step = if sample.is_multiple_of(2) { 0.2_f64 } else { 0.9 };
                for time in 0..512 {
                    file.write_sample((8000.0 * (step * f64::from(time)).sin()) as i16).unwrap();
                }
                file.finalize().unwrap();
            }
        },
        data: "source = 'sounds'\nlog_mel = { sample_rate = 8000, n_mels = 8, fft_size = 128, hop = 64 }\nscale = 'standardize'",
        model: SEQUENCES,
        input: "sounds",
        shape: &[N, 2],
    },
    Case {
        name: ".csv with a sample per row, and values",
        write: |at| fs::write(at.join("rows.csv"), rows(',')).unwrap(),
        data: "source = 'rows.csv'\ntarget_column = 'size'\ncolumns = ['a', 'b', 'c', 'd']\nshape = [2, 2]",
        model: CLASSIFIER,
        input: "rows.csv",
        shape: &[N, 1],
    },
    Case {
        name: ".tsv with a sample per row, and classes as text",
        write: |at| fs::write(at.join("rows.tsv"), rows('\t')).unwrap(),
        data: "source = 'rows.tsv'\ntarget_column = 'class'",
        model: CLASSIFIER,
        input: "rows.tsv",
        shape: &[N, 2],
    },
    Case {
        name: ".parquet with a sample per row",
        write: |at| fs::write(at.join("rows.parquet"), parquet_rows()).unwrap(),
        data: "source = 'rows.parquet'\ntarget_column = 'class'",
        model: CLASSIFIER,
        input: "rows.parquet",
        shape: &[N, 2],
    },
    Case {
        name: ".arrow with a sample per row",
        write: |at| fs::write(at.join("rows.arrow"), arrow_rows(None)).unwrap(),
        data: "source = 'rows.arrow'\ntarget_column = 'class'",
        model: CLASSIFIER,
        input: "rows.arrow",
        shape: &[N, 2],
    },
    Case {
        name: ".feather as one long table, forecast by sequences",
        write: |at| {
            fs::write(at.join("long.feather"), arrow_rows(Some(arrow_ipc::CompressionType::ZSTD))).unwrap();
        },
        data: "source = 'long.feather'\nwindow = 4\nhorizon = 2",
        model: "kind = 'seq2seq'\nhidden = [3, 3]",
        input: "long.feather",
        shape: &[1, 2, 5, 1],
    },
    Case {
        name: ".parquet as one long table, forecast by matrices",
        write: |at| {
            fs::write(at.join("long.parquet"), parquet_rows()).unwrap();
        },
        data: "source = 'long.parquet'\nwindow = 4\nhorizon = 2",
        model: CLASSIFIER,
        input: "long.parquet",
        shape: &[1, 2, 5],
    },
    Case {
        name: ".csv as one long table with times",
        write: |at| {
            let lines = (0..N).map(|row| {
                format!(
                    "2026-{:02}-{:02} 00:00,{},{}\n",
                    1 + row / 28,
                    1 + row % 28,
                    value(row, 0),
                    value(row, 1)
                )
            });
            fs::write(at.join("long.csv"), format!("date,a,b\n{}", lines.collect::<String>())).unwrap();
        },
        data: "source = 'long.csv'\nwindow = 4\nhorizon = 2\nscale = 'standardize'",
        model: CLASSIFIER,
        input: "long.csv",
        shape: &[1, 2, 2],
    },
    Case {
        name: "pictures by folders, grey",
        write: |at| pictures(at, |_| (6, 5)),
        data: "source = 'pictures'",
        model: CLASSIFIER,
        input: "pictures",
        shape: &[N, 2],
    },
    Case {
        name: "pictures of different sizes, resized, in colour",
        write: |at| pictures(at, |sample| (5 + sample as u32 % 3, 4 + sample as u32 % 2)),
        data: "source = 'pictures'\nimage_size = [4, 4]\ncolor = true",
        model: CLASSIFIER,
        input: "pictures",
        shape: &[N, 2],
    },
    Case {
        name: "matrices as .csv by folders",
        write: |at| {
            for sample in 0..N {
                let folder = at.join("tables").join(class(sample));
                fs::create_dir_all(&folder).unwrap();
                let line = |row: usize| format!("{},{}\n", value(sample, row), value(sample, row + 1));
                fs::write(folder.join(format!("{sample}.csv")), (0..3).map(line).collect::<String>())
                    .unwrap();
            }
        },
        data: "source = 'tables'",
        model: CLASSIFIER,
        input: "tables",
        shape: &[N, 2],
    },
    Case {
        name: "recordings of different lengths as .csv by folders",
        write: |at| {
            for sample in 0..N {
                let folder = at.join("tables").join(class(sample));
                fs::create_dir_all(&folder).unwrap();
                let line = |row: usize| format!("{},{}\n", value(sample, row), value(sample, row + 1));
                let text: String = (0..3 + sample % 4).map(line).collect();
                fs::write(folder.join(format!("{sample}.csv")), text).unwrap();
            }
        },
        data: "source = 'tables'\nlayout = 'sequence'",
        model: SEQUENCES,
        input: "tables",
        shape: &[N, 2],
    },
    Case {
        name: "a graph as .npz",
        write: |at| {
            let mut file = NpzWriter::new(fs::File::create(at.join("graph.npz")).unwrap());
            file.add("features", |mut out| write_f32(&mut out, &[N, 3], &values(3))).unwrap();
            let edges: Vec<i64> = (0..N as i64).flat_map(|node| [node, (node + 2) % N as i64]).collect();
            file.add("edges", |mut out| write_i64(&mut out, &[N, 2], &edges)).unwrap();
            let labels: Vec<i64> = (0..N as i64).map(|node| node % 2).collect();
            file.add("labels", |mut out| write_i64(&mut out, &[N], &labels)).unwrap();
            file.finish().unwrap();
        },
        data: "source = 'graph.npz'",
        model: GRAPH,
        input: "graph.npz",
        shape: &[N, 2],
    },
    Case {
        name: "a graph as an edge list and a table",
        write: |at| {
            fs::create_dir(at.join("graph")).unwrap();
            fs::write(at.join("graph/nodes.csv"), rows(',')).unwrap();
            fs::write(at.join("graph/edges.csv"), edges()).unwrap();
        },
        data: "source = 'graph'",
        model: "kind = 'column-net'\nhidden = 4\ndepth = 2",
        input: "graph",
        shape: &[N, 2],
    },
    Case {
        name: "a graph whose nodes are an .arrow table",
        write: |at| {
            fs::create_dir(at.join("graph")).unwrap();
            fs::write(at.join("graph/nodes.arrow"), arrow_rows(Some(arrow_ipc::CompressionType::LZ4_FRAME)))
                .unwrap();
            fs::write(at.join("graph/edges.csv"), edges()).unwrap();
        },
        data: "source = 'graph'",
        model: GRAPH,
        input: "graph",
        shape: &[N, 2],
    },
    Case {
        name: "stories as text",
        write: |at| {
            let places = ["kitchen", "garden"];
            let story = |n: usize| {
                let place = places[n % 2];
                format!("1 Anna went to the {place}.\n2 Where is Anna?\t{place}\t1\n")
            };
            fs::write(at.join("stories.txt"), (0..N).map(story).collect::<String>()).unwrap();
        },
        data: "source = 'stories.txt'",
        model: "kind = 'end-to-end-memory'\nembedding_dim = 5\nhops = 1",
        input: "stories.txt",
        shape: &[N, 8],
    },
];

/// A `.ts` file of two channels.
fn series(samples: std::ops::Range<usize>, length: fn(usize) -> usize) -> String {
    let mut text = "@univariate false\n@equalLength false\n@classLabel true even odd\n@data\n".to_owned();
    for sample in samples {
        for channel in 0..2 {
            let steps: Vec<String> =
                (0..length(sample)).map(|step| value(sample, step + channel).to_string()).collect();
            text += &format!("{}:", steps.join(","));
        }
        text += &format!("{}\n", class(sample));
    }
    text
}

/// A table: the name of each row, four features, a number, and a class.
fn rows(separator: char) -> String {
    let mut text = "id,a,b,c,d,size,class\n".to_owned();
    for row in 0..N {
        let numbers: Vec<String> = (0..5).map(|at| value(row, at).to_string()).collect();
        text += &format!("n{row},{},{}\n", numbers.join(","), class(row));
    }
    text.replace(',', &separator.to_string())
}

fn edges() -> String {
    (0..N).map(|row| format!("n{row},n{}\n", (row + 2) % N)).collect()
}

/// The same table as an Arrow file.
fn arrow_rows(codec: Option<arrow_ipc::CompressionType>) -> Vec<u8> {
    let texts =
        |of: fn(usize) -> String| -> ArrayRef { Arc::new(StringArray::from_iter_values((0..N).map(of))) };
    let mut columns = vec![("id", texts(|row| format!("n{row}")))];
    for (at, name) in ["a", "b", "c", "d", "size"].into_iter().enumerate() {
        columns.push((name, Arc::new(Float32Array::from_iter_values((0..N).map(|row| value(row, at))))));
    }
    // A long table has no column of texts but that of times.
    if codec != Some(arrow_ipc::CompressionType::ZSTD) {
        columns.push(("class", texts(|row| class(row).to_owned())));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let writer = arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options);
    let mut writer = writer.unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// The features and the class as a Parquet file, compressed with Zstandard; the classes are 0 and 1, so that it is a long table, too.
fn parquet_rows() -> Vec<u8> {
    use parquet::basic::Compression;
    use parquet::data_type::{FloatType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let schema = "message t { required float a; required float b; required float c; required float d; required int32 class; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let codec = Compression::ZSTD(Default::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for at in 0..4 {
        let column: Vec<f32> = (0..N).map(|row| value(row, at)).collect();
        let mut writer = group.next_column().unwrap().unwrap();
        writer.typed::<FloatType>().write_batch(&column, None, None).unwrap();
        writer.close().unwrap();
    }
    let classes: Vec<i32> = (0..N as i32).map(|row| row % 2).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&classes, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    out
}

/// Pictures by class, of these widths and heights.
fn pictures(at: &Path, size: fn(usize) -> (u32, u32)) {
    for sample in 0..N {
        let folder = at.join("pictures").join(class(sample));
        fs::create_dir_all(&folder).unwrap();
        let (width, height) = size(sample);
        let grey = if sample.is_multiple_of(2) { 40 } else { 200 };
        let picture = image::RgbImage::from_fn(width, height, |x, y| {
            image::Rgb([grey + (x * 5) as u8, grey, grey + (y * 3) as u8])
        });
        picture.save(folder.join(format!("{sample}.png"))).unwrap();
    }
}

#[test]
fn every_format_from_train_to_predict() {
    for Case { name, write, data, model, input, shape } in CASES {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        write(folder);
        let config = format!("[data]\n{data}\n[model]\n{model}\n[train]\nepochs = 2\nlearning_rate = 0.01\n");
        fs::write(folder.join("mine.toml"), config).unwrap();
        let done = |args: &[&str]| {
            let (code, out, err) = run(folder, args);
            assert_eq!(code, 0, "{name}: {args:?}: {err}");
            out
        };
        done(&["train", "mine.toml", "--quiet", "--out", "run"]);
        // The same numbers again from the files.
        let result: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.join("run/result.json")).unwrap()).unwrap();
        let again: serde_json::Value = serde_json::from_str(&done(&["eval", "run", "--json"])).unwrap();
        assert_eq!(again["loss"], result["test"]["loss"], "{name}");
        done(&["predict", "run", "--quiet", "--input", input, "--output", "y.npy"]);
        let found = npy::read(folder.join("y.npy")).unwrap();
        assert_eq!(found.shape(), *shape, "{name}");
        let found = found.into_array(Path::new("y.npy")).unwrap();
        assert!(found.data().iter().all(|x| x.is_finite()), "{name}");
    }
}

/// Files that are cut off are one clear error, and nothing else is printed.
#[test]
fn damaged_tables_print_one_error() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("mine.toml"),
        "[data]\nsource = 'x'\ntarget_column = 'class'\n[model]\nkind = 'feedforward'\nhidden = [3, 3]\n",
    )
    .unwrap();
    for (name, bytes) in [("t.parquet", parquet_rows()), ("t.arrow", arrow_rows(None))] {
        // A bit in every place of the footer, where the lengths are.
        for at in (bytes.len().saturating_sub(400)..bytes.len()).step_by(9) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            fs::write(folder.join(name), &bytes).unwrap();
            let set = format!("data.source={name}");
            let (code, out, err) = run(folder, &["inspect", "mine.toml", "--set", &set]);
            assert!(code <= 2, "{name}, byte {at}: {code} {err}");
            if code != 0 {
                let is_one = err.starts_with("error: ") && err.lines().count() == 1 && out.is_empty();
                assert!(is_one, "{name}, byte {at}: {err}");
            }
        }
    }
}
