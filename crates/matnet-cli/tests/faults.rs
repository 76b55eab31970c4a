//! Every file operation and every large allocation of a command fails in turn. Whatever happens, what was there before is intact, and
//! the same command, run again, ends in the same bytes as if nothing had happened.

mod common;

use std::path::Path;

use common::{SMALL, bytes, matnet, run, same};

fn variants() -> String {
    format!("{SMALL}[variant.matrix]\n[variant.vector]\nmodel.form = 'vector'\nmodel.hidden = [3]\n")
}

/// Runs a command with a fault; its exit code and what it said, or `None` if it ended before the fault.
fn with_fault(folder: &Path, args: &[&str], variable: &str, fault: String) -> Option<(i32, String)> {
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("fault");
    let mut command = matnet(folder, args);
    let output = command.env(variable, fault).env("MATNET_FAULT_LOG", &log).output().unwrap();
    let (code, said) =
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(log.exists() || code == 0, "{args:?}: {said}");
    log.exists().then_some((code, said))
}

/// Runs a command in which one file operation fails.
fn failing(folder: &Path, args: &[&str], operation: usize, kind: &str) -> Option<(i32, String)> {
    with_fault(folder, args, "MATNET_FAIL_AT", format!("{operation}:{kind}"))
}

/// Fails each operation of a command in turn, until it gets through; `check` looks at what is left each time.
fn fail_each(folder: &Path, args: &[&str], check: impl Fn(usize)) -> usize {
    let fail =
        |operation| failing(folder, args, operation, if operation % 2 == 0 { "permission" } else { "space" });
    let operations = each(fail, "(injected)", check);
    println!("{args:?}: each of {operations} file operations failed in turn");
    operations
}

/// Fails each large allocation of a command in turn.
fn starve_each(folder: &Path, args: &[&str], check: impl Fn(usize)) -> usize {
    let fail =
        |allocation: usize| with_fault(folder, args, "MATNET_FAIL_ALLOCATION_AT", allocation.to_string());
    let allocations = each(fail, "not enough memory", check);
    println!("{args:?}: each of {allocations} allocations failed in turn");
    allocations
}

fn each(fail: impl Fn(usize) -> Option<(i32, String)>, wanted: &str, check: impl Fn(usize)) -> usize {
    for operation in 1.. {
        let Some((code, said)) = fail(operation) else { return operation - 1 };
        assert_eq!(code, 1, "operation {operation}: {said}");
        assert!(!said.contains("panicked"), "operation {operation}: {said}");
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        let [error] = errors[..] else { panic!("operation {operation}: one error expected: {said}") };
        assert!(error.contains(wanted), "operation {operation}: {error}");
        check(operation);
    }
    unreachable!()
}

#[test]
fn a_training_survives_every_failing_file_operation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), variants()).unwrap();
    let train = |out: &'static str| ["train", "c.toml", "--variant", "matrix", "-q", "--out", out];
    assert_eq!(run(folder.path(), &train("whole")).0, 0);
    // Each failure leaves a folder that the next try goes on with.
    let operations = fail_each(folder.path(), &train("hurt"), |_| {});
    assert!(operations >= 20, "{operations} operations");
    same(&folder.path().join("whole/matrix"), &folder.path().join("hurt/matrix"));
    // A fresh folder for each, and then the command once more.
    'all: for operation in 1.. {
        for kind in ["space", "permission", "short"] {
            let _ = std::fs::remove_dir_all(folder.path().join("hurt"));
            let Some((code, said)) = failing(folder.path(), &train("hurt"), operation, kind) else {
                println!(
                    "train, from an empty folder: each of {} file operations, three ways",
                    operation - 1
                );
                break 'all;
            };
            // A short write is no failure: the rest is written by the next one.
            assert_eq!(code, i32::from(kind != "short"), "operation {operation} {kind}: {said}");
            if kind != "short" {
                let (code, _, said) = run(folder.path(), &train("hurt"));
                assert_eq!(code, 0, "after operation {operation} {kind}: {said}");
            }
            let report = folder.path().join("hurt/matrix/report.html");
            assert!(report.exists(), "after operation {operation} {kind}");
            same(&folder.path().join("whole/matrix"), &folder.path().join("hurt/matrix"));
        }
    }
}

