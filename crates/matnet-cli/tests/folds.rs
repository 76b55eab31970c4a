//! `--folds`: cross-validation, and what a comparison settles.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{kill_until_done, run, same};
use matnet_data::format::npy::{write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'mine.npz'
[data.split]
valid = 0.2
[model]
kind = 'feedforward'
hidden = [4, 4]
[train]
epochs = 2
batch_size = 10
[variant.matrix]
[variant.vector]
model.form = 'vector'
model.hidden = [8]
";

/// A folder with 60 samples of 3 classes, from 6 groups, and a config.
fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    let mut npz = NpzWriter::new(std::fs::File::create(path.join("mine.npz")).unwrap());
    let number = |at: usize| ((at * 7919) % 101) as f32 / 101.0 + ((at / 12) % 3) as f32;
    let inputs: Vec<f32> = (0..60 * 4 * 3).map(number).collect();
    let classes: Vec<i64> = (0..60).map(|at| at % 3).collect();
    let groups: Vec<i64> = (0..60).map(|at| at / 10).collect();
    npz.add("x", |mut out| write_f32(&mut out, &[60, 4, 3], &inputs)).unwrap();
    npz.add("y", |mut out| write_i64(&mut out, &[60], &classes)).unwrap();
    npz.add("group", |mut out| write_i64(&mut out, &[60], &groups)).unwrap();
    npz.finish().unwrap();
    std::fs::write(path.join("mine.toml"), CONFIG).unwrap();
    (folder, path)
}

/// The samples of a split of a run.
fn split(run: &Path, name: &str) -> Vec<usize> {
    let text = std::fs::read_to_string(run.join("split.json")).unwrap();
    let split: serde_json::Value = serde_json::from_str(&text).unwrap();
    split[name].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize).collect()
}

#[test]
fn every_sample_is_tested_once() {
    let (_temporary, folder) = folder();
    for (folds, count, rule, by_groups) in
        [("4", 4, "", false), ("3", 3, "data.split.rule=between-groups", true), ("groups", 6, "", true)]
    {
        let out = format!("folds-{folds}");
        let mut args = vec!["compare", "mine.toml", "-q", "--folds", folds, "--out", &out];
        if !rule.is_empty() {
            args.extend(["--set", rule]);
        }
        let (code, table, err) = run(&folder, &args);
        assert_eq!(code, 0, "{err}");
        assert!(
            table.contains("| folds | seeds |") && table.contains(&format!(" {count} paired folds)")),
            "{table}"
        );
        for net in ["matrix", "vector"] {
            let runs: Vec<PathBuf> =
                (0..count).map(|fold| folder.join(format!("{out}/{net}/fold-{fold}"))).collect();
            let mut tested: Vec<usize> = runs.iter().flat_map(|run| split(run, "test")).collect();
            tested.sort_unstable();
            assert_eq!(tested, (0..60).collect::<Vec<_>>(), "{folds}");
            for run in &runs {
                let [train, valid, test] = ["train", "valid", "test"].map(|name| split(run, name));
                assert!(!valid.is_empty() && train.len() + valid.len() + test.len() == 60);
                assert!(train.iter().all(|at| !valid.contains(at) && !test.contains(at)));
                let group_of = |at: &usize| at / 10;
                let together = train
                    .iter()
                    .chain(&valid)
                    .all(|at| test.iter().all(|other| group_of(at) != group_of(other)));
                assert_eq!(together, by_groups, "{folds}");
            }
            assert!(!runs[0].with_file_name(format!("fold-{count}")).exists());
        }
        // Both nets have the same folds.
        let test = |net: &str| split(&folder.join(format!("{out}/{net}/fold-1")), "test");
        assert_eq!(test("matrix"), test("vector"));
    }
}

