//! `matnet eval` and `matnet predict`: the scores of the run, the same bytes for every batch size and file format, clear errors.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use assert_cmd::cargo::cargo_bin;
use matnet_data::catalog::{self, Cache, LoadOptions};
use matnet_data::format::{npy, npz};
use matnet_data::{Array, Samples, local};
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'digits'
limit = 300
scale = 'standardize'
permute = true
split = { valid = 60, test = 80 }
[model]
kind = 'feedforward'
hidden = [6, 6]
depth = 2
[train]
epochs = 2
batch_size = 20
learning_rate = 0.01
";

/// A folder with a trained run, `run`, and its config, `digits.toml`; no test changes it.
fn trained() -> &'static Path {
    static TRAINED: OnceLock<TempDir> = OnceLock::new();
    let folder = TRAINED.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("digits.toml"), CONFIG).unwrap();
        let (code, _, err) = matnet(folder.path(), &["train", "digits.toml", "--out", "run", "--quiet"], &[]);
        assert_eq!(code, 0, "{err}");
        folder
    });
    folder.path()
}

/// Exit code, standard output, standard error.
fn matnet(folder: &Path, args: &[&str], paths: &[&Path]) -> (i32, String, String) {
    let mut command = Command::new(cargo_bin!("matnet"));
    let output = command.current_dir(folder).args(args).args(paths).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// A copy of the run in a folder of its own, to be damaged.
fn copy() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let names =
        ["config.toml", "split.json", "metrics.csv", "best.safetensors", "last.safetensors", "result.json"];
    for name in names {
        std::fs::copy(trained().join("run").join(name), run.join(name)).unwrap();
    }
    (folder, run)
}

/// The dataset `digits`.
fn samples() -> Samples {
    let cache = Cache::standard().unwrap();
    catalog::load("digits", &cache, LoadOptions::default()).unwrap().into_samples().unwrap()
}

/// The first digits.
fn digits(count: usize) -> Array {
    let digits = samples().inputs;
    let size = digits.sample(0).len();
    Array::new([count, 28, 28], digits.data()[..count * size].to_vec()).unwrap()
}

