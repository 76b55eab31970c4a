//! The commands on memory nets: reproducible runs, answers to questions, clear errors.

mod common;

use std::path::Path;

use common::{run, same_on_any_number_of_threads, same_when_killed};
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'stories'
tasks = [1]
[model]
kind = 'end-to-end-memory'
embedding_dim = 15
hops = 2
heads = 2
linear_start = 3
[train]
epochs = 4
optimizer = 'sgd'
reduction = 'sum'
learning_rate = 0.01
grad_clip_norm_per_param = 40
";

const SUPERVISED: &str = "
[data]
source = 'stories'
tasks = [2]
[model]
kind = 'memory-network'
embedding_dim = 15
[train]
epochs = 3
learning_rate = 0.01
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("story.toml"), CONFIG).unwrap();
    std::fs::write(folder.path().join("supervised.toml"), SUPERVISED).unwrap();
    folder
}

fn metrics(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name).join("metrics.csv")).unwrap()
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    for config in ["story.toml", "supervised.toml"] {
        same_on_any_number_of_threads(folder.path(), &[config]);
    }
}

#[test]
fn a_run_killed_again_and_again_ends_in_the_same_bytes_despite_a_linear_start() {
    let folder = folder();
    same_when_killed(folder.path(), &["story.toml"], 30);
    // Three epochs of linear start, then the four of `epochs`.
    assert_eq!(metrics(folder.path(), "whole").lines().filter(|line| line.contains(",train,")).count(), 7);
}

