//! What would spoil a result without a word is said: arrays that nothing uses, splits that lack a class, groups that are torn apart. And
//! names cannot do more to a terminal than be read.

mod common;

use std::path::Path;

use common::run;
use matnet_data::format::npy::{self, write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

const CONFIG: &str = "[model]\nkind = 'feedforward'\nhidden = [3, 3]\n[train]\nepochs = 1\n";

/// A name, and the number of each sample.
type Numbers = (&'static str, fn(usize) -> i64);

/// Forty matrices 3×2 with integers beside them: arrays with a number for each sample.
fn samples(path: &Path, arrays: &[Numbers]) {
    let mut npz = NpzWriter::new(std::fs::File::create(path).unwrap());
    let x: Vec<f32> = (0..240).map(|at| ((at * 7919) % 101) as f32 / 101.0).collect();
    npz.add("x", |mut out| write_f32(&mut out, &[40, 3, 2], &x)).unwrap();
    for (name, number) in arrays {
        let numbers: Vec<i64> = (0..40).map(number).collect();
        npz.add(name, |mut out| write_i64(&mut out, &[40], &numbers)).unwrap();
    }
    npz.finish().unwrap();
}

/// Trains on a file; exit code and standard error.
fn trained(folder: &Path, source: &str, more: &str) -> (i32, String) {
    std::fs::write(folder.join("c.toml"), format!("[data]\nsource = '{source}'\n{more}\n{CONFIG}")).unwrap();
    let (code, _, said) = run(folder, &["train", "c.toml", "--fresh", "--out", "run"]);
    (code, said)
}

#[test]
fn arrays_that_nothing_uses_are_named() {
    let folder = TempDir::new().unwrap();
    let y: (&str, fn(usize) -> i64) = ("y", |at| at as i64 % 3);
    samples(&folder.path().join("plain.npz"), &[y]);
    let (code, said) = trained(folder.path(), "plain.npz", "");
    assert!(code == 0 && !said.contains("data: "), "{said}");
    samples(&folder.path().join("more.npz"), &[y, ("ages", |_| 3), ("scanner", |_| 1)]);
    let (code, said) = trained(folder.path(), "more.npz", "");
    assert!(code == 0 && said.contains("data: the arrays ages, scanner are not used\n"), "{said}");
    samples(&folder.path().join("subject.npz"), &[y, ("subject", |at| at as i64 / 4)]);
    let (code, said) = trained(folder.path(), "subject.npz", "");
    assert!(
        code == 1 && said.contains("subject.npz: subject would be ignored; the arrays of samples are"),
        "{said}"
    );
    samples(&folder.path().join("groups.npz"), &[y, ("group", |at| at as i64 / 4)]);
    let (code, said) = trained(folder.path(), "groups.npz", "");
    assert!(
        code == 0 && said.contains("data: groups are not used by split.rule = \"stratified\";"),
        "{said}"
    );
    let (code, said) = trained(folder.path(), "groups.npz", "split = { rule = 'between-groups' }");
    assert!(code == 0 && !said.contains("data: "), "{said}");
    samples(&folder.path().join("test.npz"), &[y, ("test", |at| i64::from(at % 5 == 0))]);
    let (code, said) = trained(folder.path(), "test.npz", "split = { rule = 'random' }");
    assert!(code != 0 || said.contains("data: the split that comes with the data is not used by"), "{said}");
}

/// A graph of thirty nodes, and an array beside it.
fn graph(path: &Path, more: Option<&str>) {
    let mut npz = NpzWriter::new(std::fs::File::create(path).unwrap());
    let features: Vec<f32> = (0..60).map(|at| ((at * 31) % 17) as f32).collect();
    npz.add("features", |mut out| write_f32(&mut out, &[30, 2], &features)).unwrap();
    let edges: Vec<i64> = (0..30).flat_map(|at| [at, (at * 7 + 1) % 30]).collect();
    npz.add("edges", |mut out| write_i64(&mut out, &[30, 2], &edges)).unwrap();
    let labels: Vec<i64> = (0..30).map(|at| at % 2).collect();
    npz.add("labels", |mut out| write_i64(&mut out, &[30], &labels)).unwrap();
    if let Some(more) = more {
        npz.add(more, |mut out| write_i64(&mut out, &[30], &labels)).unwrap();
    }
    npz.finish().unwrap();
}

#[test]
fn arrays_of_a_graph_that_nothing_uses_are_named() {
    let folder = TempDir::new().unwrap();
    let graph = |name: &str, more: &str| {
        graph(&folder.path().join(name), Some(more));
        let (packing, _, packed) = run(folder.path(), &["data", "pack", name, "--out", "packed", "--force"]);
        let config =
            format!("[data]\nsource = '{name}'\n[model]\nkind = 'gcn'\nhidden = [3]\n[train]\nepochs = 1\n");
        std::fs::write(folder.path().join("c.toml"), config).unwrap();
        let (code, _, said) = run(folder.path(), &["train", "c.toml", "--fresh", "--out", "run"]);
        [(code, said), (packing, packed)]
    };
    for (code, said) in graph("weights.npz", "edge_weight") {
        assert!(
            code == 1 && said.contains("edge_weight would be ignored; the arrays of a graph are features"),
            "{said}"
        );
    }
    for (code, said) in graph("colours.npz", "colours") {
        assert!(code == 0 && said.contains("data: the array colours is not used\n"), "{said}");
    }
}

#[test]
fn splits_that_lack_classes_are_refused_or_told() {
    let folder = TempDir::new().unwrap();
    // Four groups; only the first is of class 0.
    let arrays: [Numbers; 2] = [("y", |at| i64::from(at >= 10)), ("group", |at| at as i64 / 10)];
    samples(&folder.path().join("few.npz"), &arrays);
    let (code, said) = trained(folder.path(), "few.npz", "split = { rule = 'between-groups' }");
    assert_eq!(code, 0, "{said}");
    for split in ["validation", "test"] {
        assert!(said.contains(&format!("data: the {split} split has one class only (1)\n")), "{said}");
    }
    let (code, said) =
        trained(folder.path(), "few.npz", "split = { rule = 'leave-one-group-out', fold = 0 }");
    assert!(
        code == 2 && said.contains("data.split: the training split has one class only (1); at least two"),
        "{said}"
    );
}

#[test]
fn names_do_nothing_to_a_terminal() {
    let folder = TempDir::new().unwrap();
    let mut npz = NpzWriter::new(std::fs::File::create(folder.path().join("x\u{1b}[31m.npz")).unwrap());
    let x: Vec<f32> = (0..240).map(|at| ((at * 7919) % 101) as f32 / 101.0).collect();
    npz.add("x", |mut out| write_f32(&mut out, &[40, 3, 2], &x)).unwrap();
    npz.add("y", |mut out| {
        npy::write_header(&mut out, "|S5", &[40])?;
        (0..40).try_for_each(|at| out.write_all([b"\x1b[31m", b"a\x07bcd"][at % 2]))
    })
    .unwrap();
    npz.finish().unwrap();
    let config = format!("[data]\nsource = \"x\\u001b[31m.npz\"\n{CONFIG}");
    std::fs::write(folder.path().join("c\u{1b}[31m.toml"), config).unwrap();
    let place = "runs/\u{1b}[31mx";
    graph(&folder.path().join("g.npz"), None);
    for args in [
        &["data", "show", "x\u{1b}[31m.npz"][..],
        &["train", "c\u{1b}[31m.toml", "--out", place],
        &["train", "c\u{1b}[31m.toml", "--out", place],
        &["eval", place],
        &["inspect", place],
        &["report", place],
        &["compare", place, place],
        &["export", place, "--onnx", "\u{1b}[31m.onnx"],
        &["new", "gcn", "--out", "\u{1b}[31m.toml"],
        &["train", "no\u{1b}[31m.toml"],
        &["\u{1b}[31m"],
        &["eval", place, "--no\u{1b}[31m"],
        &["data", "show", "\u{1b}[31m"],
        &["data", "pack", "g.npz", "--out", "\u{1b}[31mg"],
        &["data", "show", "\u{1b}[31mg"],
    ] {
        let (_, out, err) = run(folder.path(), args);
        for said in [&out, &err] {
            let odd = said.chars().find(|letter| letter.is_control() && !['\n', '\t'].contains(letter));
            assert_eq!(odd, None, "{args:?}: {said:?}");
        }
        assert!(!out.is_empty() || !err.is_empty(), "{args:?}");
    }
    // What is for programs is as it is.
    let (code, out, err) = run(folder.path(), &["eval", place, "--json"]);
    assert_eq!(code, 0, "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["run"], place);
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let folder = TempDir::new().unwrap();
    for end in ["ts", "parquet", "arrow", "feather", "csv", "npy", "npz", "wav", "png", "txt"] {
        let name = format!("x.{end}");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(&name)).unwrap();
        let (code, _, said) = run(folder.path(), &["data", "show", &name]);
        assert!(code == 1 && said.contains("is a device"), "{name}: {said}");
    }
    // A table is read twice, and nobody writes to the pipe a second time.
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.csv")).status().unwrap();
    assert!(made.success());
    let (code, _, said) = run(folder.path(), &["data", "show", "pipe.csv"]);
    assert!(code == 1 && said.contains("pipe.csv: is a device or a pipe; a table is read twice"), "{said}");
    let (code, _, said) = run(folder.path(), &["train", "/dev/zero"]);
    assert!(code == 1 && said.contains("/dev/zero: has more than 64 MiB; a config expected"), "{said}");
}

/// Samples whose validation and test split are so large that a net overflows on them.
fn overflowing(path: &Path, large: f32) {
    let mut npz = NpzWriter::new(std::fs::File::create(path).unwrap());
    let x: Vec<f32> =
        (0..240).map(|at| if at < 144 { (at * 31 % 17) as f32 / 17.0 } else { large }).collect();
    npz.add("x", |mut out| write_f32(&mut out, &[40, 3, 2], &x)).unwrap();
    let y: Vec<i64> = (0..40).map(|at| at % 2).collect();
    npz.add("y", |mut out| write_i64(&mut out, &[40], &y)).unwrap();
    for (split, samples) in [("train", 0..24), ("valid", 24..32), ("test", 32..40)] {
        let samples: Vec<i64> = samples.collect();
        npz.add(split, |mut out| write_i64(&mut out, &[samples.len()], &samples)).unwrap();
    }
    npz.finish().unwrap();
}

#[test]
fn outputs_that_overflow_are_told_and_leave_a_run_that_can_be_read() {
    let folder = TempDir::new().unwrap();
    overflowing(&folder.path().join("x.npz"), 3e38);
    let deep = "depth = 3\n";
    std::fs::write(
        folder.path().join("c.toml"),
        format!("[data]\nsource = 'x.npz'\n{}", CONFIG.replace("[train]", &format!("{deep}[train]"))),
    )
    .unwrap();
    let (code, out, said) =
        run(folder.path(), &["train", "c.toml", "--out", "run", "--set", "train.epochs=3"]);
    // What is no number predicts nothing.
    assert!(code == 0 && out.contains("test error 100.00 % (loss NaN)"), "{out}{said}");
    let (code, out, said) = run(folder.path(), &["eval", "run"]);
    assert!(code == 0 && out.contains("the net's outputs for sample 32 are not finite\n"), "{out}{said}");
    assert!(!out.contains("confusion"), "{out}");
    // The loss of occluded entries is a metric of its own.
    let auto = "[data]\nsource = 'x.npz'\nocclusion = [1, 1]\n[model]\nkind = 'autoencoder'\nhidden = [3, 3]\ndepth = 2\n";
    std::fs::write(folder.path().join("a.toml"), format!("{auto}[train]\nepochs = 2\n")).unwrap();
    let (code, _, said) = run(folder.path(), &["train", "a.toml", "-q", "--out", "auto"]);
    assert_eq!(code, 0, "{said}");
    for args in
        [&["eval", "auto"][..], &["report", "auto"], &["inspect", "auto"], &["compare", "auto", "auto"]]
    {
        let (code, out, said) = run(folder.path(), args);
        assert!(code == 0 && !out.contains("difference"), "{args:?}: {out}{said}");
    }
}

#[test]
fn outputs_do_not_take_the_place_of_something_else() {
    let folder = TempDir::new().unwrap();
    samples(&folder.path().join("x.npz"), &[("y", |at| at as i64 % 3)]);
    let (code, said) = trained(folder.path(), "x.npz", "");
    assert_eq!(code, 0, "{said}");
    let inputs = vec![0.5; 12];
    write_f32(&mut std::fs::File::create(folder.path().join("in.npy")).unwrap(), &[2, 3, 2], &inputs)
        .unwrap();
    let files = || ["x.npz", "in.npy", "c.toml"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
    let before = files();
    for (args, wanted) in [
        (&["predict", "run", "--input", "in.npy", "--output", "./in.npy"][..], "is the input"),
        (&["predict", "run", "--input", "in.npy", "--output", "c.toml"], "ends in .npy or .csv"),
        (&["export", "run", "--onnx", "x.npz"], "--onnx x.npz: a name that ends in .onnx expected\n"),
        (&["report", "run", "--out", "c.toml"], "--out c.toml: a name that ends in .html or .htm expected\n"),
        (&["compare", "run", "run", "--out", "c.toml"], "--out c.toml: a name that ends in .html"),
        (&["data", "show", "x.npz", "--png", "x.npz"], "--png x.npz: a name that ends in .png expected\n"),
    ] {
        let (code, _, said) = run(folder.path(), args);
        assert!(code == 2 && said.contains(wanted), "{args:?}: {said}");
        assert!(files() == before, "{args:?}");
    }
}

/// A table of two features, of which the first says the class, in this order of columns.
fn table(path: &Path, columns: &str) {
    let mut text = format!("{columns}\n");
    for at in 0..60 {
        let value = |name: &str| match name {
            "a" => format!("{}", (at % 7) as f32 - 3.0),
            "b" => format!("{}", (at * 31 % 11) as f32 * 10.0),
            _ => (if at % 7 < 3 { "low" } else { "high" }).to_owned(),
        };
        text += &(columns.split(',').map(value).collect::<Vec<_>>().join(",") + "\n");
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn columns_are_found_by_their_names() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (name, columns) in
        [("ab.csv", "a,b,y"), ("ba.csv", "b,y,a"), ("ac.csv", "a,c,y"), ("only.csv", "b,a")]
    {
        table(&path.join(name), columns);
    }
    let (code, said) = trained(path, "ab.csv", "target_column = 'y'");
    assert_eq!(code, 0, "{said}");
    let scored = |data: &str| {
        let (code, out, said) = run(path, &["eval", "run", "--data", data, "--json"]);
        (code, out.replace(data, "data"), said)
    };
    assert_eq!(scored("ab.csv"), scored("ba.csv"));
    let (code, _, said) = scored("ac.csv");
    assert!(code == 1 && said.contains("ac.csv: no column \"b\"; there are: a, c, y"), "{said}");
    let predicted = |data: &str| {
        let (code, out, said) = run(path, &["predict", "run", "--input", data, "--output", "-"]);
        (code, out, said)
    };
    let (code, _, said) = predicted("ac.csv");
    assert!(code == 1 && said.contains("ac.csv: no column \"b\"; there are: a, c, y"), "{said}");
    let wanted = predicted("ab.csv");
    assert!(wanted.0 == 0 && wanted.1.lines().count() == 61, "{wanted:?}");
    for data in ["ba.csv", "only.csv"] {
        assert_eq!(predicted(data).1, wanted.1, "{data}");
    }
    // Test data of their own.
    let loss = |test: &str| {
        let (code, said) = trained(path, "ab.csv", &format!("target_column = 'y'\ntest = '{test}'"));
        let result = std::fs::read_to_string(path.join("run/result.json")).unwrap_or_default();
        let test = result.split("\"test\"").nth(1).and_then(|rest| rest.lines().nth(1)).map(str::to_owned);
        (code, said, test)
    };
    table(&path.join("again.csv"), "a,b,y");
    let (again, other) = (loss("again.csv"), loss("ba.csv"));
    assert!(again.0 == 0 && again.2.is_some() && again.2 == other.2, "{again:?} {other:?}");
    let (code, said, _) = loss("./ab.csv");
    assert!(code == 2 && said.contains("data.test: ./ab.csv is data.source itself"), "{said}");
    // A long table.
    for (name, columns) in [("s.csv", "a,b"), ("t.csv", "b,a")] {
        table(&path.join(name), columns);
    }
    let (code, said) = trained(path, "s.csv", "window = 4\nhorizon = 2\nscale = 'standardize'");
    assert_eq!(code, 0, "{said}");
    assert_eq!(scored("s.csv"), scored("t.csv"));
    assert_eq!(predicted("s.csv").1, predicted("t.csv").1);
    assert!(predicted("ac.csv").2.contains("no column \"b\""));
}

#[test]
fn features_of_nodes_are_found_by_their_names() {
    let folder = TempDir::new().unwrap();
    for (name, columns) in [("ab", "id,a,b,class"), ("ba", "id,b,a,class"), ("ac", "id,a,c,class")] {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let mut nodes = format!("{columns}\n");
        for at in 0..30 {
            let value = |name: &str| match name {
                "id" => format!("n{at}"),
                "a" => format!("{}", at % 7),
                "b" => format!("{}", at * 31 % 11),
                "c" => "1".to_owned(),
                _ => format!("c{}", at % 2),
            };
            nodes += &(columns.split(',').map(value).collect::<Vec<_>>().join(",") + "\n");
        }
        std::fs::write(path.join("nodes.csv"), nodes).unwrap();
        let edges: String = (0..30).map(|at| format!("n{at},n{}\n", (at * 7 + 1) % 30)).collect();
        std::fs::write(path.join("edges.csv"), edges).unwrap();
    }
    let config = "[data]\nsource = 'ab'\n[model]\nkind = 'gcn'\nhidden = [3]\n[train]\nepochs = 1\n";
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let (code, _, said) = run(folder.path(), &["train", "c.toml", "--out", "run"]);
    assert_eq!(code, 0, "{said}");
    let scored = |data: &str| {
        let (code, out, said) = run(folder.path(), &["eval", "run", "--data", data, "--json"]);
        (code, out.replace(&format!("\"{data}\""), "data"), said)
    };
    assert_eq!(scored("ab"), scored("ba"));
    let (code, _, said) = scored("ac");
    assert!(code == 1 && said.contains("the nodes have no feature `b`, only a, c"), "{said}");
}

#[test]
fn another_split_is_other_data() {
    let folder = TempDir::new().unwrap();
    let y: Numbers = ("y", |at| at as i64 % 3);
    let path = folder.path().join("x.npz");
    samples(&path, &[y, ("test", |at| i64::from(at < 10))]);
    let (code, said) = trained(folder.path(), "x.npz", "");
    assert_eq!(code, 0, "{said}");
    let evaluated = || run(folder.path(), &["eval", "run"]);
    let (code, _, said) = evaluated();
    assert!(code == 0 && said.is_empty(), "{said}");
    // The samples are the same, but what was trained on is the test split now.
    samples(&path, &[y, ("test", |at| i64::from(at >= 30))]);
    let (code, _, said) = evaluated();
    assert!(code == 0 && said.contains("x.npz is not what the run was trained on"), "{said}");
    let (code, _, said) = run(folder.path(), &["train", "c.toml", "--out", "run", "--epochs", "2"]);
    assert!(code == 1 && said.contains("data_sha256"), "{said}");
}

#[test]
fn data_that_a_run_does_not_keep_have_to_be_named() {
    let folder = TempDir::new().unwrap();
    samples(&folder.path().join("x.npz"), &[("y", |at| at as i64 % 3)]);
    let (code, said) = trained(folder.path(), "x.npz", "");
    assert_eq!(code, 0, "{said}");
    std::fs::rename(folder.path().join("x.npz"), folder.path().join("kept.npz")).unwrap();
    let (code, _, said) = run(folder.path(), &["eval", "run"]);
    assert!(
        code == 2 && said.starts_with("error: --data is missing: the data of the run are not there"),
        "{said}"
    );
    assert!(said.contains(" (`x.npz` is neither a dataset nor a file); a run keeps no data"), "{said}");
    let (code, out, said) = run(folder.path(), &["eval", "run", "--data", "kept.npz"]);
    assert!(code == 0 && out.contains("40 examples"), "{out}{said}");
}

/// Balanced class weights on weighted samples are those of scikit-learn:
/// `compute_class_weight("balanced", classes=[0, 1, 2], y=y, sample_weight=weight)`.
#[test]
fn balanced_weights_of_classes_count_the_weights_of_samples() {
    let folder = TempDir::new().unwrap();
    let y: Numbers = ("y", |at| if at < 20 { 0 } else { 1 + at as i64 % 2 });
    samples(&folder.path().join("x.npz"), &[y, ("weight", |at| 1 + at as i64 % 4)]);
    let losses = |weights: &str| {
        let text = format!(
            "[data]\nsource = 'x.npz'\nsplit = {{ valid = 0, test = 0 }}\n{CONFIG}class_weights = {weights}\n"
        );
        std::fs::write(folder.path().join("c.toml"), text).unwrap();
        let (code, _, said) = run(folder.path(), &["train", "c.toml", "--fresh", "--out", "run"]);
        assert_eq!(code, 0, "{said}");
        std::fs::read_to_string(folder.path().join("run/metrics.csv")).unwrap()
    };
    let balanced = losses("'balanced'");
    // The weights of the classes add up to 50, 20 and 30.
    assert_eq!(balanced, losses("[0.6666666666666666, 1.6666666666666667, 1.1111111111111112]"));
    assert_ne!(balanced, losses("[0.6666666666666666, 1.3333333333333333, 1.3333333333333333]"));
}

#[test]
fn runs_on_different_data_are_not_compared() {
    let folder = TempDir::new().unwrap();
    for (name, classes) in [("one", 2), ("two", 3)] {
        let y: Numbers = if classes == 2 { ("y", |at| at as i64 % 2) } else { ("y", |at| at as i64 % 3) };
        samples(&folder.path().join(format!("{name}.npz")), &[y]);
        std::fs::write(folder.path().join("c.toml"), format!("[data]\nsource = '{name}.npz'\n{CONFIG}"))
            .unwrap();
        let (code, _, said) = run(folder.path(), &["train", "c.toml", "--out", &format!("nets/{name}")]);
        assert_eq!(code, 0, "{said}");
    }
    let (code, out, _) = run(folder.path(), &["compare", "nets/one", "nets/two"]);
    assert!(code == 0 && out.ends_with("not compared: the data are different (one.npz, two.npz)\n"), "{out}");
    let (code, out, _) = run(folder.path(), &["compare", "nets/one", "nets/one"]);
    assert!(code == 0 && !out.contains("not compared"), "{out}");
    // The same data, of which other samples are the test split.
    for (name, seed) in [("first", 0), ("second", 1)] {
        let config = format!("[data]\nsource = 'one.npz'\nseed = {seed}\n{CONFIG}");
        std::fs::write(folder.path().join("c.toml"), config).unwrap();
        let (code, _, said) = run(folder.path(), &["train", "c.toml", "--out", name]);
        assert_eq!(code, 0, "{said}");
    }
    let (code, out, _) = run(folder.path(), &["compare", "first", "second"]);
    assert!(code == 0 && out.ends_with("not compared: the test splits are different\n"), "{out}");
    let (code, out, _) = run(folder.path(), &["compare", "first", "nets/one"]);
    assert!(code == 0 && !out.contains("not compared"), "{out}");
    // What `report` takes, `eval` takes.
    let (code, out, said) = run(folder.path(), &["eval", "nets"]);
    assert!(code == 0 && out.contains("one.npz") && out.contains("two.npz"), "{out}{said}");
}

/// Windows of different lengths that predict the same rows are compared.
#[test]
fn forecasts_from_windows_of_different_lengths_are_compared() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows: String = (0..80).map(|at| format!("{},{}\n", at % 7, at * 5 % 11)).collect();
    std::fs::write(path.join("s.csv"), format!("a,b\n{rows}")).unwrap();
    let compared = |second: &str| {
        let text = format!(
            "[data]\nsource = 's.csv'\nwindow = 4\nhorizon = 2\n[model]\nkind = 'seq2seq'\nhidden = [2, 1]\n[train]\nepochs = 1\n\
             [variant.a]\n[variant.b]\n{second}\n"
        );
        std::fs::write(path.join("c.toml"), text).unwrap();
        let (code, out, said) = run(path, &["compare", "c.toml", "--fresh", "--out", "nets", "--quiet"]);
        assert_eq!(code, 0, "{said}");
        out.lines().find(|line| line.starts_with("not compared: ")).map(str::to_owned)
    };
    assert_eq!(compared("data.window = 6"), None);
    let said = compared("data.split.test = 9").unwrap();
    assert_eq!(said, "not compared: the test splits are different");
}

/// Losses in different units, or of different predictions, say nothing about which net is better.
#[test]
fn losses_in_different_units_are_not_compared() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    samples(&path.join("x.npz"), &[("y", |at| at as i64 * 17 % 40)]);
    let config = |train: &str, more: &str| {
        let net = "[model]\nkind = 'feedforward'\nhidden = [3, 3]";
        let text = format!(
            "[data]\nsource = 'x.npz'\ntarget = 'value'\n{net}\n[train]\nepochs = 1\n{train}\n{more}\n"
        );
        std::fs::write(path.join("c.toml"), text).unwrap();
    };
    let compared = |train: &str, variants: &str| {
        config(train, variants);
        let (code, out, said) = run(path, &["compare", "c.toml", "--fresh", "--out", "nets", "--quiet"]);
        assert_eq!(code, 0, "{said}");
        out.lines().find(|line| line.starts_with("not compared: ")).map(str::to_owned)
    };
    let units = "[variant.a]\ndata.scale_target = false\n[variant.b]\ndata.scale_target = true";
    let said = compared("", units).unwrap();
    assert_eq!(said, "not compared: data.scale_target is different (false, true)");
    assert_eq!(compared("monitor = 'rmse'", units), None);
    let deltas = "[variant.a]\ntrain.huber_delta = 0.1\n[variant.b]";
    let said = compared("loss = 'huber'", deltas).unwrap();
    assert_eq!(said, "not compared: train.huber_delta is different (0.1, 1.0)");
    assert_eq!(compared("", "[variant.a]\nmodel.hidden = [2, 2]\n[variant.b]"), None);
    // A search does not try them.
    for (train, key, judged) in [
        ("", "data.scale_target = [true, false]", "trials are judged by the loss, which it changes"),
        ("", "data.occlusion = [[1, 1], [2, 2]]", "trials that predict different things cannot be compared"),
        ("monitor = 'rmse'", "data.scale_target = [true, false]", ""),
    ] {
        config(train, &format!("[search]\n{key}"));
        let (code, _, said) = run(path, &["tune", "c.toml", "--trials", "2", "--fresh", "--out", "trials"]);
        let refused = said.contains("cannot be searched; ") && said.contains(judged);
        assert!(code == if judged.is_empty() { 0 } else { 2 } && refused != judged.is_empty(), "{said}");
    }
}

#[test]
fn targets_beyond_the_scale_of_the_training_split_do_not_ask_for_that_scale() {
    let folder = TempDir::new().unwrap();
    overflowing(&folder.path().join("x.npz"), 3.0);
    let text = "[data]\nsource = 'x.npz'\n[model]\nkind = 'autoencoder'\nhidden = [2, 2]\ndepth = 2\n[train]\nepochs = 1\nloss = 'bce'\n";
    std::fs::write(folder.path().join("c.toml"), text).unwrap();
    let said = |more: &[&str]| run(folder.path(), &[&["train", "c.toml", "--out", "run"], more].concat());
    let (code, _, plain) = said(&[]);
    assert!(code == 2 && plain.contains("between 0 and 1 expected (data.scale = \"min-max\")"), "{plain}");
    let (code, _, scaled) = said(&["--set", "data.scale=min-max"]);
    let expected = "data.scale is fitted on the training split, and others may lie outside: train with \"mse\" or \"mae\"";
    assert!(code == 2 && scaled.contains(expected), "{scaled}");
    let (code, _, said) = said(&["--set", "data.scale=min-max", "--set", "train.loss=mse"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_level_of_simd_that_does_not_exist_is_refused() {
    let folder = TempDir::new().unwrap();
    let mut command = common::matnet(folder.path(), &["train", "c.toml"]);
    samples(&folder.path().join("x.npz"), &[("y", |at| at as i64 % 3)]);
    std::fs::write(folder.path().join("c.toml"), format!("[data]\nsource = 'x.npz'\n{CONFIG}")).unwrap();
    command.env("MATNET_SIMD", "avx");
    let (code, _, said) = common::process::output(command);
    assert!(code == 2 && said == "error: MATNET_SIMD=avx; portable, avx2 or avx512 expected\n", "{said}");
}
