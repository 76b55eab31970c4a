//! The commands on nets on graphs: reproducible runs, your own graphs, clear errors.

mod common;

use std::path::Path;

use common::{run, same_on_any_number_of_threads, same_when_killed};
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'citations'
normalize = 'rows'
num_neighbors = 5
edge_dropout = 0.2
split = { rule = 'random', valid = 100, test = 500 }
[model]
kind = 'column-net'
aggregation = 'attention'
heads = 3
hidden = 8
depth = 3
dropout = 0.3
input_dropout = 0.3
[train]
epochs = 6
learning_rate = 0.01
l2 = 5e-4
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("papers.toml"), CONFIG).unwrap();
    folder
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    for batch in [&[][..], &["--set", "train.batch_size=500", "--set", "train.epochs=2"]] {
        same_on_any_number_of_threads(folder.path(), &[&["papers.toml"], batch].concat());
    }
}

#[test]
fn a_run_killed_again_and_again_ends_in_the_same_bytes() {
    let folder = folder();
    // Mini-batches, so that an epoch has steps to be killed between.
    let args = ["papers.toml", "--set", "train.batch_size=200", "--set", "train.epochs=2"];
    same_when_killed(folder.path(), &args, 60);
}

/// Two rings of papers, each with words of its own; the last paper of each has no class.
fn own_graph(folder: &Path) {
    let (mut nodes, mut edges) = ("id,w0,w1,w2,class\n".to_owned(), String::new());
    for ring in ["a", "b"] {
        for at in 0..20 {
            let words = if ring == "a" { [1, 0, at % 2] } else { [0, 1, at % 2] };
            let class = if at == 19 { "?" } else { ring };
            nodes += &format!("{ring}{at},{},{},{},{class}\n", words[0], words[1], words[2]);
            edges += &format!("{ring}{at},{ring}{}\n", (at + 1) % 20);
        }
    }
    std::fs::create_dir_all(folder.join("mine")).unwrap();
    std::fs::write(folder.join("mine/nodes.csv"), nodes).unwrap();
    std::fs::write(folder.join("mine/edges.csv"), edges).unwrap();
}

