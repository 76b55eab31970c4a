//! Series: `.ts` files, recordings of different lengths, and pictures of different sizes.

use std::path::Path;

use matnet_data::local::{Layout, ReadOptions, SampleReader, TargetKind, load, load_with};
use matnet_data::{Samples, SplitIndices, Target};

use super::seeds::{gzip, npy_file, wav_file};
use super::{classes, f4, samples};

fn sequence() -> ReadOptions {
    ReadOptions { layout: Some(Layout::Sequence), ..ReadOptions::default() }
}

fn matrix() -> ReadOptions {
    ReadOptions { layout: Some(Layout::Matrix), ..ReadOptions::default() }
}

fn signals() -> ReadOptions {
    ReadOptions { signals: true, ..ReadOptions::default() }
}

fn with(path: &Path, options: &ReadOptions) -> Samples {
    load_with(path, options).unwrap().into_samples().unwrap()
}

/// The error, without the folder.
fn error(path: &Path, options: &ReadOptions) -> String {
    let text = load_with(path, options).unwrap_err().to_string();
    text.replace(&format!("{}/", path.parent().unwrap().display()), "")
}

#[test]
fn ts_files_and_their_halves() {
    let dir = tempfile::tempdir().unwrap();
    let (train, test) = (dir.path().join("Steps_TRAIN.ts"), dir.path().join("Steps_TEST.ts.gz"));
    std::fs::write(&train, "@equalLength false\n@data\n1,2:3,4:walk\n5:6:run\n").unwrap();
    let found = load(&train).unwrap();
    assert!(found.notes.is_empty());
    let found = found.into_samples().unwrap();
    assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[2, 2, 2, 1][..], &[2, 1][..]));
    assert_eq!(found.inputs.data(), [1., 3., 2., 4., 5., 6., 0., 0.]);
    assert_eq!((classes(&found.target), found.split), ((&[1, 0][..], vec!["run", "walk"]), None));

    std::fs::write(&test, gzip(b"@data\n7,8,9:7,8,?:jump\n")).unwrap();
    for path in [&train, &test, &dir.path().to_owned()] {
        let found = load(path).unwrap();
        assert_eq!(found.notes, ["2 samples of Steps_TRAIN.ts and 1 test samples of Steps_TEST.ts.gz"]);
        let found = found.into_samples().unwrap();
        assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[3, 3, 2, 1][..], &[2, 1, 3][..]));
        assert!(found.inputs.sample(2)[5].is_nan());
        assert_eq!(classes(&found.target), (&[2, 1, 0][..], vec!["jump", "run", "walk"]));
        assert_eq!(found.split, Some(SplitIndices { train: vec![0, 1], valid: vec![], test: vec![2] }));
    }
    let alone = with(&test, &ReadOptions { single_file: true, ..ReadOptions::default() });
    assert_eq!((alone.inputs.shape(), alone.split), (&[1, 3, 2, 1][..], None));
    // Signals for spectrograms: channel after channel.
    let found = with(&train, &signals());
    assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[3, 2, 3][..], &[2, 1, 3][..]));
    assert_eq!(found.inputs.sample(0), [1., 2., 0., 3., 4., 0.]);
    assert!(error(&test, &matrix()).contains("series of 1 to 3 steps; matrices have one size"));

    let mut reader = SampleReader::open(&train).unwrap();
    assert_eq!((reader.len(), reader.sample_size()), (2, Some(4)));
    let chunk = reader.next_chunk(1).unwrap().unwrap();
    assert_eq!((chunk.inputs.data(), &chunk.lengths[..]), (&[1., 3., 2., 4.][..], &[2][..]));
    assert_eq!(reader.next_chunk(1).unwrap().unwrap().lengths, [1]);

    // Another number of channels; several datasets in one folder.
    std::fs::write(&test, "@data\n7,8,9:run\n").unwrap();
    assert!(error(&train, &sequence()).contains("Steps_TEST.ts.gz: 1 channel where"), "channels");
    std::fs::write(dir.path().join("Other_TRAIN.ts"), "@data\n1:a\n").unwrap();
    let several = load(dir.path()).unwrap_err().to_string();
    assert!(
        several.ends_with(
            "holds several .ts files (Other_TRAIN.ts, Steps_TEST.ts.gz, Steps_TRAIN.ts); name one, or keep one pair \
             NAME_TRAIN.ts and NAME_TEST.ts"
        ),
        "{several}"
    );
}

