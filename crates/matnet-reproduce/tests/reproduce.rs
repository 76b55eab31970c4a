//! `matnet-reproduce`: every experiment from its files to its tables and figures, with as little training as possible.

mod common;

use std::path::Path;

use burn::tensor::Device;
use common::{kill_at_least, process::kill_some_of_eight, reproduce, run};
use matnet_data::catalog::Cache;
use matnet_train::task::EvalOptions;
use matnet_train::{Run, Split};
use tempfile::TempDir;

/// An experiment small enough for a test.
const FACES: [&str; 7] = ["faces", "--set", "train.epochs=1", "--set", "data.limit=40", "--out", "x"];

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
    let args = ["all", "--set", "train.epochs=1", "--seeds", "1", "--out", "x"];
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("about ") && err.contains(" left") && err.contains("runs trained in"), "{err}");
    let place = folder.path().join("x");
    for (name, title, pngs, gifs, said) in [
        ("digits", "Digits: very deep nets", 24, 0, "| matrix 50×50 "),
        (
            "faces",
            "Faces: reconstructing occluded images",
            10,
            0,
            "Test loss on the occluded pixels, lower is better; from 1 seed.",
        ),
        ("moving-mnist", "Moving MNIST: predicting the next frames", 7, 2, "| vector LSTM 200 "),
        ("eeg", "EEG: alcoholic or control", 2, 0, "160,601"),
        ("citations", "Citations: column networks on graphs", 4, 0, "| multi-attention CLN "),
        ("memory", "Memory: algorithms and stories", 12, 0, "| where an object was before "),
    ] {
        let results = text(&place, &format!("{name}/results.md"));
        assert!(out.contains(&results) && results.contains(title), "{name}");
        assert!(results.contains(said), "{name}: {results}");
        assert!(results.contains("The quick size ") && results.contains("; 1 seed)."), "{name}: {results}");
        assert!(!results.contains("not trained yet"), "{name}: {results}");
        assert!(!results.contains("**"), "{name}: one seed settles nothing: {results}");
        let page = text(&place, &format!("{name}/report.html"));
        assert!(page.contains(title) && page.contains("<figcaption>"), "{name}");
        let figures = place.join(name).join("figures");
        assert_eq!((count(&figures, ".png"), count(&figures, ".gif")), (pngs, gifs), "{name}");
        for figure in results.lines().filter_map(|line| line.split("](").nth(1)?.strip_suffix(')')) {
            assert!(place.join(name).join(figure).is_file(), "{name}: {figure}");
        }
        let index = text(&place, "report.html");
        assert!(index.contains(&format!("href=\"{name}/report.html\"")) && index.contains(title), "{name}");
        let results = text(&place, "results.md");
        assert!(results.contains(&format!("]({name}/report.html)")), "{name}");
        let figure = results.split(&format!("]({name}/figures/")).nth(1).unwrap();
        assert!(place.join(name).join("figures").join(figure.split(')').next().unwrap()).is_file(), "{name}");
        assert!(!results.contains("runs are finished"), "{name}");
    }
}

