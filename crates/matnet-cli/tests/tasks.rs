//! The tasks that people have: regression, several labels, sequences of different lengths, weights, data of their own for
//! validation and test, folds, missing values, augmentation, hidden states; and one clear error for every wrong input.

mod common;

use std::path::Path;

use common::{kill_until_done, run, same};
use matnet_data::format::npy::{self, write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

/// An array of a test file.
enum Numbers {
    Floats(Vec<usize>, Vec<f32>),
    Integers(Vec<usize>, Vec<i64>),
}

fn npz(path: &Path, arrays: &[(&str, Numbers)]) {
    let mut file = NpzWriter::new(std::fs::File::create(path).unwrap());
    for (name, numbers) in arrays {
        file.add(name, |mut out| match numbers {
            Numbers::Floats(shape, values) => write_f32(&mut out, shape, values),
            Numbers::Integers(shape, values) => write_i64(&mut out, shape, values),
        })
        .unwrap();
    }
    file.finish().unwrap();
}

/// Numbers between −1 and 1 that look random.
fn noise(count: usize, seed: usize) -> Vec<f32> {
    let mut state = seed as u64 * 7919 + 17;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Matrices `[n, 4, 3]`.
fn matrices(n: usize, seed: usize) -> Vec<f32> {
    noise(n * 12, seed)
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn trained(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = run(folder, &[&["train", "--quiet"], args].concat());
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

fn evaluated(folder: &Path, run_folder: &str) -> serde_json::Value {
    let (code, out, err) = run(folder, &["eval", run_folder, "--json"]);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// The numbers of the best weights of a run, without the checksum of its config.
fn tensors(run: &Path) -> Vec<u8> {
    let bytes = std::fs::read(run.join("best.safetensors")).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    bytes[8 + header..].to_vec()
}

const FEEDFORWARD: &str = "
[data]
source = 'mine.npz'
[model]
kind = 'feedforward'
hidden = [8, 8]
[train]
epochs = 60
batch_size = 20
learning_rate = 0.01
";

#[test]
fn values_are_learnt_and_given_back_in_their_units() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(200, 1);
    // 500 + 100 · the sum of the first row, and −3 · the last entry.
    let y: Vec<f32> =
        x.chunks(12).flat_map(|x| [500.0 + 100.0 * (x[0] + x[1] + x[2]), -3.0 * x[11]]).collect();
    npz(
        &folder.join("mine.npz"),
        &[("x", Numbers::Floats(vec![200, 4, 3], x)), ("y", Numbers::Floats(vec![200, 2], y.clone()))],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    for (form, hidden) in [("matrix", "[8, 8]"), ("vector", "[24]")] {
        for loss in ["mse", "mae", "huber"] {
            let out = format!("{form}-{loss}");
            let set = [
                format!("model.form={form}"),
                format!("model.hidden={hidden}"),
                format!("train.loss={loss}"),
            ];
            let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
            trained(folder, &[&["mine.toml", "--out", &out], &set[..]].concat());
            let found = evaluated(folder, &out);
            assert!(found["r2"].as_f64().unwrap() > 0.9, "{out}: {found}");
            // The first target is in hundreds: errors are in the units of the data, the loss is not.
            assert!(found["per_target"][0]["mae"].as_f64().unwrap() > 1.0, "{found}");
            assert!(found["loss"].as_f64().unwrap() < 0.3, "{found}");
        }
    }
    let (code, csv, err) = run(folder, &["predict", "matrix-mse", "--input", "mine.npz", "--output", "-"]);
    assert_eq!(code, 0, "{err}");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("sample,y0,y1"));
    let mean = lines.map(|line| line.split(',').nth(1).unwrap().parse::<f64>().unwrap()).sum::<f64>() / 200.0;
    let wanted = y.iter().step_by(2).map(|&y| f64::from(y)).sum::<f64>() / 200.0;
    assert!((mean - wanted).abs() < 20.0, "{mean} {wanted}");
    // Without scaling the loss is that of the values themselves.
    trained(
        folder,
        &["mine.toml", "--out", "plain", "--set", "data.scale_target=false", "--set", "train.epochs=1"],
    );
    assert!(evaluated(folder, "plain")["loss"].as_f64().unwrap() > 1000.0);
}

#[test]
fn several_labels_are_learnt() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(300, 2);
    let y: Vec<i64> =
        x.chunks(12).flat_map(|x| [i64::from(x[0] > 0.0), i64::from(x[1] + x[2] > 0.8)]).collect();
    npz(
        &folder.join("mine.npz"),
        &[("x", Numbers::Floats(vec![300, 4, 3], x)), ("y", Numbers::Integers(vec![300, 2], y))],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    for (out, set) in [("plain", "train.l1=0"), ("balanced", "train.class_weights=balanced")] {
        trained(folder, &["mine.toml", "--out", out, "--set", set, "--set", "train.label_smoothing=0.02"]);
        let found = evaluated(folder, out);
        assert!(
            found["f1"].as_f64().unwrap() > 0.8 && found["exact_match"].as_f64().unwrap() > 0.7,
            "{found}"
        );
        assert!(folder.join(out).join("report.html").exists());
    }
    let (_, csv, _) = run(folder, &["predict", "plain", "--input", "mine.npz", "--output", "-"]);
    assert_eq!(csv.lines().next(), Some("sample,p_0,p_1"));
}

/// Sequences `[n, time, 2, 1]` whose sign of the slope is the class, of lengths 3 to 9, padded to `time` with `padding`.
fn slopes(folder: &Path, name: &str, time: usize, padding: f32, target: &str) {
    let n = 120;
    let start = noise(n, 3);
    let (mut x, mut lengths, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for (at, start) in start.iter().enumerate() {
        let (length, class) = (3 + at * 5 % 7, at % 2);
        let slope = if class == 1 { 0.3 } else { -0.3 };
        for t in 0..time {
            match t < length {
                true => x.extend([start + slope * t as f32, (at % 5) as f32 / 5.0]),
                false => x.extend([padding, padding]),
            }
        }
        lengths.push(length as i64);
        classes.push(class as i64);
    }
    let steps = |one: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        (0..n).flat_map(|at| (0..time).map(move |t| (at, t))).map(|(at, t)| one(at, t)).collect()
    };
    let y = match target {
        "class" => Numbers::Integers(vec![n, 1], classes),
        "value" => Numbers::Floats(vec![n], lengths.iter().map(|&length| length as f32 / 2.0).collect()),
        "steps" => Numbers::Integers(
            vec![n, time],
            steps(&|at, t| if (t as i64) < lengths[at] { (classes[at] + t as i64 % 2) as f32 } else { 0.0 })
                .into_iter()
                .map(|class| class as i64)
                .collect(),
        ),
        _ => Numbers::Floats(
            vec![n, time, 1, 1],
            steps(&|at, t| if (t as i64) < lengths[at] { t as f32 } else { padding }),
        ),
    };
    let arrays = [
        ("x", Numbers::Floats(vec![n, time, 2, 1], x)),
        ("y", y),
        ("length", Numbers::Integers(vec![n], lengths)),
    ];
    npz(&folder.join(name), &arrays);
}

const SEQUENCES: &str = "
[data]
source = 'mine.npz'
scale = 'standardize'
scale_per = 'entry'
[model]
kind = 'KIND'
hidden = [4, 3]
bidirectional = true
layers = 2
[train]
epochs = 3
batch_size = 16
learning_rate = 0.02
";

#[test]
fn padding_and_batches_change_no_bit_of_a_prediction() {
    for (kind, target) in [
        ("sequence-classifier", "class"),
        ("sequence-regressor", "value"),
        ("sequence-labeller", "steps"),
        ("sequence-labeller", "matrices"),
    ] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        slopes(folder, "mine.npz", 9, 0.0, target);
        slopes(folder, "wide.npz", 14, 77.0, target);
        write(folder, "mine.toml", &SEQUENCES.replace("KIND", kind));
        trained(folder, &["mine.toml", "--out", "narrow"]);
        trained(folder, &["mine.toml", "--out", "wide", "--set", "data.source=wide.npz"]);
        assert!(
            tensors(&folder.join("narrow")) == tensors(&folder.join("wide")),
            "{kind}: padding changed the training"
        );
        let mut all = Vec::new();
        for (input, size) in [("mine.npz", "100"), ("mine.npz", "1"), ("mine.npz", "7"), ("wide.npz", "11")] {
            let (code, csv, err) =
                run(folder, &["predict", "narrow", "--input", input, "--output", "-", "--batch-size", size]);
            assert_eq!(code, 0, "{kind}: {err}");
            all.push(csv);
        }
        // Matrices are written whole, and so as long as the padded sequences.
        if target == "matrices" {
            let cut = |csv: &str| -> Vec<String> {
                csv.lines().map(|line| line.split(',').take(10).collect::<Vec<_>>().join(",")).collect()
            };
            assert_eq!(cut(&all[0]), cut(&all[3]), "{kind}");
            all.truncate(3);
        }
        assert!(all.iter().all(|csv| *csv == all[0]), "{kind}, {target}");
        if target == "steps" {
            let total: usize = (0..120).map(|at| 3 + at * 5 % 7).sum();
            assert_eq!(all[0].lines().count(), 1 + total, "a line per step that is not padding");
            let found = evaluated(folder, "narrow");
            let examples = found["confusion"]["counts"].as_array().unwrap();
            let counted: u64 =
                examples.iter().flat_map(|row| row.as_array().unwrap()).map(|n| n.as_u64().unwrap()).sum();
            let split: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(folder.join("narrow/split.json")).unwrap())
                    .unwrap();
            let steps = |at: &serde_json::Value| 3 + at.as_u64().unwrap() * 5 % 7;
            assert_eq!(counted, split["test"].as_array().unwrap().iter().map(steps).sum::<u64>());
        }
    }
}

#[test]
fn batches_of_similar_length_resume_exactly() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    slopes(folder, "mine.npz", 9, 0.0, "class");
    write(folder, "mine.toml", &SEQUENCES.replace("KIND", "sequence-classifier"));
    let args =
        |out: &'static str| ["train", "mine.toml", "--quiet", "--set", "train.epochs=12", "--out", out];
    assert_eq!(run(folder, &args("whole")).0, 0);
    kill_until_done(folder, &args("killed"), 60);
    same(&folder.join("whole"), &folder.join("killed"));
    // The slope is easy to see.
    assert!(evaluated(folder, "whole")["error"].as_f64().unwrap() < 0.1);
    trained(folder, &["mine.toml", "--out", "mixed", "--set", "train.bucket_by_length=false"]);
}

#[test]
fn weights_say_which_samples_count() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(400, 5);
    // Every second sample has the wrong class, and weight 0.
    let class = |at: usize, x: &[f32]| i64::from((x[0] > 0.0) != (at % 2 == 1));
    let y: Vec<i64> = x.chunks(12).enumerate().map(|(at, x)| class(at, x)).collect();
    let weight: Vec<f32> = (0..400).map(|at| if at % 2 == 1 { 0.0 } else { 2.5 }).collect();
    npz(
        &folder.join("mine.npz"),
        &[
            ("x", Numbers::Floats(vec![400, 4, 3], x)),
            ("y", Numbers::Integers(vec![400], y)),
            ("weight", Numbers::Floats(vec![400], weight)),
        ],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    trained(folder, &["mine.toml", "--out", "run", "--set", "train.monitor=loss"]);
    let found = evaluated(folder, "run");
    // Samples of weight 0 count neither in the loss nor in the metrics, though all of them are wrong.
    assert!(found["loss"].as_f64().unwrap() < 0.3, "{found}");
    assert!(found["error"].as_f64().unwrap() < 0.2, "{found}");
    assert!(found["misclassified"].as_array().unwrap().len() > 25, "{found}");
}

#[test]
fn validation_and_test_data_of_their_own() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let file = |name: &str, n: usize, seed: usize, classes: [i64; 2]| {
        let x = matrices(n, seed);
        let y = x.chunks(12).map(|x| classes[usize::from(x[0] > 0.0)]).collect();
        npz(
            &folder.join(name),
            &[("x", Numbers::Floats(vec![n, 4, 3], x)), ("y", Numbers::Integers(vec![n], y))],
        );
    };
    file("mine.npz", 100, 1, [4, 7]);
    file("valid.npz", 30, 2, [4, 7]);
    file("test.npz", 40, 3, [4, 7]);
    file("other.npz", 40, 3, [4, 9]);
    write(folder, "mine.toml", FEEDFORWARD);
    let both = ["--set", "data.valid=valid.npz", "--set", "data.test=test.npz"];
    trained(folder, &[&["mine.toml", "--out", "both"], &both[..]].concat());
    let split = std::fs::read_to_string(folder.join("both/split.json")).unwrap();
    let split: serde_json::Value = serde_json::from_str(&split).unwrap();
    let ends = |name: &str| {
        let all = split[name].as_array().unwrap();
        (all[0].as_u64().unwrap(), all[all.len() - 1].as_u64().unwrap())
    };
    assert_eq!([ends("train"), ends("valid"), ends("test")], [(0, 99), (100, 129), (130, 169)]);
    assert!(evaluated(folder, "both")["error"].as_f64().unwrap() < 0.15);
    // The config of a run is a config.
    trained(folder, &["both/config.toml", "--out", "again"]);
    same(&folder.join("both"), &folder.join("again"));
    trained(folder, &["mine.toml", "--out", "test", "--set", "data.test=test.npz"]);
    assert_eq!(evaluated(folder, "test")["examples"], 40);
    trained(folder, &["mine.toml", "--out", "valid", "--set", "data.valid=valid.npz"]);
    assert_eq!(evaluated(folder, "valid")["examples"], 20);
    for (set, said) in [
        ("data.test=other.npz", "data.test: other.npz: the data have a class `9`, the net knows 4, 7"),
        ("data.test=nothing.npz", "data.test: `nothing.npz` is neither a dataset nor a file; "),
    ] {
        let (code, _, err) = run(folder, &["train", "-q", "mine.toml", "--out", "x", "--set", set]);
        assert!(code == 2 && err.starts_with(&format!("error: {said}")), "{set}: {err}");
    }
}