#[test]
fn your_own_graph_from_an_edge_list_to_predictions() {
    let folder = folder();
    own_graph(folder.path());
    let config = "
[data]
source = 'mine/nodes.csv'
edges = 'mine/edges.csv'
split = { valid = 6, test = 10 }
[model]
kind = 'gcn'
hidden = [8]
[train]
epochs = 60
learning_rate = 0.05
patience = 30
";
    std::fs::write(folder.path().join("mine.toml"), config).unwrap();
    let (code, out, err) = run(folder.path(), &["train", "mine.toml", "--out", "x"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("x: test error 0.00 %"), "{out}");
    assert!(err.contains("2 nodes have no class; they are aggregated from, but not trained on"), "{err}");
    // As a folder, and as a table with a list of edges beside it.
    for input in [&["mine"][..], &["mine/nodes.csv", "--edges", "mine/edges.csv"]] {
        let args = [&["predict", "x", "--output", "-", "-q", "--input"], input].concat();
        let (code, out, err) = run(folder.path(), &args);
        assert_eq!(code, 0, "{err}");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!((lines.len(), lines[0]), (41, "node,class,p_a,p_b"));
        assert!(lines[20].starts_with("a19,a,") && lines[40].starts_with("b19,b,"), "{out}");
    }
    // The states of a layer, a row for each node.
    let hidden = ["predict", "x", "-q", "--input", "mine", "--hidden"];
    let (code, _, err) = run(folder.path(), &[&hidden[..], &["layer.0", "--output", "h.npy"]].concat());
    assert_eq!(code, 0, "{err}");
    let states = matnet_data::format::npy::read(folder.path().join("h.npy")).unwrap();
    assert_eq!(states.shape(), [40, 8]);
    let (code, _, err) = run(folder.path(), &[&hidden[..], &["layer.9", "--output", "h.npy"]].concat());
    assert!(
        code == 1 && err.contains("no hidden layer is called `layer.9`; there are layer.0, layer.1"),
        "{err}"
    );
    let (code, _, err) = run(folder.path(), &["predict", "x", "--input", "mine", "--code", "--output", "-"]);
    assert!(code == 1 && err.contains("gcn: only an autoencoder has codes"), "{err}");
    let (code, out, err) = run(folder.path(), &["eval", "x"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("on the test split of mine/nodes.csv") && out.contains("error 0.00 % (0 of 10)"),
        "{out}"
    );
    let (code, out, err) = run(folder.path(), &["eval", "x", "--data", "mine"]);
    assert!(code == 0 && out.contains("over 38 examples"), "{out}{err}");
    let apart = ["eval", "x", "--data", "mine/nodes.csv", "--edges", "mine/edges.csv"];
    assert_eq!(run(folder.path(), &apart).1.replace("mine/nodes.csv", "mine"), out);
    let (code, out, _) = run(folder.path(), &["inspect", "x"]);
    assert!(
        code == 0 && out.contains("gcn (matrix form) on mine/nodes.csv, input 3 features per node"),
        "{out}"
    );
    let (code, _, err) = run(folder.path(), &["report", "x"]);
    assert_eq!(code, 0, "{err}");
    for file in ["report.html", "hidden-1.png", "hidden-2.png"] {
        assert!(folder.path().join("x").join(file).exists(), "{file}");
    }
    let page = std::fs::read_to_string(folder.path().join("x/report.html")).unwrap();
    assert!(page.contains("Hidden states") && page.contains("Confusion matrix, test split"));
}

/// Everybody is of the class of the leader whom they follow. All pay both leaders, and each is followed by the other one, so that
/// only the relation and its direction together tell the classes.
#[test]
fn relations_and_directions_are_used() {
    let folder = folder();
    let (mut nodes, mut edges) = ("id,one,two,class\n".to_owned(), "who,whom,how\n".to_owned());
    for at in 0..40 {
        let (leader, class) = (at % 2, if at % 2 == 0 { "a" } else { "b" });
        nodes += &format!("n{at},0,0,{class}\n");
        let other = 1 - leader;
        edges += &format!("n{at},leader{leader},follows\nleader{other},n{at},follows\n");
        edges += &format!("n{at},leader0,pays\nn{at},leader1,pays\n");
    }
    nodes += "leader0,1,0,?\nleader1,0,1,?\n";
    std::fs::create_dir(folder.path().join("town")).unwrap();
    std::fs::write(folder.path().join("town/nodes.csv"), nodes.clone()).unwrap();
    std::fs::write(folder.path().join("town/edges.csv"), edges).unwrap();
    let config = "
[data]
source = 'town'
directed = ['follows']
split = { valid = 5, test = 10 }
[model]
kind = 'column-net'
hidden = 6
depth = 1
[train]
epochs = 80
learning_rate = 0.05
";
    std::fs::write(folder.path().join("town.toml"), config).unwrap();
    let (code, out, err) = run(folder.path(), &["train", "town.toml", "-q", "--out", "t"]);
    assert!(code == 0 && out.starts_with("t: test error 0.00 %"), "{out}{err}");
    let undirected = ["train", "town.toml", "-q", "--out", "u", "--set", "data.directed=false"];
    let (code, out, err) = run(folder.path(), &undirected);
    assert!(code == 0 && !out.starts_with("u: test error 0.00 %"), "{out}{err}");
    let (code, out, _) = run(folder.path(), &["data", "show", "town"]);
    assert!(code == 0 && out.contains("follows  80") && out.contains("pays     80"), "{out}");

    // Another town, whose relations stand in another order, one of them missing; then one with an unknown relation, one with none.
    let predictions = |edges: &str| {
        std::fs::create_dir_all(folder.path().join("other")).unwrap();
        std::fs::write(folder.path().join("other/nodes.csv"), &nodes).unwrap();
        std::fs::write(folder.path().join("other/edges.csv"), edges).unwrap();
        run(folder.path(), &["predict", "t", "--input", "other", "--output", "-", "-q"])
    };
    let (code, out, err) = predictions("n0,leader1,follows\nn1,leader0,follows\n");
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].starts_with("n0,b,") && lines[2].starts_with("n1,a,"), "{out}");
    let (code, _, err) = predictions("n0,leader1,likes\n");
    assert!(
        code == 1 && err.contains("other: the net knows no relation `likes`, only follows, pays"),
        "{err}"
    );
    let (code, _, err) = predictions("n0,leader1\n");
    assert!(
        code == 1 && err.contains("the net distinguishes relations (follows, pays), this graph names none"),
        "{err}"
    );
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let folder = folder();
    own_graph(folder.path());
    for (change, said) in [
        ("model.kind=gnc", "model.kind: gnc; did you mean `gcn`?"),
        ("model.head=3", "model.head: no such key; did you mean `heads`?"),
        ("model.num_classes=3", "model.num_classes: 3; the data have 7; leave it out"),
        ("model.num_features=3", "model.num_features: 3; the data have 1433; leave it out"),
        ("model.num_relations=2", "model.num_relations: 2; the data have 1; leave it out"),
        ("data.directed=1", "data.directed: 1; true, false, or a list of names of relations, expected"),
        (
            "data.directed=['likes']",
            "data.directed: no relation is called `likes`; all edges are of one relation, which has no name",
        ),
        ("model.depth=0", "model.depth: 0; must lie between 1 and"),
        ("data.limit=3", "data.limit: no such key"),
        ("data.normalize=columns", "data.normalize: columns; one of none, rows expected"),
        ("data.num_neighbors=0", "data.num_neighbors: 0; must be at least 1"),
        ("data.edge_dropout=1.0", "data.edge_dropout: 1; must be at least 0 and below 1"),
        ("data.source=digits", "data.source: `digits` holds no graph, which is what this kind of net takes"),
        (
            "data.source=citation",
            "data.source: `citation` is neither a dataset nor a file; did you mean `citations`?",
        ),
        ("data.edges=none.csv", "data.source: there is no file `citations`"),
        ("data.split.rule=publik", "data.split.rule: publik; did you mean `public`?"),
        ("data.split.per_class=5", "data.split.per_class: 5; only the rule per-class uses it"),
        (
            "data.split.test=5000",
            "data.split: 100 validation and 5000 test samples of 2708 leave none for training",
        ),
        ("data.split.valid=1.5", "data.split.valid: 1.5; a fraction below 1"),
        ("train.loss=mse", "train.loss: mse; classes are trained with \"cross-entropy\""),
        ("train.batch_size=0", "train.batch_size: 0; must be at least 1"),
        ("train.regularize_only=head", ""),
        ("train.regularize_only=tip", "train.regularize_only: tip; no weight starts so; there are "),
        ("train.learning_rate_multipliers.neighbor_map=0.3", ""),
        (
            "train.learning_rate_multipliers.tip=0.3",
            "train.learning_rate_multipliers.tip: 0.3; no parameter has this in its name; there are ",
        ),
        (
            "train.learning_rate_multipliers.head=-1",
            "train.learning_rate_multipliers.head: -1; must be a number of at least 0",
        ),
    ] {
        let (code, out, err) = run(
            folder.path(),
            &["train", "papers.toml", "-q", "--fresh", "--set", change, "--set", "train.epochs=1"],
        );
        if said.is_empty() {
            assert_eq!(code, 0, "{change}: {err}");
            continue;
        }
        assert_eq!((code, out.as_str()), (2, ""), "{change}");
        assert!(
            err.starts_with("error: ") && err.lines().count() == 1 && err.contains(said),
            "{change}: {err}"
        );
    }
    let public = ["train", "papers.toml", "--set", "data.source=mine", "--set", "data.split.rule=public"];
    let (code, _, err) = run(folder.path(), &public);
    assert!(
        code == 2
            && err.contains("data.split.rule: public; mine comes without a split; \"random\" draws one"),
        "{err}"
    );
    // Graphs that do not fit the net.
    assert_eq!(
        run(folder.path(), &["train", "papers.toml", "-q", "--out", "x", "--set", "train.epochs=1"]).0,
        0
    );
    for (args, said) in [
        (
            &["predict", "x", "--input", "mine", "--output", "-"][..],
            "mine: the net takes 1433 features per node, this graph has 3",
        ),
        (
            &["predict", "x", "--input", "gone", "--output", "-"],
            "error: `gone` is neither a dataset nor a file",
        ),
        (
            &["predict", "x", "--input", "mine", "--output", "-", "--batch-size", "3"],
            "a batch size was given; a graph is predicted as a whole",
        ),
        (&["eval", "x", "--data", "mine"], "--data: the net takes 1433 features"),
    ] {
        let (code, _, err) = run(folder.path(), args);
        assert!(code != 0 && err.contains(said), "{args:?}: {err}");
    }
}

#[test]
fn the_command_line_takes_precedence_over_a_variant() {
    let folder = folder();
    let config = format!("{CONFIG}\n[variant.wide]\nmodel.hidden = 9\n");
    std::fs::write(folder.path().join("wide.toml"), config).unwrap();
    let inspect = ["inspect", "wide.toml", "--variant", "wide"];
    let (code, out, err) = run(folder.path(), &inspect);
    assert!(code == 0 && out.contains("1433×1  9×1"), "{out}{err}");
    let (code, out, err) = run(folder.path(), &[&inspect[..], &["--set", "model.hidden=7"]].concat());
    assert!(code == 0 && out.contains("1433×1  7×1"), "{out}{err}");
}