#[test]
fn the_page_about_all_tells_what_is_missing() {
    let folder = TempDir::new().unwrap();
    let only = ["--only", "layers-20/none/vector-50", "--only", "layers-20/none/vector-200"];
    let set = ["--set", "train.epochs=3", "--set", "train.learning_rate=1e30", "--out", "x"];
    let (code, _, err) = run(folder.path(), &[&["all"][..], &only, &set].concat());
    assert_eq!(code, 0, "{err}");
    for page in ["results.md", "report.html"] {
        let page = text(folder.path(), &format!("x/{page}"));
        assert!(
            page.contains("2 of 24 runs are finished; the command without --only trains the others"),
            "{page}"
        );
        assert!(
            page.contains("Diverged: x/faces/layers-20/none/vector-50/seed-1: training diverged in epoch"),
            "{page}"
        );
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
    // A process that was killed between the result of a run and its report has left the one without the other.
    let mut folders = vec![folder.path().join("x")];
    let mut report = None;
    while let Some(one) = folders.pop().filter(|_| report.is_none()) {
        report =
            Some(one.join("report.html")).filter(|path| one.join("result.json").exists() && path.exists());
        folders.extend(
            std::fs::read_dir(one).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()),
        );
    }
    let report = report.expect("a run with a report");
    std::fs::remove_file(&report).unwrap();
    let (code, again, err) = run(folder.path(), &FACES);
    assert_eq!((code, &again), (0, &first), "{err}");
    assert!(report.exists(), "{}", report.display());
    let other = [&FACES[..], &["--set", "train.learning_rate=0.002"]].concat();
    let (code, _, err) = run(folder.path(), &other);
    assert_eq!(code, 1);
    assert!(
        err.contains(
            "a run with other settings is here (train.learning_rate = 0.001, now 0.002); --fresh trains"
        ),
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
    kill_at_least(1, folder.path(), &killed, "killed", 300);
    assert_eq!(text(folder.path(), "x/results.md"), text(folder.path(), "killed/results.md"));
}

#[test]
fn several_processes_train_it_together() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run(folder.path(), &FACES).0, 0);
    let shared = [&FACES[..FACES.len() - 1], &["shared", "-q"]].concat();
    kill_some_of_eight(&|| reproduce(folder.path(), &shared), &folder.path().join("shared"));
    // If the last of the others ended before a kill, a run is left: another process takes it up.
    let (code, out, err) = run(folder.path(), &[&shared[..], &["--part", "1/1"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("part 1/1: ") && out.contains(" trained; the same command without"), "{out}");
    assert!(!folder.path().join("shared/results.md").exists(), "that is for the command without --part");
    let (code, _, err) = run(folder.path(), &[&FACES[..FACES.len() - 1], &["shared"]].concat());
    assert!(code == 0 && !err.contains("trained in"), "nothing is left to train: {err}");
    assert_eq!(text(folder.path(), "x/results.md"), text(folder.path(), "shared/results.md"));
    assert_eq!(text(folder.path(), "x/seeds.csv"), text(folder.path(), "shared/seeds.csv"));
}

#[test]
fn a_run_that_diverges_is_named_and_the_others_are_trained() {
    let folder = TempDir::new().unwrap();
    let args = [&FACES[..], &["--set", "train.learning_rate=1e30", "--set", "train.epochs=3"]].concat();
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("24/24 ") && err.contains("seed-1: diverged, about "), "{err}");
    assert!(
        out.contains("Diverged: x/layers-20/none/vector-50/seed-1: training diverged in epoch "),
        "{out}"
    );
    // That is a result too.
    assert!(out.contains("not settled (both diverged; 1 seed)"), "{out}");
    assert!(!out.contains("not trained yet"), "{out}");
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
    let other = ["--set", "train.learning_rate=0.002", "--fresh", "--only", "layers-20/none/vector-50"];
    let (code, _, err) = run(folder.path(), &[&FACES[..], &other].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("layers-20/none/matrix-20x20/seed-1: a run with other settings"), "{err}");
    assert!(folder.path().join("x/layers-20/none/matrix-20x20/seed-1/result.json").exists());
    let results = text(folder.path(), "x/results.md");
    let to_come = "1 of 24 runs are finished; the command without --only trains the others.";
    assert!(results.contains(to_come), "{results}");
    for (only, said) in [
        ("layers", "`layers` is no table; there are layers-20, layers-40"),
        ("layers-20/non", "`non` is no column of layers-20; there are none, l1, l2, glorot"),
        (
            "layers-20/none/matrix",
            "`matrix` is no net of layers-20; there are vector-50, vector-200, matrix-20x20",
        ),
        ("layers-20/none/vector-50/seed-2", "`seed-2` is no seed; there are seed-1"),
        ("layers-20/none/vector-50/seed-1/x", "a part of a run cannot be selected"),
        ("", "a value is required"),
    ] {
        // One that is right does not make up for one that is not.
        let args = [&FACES[..], &["--only", "layers-20/l1", "--only", only]].concat();
        let (code, _, err) = run(folder.path(), &args);
        assert_eq!(code, 2, "{only}: {err}");
        assert!(
            err.contains(said) && (only.is_empty() || err.contains(&format!("--only {only}: "))),
            "{err}"
        );
    }
    assert!(!folder.path().join("x/layers-20/l1").exists());
    // What is there already counts.
    let (code, _, err) = run(folder.path(), &[&FACES[..], &["--only", "layers-20/none"]].concat());
    assert_eq!(code, 0, "{err}");
    let results = text(folder.path(), "x/results.md");
    assert!(results.contains(" of 24 runs are finished") && !results.contains("\n1 of 24"), "{results}");
}

