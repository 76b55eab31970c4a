//! `matnet train`: runs that give the same bytes whatever happens to them, and clear errors.

mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use common::{bytes, kill_at_least, matnet, run, same};
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'digits'
limit = 300
split = { valid = 60, test = 60 }
[model]
kind = 'feedforward'
hidden = [8, 8]
depth = 3
dropout = 0.1
[train]
epochs = 6
batch_size = 20
schedule = 'cosine'
grad_clip_norm = 5.0
l2 = 1e-5
";

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("digits.toml");
    std::fs::write(&config, CONFIG).unwrap();
    (folder, config)
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let (folder, _) = folder();
    for threads in ["1", "2", "5"] {
        let (code, out, err) =
            run(folder.path(), &["train", "digits.toml", "--out", threads, "--threads", threads]);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with(&format!("{threads}: test error ")), "{out}");
        assert!(err.contains(" parameters, 6 epochs of 9 steps\n"), "{err}");
    }
    same(&folder.path().join("1"), &folder.path().join("2"));
    same(&folder.path().join("1"), &folder.path().join("5"));
}

#[test]
fn a_run_killed_again_and_again_ends_in_the_same_bytes() {
    let (folder, _) = folder();
    let long = ["train", "digits.toml", "-q", "--set", "train.epochs=60", "--set", "train.ema_decay=0.9"];
    assert_eq!(run(folder.path(), &[&long[..], &["--out", "whole"]].concat()).0, 0);
    // With a checkpoint after every step most kills hit one that is being written.
    let args = [&long[..], &["--out", "killed", "--save-every", "0"]].concat();
    kill_at_least(3, folder.path(), &args, "killed", 25);
    same(&folder.path().join("whole"), &folder.path().join("killed"));
    let leftovers = std::fs::read_dir(folder.path().join("killed")).unwrap().flatten();
    assert!(
        leftovers.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".unfinished"))
    );
}

