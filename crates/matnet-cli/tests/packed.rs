//! Packed graphs: from edge lists to predictions, with the same bits in memory and from the folder; killed, damaged, misused.

mod common;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use common::stored::{LIMITS, error, fails_when_cut_off, ok, same_when_killed};
use common::{bytes, matnet, run, same};
use matnet_data::format::npy;
use matnet_data::random::SeededRng;
use tempfile::TempDir;

/// A folder with a graph of 150 nodes in `g/`: edges, features and labels as arrays, or as tables with names and relations. Neighbours are
/// mostly of one class, which the features hint at; some edges are loops, some are repeated, some nodes have no class.
fn folder(tables: bool) -> (TempDir, PathBuf) {
    let temporary = TempDir::new().unwrap();
    let path = temporary.path().to_owned();
    std::fs::create_dir(path.join("g")).unwrap();
    let mut rng = SeededRng::new(7, "graph");
    let nodes = 150;
    let class = |node: usize| node % 3;
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for node in 0..nodes {
        for _ in 0..4 {
            let other = rng.below(nodes);
            if class(other) == class(node) || rng.chance(0.2) {
                edges.push((node, other));
            }
        }
    }
    edges.extend([(5, 5), (9, 9), (9, 9), (0, 1), (1, 0), (0, 1)]);
    // Those in a table are sparse.
    let (width, rest) = if tables { (8, 0.0) } else { (4, 0.3) };
    let features: Vec<f32> = (0..nodes * width)
        .map(|at| if at % width == class(at / width) { 1.0 } else { rest * rng.uniform() as f32 })
        .collect();
    let file = |name: &str| File::create(path.join("g").join(name)).unwrap();
    let known = |node: usize| node % 10 != 9;
    if tables {
        let mut text = "id,f0,f1,f2,f3,f4,f5,f6,f7,class\n".to_owned();
        for (node, row) in features.chunks(width).enumerate() {
            let class = if known(node) { format!("c{}", class(node)) } else { "?".to_owned() };
            let row: Vec<String> = row.iter().map(f32::to_string).collect();
            text += &format!("n{node},{},{class}\n", row.join(","));
        }
        std::fs::write(path.join("g/nodes.csv"), text).unwrap();
        let name = |at: usize| if at.is_multiple_of(3) { "likes" } else { "cites" };
        let lines = edges.iter().enumerate().map(|(at, (a, b))| format!("n{a},n{b},{}\n", name(at)));
        std::fs::write(path.join("g/edges.csv"), lines.collect::<String>()).unwrap();
    } else {
        let flat: Vec<i64> = edges.iter().flat_map(|&(a, b)| [a as i64, b as i64]).collect();
        npy::write_i64(&mut file("edges.npy"), &[edges.len(), 2], &flat).unwrap();
        npy::write_f32(&mut file("features.npy"), &[nodes, width], &features).unwrap();
        let labels: Vec<i64> =
            (0..nodes).map(|node| if known(node) { class(node) as i64 } else { -1 }).collect();
        npy::write_i64(&mut file("labels.npy"), &[nodes], &labels).unwrap();
    }
    (temporary, path)
}

fn config(folder: &Path, source: &str, data: &str, model: &str, train: &str) {
    let text = format!(
        "[data]\nsource = '{source}'\n{data}\nsplit = {{ valid = 20, test = 40 }}\n[model]\n{model}\n[train]\nepochs = 3\n\
         learning_rate = 0.02\nlog_test = true\n{train}\n"
    );
    std::fs::write(folder.join("c.toml"), text).unwrap();
}

const NETS: [&str; 5] = [
    "kind = 'gcn'\nhidden = [6]\ndropout = 0.2",
    "kind = 'column-net'\nhidden = 6\ndepth = 2\ndropout = 0.2",
    "kind = 'column-net'\nhidden = 6\ndepth = 2\naggregation = 'attention'\nheads = 2",
    "kind = 'column-net'\nhidden = 6\ndepth = 2\naggregation = 'concat'\nnum_neighbors = 3",
    "kind = 'chebyshev'\nhidden = [6]\norder = 2",
];

