//! Metrics from the command line: what a run writes, which epoch it selects by them, and clear errors.

mod common;

use std::path::Path;

use common::{kill_at_least, run, same};
use serde_json::Value;
use tempfile::TempDir;

const DIGITS: &str = "
[data]
source = 'digits'
limit = 300
split = { valid = 60, test = 60 }
[model]
kind = 'feedforward'
hidden = [6, 6]
depth = 2
[train]
epochs = 8
batch_size = 20
learning_rate = 0.01
";

const PAPERS: &str = "
[data]
source = 'mine/nodes.csv'
edges = 'mine/edges.csv'
split = { valid = 12, test = 12 }
[model]
kind = 'gcn'
hidden = [4]
[train]
epochs = 12
learning_rate = 0.02
log_test = true
";

/// A config of digits, and one of a graph with two classes that no net tells apart entirely.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("digits.toml"), DIGITS).unwrap();
    std::fs::write(folder.path().join("papers.toml"), PAPERS).unwrap();
    let (mut nodes, mut edges) = ("id,w0,w1,class\n".to_owned(), String::new());
    for at in 0..60 {
        let class = if at % 5 < 2 { "rare" } else { "usual" };
        nodes += &format!("n{at},{},{},{class}\n", at * 7 % 11, (at * 5 + at % 5) % 7);
        edges += &format!("n{at},n{}\n", (at + 5) % 60);
    }
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("mine/edges.csv"), edges).unwrap();
    folder
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The columns of `metrics.csv`, and its rows of a split.
fn metrics(run: &Path, split: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    let header = lines.next().unwrap();
    (header, lines.filter(|row| row[1] == split).collect())
}

#[test]
fn the_best_epoch_is_the_best_by_the_monitored_metric() {
    let folder = folder();
    for (config, name, lower) in [
        ("digits.toml", "f1", false),
        ("digits.toml", "log-loss", true),
        ("digits.toml", "auc", false),
        ("papers.toml", "auc", false),
        ("papers.toml", "average-precision", false),
        ("papers.toml", "error", true),
    ] {
        let monitor = format!("train.monitor={name}");
        let (code, _, err) =
            run(folder.path(), &["train", config, "--fresh", "--out", "x", "--set", &monitor]);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains(&format!(", {name} ")), "{name}: {err}");
        let path = folder.path().join("x");
        let (header, rows) = metrics(&path, "valid");
        let column = header.iter().position(|key| *key == name.replace('-', "_")).unwrap();
        let number = |row: &[String], at: usize| row[at].parse::<f64>().unwrap();
        let mut best: Option<(f64, f64, u64)> = None;
        for row in &rows {
            let value = number(row, column) * if lower { 1.0 } else { -1.0 };
            let loss = number(row, 2);
            if best.is_none_or(|(first, second, _)| (value, loss) < (first, second)) {
                best = Some((value, loss, row[0].parse().unwrap()));
            }
        }
        let result = json(&path.join("result.json"));
        assert_eq!(result["best_epoch"].as_u64(), best.map(|best| best.2), "{name}");
        // The result has the numbers of that epoch, for every split.
        let row = &rows[result["best_epoch"].as_u64().unwrap() as usize - 1];
        let of_result = result["valid"][name.replace('-', "_")].as_f64().unwrap();
        assert!((of_result - number(row, column)).abs() < 1e-12, "{name}");
        assert!(result["train"]["kappa"].is_number() && result["test"]["balanced_accuracy"].is_number());
    }
}