#[test]
fn a_finished_run_stays_whole_when_it_is_started_again_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), variants()).unwrap();
    let args = ["train", "c.toml", "--variant", "vector", "-q", "--out", "run"];
    assert_eq!(run(folder.path(), &args).0, 0);
    let before = bytes(&folder.path().join("run/vector"));
    fail_each(folder.path(), &args, |operation| {
        assert!(bytes(&folder.path().join("run/vector")) == before, "operation {operation}");
    });
}

#[test]
fn predictions_are_whole_or_were_never_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), variants()).unwrap();
    assert_eq!(run(folder.path(), &["train", "c.toml", "--variant", "matrix", "-q", "--out", "run"]).0, 0);
    let picture: String = (0..8).map(|_| "0,1,2,3,4,5,6,7\n").collect();
    std::fs::write(folder.path().join("x.csv"), picture).unwrap();
    std::fs::write(folder.path().join("y.csv"), "before").unwrap();
    let args = ["predict", "run/matrix", "--input", "x.csv", "--output", "y.csv", "-q"];
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    let files = count();
    let operations = fail_each(folder.path(), &args, |operation| {
        let text = std::fs::read_to_string(folder.path().join("y.csv")).unwrap();
        assert_eq!((text.as_str(), count()), ("before", files), "operation {operation}");
    });
    assert!(operations >= 4, "{operations} operations");
    let whole = std::fs::read_to_string(folder.path().join("y.csv")).unwrap();
    assert!(whole.starts_with("file,class,"));
    for operation in 1..=operations {
        let (code, said) = failing(folder.path(), &args, operation, "short").unwrap();
        assert_eq!(code, 0, "operation {operation}: {said}");
        assert_eq!(std::fs::read_to_string(folder.path().join("y.csv")).unwrap(), whole);
    }
}

/// What other commands write: a template, a report, an exported net, the choice of a search.
#[test]
fn other_outputs_are_whole_or_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{SMALL}[search]\nmodel.hidden = [[3, 3], [4, 4]]\n");
    std::fs::write(folder.path().join("s.toml"), config).unwrap();
    std::fs::write(folder.path().join("c.toml"), SMALL).unwrap();
    assert_eq!(run(folder.path(), &["train", "c.toml", "-q", "--out", "run"]).0, 0);
    std::fs::remove_file(folder.path().join("run/report.html")).unwrap();
    for (args, output) in [
        (&["new", "gcn", "--force", "--out", "new.toml"][..], "new.toml"),
        (&["report", "run"], "run/report.html"),
        (&["export", "run", "-q", "--onnx", "net.onnx"], "net.onnx"),
    ] {
        let path = folder.path().join(output);
        std::fs::write(&path, "before").unwrap();
        let operations = fail_each(folder.path(), args, |operation| {
            assert_eq!(std::fs::read(&path).unwrap(), b"before", "{args:?}, operation {operation}");
        });
        assert!(operations >= 3, "{args:?}: {operations} operations");
        assert_ne!(std::fs::read(&path).unwrap(), b"before");
    }
    let tune = |out: &'static str| ["tune", "s.toml", "-q", "--trials", "2", "--out", out];
    assert_eq!(run(folder.path(), &tune("whole")).0, 0);
    let operations = fail_each(folder.path(), &tune("hurt"), |_| {});
    assert!(operations >= 10, "{operations} operations");
    for file in ["best.toml", "trials.csv"] {
        let of = |out: &str| std::fs::read_to_string(folder.path().join(out).join(file)).unwrap();
        assert_eq!(of("hurt"), of("whole"), "{file}");
    }
}