/// Tables whose features stand in these columns.
#[test]
fn features_are_found_by_their_names() {
    let (_temporary, folder) = folder(true);
    let nodes = std::fs::read_to_string(folder.join("g/nodes.csv")).unwrap();
    let columns = |name: &str, order: &[usize]| {
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::copy(folder.join("g/edges.csv"), folder.join(name).join("edges.csv")).unwrap();
        let line = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            order.iter().map(|&at| *fields.get(at).unwrap_or(&"1")).collect::<Vec<_>>().join(",") + "\n"
        };
        let text = nodes.lines().map(line).collect::<String>();
        std::fs::write(folder.join(name).join("nodes.csv"), text).unwrap();
    };
    columns("turned", &[0, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    // A feature that the net does not know is left out: it would make the features dense.
    columns("more", &[0, 10, 2, 1, 3, 5, 4, 6, 7, 8, 9]);
    columns("fewer", &[0, 1, 2, 3, 4, 5, 6, 7, 10, 9]);
    columns("twice", &[0, 2, 2, 1, 3, 5, 4, 6, 7, 8, 9]);
    for source in ["g", "turned", "more", "fewer", "twice"] {
        let out = format!("{source}.packed");
        ok(&folder, &["data", "pack", source, "--out", &out, "--order", "rcm"], "0");
    }
    config(&folder, "g.packed", "normalize = 'rows'", NETS[0], "batch_size = 16");
    for (_, above) in LIMITS {
        ok(&folder, &["train", "c.toml", "-q", "--fresh", "--out", "run"], above);
        let seen = |data: &str| {
            let (data, file) = (format!("{data}.packed"), format!("{data}.npy"));
            let scores = ok(&folder, &["eval", "run", "--data", &data, "--json"], above);
            ok(&folder, &["predict", "run", "--input", &data, "--output", &file], above);
            (scores.replace(&data, ""), std::fs::read(folder.join(file)).unwrap())
        };
        let wanted = seen("g");
        for data in ["turned", "more"] {
            assert!(seen(data) == wanted, "{data} {above}");
        }
        for args in [
            &["eval", "run", "--data", "fewer.packed"][..],
            &["predict", "run", "--input", "fewer.packed", "--output", "y.npy"],
        ] {
            let said = error(&folder, args, above);
            assert!(said.contains("the nodes have no feature `f7`, only f0, f1, f2"), "{said}");
        }
        for data in ["twice.packed", "twice"] {
            let said = error(&folder, &["eval", "run", "--data", data], above);
            assert!(said.contains("several features of the nodes are called `f1`; one expected"), "{said}");
        }
        // The same from the tables that were packed.
        assert!(ok(&folder, &["eval", "run", "--data", "turned"], above).contains("error"));
    }
    std::fs::write(folder.join("g.packed/features.txt"), "f0\n").unwrap();
    let said = error(&folder, &["eval", "run"], "0");
    assert!(said.contains("features.txt: "), "{said}");
}

/// All nets, with and without relations, in both orders; training, evaluation, predictions and hidden states.
#[test]
fn a_graph_in_its_folder_gives_the_bits_of_one_in_memory() {
    for tables in [false, true] {
        let (_temporary, folder) = folder(tables);
        for order in ["natural", "rcm"] {
            let out = format!("{order}.packed");
            // The smallest memory: sorted in one-MiB pieces here, in tiny ones by the tests of matnet-data.
            ok(&folder, &["data", "pack", "g", "--out", &out, "--order", order, "--memory", "1"], "0");
            for (at, net) in NETS.iter().enumerate() {
                let draw = [
                    "",
                    "num_neighbors = 3\nedge_dropout = 0.1",
                    "num_neighbors = 2\neval_num_neighbors = 2",
                ];
                let data = format!("normalize = 'rows'\n{}", draw[at % 3]);
                config(&folder, &out, &data, net, "batch_size = 16");
                for (run, above) in LIMITS {
                    ok(&folder, &["train", "c.toml", "-q", "--fresh", "--out", run], above);
                }
                let [stored, loaded] = LIMITS.map(|(run, _)| folder.join(run));
                same(&stored, &loaded);
                let both = |args: &[&str]| LIMITS.map(|(_, above)| ok(&folder, args, above));
                for args in [
                    &["eval", "stored", "--json"][..],
                    &["eval", "stored", "--data", &out],
                    &["predict", "stored", "-q", "--input", &out, "--output", "-"],
                    &["predict", "stored", "-q", "--input", &out, "--hidden", "layer.0", "--output", "-"],
                ] {
                    let [a, b] = both(args);
                    assert!(a == b, "{net} {order} {args:?}");
                }
                // The report shows hidden states, as pictures.
                for (run, above) in LIMITS {
                    ok(&folder, &["report", run], above);
                }
                same(&stored, &loaded);
                // The source itself, in memory, gives the same predictions, in the same order of nodes.
                if order == "natural" && !tables && !data.contains("eval_num") && !net.contains("concat") {
                    let npz = unpacked(&folder);
                    let [a, b] = [&out[..], &npz].map(|input| {
                        ok(&folder, &["predict", "stored", "-q", "--input", input, "--output", "-"], "0")
                    });
                    assert!(a == b, "{net}: the source");
                }
            }
        }
    }
}

/// The arrays of `g/` as an `.npz`, which is read into memory.
fn unpacked(folder: &Path) -> String {
    let mut writer = matnet_data::format::npz::NpzWriter::new(File::create(folder.join("g.npz")).unwrap());
    for name in ["features", "edges", "labels"] {
        let bytes = std::fs::read(folder.join("g").join(format!("{name}.npy"))).unwrap();
        writer.add(name, |out| out.write_all(&bytes)).unwrap();
    }
    writer.finish().unwrap();
    "g.npz".to_owned()
}

#[test]
fn another_order_gives_predictions_in_the_order_of_the_source() {
    let (_temporary, folder) = folder(true);
    ok(&folder, &["data", "pack", "g", "--out", "natural.packed"], "0");
    ok(&folder, &["data", "pack", "g", "--out", "rcm.packed", "--order", "rcm"], "0");
    config(&folder, "natural.packed", "", NETS[0], "batch_size = 16");
    ok(&folder, &["train", "c.toml", "-q", "--out", "x"], "0");
    let predict = |input: &str| ok(&folder, &["predict", "x", "-q", "--input", input, "--output", "-"], "0");
    let (natural, rcm, source) = (predict("natural.packed"), predict("rcm.packed"), predict("g"));
    assert_eq!(natural, source);
    let fields = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (natural, rcm) = (fields(&natural), fields(&rcm));
    assert_eq!((natural.len(), &natural[1][0][..]), (151, "n0"));
    for (a, b) in natural.iter().zip(&rcm).skip(1) {
        assert_eq!(a[..2], b[..2], "name and class");
        for (a, b) in a[2..].iter().zip(&b[2..]) {
            let [a, b] = [a, b].map(|text| text.parse::<f64>().unwrap());
            assert!((a - b).abs() < 1e-5, "sums go in another order: {a} {b}");
        }
    }
    // The split is that of the source, too.
    let split = |run: &str| std::fs::read(folder.join(run).join("split.json")).unwrap();
    ok(&folder, &["train", "c.toml", "-q", "--out", "y", "--set", "data.source=rcm.packed"], "0");
    assert_eq!(split("x"), split("y"));
}

#[test]
fn every_source_packs_to_the_same_bytes() {
    let (_temporary, folder) = folder(false);
    let npz = unpacked(&folder);
    ok(&folder, &["data", "pack", "g", "--out", "a"], "0");
    ok(&folder, &["data", "pack", &npz, "--out", "b"], "0");
    ok(&folder, &["data", "pack", "g/features.npy", "--edges", "g/edges.npy", "--out", "c"], "0");
    same(&folder.join("a"), &folder.join("b"));
    // Without labels all else is the same.
    let (mut a, c) = (bytes(&folder.join("a")), bytes(&folder.join("c")));
    for name in ["labels.npy", "graph.json"] {
        a.remove(name);
    }
    assert!(a.iter().all(|(name, bytes)| c[name] == *bytes));
    // [2, m], as text, and in the folder of another graph.
    let edges = npy::read(folder.join("g/edges.npy")).unwrap();
    let flat = edges.integers(Path::new("edges")).unwrap();
    let turned: Vec<i64> = flat.iter().step_by(2).chain(flat.iter().skip(1).step_by(2)).copied().collect();
    let shape = [2, turned.len() / 2];
    npy::write_i64(&mut File::create(folder.join("t.npy")).unwrap(), &shape, &turned).unwrap();
    let lines: String = flat.chunks(2).map(|edge| format!("{} {}\n", edge[0], edge[1])).collect();
    std::fs::write(folder.join("t.txt"), format!("from to\n{lines}")).unwrap();
    for (edges, out) in [("t.npy", "d"), ("t.txt", "e")] {
        ok(&folder, &["data", "pack", "g/features.npy", "--edges", edges, "--out", out], "0");
        same(&folder.join("c"), &folder.join(out));
    }
    // A dataset's name, and what is said of it.
    let out = ok(&folder, &["data", "pack", "citations", "--out", "f"], "0");
    assert!(out.contains("f: packed") && out.contains("undirected"), "{out}");
    let shown = ok(&folder, &["data", "show", "f"], "0");
    assert_eq!(shown.lines().skip(1).collect::<Vec<_>>(), out.lines().skip(1).collect::<Vec<_>>());
    let verified = ok(&folder, &["data", "verify", "f", "a"], "0");
    assert!(verified.contains("f: a packed graph of ") && verified.contains("files verified"), "{verified}");
}

#[test]
fn a_pack_that_is_killed_starts_again_and_ends_in_the_same_bytes() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    std::fs::create_dir(folder.join("g")).unwrap();
    let file = |name: &str| File::create(folder.join("g").join(name)).unwrap();
    let (nodes, mut rng) = (20_000, SeededRng::new(1, "large"));
    let edges: Vec<i64> = (0..600_000).map(|_| rng.below(nodes) as i64).collect();
    npy::write_i64(&mut file("edges.npy"), &[300_000, 2], &edges).unwrap();
    npy::write_f32(&mut file("features.npy"), &[nodes, 2], &vec![1.0; 2 * nodes]).unwrap();
    let pack = ["data", "pack", "g", "--order", "rcm", "--memory", "1", "-q", "--out"];
    ok(folder, &[&pack[..], &["whole"]].concat(), "0");
    let mut killed = 0;
    for wait in (1..).map(|round| 15 * round) {
        let mut child =
            matnet(folder, &[&pack[..], &["killed"]].concat()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        if folder.join("killed").exists() {
            // Only a whole graph gets the name: this kill came between the renaming and the end of the process.
            break;
        }
        if killed > 20 {
            ok(folder, &[&pack[..], &["killed"]].concat(), "0");
            break;
        }
    }
    assert!(killed > 0);
    same(&folder.join("whole"), &folder.join("killed"));
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left behind: {left:?}");
}

#[test]
fn a_training_killed_again_and_again_ends_in_the_same_bytes() {
    let (_temporary, folder) = folder(false);
    ok(&folder, &["data", "pack", "g", "--out", "g.packed"], "0");
    config(&folder, "g.packed", "num_neighbors = 2", NETS[1], "batch_size = 8");
    same_when_killed(&folder, 20);
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder(false);
    let packed = ["data", "pack", "g", "--out", "p"];
    ok(&folder, &packed, "0");
    let says = |args: &[&str], above: &str, expected: &str| {
        let err = error(&folder, args, above);
        let lines: Vec<&str> = err.trim().lines().filter(|line| !line.starts_with("loading ")).collect();
        assert!(lines.len() == 1 && err.contains(expected), "{args:?}: {err}");
    };
    says(&packed, "0", "p: is a packed graph already; --force replaces it");
    ok(&folder, &[&packed[..], &["--force"]].concat(), "0");
    says(&["data", "pack", "g", "--out", "g"], "0", "g: exists already; choose another name");
    says(&["data", "pack", "nowhere", "--out", "q"], "0", "nowhere: there is no such file or folder");
    says(&["data", "pack", "p/graph.json", "--out", "q"], "0", "holds no graph");
    says(&["data", "pack", "g", "--directed=likes", "--out", "q"], "0", "no relation is called `likes`");
    let edges = |numbers: &[i64]| {
        let mut file = File::create(folder.join("e.npy")).unwrap();
        npy::write_i64(&mut file, &[numbers.len() / 2, 2], numbers).unwrap();
    };
    let pack_edges = ["data", "pack", "g/features.npy", "--edges", "e.npy", "--out", "q"];
    for (wrong, said) in [(150, "150"), (-1, "-1")] {
        edges(&[0, 1, 2, wrong]);
        says(&pack_edges, "0", &format!("e.npy: edge 1 names node {said}; 0 to 149 expected"));
    }
    npy::write_f32(&mut File::create(folder.join("e.npy")).unwrap(), &[1, 2], &[0.0, 1.0]).unwrap();
    says(&pack_edges, "0", "holds floats where numbers of nodes were expected");
    std::fs::write(folder.join("nan.csv"), "a,1,2\nb,NaN,0\n").unwrap();
    std::fs::write(folder.join("e.csv"), "a,b\n").unwrap();
    let pack_nan = ["data", "pack", "nan.csv", "--edges", "e.csv", "--out", "q"];
    says(&pack_nan, "0", "nan.csv: node 1 holds NaN; finite numbers expected");
    assert!(!folder.join("q").exists() && !folder.join(".unfinished-q").exists());

    config(&folder, "p", "", NETS[0], "");
    says(
        &["train", "c.toml", "--out", "x"],
        "0",
        "train.batch_size: is missing; the graph stays in its folder",
    );
    config(&folder, "p", "directed = true", NETS[0], "batch_size = 8");
    says(&["train", "c.toml", "--out", "x"], "0", "data.directed: true; a packed graph has its directions");
    config(&folder, "p", "eval_num_neighbors = 0", NETS[0], "batch_size = 8");
    says(&["train", "c.toml", "--out", "x"], "0", "data.eval_num_neighbors: 0; must be at least 1");
    let estimated = "kind = 'chebyshev'\nhidden = [6]\nlambda_max = 'estimated'";
    config(&folder, "p", "", estimated, "batch_size = 8");
    says(&["train", "c.toml", "--out", "x"], "0", "cannot be estimated; take lambda_max = \"two\"");
    assert!(!folder.join("x").exists());
}

#[cfg(unix)]
#[test]
fn a_link_where_a_pack_would_work_is_refused_and_its_target_stays_whole() {
    let (_keep, folder) = folder(false);
    std::fs::create_dir(folder.join("precious")).unwrap();
    std::fs::write(folder.join("precious/file"), "mine").unwrap();
    std::os::unix::fs::symlink("precious", folder.join(".unfinished-g.packed")).unwrap();
    let said = error(&folder, &["data", "pack", "g", "--out", "g.packed"], "0");
    assert!(said.contains("is a symbolic link"), "{said}");
    assert_eq!(std::fs::read_to_string(folder.join("precious/file")).unwrap(), "mine");
}

#[test]
fn a_damaged_folder_is_refused() {
    let (_temporary, folder) = folder(true);
    ok(&folder, &["data", "pack", "g", "--out", "p"], "0");
    config(&folder, "p", "num_neighbors = 3", NETS[1], "batch_size = 8");
    let train = ["train", "c.toml", "-q", "--fresh", "--out", "x"];
    ok(&folder, &train, "0");
    let names: Vec<String> = bytes(&folder.join("p")).into_keys().collect();
    assert_eq!(names.len(), 11, "{names:?}");
    for name in &names {
        let path = folder.join("p").join(name);
        let whole = std::fs::read(&path).unwrap();
        let refused = |what: &str| {
            for (_, above) in LIMITS {
                let err = error(&folder, &train, above);
                assert!(err.contains(name.as_str()) && !err.contains("panicked"), "{name} {what}: {err}");
            }
        };
        std::fs::remove_file(&path).unwrap();
        if name != "graph.json" {
            refused("is missing");
        }
        // The header ends with a line break.
        std::fs::write(&path, &whole[..whole.len() - 2]).unwrap();
        refused("is cut off");
        // Every byte of the header counts; of the others, those that are read.
        for at in (0..whole.len()).step_by((whole.len() / 23).max(1)) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&path, &damaged).unwrap();
            let (code, _, err) = run(&folder, &train);
            assert!(code != 101 && !err.contains("panicked"), "{name} at {at}: {err}");
            let found = error(&folder, &["data", "verify", "p"], "0");
            assert!(found.contains(name.as_str()) || found.contains("mismatch"), "{name} at {at}: {found}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    ok(&folder, &train, "0");
    // A graph of another version.
    let header = std::fs::read_to_string(folder.join("p/graph.json")).unwrap();
    std::fs::write(folder.join("p/graph.json"), header.replace("\"version\": 1", "\"version\": 2")).unwrap();
    let err = error(&folder, &train, "0");
    assert!(err.contains("version 2, where this program reads 1; pack the graph again"), "{err}");
}

#[test]
fn a_file_that_is_cut_off_while_it_is_used_is_an_error() {
    let (_temporary, folder) = folder(false);
    ok(&folder, &["data", "pack", "g", "--out", "p"], "0");
    config(&folder, "p", "", NETS[0], "batch_size = 8");
    fails_when_cut_off(&folder, "p/neighbors-0.npy", 200);
}
