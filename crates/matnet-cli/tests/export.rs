//! `matnet export`: files that are the same every time, refusals, and the same predictions in ONNX Runtime where it is installed.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use common::{SMALL, run};
use tempfile::TempDir;

fn trained(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("config.toml"), config).unwrap();
    let (code, _, err) = run(folder.path(), &["train", "config.toml", "--quiet", "--out", "run"]);
    assert_eq!(code, 0, "{err}");
    folder
}

#[test]
fn a_run_gives_the_same_file_every_time() {
    let folder = trained(SMALL);
    let export = |name: &str| {
        let (code, out, err) = run(folder.path(), &["export", "run", "--onnx", name]);
        assert_eq!((code, out), (0, format!("{name} written, opset 18\n")), "{err}");
        std::fs::read(folder.path().join(name)).unwrap()
    };
    let bytes = export("a.onnx");
    assert_eq!(bytes, export("b.onnx"));
    std::fs::write(folder.path().join("c.onnx"), "an older file").unwrap();
    assert_eq!(bytes, export("c.onnx"), "a file that exists is replaced");
    // Names and the checksum of the weights stand in the file as they are.
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    for text in ["matnet.weights_sha256", "layer.0.row_map", "probabilities", "[\"0\",\"1\",\"2\""] {
        assert!(has(text), "{text}");
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = trained(SMALL);
    std::fs::write(folder.path().join("kept.onnx"), "mine").unwrap();
    let refused = |args: &[&str]| {
        let (code, out, err) = run(folder.path(), &[&["export"], args].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert_eq!(std::fs::read(folder.path().join("kept.onnx")).unwrap(), b"mine");
        err
    };
    let err = refused(&["run", "--onnx", "kept.onnx", "--lengths"]);
    let why =
        "error: run: lengths: a feedforward takes single matrices; only nets on sequences have lengths\n";
    assert_eq!(err, why);
    let graph = "[data]\nsource = 'citations'\n[model]\nkind = 'chebyshev'\nhidden = [2]\nlambda_max = 'estimated'\n[train]\nepochs = 1\n";
    std::fs::write(folder.path().join("graph.toml"), graph).unwrap();
    let (code, _, err) = run(folder.path(), &["train", "graph.toml", "--quiet", "--out", "graph"]);
    assert_eq!(code, 0, "{err}");
    let err = refused(&["graph", "--onnx", "kept.onnx"]);
    assert_eq!(
        err,
        "error: graph: this chebyshev cannot be exported to ONNX: lambda_max = \"estimated\" iterates on each graph from random numbers that ONNX cannot draw again, and only a net with \"two\" can be exported\n"
    );
    let (code, _, err) = run(folder.path(), &["export", "nothing", "--onnx", "kept.onnx"]);
    assert!(code == 1 && err.contains("nothing: there is no run here"), "{code}: {err}");
    let (code, _, err) = run(folder.path(), &["export", "run", "--onnx", "no/such/folder/x.onnx"]);
    assert_eq!(code, 1, "{err}");
}

/// A Python with ONNX Runtime: that of `peers/check-onnx`, or the system's.
fn python(peers: &Path) -> Option<PathBuf> {
    let found = [peers.join(".venv-onnx/bin/python"), PathBuf::from("python3")];
    found.into_iter().find(|python| {
        let import = ["-c", "import numpy, onnx, onnxruntime"];
        Command::new(python).args(import).output().is_ok_and(|output| output.status.success())
    })
}

#[test]
fn templates_predict_alike_in_onnx_runtime() {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
    let Some(python) = python(&peers) else {
        eprintln!(
            "SKIPPED: no Python with onnx and onnxruntime; `peers/check-onnx` makes one and compares all nets"
        );
        return;
    };
    let mut command = Command::new(python);
    command.arg(peers.join("check-onnx")).arg("--matnet").arg(cargo_bin!("matnet")).arg("template");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.ends_with("\n12 cases, 0 failed\n"), "{text}");
}
