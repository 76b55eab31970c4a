//! Samples that stay in their file, because they would not fit into memory: the same bits as from memory.

mod common;

use std::fs::File;
use std::path::{Path, PathBuf};

use common::stored::{LIMITS, error, fails_when_cut_off, ok, same_when_killed};
use common::{bytes, same};
use matnet_data::format::npy;
use tempfile::TempDir;

/// A folder with the arrays of 120 samples in `data/`: matrices 6×5, or sequences of 4 of them whose lengths differ.
fn folder(sequences: bool) -> (TempDir, PathBuf) {
    let temporary = TempDir::new().unwrap();
    let path = temporary.path().to_owned();
    std::fs::create_dir(path.join("data")).unwrap();
    let file = |name: &str| File::create(path.join("data").join(name)).unwrap();
    let shape: &[usize] = if sequences { &[120, 4, 6, 5] } else { &[120, 6, 5] };
    let classes: Vec<i64> = (0..120).map(|at| at * 7 % 3).collect();
    let size = shape[1..].iter().product::<usize>();
    let number = |at: usize| ((at * 7919 % 1009) as f32 / 200.0) + (classes[at / size] * 2) as f32;
    let numbers: Vec<f32> = (0..120 * size).map(number).collect();
    npy::write_f32(&mut file("x.npy"), shape, &numbers).unwrap();
    npy::write_i64(&mut file("y.npy"), &[120], &classes).unwrap();
    if sequences {
        let lengths: Vec<i64> = (0..120).map(|at| 1 + at % 4).collect();
        npy::write_i64(&mut file("length.npy"), &[120], &lengths).unwrap();
    }
    (temporary, path)
}

fn config(folder: &Path, data: &str, model: &str) {
    let text = format!(
        "[data]\nsource = 'data'\n{data}\n[model]\n{model}\n[train]\nepochs = 3\nbatch_size = 8\nlog_test = true\n"
    );
    std::fs::write(folder.join("c.toml"), text).unwrap();
}

#[test]
fn samples_in_a_file_give_the_bits_of_samples_in_memory() {
    let feedforward = "kind = 'feedforward'\nhidden = [4, 4]";
    let recurrent = "kind = 'sequence-classifier'\nhidden = [4, 4]";
    let cases = [
        (false, "", feedforward),
        (false, "shuffle_block = 7", feedforward),
        (false, "shuffle_block = 3\nscale = 'standardize'\nscale_per = 'entry'\npermute = true", feedforward),
        (false, "scale = 'min-max'\nocclusion = [2, 2]", "kind = 'autoencoder'\nhidden = [4, 4]\ndepth = 2"),
        (false, "limit = 70\nscale = 'standardize'", feedforward),
        (true, "shuffle_block = 5\nscale = 'standardize'\nscale_per = 'row'", recurrent),
        (true, "", recurrent),
        (false, "spectrogram = { window = 4, overlap = 2 }", recurrent),
    ];
    for (sequences, data, model) in cases {
        let (_temporary, folder) = folder(sequences);
        config(&folder, data, model);
        if data.contains("scale") {
            // Scaling counts samples by their weight.
            let mut file = File::create(folder.join("data/weight.npy")).unwrap();
            let weights: Vec<f32> = (0..120).map(|at| (at % 4) as f32).collect();
            npy::write_f32(&mut file, &[120], &weights).unwrap();
        }
        for (out, above) in LIMITS {
            ok(&folder, &["train", "c.toml", "-q", "--out", out], above);
        }
        let [stored, loaded] = LIMITS.map(|(out, _)| folder.join(out));
        assert_eq!(bytes(&stored).len(), 7, "{data}");
        same(&stored, &loaded);
        // What is trained is also evaluated and used in the same way.
        let eval = LIMITS.map(|(_, above)| ok(&folder, &["eval", "stored", "--json"], above));
        assert_eq!(eval[0], eval[1], "{data}");
        let other = LIMITS.map(|(_, above)| ok(&folder, &["eval", "stored", "--data", "data"], above));
        assert_eq!(other[0], other[1], "{data}");
        ok(&folder, &["predict", "stored", "-q", "--input", "data", "--output", "p.npy"], "0");
        assert!(folder.join("p.npy").exists());
    }
}