#[test]
fn every_sample_is_in_the_test_split_of_one_fold() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(60, 1);
    let y = x.chunks(12).map(|x| i64::from(x[0] > 0.0)).collect();
    let group = (0..60).map(|at| at / 10).collect();
    npz(
        &folder.join("mine.npz"),
        &[
            ("x", Numbers::Floats(vec![60, 4, 3], x)),
            ("y", Numbers::Integers(vec![60], y)),
            ("group", Numbers::Integers(vec![60], group)),
        ],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    for (rule, folds) in [("k-fold", 3), ("group-k-fold", 3), ("leave-one-group-out", 6)] {
        let mut tested = Vec::new();
        for fold in 0..folds {
            let out = format!("{rule}-{fold}");
            let mut set = vec![format!("data.split.rule={rule}"), format!("data.split.fold={fold}")];
            set.push("train.epochs=1".to_owned());
            if rule != "leave-one-group-out" {
                set.push(format!("data.split.folds={folds}"));
            }
            let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
            trained(folder, &[&["mine.toml", "--out", &out], &set[..]].concat());
            let split = std::fs::read_to_string(folder.join(&out).join("split.json")).unwrap();
            let split: serde_json::Value = serde_json::from_str(&split).unwrap();
            tested.extend(split["test"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()));
        }
        tested.sort_unstable();
        assert_eq!(tested, (0..60).collect::<Vec<u64>>(), "{rule}");
    }
}

