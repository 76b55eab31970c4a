//! `matnet reproduce`: every experiment from its files to its tables and figures, with as little training as possible.

mod common;

use std::path::Path;

use common::{kill_until_done, run};
use tempfile::TempDir;

/// An experiment small enough for a test.
const FACES: [&str; 8] =
    ["reproduce", "faces", "--set", "train.epochs=1", "--set", "data.limit=40", "--out", "x"];

fn text(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Files of a kind in a folder.
fn count(folder: &Path, end: &str) -> usize {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().ends_with(end)).count()
}

#[test]
fn all_experiments_leave_reports_tables_and_figures() {
    let folder = TempDir::new().unwrap();
    let args = ["reproduce", "all", "--set", "train.epochs=1", "--seeds", "1", "--out", "x"];
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("about ") && err.contains(" left") && err.contains("runs trained in"), "{err}");
    let place = folder.path().join("x");
    for (name, title, pngs, gifs, said) in [
        ("digits", "Digits: very deep nets", 24, 0, "| matrix 50×50 "),
        ("faces", "Faces: filling in what is hidden", 10, 0, "Loss in the test under the patch"),
        ("moving-mnist", "Moving MNIST: the frames that follow", 7, 2, "| vector LSTM 200 "),
        ("eeg", "EEG: alcoholic or control", 2, 0, "160,601"),
        ("citations", "Citations: column networks on graphs", 4, 0, "| multi-attention CLN "),
        ("memory", "Memory: programs and stories", 12, 0, "| where a thing was before "),
    ] {
        let results = text(&place, &format!("{name}/results.md"));
        assert!(out.contains(&results) && results.contains(title), "{name}");
        assert!(results.contains(said), "{name}: {results}");
        assert!(results.contains("The quick size ") && results.contains("; 1 seed)."), "{name}: {results}");
        assert!(!results.contains("not trained yet"), "{name}: {results}");
        let page = text(&place, &format!("{name}/report.html"));
        assert!(page.contains(title) && page.contains("<figcaption>"), "{name}");
        let figures = place.join(name).join("figures");
        assert_eq!((count(&figures, ".png"), count(&figures, ".gif")), (pngs, gifs), "{name}");
        for figure in results.lines().filter_map(|line| line.split("](").nth(1)?.strip_suffix(')')) {
            assert!(place.join(name).join(figure).is_file(), "{name}: {figure}");
        }
        let index = text(&place, "report.html");
        assert!(index.contains(&format!("href=\"{name}/report.html\"")) && index.contains(title), "{name}");
        assert!(text(&place, "results.md").contains(&format!("]({name}/report.html)")), "{name}");
    }
}

