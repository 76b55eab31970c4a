//! The commands on algorithmic tasks: reproducible runs, evaluation at any length, clear errors.

mod common;

use common::{run, same_on_any_number_of_threads, same_when_killed};
use matnet_data::format::npy::write_f32;
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'copy'
width = 4
length = [1, 5]
sequences_per_epoch = 160
valid_sequences = 10
test_sequences = 20
[model]
kind = 'turing-machine'
form = 'vector'
controller = 'feedforward'
hidden = [30]
slots = 16
slot_width = 8
[train]
epochs = 2
learning_rate = 0.01
grad_clip_norm = 10
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("copy.toml"), CONFIG).unwrap();
    folder
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    for change in ["model.controller=lstm", "model.slots=256"] {
        same_on_any_number_of_threads(folder.path(), &["copy.toml", "--set", change]);
    }
}

#[test]
fn a_run_killed_again_and_again_ends_in_the_same_bytes() {
    let folder = folder();
    same_when_killed(folder.path(), &["copy.toml", "--set", "data.sequences_per_epoch=800"], 40);
}

#[test]
fn copying_is_learnt_evaluated_and_predicted() {
    let folder = folder();
    let longer = [
        "--set",
        "data.sequences_per_epoch=1600",
        "--set",
        "train.epochs=6",
        "--set",
        "train.schedule=cosine",
    ];
    let (code, out, err) = run(folder.path(), &[&["train", "copy.toml", "--out", "x"][..], &longer].concat());
    assert_eq!(code, 0, "{err}");
    // By chance the error rate is 50 %.
    let error = out.strip_prefix("x: test error ").and_then(|rest| rest.split_once(" %"));
    let error: f64 = error.and_then(|(error, _)| error.parse().ok()).unwrap_or(100.0);
    assert!(error < 20.0, "{out}");

    let (code, out, err) = run(folder.path(), &["eval", "x"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("on the test split of copy"), "{out}");
    let line = |out: &str, at: usize| {
        out.lines().nth(at).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line(&out, 3)[..4], ["length", "repeats", "sequences", "loss"], "{out}");
    assert_eq!(
        (line(&out, 4)[..3].join(" "), line(&out, 4)[5].as_str()),
        ("5 1 20".to_owned(), "400"),
        "{out}"
    );
    let (code, out, err) = run(folder.path(), &["eval", "x", "--length", "3,9"]);
    assert_eq!(code, 0, "{err}");
    assert!(line(&out, 1).join(" ").contains("over 20 examples of length 3, error"), "{out}");
    assert_eq!((line(&out, 4)[0].as_str(), line(&out, 5)[0].as_str()), ("3", "9"), "{out}");
    assert_eq!((line(&out, 4)[5].as_str(), line(&out, 5)[5].as_str()), ("240", "720"), "{out}");
    let (code, out, err) = run(folder.path(), &["eval", "x", "--split", "valid", "--json"]);
    assert!(
        code == 0 && out.contains("\"wrong bits per sequence\"") && out.contains("\"examples\": 10,"),
        "{out}{err}"
    );

    // Two vectors, a delimiter, and two steps for the output.
    let input: Vec<f32> = [[1, 0, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1], [0; 5], [0; 5]]
        .concat()
        .into_iter()
        .map(|bit| bit as f32)
        .collect();
    let path = folder.path().join("in.npy");
    write_f32(&mut std::fs::File::create(path).unwrap(), &[1, 5, 5], &input).unwrap();
    let (code, out, err) = run(folder.path(), &["predict", "x", "-i", "in.npy", "-o", "-", "-q"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("sample,t0r0c0,t0r0c1,t0r0c2,t0r0c3,t1r0c0"), "{out}");
    let predicted: Vec<&str> = out.lines().nth(1).unwrap().split(',').skip(1 + 3 * 4).collect();
    let right =
        predicted.iter().zip(["1", "0", "1", "0", "0", "1", "1", "1"]).filter(|(a, b)| **a == *b).count();
    assert!(predicted.len() == 8 && right >= 6, "{out}");
    let (code, _, err) = run(folder.path(), &["predict", "x", "-i", "in.npy", "-o", "out.npy", "-q"]);
    assert_eq!(code, 0, "{err}");

    let (code, out, err) = run(folder.path(), &["inspect", "x"]);
    assert!(code == 0 && out.contains("turing-machine (vector form) on copy, input 11 × 1×5"), "{out}{err}");
    let (code, _, err) = run(folder.path(), &["report", "x"]);
    assert_eq!(code, 0, "{err}");
    let page = std::fs::read_to_string(folder.path().join("x/report.html")).unwrap();
    for said in [
        "Input, target and output; time goes from left to right.",
        "Attention weights of the heads at every step",
        "wrong bits per sequence",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn every_algorithm_and_controller_trains() {
    let folder = folder();
    for (source, length) in [("repeat-copy", "[1,3]"), ("associative-recall", "[2,3]")] {
        for form in [
            &["model.form=matrix", "model.hidden=[5,6]"][..],
            &["model.form=vector", "model.controller=lstm"],
        ] {
            let (source, length) = (format!("data.source={source}"), format!("data.length={length}"));
            let mut args =
                vec!["train", "copy.toml", "-q", "--fresh", "--out", "x", "--set", "train.epochs=1"];
            for change in [source.as_str(), length.as_str()].iter().chain(form) {
                args.extend(["--set", change]);
            }
            let (code, out, err) = run(folder.path(), &args);
            assert!(code == 0 && out.starts_with("x: test error "), "{args:?}: {out}{err}");
            let (code, out, err) = run(folder.path(), &["eval", "x", "--length", "2,4"]);
            assert!(code == 0 && out.lines().count() == 6, "{out}{err}");
        }
    }
    let compared =
        format!("{CONFIG}\n[variant.a]\n[variant.b]\nmodel.form = 'matrix'\nmodel.hidden = [4, 4]\n");
    std::fs::write(folder.path().join("two.toml"), compared).unwrap();
    let (code, out, err) = run(folder.path(), &["compare", "two.toml", "-q", "--set", "train.epochs=1"]);
    assert!(
        code == 0 && out.contains("| b ") && folder.path().join("runs/two/report.html").exists(),
        "{out}{err}"
    );
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let folder = folder();
    for (change, said) in [
        ("data.source=kopy", "data.source: kopy; did you mean `copy`?"),
        ("data.limit=3", "data.limit: no such key"),
        ("data.length=[0,5]", "data.length: [0, 5]; must be the least and the most, between 1 and"),
        ("data.length=[5,3]", "data.length: [5, 3]; must be the least and the most"),
        ("data.length=20", "data.length: 20; an array of length 2 expected"),
        ("data.width=0", "data.width: 0; must lie between 1 and"),
        ("data.item_length=3", "data.item_length: 3; only associative-recall uses it"),
        ("data.repeats=[1,2]", "data.repeats: [1, 2]; only repeat-copy uses it"),
        ("data.length_draws=0", "data.length_draws: 0; must lie between 1 and"),
        ("data.unbalanced_bits=1.5", "data.unbalanced_bits: 1.5; must lie between 0 and 1"),
        ("data.unbalanced_bits=nan", "data.unbalanced_bits: NaN; must lie between 0 and 1"),
        ("data.sequences_per_epoch=0", "data.sequences_per_epoch: 0; must lie between 1 and"),
        ("data.valid_lengths=[20,0]", "data.valid_lengths: 0; must lie between 1 and"),
        (
            "data.extrapolation_length=900000",
            "data.extrapolation_length: sequences of 1800001 steps; too long",
        ),
        ("data.test_length=900000", "data.test_length: sequences of 1800001 steps; too long"),
        ("model.kind=turing", "model.kind: turing; there are feedforward, autoencoder, "),
        ("model.slot=3", "model.slot: no such key; did you mean `slots`?"),
        ("model.slots=2", "model.shift_range: 1; in a circle of 2 slots a head moves by at most 0"),
        ("model.input=[1,4]", "model.input: 1×4; the data are 1×5; leave it out"),
        ("model.output=[2,4]", "model.output: 2×4; the data are 1×4; leave it out"),
        ("model.form=matrix", "model.hidden: 30; form = \"matrix\" takes 2 sides"),
        ("model.controller=gru", "model.controller: gru; one of feedforward, lstm expected"),
        ("train.loss=mse", "train.loss: mse; bits are trained with \"bce\""),
        ("train.batch_size=0", "train.batch_size: 0; must be at least 1"),
    ] {
        let (code, out, err) = run(folder.path(), &["train", "copy.toml", "-q", "--set", change]);
        assert_eq!((code, out.as_str()), (2, ""), "{change}: {err}");
        assert!(
            err.starts_with("error: ") && err.lines().count() == 1 && err.contains(said),
            "{change}: {err}"
        );
    }
    assert_eq!(
        run(folder.path(), &["train", "copy.toml", "-q", "--out", "x", "--set", "train.epochs=1"]).0,
        0
    );
    write_f32(&mut std::fs::File::create(folder.path().join("in.npy")).unwrap(), &[1, 3, 4], &[0.0; 12])
        .unwrap();
    for (args, said) in [
        (
            &["predict", "x", "-i", "in.npy", "-o", "-"][..],
            "in.npy: the net takes [n, time, 1, 5], these inputs are [1, 3, 4]",
        ),
        (
            &["eval", "x", "--data", "digits"],
            "--data: the sequences of an algorithm are generated; --length asks for others than the run's",
        ),
        (&["eval", "x", "--length", "0"], "data.test_length: 0; must lie between 1 and"),
        (&["eval", "x", "--repeats", "3"], "data.test_repeats: 3; only repeat-copy uses it"),
        (
            &["eval", "x", "--length", "3", "--split", "valid"],
            "length and repeats: only the test split has one length",
        ),
    ] {
        let (code, _, err) = run(folder.path(), args);
        assert!(code != 0 && err.contains(said), "{args:?}: {err}");
    }
}
