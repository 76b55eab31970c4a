//! Facts about the real datasets, as the paper and the files' own readmes give them. They are found through
//! `MATNET_DATA`; without it these tests say so and pass.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use matnet_data::catalog::Located;
use matnet_data::catalog::readers::graph_npz::GraphFile;
use matnet_data::catalog::readers::uea::SETS;
use matnet_data::catalog::readers::{babi, builtin, eeg, ett, frey, linqs, mnist, planetoid};
use matnet_data::split::chronological;
use matnet_data::transform::scale::ScaleMethod;
use matnet_data::transform::windows::{WindowForm, Windows};
use matnet_data::{Contents, GraphData, Samples, Story, Target, local};

/// The folder of a dataset; a missing one is reported.
fn data(folder: &str) -> Option<PathBuf> {
    let found = std::env::var_os("MATNET_DATA").map(|root| PathBuf::from(root).join(folder));
    let found = found.filter(|path| path.is_dir());
    if found.is_none() {
        // written to stderr directly: the test harness captures what is printed
        let text =
            format!("\nSKIPPED: set MATNET_DATA to a folder that holds {folder}/ to test the real data\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    found
}

fn class_counts(target: &Target) -> Vec<usize> {
    let Target::Classes { labels, names } = target else { panic!("classes expected") };
    let mut counts = vec![0; names.len()];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    counts
}

fn mean(samples: &Samples) -> f64 {
    let data = samples.inputs.data();
    data.iter().map(|&x| f64::from(x)).sum::<f64>() / data.len() as f64
}

#[test]
fn mnist_has_its_digits() {
    let Some(dir) = data("mnist") else { return };
    let train = mnist::load(&dir, mnist::MnistSplit::Train).unwrap();
    let test = mnist::load(&dir, mnist::MnistSplit::Test).unwrap();
    assert_eq!(train.inputs.shape(), [60_000, 28, 28]);
    assert_eq!(test.inputs.shape(), [10_000, 28, 28]);
    let counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
    assert_eq!(class_counts(&train.target), counts);
    assert_eq!(class_counts(&test.target), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    assert!((mean(&train) - 0.13066).abs() < 5e-6 && (mean(&test) - 0.13251).abs() < 5e-6);
}

#[test]
fn frey_has_its_faces() {
    let Some(dir) = data("frey-face") else { return };
    let faces = frey::load(&dir).unwrap();
    assert_eq!(faces.inputs.shape(), [1965, 28, 20]);
    let data = faces.inputs.data();
    let level = |x: f32| (x * 255.0).round() as u32;
    assert_eq!(level(data.iter().copied().fold(f32::MAX, f32::min)), 8);
    assert_eq!(level(data.iter().copied().fold(f32::MIN, f32::max)), 238);
    assert!((mean(&faces) * 255.0 - 154.46).abs() < 0.005);
    let frames: BTreeSet<Vec<u32>> =
        (0..1965).map(|f| faces.inputs.sample(f).iter().map(|&x| level(x)).collect()).collect();
    assert_eq!(frames.len(), 1965, "frames are distinct");
    // a film: frames that follow each other differ less than frames far apart
    let differ = |a: usize, b: usize| -> f64 {
        let pairs = faces.inputs.sample(a).iter().zip(faces.inputs.sample(b));
        pairs.map(|(x, y)| f64::from((x - y).abs()) * 255.0).sum::<f64>() / 560.0
    };
    let next: f64 = (0..1964).map(|f| differ(f, f + 1)).sum::<f64>() / 1964.0;
    assert!((next - 12.1).abs() < 0.1, "{next}");
    // and a column is a frame of 28 rows: neighbours in a row and in a column are both alike
    let face = faces.inputs.sample(0);
    let down: f32 = (0..27 * 20).map(|i| (face[i] - face[i + 20]).abs()).sum::<f32>() / 540.0;
    assert!(down * 255.0 < 20.0, "{down}");
}

/// What the paper's table counts: edges, and degrees.
struct Counts {
    /// Edges as stored.
    entries: usize,
    /// Entries that go from a node to itself.
    loops: usize,
    /// Distinct edges without direction, self loops left out.
    distinct: usize,
    /// Degrees over distinct neighbours, self loops left out: most, least, and how many nodes have none.
    most: usize,
    least: usize,
    isolated: usize,
}

fn counts(graph: &GraphData) -> Counts {
    let nodes = graph.features.len();
    let loops = graph.edges.iter().filter(|(a, b)| a == b).count();
    let with_loops: BTreeSet<(u32, u32)> = graph.edges.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    let mut degree = vec![0usize; nodes];
    let mut distinct = 0;
    for &(a, b) in with_loops.iter().filter(|(a, b)| a != b) {
        degree[a as usize] += 1;
        degree[b as usize] += 1;
        distinct += 1;
    }
    Counts {
        entries: graph.edges.len(),
        loops,
        distinct,
        most: degree.iter().copied().max().unwrap(),
        least: degree.iter().copied().min().unwrap(),
        isolated: degree.iter().filter(|&&d| d == 0).count(),
    }
}

fn labelled(graph: &GraphData) -> Vec<usize> {
    let mut counts = vec![0; graph.class_names.len()];
    graph.labels.iter().flatten().for_each(|&label| counts[label as usize] += 1);
    counts
}

/// The public split: 20 per class to learn from, 500, and 1,000; disjoint, all with a class.
fn check_public_split(graph: &GraphData) {
    let split = &graph.splits[0];
    let classes = graph.class_names.len();
    assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (20 * classes, 500, 1000));
    let all: BTreeSet<usize> = split.train.iter().chain(&split.valid).chain(&split.test).copied().collect();
    assert_eq!(all.len(), 20 * classes + 1500, "disjoint");
    for class in 0..classes {
        let of = |&&node: &&usize| graph.labels[node] == Some(class as u32);
        assert_eq!(split.train.iter().filter(of).count(), 20);
    }
    assert!(all.iter().all(|&node| graph.labels[node].is_some()));
}

#[test]
fn cora_is_as_the_paper_says() {
    let Some(dir) = data("planetoid") else { return };
    let graph = planetoid::load(&dir, planetoid::PlanetoidGraph::Cora).unwrap();
    assert_eq!(graph.features.shape(), [2708, 1433]);
    assert_eq!(labelled(&graph), [351, 217, 418, 818, 426, 298, 180]);
    assert_eq!(graph.features.data().iter().filter(|&&x| x == 1.0).count(), 49_216);
    assert!(graph.features.data().iter().all(|&x| x == 0.0 || x == 1.0));
    let c = counts(&graph);
    // the paper's 5,429 edges are the cited pairs: half of the entries, the 151 pairs that cite each other twice
    assert_eq!((c.entries / 2, c.loops, c.distinct), (5429, 0, 5278));
    // its degrees (168, 1, 3.90) are over distinct neighbours
    assert_eq!((c.most, c.least, c.isolated), (168, 1, 0));
    assert_eq!(format!("{:.2}", 2.0 * c.distinct as f64 / 2708.0), "3.90");
    check_public_split(&graph);
}

#[test]
fn citeseer_is_as_the_paper_says() {
    let Some(dir) = data("planetoid") else { return };
    let graph = planetoid::load(&dir, planetoid::PlanetoidGraph::Citeseer).unwrap();
    // 3,327 nodes are in the graph; the paper's 3,312 are those with features and class
    assert_eq!(graph.features.shape(), [3327, 3703]);
    assert_eq!(labelled(&graph), [249, 590, 668, 701, 596, 508]);
    let bare: Vec<usize> = (0..3327).filter(|&node| graph.labels[node].is_none()).collect();
    assert_eq!(bare.len(), 15);
    assert!(bare.iter().all(|&node| graph.features.sample(node).iter().all(|&x| x == 0.0)));
    assert_eq!(graph.features.data().iter().filter(|&&x| x == 1.0).count(), 105_165);
    let c = counts(&graph);
    // the paper's 4,732 edges are half of the entries, self loops and repeats included
    assert_eq!((c.entries / 2, c.loops, c.distinct), (4732, 248, 4552));
    // its degrees (99, 1, 2.78) are over distinct neighbours of the 3,279 nodes that have any
    assert_eq!((c.most, c.isolated), (99, 48));
    assert_eq!(format!("{:.2}", 2.0 * c.distinct as f64 / (3327 - 48) as f64), "2.78");
    check_public_split(&graph);
}

#[test]
fn pubmed_is_as_the_paper_says() {
    let Some(dir) = data("planetoid") else { return };
    let graph = planetoid::load(&dir, planetoid::PlanetoidGraph::PubMed).unwrap();
    assert_eq!(graph.features.shape(), [19_717, 500]);
    assert_eq!(labelled(&graph), [4103, 7739, 7875]);
    assert_eq!(graph.features.data().iter().filter(|&&x| x != 0.0).count(), 988_031);
    let c = counts(&graph);
    assert_eq!((c.entries / 2, c.loops, c.distinct), (44_338, 6, 44_324));
    assert_eq!((c.most, c.least), (171, 1));
    assert_eq!(format!("{:.2}", 2.0 * c.distinct as f64 / 19_717.0), "4.50");
    check_public_split(&graph);
}

#[test]
fn linqs_cora_is_the_same_graph() {
    let (Some(dir), Some(other)) = (data("linqs-cora"), data("planetoid")) else { return };
    let graph = linqs::load(&dir).unwrap();
    let twin = planetoid::load(&other, planetoid::PlanetoidGraph::Cora).unwrap();
    assert_eq!(graph.features.shape(), [2708, 1433]);
    assert_eq!(graph.edges.len(), 5429);
    assert_eq!(graph.features.data().iter().sum::<f32>(), 49_216.0);
    let (a, b) = (counts(&graph), counts(&twin));
    assert_eq!((a.distinct, a.loops, a.most, a.least), (b.distinct, b.loops, b.most, b.least));
    // the same class names and counts, in another order
    let named = |g: &GraphData| g.class_names.iter().cloned().zip(labelled(g)).collect::<BTreeSet<_>>();
    assert_eq!(named(&graph), named(&twin));
}

#[test]
fn babi_has_its_questions() {
    let Some(dir) = data("babi") else { return };
    let small = babi::load(&dir, babi::BabiSize::Small).unwrap();
    assert!(small.missing.is_empty(), "{:?}", small.missing);
    let asked = |stories: &[Story]| stories.iter().map(|story| story.questions.len()).sum::<usize>();
    for task in &small.tasks {
        assert_eq!((asked(&task.train), asked(&task.test)), (1000, 1000), "task {}", task.number);
        assert!(!task.name.is_empty());
        let supported = |story: &Story| story.questions.iter().all(|q| !q.facts.is_empty());
        assert!(task.train.iter().all(supported), "task {}", task.number);
    }
    assert_eq!(small.tasks[0].name, "single-supporting-fact");
    let first = &small.tasks[0].train[0];
    assert_eq!(first.questions[0].after, 2);
    let large = babi::load(&dir, babi::BabiSize::Large).unwrap();
    let whole = large.missing.is_empty();
    assert!(whole || large.missing == ["qa3 train"], "{:?}", large.missing);
    for (task, twin) in large.tasks.iter().zip(&small.tasks) {
        if whole || task.number != 3 {
            assert_eq!(asked(&task.train), 10_000, "task {}", task.number);
        }
        assert_eq!(task.test, twin.test, "the test halves are the same");
    }
}

/// Writes every file of an archive to `to`, without its folders.
fn unpack(archive: PathBuf, to: &std::path::Path) {
    matnet_data::format::archive::each(archive, &mut |mut entry| {
        let name = entry.name.rsplit('/').next().unwrap().to_owned();
        std::fs::write(to.join(name), entry.input.rest()?).unwrap();
        Ok(())
    })
    .unwrap();
}

#[test]
fn plain_files_equal_compressed_ones() {
    let dir = tempfile::tempdir().unwrap();
    if let Some(packed) = data("planetoid") {
        let graph = planetoid::PlanetoidGraph::Citeseer;
        unpack(packed.join("planetoid-citeseer.tar.gz"), dir.path());
        let loose = planetoid::load(dir.path(), graph).unwrap();
        assert!(loose == planetoid::load(&packed, graph).unwrap());
        assert!(loose == planetoid::load(packed.join("planetoid-citeseer.tar.gz"), graph).unwrap());
        std::fs::remove_file(dir.path().join("ind.citeseer.ty")).unwrap();
        assert!(planetoid::load(dir.path(), graph).unwrap_err().to_string().contains("ind.citeseer.ty"));
    }
    if let Some(packed) = data("linqs-cora") {
        let folder = dir.path().join("cora");
        std::fs::create_dir(&folder).unwrap();
        unpack(packed.join("cora.tar.gz"), &folder);
        assert!(linqs::load(&folder).unwrap() == linqs::load(&packed).unwrap());
        // the same files can be loaded as the user's own
        let own = local::load(&folder).unwrap().contents;
        assert!(own == Contents::Graph(linqs::load(&folder).unwrap()));
    }
    if let Some(packed) = data("babi") {
        let folder = dir.path().join("en");
        std::fs::create_dir(&folder).unwrap();
        unpack(packed.join("babi-en.tar.gz"), &folder);
        let wanted = babi::load(&packed, babi::BabiSize::Small).unwrap();
        assert!(babi::load(dir.path(), babi::BabiSize::Small).unwrap() == wanted);
        assert!(babi::load(&folder, babi::BabiSize::Small).unwrap() == wanted);
    }
    if let Some(packed) = data("mnist") {
        for name in ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"] {
            let mut input =
                matnet_data::format::bounded::Input::open(packed.join(format!("{name}.gz"))).unwrap();
            std::fs::write(dir.path().join(name), input.rest().unwrap()).unwrap();
        }
        let plain = mnist::load(dir.path(), mnist::MnistSplit::Test).unwrap();
        assert!(plain == mnist::load(&packed, mnist::MnistSplit::Test).unwrap());
        let missing = mnist::load(dir.path(), mnist::MnistSplit::Train).unwrap_err().to_string();
        assert!(missing.contains("train-images-idx3-ubyte.gz"), "{missing}");
    }
}

#[test]
fn eeg_has_its_trials() {
    let Some(dir) = data("uci-eeg") else { return };
    let loaded = eeg::load(&dir, eeg::EegSelection::Official).unwrap();
    assert_eq!(loaded.inputs.shape(), [1176, 64, 256]);
    assert_eq!(loaded.report.repeated.len(), 24, "trials of both halves are removed from one");
    let of = |subset| loaded.trials.iter().filter(|trial| trial.subset == subset).count();
    assert_eq!((of(eeg::EegSubset::Train), of(eeg::EegSubset::Test)), (576, 600));
    assert_eq!(loaded.channels.len(), 64);
    assert_eq!((loaded.channels[31].as_str(), loaded.channels[62].as_str()), ("X", "nd"));
    let samples = loaded.into_samples();
    assert_eq!(samples.group_names.len(), 20);
    assert_eq!(samples.group_names.iter().filter(|name| name.as_bytes()[3] == b'a').count(), 10);
}

#[test]
fn raw_trials_equal_the_compact_ones() {
    let Some(dir) = data("uci-eeg") else { return };
    let raw = eeg::load(dir.join("raw-sample"), eeg::EegSelection::All).unwrap();
    assert_eq!(raw.inputs.shape(), [2, 64, 256]);
    assert!(raw.report.skipped.is_empty());
    let compact = eeg::load(&dir, eeg::EegSelection::Official).unwrap();
    for (at, trial) in raw.trials.iter().enumerate() {
        let same = |other: &&eeg::TrialInfo| (&other.subject, other.number) == (&trial.subject, trial.number);
        let twin = compact.trials.iter().position(|other| same(&other)).unwrap();
        assert_eq!(raw.inputs.sample(at), compact.inputs.sample(twin));
        assert_eq!(trial.stimulus, compact.trials[twin].stimulus);
    }
    assert_eq!(raw.channels, compact.channels);
}

#[test]
fn series_of_the_archive_have_their_counts() {
    let Some(dir) = data("uea") else { return };
    for set in &SETS {
        let files = ["TRAIN", "TEST"].map(|half| dir.join(format!("{}_{half}.ts.gz", set.archive_name)));
        let samples = set.load(&Located { folder: dir.clone(), files: files.into() }).unwrap();
        let [train, test] = set.counts;
        assert_eq!(samples.inputs.shape(), [train + test, set.steps, set.channels, 1], "{}", set.name);
        let split = samples.split.as_ref().unwrap();
        assert_eq!((split.train.len(), split.test.clone()), (train, (train..train + test).collect()));
        assert_eq!(class_counts(&samples.target).len(), set.classes, "{}", set.name);
        assert!(samples.inputs.data().iter().all(|x| x.is_finite()));
        assert_eq!(samples.lengths.is_empty(), set.name != "japanese-vowels");
        // by name and by path the same, but for notes
        let own = local::load(dir.join(format!("{}_TEST.ts.gz", set.archive_name))).unwrap();
        assert!(own.into_samples().unwrap() == samples, "{}", set.name);
        if set.name == "japanese-vowels" {
            let built_in = builtin::vowels().unwrap();
            assert_eq!((&samples.inputs, &samples.lengths), (&built_in.inputs, &built_in.lengths));
            assert_eq!(class_counts(&samples.target), class_counts(&built_in.target));
        }
    }
}

/// The baseline that repeats the last value has published errors at horizon 96 (Zeng and others, 2023, table 2): they depend on the rows
/// of each split, on the windows and on the scale, and so test all of them.
#[test]
fn repeating_the_last_value_gives_the_published_errors() {
    let Some(dir) = data("forecast") else { return };
    for (name, published_mse, published_mae) in [("ETTh1", 1.295, 0.713), ("ETTh2", 0.432, 0.422)] {
        let mut table = ett::load(dir.join(format!("{name}.csv.gz"))).unwrap();
        assert_eq!((table.rows(), table.columns()), (17_420, 7));
        let rows = table.split.unwrap();
        assert_eq!((rows.train, rows.valid, rows.test), (8640, 2880, 2880));
        let scaler = Windows::fit_scaler(ScaleMethod::Standardize, &table, 0..rows.train).unwrap();
        Windows::scale(&scaler, &mut table).unwrap();
        let windows = Windows { window: 96, horizon: 96 };
        let split = chronological(96, 96, rows).unwrap();
        let (inputs, targets) = windows.gather(&table.values, WindowForm::Matrix, &split.test).unwrap();
        let (mut square, mut absolute, mut count) = (0.0, 0.0, 0.0);
        for window in 0..split.test.len() {
            let last = &inputs.sample(window)[95 * 7..];
            for (at, target) in targets.sample(window).iter().enumerate() {
                let error = f64::from(target - last[at % 7]);
                (square, absolute, count) = (square + error * error, absolute + error.abs(), count + 1.0);
            }
        }
        let (mse, mae) = (square / count, absolute / count);
        eprintln!("{name}: repeating the last value gives MSE {mse:.4}, MAE {mae:.4}");
        assert!(
            (mse - published_mse).abs() < 0.002 && (mae - published_mae).abs() < 0.002,
            "{name}: {mse} {mae}"
        );
    }
}

#[test]
fn larger_graphs_have_their_counts() {
    let Some(dir) = data("graphs") else { return };
    for (name, file, stored, distinct, classes) in [
        (
            "coauthor-cs",
            "ms_academic_cs.npz",
            163_788,
            81_894,
            &[708, 462, 2050, 429, 1394, 2193, 371, 924, 775, 118, 1444, 2033, 420, 4136, 876][..],
        ),
        (
            "amazon-photo",
            "amazon_electronics_photo.npz",
            143_663,
            119_081,
            &[369, 1686, 703, 915, 882, 823, 1941, 331],
        ),
        ("tolokers", "tolokers.npz", 519_000, 519_000, &[9192, 2566]),
    ] {
        let file_facts = GraphFile::get(name).unwrap();
        let graph = file_facts.load(&dir.join(file)).unwrap();
        assert_eq!(graph.features.shape(), [file_facts.nodes, file_facts.features], "{name}");
        let found = counts(&graph);
        assert_eq!((found.entries, found.distinct), (stored, distinct), "{name}");
        let mut by_class = vec![0; graph.class_names.len()];
        graph.labels.iter().for_each(|label| by_class[label.unwrap() as usize] += 1);
        assert_eq!(by_class, classes, "{name}");
        assert_eq!(graph.splits.len(), if name == "tolokers" { 10 } else { 0 });
        for split in &graph.splits {
            split.check(11_758).unwrap();
            assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (5879, 2939, 2940));
        }
    }
}
