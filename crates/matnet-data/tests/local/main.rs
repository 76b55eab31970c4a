//! The user's own files: every kind that a path may be, and errors that say what is expected.

#[cfg(feature = "columnar")]
mod dates;
mod npz;
#[allow(dead_code)]
#[path = "../seeds/mod.rs"]
mod seeds;
mod series;
mod tables;

use std::path::Path;

use matnet_data::local::load;
use matnet_data::{GraphData, Samples, SplitIndices, Target};
use seeds::{gzip, npy_file, zip_file};

fn samples(path: impl AsRef<Path>) -> Samples {
    load(path).unwrap().into_samples().unwrap()
}

fn graph(path: impl AsRef<Path>) -> GraphData {
    load(path).unwrap().into_graph().unwrap()
}

fn classes(target: &Target) -> (&[u32], Vec<&str>) {
    let Target::Classes { labels, names } = target else { panic!("classes expected") };
    (labels, names.iter().map(String::as_str).collect())
}

fn f4(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn i8s(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// An `.npz` of the given arrays.
fn write_npz(path: &Path, arrays: &[(&str, &str, &str, Vec<u8>)]) {
    let members: Vec<(String, Vec<u8>)> = arrays
        .iter()
        .map(|(key, descr, shape, body)| (format!("{key}.npy"), npy_file(descr, false, shape, body)))
        .collect();
    let members: Vec<(&str, &[u8])> = members.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    std::fs::write(path, zip_file(&members, true)).unwrap();
}

#[test]
fn arrays_with_classes_matrices_and_sequences() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.npz");
    let x = || ("x", "<f4", "(2, 1, 3)", f4(&[1., 2., 3., 4., 5., 6.]));
    write_npz(&path, &[x(), ("y", "<i8", "(2,)", i8s(&[2, 0]))]);
    let found = samples(&path);
    assert_eq!((found.inputs.shape(), found.inputs.data()), (&[2, 1, 3][..], &[1., 2., 3., 4., 5., 6.][..]));
    assert_eq!(classes(&found.target), (&[1, 0][..], vec!["0", "2"]));
    write_npz(
        &path,
        &[x(), ("y", "|S3", "(2,)", b"dogcat".to_vec()), ("group", "|S1", "(2,)", b"ba".to_vec())],
    );
    let found = samples(&path);
    assert_eq!(classes(&found.target), (&[1, 0][..], vec!["cat", "dog"]));
    assert_eq!((found.groups, found.group_names), (vec![1, 0], vec!["a".to_owned(), "b".to_owned()]));
    write_npz(&path, &[x(), ("y", "<f4", "(2, 2, 1)", f4(&[1., 2., 3., 4.]))]);
    assert!(matches!(samples(&path).target, Target::Matrices(y) if y.shape() == [2, 2, 1]));
    write_npz(&path, &[x()]);
    assert_eq!(samples(&path).target, Target::None);
    let sequences = npy_file("|u1", false, "(1, 2, 3, 1)", &[1, 2, 3, 4, 5, 6]);
    std::fs::write(dir.path().join("s.npy"), &sequences).unwrap();
    assert_eq!(samples(dir.path().join("s.npy")).inputs.shape(), [1, 2, 3, 1]);
    std::fs::write(dir.path().join("s.npy.gz"), gzip(&sequences)).unwrap();
    assert_eq!(samples(dir.path().join("s.npy.gz")).inputs.data(), [1., 2., 3., 4., 5., 6.]);
}

#[test]
fn errors_name_file_key_value_and_what_would_be_right() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.npz");
    let error = |arrays: &[(&str, &str, &str, Vec<u8>)]| {
        write_npz(&path, arrays);
        let text = load(&path).unwrap_err().to_string();
        text.strip_prefix(&path.display().to_string()).unwrap().to_owned()
    };
    let x = || ("x", "<f4", "(2, 1, 1)", f4(&[1., 2.]));
    assert_eq!(error(&[("a", "<f4", "(1,)", f4(&[1.]))]), ": no array \"x\"; there are: a");
    assert_eq!(
        error(&[("x", "<f4", "(2,)", f4(&[1., 2.]))]),
        "/x: shape [2]; [n, rows, cols] or [n, time, rows, cols] expected"
    );
    assert_eq!(
        error(&[x(), ("y", "<i8", "(1,)", i8s(&[1]))]),
        "/y: shape [1] beside 2 samples in x; as many expected"
    );
    assert_eq!(
        error(&[x(), ("y", "<i8", "(2,)", i8s(&[0, -7]))]),
        "/y: class -7; integers from 0 expected, or -1 for unknown"
    );
    let missing = load(dir.path().join("nowhere.npy")).unwrap_err().to_string();
    assert!(missing.ends_with("there is no such file or folder"), "{missing}");
    std::fs::write(dir.path().join("odd.xyz"), b"?").unwrap();
    assert!(load(dir.path().join("odd.xyz")).unwrap_err().to_string().contains("no known kind"));
}

