//! What the machine refuses: no space, files that may not grow, locks that do not work. And keys that would be without effect.

mod common;

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use common::{SMALL, bytes, matnet, run};

fn errors(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("error: ")).collect()
}

/// The command in a shell that limits the size of files to so many blocks.
#[cfg(unix)]
fn limited(folder: &Path, blocks: usize, args: &str) -> (i32, String) {
    let script = format!("ulimit -f {blocks} && exec '{}' {args}", cargo_bin!("matnet").display());
    let output = Command::new("sh").arg("-c").arg(script).current_dir(folder).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), SMALL).unwrap();
    let (code, said) = limited(folder.path(), 1, "train c.toml -q --out run");
    let error = errors(&said);
    assert_eq!((code, error.len()), (1, 1), "{said}");
    assert!(error[0].contains("run/") && error[0].contains("`ulimit -f`"), "{said}");
    let left = std::fs::read_dir(folder.path().join("run")).unwrap().flatten();
    let left: Vec<String> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with(".unfinished")), "{left:?}");
    // Without the limit the same command goes on.
    let (code, _, said) = run(folder.path(), &["train", "c.toml", "-q", "--out", "run"]);
    assert_eq!(code, 0, "{said}");
    let before = bytes(&folder.path().join("run"));
    let (code, said) = limited(folder.path(), 0, "report run");
    assert_eq!(code, 1, "{said}");
    assert!(
        errors(&said)[0].ends_with("report.html: grows larger than `ulimit -f` or the file system allows"),
        "{said}"
    );
    assert!(bytes(&folder.path().join("run")) == before);
}

/// `/dev/full` is a disk without space.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_once_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = matnet(folder.path(), &["new", "feedforward"]).stdout(full()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said, "error: cannot write the output: no space left on the disk\n");
    // A device is not replaced by a file.
    let (code, _, said) = run(folder.path(), &["new", "feedforward", "--force", "--out", "/dev/full"]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(said, "error: /dev/full: is a device or a pipe; the name of a file expected\n");
}

#[test]
fn a_file_system_without_locks_is_an_error_unless_the_user_knows_better() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), SMALL).unwrap();
    let args = ["train", "c.toml", "-q", "--out", "run"];
    let failing = |operation: usize, more: Option<&str>| {
        let mut command = matnet(folder.path(), &args);
        command.env("MATNET_FAIL_AT", operation.to_string());
        command.envs(more.map(|name| (name, "1")));
        let output = command.output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // Some of the first operations is the lock; before it nothing is written.
    let refused = |operation: &usize| failing(*operation, None).1.contains("run/.lock: cannot be locked");
    let lock = (1..10).find(refused).expect("a lock among the first operations");
    let (code, said) = failing(lock, None);
    assert!(code == 1 && said.contains("MATNET_NO_LOCKS=1"), "{said}");
    assert!(!folder.path().join("run/config.toml").exists());
    let (code, said) = failing(lock, Some("MATNET_NO_LOCKS"));
    assert_eq!(code, 0, "{said}");
}

