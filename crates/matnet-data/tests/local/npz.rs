//! Samples in an `.npz`: targets of every kind, lengths, weights, splits, and what is refused.

use matnet_data::format::npz::Npz;
use matnet_data::format::raw::{RawArray, RawValues};
use matnet_data::local::{ReadOptions, TargetKind, load, load_arrays, load_with};
use matnet_data::{Samples, SplitIndices, Target};

use super::{f4, i8s, write_npz};

type Arrays<'a> = &'a [(&'a str, &'a str, &'a str, Vec<u8>)];

/// What is read from these arrays with these options.
fn read_as(target: Option<TargetKind>, arrays: Arrays) -> Result<(Samples, Vec<String>), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.npz");
    write_npz(&path, arrays);
    let found = load_with(&path, &ReadOptions { target, ..ReadOptions::default() });
    let found = found.map_err(|e| e.to_string().replace(&path.display().to_string(), "d.npz"))?;
    let notes = found.notes.clone();
    Ok((found.into_samples().unwrap(), notes))
}

fn read(arrays: Arrays) -> Samples {
    read_as(None, arrays).unwrap().0
}

fn error(arrays: Arrays) -> String {
    read_as(None, arrays).unwrap_err()
}

/// Three 1×1 matrices.
fn matrices() -> (&'static str, &'static str, &'static str, Vec<u8>) {
    ("x", "<f4", "(3, 1, 1)", f4(&[1., 2., 3.]))
}

/// Three sequences of two 1×1 matrices.
fn sequences() -> (&'static str, &'static str, &'static str, Vec<u8>) {
    ("x", "<f4", "(3, 2, 1, 1)", f4(&[1., 2., 3., f32::NAN, 5., 6.]))
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn floats_are_values() {
    for shape in ["(3,)", "(3, 1)"] {
        let found = read(&[matrices(), ("y", "<f4", shape, f4(&[1., 2., -3.5]))]);
        let Target::Values { values, names } = &found.target else { panic!("{:?}", found.target) };
        assert_eq!(
            (values.shape(), values.data(), &names[..]),
            (&[3, 1][..], &[1., 2., -3.5][..], &["y".to_owned()][..])
        );
    }
    let two = ("y", "<f4", "(3, 2)", f4(&[1., 2., 3., 4., 5., 6.]));
    // Even where there are as many values as steps.
    for x in [matrices(), sequences()] {
        let Target::Values { values, names } = read(&[x, two.clone()]).target else {
            panic!("values expected")
        };
        assert_eq!((values.shape(), names), (&[3, 2][..], vec!["y0".to_owned(), "y1".to_owned()]));
    }
    let named = ("target_names", "|S1", "(2,)", b"ab".to_vec());
    let Target::Values { names: found, .. } = read(&[matrices(), two, named]).target else { panic!() };
    assert_eq!(found, names(&["a", "b"]));
}

#[test]
fn integers_strings_and_booleans_are_classes() {
    let found = read(&[matrices(), ("y", "|b1", "(3,)", vec![1, 0, 1])]);
    assert_eq!(found.target, Target::Classes { labels: vec![1, 0, 1], names: names(&["False", "True"]) });
    let found = read(&[matrices(), ("y", "<i8", "(3, 1)", i8s(&[7, 9, 7]))]);
    assert_eq!(found.target, Target::Classes { labels: vec![0, 1, 0], names: names(&["7", "9"]) });
    // Classes with names, of which some do not occur.
    let classes = ("classes", "|S3", "(3,)", b"antbeecat".to_vec());
    let found = read(&[matrices(), ("y", "<i8", "(3,)", i8s(&[2, 0, 2])), classes]);
    assert_eq!(found.target, Target::Classes { labels: vec![2, 0, 2], names: names(&["ant", "bee", "cat"]) });
}

#[test]
fn zeros_and_ones_are_labels_unless_they_are_one_per_step() {
    let flags = vec![true, false, false, true, true, true];
    let expected =
        |found| assert_eq!(found, Target::MultiLabels { flags: flags.clone(), names: names(&["0", "1"]) });
    let integers = ("y", "<i8", "(3, 2)", i8s(&[1, 0, 0, 1, 1, 1]));
    let booleans = ("y", "|b1", "(3, 2)", vec![1, 0, 0, 1, 1, 1]);
    expected(read(&[matrices(), integers.clone()]).target);
    expected(read(&[matrices(), booleans.clone()]).target);
    expected(read(&[sequences(), booleans.clone()]).target);
    let Target::StepClasses { labels, .. } = read(&[sequences(), integers.clone()]).target else { panic!() };
    assert_eq!(labels, [1, 0, 0, 1, 1, 1]);
    // The user's word counts more.
    expected(read_as(Some(TargetKind::Labels), &[sequences(), integers]).unwrap().0.target);
    let steps = read_as(Some(TargetKind::Class), &[sequences(), booleans]).unwrap().0.target;
    assert!(matches!(steps, Target::StepClasses { labels, .. } if labels == [1, 0, 0, 1, 1, 1]));
}

#[test]
fn the_kind_of_targets_can_be_chosen() {
    let floats = ("y", "<f4", "(3,)", f4(&[2., 0., 2.]));
    let found = read_as(Some(TargetKind::Class), &[matrices(), floats]).unwrap().0;
    assert_eq!(found.target, Target::Classes { labels: vec![1, 0, 1], names: names(&["0", "2"]) });
    let counts = ("y", "<i8", "(3,)", i8s(&[20, -5, 7]));
    let found = read_as(Some(TargetKind::Value), &[matrices(), counts]).unwrap().0;
    assert!(matches!(found.target, Target::Values { values, .. } if values.data() == [20., -5., 7.]));
    let error = |kind, arrays: Arrays| read_as(Some(kind), arrays).unwrap_err();
    assert_eq!(
        error(TargetKind::Class, &[matrices(), ("y", "<f4", "(3,)", f4(&[0., 0.5, 1.]))]),
        "d.npz/y: 0.5 at index 1, where an integer was expected"
    );
    assert_eq!(
        error(TargetKind::Matrix, &[matrices(), ("y", "<i8", "(3,)", i8s(&[0, 0, 1]))]),
        "d.npz/y: shape [3]; matrices [n, r, c] or sequences [n, time, r, c] expected"
    );
    assert_eq!(
        error(TargetKind::Value, &[matrices(), ("y", "|S1", "(3,)", b"abc".to_vec())]),
        "d.npz/y: holds strings where numbers were expected"
    );
    assert_eq!(
        error(TargetKind::Value, &[matrices()]),
        "d.npz: `target` says what the targets are, but there is no array y"
    );
}

#[test]
fn lengths_clear_what_stands_after_the_last_step() {
    let lengths = ("length", "<i8", "(3,)", i8s(&[2, 1, 1]));
    // Classes of padded steps do not count: neither -1 nor 9 is a class here.
    let steps = ("y", "<i8", "(3, 2)", i8s(&[1, 0, 1, -1, 0, 9]));
    let found = read(&[sequences(), lengths.clone(), steps]);
    assert_eq!((found.inputs.data(), &found.lengths[..]), (&[1., 2., 3., 0., 5., 0.][..], &[2, 1, 1][..]));
    assert_eq!(
        found.target,
        Target::StepClasses { labels: vec![1, 0, 1, 0, 0, 0], names: names(&["0", "1"]) }
    );
    let matrices_of_steps = ("y", "<f4", "(3, 2, 1, 1)", f4(&[1., 2., 3., f32::NAN, 5., 6.]));
    let found = read(&[sequences(), lengths, matrices_of_steps]);
    assert!(matches!(found.target, Target::Matrices(y) if y.data() == [1., 2., 3., 0., 5., 0.]));
    // All of one length: NaN is kept, for the caller to fill or refuse.
    let found = read(&[sequences(), ("length", "<i8", "(3,)", i8s(&[2, 2, 2]))]);
    assert!(found.lengths.is_empty() && found.inputs.data()[3].is_nan());

    let wrong = |shape, values: &[i64]| error(&[sequences(), ("length", "<i8", shape, i8s(values))]);
    assert_eq!(wrong("(3,)", &[2, 0, 1]), "d.npz/length: sample 1 has 0 steps; 1 to 2 expected");
    assert_eq!(wrong("(3,)", &[2, 1, 3]), "d.npz/length: sample 2 has 3 steps; 1 to 2 expected");
    assert_eq!(wrong("(2,)", &[2, 1]), "d.npz/length: shape [2]; one length for each of 3 samples expected");
    assert_eq!(
        error(&[sequences(), ("length", "<f4", "(3,)", f4(&[1., f32::NAN, 2.]))]),
        "d.npz/length: NaN at index 1, where an integer was expected"
    );
    assert_eq!(
        error(&[matrices(), ("length", "<i8", "(3,)", i8s(&[1, 1, 1]))]),
        "d.npz/length: x has shape [3, 1, 1]; only sequences [n, time, rows, cols] have lengths"
    );
}

#[test]
fn weights_and_splits() {
    let weight = |values: &[f32]| ("weight", "<f4", "(3,)", f4(values));
    assert_eq!(read(&[matrices(), weight(&[0., 1., 2.])]).weights, [0., 1., 2.]);
    let wrong = |values: &[f32]| error(&[matrices(), weight(values)]);
    assert_eq!(
        wrong(&[0., f32::NAN, 2.]),
        "d.npz/weight: sample 1 has weight NaN; finite numbers from 0 expected"
    );
    assert_eq!(wrong(&[0., 1., -2.]), "d.npz/weight: sample 2 has weight -2; finite numbers from 0 expected");
    assert_eq!(wrong(&[0., 0., 0.]), "d.npz/weight: all weights are 0; some above 0 expected");

    let indices =
        |key, values: &[i64]| (key, "<i8", if values.len() == 1 { "(1,)" } else { "(2,)" }, i8s(values));
    let found = read(&[matrices(), indices("train", &[2, 0]), indices("test", &[1])]);
    assert_eq!(found.split, Some(SplitIndices { train: vec![2, 0], valid: vec![], test: vec![1] }));
    // Booleans; without `train`, the rest is for training.
    let found = read(&[matrices(), ("test", "|b1", "(3,)", vec![0, 1, 0])]);
    assert_eq!(found.split, Some(SplitIndices { train: vec![0, 2], valid: vec![], test: vec![1] }));
    let (found, notes) =
        read_as(None, &[matrices(), indices("train", &[1]), indices("valid", &[0])]).unwrap();
    assert_eq!(found.split, Some(SplitIndices { train: vec![1], valid: vec![0], test: vec![] }));
    assert_eq!(notes, ["1 of 3 samples are in none of train, valid and test, and are not used"]);
    assert_eq!(
        error(&[matrices(), indices("train", &[2, 0]), indices("test", &[2])]),
        "d.npz/test: sample 2 is in two splits, or twice in one"
    );
    assert_eq!(error(&[matrices(), indices("train", &[3])]), "d.npz/train: sample 3; 0 to 2 expected");
    assert_eq!(
        error(&[matrices(), ("test", "|b1", "(2,)", vec![0, 1])]),
        "d.npz/test: 2 booleans; indices, or one boolean for each of 3 samples expected"
    );
}

/// Twenty-four 1×1 matrices.
fn many() -> (&'static str, &'static str, &'static str, Vec<u8>) {
    ("x", "<f4", "(24, 1, 1)", f4(&[0.5; 24]))
}

#[test]
fn what_may_be_classes_or_values_is_asked_or_told() {
    let prices: Vec<i64> = (0..24).map(|at| 100_000 + 17 * at).collect();
    let prices = ("y", "<i8", "(24,)", i8s(&prices));
    assert_eq!(
        error(&[many(), prices.clone()]),
        "d.npz/y: 24 different integers in 24 samples; `target = \"value\"` makes them values, `target = \"class\"` classes"
    );
    for kind in [TargetKind::Class, TargetKind::Value] {
        assert!(read_as(Some(kind), &[many(), prices.clone()]).is_ok());
    }
    let whole = |classes: usize| {
        let y: Vec<f32> = (0..24).map(|at| (at % classes) as f32).collect();
        ("y", "<f4", "(24,)", f4(&y))
    };
    let (_, notes) = read_as(None, &[many(), whole(3)]).unwrap();
    assert!(
        notes.len() == 1 && notes[0].starts_with("the targets are 3 different whole numbers"),
        "{notes:?}"
    );
    for (kind, classes) in [(Some(TargetKind::Value), 3), (None, 24), (None, 1)] {
        assert!(read_as(kind, &[many(), whole(classes)]).unwrap().1.is_empty(), "{classes}");
    }
}

#[test]
fn one_hot_classes_are_told() {
    let flags = |more: usize| -> Vec<i64> {
        (0..72).map(|at| i64::from(at % 3 == at / 3 % 3 || at < more)).collect()
    };
    let labels = |more| ("y", "<i8", "(24, 3)", i8s(&flags(more)));
    let values = |more| {
        let floats: Vec<f32> = flags(more).iter().map(|&flag| flag as f32).collect();
        ("y", "<f4", "(24, 3)", f4(&floats))
    };
    for (y, what) in [(labels(0), "labels"), (values(0), "values")] {
        let (_, notes) = read_as(None, &[many(), y.clone()]).unwrap();
        let expected = format!("every sample has a single 1 among its 3 {what}, as one-hot classes do; ");
        assert!(notes.len() == 1 && notes[0].starts_with(&expected), "{notes:?}");
        let kind = if what == "labels" { TargetKind::Labels } else { TargetKind::Value };
        assert!(read_as(Some(kind), &[many(), y]).unwrap().1.is_empty());
    }
    for y in [labels(2), values(2)] {
        assert!(read_as(None, &[many(), y]).unwrap().1.is_empty());
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let y = |descr, shape, body: Vec<u8>| error(&[matrices(), ("y", descr, shape, body)]);
    assert_eq!(
        y("<f4", "(3, 2)", f4(&[1., 2., 3., f32::NAN, 5., 6.])),
        "d.npz/y: the target of sample 1 holds NaN; finite numbers expected"
    );
    assert_eq!(
        y("<i8", "(3, 2)", i8s(&[0, 1, 0, 1, 0, 2])),
        "d.npz/y: sample 2 holds 2; 0 or 1 for each of 2 labels expected, or floats for values"
    );
    let unknown = y("|S1", "(3,)", b"a\0b".to_vec());
    assert!(
        unknown.starts_with("d.npz/y: sample 1 has no class; one is expected (-1, ?, -, none"),
        "{unknown}"
    );
    assert_eq!(
        y("|S2", "(3,)", b"a b a\0".to_vec()),
        "d.npz/y: the names \"a\" and \"a \"; different ones expected"
    );
    for (names, said) in
        [(b"aa", "the names \"a\" and \"a\"; different ones expected"), (b"a ", "a name is empty")]
    {
        for (y, key) in [
            (("y", "<i8", "(3,)", i8s(&[0, 1, 0])), "classes"),
            (("y", "<f4", "(3, 2)", f4(&[0.5; 6])), "target_names"),
        ] {
            let names = (key, "|S1", "(2,)", names.to_vec());
            assert_eq!(error(&[matrices(), y, names]), format!("d.npz/y: {said}"));
        }
    }
    assert!(
        y("|S1", "(3, 2)", b"abcdef".to_vec())
            .starts_with("d.npz/y: shape [3, 2]; classes [n] or [n, time], values")
    );
    assert!(
        y("|O", "(3,)", vec![0; 24])
            .contains("object arrays can contain code and are refused; save numbers or strings")
    );
    let left = error(&[matrices(), ("weights", "<f4", "(3,)", f4(&[1., 1., 1.]))]);
    assert!(
        left.starts_with("d.npz: weights would be ignored; the arrays of samples are x, y, length,"),
        "{left}"
    );
    let classes = ("classes", "|S1", "(2,)", b"ab".to_vec());
    assert_eq!(
        error(&[matrices(), ("y", "<i8", "(3,)", i8s(&[0, 1, 2])), classes.clone()]),
        "d.npz/y: class 2 is not one of the 2 in `classes`"
    );
    assert_eq!(
        error(&[matrices(), ("y", "<f4", "(3,)", f4(&[0., 1., 2.])), classes]),
        "d.npz/y: `classes` names nothing: the targets are values"
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.npz");
    write_npz(&path, &[matrices()]);
    let options = ReadOptions { color: true, ..ReadOptions::default() };
    let refused = load_with(&path, &options).unwrap_err().to_string();
    assert!(refused.ends_with("d.npz: `color` has no effect on an .npz; it is for pictures"), "{refused}");
    assert!(load(&path).is_ok());
}

#[test]
fn arrays_in_memory_are_read_as_a_file() {
    let mut arrays = Npz::new("d.npz");
    arrays.insert("x", RawArray::new([3, 1, 1], RawValues::F32(vec![1., 2., 3.]), false).unwrap());
    arrays.insert("y", RawArray::new([3], RawValues::I64(vec![4, 7, 4]), false).unwrap());
    let found = load_arrays(arrays.clone(), &ReadOptions::default()).unwrap().into_samples().unwrap();
    let y = [4_i64, 7, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(found, read(&[matrices(), ("y", "<i8", "(3,)", y)]));
    arrays.insert("y", RawArray::new([2], RawValues::I64(vec![4, 7]), false).unwrap());
    let error = load_arrays(arrays, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("d.npz/y: shape [2] beside 3 samples"), "{error}");
    assert!(RawArray::new([2, 2], RawValues::U8(vec![1; 3]), true).is_err());
    assert!(RawArray::new([usize::MAX, 2], RawValues::U8(Vec::new()), false).is_err());
    assert!(RawArray::new([1], RawValues::Text { width: 0, bytes: Vec::new() }, false).is_err());
    // One long table, where windows are to be made of it.
    let mut table = Npz::new("t");
    table.insert("x", RawArray::new([4, 2], RawValues::F64(vec![0.5; 8]), false).unwrap());
    let options = ReadOptions { long_table: true, ..ReadOptions::default() };
    assert_eq!(load_arrays(table, &options).unwrap().into_table().unwrap().rows(), 4);
}