#[test]
fn a_finished_run_is_not_taken_for_one_with_other_settings() {
    let folder = TempDir::new().unwrap();
    let (code, first, err) = run(folder.path(), &FACES);
    assert_eq!(code, 0, "{err}");
    // Nothing is left to do, and nothing changes.
    let (code, again, err) = run(folder.path(), &FACES);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(first, again);
    let other = [&FACES[..], &["--set", "train.rate=0.002"]].concat();
    let (code, _, err) = run(folder.path(), &other);
    assert_eq!(code, 1);
    assert!(
        err.contains("a run with other settings stands here (train.rate = 0.001, now 0.002); --fresh trains"),
        "{err}"
    );
    let (code, fresh, err) = run(folder.path(), &[&other[..], &["--fresh"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_ne!(first, fresh);
    assert!(err.contains("24 runs trained in"), "{err}");
}

#[test]
fn killed_again_and_again_it_ends_in_the_same_words() {
    let folder = TempDir::new().unwrap();
    let (code, _, err) = run(folder.path(), &FACES);
    assert_eq!(code, 0, "{err}");
    let killed = [&FACES[..FACES.len() - 1], &["killed"]].concat();
    let kills = kill_until_done(folder.path(), &killed, 300);
    assert!(kills >= 1, "it was never killed");
    assert_eq!(text(folder.path(), "x/results.md"), text(folder.path(), "killed/results.md"));
}

#[test]
fn a_run_that_comes_to_nothing_is_named_and_the_others_go_on() {
    let folder = TempDir::new().unwrap();
    let args = [&FACES[..], &["--set", "train.rate=1e30", "--set", "train.epochs=3"]].concat();
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("24/24 ") && err.contains("came to nothing"), "{err}");
    assert!(out.contains("Came to nothing: x/layers-20/none/vector-50/seed-1: epoch "), "{out}");
    assert!(out.contains("not trained yet"), "{out}");
    let (code, again, _) = run(folder.path(), &args);
    assert_eq!((code, again), (0, out));
}

#[test]
fn only_what_is_asked_for_is_trained() {
    let folder = TempDir::new().unwrap();
    let (code, _, err) =
        run(folder.path(), &[&FACES[..], &["--only", "layers-20/none/matrix-20x20"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("1 run trained in"), "{err}");
    // A run with other settings that is not asked for is left alone.
    let other = ["--set", "train.rate=0.002", "--fresh", "--only", "layers-20/none/vector-50"];
    let (code, _, err) = run(folder.path(), &[&FACES[..], &other].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("layers-20/none/matrix-20x20/seed-1: a run with other settings"), "{err}");
    assert!(folder.path().join("x/layers-20/none/matrix-20x20/seed-1/result.json").exists());
    assert!(text(folder.path(), "x/results.md").contains("1 of 24 runs are done; the same command goes on."));
    let (code, _, err) = run(folder.path(), &[&FACES[..], &["--only", "layers"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("--only layers: no run stands there; tables are layers-20, layers-40"), "{err}");
    // What is there already counts.
    let (code, _, err) = run(folder.path(), &[&FACES[..], &["--only", "layers-20/none"]].concat());
    assert_eq!(code, 0, "{err}");
    let results = text(folder.path(), "x/results.md");
    assert!(results.contains(" of 24 runs are done") && !results.contains("\n1 of 24"), "{results}");
}

/// The loss under a patch is the same in the run's folder, in the table and from `eval`.
#[test]
fn what_a_patch_hides_is_measured_on_its_own() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run(folder.path(), &FACES).0, 0);
    let place = "x/layers-20/none/matrix-20x20/seed-1";
    let result: serde_json::Value =
        serde_json::from_str(&text(folder.path(), &format!("{place}/result.json"))).unwrap();
    let loss = result["under_patches"].as_f64().unwrap();
    assert!(loss > 0.0 && loss != result["test"]["loss"].as_f64().unwrap());
    let (code, out, err) = run(folder.path(), &["eval", place, "--json"]);
    assert_eq!(code, 0, "{err}");
    let eval: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(eval["under_patches"].as_f64(), Some(loss));
    assert!(text(folder.path(), "x/results.md").contains(&format!("{loss:.4}")));
    let (_, out, _) = run(folder.path(), &["eval", place]);
    assert!(out.contains(" under the patches"), "{out}");
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let folder = TempDir::new().unwrap();
    for (args, code, said) in [
        (
            &["reproduce", "digit"][..],
            2,
            "`digit`: no such experiment; there are digits, faces, moving-mnist",
        ),
        (
            &["reproduce", "eeg", "--set", "train.epoch=1"],
            2,
            "train.epoch: no such key; did you mean `epochs`?",
        ),
        (&["reproduce", "eeg", "--set", "train.epochs"], 2, "`train.epochs`: key=value expected"),
        (&["reproduce", "eeg", "--size", "large"], 2, "invalid value 'large'"),
        (
            &["reproduce", "faces", "--set", "data.patch=[50, 5]"],
            2,
            "data.patch: a patch of 50×5 does not fit into 25×25",
        ),
        (
            &["reproduce", "moving-mnist", "--set", "data.patch=[5, 5]"],
            2,
            "data.patch: these data are sequences; single matrices can carry a patch",
        ),
        (&["reproduce", "faces", "--size", "paper", "--cache", "none"], 1, "matnet data fetch frey-face"),
    ] {
        let (found, out, err) = run(folder.path(), args);
        assert_eq!((found, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(!folder.path().join("runs").exists(), "{args:?} made a folder");
    }
}