#[test]
fn ts_files_with_values_or_without_targets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ts");
    let value = |kind| ReadOptions { target: Some(kind), ..ReadOptions::default() };
    std::fs::write(&path, "@targetlabel true\n@data\n1,2:0.5\n3,4:1.5\n").unwrap();
    let Target::Values { values, .. } = samples(&path).target else { panic!("values expected") };
    assert_eq!((values.shape(), values.data()), (&[2, 1][..], &[0.5, 1.5][..]));
    assert_eq!(with(&path, &matrix()).inputs.shape(), [2, 1, 2]);
    assert!(error(&path, &value(TargetKind::Class)).contains("holds values to predict"));
    std::fs::write(&path, "@targetlabel true\n@data\n1,2:0.5\n3,4:?\n").unwrap();
    assert_eq!(
        error(&path, &ReadOptions::default()),
        "a.ts: the target of sample 1 holds NaN; finite numbers expected"
    );
    std::fs::write(&path, "@data\n1,2:10\n3,4:2\n").unwrap();
    assert_eq!(classes(&samples(&path).target), (&[1, 0][..], vec!["2", "10"]));
    assert!(
        matches!(with(&path, &value(TargetKind::Value)).target, Target::Values { values, .. } if values.data() == [10., 2.])
    );
    std::fs::write(&path, "@classLabel false\n@data\n1,2\n").unwrap();
    assert_eq!(samples(&path).target, Target::None);
    std::fs::write(&path, "@data\n1,2:?\n").unwrap();
    assert_eq!(error(&path, &ReadOptions::default()), "a.ts: sample 0 has no class; one is expected");
    std::fs::write(&path, "@data\n").unwrap();
    assert_eq!(error(&path, &ReadOptions::default()), "a.ts: holds no series");
}

/// Writes files below a folder.
fn write(root: &Path, files: &[(&str, Vec<u8>)]) {
    for (name, bytes) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn recordings_of_different_lengths() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("r");
    write(&root, &[("a/1.csv", b"l,r\n1,2\n3,4\n5,6\n".to_vec()), ("b/1.csv", b"7,8\n".to_vec())]);
    let found = with(&root, &sequence());
    assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[2, 3, 2, 1][..], &[3, 1][..]));
    assert_eq!(found.inputs.sample(1), [7., 8., 0., 0., 0., 0.]);
    assert_eq!(classes(&found.target), (&[0, 1][..], vec!["a", "b"]));
    let both = ReadOptions { signals: true, ..sequence() };
    assert_eq!(with(&root, &both).inputs.sample(1), [7., 0., 0., 8., 0., 0.]);
    assert_eq!(
        error(&root, &ReadOptions::default()),
        "r/b/1.csv: 1x2 where r/a/1.csv is 3x2; all must have the same size; `layout = \"sequence\"` reads recordings \
         [time, channels] of different lengths"
    );
    let mut reader = SampleReader::open_with(&root, &sequence()).unwrap();
    assert_eq!(reader.file_names().unwrap(), ["a/1.csv", "b/1.csv"]);
    let chunk = reader.next_chunk(9).unwrap().unwrap();
    assert_eq!((chunk.inputs, chunk.lengths), (found.inputs, found.lengths));
    std::fs::write(root.join("b/2.csv"), "1\n").unwrap();
    assert_eq!(error(&root, &sequence()), "r/b/2.csv: 1 channel where r/a/1.csv has 2; as many expected");

    let root = dir.path().join("npy");
    let array = |shape: &str, count: usize| npy_file("<f4", false, shape, &f4(&vec![1.0; count]));
    write(
        &root,
        &[("1.npy", array("(2, 3, 1)", 6)), ("2.npy", array("(1, 3, 1)", 3)), ("note.txt", b"x".to_vec())],
    );
    let found = samples(&root);
    assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[2, 2, 3, 1][..], &[2, 1][..]));
    assert!(error(&root, &matrix()).contains("is a sequence of matrices, where `layout` says matrix"));
    write(&root, &[("3.npy", array("(1, 2, 2, 2)", 8))]);
    assert!(
        error(&root, &sequence()).ends_with("[rows, cols], [time, channels] or [time, rows, cols] expected")
    );
    write(&root, &[("3.npy", array("(2, 3, 2)", 12))]);
    assert!(error(&root, &sequence()).contains("steps of shape [3, 2] where npy/1.npy has [3, 1]"));
    let root = dir.path().join("flat");
    write(&root, &[("1.npy", array("(4,)", 4)), ("2.npy", array("(4,)", 4))]);
    assert_eq!(samples(&root).inputs.shape(), [2, 4, 1]);
    assert_eq!(with(&root, &sequence()).inputs.shape(), [2, 4, 1, 1]);
    write(&root, &[("a/1.npy", array("(4,)", 4)), ("b/1.csv", b"1\n".to_vec())]);
    assert_eq!(
        error(&root, &sequence()),
        "flat/b/1.csv: is a table where flat/a/1.npy is an .npy; one kind expected"
    );
    let color = ReadOptions { color: true, ..ReadOptions::default() };
    assert!(
        error(&dir.path().join("r"), &color).contains("`color` has no effect on tables of one sample each")
    );
}