#[test]
fn folders_of_pictures_and_tables() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("pictures");
    for (class, name, level) in [("cat", "b.png", 255u8), ("cat", "a.png", 0), ("ant", "c.png", 51)] {
        std::fs::create_dir_all(root.join(class)).unwrap();
        image::GrayImage::from_pixel(3, 2, image::Luma([level])).save(root.join(class).join(name)).unwrap();
    }
    std::fs::write(root.join("README.md"), "not a picture").unwrap();
    assert_eq!(load(&root).unwrap().notes, ["README.md is not used"]);
    std::fs::create_dir_all(root.join("dog")).unwrap();
    std::fs::write(root.join("dog/scan.tiff"), "no kind that is read").unwrap();
    std::fs::write(root.join("cat/notes.txt"), "not a matrix").unwrap();
    let unused = "3 files and folders are not used (cat/notes.txt, dog, README.md)";
    assert_eq!(load(&root).unwrap().notes, [unused]);
    let found = samples(&root);
    assert_eq!(found.inputs.shape(), [3, 2, 3]);
    assert_eq!(classes(&found.target), (&[0, 1, 1][..], vec!["ant", "cat"]));
    assert_eq!(
        [found.inputs.sample(0)[0], found.inputs.sample(1)[0], found.inputs.sample(2)[0]],
        [0.2, 0.0, 1.0]
    );
    // one of another size
    image::GrayImage::new(4, 4).save(root.join("cat/z.png")).unwrap();
    let error = load(&root).unwrap_err().to_string();
    assert!(
        error.contains("4x4 where")
            && error.contains("is 2x3; all must have the same size; `image_size = [rows, cols]`"),
        "{error}"
    );

    let tables = dir.path().join("tables");
    std::fs::create_dir_all(&tables).unwrap();
    std::fs::write(tables.join("1.csv"), "1,2\n3,4\n").unwrap();
    std::fs::write(tables.join("2.csv.gz"), gzip(b"5,6\n7,8\n")).unwrap();
    let found = samples(&tables);
    assert_eq!((found.inputs.shape(), found.target), (&[2, 2, 2][..], Target::None));
    assert_eq!(found.inputs.data(), [1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(samples(tables.join("1.csv")).inputs.shape(), [1, 2, 2]);

    let empty = dir.path().join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    assert!(load(&empty).unwrap_err().to_string().contains("holds no pictures"));
}

#[test]
fn graphs_as_arrays_and_as_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("g.npz");
    let features = || ("features", "<f4", "(3, 2)", f4(&[1., 0., 0., 1., 1., 1.]));
    write_npz(
        &path,
        &[
            features(),
            ("edges", "<i8", "(2, 2)", i8s(&[0, 1, 1, 2])),
            ("labels", "<i8", "(3,)", i8s(&[1, -1, 0])),
            ("train", "<i8", "(1,)", i8s(&[0])),
            ("test", "<i8", "(1,)", i8s(&[2])),
        ],
    );
    let found = graph(&path);
    assert_eq!(found.edges, [(0, 1), (1, 2)]);
    assert_eq!((found.labels, found.class_names.len()), (vec![Some(1), None, Some(0)], 2));
    assert_eq!(found.splits, [SplitIndices { train: vec![0], valid: vec![], test: vec![2] }]);
    // Truth values instead of numbers, relations, and edges that go one way.
    let more = |directed: u8, relations: &'static str| {
        [
            features(),
            ("edges", "<i8", "(2, 2)", i8s(&[0, 1, 1, 2])),
            ("relations", "<i8", relations, i8s(&[1, 0])),
            ("directed", "|b1", "()", vec![directed]),
            ("train", "|b1", "(3,)", vec![0, 1, 0]),
            ("test", "|b1", "(3,)", vec![1, 0, 1]),
        ]
    };
    write_npz(&path, &more(1, "(2,)"));
    let found = graph(&path);
    assert_eq!(found.edges_by_relation(), [vec![(1, 2)], vec![(0, 1)]]);
    assert!(found.directed && found.relation_names == ["0", "1"]);
    assert_eq!(found.splits, [SplitIndices { train: vec![1], valid: vec![], test: vec![0, 2] }]);
    write_npz(&path, &more(2, "(2,)"));
    assert!(load(&path).unwrap_err().to_string().ends_with("directed: one boolean expected"));
    write_npz(&path, &more(1, "(2, 1)"));
    let error = load(&path).unwrap_err().to_string();
    assert!(error.ends_with("relations: shape [2, 1]; one relation for each of 2 edges expected"), "{error}");
    write_npz(&path, &[features(), ("edges", "<i8", "(2, 3)", i8s(&[0, 1, 2, 1, 2, 0]))]);
    assert_eq!(graph(&path).edges, [(0, 1), (1, 2), (2, 0)]);
    let weighed = |shape, weights: &[f32]| {
        let edges = ("edges", "<i8", "(1, 2)", i8s(&[0, 1]));
        write_npz(&path, &[features(), edges, ("weight", "<f4", shape, f4(weights))]);
        load(&path).map(drop).map_err(|error| error.to_string())
    };
    weighed("(3,)", &[1., 0., 2.5]).unwrap();
    assert_eq!(graph(&path).weights, [1., 0., 2.5]);
    let error = weighed("(2,)", &[1., 1.]).unwrap_err();
    assert!(error.ends_with("weight: shape [2]; one weight for each of 3 nodes expected"), "{error}");
    let error = weighed("(3,)", &[1., -1., 1.]).unwrap_err();
    assert!(error.ends_with("weight: node 1 has weight -1; finite numbers from 0 expected"), "{error}");
    // Classes with names, of which some do not occur.
    let named = |labels: &[i64]| {
        let edges = ("edges", "<i8", "(1, 2)", i8s(&[0, 1]));
        let classes = ("classes", "|S3", "(3,)", b"antbeecat".to_vec());
        write_npz(&path, &[features(), edges, ("labels", "<i8", "(3,)", i8s(labels)), classes]);
        load(&path).map(drop).map_err(|error| error.to_string())
    };
    named(&[2, -1, 0]).unwrap();
    let found = graph(&path);
    assert_eq!(
        (found.labels, found.class_names.join(" ")),
        (vec![Some(2), None, Some(0)], "ant bee cat".into())
    );
    let error = named(&[2, -1, 3]).unwrap_err();
    assert!(error.ends_with("labels: class 3 is not one of the 3 in `classes`"), "{error}");
    write_npz(&path, &[features(), ("edges", "<i8", "(1, 2)", i8s(&[0, 3]))]);
    assert!(load(&path).unwrap_err().to_string().ends_with("edges: node 3; 0 to 2 expected"));

    let folder = dir.path().join("text");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("edges.csv"), "from,to\na,b\n").unwrap();
    std::fs::write(folder.join("nodes.csv"), "id,f1,f2,class\na,1,0,x\nb,0,1,y\n").unwrap();
    let found = graph(&folder);
    assert_eq!((found.edges, found.class_names), (vec![(0, 1)], vec!["x".to_owned(), "y".to_owned()]));
}