#[test]
fn fewer_training_samples_leave_the_other_splits_alone() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(60, 1);
    let y = x.chunks(12).map(|x| i64::from(x[0] > 0.0)).collect();
    npz(
        &folder.join("mine.npz"),
        &[("x", Numbers::Floats(vec![60, 4, 3], x)), ("y", Numbers::Integers(vec![60], y))],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    let split = |train: &str| {
        let set = format!("data.split.train={train}");
        let out = format!("train-{train}");
        let set = if train == "all" { "train.epochs=1" } else { &set };
        trained(folder, &["mine.toml", "--out", &out, "--set", "train.epochs=1", "--set", set]);
        let split = std::fs::read_to_string(folder.join(out).join("split.json")).unwrap();
        let split: serde_json::Value = serde_json::from_str(&split).unwrap();
        ["train", "valid", "test"].map(|name| split[name].as_array().unwrap().clone())
    };
    let [all, valid, test] = split("all");
    let [ten, twenty] = [split("10"), split("20")];
    assert_eq!((ten[0].len(), twenty[0].len()), (10, 20));
    assert_eq!(split("0.5")[0].len(), all.len() / 2);
    for (fewer, more) in [(&ten[0], &twenty[0]), (&twenty[0], &all)] {
        assert!(fewer.iter().all(|sample| more.contains(sample)), "more samples contain the fewer");
    }
    assert_eq!([&ten[1], &ten[2], &twenty[1], &twenty[2]], [&valid, &test, &valid, &test]);
    for (train, said) in [
        (
            "61",
            format!("data.split.train: 61 training samples: must be 1 to {}, there are no more", all.len()),
        ),
        ("0", "data.split.train: 0; must be above 0".to_owned()),
        ("1.5", "data.split.train: 1.5; a fraction below 1, or a whole number, expected".to_owned()),
    ] {
        let set = format!("data.split.train={train}");
        let (code, _, err) = run(folder, &["train", "-q", "mine.toml", "--out", "x", "--set", &set]);
        assert!(code == 2 && err.starts_with(&format!("error: {said}")), "{set}: {err}");
    }
}

