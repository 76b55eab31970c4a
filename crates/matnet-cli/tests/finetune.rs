//! Fine-tuning: weights of another run, frozen layers, more epochs on a run.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{bytes, folder_with, kill_at_least, kill_until_done, ok, run, same};

const CONFIG: &str = "
[data]
source = 'digits'
limit = 300
split = { valid = 60, test = 60 }
[model]
kind = 'feedforward'
hidden = [8, 8]
depth = 3
[train]
epochs = 3
batch_size = 20
";

/// The tensors of a file of weights, as bytes.
fn weights(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    file.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect()
}

#[test]
fn weights_that_fit_are_taken_and_frozen_ones_stay() {
    let (_temporary, folder) = folder_with(CONFIG);
    ok(&folder, &["train", "digits.toml", "--out", "a", "-q"]);
    // Another head, and one more layer: what fits is taken, the rest is said.
    let more = [
        "--set",
        "train.from=a",
        "--set",
        "model.depth=4",
        "--set",
        "train.freeze=[\"layer.0\", \"layer.1.bias\"]",
        "--set",
        "train.optimizer=adamw",
        "--set",
        "train.l2=0.01",
        "--set",
        "train.ema_decay=0.9",
        "--set",
        "train.grad_clip_norm=0.1",
    ];
    let args = [&["train", "digits.toml", "--out", "b"][..], &more].concat();
    let (_, err) = ok(&folder, &args);
    let said = "11 of 14 parameters taken from a/best.safetensors; new: layer.3.row_map, layer.3.col_map, layer.3.bias";
    assert!(err.contains(said), "{err}");
    let (before, after) =
        (weights(&folder.join("a/best.safetensors")), weights(&folder.join("b/last.safetensors")));
    for (name, numbers) in &after {
        let frozen = name.starts_with("layer.0.") || name == "layer.1.bias";
        assert_eq!(before.get(name) == Some(numbers), frozen, "{name}");
    }
    let stored = std::fs::read_to_string(folder.join("b/from.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored["new"].as_array().unwrap().len(), 3);
    assert_eq!((&stored["other_shape"], &stored["unused"]), (&serde_json::json!([]), &serde_json::json!([])));
    let config = std::fs::read_to_string(folder.join("b/config.toml")).unwrap();
    assert!(config.contains(&format!("from_sha256 = {}", stored["sha256"])), "{config}");
    // The same again, killed on the way; then again from the config of the run.
    let slow = [&["train", "digits.toml", "-q", "--set", "train.epochs=30"][..], &more].concat();
    ok(&folder, &[&slow[..], &["--out", "whole"]].concat());
    let killed = [&slow[..], &["--out", "killed", "--save-every", "0"]].concat();
    kill_at_least(1, &folder, &killed, "killed", 60);
    same(&folder.join("whole"), &folder.join("killed"));
    ok(&folder, &["train", "b/config.toml", "--out", "again", "-q"]);
    same(&folder.join("b"), &folder.join("again"));
}

#[test]
fn after_its_first_checkpoint_a_run_does_not_need_the_source() {
    let (_temporary, folder) = folder_with(CONFIG);
    ok(&folder, &["train", "digits.toml", "--out", "a", "-q"]);
    let args =
        ["train", "digits.toml", "-q", "--set", "train.from=a/last.safetensors", "--set", "train.epochs=4"];
    ok(&folder, &[&args[..], &["--out", "whole"]].concat());
    // A run that has a checkpoint of its middle.
    let shorter = [&args[..5], &["--set", "train.epochs=2", "--out", "b"]].concat();
    ok(&folder, &shorter);
    std::fs::remove_dir_all(folder.join("a")).unwrap();
    ok(
        &folder,
        &[
            "train",
            "digits.toml",
            "-q",
            "--set",
            "train.from=a/last.safetensors",
            "--epochs",
            "4",
            "--out",
            "b",
        ],
    );
    same(&folder.join("whole"), &folder.join("b"));
    let (code, _, err) = run(&folder, &[&args[..], &["--out", "c"]].concat());
    let said = "error: train.from: a/last.safetensors; no such file or folder; the folder of a trained run expected\n";
    assert_eq!((code, err.as_str()), (2, said));
    assert!(!folder.join("c").exists());
}

#[test]
fn other_weights_under_the_same_name_are_noticed() {
    let (_temporary, folder) = folder_with(CONFIG);
    ok(&folder, &["train", "digits.toml", "--out", "a", "-q"]);
    ok(&folder, &["train", "digits.toml", "--out", "b", "-q", "--set", "train.from=a"]);
    ok(&folder, &["train", "digits.toml", "--out", "a", "-q", "--fresh", "--set", "train.seed=2"]);
    let (code, _, err) = run(&folder, &["train", "b/config.toml", "--out", "c", "-q"]);
    assert_eq!(code, 2);
    assert!(err.contains("train.from_sha256: ") && err.contains(": these are other weights"), "{err}");
}

#[test]
fn more_epochs_are_the_same_as_all_at_once() {
    let (_temporary, folder) = folder_with(CONFIG);
    let train = |out: &str, more: &[&str]| {
        ok(
            &folder,
            &[&["train", "digits.toml", "-q", "--out", out, "--set", "model.dropout=0.1"][..], more].concat(),
        )
    };
    // A schedule that does not depend on the number of epochs: the same bytes as from the start.
    for (name, schedule) in [("constant", "constant"), ("step", "step"), ("restarts", "cosine-restarts")] {
        let set = format!("train.schedule={schedule}");
        let (whole, parts) = (format!("{name}-whole"), format!("{name}-parts"));
        train(&whole, &["--set", &set, "--set", "train.epochs=5"]);
        train(&parts, &["--set", &set]);
        assert!(folder.join(&parts).join("result.json").exists());
        train(&parts, &["--set", &set, "--epochs", "4"]);
        train(&parts, &["--set", &set, "--epochs", "5"]);
        same(&folder.join(&whole), &folder.join(&parts));
    }
    // Otherwise the config says how long the run was before, and gives the same bytes again.
    train("cosine", &["--set", "train.schedule=cosine"]);
    train("cosine", &["--set", "train.schedule=cosine", "--epochs", "6"]);
    let config = std::fs::read_to_string(folder.join("cosine/config.toml")).unwrap();
    assert!(config.contains("epochs = 6\n") && config.contains("previous_epochs = [3]"), "{config}");
    let before = bytes(&folder.join("cosine"));
    train("cosine", &["--set", "train.schedule=cosine", "--epochs", "6"]);
    assert!(before == bytes(&folder.join("cosine")), "nothing is left to do");
    ok(&folder, &["train", "cosine/config.toml", "--out", "cosine-again", "-q"]);
    same(&folder.join("cosine"), &folder.join("cosine-again"));
    // Killed while it is extended.
    let long = [
        "train",
        "digits.toml",
        "-q",
        "--set",
        "model.dropout=0.1",
        "--out",
        "constant-parts",
        "--epochs",
        "60",
    ];
    kill_until_done(&folder, &[&long[..], &["--save-every", "0"]].concat(), 40);
    train("constant-60", &["--set", "train.epochs=60"]);
    same(&folder.join("constant-60"), &folder.join("constant-parts"));
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder_with(CONFIG);
    ok(&folder, &["train", "digits.toml", "--out", "a", "-q"]);
    let still = ["--set", "train.learning_rate=1e-30", "--set", "train.patience=1"];
    ok(&folder, &[&["train", "digits.toml", "--out", "early", "-q"][..], &still].concat());
    std::fs::create_dir(folder.join("empty")).unwrap();
    std::fs::write(folder.join("text"), "hello").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--set", "train.from=none"], 2, "train.from: none; no such file or folder"),
        (&["--set", "train.from=empty"], 2, "train.from: empty; there is no best.safetensors in this folder"),
        (&["--set", "train.from=text"], 1, "text: damaged"),
        (
            &["--set", "train.from=a", "--set", "model.kind=autoencoder", "--set", "model.depth=4"],
            2,
            "train.from: a/best.safetensors; no parameter of this net has the name and shape of one in there",
        ),
        (&["--set", "train.from_sha256=abc"], 2, "train.from_sha256: abc; only train.from uses it"),
        (
            &["--set", "train.freeze=[\"layer\", \"lstm\"]"],
            2,
            "train.freeze.[1]: lstm; no parameter or layer has this name; there are layer.0, layer.1, layer.2, head",
        ),
        (
            &["--set", "train.freeze=[\"layer\", \"head\"]"],
            2,
            "train.freeze: layer, head; leaves nothing to train",
        ),
        (
            &["--set", "train.restart_epochs=2"],
            2,
            "train.restart_epochs: 2; only the cosine-restarts schedule uses it",
        ),
        (
            &["--set", "train.schedule=cosine-restarts", "--set", "train.restart_factor=0"],
            2,
            "train.restart_factor: 0; must be at least 1",
        ),
        (
            &["--set", "train.previous_epochs=[2]"],
            2,
            "train.previous_epochs: [2]; only linear, cosine and exponential schedules use it",
        ),
        (
            &["--set", "train.schedule=cosine", "--set", "train.previous_epochs=[3]"],
            2,
            "train.previous_epochs: [3]; rising numbers below train.epochs expected",
        ),
        (&["--out", "a", "--epochs", "2"], 1, "a: has 3 epochs and cannot be made shorter: --epochs 2"),
        (
            &["--out", "a", "--epochs", "5", "--set", "train.l2=0.5"],
            1,
            "a: the folder holds a run with another config (train.l2 = 0.0, now 0.5)",
        ),
        (
            &[
                "--out",
                "early",
                "--epochs",
                "9",
                "--set",
                "train.learning_rate=1e-30",
                "--set",
                "train.patience=1",
            ],
            1,
            "early: stopped early after epoch 2 (train.patience = 1); more epochs would change nothing",
        ),
    ];
    for (args, code, said) in cases {
        let (ended, out, err) = run(&folder, &[&["train", "digits.toml", "-q"][..], args].concat());
        assert_eq!(ended, *code, "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{args:?}: {err}");
        assert!(out.is_empty() && !folder.join("runs").exists(), "{args:?}");
    }
}

#[test]
fn weights_stay_with_their_columns() {
    let (_temporary, folder) = folder_with("");
    let table = |name: &str, columns: &str| {
        let rows: String =
            (0..60).map(|at| format!("{},{},{}\n", at % 7, at * 5 % 11, ["u", "v"][at % 2])).collect();
        std::fs::write(folder.join(name), format!("{columns},y\n{rows}")).unwrap();
    };
    table("one.csv", "a,b");
    table("other.csv", "b,a");
    table("new.csv", "a,c");
    let text = "[data]\nsource = 'one.csv'\ntarget_column = 'y'\n[model]\nkind = 'feedforward'\nhidden = [3, 1]\n[train]\nepochs = 1\n";
    std::fs::write(folder.join("c.toml"), text).unwrap();
    ok(&folder, &["train", "c.toml", "--out", "a", "-q"]);
    let start = |data: &str, more: &[&str]| {
        let set = format!("data.source={data}");
        let args = ["train", "c.toml", "--fresh", "--out", "b", "--set", "train.from=a", "--set", &set];
        run(&folder, &[&args, more].concat())
    };
    let (code, _, said) = start("other.csv", &[]);
    let expected = "data.columns: [\"b\", \"a\"]; [\"a\", \"b\"] expected, the order in which the weights of train.from have them";
    assert!(code == 2 && said.contains(expected), "{said}");
    for (data, more) in
        [("other.csv", &["--set", "data.columns=[\"a\", \"b\"]"][..]), ("new.csv", &[]), ("one.csv", &[])]
    {
        let (code, _, said) = start(data, more);
        assert_eq!(code, 0, "{data}: {said}");
    }
}