#[test]
fn metrics_have_columns_for_what_is_cheap_and_for_what_is_monitored() {
    let folder = folder();
    let set = ["--set", "train.epochs=2", "--set", "train.monitor=kappa"];
    let common = "epoch,split,loss,error,learning_rate";
    for (config, more, expected) in [
        ("digits.toml", &set[..2], "balanced_accuracy,f1"),
        ("digits.toml", &set[..], "balanced_accuracy,f1,kappa"),
        ("papers.toml", &set[..2], "balanced_accuracy,f1,auc"),
    ] {
        let args = [&["train", config, "-q", "--fresh", "--out", "x"], more].concat();
        assert_eq!(run(folder.path(), &args).0, 0);
        let (header, rows) = metrics(&folder.path().join("x"), "valid");
        assert_eq!(header.join(","), format!("{common},{expected}"));
        assert!(rows.iter().all(|row| row.len() == header.len() && row[5].parse::<f64>().is_ok()));
        // A training epoch has no predictions of one net: these cells stay empty.
        let (_, rows) = metrics(&folder.path().join("x"), "train");
        assert!(rows.iter().all(|row| row.len() == header.len() && row[5].is_empty()));
    }
    let (_, rows) = metrics(&folder.path().join("x"), "test");
    assert_eq!(rows.len(), 2, "log_test");
    // Reports and comparisons read them back.
    let (code, out, err) = run(folder.path(), &["compare", "x"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(" test error (%) ↓ ") && out.contains(" test ROC AUC ↑ "), "{out}");
    let page = std::fs::read_to_string(folder.path().join("x/report.html")).unwrap();
    for part in [
        "ROC, test split",
        "Precision and recall, test split",
        "Calibration, test split",
        "Confusion matrix in percent, test split",
        "Validation metrics",
        "Metrics per class, higher is better; test split, 12 examples",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn a_monitored_run_killed_again_and_again_ends_in_the_same_bytes() {
    let folder = folder();
    let args = [
        "train",
        "digits.toml",
        "-q",
        "--set",
        "train.monitor=balanced-accuracy",
        "--set",
        "train.epochs=40",
    ];
    assert_eq!(run(folder.path(), &[&args[..], &["--out", "whole"]].concat()).0, 0);
    let args = [&args[..], &["--out", "killed", "--save-every", "0"]].concat();
    kill_at_least(2, folder.path(), &args, "killed", 25);
    same(&folder.path().join("whole"), &folder.path().join("killed"));
}

#[test]
fn a_metric_that_cannot_be_monitored_is_an_error() {
    let folder = folder();
    for (args, part) in [
        (
            &["digits.toml", "--set", "train.monitor=r2"][..],
            "train.monitor: r2; this net has no such metric; it has loss, error, accuracy, balanced-accuracy, f1, \
             f1-micro, f1-weighted, auc, average-precision, log-loss, kappa",
        ),
        (
            &[
                "digits.toml",
                "--set",
                "model.kind=autoencoder",
                "--set",
                "model.depth=1",
                "--set",
                "train.monitor=error",
            ],
            "train.monitor: error; this net has no such metric; it has loss",
        ),
        (&["digits.toml", "--set", "train.monitor=acc"], "train.monitor: acc; did you mean `auc`?"),
        (
            &["papers.toml", "--set", "data.split.valid=1", "--set", "train.monitor=auc"],
            "train.monitor: auc; undefined on the validation split: only one class among the targets",
        ),
    ] {
        let (code, _, err) = run(folder.path(), &[&["train", "--out", "x"], args].concat());
        assert_eq!(code, 2, "{err}");
        assert!(err.lines().last().unwrap().starts_with(&format!("error: {part}")), "{err}");
        assert!(!folder.path().join("x").exists());
    }
}

#[test]
fn eval_says_why_a_metric_is_undefined() {
    let folder = folder();
    let set = ["--set", "data.split.valid=0", "--set", "data.split.test=1"];
    let (code, _, err) =
        run(folder.path(), &[&["train", "papers.toml", "-q", "--out", "x"], &set[..]].concat());
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(folder.path(), &["eval", "x"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\nauc is undefined: only one class among the targets\n"), "{out}");
    assert!(!out.contains("NaN"), "{out}");
    let (_, out, _) = run(folder.path(), &["eval", "x", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["undefined"]["auc"], "only one class among the targets");
    assert_eq!((report["auc"].clone(), report["accuracy"].is_number()), (Value::Null, true));
}

/// The sentence below the table, and what it settles, go by the metric that the runs were selected by.
#[test]
fn a_comparison_ranks_by_the_monitored_metric() {
    let folder = folder();
    let twins =
        format!("{DIGITS}\n[variant.small]\nmodel.hidden = [2, 2]\n[variant.large]\nmodel.hidden = [7, 7]\n");
    std::fs::write(folder.path().join("twins.toml"), twins).unwrap();
    for (metric, title) in [
        ("", "test error"),
        ("kappa", "test Cohen's kappa"),
        ("log-loss", "test log loss"),
        ("auc", "test ROC AUC"),
        ("loss", "test loss"),
    ] {
        let set = format!("train.monitor={metric}");
        let more = if metric.is_empty() { vec![] } else { vec!["--set", &set] };
        let args = [&["compare", "twins.toml", "-q", "--fresh", "--out", "twins"], &more[..]].concat();
        let (code, out, err) = run(folder.path(), &args);
        assert_eq!(code, 0, "{err}");
        let sentence = out.lines().find(|line| line.contains(" parameters; ")).expect("a closing sentence");
        assert!(sentence.contains(&format!(": {title} ")), "{metric}: {sentence}");
        let verdict =
            out.lines().find(|line| line.contains(" not settled ")).expect("one seed settles nothing");
        assert!(verdict.contains(&format!(", {title}")), "{metric}: {verdict}");
        // The net that is named first has the better number.
        let number = |name: &str| {
            let path = folder.path().join("twins").join(name).join("result.json");
            let result: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            result["test"][if metric.is_empty() { "error".into() } else { metric.replace('-', "_") }].as_f64()
        };
        let (small, large) = (number("small").unwrap(), number("large").unwrap());
        let higher = ["kappa", "auc"].contains(&metric);
        let best = if (small > large) == higher { "small" } else { "large" };
        assert!(small == large || sentence.starts_with(&format!("{best}: ")), "{small} {large} {sentence}");
    }
}

/// Samples count in every metric as in scikit-learn's `sample_weight`: by the array `weight`.
#[test]
fn weights_of_samples_count_in_the_metrics() {
    use matnet_data::format::npy::{write_f32, write_i64};
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let count = 60_usize;
    // Two classes that overlap: one number, and noise.
    let noisy = |at: usize| ((at * 37) % 11) as f32 / 5.5 - 1.0;
    let x: Vec<f32> = (0..count).flat_map(|at| [(at % 2) as f32 * 0.4 + noisy(at), noisy(at + 5)]).collect();
    let y: Vec<i64> = (0..count as i64).map(|at| at % 2).collect();
    let weights: Vec<f32> = (0..count).map(|at| [0.0, 0.25, 1.0, 7.0][(at / 2) % 4]).collect();
    let test: Vec<i64> = (30..count as i64).collect();
    let mut file =
        matnet_data::format::npz::NpzWriter::new(std::fs::File::create(folder.join("mine.npz")).unwrap());
    file.add("x", |mut out| write_f32(&mut out, &[count, 2, 1], &x)).unwrap();
    file.add("y", |mut out| write_i64(&mut out, &[count], &y)).unwrap();
    file.add("weight", |mut out| write_f32(&mut out, &[count], &weights)).unwrap();
    file.add("test", |mut out| write_i64(&mut out, &[test.len()], &test)).unwrap();
    file.finish().unwrap();
    let config = "[data]\nsource = 'mine.npz'\nsplit = { valid = 12 }\n[model]\nkind = 'feedforward'\nhidden = [3, 3]\n[train]\nepochs = 5\n";
    std::fs::write(folder.join("mine.toml"), config).unwrap();
    assert_eq!(run(folder, &["train", "mine.toml", "-q", "--out", "x"]).0, 0);
    let (code, lines, err) = run(folder, &["predict", "x", "-q", "--input", "mine.npz", "--output", "-"]);
    assert_eq!(code, 0, "{err}");
    let classes: Vec<i64> =
        lines.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let of_test = |weight: &dyn Fn(usize) -> f64| {
        let sum = |all: &mut dyn Iterator<Item = usize>| all.map(weight).sum::<f64>();
        sum(&mut (30..count).filter(|&at| classes[at] == y[at])) / sum(&mut (30..count))
    };
    let (code, out, err) = run(folder, &["eval", "x", "--json"]);
    assert_eq!(code, 0, "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    let result: Value =
        serde_json::from_slice(&std::fs::read(folder.join("x/result.json")).unwrap()).unwrap();
    let weighted = of_test(&|at| f64::from(weights[at]));
    assert!((found["accuracy"].as_f64().unwrap() - weighted).abs() < 1e-12, "{found}");
    assert!((found["error"].as_f64().unwrap() - (1.0 - weighted)).abs() < 1e-12, "{found}");
    assert_eq!(found["error"], result["test"]["error"]);
    assert!((weighted - of_test(&|_| 1.0)).abs() > 1e-3, "the weights make no difference here");
    // Counts stay counts.
    assert_eq!(found["per_class"][0]["support"], 15);
}

#[test]
fn losses_of_different_kinds_are_not_compared() {
    let folder = folder();
    let autoencoder = ["--set", "model.kind=autoencoder"];
    for (name, more) in [("classes", &[][..]), ("pictures", &autoencoder)] {
        let (code, _, err) =
            run(folder.path(), &[&["train", "digits.toml", "-q", "--out", name], more].concat());
        assert_eq!(code, 0, "{err}");
    }
    let (code, out, err) = run(folder.path(), &["compare", "classes", "pictures"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.ends_with("\nnot compared: the losses are of different kinds (cross-entropy, mse)\n"),
        "{out}"
    );
    assert!(!out.contains("parameters;"), "{out}");
}
