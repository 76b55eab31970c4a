//! What the documents say is true: links lead somewhere, key tables name the keys that configs have, and the Rust code compiles
//! and runs as written.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use matnet::net::*;
use matnet_data::transform::augment::Augment;
use matnet_data::transform::log::Log;
use matnet_data::transform::mel::LogMel;
use matnet_data::transform::stft::Stft;
use matnet_train::config::{TrainConfig, keys_of};
use matnet_train::registry::NETS;
use matnet_train::tasks::algorithms::AlgorithmDataConfig;
use matnet_train::tasks::graph::{GraphDataConfig, GraphSplitConfig};
use matnet_train::tasks::samples::{SampleDataConfig, SampleSplitConfig};
use matnet_train::tasks::stories::{StoryDataConfig, StorySplitConfig};

/// This file.
const SOURCE: &str = include_str!("documents.rs");

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every Markdown file that users read.
fn documents() -> Vec<PathBuf> {
    let others = ["data", "fuzz", "peers", "python"].map(|folder| format!("{folder}/README.md"));
    let single =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned).into_iter().chain(others);
    let mut found: Vec<PathBuf> = single.map(|path| root().join(path)).collect();
    let mut folders = vec![root().join("docs"), root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if !path.ends_with("target") => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "md") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The lines of a document outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The anchors of a document: one for each heading, its words in lower case, joined by hyphens.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim();
        let kept = title.chars().filter(|&c| c.is_alphanumeric() || "-_ ".contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
    };
    prose(text).filter(|line| line.starts_with('#')).map(heading).collect()
}

#[test]
fn links_lead_somewhere() {
    let (mut checked, mut anchored) = (0, 0);
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for line in prose(&text) {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            let pictures = line.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
            for target in targets.chain(pictures) {
                if target.starts_with("http") {
                    continue;
                }
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let place =
                    if path.is_empty() { document.clone() } else { document.parent().unwrap().join(path) };
                assert!(place.exists(), "{}: {target} leads nowhere", document.display());
                checked += 1;
                if !anchor.is_empty() {
                    let there = anchors(&std::fs::read_to_string(&place).unwrap());
                    let found = there.iter().any(|name| name == anchor);
                    assert!(found, "{}: {target}: no such heading; there are {there:?}", document.display());
                    anchored += 1;
                }
            }
        }
    }
    assert!(checked > 100 && anchored > 30, "{checked} links found, {anchored} of them to headings");
}

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let pages = documents().into_iter().filter_map(|page| page.strip_prefix(&docs).ok().map(Path::to_owned));
    let missing: Vec<PathBuf> =
        pages.filter(|page| !summary.contains(&format!("({})", page.display()))).collect();
    // The second is about the files of the demo.
    assert_eq!(missing, [Path::new("SUMMARY.md"), Path::new("demo/README.md")]);
}

/// The keys of a table, with those of tables inside it in their place.
fn nested(keys: &[&str], inner: &[(&str, &'static [&'static str])]) -> Vec<String> {
    let one = |key: &&str| match inner.iter().find(|(name, _)| name == key) {
        Some((name, keys)) => keys.iter().map(|key| format!("{name}.{key}")).collect(),
        None => vec![(*key).to_owned()],
    };
    keys.iter().flat_map(one).collect()
}

