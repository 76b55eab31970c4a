//! `matnet tune`: the same choice whatever happens, by the validation split alone.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{files_below, folder_with, kill_at_least, matnet, ok, run};
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'digits'
limit = 300
split = { valid = 60, test = 60 }
[model]
kind = 'feedforward'
hidden = [8, 8]
[train]
epochs = 9
batch_size = 20
log_test = true
[search]
model.hidden = [[4, 4], [8, 8], [12, 12]]
'model.depth' = { min = 1, max = 3 }
train.learning_rate = { min = 1e-4, max = 3e-1, log = true }
";

/// The rows of trials.csv, by column.
fn trials(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(folder.join("trials.csv")).unwrap();
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                other => cells.last_mut().unwrap().push(other),
            }
        }
        cells
    };
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap());
    lines.map(|line| header.iter().cloned().zip(cells(line)).collect()).collect()
}

#[test]
fn a_search_killed_again_and_again_makes_the_same_choice() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["tune", "digits.toml", "--trials", "7", "--seed", "3"];
    let (out, err) = ok(&folder, &[&args[..], &["--out", "whole"]].concat());
    assert!(err.contains("rung 1 of 3: 7 trials up to 1 epoch\n"), "{err}");
    assert!(err.contains("rung 3 of 3: 1 trial up to 9 epochs\n"), "{err}");
    assert!(err.contains("7/7: trial 7, seed 1: valid error "), "{err}");
    assert!(out.contains(" is the best: validation error ") && out.contains("whole/best.toml\n"), "{out}");
    let killed = [&args[..], &["--out", "killed", "-q", "--save-every", "0"]].concat();
    kill_at_least(3, &folder, &killed, "killed", 60);
    assert!(files_below(&folder.join("whole")) == files_below(&folder.join("killed")));
    // Done: the same command only says it again. On other threads it is the same, too.
    let (again, err) = ok(&folder, &[&args[..], &["--out", "whole"]].concat());
    assert_eq!((again, err.matches("trial 7").count()), (out, 0));
    ok(&folder, &[&args[..], &["--out", "one", "-q", "--threads", "1"]].concat());
    assert!(files_below(&folder.join("whole")) == files_below(&folder.join("one")));
    // No weights are left, which would fill the disk; the report has the picture.
    assert!(
        files_below(&folder.join("whole"))
            .keys()
            .all(|path| path.extension().is_none_or(|of| of != "safetensors"))
    );
    let report = std::fs::read_to_string(folder.join("whole/report.html")).unwrap();
    assert!(report.contains("train.learning_rate") && report.contains("<svg"), "{report}");
    // Another search in this folder is refused; --fresh starts it.
    let other = ["tune", "digits.toml", "--trials", "4", "--seed", "3", "--out", "one", "-q"];
    let (code, _, err) = run(&folder, &other);
    assert_eq!(code, 1);
    assert!(err.contains("one: the folder holds another search (tune.trials = 7, now 4); --out "), "{err}");
    ok(&folder, &[&other[..], &["--fresh"]].concat());
    assert_eq!(trials(&folder.join("one")).len(), 4);
}