#[test]
fn missing_values_are_filled_in_training_and_prediction() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut x = matrices(200, 4);
    let y: Vec<i64> = x.chunks(12).map(|x| i64::from(x[0] > 0.0)).collect();
    x.iter_mut().skip(5).step_by(17).for_each(|x| *x = f32::NAN);
    npz(
        &folder.join("mine.npz"),
        &[("x", Numbers::Floats(vec![200, 4, 3], x)), ("y", Numbers::Integers(vec![200], y))],
    );
    write(folder, "mine.toml", FEEDFORWARD);
    let (code, _, err) = run(folder, &["train", "-q", "mine.toml", "--out", "x"]);
    assert_eq!(code, 2);
    assert!(err.contains("mine.npz: sample 0 holds NaN; finite numbers expected"), "{err}");
    for method in ["zero", "mean", "forward"] {
        let set = format!("data.missing={method}");
        trained(folder, &["mine.toml", "--out", method, "--set", &set, "--set", "data.missing_mask=true"]);
        assert!(evaluated(folder, method)["error"].as_f64().unwrap() < 0.25, "{method}");
        let (code, csv, err) = run(folder, &["predict", method, "--input", "mine.npz", "--output", "-"]);
        assert_eq!((code, csv.lines().count()), (0, 201), "{err}");
    }
}