/// Four runs, of which three have a part in a figure.
const FEW: [&str; 9] = {
    let [a, b, c, d, e, f, g] = FACES;
    [a, b, c, d, e, f, g, "--only", "layers-20/none"]
};

#[test]
fn a_damaged_run_is_named_and_fresh_trains_it_again() {
    let folder = TempDir::new().unwrap();
    let (code, whole, err) = run(folder.path(), &FEW);
    assert_eq!(code, 0, "{err}");
    let place = folder.path().join("x/layers-20/none/matrix-20x20/seed-1");
    let cut = |file: &str| {
        let bytes = std::fs::read(place.join(file)).unwrap();
        std::fs::write(place.join(file), &bytes[..bytes.len() / 2]).unwrap();
    };
    let remove = |file: &str| std::fs::remove_file(place.join(file)).unwrap();
    // As if it had been killed between the result and the report.
    remove("report.html");
    let (code, out, err) = run(folder.path(), &FEW);
    assert_eq!((code, out.as_str()), (0, whole.as_str()), "{err}");
    assert!(place.join("report.html").exists());
    let damages: [(&dyn Fn(), &str, &str); 4] = [
        (&|| cut("result.json"), "result.json: ", "3 of 24 runs are finished; the command without --only"),
        (&|| cut("best.safetensors"), "best.safetensors: damaged", "4 of 24 runs"),
        (&|| remove("best.safetensors"), "best.safetensors: is missing", "4 of 24 runs"),
        (
            &|| {
                remove("result.json");
                cut("last.ckpt");
            },
            "last.ckpt: damaged",
            "3 of 24 runs",
        ),
    ];
    for (damage, said, done) in damages {
        damage();
        let (code, out, err) = run(folder.path(), &FEW);
        let named = format!("x/layers-20/none/matrix-20x20/seed-1/{said}");
        assert_eq!(code, 1, "{said}: {err}");
        assert!(err.contains(&named) && err.contains("--fresh") && !err.contains("matnet train"), "{err}");
        // The tables of all others are there, and tell what is missing.
        assert!(out.contains(&format!("Damaged: {named}")) && out.contains(done), "{said}: {out}");
        assert!(out.contains("layers-20-bars-loss.png"), "{said}: {out}");
        let (code, out, err) = run(folder.path(), &[&FEW[..], &["--fresh"]].concat());
        assert_eq!(code, 0, "{said}: {err}");
        assert!(err.contains("1 run trained in"), "{said}: {err}");
        assert_eq!(out, whole, "{said}");
    }
    // A damaged checkpoint is no loss if the one before it is valid.
    std::fs::copy(place.join("last.ckpt"), place.join("previous.ckpt")).unwrap();
    remove("result.json");
    cut("last.ckpt");
    let (code, out, err) = run(folder.path(), &FEW);
    assert_eq!((code, out.as_str()), (0, whole.as_str()), "{err}");
    // Whose result it is cannot be known.
    remove("config.toml");
    let (code, _, err) = run(folder.path(), &FEW);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("config.toml: is missing, damaged or was edited"), "{err}");
    let (code, out, err) = run(folder.path(), &[&FEW[..], &["--fresh"]].concat());
    assert_eq!((code, out), (0, whole), "{err}");
}

