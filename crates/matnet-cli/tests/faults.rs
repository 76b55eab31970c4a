//! Every file operation of a command fails in turn. Whatever happens, what was there before is intact, and the same command, run
//! again, ends in the same bytes as if nothing had happened.

mod common;

use std::path::Path;

use common::{bytes, matnet, run, same};

const CONFIG: &str = "
[data]
source = 'optdigits'
limit = 80
[model]
kind = 'feedforward'
hidden = [3, 3]
[train]
epochs = 2
batch_size = 20
[variant.matrix]
[variant.vector]
model.form = 'vector'
model.hidden = [3]
";

/// Runs a command in which one file operation fails; its exit code and what it said.
fn failing(folder: &Path, args: &[&str], operation: usize, kind: &str) -> (i32, String) {
    let output = matnet(folder, args).env("MATNET_FAIL_AT", format!("{operation}:{kind}")).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Fails each operation of a command in turn, until it gets through; `check` looks at what is left each time.
fn fail_each(folder: &Path, args: &[&str], check: impl Fn(usize)) -> usize {
    for operation in 1.. {
        let kind = if operation % 2 == 0 { "permission" } else { "space" };
        let (code, said) = failing(folder, args, operation, kind);
        if code == 0 {
            return operation - 1;
        }
        assert_eq!(code, 1, "operation {operation}: {said}");
        assert!(!said.contains("panicked"), "operation {operation}: {said}");
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        let [error] = errors[..] else { panic!("operation {operation}: one error expected: {said}") };
        assert!(error.contains("(injected)"), "operation {operation}: {error}");
        check(operation);
    }
    unreachable!()
}

#[test]
fn a_training_survives_every_failing_file_operation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    let train = |out: &'static str| ["train", "c.toml", "--variant", "matrix", "-q", "--out", out];
    assert_eq!(run(folder.path(), &train("whole")).0, 0);
    // Each failure leaves a folder that the next try goes on with.
    let operations = fail_each(folder.path(), &train("hurt"), |_| {});
    assert!(operations >= 20, "{operations} operations");
    same(&folder.path().join("whole/matrix"), &folder.path().join("hurt/matrix"));
    // A fresh folder for each, and then the command once more.
    for operation in 1..=operations {
        let _ = std::fs::remove_dir_all(folder.path().join("hurt"));
        failing(folder.path(), &train("hurt"), operation, "space");
        let (code, _, said) = run(folder.path(), &train("hurt"));
        assert_eq!(code, 0, "after operation {operation}: {said}");
        same(&folder.path().join("whole/matrix"), &folder.path().join("hurt/matrix"));
    }
}

#[test]
fn a_finished_run_stays_whole_when_it_is_started_again_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
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
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
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
    assert!(std::fs::read_to_string(folder.path().join("y.csv")).unwrap().starts_with("sample,class,"));
}

#[test]
fn a_comparison_survives_every_failing_file_operation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    assert_eq!(run(folder.path(), &["compare", "c.toml", "-q", "--out", "whole"]).0, 0);
    let operations = fail_each(folder.path(), &["compare", "c.toml", "-q", "--out", "hurt"], |_| {});
    assert!(operations >= 40, "{operations} operations");
    for variant in ["matrix", "vector"] {
        same(&folder.path().join("whole").join(variant), &folder.path().join("hurt").join(variant));
    }
}