/// The keys of every table of a config, by the heading that documents them.
fn tables() -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::from([
        ("`[train]`".to_owned(), nested(keys_of::<TrainConfig>(), &[])),
        (
            "`[data]` of samples".to_owned(),
            nested(
                keys_of::<SampleDataConfig>(),
                &[
                    ("split", keys_of::<SampleSplitConfig>()),
                    ("spectrogram", keys_of::<Stft>()),
                    ("log_mel", keys_of::<LogMel>()),
                    ("log", keys_of::<Log>()),
                    ("augment", keys_of::<Augment>()),
                ],
            ),
        ),
        (
            "`[data]` of graphs".to_owned(),
            nested(keys_of::<GraphDataConfig>(), &[("split", keys_of::<GraphSplitConfig>())]),
        ),
        (
            "`[data]` of stories".to_owned(),
            nested(keys_of::<StoryDataConfig>(), &[("split", keys_of::<StorySplitConfig>())]),
        ),
        ("`[data]` of algorithms".to_owned(), nested(keys_of::<AlgorithmDataConfig>(), &[])),
    ]);
    let nets = [
        ("feedforward", keys_of::<FeedForwardConfig<usize>>()),
        ("autoencoder", keys_of::<AutoEncoderConfig>()),
        ("sequence-classifier", keys_of::<SequenceClassifierConfig>()),
        ("sequence-regressor", keys_of::<SequenceRegressorConfig<usize>>()),
        ("sequence-labeller", keys_of::<SequenceLabellerConfig<usize>>()),
        ("seq2seq", keys_of::<Seq2SeqConfig>()),
        ("column-net", keys_of::<ColumnNetConfig>()),
        ("gcn", keys_of::<GcnConfig>()),
        ("chebyshev", keys_of::<ChebyshevNetConfig>()),
        ("turing-machine", keys_of::<TuringMachineConfig>()),
        ("memory-network", keys_of::<MemoryNetworkConfig>()),
        ("end-to-end-memory", keys_of::<EndToEndConfig>()),
    ];
    assert_eq!(nets.map(|(kind, _)| kind).to_vec(), NETS.iter().map(|net| net.name).collect::<Vec<_>>());
    for (kind, keys) in nets {
        tables.insert(format!("`[model]` of `{kind}`"), nested(keys, &[]));
    }
    tables
}

#[test]
fn key_tables_name_the_keys_that_configs_have() {
    let mut documented: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for document in documents().into_iter().filter(|path| path.starts_with(root().join("docs"))) {
        let text = std::fs::read_to_string(&document).unwrap();
        let mut table = None;
        for line in prose(&text) {
            if let Some(heading) = line.strip_prefix('#') {
                table = Some(heading.trim_start_matches('#').trim().to_owned());
            }
            let Some(key) = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |")) else {
                continue;
            };
            documented.entry(table.clone().unwrap_or_default()).or_default().push(key.0.to_owned());
        }
    }
    for (heading, keys) in tables() {
        let found = documented.get(&heading).cloned().unwrap_or_default();
        let (mut found, mut keys) = (found, keys);
        found.sort();
        keys.sort();
        assert_eq!(found, keys, "{heading}");
    }
}

/// Whether the code of a document, between its fences, stands in this file, all lines moved to the right alike.
fn shows_tested_code(document: &str) {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let shown: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "```rust")
        .skip(1)
        .take_while(|line| *line != "```")
        .collect();
    assert!(!shown.is_empty(), "{document} shows no code");
    let indented = |line: &&str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let here: String = shown.iter().map(indented).collect();
    assert!(SOURCE.contains(&here), "{document} shows other code than is tested here");
}

#[test]
#[rustfmt::skip]
fn a_net() -> Result<(), Box<dyn Error>> {
    shows_tested_code("docs/getting-started.md");

    use burn::tensor::{Device, Tensor};
    use matnet::prelude::*;

    let device = Device::flex();
    // 28×28 → 30 layers of 20×20 → 10 classes
    let net = FeedForwardConfig::new([28, 28], [20, 20], 10)
        .with_depth(Some(30))
        .init(&mut SeededRng::new(42, "init"), &device)?;
    let scores = net.forward(Tensor::ones([8, 28, 28], &device), &mut Mode::Eval);
    assert_eq!(scores.dims(), [8, 10]);
    Ok(())
}

#[test]
#[rustfmt::skip]
fn a_run() -> Result<(), Box<dyn Error>> {
    shows_tested_code("docs/training.md");
    let folder = tempfile::tempdir()?;
    std::env::set_current_dir(folder.path())?;

    use burn::tensor::Device;
    use matnet_data::catalog::{self, Cache, LoadOptions};
    use matnet_train::{Document, Options, Planner, Run};

    let config = "
        [data]
        source = 'optdigits'
        [model]
        kind = 'feedforward'
        hidden = [10, 10]
    ";
    let mut document = Document::parse(config)?; // Document::read opens a file
    document.set("train.epochs=1")?;

    let cache = Cache::standard()?;
    let plan = Planner::default().plan(&document, &cache)?;
    let run = Run::at("runs/from-rust");
    let outcome = plan.train(&run, &Options::default(), &mut ())?;
    println!("test error {:?}", outcome.result.test.and_then(|test| test.error));

    let net = run.load("best.safetensors", &Device::flex())?;
    let digits = catalog::load("optdigits", &cache, LoadOptions::default())?.into_samples()?;
    let predictions = net.predict(digits.inputs)?;
    println!("{:?}", &predictions.classes[..10]);
    Ok(())
}