/// For every kind of net and data: keys that would be without effect, and who uses them.
#[test]
fn keys_without_effect_are_refused() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("column-net", &["model.heads=10"], "model.heads: 10; only aggregation = \"attention\" uses it"),
        (
            "column-net",
            &["model.num_neighbors=50"],
            "model.num_neighbors: 50; only aggregation = \"concat\" uses it",
        ),
        ("column-net", &["model.aggregation=concat", "model.heads=2"], "model.heads: 2; only aggregation"),
        ("feedforward", &["model.reach=2"], "model.reach: 2; only skip = \"dense\""),
        ("feedforward", &["model.block=2"], "model.block: 2; must be 1 without a skip"),
        ("feedforward", &["model.batch_norm_bias_init=0"], "model.batch_norm_bias_init: 0; only batch_norm"),
        ("feedforward", &["model.output_activation=tanh"], "model.output_activation: "),
        (
            "sequence-classifier",
            &["model.cell=rnn", "model.forget_bias=1"],
            "model.forget_bias: 1; only cell",
        ),
        (
            "sequence-classifier",
            &["model.cell=lstm", "model.activation=relu"],
            "model.activation: relu; an LSTM",
        ),
        (
            "turing-machine",
            &["model.controller=feedforward"],
            "model.forget_bias: 1; only controller = \"lstm\"",
        ),
        ("feedforward", &["data.scale_per=row"], "data.scale_per: row; only scale uses it"),
        ("feedforward", &["data.sequences=10"], "data.sequences: for "),
        ("feedforward", &["data.context_length=3"], "data.context_length: 3; only seq2seq"),
        ("gcn", &["data.split.per_class=5"], "data.split.per_class: 5; only the rule per-class uses it"),
        ("gcn", &["data.split.index=0"], "data.split.index: 0; only the rule public uses it"),
        ("memory-network", &["data.size=1k"], "data.size: 1k; only babi uses it"),
        ("turing-machine", &["data.repeats=[1,2]"], "data.repeats: [1, 2]; only repeat-copy uses it"),
        ("turing-machine", &["data.item_length=3"], "data.item_length: 3; only associative-recall uses it"),
        (
            "turing-machine",
            &["data.valid_sequences=0", "data.valid_lengths=[3]"],
            "data.valid_lengths: [3]; only valid_sequences above 0 uses it",
        ),
        (
            "turing-machine",
            &["data.test_sequences=0", "data.test_length=3"],
            "data.test_length: 3; only test_sequences above 0 uses it",
        ),
        (
            "turing-machine",
            &["data.test_sequences=0", "data.extrapolation_length=9"],
            "data.extrapolation_length: 9; only test_sequences above 0 uses it",
        ),
        ("feedforward", &["train.momentum=0.9"], "train.momentum: 0.9; only sgd uses it"),
        (
            "feedforward",
            &["train.optimizer=sgd", "train.beta_1=0.9"],
            "train.beta_1: 0.9; only adam and adamw",
        ),
        ("feedforward", &["train.weight_decay=0.1"], "train.weight_decay: 0.1; only adamw and sgd use it"),
        (
            "feedforward",
            &["train.schedule=constant", "train.min_learning_rate=1e-5"],
            "train.min_learning_rate: ",
        ),
        ("feedforward", &["train.gamma=0.5"], "train.gamma: 0.5; only the step schedule uses it"),
        (
            "feedforward",
            &["train.regularize_only=layer"],
            "train.regularize_only: layer; only l1 and l2 use it",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (kind, set, wanted) in cases {
        let (code, template, _) = run(folder.path(), &["new", kind]);
        assert_eq!(code, 0);
        std::fs::write(folder.path().join("c.toml"), template).unwrap();
        let mut args = vec!["inspect", "c.toml"];
        set.iter().for_each(|assignment| args.extend(["--set", assignment]));
        let (code, _, said) = run(folder.path(), &args);
        assert_eq!(code, 2, "{kind} {set:?}: {said}");
        assert!(said.contains(wanted), "{kind} {set:?}: {said}");
    }
}

#[test]
fn the_loss_of_occluded_entries_is_printed_and_is_that_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[data]\nsource = 'optdigits'\nlimit = 80\nscale = 'min-max'\nocclusion = [3, 3]\n[model]\nkind = 'autoencoder'\n\
                  hidden = [4, 4]\ndepth = 2\n[train]\nepochs = 1\nbatch_size = 20\n";
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let (code, _, said) = run(folder.path(), &["train", "c.toml", "-q", "--out", "run"]);
    assert_eq!(code, 0, "{said}");
    let (code, out, said) = run(folder.path(), &["eval", "run"]);
    assert_eq!(code, 0, "{said}");
    let text = std::fs::read_to_string(folder.path().join("run/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let [loss, occluded] = [&result["test"]["loss"], &result["occluded_loss"]]
        .map(|number| matnet_report::text::number(number.as_f64().unwrap()));
    let wanted = format!("loss {loss} over 16 examples, {occluded} where occluded\n");
    assert!(out.contains(&wanted), "{out} should have {wanted}");
    assert_ne!(loss, occluded);
}