#[cfg(unix)]
#[test]
fn control_c_saves_and_exits_130() {
    let (folder, _) = folder();
    let args = ["train", "digits.toml", "--out", "x", "-q", "--set", "train.epochs=100000"];
    let mut child = matnet(folder.path(), &args).stderr(Stdio::piped()).spawn().unwrap();
    while !folder.path().join("x/split.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Somewhere among the first epochs.
    std::thread::sleep(Duration::from_millis(300));
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let ended = child.wait().unwrap();
    assert_eq!(ended.code(), Some(130));
    assert!(folder.path().join("x/last.ckpt").exists());
    // It resumes only with the same config.
    let (code, _, err) =
        run(folder.path(), &["train", "digits.toml", "--out", "x", "--set", "train.epochs=6"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("the folder holds a run with another config (train.epochs = 100000, now 6)"),
        "{err}"
    );
}

#[test]
fn a_finished_run_is_left_as_it_is() {
    let (folder, _) = folder();
    assert_eq!(run(folder.path(), &["train", "digits.toml", "-q"]).0, 0);
    let run_folder = folder.path().join("runs/digits");
    let before = bytes(&run_folder);
    let (code, out, err) = run(folder.path(), &["train", "digits.toml"]);
    assert_eq!(code, 0);
    assert!(err.contains("finished before; --fresh starts it again"), "{err}");
    assert!(out.contains("runs/digits: test error"), "{out}");
    assert!(before == bytes(&run_folder));
    // Its config gives the same run again.
    let config = run_folder.join("config.toml");
    let (code, _, err) = run(folder.path(), &["train", config.to_str().unwrap(), "--out", "again", "-q"]);
    assert_eq!(code, 0, "{err}");
    same(&run_folder, &folder.path().join("again"));
}

#[test]
fn a_damaged_checkpoint_is_noticed_and_the_one_before_it_resumes() {
    let (folder, _) = folder();
    let args = ["train", "digits.toml", "--out", "x", "-q", "--save-every", "0"];
    let mut child = matnet(folder.path(), &args).stdout(Stdio::null()).spawn().unwrap();
    while !folder.path().join("x/previous.ckpt").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let checkpoint = folder.path().join("x/last.ckpt");
    if !checkpoint.exists() {
        // Killed between two renames.
        std::fs::copy(folder.path().join("x/previous.ckpt"), &checkpoint).unwrap();
    }
    let mut damaged = std::fs::read(&checkpoint).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    std::fs::write(&checkpoint, damaged).unwrap();
    let (code, _, err) = run(folder.path(), &args);
    assert_eq!(code, 1);
    let said = "x/last.ckpt: damaged: the checksum does not match; the checkpoint before it is intact: \
                --from previous resumes from there";
    assert!(err.contains(said), "{err}");
    let (code, _, err) = run(folder.path(), &[&args[..], &["--from", "previous"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(run(folder.path(), &["train", "digits.toml", "--out", "whole", "-q"]).0, 0);
    same(&folder.path().join("whole"), &folder.path().join("x"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_nothing_that_was_saved() {
    let (folder, _) = folder();
    let wide = ["--set", "model.hidden=[60,60]", "--set", "train.epochs=2"];
    let saved = [&["train", "digits.toml", "--out", "x", "-q"][..], &wide].concat();
    // A limit on the size of files stands in for the full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 40; exec \"$0\" {}",
        saved.join(" ").replace('[', "\\[").replace(']', "\\]")
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .arg(cargo_bin!("matnet"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    let said = "x/best.safetensors: grows larger than `ulimit -f` or the file system allows";
    assert!(err.contains(said), "{err}");
    assert!(!folder.path().join("x/best.safetensors").exists());
    let (code, _, err) = run(folder.path(), &saved);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn two_processes_do_not_train_in_one_folder() {
    let (folder, _) = folder();
    let args = ["train", "digits.toml", "--out", "x", "-q", "--set", "train.epochs=100000"];
    let mut child = matnet(folder.path(), &args).spawn().unwrap();
    while !folder.path().join("x/config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (code, _, err) = run(folder.path(), &args);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((code, err.trim()), (1, "error: x: another process is training here"));
}

#[test]
fn divergence_stops_the_run_and_names_the_layer() {
    let (folder, _) = folder();
    let args = [
        "train",
        "digits.toml",
        "--out",
        "x",
        "-q",
        "--set",
        "train.optimizer=sgd",
        "--set",
        "train.grad_clip_norm=1e30",
    ];
    let (code, _, err) = run(
        folder.path(),
        &[&args[..], &["--set", "train.learning_rate=1e30", "--set", "train.l2=0"]].concat(),
    );
    assert_eq!(code, 1);
    assert!(err.contains("training diverged in epoch 1, step 2: the loss is"), "{err}");
    assert!(err.contains("layer."), "{err}");
    assert!(err.contains("a lower train.learning_rate or a train.grad_clip_norm would help"), "{err}");
    assert!(!folder.path().join("x/last.ckpt").exists());
    // A checkpoint that was saved before stays, and is named.
    let more =
        ["--set", "train.learning_rate=1e30", "--set", "train.l2=0", "--save-every", "0", "--out", "y"];
    let args =
        ["train", "digits.toml", "-q", "--set", "train.optimizer=sgd", "--set", "train.grad_clip_norm=1e30"];
    let (code, _, err) = run(folder.path(), &[&args[..], &more].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("the last good checkpoint is y/last.ckpt"), "{err}");
}

#[test]
fn patience_stops_a_run_early() {
    let (folder, _) = folder();
    // A learning rate that changes nothing: the first epoch stays the best.
    let still = [
        "--set",
        "train.learning_rate=1e-30",
        "--set",
        "train.schedule=constant",
        "--set",
        "train.epochs=50",
    ];
    let args = ["train", "digits.toml", "-q", "--set", "train.patience=3", "--set", "model.dropout=0.0"];
    let (code, out, err) = run(folder.path(), &[&args[..], &still].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("after epoch 1, the best of 4\n"), "{out}");
}

#[test]
fn the_result_line_names_the_split_of_its_score() {
    let (folder, _) = folder();
    for (sizes, split) in [
        (["data.split.valid=60", "data.split.test=60"], "test"),
        (["data.split.valid=60", "data.split.test=0"], "valid"),
        (["data.split.valid=0", "data.split.test=0"], "train"),
    ] {
        let args = ["train", "digits.toml", "--out", split, "--set", "train.epochs=1"];
        let (code, out, err) =
            run(folder.path(), &[&args[..], &["--set", sizes[0], "--set", sizes[1]]].concat());
        assert_eq!(code, 0, "{err}");
        let valid = if split == "train" { "" } else { "valid loss " };
        assert!(err.contains("\nepoch 1/1: train loss ") && err.contains(valid), "{err}");
        assert!(out.starts_with(&format!("{split}: {split} error ")), "{out}");
        assert!(out.ends_with(" after epoch 1, the best of 1\n"), "{out}");
    }
    let (code, out, err) = run(folder.path(), &["eval", "valid"]);
    let wanted = "error: --split test: this split of the run's data is empty; train or valid expected\n";
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", wanted));
}

#[test]
fn seeds_and_variants_become_a_table() {
    let (folder, config) = folder();
    let variants = "[variant.matrix]\n[variant.vector]\nmodel.form = 'vector'\nmodel.hidden = [20]\n";
    std::fs::write(&config, format!("{CONFIG}{variants}")).unwrap();
    let (code, _, err) = run(folder.path(), &["train", "digits.toml"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("this config has the variants matrix, vector: `matnet compare` trains them all"),
        "{err}"
    );
    let (code, out, err) =
        run(folder.path(), &["compare", "digits.toml", "--seeds", "2", "-q", "--set", "train.epochs=2"]);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("| net ") && lines[0].contains(" test error (%) "), "{out}");
    assert!(
        lines[2].starts_with("| matrix | ")
            && lines[2].contains("±")
            && lines[0].contains(" best error (%) "),
        "{out}"
    );
    assert!(lines[3].starts_with("| vector | "), "{out}");
    // Finished runs give the same table.
    let (code, again, _) = run(folder.path(), &["compare", "runs/digits/matrix", "runs/digits/vector"]);
    assert_eq!(code, 0);
    assert_eq!(again.lines().nth(2).unwrap().split('|').nth(6), lines[2].split('|').nth(6));
    let (code, out, _) = run(
        folder.path(),
        &["train", "digits.toml", "--variant", "vector", "-q", "--out", "v", "--set", "train.epochs=2"],
    );
    assert_eq!(code, 0);
    assert!(out.starts_with("v/vector: test error"), "{out}");
}

/// The arguments, the exit code, and a part of the error message.
#[test]
fn every_mistake_gets_one_clear_error() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&["train", "none.toml"], 2, "none.toml: there is no such config; `matnet new` writes one"),
        (&["train", "."], 2, ".: is a folder; a config is a TOML file (`matnet new` writes one)"),
        (
            &["train", "digits.toml", "--set", "model.hiden=[5,5]"],
            2,
            "model.hiden: no such key; did you mean `hidden`?",
        ),
        (
            &["train", "digits.toml", "--set", "modell.hidden=1"],
            2,
            "modell: no such key; did you mean `model`?",
        ),
        (
            &["train", "digits.toml", "--set", "hidden"],
            2,
            "--set: `hidden`: key=value expected, like model.hidden=[50,50]",
        ),
        (
            &["train", "digits.toml", "--set", "data.split=random"],
            2,
            "data.split: \"random\"; a table with the keys rule, valid, test, ",
        ),
        (
            &["train", "digits.toml", "--set", "data.split=[\"random\", 0.1, 0.2]"],
            2,
            "data.split: a list; a table with the keys rule, valid, test, ",
        ),
        (
            &["train", "digits.toml", "--set", "data.log=1"],
            2,
            "data.log: 1; a table with the key offset expected",
        ),
        (
            &["train", "digits.toml", "--set", "train.optimizer=3"],
            2,
            "train.optimizer: 3; one of adam, adamw, sgd expected",
        ),
        (
            &["train", "digits.toml", "--set", "train.epochs=soon"],
            2,
            "train.epochs: \"soon\"; a whole number expected",
        ),
        (
            &["train", "digits.toml", "--set", "model.hidden=wide"],
            2,
            "model.hidden: \"wide\"; sides expected, like [50, 50] or [200], or a list of such",
        ),
        (
            &["train", "digits.toml", "--set", "model.batch_norm=1"],
            2,
            "model.batch_norm: 1; true or false expected",
        ),
        (
            &["train", "digits.toml", "--set", "train.optimizer=adamm"],
            2,
            "train.optimizer: adamm; did you mean `adam`?",
        ),
        (&["train", "digits.toml", "--set", "train.epochs=0"], 2, "train.epochs: 0; must be at least 1"),
        (
            &["train", "digits.toml", "--set", "train.learning_rate=-1.0"],
            2,
            "train.learning_rate: -1; must be a number above 0",
        ),
        (
            &["train", "digits.toml", "--set", "train.ema_decay=1"],
            2,
            "train.ema_decay: 1; must be above 0 and less than 1",
        ),
        (
            &["train", "digits.toml", "--set", "train.momentum=0.9"],
            2,
            "train.momentum: 0.9; only sgd uses it",
        ),
        (
            &["train", "digits.toml", "--set", "train.gamma=0.9"],
            2,
            "train.gamma: 0.9; only the step schedule uses it",
        ),
        (
            &["train", "digits.toml", "--set", "train.loss=mse"],
            2,
            "train.loss: mse; classes are trained with \"cross-entropy\"",
        ),
        (
            &["train", "digits.toml", "--set", "model.kind=feedfoward"],
            2,
            "model.kind: feedfoward; did you mean `feedforward`?",
        ),
        (
            &["train", "digits.toml", "--set", "model.kind=seq2seq"],
            2,
            "model.kind: seq2seq; the data are single matrices with a class per sample, which feedforward or autoencoder can learn from",
        ),
        (
            &["train", "digits.toml", "--set", "model.hidden=[5]"],
            2,
            "model.hidden: 5; form = \"matrix\" takes 2 sides, like [50, 50]",
        ),
        (
            &["train", "digits.toml", "--set", "model.input=[9,9]"],
            2,
            "model.input: 9×9; the data are 28×28; leave it out",
        ),
        (
            &["train", "digits.toml", "--set", "model.output=7"],
            2,
            "model.output: 7; the data have 10 classes",
        ),
        (
            &["train", "digits.toml", "--set", "data.source=digit"],
            2,
            "data.source: `digit` is neither a dataset nor a file; did you mean `digits`?",
        ),
        (
            &["train", "digits.toml", "--set", "data.source=citations"],
            2,
            "data.source: `citations` holds no matrices or sequences, which is what this kind of net takes",
        ),
        (
            &["train", "digits.toml", "--set", "data.split.valid=1.5"],
            2,
            "data.split.valid: 1.5; a fraction below 1, or a whole number, expected",
        ),
        (
            &["train", "digits.toml", "--set", "data.split.test=0.9", "--set", "data.split.valid=0.2"],
            2,
            "data.split: fractions valid = 0.2 and test = 0.9",
        ),
        (
            &["train", "digits.toml", "--set", "data.split.rule=official"],
            2,
            "data.split.rule: official; digits has no official test split; \"random\" draws one",
        ),
        (
            &["train", "digits.toml", "--set", "data.split.rule=within-groups"],
            2,
            "data.split: these data have no groups (subjects) to split by",
        ),
        (
            &["train", "digits.toml", "--set", "data.split.valid=0", "--set", "train.patience=3"],
            2,
            "train.patience: 3; needs a validation split; data.split.valid is 0",
        ),
        (
            &["train", "digits.toml", "--device", "tpu"],
            2,
            "--device tpu: no such device; there are flex, wgpu, cuda, rocm",
        ),
        (&["train", "digits.toml", "--device", "cuda"], 2, "--device cuda: this build has no cuda"),
        (
            &["train", "digits.toml", "--device", "rocm:1"],
            2,
            "--device rocm:1: this build has no rocm; build it with `cargo build --release --features rocm`",
        ),
        (
            &["train", "digits.toml", "--device", "cuda:x"],
            2,
            "--device cuda:x: a number expected after the colon, like cuda:0",
        ),
        (
            &["train", "digits.toml", "--device", "flex:1"],
            2,
            "--device flex:1: the CPU has no number; `flex` is all of it",
        ),
        (&["train", "digits.toml", "--variant", "x"], 2, "variant.x: no such variant; this config has none"),
        (&["train", "digits.toml", "--out", "digits.toml/x"], 1, "digits.toml/x: Not a directory"),
        (&["train", "broken.toml"], 2, "broken.toml: line 2: "),
        (&["train", "empty.toml"], 2, "model.kind: is missing; one of feedforward, autoencoder, "),
        (&["train", "model.toml"], 2, "[data] is missing"),
        (&["compare", "digits.toml", "other"], 2, "give one config, or the folders of runs, not both"),
        (&["compare", "other"], 1, "other: there is no run here"),
    ];
    let (folder, _) = folder();
    std::fs::write(folder.path().join("broken.toml"), "[data]\nsource = digits\n").unwrap();
    std::fs::write(folder.path().join("empty.toml"), "").unwrap();
    std::fs::write(folder.path().join("model.toml"), "[model]\nkind = 'feedforward'\n").unwrap();
    std::fs::create_dir(folder.path().join("other")).unwrap();
    for (args, code, said) in cases {
        let (ended, out, err) = run(folder.path(), args);
        assert_eq!(ended, *code, "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{args:?}: one line expected: {err}");
        assert!(out.is_empty(), "{args:?}: {out}");
        assert!(!folder.path().join("runs").exists(), "{args:?} left something behind");
    }
}