#[test]
fn the_numbers_of_an_earlier_report_stand_in_for_its_runs() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run(folder.path(), &FEW).0, 0);
    let (csv, first) = (text(folder.path(), "x/seeds.csv"), text(folder.path(), "x/results.md"));
    let earlier = |csv: &'static str| [&FACES[..6], &["y", "--earlier", csv]].concat();
    // What is in the file is not trained again, also by a process among several.
    let one = [&earlier("x/seeds.csv")[..], &["--only", "layers-20/none"]].concat();
    let (code, out, err) = run(folder.path(), &[&one[..], &["--part", "1/2"]].concat());
    assert!(code == 0 && out.starts_with("part 1/2: ") && !folder.path().join("y").exists(), "{out} {err}");
    let (code, out, err) = run(folder.path(), &one);
    assert!(code == 0 && !err.contains("trained in"), "{err}");
    assert_eq!(text(folder.path(), "y/seeds.csv"), csv);
    let note =
        "4 of 24 runs were not trained here: their numbers are those of an earlier report (x/seeds.csv), and";
    assert!(out.contains(note) && !first.contains(note), "{out}");
    let tables =
        |text: &str| text.lines().filter(|line| line.starts_with(['|', '-'])).collect::<Vec<_>>().join("\n");
    assert_eq!(tables(&text(folder.path(), "y/results.md")), tables(&first));
    // A figure of numbers is drawn, one that needs a net is not.
    assert!(out.contains("layers-20-bars-loss.png") && !out.contains("reconstructions.png"), "{out}");
    // The others are trained; then the report has both.
    let two = [&earlier("x/seeds.csv")[..], &["--only", "layers-20/l1/vector-50"]].concat();
    let (code, out, err) = run(folder.path(), &two);
    assert!(code == 0 && err.contains("1 run trained in") && out.contains(note), "{out} {err}");
    assert_eq!(text(folder.path(), "y/seeds.csv").lines().count(), csv.lines().count() + 1);
    std::fs::write(folder.path().join("other.csv"), "epoch,split\n").unwrap();
    for (args, code, said) in [
        (
            earlier("other.csv"),
            1,
            "other.csv: a seeds.csv expected, whose first line is table,column,row,net,seed",
        ),
        (earlier("missing.csv"), 1, "missing.csv: "),
        (vec!["all", "--earlier", "x/seeds.csv"], 2, "--earlier: the numbers of one experiment"),
    ] {
        let (found, out, err) = run(folder.path(), &args);
        assert!(found == code && out.is_empty() && err.contains(said), "{found} {out} {err}");
    }
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("x");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("results.md"), "# My thesis\n").unwrap();
    let refused = |args: &[&str], said: &str| {
        let (code, out, err) = run(folder.path(), args);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        assert!(err.starts_with("error: ") && err.contains(said) && err.lines().count() == 1, "{err}");
    };
    refused(&FEW, "x/results.md: was not written by this experiment; --out names another folder");
    refused(&["all", "--out", "x"], "x/results.md: was not written by this experiment");
    assert_eq!(text(&place, "results.md"), "# My thesis\n");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
    std::fs::remove_file(place.join("results.md")).unwrap();
    assert_eq!(run(folder.path(), &FEW).0, 0);
    let before = text(&place, "results.md");
    let digits = ["digits", "--set", "train.epochs=1", "--out", "x"];
    refused(
        &digits,
        "x: holds the results of `Faces: reconstructing occluded images`; --out names another folder",
    );
    refused(&["all", "--out", "x"], "x: holds the results of `Faces");
    assert_eq!(text(&place, "results.md"), before);
    // What an earlier version has left is known by its runs.
    std::fs::write(place.join("results.md"), "# Faces, as they once were called\n").unwrap();
    assert_eq!(run(folder.path(), &FEW).0, 0);
    assert_eq!(text(&place, "results.md"), before);
    std::fs::remove_dir_all(place.join("figures")).unwrap();
    std::fs::write(place.join("figures"), "").unwrap();
    refused(&FEW, "x/figures: is a file");
    refused(&[&FEW[..6], &["x/report.html"]].concat(), "x/report.html: is a file; a folder expected");
}