#[test]
fn sound_is_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("w");
    write(
        &root,
        &[("no/1.wav", wav_file(1, 8000, &[16384, -16384])), ("yes/1.wav", wav_file(1, 8000, &[8192, 0]))],
    );
    let found = load(&root).unwrap();
    assert_eq!(found.notes, ["8000 samples per second"]);
    let found = found.into_samples().unwrap();
    assert_eq!((found.inputs.shape(), found.inputs.data()), (&[2, 1, 2][..], &[0.5, -0.5, 0.25, 0.0][..]));
    assert_eq!(classes(&found.target), (&[0, 1][..], vec!["no", "yes"]));
    assert_eq!(samples(root.join("no/1.wav")).inputs.shape(), [1, 1, 2]);
    write(&root, &[("yes/2.wav", wav_file(1, 8000, &[1, 2, 3]))]);
    assert!(
        error(&root, &matrix())
            .starts_with("w/yes/2.wav: 3 steps where w/no/1.wav has 2; matrices have one size")
    );
    assert_eq!(with(&root, &sequence()).inputs.shape(), [3, 3, 1, 1]);
    let found = with(&root, &signals());
    assert_eq!((found.inputs.shape(), &found.lengths[..]), (&[3, 1, 3][..], &[2, 2, 3][..]));
    write(&root, &[("yes/3.wav", wav_file(1, 16000, &[1, 2]))]);
    assert_eq!(
        error(&root, &signals()),
        "w/yes/3.wav: 16000 samples per second where w/no/1.wav has 8000; one sample rate expected: resample before"
    );
    write(&root, &[("yes/3.wav", wav_file(2, 8000, &[1, 2]))]);
    assert_eq!(error(&root, &signals()), "w/yes/3.wav: 2 channels where w/no/1.wav has 1; as many expected");
    // In chunks, the sizes of the first file still count.
    let mut reader = SampleReader::open_with(&root, &signals()).unwrap();
    assert_eq!(reader.next_chunk(2).unwrap().unwrap().inputs.shape(), [2, 1, 2]);
    assert!(reader.next_chunk(2).unwrap_err().to_string().contains("2 channels where"));
}

#[test]
fn pictures_are_resized_and_keep_their_colours() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("p");
    std::fs::create_dir_all(&root).unwrap();
    image::RgbImage::from_pixel(3, 2, image::Rgb([255, 0, 51])).save(root.join("1.png")).unwrap();
    image::GrayImage::from_pixel(4, 4, image::Luma([255])).save(root.join("2.png")).unwrap();
    let options = ReadOptions { image_size: Some([2, 2]), color: true, ..ReadOptions::default() };
    let found = with(&root, &options);
    assert_eq!(found.inputs.shape(), [2, 6, 2]);
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(near(found.inputs.sample(0), &[1., 1., 1., 1., 0., 0., 0., 0., 0.2, 0.2, 0.2, 0.2]));
    assert!(near(found.inputs.sample(1), &[1.; 12]));
    let mut reader = SampleReader::open_with(&root, &options).unwrap();
    assert_eq!(reader.next_chunk(1).unwrap().unwrap().inputs.shape(), [1, 6, 2]);
    assert!(error(&root, &sequence()).contains("`layout` has no effect on pictures; it is for series"));
}

/// The archive's own files, where they are at hand.
#[test]
fn japanese_vowels_of_the_archive() {
    let folder = std::env::var_os("MATNET_DATA").map(|root| Path::new(&root).join("uea"));
    let Some(path) =
        folder.map(|folder| folder.join("JapaneseVowels_TRAIN.ts.gz")).filter(|path| path.exists())
    else {
        println!("SKIPPED: set MATNET_DATA to a folder that holds uea/ to read the archive's files");
        return;
    };
    let vowels = samples(&path);
    assert_eq!(vowels.inputs.shape(), [640, 29, 12, 1]);
    let split = vowels.split.as_ref().unwrap();
    assert_eq!((split.train.len(), split.test.len(), vowels.lengths.len()), (270, 370, 640));
    // The built-in dataset is made of the same files.
    let built_in = matnet_data::catalog::readers::builtin::vowels().unwrap();
    assert_eq!((vowels.lengths, vowels.inputs), (built_in.lengths, built_in.inputs));
    let other = samples(path.with_file_name("NATOPS_TEST.ts.gz"));
    assert_eq!((other.inputs.shape(), other.lengths.len()), (&[360, 51, 24, 1][..], 0));
}