#[test]
fn augmentation_is_random_but_repeatable() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    slopes(folder, "mine.npz", 9, 0.0, "class");
    write(folder, "mine.toml", &SEQUENCES.replace("KIND", "sequence-classifier"));
    let augment =
        "data.augment={ crop = 6, shift = 1, noise = 0.05, time_mask = 1, channel_mask = 1, mixup = 0.2 }";
    for out in ["one", "two"] {
        trained(folder, &["mine.toml", "--out", out, "--set", augment]);
    }
    same(&folder.join("one"), &folder.join("two"));
    trained(folder, &["mine.toml", "--out", "none"]);
    assert!(tensors(&folder.join("one")) != tensors(&folder.join("none")));
    let (code, _, err) = run(folder, &["predict", "one", "--input", "mine.npz", "--output", "y.npy"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn hidden_states_codes_and_scores() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = matrices(50, 4);
    npz(&folder.join("mine.npz"), &[("x", Numbers::Floats(vec![50, 4, 3], x))]);
    write(
        folder,
        "auto.toml",
        "[data]\nsource = 'mine.npz'\n[model]\nkind = 'autoencoder'\nhidden = [3, 2]\ndepth = 2\n[train]\nepochs = 2\n",
    );
    trained(folder, &["auto.toml", "--out", "auto"]);
    slopes(folder, "slopes.npz", 9, 0.0, "class");
    write(
        folder,
        "mine.toml",
        &SEQUENCES.replace("KIND", "sequence-classifier").replace("mine.npz", "slopes.npz"),
    );
    trained(folder, &["mine.toml", "--out", "sequence"]);
    let shape = |args: &[&str]| {
        let (code, _, err) = run(folder, &[&["predict", "--output", "h.npy"], args].concat());
        assert_eq!(code, 0, "{args:?}: {err}");
        npy::read(folder.join("h.npy")).unwrap().shape().to_vec()
    };
    assert_eq!(shape(&["auto", "--input", "mine.npz", "--code"]), [50, 3, 2]);
    assert_eq!(shape(&["auto", "--input", "mine.npz", "--hidden", "encoder.0"]), [50, 3, 2]);
    assert_eq!(shape(&["auto", "--input", "mine.npz", "--score"]), [50, 1]);
    assert_eq!(shape(&["sequence", "--input", "slopes.npz", "--hidden", "recurrent.layer.1"]), [120, 8, 3]);
    assert_eq!(shape(&["sequence", "--input", "slopes.npz", "--hidden", "layer.0"]), [120, 9, 8, 3]);
    let (_, csv, _) = run(folder, &["predict", "auto", "--input", "mine.npz", "--score", "--output", "-"]);
    assert_eq!(csv.lines().next(), Some("sample,score"));
    for (args, said) in [
        (
            &["sequence", "--input", "slopes.npz", "--code"][..],
            "sequence-classifier: only an autoencoder has codes",
        ),
        (
            &["sequence", "--input", "slopes.npz", "--hidden", "layer.7"],
            "no hidden layer is called `layer.7`; there are layer.0, layer.1",
        ),
    ] {
        let (code, _, err) = run(folder, &[&["predict", "--output", "h.npy"], args].concat());
        assert!(code != 0 && err.contains(said), "{err}");
    }
}

#[test]
fn every_wrong_input_has_one_clear_error() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let x = || Numbers::Floats(vec![30, 4, 3], matrices(30, 1));
    let sequences = || Numbers::Floats(vec![30, 5, 4, 3], noise(30 * 60, 1));
    let classes = || Numbers::Integers(vec![30], (0..30).map(|at| at % 3).collect());
    npz(&folder.join("classes.npz"), &[("x", x()), ("y", classes())]);
    npz(&folder.join("more.npz"), &[("x", x()), ("y", classes())]);
    npz(&folder.join("values.npz"), &[("x", x()), ("y", Numbers::Floats(vec![30, 2], noise(60, 2)))]);
    let labels = Numbers::Integers(vec![30, 2], (0..60).map(|at| at % 2).collect());
    npz(&folder.join("labels.npz"), &[("x", x()), ("y", labels)]);
    npz(&folder.join("sequences.npz"), &[("x", sequences()), ("y", Numbers::Floats(vec![30], noise(30, 2)))]);
    let lengths = (0..30).map(|at| 1 + at % 5).collect();
    npz(
        &folder.join("lengths.npz"),
        &[("x", sequences()), ("y", classes()), ("length", Numbers::Integers(vec![30], lengths))],
    );
    let zero = Numbers::Floats(vec![30], (0..30).map(|at| if at == 3 { -1.0 } else { 1.0 }).collect());
    npz(&folder.join("negative.npz"), &[("x", x()), ("y", classes()), ("weight", zero)]);
    // The test samples alone count nothing.
    let unweighted = [
        ("x", x()),
        ("y", classes()),
        ("weight", Numbers::Floats(vec![30], (0..30).map(|at| if at < 20 { 1.0 } else { 0.0 }).collect())),
        ("test", Numbers::Integers(vec![10], (20..30).collect())),
    ];
    npz(&folder.join("unweighted.npz"), &unweighted);
    let long = Numbers::Integers(vec![30], vec![6; 30]);
    npz(&folder.join("long.npz"), &[("x", sequences()), ("y", classes()), ("length", long)]);
    let rows: String = (0..40).map(|t| format!("{t},{}\n", t * t % 7)).collect();
    write(folder, "table.csv", &rows);
    write(folder, "mine.toml", &FEEDFORWARD.replace("mine.npz", "classes.npz"));
    for (set, said) in [
        // Targets and nets.
        (
            "data.source=sequences.npz",
            "model.kind: feedforward; the data are sequences of matrices with a value per sample, which sequence-regressor or seq2seq can learn from",
        ),
        (
            "data.source=sequences.npz model.kind=sequence-classifier",
            "model.kind: sequence-classifier; the data are sequences of matrices with a value per sample, which seq",
        ),
        (
            "data.source=values.npz model.kind=sequence-classifier",
            "model.kind: sequence-classifier; the data are single matrices with 2 values per sample, which feedforward or autoencoder can learn from",
        ),
        (
            "data.source=labels.npz model.output=3",
            "model.output: 3; the data have 2 labels per sample; leave it out",
        ),
        (
            "data.source=values.npz model.output=1",
            "model.output: 1; the data have 2 values per sample; leave it out",
        ),
        (
            "data.source=lengths.npz model.kind=seq2seq data.context_length=2",
            "data.source: lengths.npz: sequences of different lengths; a seq2seq net",
        ),
        // Losses and weights.
        (
            "data.source=values.npz train.loss=cross-entropy",
            "train.loss: cross-entropy; values are trained with \"mse\", \"mae\" or \"huber\"",
        ),
        ("data.source=labels.npz train.loss=mse", "train.loss: mse; several labels are trained with \"bce\""),
        ("train.loss=huber", "train.loss: huber; classes are trained with \"cross-entropy\""),
        ("train.huber_delta=2", "train.huber_delta: 2; only the loss \"huber\" uses it"),
        (
            "data.source=values.npz train.class_weights=balanced",
            "train.class_weights: \"balanced\"; only classes and labels use it, these are values",
        ),
        (
            "data.source=values.npz train.label_smoothing=0.1",
            "train.label_smoothing: 0.1; only classes and labels use it, these are values",
        ),
        ("train.label_smoothing=1", "train.label_smoothing: 1; must be at least 0 and less than 1"),
        ("train.class_weights=[1,2]", "train.class_weights: 2 numbers; one for each of 3 classes"),
        (
            "train.class_weights.cat=2",
            "train.class_weights.cat: 2; there is no such class; the classes are 0, 1, 2",
        ),
        ("train.class_weights=[1,-2,1]", "train.class_weights: -2; must be a number of at least 0"),
        ("train.class_weights=even", "train.class_weights: "),
        (
            "train.bucket_by_length=true",
            "train.bucket_by_length: true; only sequences of different lengths use it",
        ),
        ("data.source=negative.npz", "negative.npz/weight: sample 3 has weight -1; "),
        (
            "data.source=long.npz model.kind=sequence-classifier",
            "long.npz/length: sample 0 has 6 steps; 1 to 5 expected",
        ),
        ("train.monitor=r2", "train.monitor: r2; this net has no such metric; "),
        // Splits.
        ("data.split.rule=k-fold data.split.folds=1", "data.split.folds: 1; must be at least 2"),
        ("data.split.rule=k-fold data.split.fold=5", "data.split.fold: 5; 0 to 4: there are 5 folds"),
        (
            "data.split.rule=k-fold data.split.test=3",
            "data.split.test: 3; one fold is the test split; leave it out",
        ),
        ("data.split.folds=3", "data.split.folds: 3; only the rules k-fold and group-k-fold use it"),
        (
            "data.split.fold=3",
            "data.split.fold: 3; only the rules k-fold, group-k-fold and leave-one-group-out use it",
        ),
        (
            "data.split.rule=leave-one-group-out",
            "data.split: these data have no groups (subjects) to split by",
        ),
        (
            "data.source=values.npz data.split.rule=stratified",
            "data.split.rule: stratified; only a class per sample can be stratified, the data have 2 values per sample",
        ),
        (
            "data.test=more.npz data.split.rule=random",
            "data.split.rule: random; data.test is the test split; leave the rule out",
        ),
        ("data.test=classes.npz", "data.test: classes.npz is data.source itself; other samples expected"),
        (
            "data.test=classes.npz data.split.test=5",
            "data.split.test: 5; data.test is the test split; leave it out",
        ),
        (
            "data.valid=classes.npz data.split.valid=5",
            "data.split.valid: 5; data.valid is the validation split; leave it out",
        ),
        (
            "data.test=values.npz",
            "data.test: values.npz: has 2 values per sample; a class per sample expected, as in data.source",
        ),
        (
            "data.test=lengths.npz",
            "data.test: lengths.npz: samples of shape [5, 4, 3]; [4, 3] expected, as in data.source",
        ),
        // Transforms.
        (
            "data.scale_target=true",
            "data.scale_target: true; only values and target matrices use it, the data have a class per sample",
        ),
        ("data.missing=median", "data.missing: "),
        (
            "data.missing_mask=true",
            "data.missing_mask: true; only data.missing uses it, and that is \"error\"",
        ),
        ("data.augment.crop=2", "data.augment.crop: 2; only sequences use it"),
        ("data.augment.noise=-1", "data.augment: noise -1: must be at least 0"),
        ("data.augment={}", "data.augment: is empty; it changes nothing; leave it out"),
        ("data.log.offset=0", "data.log: offset 0: a number above 0 expected"),
        // Forecasting.
        (
            "data.source=table.csv data.window=8",
            "data.window: 8; forecasting uses it, with data.horizon: the rows to predict",
        ),
        ("data.source=table.csv data.window=30 data.horizon=9", "data.window: "),
        (
            "data.source=table.csv data.window=8 data.horizon=2 data.split.rule=random",
            "data.split.rule: random; windows are split in the order of time: must be \"chronological\"",
        ),
        (
            "data.source=table.csv data.window=8 data.horizon=2 data.limit=5",
            "data.limit: 5; windows over a table do not use it; leave it out",
        ),
        (
            "data.source=classes.npz data.window=8 data.horizon=2",
            "data.window: the dataset holds matrices or sequences; one long table expected",
        ),
        ("data.normalize_window=last", "data.normalize_window: last; only forecasting uses it"),
        (
            "data.source=table.csv data.window=8 data.horizon=2 data.augment.shift=1",
            "data.augment.shift: 1; a forecast continues where its window ends; leave it out",
        ),
        ("data.source=unweighted.npz", "data.source: all test samples have weight 0"),
        // Files.
        (
            "data.source=fashion data.color=true",
            "data.color: for fashion; only files use it, and this is a dataset with a name",
        ),
        ("data.shape=[2,6]", "classes.npz: `shape` has no effect on an .npz"),
    ] {
        let set: Vec<&str> = set.split(' ').flat_map(|set| ["--set", set]).collect();
        let (code, out, err) =
            run(folder, &[&["train", "-q", "mine.toml", "--out", "run"], &set[..]].concat());
        // Files that cannot be read are failures, wrong requests are wrong usage.
        assert!((1..=2).contains(&code) && out.is_empty(), "{set:?}: {code} {err}");
        assert_eq!(err.lines().count(), 1, "{set:?}: {err}");
        assert!(err.strip_prefix("error: ").is_some_and(|err| err.starts_with(said)), "{set:?}\n{err}{said}");
        assert!(!folder.join("run").exists(), "{set:?}");
    }
}
