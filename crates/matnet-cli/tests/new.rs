//! `matnet new`, `inspect`, `completions` and `man`.

mod common;

use std::path::Path;

use common::run;
use tempfile::TempDir;

const KINDS: [&str; 12] = [
    "feedforward",
    "autoencoder",
    "sequence-classifier",
    "sequence-regressor",
    "sequence-labeller",
    "seq2seq",
    "column-net",
    "gcn",
    "chebyshev",
    "turing-machine",
    "memory-network",
    "end-to-end-memory",
];

/// Two templates name the user's own file: sequences with a class per step, and sequences with two values each.
fn own_data(folder: &Path) {
    use matnet_data::format::npy::{write_f32, write_i64};
    use matnet_data::format::npz::NpzWriter;
    let numbers =
        |count: usize| -> Vec<f32> { (0..count).map(|at| ((at * 7919) % 101) as f32 / 101.0).collect() };
    let classes: Vec<i64> = (0..40 * 5).map(|at| at % 3).collect();
    for file in ["mine.npz", "series.npz"] {
        let mut npz = NpzWriter::new(std::fs::File::create(folder.join(file)).unwrap());
        npz.add("x", |mut out| write_f32(&mut out, &[40, 5, 3, 2], &numbers(40 * 5 * 3 * 2))).unwrap();
        npz.add("y", |mut out| match file {
            "mine.npz" => write_i64(&mut out, &[40, 5], &classes),
            _ => write_f32(&mut out, &[40, 2], &numbers(40 * 2)),
        })
        .unwrap();
        npz.finish().unwrap();
    }
}

#[test]
fn every_template_trains_as_it_is() {
    let folder = TempDir::new().unwrap();
    own_data(folder.path());
    for kind in KINDS {
        let file = format!("{kind}.toml");
        let (code, out, err) = run(folder.path(), &["new", kind, "--out", &file]);
        assert_eq!((code, out), (0, format!("{file} written; `matnet train {file}` trains it\n")), "{err}");
        let (code, out, err) = run(folder.path(), &["train", &file, "-q", "--set", "train.epochs=1"]);
        assert_eq!(code, 0, "{kind}: {err}");
        assert!(out.starts_with(&format!("runs/{kind}: test ")), "{out}");
        let (code, again, err) = run(folder.path(), &["new", kind, "--out", &file]);
        assert_eq!((code, again.as_str()), (2, ""));
        assert_eq!(err.trim(), format!("error: {file}: exists already; --force overwrites it"));
        let (code, printed, _) = run(folder.path(), &["new", kind]);
        assert_eq!(code, 0);
        assert_eq!(printed, std::fs::read_to_string(folder.path().join(&file)).unwrap());
    }
}

/// A line that is commented out must be a key that the net knows.
#[test]
fn every_key_of_every_template_is_known() {
    let folder = TempDir::new().unwrap();
    own_data(folder.path());
    for kind in KINDS {
        let template = run(folder.path(), &["new", kind]).1;
        let keys = template.lines().filter(|line| line.starts_with("# ") && line.contains(" = "));
        for line in keys {
            let with = template.replace(line, line.strip_prefix("# ").unwrap());
            std::fs::write(folder.path().join("x.toml"), with).unwrap();
            let (_, _, err) = run(folder.path(), &["inspect", "x.toml"]);
            // Some keys belong to another optimizer or schedule, and the error says so.
            assert!(
                err.is_empty()
                    || err.contains("use it")
                    || err.contains("uses it")
                    || err.contains("must be 1 without a skip")
                    || err.contains("trained with")
                    || err.contains("keep nothing that could be computed again")
                    || err.contains("save nothing that could be rounded")
                    || err.contains("the official test split decides it")
                    || err.contains("has a test split of its own")
                    // Other kinds of data, and other files.
                    || err.contains("has no effect on an .npz")
                    || err.contains("holds no sequences")
                    || err.contains("is neither a dataset nor a file")
                    || err.contains("do not fill a window")
                    || err.contains("the samples have 5 steps")
                    || err.contains("steps the net reads")
                    || err.contains("can learn from")
                    || err.contains("a logarithm needs values")
                    || err.contains("there is no file `citations`"),
                "{line}: {err}"
            );
        }
    }
}