#[test]
fn a_folder_of_arrays_is_an_npz() {
    let (_temporary, folder) = folder(true);
    config(&folder, "scale = 'standardize'", "kind = 'sequence-classifier'\nhidden = [4, 4]");
    let mut writer = matnet_data::format::npz::NpzWriter::new(File::create(folder.join("data.npz")).unwrap());
    for name in ["x", "y", "length"] {
        let bytes = std::fs::read(folder.join("data").join(format!("{name}.npy"))).unwrap();
        writer.add(name, |out| out.write_all(&bytes)).unwrap();
    }
    writer.finish().unwrap();
    ok(&folder, &["train", "c.toml", "-q", "--out", "a"], "0");
    ok(&folder, &["train", "c.toml", "-q", "--out", "b", "--set", "data.source=data.npz"], "0");
    let text = |run: &str, file: &str| std::fs::read_to_string(folder.join(run).join(file)).unwrap();
    assert_eq!(text("a", "metrics.csv"), text("b", "metrics.csv"));
    let a = text("a", "config.toml").replace("source = \"data\"", "source = \"data.npz\"");
    assert_eq!(a, text("b", "config.toml"), "the checksum of the data, too");
    // Predictions as well, with their lengths.
    for input in ["data", "data.npz"] {
        ok(&folder, &["predict", "a", "-q", "--input", input, "--output", &format!("{input}.csv")], "0");
    }
    let predicted = |input: &str| std::fs::read_to_string(folder.join(format!("{input}.csv"))).unwrap();
    assert_eq!(predicted("data"), predicted("data.npz"));
}

#[test]
fn killed_again_and_again_it_ends_in_the_same_bytes() {
    let (_temporary, folder) = folder(false);
    config(&folder, "shuffle_block = 7\nscale = 'standardize'", "kind = 'feedforward'\nhidden = [4, 4]");
    same_when_killed(&folder, 30);
}

