//! `matnet new`, `inspect`, `completions` and `man`.

mod common;

use std::path::Path;

use common::run;
use tempfile::TempDir;

const KINDS: [&str; 11] = [
    "feedforward",
    "autoencoder",
    "sequence-classifier",
    "sequence-labeller",
    "seq2seq",
    "column-net",
    "gcn",
    "chebyshev",
    "turing-machine",
    "memory-network",
    "end-to-end-memory",
];

/// The labeller's template names a file of the user's own: sequences with a class per step.
fn own_data(folder: &Path) {
    use matnet_data::format::npy::write_f32;
    let mut npz =
        matnet_data::format::npz::Writer::new(std::fs::File::create(folder.join("mine.npz")).unwrap());
    let numbers: Vec<f32> = (0..40 * 5 * 3 * 2).map(|at| ((at * 7919) % 101) as f32 / 101.0).collect();
    let classes: Vec<f32> = (0..40 * 5).map(|at| (at % 3) as f32).collect();
    npz.add("x", |mut out| write_f32(&mut out, &[40, 5, 3, 2], &numbers)).unwrap();
    npz.add("y", |mut out| write_f32(&mut out, &[40, 5], &classes)).unwrap();
    npz.finish().unwrap();
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
        assert_eq!(err.trim(), format!("error: {file}: is there already; --force overwrites it"));
        let (code, printed, _) = run(folder.path(), &["new", kind]);
        assert_eq!(code, 0);
        assert_eq!(printed, std::fs::read_to_string(folder.path().join(&file)).unwrap());
    }
}

/// A line that is commented out is offered to the user: it must mean something.
#[test]
fn every_key_of_every_template_is_known() {
    let folder = TempDir::new().unwrap();
    own_data(folder.path());
    for kind in KINDS {
        let template = run(folder.path(), &["new", kind]).1;
        let offered = template.lines().filter(|line| line.starts_with("# ") && line.contains(" = "));
        for line in offered {
            let with = template.replace(line, line.strip_prefix("# ").unwrap());
            std::fs::write(folder.path().join("x.toml"), with).unwrap();
            let (_, _, err) = run(folder.path(), &["inspect", "x.toml"]);
            // Some keys belong to another optimiser or schedule, and say so.
            assert!(
                err.is_empty()
                    || err.contains("use it")
                    || err.contains("uses it")
                    || err.contains("must be 1 without a skip")
                    || err.contains("`edges.csv`: there is no such file")
                    || err.contains("`citations`: there is no such file"),
                "{line}: {err}"
            );
        }
    }
}

#[test]
fn a_net_is_inspected_before_and_after() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["new", "feedforward", "--out", "x.toml"]);
    let (code, out, _) = run(
        folder.path(),
        &["inspect", "x.toml", "--set", "model.hidden=[50,50]", "--set", "model.depth=30"],
    );
    assert_eq!(code, 0);
    assert!(out.contains("layer.1 … layer.29  matrix map  50×50 "), "{out}");
    // 28·50·2 + 2500, 29 times 50·50·3, and 2500·10 + 10 on top.
    assert!(out.contains("parameters   247,810"), "{out}");
    // 784·2500 + 2500, 29 times 2500² + 2500, and the same top.
    assert!(out.contains("vector net   183,310,010"), "{out}");
    run(folder.path(), &["train", "x.toml", "-q", "--set", "train.epochs=1", "--set", "data.limit=200"]);
    let (code, out, _) = run(folder.path(), &["inspect", "runs/x"]);
    assert_eq!(code, 0);
    assert!(out.contains("trained      1 epoch, the best was 1; test error"), "{out}");
    for (args, said) in [
        (
            &["inspect", "runs/x", "--set", "model.depth=3"][..],
            "runs/x: --set changes configs; this is a run",
        ),
        (&["inspect", "."], ".: there is no run here (no config.toml)"),
    ] {
        let (code, _, err) = run(folder.path(), args);
        assert!(code != 0 && err.contains(said), "{err}");
    }
}

#[test]
fn every_verb_has_an_example_a_page_and_completions() {
    let folder = TempDir::new().unwrap();
    let (code, out, err) = run(folder.path(), &["man", "pages"]);
    assert_eq!(code, 0, "{out}{err}");
    let (_, bash, _) = run(folder.path(), &["completions", "bash"]);
    for verb in [
        "train",
        "compare",
        "eval",
        "predict",
        "inspect",
        "new",
        "report",
        "reproduce",
        "data list",
        "data fetch",
        "data verify",
        "data show",
        "bench",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        let (code, help, _) = run(folder.path(), &[&words[..], &["--help"]].concat());
        assert_eq!(code, 0, "{verb}");
        assert!(help.contains("Example") && help.contains(&format!("matnet {verb}")), "{verb}: {help}");
        let page =
            std::fs::read_to_string(folder.path().join(format!("pages/matnet-{}.1", verb.replace(' ', "-"))));
        assert!(page.unwrap().contains(".SH NAME"), "{verb}");
        assert!(
            bash.contains(&format!("matnet__subcmd__{}", words.join("__subcmd__")))
                || bash.contains(words[0]),
            "{verb}"
        );
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(run(folder.path(), &["completions", shell]).1.contains("matnet"));
    }
}