#[test]
fn the_table_is_over_the_folds_and_the_numbers_are_kept() {
    let (_temporary, folder) = folder();
    let args = ["compare", "mine.toml", "-q", "--folds", "3", "--seeds", "2"];
    let (code, table, err) = run(&folder, &[&args[..], &["--out", "f"]].concat());
    assert_eq!(code, 0, "{err}");
    let csv = std::fs::read_to_string(folder.join("f/results.csv")).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    let mut errors = BTreeMap::<String, f64>::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(["1", "2"].contains(&cells[column("seed")]));
        if cells[0] == "matrix" {
            let error: f64 = cells[column("test_error")].parse().unwrap();
            *errors.entry(cells[column("fold")].to_owned()).or_default() += 100.0 * error / 2.0;
        }
    }
    assert_eq!((csv.lines().count(), errors.len()), (1 + 2 * 2 * 3, 3));
    let mean = errors.values().sum::<f64>() / 3.0;
    let deviation = (errors.values().map(|error| (error - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let row = table.lines().find(|line| line.starts_with("| matrix ")).unwrap();
    assert!(row.replace("**", "").contains(&format!(" {mean:.2} ± {deviation:.2} ")), "{row} {errors:?}");
    assert!(row.replace("**", "").contains(" | 3 | 2 |") || row.contains("|     3 |     2 |"), "{row}");
    let report = std::fs::read_to_string(folder.join("f/report.html")).unwrap();
    assert!(report.contains("Test error (%) ↓ of every fold."), "{report}");
    // The folders say the same later, and a killed comparison ends in the same bytes.
    let (code, again, err) = run(&folder, &["compare", "f/matrix", "f/vector"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(again.lines().nth(2).unwrap().split('|').nth(6), row.split('|').nth(6));
    kill_until_done(&folder, &[&args[..], &["--out", "killed", "--save-every", "0"]].concat(), 100);
    for run in ["matrix/seed-1/fold-0", "vector/seed-2/fold-2"] {
        same(&folder.join("f").join(run), &folder.join("killed").join(run));
    }
    assert_eq!(std::fs::read_to_string(folder.join("killed/results.csv")).unwrap(), csv);
    // `train` gives the mean over the folds, too.
    let (code, out, err) =
        run(&folder, &["train", "mine.toml", "--variant", "matrix", "-q", "--folds", "3", "--out", "t"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.starts_with("t/matrix/fold-0: test error ") && out.contains("\n3 folds: test error "),
        "{out}"
    );
}

#[test]
fn one_seed_settles_nothing() {
    let (_temporary, folder) = folder();
    let (code, table, err) = run(&folder, &["compare", "mine.toml", "-q", "--out", "one"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        table.contains(": not settled (difference ") && table.contains("one seed tells nothing"),
        "{table}"
    );
    let test_cells = |table: &str| -> Vec<String> {
        table.lines().skip(2).take(2).map(|line| line.split('|').nth(6).unwrap().to_owned()).collect()
    };
    assert!(test_cells(&table).iter().all(|cell| !cell.contains("**")), "{table}");
    // The same net twice: no difference, whatever the seeds.
    let twin = CONFIG.replace("model.form = 'vector'\nmodel.hidden = [8]\n", "");
    std::fs::write(folder.join("twin.toml"), twin).unwrap();
    let (code, table, err) = run(&folder, &["compare", "twin.toml", "-q", "--seeds", "3"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        table.contains(
            ": not settled (difference 0.00 ± 0.00, test error (%) ↓, 95 % CI over 3 paired seeds)"
        ),
        "{table}"
    );
    assert!(test_cells(&table).iter().all(|cell| !cell.contains("**")), "{table}");
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder();
    let cases: &[(&[&str], &str)] = &[
        (&["--folds", "1"], "a number from 2 to 1000, or `groups`, expected"),
        (&["--folds", "many"], "a number from 2 to 1000, or `groups`, expected"),
        (&["--folds", "61"], "61 folds of 60 samples"),
        (&["--folds", "4", "--set", "data.split.rule=leave-one-group-out"], "--folds groups expected"),
        (
            &["--folds", "4", "--set", "data.split.rule=chronological"],
            "data in the order of time have no folds",
        ),
        (&["--folds", "groups", "--set", "data.source=optdigits"], "groups"),
        (&["--folds", "4", "--set", "data.source=cora", "--set", "model.kind=gcn"], "data.split"),
    ];
    for (args, said) in cases {
        let (code, out, err) = run(&folder, &[&["compare", "mine.toml"][..], args].concat());
        assert!(code == 2 || code == 1, "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(out.is_empty() && !folder.join("runs").exists(), "{args:?}");
    }
}