/// A packed graph, and what takes its place.
#[test]
fn a_packed_graph_is_whole_or_as_it_was() {
    use matnet_data::format::npy::{write_f32, write_i64};

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("g")).unwrap();
    let file = |name: &str| std::fs::File::create(folder.path().join("g").join(name)).unwrap();
    let edges: Vec<i64> = (0..30).flat_map(|at| [at, (at * 7 + 1) % 30]).collect();
    write_i64(&mut file("edges.npy"), &[30, 2], &edges).unwrap();
    let features = |by: f32| write_f32(&mut file("features.npy"), &[30, 2], &vec![by; 60]).unwrap();
    features(1.0);
    let pack = |out: &'static str| ["data", "pack", "g", "-q", "--force", "--out", out];
    assert_eq!(run(folder.path(), &pack("first")).0, 0);
    let operations = fail_each(folder.path(), &pack("hurt"), |operation| {
        assert!(!folder.path().join("hurt").exists(), "operation {operation}");
    });
    assert!(operations >= 20, "{operations} operations");
    let of = |out: &str| bytes(&folder.path().join(out));
    assert!(of("hurt") == of("first"));
    // In place of another one, which stays until the new one is whole.
    features(2.0);
    assert_eq!(run(folder.path(), &pack("second")).0, 0);
    fail_each(folder.path(), &pack("hurt"), |operation| {
        assert!(of("hurt") == of("first"), "operation {operation}");
    });
    assert!(of("hurt") == of("second"));
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["first", "g", "hurt", "second"]);
}

#[test]
fn a_comparison_survives_every_failing_file_operation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), variants()).unwrap();
    assert_eq!(run(folder.path(), &["compare", "c.toml", "-q", "--out", "whole"]).0, 0);
    let operations = fail_each(folder.path(), &["compare", "c.toml", "-q", "--out", "hurt"], |_| {});
    assert!(operations >= 30, "{operations} operations");
    for variant in ["matrix", "vector"] {
        same(&folder.path().join("whole").join(variant), &folder.path().join("hurt").join(variant));
    }
}

/// An `.npz` of 40 samples: Fortran order, doubles and strings, so that every way of reading takes part.
fn own_data(folder: &Path) {
    use matnet_data::format::{npy, npz::NpzWriter};

    let mut npz = NpzWriter::new(Vec::new());
    npz.add("x", |mut out| {
        npy::write_header(&mut out, "<f8", &[40, 4, 4])?;
        (0..640).try_for_each(|i| out.write_all(&f64::from(i * 37 % 101).to_le_bytes()))
    })
    .unwrap();
    npz.add("y", |mut out| {
        npy::write_header(&mut out, "|S3", &[40])?;
        (0..40).try_for_each(|i| out.write_all(if i % 2 == 0 { b"odd" } else { b"eve" }))
    })
    .unwrap();
    std::fs::write(folder.join("own.npz"), npz.finish().unwrap()).unwrap();
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    own_data(folder.path());
    std::fs::write(folder.path().join("c.toml"), variants().replace("optdigits", "own.npz")).unwrap();
    let train = |out: &'static str| ["train", "c.toml", "--variant", "matrix", "-q", "--out", out];
    assert_eq!(run(folder.path(), &train("whole")).0, 0);
    let allocations = starve_each(folder.path(), &train("hurt"), |_| {});
    assert!(allocations >= 8, "{allocations} allocations");
    same(&folder.path().join("whole/matrix"), &folder.path().join("hurt/matrix"));
    let before = bytes(&folder.path().join("whole/matrix"));
    for args in [
        &["eval", "whole/matrix"][..],
        &["predict", "whole/matrix", "--input", "own.npz", "--output", "y.csv"],
        &["report", "whole/matrix"],
        &["data", "show", "own.npz"],
    ] {
        let allocations = starve_each(folder.path(), args, |allocation| {
            let there = folder.path().join("y.csv").exists();
            assert!(!there || args[0] != "predict", "{args:?}, allocation {allocation}");
        });
        assert!(allocations >= 3, "{args:?}: {allocations} allocations");
    }
    assert!(bytes(&folder.path().join("whole/matrix")) == before);
}