fn save(path: &Path, array: &Array) {
    let mut bytes = Vec::new();
    npy::write_f32(&mut bytes, array.shape(), array.data()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Predicts from one file into another, both in a folder.
fn predict(folder: &Path, input: &str, output: &str, more: &[&str]) -> (i32, String, String) {
    let run = trained().join("run");
    let args = [&["predict", "--quiet", "--input", input, "--output", output], more].concat();
    matnet(folder, &args, &[&run])
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The lines of a JSON object that hold a score.
fn score(json: &str) -> Vec<&str> {
    let wanted =
        ["loss", "error", "examples", "accuracy", "f1", "auc", "kappa"].map(|key| format!("\"{key}\""));
    let lines = json.lines().map(|line| line.trim().trim_end_matches(','));
    lines.filter(|line| wanted.iter().any(|name| line.starts_with(name.as_str()))).take(7).collect()
}

#[test]
fn eval_gives_the_scores_of_the_run() {
    let result = std::fs::read_to_string(trained().join("run/result.json")).unwrap();
    for split in ["train", "valid", "test"] {
        let (code, out, err) = matnet(trained(), &["eval", "run", "--split", split, "--json"], &[]);
        assert_eq!((code, err.as_str()), (0, ""));
        let of_run = result.split(&format!("\"{split}\"")).nth(1).unwrap();
        assert_eq!(score(&out).len(), 7, "{out}");
        assert_eq!(score(&out), score(of_run), "{split}");
        assert!(out.contains(&format!("\"split\": \"{split}\"")), "{out}");
    }
}

#[test]
fn eval_counts_every_prediction() {
    let (code, out, err) = matnet(trained(), &["eval", "run"], &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<&str> = out.lines().collect();
    let epoch = lines[0].strip_prefix("run: best weights, of epoch ").unwrap();
    assert!(epoch.ends_with(", on the test split of digits"), "{out}");
    assert!(lines[1].starts_with("loss ") && lines[1].contains(" over 80 examples, error "), "{out}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(lines[3]), "metric value");
    let metrics: Vec<&str> = lines[4..].iter().take_while(|line| !line.is_empty()).copied().collect();
    let error: f64 = lines[1].split("error ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let accuracy: f64 = words(metrics[0]).strip_prefix("accuracy ↑ ").unwrap().parse().unwrap();
    assert!((accuracy - (1.0 - error / 100.0)).abs() < 1e-3, "{out}");
    for name in ["balanced accuracy ↑", "F1 (macro) ↑", "ROC AUC ↑", "log loss ↓", "Cohen's kappa ↑"]
    {
        assert!(metrics.iter().any(|line| line.starts_with(name)), "{name}: {out}");
    }
    let titles = 4 + metrics.len() + 1;
    assert_eq!(words(lines[titles]), "class support correct recall predicted precision F1 AUC");
    let matrix = lines
        .iter()
        .position(|line| *line == "confusion matrix: rows are the targets, columns the predictions")
        .unwrap();
    let counts = lines[matrix + 2..].iter().flat_map(|line| line.split_whitespace().skip(1));
    assert_eq!(counts.filter_map(|count| count.parse::<u32>().ok()).sum::<u32>(), 80);
    let table = lines[titles + 1..titles + 11].iter().map(|line| line.split_whitespace().nth(1).unwrap());
    assert_eq!(table.map(|count| count.parse::<u32>().unwrap()).sum::<u32>(), 80);

    let (_, last, _) = matnet(trained(), &["eval", "run", "--weights", "last"], &[]);
    assert!(last.starts_with("run: last weights, of epoch 2, "), "{last}");
}

#[test]
fn eval_takes_all_of_other_data() {
    let (code, out, err) = matnet(trained(), &["eval", "run", "--data", "digits"], &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(", on all of digits\n") && out.contains(" over 5,000 examples, "), "{out}");

    // Only some of the classes: their numbers differ, their names are known.
    let folder = TempDir::new().unwrap();
    let classes = folder.path().join("by class");
    let samples = samples();
    let matnet_data::Target::Classes { labels, .. } = &samples.target else { panic!("classes expected") };
    for (at, label) in labels.iter().enumerate().step_by(97).filter(|(_, label)| **label > 2) {
        let class = classes.join(label.to_string());
        std::fs::create_dir_all(&class).unwrap();
        write_picture(&class.join(format!("{at}.png")), samples.inputs.sample(at));
    }
    let run = trained().join("run");
    let (code, out, err) = matnet(folder.path(), &["eval", "--data", "by class"], &[&run]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (_, predictions, _) = predict(folder.path(), "by class", "-", &[]);
    let predictions: Vec<&str> = predictions.lines().skip(1).collect();
    // A line starts with FOLDER/FILE,CLASS, and the folder is the target.
    let right = |line: &&&str| line.split(',').nth(1) == line.get(..1);
    let wrong = predictions.len() - predictions.iter().filter(right).count();
    assert!(wrong < predictions.len(), "some are right");
    assert!(out.contains(&format!(" % ({wrong} of {})", predictions.len())), "{out}");
    std::fs::rename(classes.join("7"), classes.join("seven")).unwrap();
    let (code, _, err) = matnet(folder.path(), &["eval", "--data", "by class"], &[&run]);
    let wanted = "error: --data: the data have a class `seven`, the net knows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n";
    assert_eq!((code, err.as_str()), (1, wanted));
}

#[test]
fn eval_says_what_is_wrong() {
    let here = trained();
    let wrong = |args: &[&str], code: i32, wanted: &str| {
        let (found, out, err) = matnet(here, &[&["eval"], args].concat(), &[]);
        assert_eq!((found, out.as_str(), err.as_str()), (code, "", wanted), "{args:?}");
    };
    let missing = "No such file or directory";
    wrong(&["nowhere"], 1, &format!("error: nowhere: {missing}\n"));
    wrong(
        &["run", "--data", "faces"],
        1,
        "error: --data: faces cannot be transformed as the run's data: permutation of 28×28 matrices, these are 25×25\n",
    );
    wrong(
        &["run", "--data", "digit"],
        2,
        "error: --data: `digit` is neither a dataset nor a file; did you mean `digits`?\n",
    );
    wrong(
        &["run", "--device", "abacus"],
        2,
        "error: --device abacus: no such device; there are flex, wgpu, cuda, rocm\n",
    );
    let (code, _, err) = matnet(here, &["eval", "run", "--split", "half"], &[]);
    assert!(code == 2 && err.contains("[possible values: train, valid, test]"), "{err}");
    let (code, _, err) = matnet(here, &["eval", "run", "--split", "test", "--data", "digits"], &[]);
    assert!(code == 2 && err.contains("cannot be used with"), "{err}");
}

#[test]
fn eval_notices_damaged_and_unfinished_runs() {
    let (folder, run) = copy();
    for (name, what) in [
        (
            "config.toml",
            "is damaged or was edited: it is not the config of these weights, whose checksum they hold",
        ),
        ("metrics.csv", "is missing, damaged or was edited: its checksum is not the one in result.json"),
    ] {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        std::fs::write(run.join(name), text.replace('3', "4")).unwrap();
        let (code, out, err) = matnet(folder.path(), &["eval", "run"], &[]);
        let wanted = format!("error: {}: {what}\n", Path::new("run").join(name).display());
        assert_eq!((code, out.as_str(), err), (1, "", wanted));
        std::fs::write(run.join(name), text).unwrap();
    }

    std::fs::remove_file(run.join("result.json")).unwrap();
    let (code, out, err) = matnet(folder.path(), &["eval", "run", "--weights", "last"], &[]);
    assert_eq!(err, "note: run is not finished; these are its weights after epoch 2\n");
    assert!(code == 0 && out.contains("loss "), "{out}");

    let path = run.join("best.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 3;
    bytes[at] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    let (code, _, err) = matnet(folder.path(), &["eval", "run"], &[]);
    let damaged = format!(
        "error: {}: damaged: the checksum does not match\n",
        Path::new("run").join("best.safetensors").display()
    );
    assert_eq!((code, err), (1, damaged));
    std::fs::remove_file(&path).unwrap();
    for args in [&["eval", "run"][..], &["predict", "run", "-i", "x.npy", "-o", "y.npy"]] {
        let (code, _, err) = matnet(folder.path(), args, &[]);
        let wanted = "error: run: has no best.safetensors yet; `matnet train` resumes the run\n";
        assert_eq!((code, err.as_str()), (1, wanted));
    }
}

#[test]
fn eval_warns_if_the_data_have_changed() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let write = |shift: f32| {
        let mut zip = npz::NpzWriter::new(Vec::new());
        let numbers: Vec<f32> = (0..60 * 9).map(|at| ((at * 7919) % 101) as f32 / 101.0 + shift).collect();
        let classes: Vec<i64> = (0..60).map(|at| at % 2).collect();
        zip.add("x", |mut out| npy::write_f32(&mut out, &[60, 3, 3], &numbers)).unwrap();
        zip.add("y", |mut out| npy::write_i64(&mut out, &[60], &classes)).unwrap();
        std::fs::write(here.join("mine.npz"), zip.finish().unwrap()).unwrap();
    };
    write(0.0);
    let config =
        "[data]\nsource = 'mine.npz'\n[model]\nkind = 'feedforward'\nhidden = [4, 4]\n[train]\nepochs = 1\n";
    std::fs::write(here.join("mine.toml"), config).unwrap();
    let (code, _, err) = matnet(here, &["train", "mine.toml", "--out", "run", "-q"], &[]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = matnet(here, &["eval", "run"], &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    write(0.5);
    let (code, _, err) = matnet(here, &["eval", "run"], &[]);
    let wanted = "warning: mine.npz is not what the run was trained on (its checksum differs); these are not the run's results\n";
    assert_eq!((code, err.as_str()), (0, wanted));
}

#[test]
fn eval_takes_a_folder_of_several_seeds() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    std::fs::write(here.join("digits.toml"), CONFIG).unwrap();
    let args = ["train", "digits.toml", "--out", "s", "-q", "--seeds", "2", "--set", "train.epochs=1"];
    let (code, _, err) = matnet(here, &args, &[]);
    assert_eq!(code, 0, "{err}");
    let eval = |args: &[&str]| {
        let (code, out, err) = matnet(here, &[&["eval"], args].concat(), &[]);
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    let [first, second] =
        ["seed-1", "seed-2"].map(|seed| eval(&[Path::new("s").join(seed).to_str().unwrap()]));
    assert_ne!(first.lines().nth(1), second.lines().nth(1));
    assert_eq!(eval(&["s"]), format!("{first}\n{second}"));
    let json: serde_json::Value = serde_json::from_str(&eval(&["s", "--json"])).unwrap();
    let seeds: Vec<&str> = json.as_array().unwrap().iter().map(|one| one["run"].as_str().unwrap()).collect();
    assert_eq!(seeds, ["seed-1", "seed-2"].map(|seed| Path::new("s").join(seed).display().to_string()));
    // A folder whose seeds are not all finished has no mean to look at.
    std::fs::remove_file(here.join("s/seed-2/result.json")).unwrap();
    let (code, out, err) = matnet(here, &["eval", "s"], &[]);
    let run = Path::new("s").join("seed-2");
    let wanted = format!("error: {}: is not finished; `matnet train` resumes it\n", run.display());
    assert_eq!((code, out.as_str(), err), (1, "", wanted));
}

#[test]
fn predict_writes_the_same_bytes_with_any_batch_size() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    save(&here.join("x.npy"), &digits(23));
    let mut found = Vec::new();
    for batch_size in ["1", "7", "23", "1000"] {
        for output in ["y.npy", "y.csv"] {
            let (code, out, err) = predict(here, "x.npy", output, &["--batch-size", batch_size]);
            assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
        }
        found.push((std::fs::read(here.join("y.npy")).unwrap(), std::fs::read(here.join("y.csv")).unwrap()));
    }
    predict(here, "x.npy", "y.npy", &[]);
    assert_eq!(std::fs::read(here.join("y.npy")).unwrap(), found[0].0);
    assert!(found.iter().all(|bytes| *bytes == found[0]));
    assert_eq!(names(here), ["x.npy", "y.csv", "y.npy"]);

    // Both hold the same numbers, and the class of a line is the most probable one.
    let path = here.join("y.npy");
    let probabilities = npy::read(&path).unwrap().into_array(&path).unwrap();
    assert_eq!(probabilities.shape(), [23, 10]);
    let text = String::from_utf8(found[0].1.clone()).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), "sample,class,p_0,p_1,p_2,p_3,p_4,p_5,p_6,p_7,p_8,p_9");
    for (at, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[0], at.to_string());
        let numbers: Vec<f32> = fields[2..].iter().map(|field| field.parse().unwrap()).collect();
        assert_eq!(numbers, probabilities.sample(at));
        assert!((numbers.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let class: usize = fields[1].parse().unwrap();
        assert!(numbers.iter().all(|&number| number <= numbers[class]));
    }
    let (code, out, _) = predict(here, "x.npy", "-", &[]);
    assert_eq!((code, out), (0, text));
}

/// Writes grey levels that are multiples of 1/255.
fn write_picture(path: &Path, levels: &[f32]) {
    let level = |x: u32, y: u32| image::Luma([(levels[(y * 28 + x) as usize] * 255.0).round() as u8]);
    image::GrayImage::from_fn(28, 28, level).save(path).unwrap();
}

#[test]
fn predict_gives_the_same_for_pictures_and_arrays() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let scans = here.join("scans");
    let x = digits(9);
    for at in 0..9 {
        // Sorted by path: a before b, 10 before 9.
        let class = scans.join(if at < 4 { "a" } else { "b" });
        std::fs::create_dir_all(&class).unwrap();
        write_picture(&class.join(format!("{at}.png")), x.sample(at));
    }
    // The pictures, as they are read.
    let samples = local::load(&scans).unwrap().into_samples().unwrap();
    save(&here.join("x.npy"), &samples.inputs);
    let mut zip = npz::NpzWriter::new(Vec::new());
    let (shape, numbers) = (samples.inputs.shape(), samples.inputs.data());
    zip.add("x", |mut out| npy::write_f32(&mut out, shape, numbers)).unwrap();
    std::fs::write(here.join("x.npz"), zip.finish().unwrap()).unwrap();
    for input in ["scans", "x.npy", "x.npz"] {
        let (code, _, err) = predict(here, input, &format!("{input}-y.npy"), &["--batch-size", "4"]);
        assert_eq!(code, 0, "{err}");
    }
    let predictions = std::fs::read(here.join("x.npy-y.npy")).unwrap();
    assert_eq!(std::fs::read(here.join("scans-y.npy")).unwrap(), predictions);
    assert_eq!(std::fs::read(here.join("x.npz-y.npy")).unwrap(), predictions);
    let (_, out, _) = predict(here, "scans", "-", &["--batch-size", "2"]);
    let files: Vec<&str> = out.lines().map(|line| line.split(',').next().unwrap()).collect();
    let name = |class: &str, at: usize| Path::new(class).join(format!("{at}.png")).display().to_string();
    let wanted: Vec<String> = (0..9).map(|at| name(if at < 4 { "a" } else { "b" }, at)).collect();
    assert_eq!((files[0], &files[1..]), ("file", &wanted.iter().map(String::as_str).collect::<Vec<_>>()[..]));

    // One picture, and one matrix as text.
    let (_, one, _) = predict(here, "scans/b/7.png", "-", &[]);
    assert_eq!(
        one.lines().nth(1).unwrap().split_once(',').unwrap().1,
        out.lines().nth(8).unwrap().split_once(',').unwrap().1
    );
    let rows = samples
        .inputs
        .sample(7)
        .chunks(28)
        .map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(","));
    std::fs::write(here.join("7.csv"), rows.collect::<Vec<_>>().join("\n")).unwrap();
    let (_, text, _) = predict(here, "7.csv", "-", &[]);
    assert_eq!(text, one.replace("7.png", "7.csv"));
}

#[test]
fn predict_writes_matrices() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    std::fs::write(here.join("c.toml"), CONFIG).unwrap();
    let args = ["train", "c.toml", "--out", "run", "-q", "--set", "model.kind=autoencoder"];
    let (code, _, err) = matnet(here, &[&args[..], &["--set", "train.epochs=1"]].concat(), &[]);
    assert_eq!(code, 0, "{err}");
    save(&here.join("x.npy"), &digits(3));
    for output in ["y.npy", "y.csv"] {
        let (code, _, err) = matnet(here, &["predict", "run", "-i", "x.npy", "-o", output], &[]);
        assert_eq!((code, err), (0, format!("{output}: 3 predictions\n")));
    }
    let path = here.join("y.npy");
    let matrices = npy::read(&path).unwrap().into_array(&path).unwrap();
    assert_eq!(matrices.shape(), [3, 28, 28]);
    let text = std::fs::read_to_string(here.join("y.csv")).unwrap();
    assert!(text.starts_with("sample,r0c0,r0c1,"));
    let last: Vec<f32> =
        text.lines().last().unwrap().split(',').skip(1).map(|x| x.parse().unwrap()).collect();
    assert_eq!(last, matrices.sample(2));
    let (code, out, err) = matnet(here, &["eval", "run"], &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.lines().count() == 2 && out.contains(" over 80 examples\n"), "{out}");
}

#[test]
fn predict_says_what_is_wrong_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let x = digits(5);
    save(&here.join("x.npy"), &x);
    save(&here.join("flat.npy"), &Array::new([5, 784], x.data().to_vec()).unwrap());
    save(&here.join("other.npy"), &Array::new([5, 14, 56], x.data().to_vec()).unwrap());
    save(&here.join("four.npy"), &Array::new([1, 5, 28, 28], x.data().to_vec()).unwrap());
    let mut with_nan = x.clone();
    with_nan.data_mut()[3 * 784 + 5] = f32::NAN;
    save(&here.join("nan.npy"), &with_nan);
    let whole = std::fs::read(here.join("x.npy")).unwrap();
    std::fs::write(here.join("cut.npy"), &whole[..whole.len() - 100]).unwrap();
    std::fs::write(here.join("text.npy"), "hello").unwrap();
    std::fs::write(here.join("x.doc"), "hello").unwrap();
    std::fs::create_dir(here.join("empty")).unwrap();
    std::fs::create_dir(here.join("folder.npy")).unwrap();
    std::fs::write(here.join("old.npy"), "old").unwrap();
    let before = names(here);
    let wrong = |input: &str, output: &str, code: i32, wanted: &str| {
        let (found, out, err) = predict(here, input, output, &["--batch-size", "2"]);
        assert_eq!((found, out.as_str(), err.as_str()), (code, "", format!("error: {wanted}\n").as_str()));
    };
    wrong("none.npy", "y.npy", 1, "none.npy: there is no such file or folder");
    wrong(
        "flat.npy",
        "y.npy",
        1,
        "flat.npy: shape [5, 784]; [n, rows, cols] or [n, time, rows, cols] expected",
    );
    wrong("other.npy", "y.npy", 1, "other.npy: the net takes [n, 28, 28], these inputs are [2, 14, 56]");
    wrong("four.npy", "y.npy", 1, "four.npy: the net takes [n, 28, 28], these inputs are [1, 5, 28, 28]");
    wrong("cut.npy", "old.npy", 1, "cut.npy: says 15680 bytes follow, but only 15580 do");
    wrong("text.npy", "y.npy", 1, "text.npy: ends too early: 6 bytes expected, 5 found");
    wrong(
        "empty",
        "y.npy",
        1,
        "empty: holds no pictures, .wav, .npy, .csv or .ts, neither in it nor in folders by class, and no edges and nodes",
    );
    wrong(
        "x.doc",
        "y.npy",
        1,
        "x.doc: is of no known kind; .npy, .npz, .ts, .wav, an image, .csv, .parquet, .arrow or a folder of them expected",
    );
    // The first batch is predicted before the NaN of the second is found.
    wrong("nan.npy", "old.npy", 1, "nan.npy: sample 3 holds NaN; finite numbers expected");
    wrong("x.npy", "no/y.npy", 1, "no/y.npy: No such file or directory");
    wrong("x.npy", "folder.npy", 1, "folder.npy: is a directory");
    wrong(
        "x.npy",
        "y.txt",
        2,
        "--output y.txt: a name that ends in .npy or .csv expected, or - for CSV on standard output",
    );
    assert_eq!(names(here), before, "nothing else is left behind");
    assert_eq!(std::fs::read(here.join("old.npy")).unwrap(), b"old");
    let (code, _, err) = matnet(here, &["predict", "nowhere", "-i", "x.npy", "-o", "y.npy"], &[]);
    assert_eq!((code, err.as_str()), (1, "error: nowhere: there is no run here (no config.toml)\n"));
    let (code, _, err) = predict(here, "x.npy", "y.npy", &["--batch-size", "0"]);
    assert!(code == 2 && err.contains("0 is not in 1.."), "{err}");
    let (code, _, err) = matnet(here, &["predict", "nowhere", "--input", "x.npy"], &[]);
    assert!(code == 2 && err.contains("--output <PATH>"), "{err}");

    let (code, _, err) = predict(here, "x.npy", "old.npy", &[]);
    assert_eq!((code, err.as_str()), (0, ""), "an existing output is overwritten");
    assert_ne!(std::fs::read(here.join("old.npy")).unwrap(), b"old");
}

/// A pipe that never ends as input: predict waits for it, and is interrupted.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    use std::io::Write;
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    // The header promises a thousand million samples; they come until the process is interrupted.
    let made = Command::new("mkfifo").arg(here.join("x.npy")).status().unwrap();
    assert!(made.success());
    let child = Command::new(cargo_bin!("matnet"))
        .current_dir(here)
        .args(["predict", "--input", "x.npy", "--output", "y.npy", "--batch-size", "10"])
        .arg(trained().join("run"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = std::fs::OpenOptions::new().write(true).open(here.join("x.npy")).unwrap();
    npy::write_header(&mut pipe, "|u1", &[1_000_000_000, 28, 28]).unwrap();
    let some = vec![1; 784 * 10];
    for _ in 0..50 {
        pipe.write_all(&some).unwrap();
    }
    let start = std::time::Instant::now();
    while names(here).len() < 2 && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(names(here).len(), 2, "an unfinished file beside the pipe");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    // It stops between two batches; until then it must not wait for input.
    while pipe.write_all(&some).is_ok() {}
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.ends_with("interrupted; nothing was written\n"), "{err}");
    assert_eq!(names(here), ["x.npy"]);
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = TempDir::new().unwrap();
    save(&folder.path().join("x.npy"), &digits(2000));
    let mut child = Command::new(cargo_bin!("matnet"))
        .current_dir(folder.path())
        .args(["predict", "--input", "x.npy", "--output", "-"])
        .arg(trained().join("run"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn every_help_has_an_example() {
    for command in ["eval", "predict"] {
        let (code, out, _) = matnet(trained(), &[command, "--help"], &[]);
        assert!(code == 0 && out.contains(&format!("\nExamples:\n  matnet {command} ")), "{out}");
    }
}
