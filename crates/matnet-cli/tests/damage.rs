//! Files of a run that were damaged or edited are noticed by every command, and a run in use is left alone.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{matnet, run};

const CONFIG: &str = "
[data]
source = 'optdigits'
limit = 100
[model]
kind = 'feedforward'
hidden = [4, 4]
depth = 2
[train]
epochs = 2
";

fn trained(folder: &Path) {
    std::fs::write(folder.join("c.toml"), CONFIG).unwrap();
    let (code, _, err) = run(folder, &["train", "c.toml", "-q", "--out", "run"]);
    assert_eq!(code, 0, "{err}");
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn every_command_notices_an_edited_config() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    replace(&folder.path().join("run/config.toml"), "activation = \"relu\"", "activation = \"tanh\"");
    std::fs::write(folder.path().join("x.csv"), "0,1,2,3,4,5,6,7\n".repeat(8)).unwrap();
    for args in [
        &["eval", "run"][..],
        &["predict", "run", "--input", "x.csv", "--output", "-"],
        &["report", "run"],
        &["inspect", "run"],
        &["compare", "run", "run"],
        &["export", "run", "--onnx", "run.onnx"],
        &["serve", "run", "--listen", "127.0.0.1:0"],
    ] {
        let (code, out, err) = run(folder.path(), args);
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}: {err}");
        assert!(err.contains("config.toml") && err.contains("edited"), "{args:?}: {err}");
    }
}

#[test]
fn edited_results_splits_and_metrics_are_noticed() {
    for (file, from, to) in [
        ("result.json", "\"seed\": 1", "\"seed\": 2"),
        ("split.json", "\"train\":[", "\"train\":[99,"),
        ("metrics.csv", "1,train,", "1,train,0"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        trained(folder.path());
        replace(&folder.path().join("run").join(file), from, to);
        std::fs::write(folder.path().join("x.csv"), "0,1,2,3,4,5,6,7\n".repeat(8)).unwrap();
        for args in [
            &["eval", "run"][..],
            &["report", "run"],
            &["compare", "run", "run"],
            &["inspect", "run"],
            &["predict", "run", "--input", "x.csv", "--output", "-"],
            &["export", "run", "--onnx", "run.onnx"],
            &["serve", "run", "--listen", "127.0.0.1:0"],
            &["train", "c.toml", "-q", "--out", "run"],
        ] {
            let (code, _, err) = run(folder.path(), args);
            assert_eq!(code, 1, "{file} {args:?}: {err}");
            assert!(err.contains(file), "{file} {args:?}: {err}");
        }
    }
}

#[test]
fn fresh_leaves_a_run_alone_that_is_being_trained() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    let args =
        ["train", "c.toml", "-q", "--out", "run", "--set", "train.epochs=1000000", "--save-every", "0"];
    let mut child = matnet(folder.path(), &args).spawn().unwrap();
    let begun = Instant::now();
    while !folder.path().join("run/last.ckpt").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, _, err) = run(folder.path(), &["train", "c.toml", "-q", "--out", "run", "--fresh"]);
    let alive = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive, "the first process goes on");
    assert!(code == 1 && err.contains("another process is training here"), "{err}");
    assert!(folder.path().join("run/config.toml").exists(), "nothing was deleted");
}

#[test]
fn names_of_variants_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, what: &str| {
        std::fs::write(folder.path().join("c.toml"), format!("{CONFIG}\n[variant.\"{name}\"]\n")).unwrap();
        let (code, _, err) = run(folder.path(), &["compare", "c.toml", "--fresh"]);
        assert!(code == 2 && err.contains(what), "{name}: {code} {err}");
    };
    for name in ["../../x", "..", ".", "/x", "a/b", "", "a\\\\b", "a\\u001b"] {
        refused(name, "is not a name for a folder");
    }
    // Seeds of one net, and files that a comparison writes.
    for name in ["seed-1", "fold-0", "report.html", "results.csv", ".lock"] {
        refused(name, "is what matnet calls something else");
    }
}

#[test]
#[cfg(unix)]
fn a_lock_that_is_a_link_is_refused_and_its_target_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    std::fs::write(folder.path().join("precious"), "mine").unwrap();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    std::os::unix::fs::symlink("../precious", folder.path().join("run/.lock")).unwrap();
    let (code, _, err) = run(folder.path(), &["train", "c.toml", "-q", "--out", "run"]);
    assert!(code == 1 && err.contains("is a symbolic link"), "{err}");
    assert_eq!(std::fs::read_to_string(folder.path().join("precious")).unwrap(), "mine");
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_goes_on_when_nobody_reads_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = matnet(folder.path(), &["train", "c.toml", "--out", "run"]).stderr(full).status().unwrap();
    assert!(status.success(), "{status}");
    assert!(folder.path().join("run/result.json").exists());
}

#[test]
fn losses_on_logits_refuse_an_output_activation() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[data]\nsource = 'optdigits'\nscale = 'min-max'\n[model]\nkind = 'autoencoder'\nhidden = [4, 4]\ndepth = 2\n\
                  output_activation = 'sigmoid'\n[train]\nloss = 'bce'\nepochs = 1\n";
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let (code, _, err) = run(folder.path(), &["train", "c.toml"]);
    assert!(code == 2 && err.contains("train.loss: bce") && err.contains("takes logits"), "{code} {err}");
}

#[test]
fn what_cannot_fit_into_memory_is_refused_before_it_is_tried() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), CONFIG).unwrap();
    let set = ["--set", "model.form=vector", "--set", "model.hidden=[40000]", "--set", "model.depth=4"];
    let args = [&["train", "c.toml", "--out", "run"][..], &set].concat();
    let (code, _, err) = run(folder.path(), &args);
    assert!(code == 2 && err.contains("GiB") && err.contains("available"), "{code} {err}");
    assert!(!folder.path().join("run").exists());
    // A batch is never larger than the training split.
    let args = ["train", "c.toml", "-q", "--out", "run", "--set", "train.batch_size=1000000000000"];
    let (code, _, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
}