#[test]
fn a_linear_start_ends_when_the_validation_loss_no_longer_falls() {
    let folder = folder();
    // So high a learning rate that the loss soon rises.
    let high = [
        "model.linear_start=30",
        "model.linear_start_patience=1",
        "train.learning_rate=0.2",
        "train.epochs=1",
    ];
    let set: Vec<&str> = high.iter().flat_map(|change| ["--set", change]).collect();
    let (code, _, err) =
        run(folder.path(), &[&["train", "story.toml", "-q", "--out", "x"][..], &set].concat());
    assert_eq!(code, 0, "{err}");
    let text = metrics(folder.path(), "x");
    let losses: Vec<f64> = text
        .lines()
        .filter(|line| line.contains(",valid,"))
        .map(|line| line.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    let linear = losses.len() - 1;
    assert!((2..30).contains(&linear), "{linear} epochs");
    // It fell until the last epoch of the linear start.
    assert!((1..linear - 1).all(|at| losses[at] < losses[at - 1]), "{losses:?}");
    assert!(losses[linear - 1] >= losses[linear - 2], "{losses:?}");
}

#[test]
fn stories_are_learnt_and_questions_answered() {
    let folder = folder();
    let (code, _, err) = run(folder.path(), &["new", "end-to-end-memory", "--out", "e.toml"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(folder.path(), &["train", "e.toml", "--out", "x", "--set", "train.epochs=25"]);
    assert_eq!(code, 0, "{err}");
    let error: f64 = out.split("test error ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(error < 5.0, "{out}");
    let tale = "Anna went to the garden.\nBoris ran to the attic.\nWhere is Anna?\nAnna walked to the market.\nWhere is Anna?\n\nClara returned to the library.\nWhere is Clara?\n";
    std::fs::write(folder.path().join("tale.txt"), tale).unwrap();
    let predict = ["predict", "x", "--input", "tale.txt", "--output", "-", "-q"];
    let (code, out, err) = run(folder.path(), &predict);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("question,class,p_anna,p_attic,"), "{out}");
    let answers: Vec<&str> = lines[1..].iter().map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(answers, ["garden", "market", "library"], "{out}");
    // Questions with answers can be evaluated; line numbers as in bAbI are understood.
    let told = "1 Anna went to the garden.\n2 Where is Anna?\tgarden\t1\n3 Where is Anna? \tattic\t1\n";
    std::fs::write(folder.path().join("told.txt"), told).unwrap();
    let (code, out, err) = run(folder.path(), &["eval", "x", "--data", "told.txt"]);
    assert!(code == 0 && out.contains("error 50.00 % (1 of 2)"), "{out}{err}");
    let (code, out, err) = run(folder.path(), &["inspect", "x"]);
    assert!(
        code == 0
            && out.contains(
                "end-to-end-memory (matrix form) on stories, input stories of up to 10 sentences, "
            ),
        "{out}{err}"
    );
    let (code, _, err) = run(folder.path(), &["report", "x"]);
    assert_eq!(code, 0, "{err}");
    assert!(folder.path().join("x/attention-1.png").exists());
    let page = std::fs::read_to_string(folder.path().join("x/report.html")).unwrap();
    assert!(page.contains(">Attention<") && page.contains("hop 3"));
}

#[test]
fn several_tasks_are_evaluated_one_by_one() {
    let folder = folder();
    let args =
        ["train", "story.toml", "-q", "--out", "x", "--set", "data.tasks=[1, 3]", "--set", "train.epochs=1"];
    assert_eq!(run(folder.path(), &args).0, 0);
    let (code, out, err) = run(folder.path(), &["eval", "x"]);
    assert_eq!(code, 0, "{err}");
    for said in ["1 where-somebody-is", "3 where-a-thing-was", "mean"] {
        assert!(out.contains(said), "{out}");
    }
    assert!(!out.contains("where-a-thing-is"), "{out}");
    let (_, out, _) = run(folder.path(), &["eval", "x", "--json"]);
    assert!(out.contains("\"breakdown\"") && out.contains("\"3 where-a-thing-was\""), "{out}");
    // A variant for each task: the table has their mean.
    let variants = format!("{CONFIG}\n[variant.one]\n[variant.two]\ndata.tasks = [2]\n");
    std::fs::write(folder.path().join("both.toml"), variants).unwrap();
    let args = ["compare", "both.toml", "-q", "--seeds", "2", "--set", "train.epochs=1"];
    let (code, out, err) = run(folder.path(), &args);
    assert!(code == 0 && out.contains("\n| mean ") && out.contains(" selected error (%) "), "{out}{err}");
}

#[test]
fn a_memory_network_learns_from_supporting_sentences() {
    let folder = folder();
    assert_eq!(run(folder.path(), &["new", "memory-network", "--out", "m.toml"]).0, 0);
    let args = ["train", "m.toml", "-q", "--out", "x", "--set", "data.tasks=[2]", "--set", "train.epochs=15"];
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let error: f64 = out.split("test error ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(error < 40.0, "{out}");
    let (code, _, err) = run(folder.path(), &["report", "x"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn hidden_states_are_those_after_a_hop() {
    let folder = folder();
    let story = "Anna went to the garden.\nWhere is Anna?\tgarden\nBoris went to the kitchen.\nWhere is Boris?\tkitchen\n";
    std::fs::write(folder.path().join("own.txt"), story).unwrap();
    for (config, shape) in [("story.toml", &[2, 2, 15][..]), ("supervised.toml", &[2, 15])] {
        let args = ["train", config, "-q", "--out", "x", "--fresh", "--set", "train.epochs=1"];
        assert_eq!(run(folder.path(), &args).0, 0);
        let hidden = |layer: &str, batch: &str| {
            let how = ["--hidden", layer, "--batch-size", batch, "--output", "h.npy"];
            run(folder.path(), &[&["predict", "x", "-q", "--input", "own.txt"], &how[..]].concat())
        };
        let mut files = Vec::new();
        for batch in ["1", "2"] {
            let (code, _, err) = hidden("hop.0", batch);
            assert_eq!(code, 0, "{err}");
            let states = matnet_data::format::npy::read(folder.path().join("h.npy")).unwrap();
            assert_eq!(states.shape(), shape);
            files.push(std::fs::read(folder.path().join("h.npy")).unwrap());
        }
        assert!(files[0] == files[1], "{config}: a question alone has the states that it has in a batch");
        let (code, _, err) = hidden("hop.9", "2");
        assert!(code == 1 && err.contains("no hidden layer is called `hop.9`; there are hop.0"), "{err}");
    }
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let folder = folder();
    for (change, said) in [
        ("model.kind=end-to-end-memori", "model.kind: end-to-end-memori; did you mean `end-to-end-memory`?"),
        ("model.head=3", "model.head: no such key; did you mean `heads`?"),
        ("model.heads=0", "model.heads: 0×15×15; every side must be at least 1"),
        ("model.hops=0", "model.hops: 0; must lie between 1 and"),
        ("model.time_noise=1", "model.time_noise: 1; must be at least 0 and less than 1"),
        ("model.tying=loose", "model.tying: loose; one of adjacent, layer-wise expected"),
        ("model.vocab_size=3", "model.vocab_size: 3; the stories have 18 words; leave it out"),
        ("data.task=3", "data.task: no such key; did you mean `tasks`?"),
        ("data.tasks=[4]", "data.tasks: 4; stories has 1, 2, 3"),
        ("data.tasks=[]", "data.tasks: []; name at least one"),
        ("data.split.valid=1e-9", "questions are none; a larger fraction, or 0 for no such split"),
        ("data.tasks=[1, 1]", "data.tasks: [1, 1]; each once"),
        ("data.size=10k", "data.size: 10k; only babi uses it"),
        ("data.size=2k", "data.size: 2k; did you mean `1k`?"),
        (
            "data.source=digits",
            "data.source: `digits` holds no stories, which is what this kind of net takes",
        ),
        (
            "data.source=storys",
            "data.source: `storys` is neither a dataset nor a file; did you mean `stories`?",
        ),
        ("data.split.valid=1000", "data.split.valid: 1000 of 1000 questions; leaves nothing to train on"),
        (
            "data.split.test=0.1",
            "data.split.test: 0.1; only stories without a test split of their own use it",
        ),
        ("train.loss=mse", "train.loss: mse; answers are trained with \"cross-entropy\""),
        ("model.linear_start=0", "model.linear_start: 0; must be at least 1"),
        ("train.linear_start=3", "train.linear_start: no such key; "),
        ("train.grad_clip_norm_per_param=0", "train.grad_clip_norm_per_param: 0; must be a number above 0"),
    ] {
        let (code, out, err) = run(folder.path(), &["train", "story.toml", "-q", "--set", change]);
        assert_eq!((code, out.as_str()), (2, ""), "{change}: {err}");
        assert!(
            err.starts_with("error: ") && err.lines().count() == 1 && err.contains(said),
            "{change}: {err}"
        );
    }
    let (code, _, err) = run(folder.path(), &["train", "supervised.toml", "--set", "model.linear_start=3"]);
    assert!(code == 2 && err.contains("model.linear_start: no such key; there are vocab_size, "), "{err}");
    let bare = "Anna ran.\nWho ran?\tanna\nBob sat.\nWho sat?\tbob\n";
    std::fs::write(folder.path().join("bare.txt"), bare).unwrap();
    std::fs::write(folder.path().join("asked.txt"), "Anna ran.\nWho ran?\n").unwrap();
    for (source, said) in [
        ("bare.txt", "bare.txt does not say which sentences support an answer"),
        ("asked.txt", "`Who ran?` has no answer to learn"),
    ] {
        let source = format!("data.source={source}");
        let set = [&source, "data.tasks=[1]", "data.split.valid=0", "data.split.test=0"];
        let set: Vec<&str> = set.iter().flat_map(|change| ["--set", change]).collect();
        let (code, _, err) = run(folder.path(), &[&["train", "supervised.toml"][..], &set].concat());
        assert!(code == 2 && err.contains(said), "{err}");
    }
    // Stories that do not fit the net.
    let small = [
        "train",
        "story.toml",
        "-q",
        "--out",
        "x",
        "--set",
        "train.epochs=1",
        "--set",
        "model.linear_start=1",
    ];
    assert_eq!(run(folder.path(), &small).0, 0);
    std::fs::write(folder.path().join("odd.txt"), "Anna wnt to the garden.\nWhere is Anna?\n").unwrap();
    std::fs::write(folder.path().join("mute.txt"), "Anna went to the garden.\n").unwrap();
    for (args, said) in [
        (
            &["predict", "x", "--input", "odd.txt", "--output", "-"][..],
            "odd.txt: the word `wnt` is not among the 18 that the net knows; did you mean `went`?",
        ),
        (&["predict", "x", "--input", "mute.txt", "--output", "-"], "mute.txt: has no question"),
        (
            &["predict", "x", "--input", "gone.txt", "--output", "-"],
            "error: `gone.txt` is neither a dataset nor a file",
        ),
        (
            &["eval", "x", "--data", "asked.txt"],
            "--data: the word `who` is not among the 18 that the net knows",
        ),
    ] {
        let (code, _, err) = run(folder.path(), args);
        assert!(code != 0 && err.contains(said), "{args:?}: {err}");
    }
}

/// Every key of the experiments' configs is known.
#[test]
fn the_configs_of_the_experiments_are_valid() {
    let here = TempDir::new().unwrap();
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/memory");
    for (file, variant) in [("babi", "qa20"), ("joint", "layer-wise"), ("stories", "before")] {
        let path = experiments.join(format!("{file}.toml"));
        let stories = ["--set", "data.source=stories", "--set", "data.tasks=[1]"];
        let inspect = ["inspect", path.to_str().unwrap(), "--variant", variant];
        let (code, out, err) = run(here.path(), &[&inspect[..], &stories].concat());
        assert!(
            code == 0 && out.starts_with("end-to-end-memory (matrix form) on stories"),
            "{file}: {out}{err}"
        );
    }
}

#[test]
fn babi_is_read_where_it_is() {
    let Some(root) = std::env::var_os("MATNET_DATA") else {
        return eprintln!("skipped: MATNET_DATA names no folder with babi");
    };
    if !Path::new(&root).join("babi").is_dir() {
        return eprintln!("skipped: {} has no folder babi", Path::new(&root).display());
    }
    let folder = folder();
    let args =
        ["train", "story.toml", "-q", "--out", "x", "--set", "data.source=babi", "--set", "train.epochs=30"];
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let error: f64 = out.split("test error ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(error < 10.0, "{out}");
}