/// Starts a command and interrupts it once a line of its messages has this in it. Gives the exit code.
#[cfg(unix)]
fn interrupt_after(folder: &Path, args: &[&str], said: &str) -> Option<i32> {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let command = &mut common::reproduce(folder, args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut seen = String::new();
    for line in lines {
        let met = line.contains(said);
        seen += &format!("{line}\n");
        if met {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
    }
    assert!(seen.contains(said), "{seen}");
    child.wait().unwrap().code()
}

#[cfg(unix)]
#[test]
fn a_report_keeps_its_figures_while_more_is_trained() {
    let folder = TempDir::new().unwrap();
    let (code, whole, err) = run(folder.path(), &FEW);
    assert_eq!(code, 0, "{err}");
    let reconstructions = "](figures/layers-20-none-reconstructions.png)";
    assert!(whole.contains(reconstructions) && !whole.contains("Not drawn from the newest runs"), "{whole}");
    let code = interrupt_after(folder.path(), &FACES, ", about ");
    assert_eq!(code, Some(130));
    let (results, page) = (text(folder.path(), "x/results.md"), text(folder.path(), "x/report.html"));
    assert!(results.contains(" of 24 runs are finished; the same command resumes."), "{results}");
    assert!(!results.contains("\n4 of 24"), "{results}");
    // A chart is of the runs there are; what takes longer is the old one, and said to be.
    let bars = results.find("](figures/layers-20-bars-loss.png)").unwrap();
    let earlier = results.find("Not drawn from the newest runs").unwrap();
    assert!(bars < earlier && earlier < results.find(reconstructions).unwrap(), "{results}");
    assert!(page.contains("data:image/png;base64,") && page.contains("Not drawn from the newest runs"));
    let (code, out, err) = run(folder.path(), &FEW);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(reconstructions) && !out.contains("Not drawn from the newest runs"), "{out}");
}

#[cfg(unix)]
#[test]
fn drawing_can_be_interrupted() {
    let folder = TempDir::new().unwrap();
    let args = ["citations", "--set", "train.epochs=1", "--seeds", "1", "--out", "x"];
    // The last run is done; what comes now is t-SNE.
    assert_eq!(interrupt_after(folder.path(), &args, "10/10 "), Some(130));
    for place in
        ["x", "x/figures"].map(|place| folder.path().join(place)).iter().filter(|place| place.is_dir())
    {
        let names = std::fs::read_dir(place).unwrap().flatten().map(|entry| entry.file_name());
        let half: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
        assert!(half.is_empty(), "{half:?}");
    }
    assert!(!folder.path().join("x/figures/random-citations-attention-embedding-1.png").exists());
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!((code, err.as_str()), (0, ""), "all was trained");
    assert!(out.contains("random-citations-attention-embedding-1.png"), "{out}");
}

/// The loss on occluded pixels is the same in the result, in the table and from an evaluation.
#[test]
fn the_occluded_loss_is_a_metric_of_its_own() {
    let folder = TempDir::new().unwrap();
    assert_eq!(run(folder.path(), &FACES).0, 0);
    let place = "x/layers-20/none/matrix-20x20/seed-1";
    let result: serde_json::Value =
        serde_json::from_str(&text(folder.path(), &format!("{place}/result.json"))).unwrap();
    let loss = result["occluded_loss"].as_f64().unwrap();
    assert!(loss > 0.0 && loss != result["test"]["loss"].as_f64().unwrap());
    let predictor = Run::at(folder.path().join(place)).load("best.safetensors", &Device::flex()).unwrap();
    let model = predictor.with_run_data(&Cache::new("not needed")).unwrap();
    let evaluation = model.evaluate(Split::Test, &EvalOptions::default()).unwrap();
    assert_eq!(evaluation.metrics["occluded_loss"], loss);
    assert!(text(folder.path(), "x/results.md").contains(&format!("{loss:.4}")));
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let folder = TempDir::new().unwrap();
    for (args, code, said) in [
        (&["digit"][..], 2, "`digit`: no such experiment; there are digits, faces, moving-mnist"),
        (&["eeg", "--set", "train.epoch=1"], 2, "train.epoch: no such key; did you mean `epochs`?"),
        (&["eeg", "--set", "train.epochs"], 2, "`train.epochs`: key=value expected"),
        (&["eeg", "--size", "large"], 2, "invalid value 'large'"),
        (
            &["faces", "--set", "data.occlusion=[50, 5]"],
            2,
            "data.occlusion: an occlusion of 50×5 does not fit into 25×25",
        ),
        (
            &["moving-mnist", "--set", "data.occlusion=[5, 5]"],
            2,
            "these data are sequences; only single matrices can be occluded",
        ),
        (&["faces", "--size", "paper", "--cache", "none"], 1, "matnet data fetch frey-face"),
    ] {
        let (found, out, err) = run(folder.path(), args);
        assert_eq!((found, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(!folder.path().join("runs").exists(), "{args:?} made a folder");
    }
}
