//! The Rust code that the documents show compiles and runs: it stands here word for word.

use std::error::Error;
use std::path::Path;

/// This file.
const SOURCE: &str = include_str!("documents.rs");

/// Whether the code of a document, between its fences, stands in this file, all lines moved to the right alike.
fn check(document: &str) {
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

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn a_net() -> Result<(), Box<dyn Error>> {
    check("README.md");

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
fn a_run() -> Result<(), Box<dyn Error>> {
    check("docs/training.md");
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("experiments"))?;
    std::fs::copy(root().join("experiments/twins.toml"), folder.path().join("experiments/twins.toml"))?;
    std::env::set_current_dir(folder.path())?;

    use burn::tensor::Device;
    use matnet_data::cache::Cache;
    use matnet_train::config::Document;
    use matnet_train::run::Plan;
    use matnet_train::{Options, Run, train};

    let config = std::fs::read_to_string("experiments/twins.toml")?;
    let mut document = Document::parse(&config)?.variant("matrix")?;
    document.set("train.epochs=1")?;
    let plan = Plan::new(&document, &Cache::standard()?)?;
    let run = Run::at("runs/from-rust");
    let outcome = train(&plan, &run, &Options::default(), &mut ())?;
    println!("test error {:?}", outcome.result.test.and_then(|test| test.error));

    let trained = run.trained("best.safetensors", &Device::flex())?;
    let answers = trained.answer(matnet_data::shipped::digits()?.inputs)?;
    println!("{:?}", &answers.classes[..10]);
    Ok(())
}