#[test]
fn a_net_is_inspected_before_and_after_training() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["new", "feedforward", "--out", "x.toml"]);
    let (code, out, _) = run(
        folder.path(),
        &["inspect", "x.toml", "--set", "model.hidden=[50,50]", "--set", "model.depth=30"],
    );
    assert_eq!(code, 0);
    assert!(out.contains("layer.1 … layer.29  matrix map  50×50 "), "{out}");
    // 28·50·2 + 2500, 29 times 50·50·3, and 2500·10 + 10 in the head.
    assert!(out.contains("parameters   247,810"), "{out}");
    // 784·2500 + 2500, 29 times 2500² + 2500, and the same head.
    assert!(out.contains("vector net   183,310,010"), "{out}");
    run(folder.path(), &["train", "x.toml", "-q", "--set", "train.epochs=1", "--set", "data.limit=200"]);
    let (code, out, _) = run(folder.path(), &["inspect", "runs/x"]);
    assert_eq!(code, 0);
    assert!(out.contains("trained      1 epoch, the best was 1; test error"), "{out}");
    for (args, said) in [
        (
            &["inspect", "runs/x", "--set", "model.depth=3"][..],
            "runs/x: --set overrides configs; a run is what it is",
        ),
        (&["inspect", "."], ".: there is no run here (no config.toml)"),
    ] {
        let (code, _, err) = run(folder.path(), args);
        assert!(code != 0 && err.contains(said), "{err}");
    }
}

#[test]
fn every_variant_of_a_config_is_inspected() {
    let folder = TempDir::new().unwrap();
    let template = run(folder.path(), &["new", "feedforward"]).1;
    let variants = "[variant.small]\nmodel.hidden = [5, 5]\n[variant.vector]\nmodel.form = 'vector'\nmodel.hidden = [50]\n";
    std::fs::write(folder.path().join("two.toml"), format!("{template}\n{variants}")).unwrap();
    let one = |name: &str, more: &[&str]| {
        let (code, out, err) =
            run(folder.path(), &[&["inspect", "two.toml", "--variant", name][..], more].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    for more in [&[][..], &["--set", "model.depth=2"]] {
        let (code, out, err) = run(folder.path(), &[&["inspect", "two.toml"][..], more].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        // Each as alone, under its name.
        let wanted =
            format!("variant small:\n{}\nvariant vector:\n{}", one("small", more), one("vector", more));
        assert_eq!(out, wanted);
    }
    let (small, vector) = (one("small", &[]), one("vector", &[]));
    assert!(small.starts_with("feedforward (matrix form) on fashion, input 28×28\n"), "{small}");
    assert!(vector.starts_with("feedforward (vector form) on fashion, input 28×28\n"), "{vector}");
    let (code, out, err) = run(folder.path(), &["inspect", "two.toml", "--variant", "large"]);
    let wanted = "error: variant.large: no such variant; there are small, vector\n";
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", wanted));
}

#[test]
fn every_command_has_an_example_a_manual_page_and_completions() {
    let folder = TempDir::new().unwrap();
    let (code, out, err) = run(folder.path(), &["man", "pages"]);
    assert_eq!(code, 0, "{out}{err}");
    let (_, bash, _) = run(folder.path(), &["completions", "bash"]);
    for command in [
        "train",
        "compare",
        "tune",
        "eval",
        "predict",
        "inspect",
        "new",
        "report",
        "data list",
        "data fetch",
        "data verify",
        "data show",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let (code, help, _) = run(folder.path(), &[&words[..], &["--help"]].concat());
        assert_eq!(code, 0, "{command}");
        assert!(help.contains("Example") && help.contains(&format!("matnet {command}")), "{command}: {help}");
        let page = std::fs::read_to_string(
            folder.path().join(format!("pages/matnet-{}.1", command.replace(' ', "-"))),
        );
        assert!(page.unwrap().contains(".SH NAME"), "{command}");
        assert!(bash.contains(&format!("matnet__subcmd__{}", words.join("__subcmd__"))), "{command}");
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(run(folder.path(), &["completions", shell]).1.contains("matnet"));
    }
}