#[test]
fn the_best_third_goes_on_and_nobody_looks_at_the_test_split() {
    let (_temporary, folder) = folder_with(CONFIG);
    ok(&folder, &["tune", "digits.toml", "--trials", "9", "--out", "t", "-q"]);
    let all = trials(&folder.join("t"));
    assert_eq!(all.len(), 9);
    let number = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<f64>().unwrap_or(f64::INFINITY);
    let reached = |rungs: &str| all.iter().filter(|row| row["rungs"] == rungs).count();
    assert_eq!((reached("1"), reached("2"), reached("3")), (6, 2, 1));
    assert!(
        all.iter().all(|row| row["epochs"] == ["1", "3", "9"][row["rungs"].parse::<usize>().unwrap() - 1])
    );
    // After the first rung the three best went on: their first epoch was at least as good as that of the others.
    let first = |row: &BTreeMap<String, String>| {
        let run = format!("t/trial-{:03}/seed-1/metrics.csv", row["trial"].parse::<usize>().unwrap());
        let text = std::fs::read_to_string(folder.join(run)).unwrap();
        let line = text.lines().find(|line| line.starts_with("1,valid,")).unwrap().to_owned();
        let cells: Vec<f64> = line.split(',').skip(2).take(2).map(|cell| cell.parse().unwrap()).collect();
        (cells[1], cells[0])
    };
    let went_on = all.iter().filter(|row| row["rungs"] != "1").map(first);
    let stopped = all.iter().filter(|row| row["rungs"] == "1").map(first);
    let worst = went_on.reduce(|a, b| if b > a { b } else { a }).unwrap();
    assert!(stopped.into_iter().all(|other| other >= worst));
    let best = all.iter().find(|row| row["end"] == "best").unwrap();
    assert_eq!(best["rungs"], "3");
    assert!(number(best, "valid") < 0.5, "{best:?}");
    // The config has log_test, and yet nothing in the folder is a score of the test split.
    for (path, bytes) in files_below(&folder.join("t")) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(",test,") && !path.ends_with("result.json"), "{}", path.display());
    }
    // What was found is a config: with another seed than the one it was tuned on.
    let text = std::fs::read_to_string(folder.join("t/best.toml")).unwrap();
    assert!(
        text.starts_with(&format!(
            "# Found by `matnet tune`.\n# trial {} of 9, validation error ",
            best["trial"]
        )),
        "{text}"
    );
    let config: toml::Table = text.parse().unwrap();
    assert_eq!(
        config["tuned"].to_string().replace('\n', " "),
        "{ seeds = [1], trials = 9, search_seed = 1 }"
    );
    assert_eq!(config["train"]["seed"].as_integer(), Some(2));
    assert_eq!(config["model"]["hidden"].to_string(), best["model.hidden"]);
    assert_eq!(config["train"]["learning_rate"].to_string(), best["train.learning_rate"]);
    assert!(!config.contains_key("search"));
    ok(&folder, &["train", "t/best.toml", "--out", "result", "-q"]);
    for args in [
        &["train", "t/best.toml", "--set", "train.seed=1"][..],
        &["compare", "t/best.toml", "--set", "train.seed=0", "--seeds", "3"],
    ] {
        let (code, _, err) = run(&folder, args);
        let said = "train.seed: 1; the config was tuned on seeds 1 ([tuned]); a result needs other seeds";
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn every_variant_has_its_search() {
    let variants = "
seeds = [101, 102]
[variant.matrix]
[variant.vector]
model.form = 'vector'
model.hidden = [16]
search.model.hidden = [[8], [16]]
";
    let short = CONFIG.replace("epochs = 9", "epochs = 3").replace("log_test = true", "");
    let (_temporary, folder) = folder_with(&format!("{short}{variants}"));
    let (out, _) = ok(&folder, &["tune", "digits.toml", "--trials", "5", "--out", "t", "-q"]);
    assert!(out.contains("matrix: trial ") && out.contains("vector: trial "), "{out}");
    let all = trials(&folder.join("t"));
    let of = |net: &str| all.iter().filter(|row| row["net"] == net).cloned().collect::<Vec<_>>();
    let (matrix, vector) = (of("matrix"), of("vector"));
    assert_eq!((matrix.len(), vector.len()), (5, 5));
    // What both search has the same values; what only one has is its own.
    for (a, b) in matrix.iter().zip(&vector) {
        assert_eq!(
            (&a["model.depth"], &a["train.learning_rate"]),
            (&b["model.depth"], &b["train.learning_rate"])
        );
        assert!(a["model.hidden"].matches(',').count() == 1 && !b["model.hidden"].contains(','));
    }
    assert!(folder.join("t/vector/trial-001/seed-102/trial.json").exists());
    let config: toml::Table = std::fs::read_to_string(folder.join("t/best.toml")).unwrap().parse().unwrap();
    assert_eq!(config["tuned"]["seeds"].to_string(), "[101, 102]");
    assert!(config["variant"]["vector"]["model"].get("depth").is_some());
    assert!(config["variant"]["vector"].get("search").is_none());
    // One config for the comparison, and one for each net.
    let (out, _) = ok(&folder, &["compare", "t/best.toml", "--seeds", "2", "-q", "--out", "c"]);
    assert!(out.contains("| matrix |") && out.contains("| vector |"), "{out}");
    ok(&folder, &["train", "t/best-vector.toml", "-q", "--out", "v"]);
    let (code, _, err) =
        run(&folder, &["compare", "t/best.toml", "--set", "train.seed=100", "--seeds", "2", "-q"]);
    assert_eq!(code, 2);
    assert!(err.contains("train.seed: 101; the config was tuned on seeds 101, 102"), "{err}");
}

#[test]
fn trials_that_diverge_are_the_worst() {
    let rates = "train.learning_rate = [1e-3, 1e30]\nmodel.depth = [1, 2]\n";
    let (head, _) = CONFIG.split_once("model.hidden = [[4").unwrap();
    let sgd = head.replace("batch_size = 20", "batch_size = 20\noptimizer = 'sgd'");
    let (_temporary, folder) = folder_with(&format!("{sgd}{rates}"));
    let (_, err) = ok(&folder, &["tune", "digits.toml", "--trials", "9", "--out", "t"]);
    assert!(
        err.contains("4 trials only: there are no more combinations\n") && err.contains(": diverged\n"),
        "{err}"
    );
    let all = trials(&folder.join("t"));
    for row in &all {
        assert_eq!(row["end"] == "diverged", row["train.learning_rate"] != "0.001", "{row:?}");
        assert_eq!(row["valid"].is_empty(), row["end"] == "diverged");
    }
    let (code, _, err) = run(
        &folder,
        &["tune", "digits.toml", "--set", "search.train.learning_rate=[1e30]", "--out", "u", "-q"],
    );
    assert_eq!(code, 1);
    assert!(err.contains("all 2 trials diverged"), "{err}");
}

#[cfg(unix)]
#[test]
fn control_c_saves_and_exits_130() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["tune", "digits.toml", "--out", "t", "-q", "--set", "train.epochs=100000"];
    let mut child = matnet(&folder, &args).stderr(Stdio::piped()).spawn().unwrap();
    while !folder.join("t/trial-001/seed-1/config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(folder.join("t/trial-001/seed-1/last.ckpt").exists());
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder_with(CONFIG);
    std::fs::write(folder.join("none.toml"), CONFIG.split_once("[search]").unwrap().0).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["none.toml"], "[search] is missing: it lists the keys to try"),
        (
            &["digits.toml", "--set", "search.model.hiden=[1]"],
            "search: model.hiden: no such key; did you mean `hidden`?",
        ),
        (
            &["digits.toml", "--set", "search.train.optimizer=[\"adam\", \"adamm\"]"],
            "search: train.optimizer: adamm; did you mean `adam`?",
        ),
        (
            &["digits.toml", "--set", "search.model.dropout={min = 0.0, max = 1.5}"],
            "search: model.dropout: 1.5; must be",
        ),
        (
            &["digits.toml", "--set", "search.train.batch_size={min = 1.5, max = 3.5}"],
            "; a whole number expected",
        ),
        (
            &["digits.toml", "--set", "search.train.momentum=[0.5, 0.9]"],
            "search: train.momentum: 0.5; only sgd uses it",
        ),
        (
            &["digits.toml", "--set", "search.train.l2=5"],
            "search.\"train.l2\": 5; a list of choices, or a range",
        ),
        (
            &["digits.toml", "--set", "search.train.epochs=[1, 2]"],
            "search.\"train.epochs\": cannot be searched",
        ),
        (
            &["digits.toml", "--set", "data.split.valid=0"],
            "data.split.valid: is empty; a search judges by the validation split",
        ),
        (&["digits.toml", "--trials", "0"], "invalid value '0' for '--trials <N>'"),
    ];
    for (args, said) in cases {
        let (code, out, err) = run(&folder, &[&["tune"][..], args].concat());
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(out.is_empty() && !folder.join("runs").exists(), "{args:?}");
    }
}

/// Every file and every command of the page, in its order.
#[test]
fn the_page_about_it_works_as_it_stands() {
    let page = include_str!("../../../docs/tuning.md");
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let (mut files, mut commands) = (0, 0);
    for block in page.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap();
        if kind == "toml" {
            let name = text.lines().next().unwrap().trim_start_matches("# ");
            std::fs::write(folder.join(name), text).unwrap();
            files += 1;
        }
        for line in text.lines().filter(|line| line.starts_with("matnet ")) {
            let words: Vec<String> = line.replace('\'', "").split(' ').skip(1).map(str::to_owned).collect();
            ok(folder, &words.iter().map(String::as_str).collect::<Vec<_>>());
            commands += 1;
        }
    }
    assert_eq!((files, commands), (2, 7));
    assert!(folder.join("runs/folds/fold-4/result.json").exists());
    assert!(folder.join("runs/two/results.csv").exists());
}