#[test]
fn a_file_that_is_cut_off_while_it_is_used_is_an_error() {
    let (_temporary, folder) = folder(false);
    config(&folder, "", "kind = 'feedforward'\nhidden = [4, 4]");
    fails_when_cut_off(&folder, "data/x.npy", 1000);
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder(false);
    config(&folder, "", "kind = 'feedforward'\nhidden = [4, 4]");
    let train = ["train", "c.toml", "--out", "x"];
    let error = |args: &[&str], above: &str| error(&folder, &[&train, args].concat(), above);
    let err = error(&[], "much");
    assert!(err.contains("MATNET_STREAM_ABOVE=much; a number of bytes expected"), "{err}");
    let err = error(&["--set", "data.shuffle_block=0"], "0");
    assert!(err.contains("data.shuffle_block: 0; must be at least 1"), "{err}");
    // A number that is not finite is found before anything is trained, wherever it stands.
    let mut whole = std::fs::read(folder.join("data/x.npy")).unwrap();
    let end = whole.len();
    whole[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(folder.join("data/x.npy"), &whole).unwrap();
    let [stored, loaded] = LIMITS.map(|(_, above)| error(&[], above));
    assert!(stored.contains("data.source: data: sample 119 holds NaN; finite numbers expected"), "{stored}");
    assert_eq!(stored.lines().last(), loaded.lines().last());
    std::fs::write(folder.join("data/x.npy"), &whole[..end - 4]).unwrap();
    let err = error(&[], "0");
    assert!(err.contains("x.npy: says 14400 bytes follow, but only 14396 do"), "{err}");
    assert!(!folder.join("x").exists());
}

/// The samples of a folder as Parquet files of 25 rows in groups of 10, with the class as a column.
fn shards(folder: &Path) {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{FloatType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let x = npy::read(folder.join("data/x.npy")).unwrap().into_array(Path::new("x")).unwrap();
    let y = npy::read(folder.join("data/y.npy")).unwrap().integers(Path::new("y")).unwrap();
    let columns: String = (0..30).map(|at| format!("required float c{at}; ")).collect();
    let schema = format!("message t {{ {columns} required int32 class; }}");
    let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let properties = Arc::new(properties);
    std::fs::create_dir(folder.join("shards")).unwrap();
    let all: Vec<usize> = (0..120).collect();
    for (shard, rows) in all.chunks(25).enumerate() {
        let file = File::create(folder.join(format!("shards/part-{shard}.parquet"))).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema.clone(), properties.clone()).unwrap();
        for rows in rows.chunks(10) {
            let mut group = writer.next_row_group().unwrap();
            for at in 0..30 {
                let column: Vec<f32> = rows.iter().map(|&row| x.sample(row)[at]).collect();
                let mut writer = group.next_column().unwrap().unwrap();
                writer.typed::<FloatType>().write_batch(&column, None, None).unwrap();
                writer.close().unwrap();
            }
            let classes: Vec<i32> = rows.iter().map(|&row| y[row] as i32).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&classes, None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.close().unwrap();
    }
}

/// Parquet files and the members of an `.npz` stay in their files like an `.npy`, and hold the same samples.
#[test]
fn shards_and_members_give_the_bits_of_samples_in_memory() {
    let (_temporary, folder) = folder(false);
    shards(&folder);
    let mut writer = matnet_data::format::npz::NpzWriter::new(File::create(folder.join("data.npz")).unwrap());
    for name in ["y", "x"] {
        let bytes = std::fs::read(folder.join("data").join(format!("{name}.npy"))).unwrap();
        writer.add(name, |out| out.write_all(&bytes)).unwrap();
    }
    writer.finish().unwrap();
    config(&folder, "scale = 'standardize'\nshuffle_block = 10", "kind = 'feedforward'\nhidden = [4, 4]");
    ok(&folder, &["train", "c.toml", "-q", "--out", "arrays"], "0");
    let text = |run: &str, file: &str| std::fs::read_to_string(folder.join(run).join(file)).unwrap();
    let table = ["--set", "data.target_column=class", "--set", "data.shape=[6,5]"];
    let sources: [(&str, &[&str]); 3] =
        [("data.npz", &[]), ("shards", &table), ("shards/part-?.parquet", &table)];
    for (source, more) in sources {
        let set = format!("data.source={source}");
        for (out, above) in LIMITS {
            let args = ["train", "c.toml", "-q", "--fresh", "--out", out, "--set", &set];
            ok(&folder, &[&args[..], more].concat(), above);
        }
        let [stored, loaded] = LIMITS.map(|(out, _)| folder.join(out));
        same(&stored, &loaded);
        assert_eq!(text("stored", "metrics.csv"), text("arrays", "metrics.csv"), "{source}");
        let eval = LIMITS.map(|(_, above)| ok(&folder, &["eval", "stored", "--json"], above));
        assert_eq!(eval[0], eval[1], "{source}");
        let predict = ["predict", "stored", "-q", "--output", "-", "--input", source];
        let expected = ["predict", "arrays", "-q", "--output", "-", "--input", "data"];
        assert_eq!(ok(&folder, &predict, "0"), ok(&folder, &expected, "0"), "{source}");
        ok(&folder, &["data", "show", source], "0");
    }
    // A shard with other columns, and one that is cut off.
    let train = ["train", "c.toml", "-q", "--out", "x", "--set", "data.source=shards", "--fresh"];
    let error = |above: &str| error(&folder, &[&train[..], &table].concat(), above);
    let path = folder.join("shards/part-3.parquet");
    let whole = std::fs::read(&path).unwrap();
    for cut in [whole.len() - 1, whole.len() / 2, 5] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        for (_, above) in LIMITS {
            let err = error(above);
            assert!(err.contains("part-3.parquet: is not a valid Parquet file"), "{err}");
        }
    }
}