#[test]
fn samples_are_read_in_chunks_and_in_order() {
    use matnet_data::local::SampleReader;
    let dir = tempfile::tempdir().unwrap();
    let numbers: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let whole = |path: &Path, count: usize| {
        let mut reader = SampleReader::open(path).unwrap();
        let (mut sizes, mut data) = (Vec::new(), Vec::new());
        while let Some(some) = reader.next_chunk(count).unwrap() {
            sizes.push(some.inputs.shape().to_vec());
            data.extend(some.inputs.into_data());
        }
        (sizes, data)
    };
    let c = dir.path().join("c.npy");
    std::fs::write(&c, npy_file("<f4", false, "(3, 2, 2)", &f4(&numbers))).unwrap();
    let wanted = (vec![vec![2, 2, 2], vec![1, 2, 2]], numbers.clone());
    assert_eq!(whole(&c, 2), wanted);
    // the same numbers in Fortran order
    let turned: Vec<f32> = [0., 4., 8., 2., 6., 10., 1., 5., 9., 3., 7., 11.].to_vec();
    let fortran = dir.path().join("f.npy.gz");
    std::fs::write(&fortran, gzip(&npy_file("<f4", true, "(3, 2, 2)", &f4(&turned)))).unwrap();
    assert_eq!(whole(&fortran, 2), wanted);
    let both = dir.path().join("b.npz");
    write_npz(&both, &[("x", "<f4", "(3, 2, 2)", f4(&numbers)), ("y", "<i8", "(3,)", i8s(&[0, 1, 2]))]);
    assert_eq!(whole(&both, 2), wanted);

    let folder = dir.path().join("tables");
    for (at, name) in ["a/2.csv", "b/1.csv", "b/10.csv"].iter().enumerate() {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let [p, q, r, s] = [0, 1, 2, 3].map(|i| 4 * at + i);
        std::fs::write(path, format!("{p},{q}\n{r},{s}\n")).unwrap();
    }
    assert_eq!(whole(&folder, 2), wanted);
    let reader = SampleReader::open(&folder).unwrap();
    assert_eq!((reader.len(), reader.sample_size()), (3, None));
    assert_eq!(reader.file_names().unwrap(), ["a/2.csv", "b/1.csv", "b/10.csv"]);
    let one = folder.join("a/2.csv");
    assert_eq!(SampleReader::open(&one).unwrap().file_names().unwrap(), ["2.csv"]);

    // of another size, in a later chunk
    std::fs::write(folder.join("b/11.csv"), "1,2,3\n").unwrap();
    let mut reader = SampleReader::open(&folder).unwrap();
    reader.next_chunk(3).unwrap().unwrap();
    let error = reader.next_chunk(3).unwrap_err().to_string();
    let (last, first) = (folder.join("b/11.csv"), folder.join("a/2.csv"));
    assert_eq!(
        error,
        format!("{}: 1x3 where {} is 2x2; all must have the same size", last.display(), first.display())
    );
    let error = |path: &Path| SampleReader::open(path).err().unwrap().to_string();
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(error(&empty).contains("holds no pictures, .wav, .npy, .csv or .ts"));
    assert!(error(&dir.path().join("none.npy")).ends_with("there is no such file or folder"));
    std::fs::write(dir.path().join("x.doc"), "x").unwrap();
    assert!(error(&dir.path().join("x.doc")).contains("is of no known kind"));
}
