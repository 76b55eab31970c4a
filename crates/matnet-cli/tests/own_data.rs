//! The page "Your own data" works as it stands: its Python writes the files, where there is a Python with NumPy, and its configs
//! train. Without one, the files are written here, with the same names and shapes.

mod common;

use std::path::Path;
use std::process::Command;

use common::run;
use matnet_data::format::npy::{write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

/// The code blocks of a language in a section of the page.
fn blocks<'a>(section: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    section.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// A Python that has NumPy.
fn python() -> Option<String> {
    let named = std::env::var("MATNET_PYTHON").ok();
    let candidates = named.into_iter().chain(["python3".to_owned(), "python".to_owned()]);
    candidates.into_iter().find(|python| {
        let numpy = Command::new(python).args(["-c", "import numpy"]).output();
        numpy.is_ok_and(|output| output.status.success())
    })
}

/// What the Python of the page would write, as far as shapes and types go.
fn write_instead(folder: &Path) {
    let noise = |count: usize| -> Vec<f32> {
        (0..count).map(|at| ((at * 7919 + at * at * 31) % 1009) as f32 / 504.5 - 1.0).collect()
    };
    let integers =
        |count: usize, below: usize| -> Vec<i64> { (0..count).map(|at| (at % below) as i64).collect() };
    let npz = |name: &str| NpzWriter::new(std::fs::File::create(folder.join(name)).unwrap());
    let mut bands = npz("bands.npz");
    bands.add("x", |mut out| write_f32(&mut out, &[600, 16, 16], &noise(600 * 256))).unwrap();
    bands.add("y", |mut out| write_i64(&mut out, &[600], &integers(600, 3))).unwrap();
    bands.finish().unwrap();
    let mut waves = npz("waves.npz");
    let lengths: Vec<i64> = (0..400).map(|at| 12 + at % 19).collect();
    waves.add("x", |mut out| write_f32(&mut out, &[400, 30, 4, 5], &noise(400 * 600))).unwrap();
    waves.add("y", |mut out| write_i64(&mut out, &[400], &integers(400, 2))).unwrap();
    waves.add("length", |mut out| write_i64(&mut out, &[400], &lengths)).unwrap();
    waves.add("group", |mut out| write_i64(&mut out, &[400], &integers(400, 20))).unwrap();
    waves.finish().unwrap();
    let mut sizes = npz("sizes.npz");
    sizes.add("x", |mut out| write_f32(&mut out, &[800, 12, 6], &noise(800 * 72))).unwrap();
    sizes.add("y", |mut out| write_f32(&mut out, &[800, 2], &noise(1600))).unwrap();
    sizes.finish().unwrap();
    let mut tags = npz("tags.npz");
    tags.add("x", |mut out| write_f32(&mut out, &[600, 8, 5], &noise(600 * 40))).unwrap();
    tags.add("y", |mut out| write_i64(&mut out, &[600, 3], &integers(1800, 2))).unwrap();
    tags.finish().unwrap();
    let rows: String =
        (0..2000).map(|t| format!("{},{}\n", (t as f32 / 8.0).sin(), (t as f32 / 11.0).cos())).collect();
    std::fs::write(folder.join("series.csv"), format!("a,b\n{rows}")).unwrap();
}

#[test]
fn the_page_on_your_own_data_works_as_it_stands() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data.md")).unwrap();
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let python = python();
    if python.is_none() {
        eprintln!("no Python with NumPy: the arrays are written here");
        write_instead(folder);
    }
    let samples = page.split("\n## ").find(|section| section.starts_with("Samples")).unwrap();
    let mut configs = 0;
    for section in samples.split("\n### ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        if let Some(python) = &python {
            for code in blocks(section, "python") {
                let output = Command::new(python).current_dir(folder).args(["-c", code]).output().unwrap();
                assert!(output.status.success(), "{title}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
        for (at, config) in blocks(section, "toml").into_iter().enumerate() {
            std::fs::write(folder.join("mine.toml"), config).unwrap();
            let out = format!("run-{configs}-{at}");
            let (code, said, err) =
                run(folder, &["train", "mine.toml", "-q", "--out", &out, "--set", "train.epochs=2"]);
            assert_eq!(code, 0, "{title}: {err}");
            assert!(said.starts_with(&format!("{out}: test ")), "{title}: {said}");
            let source = config.split('"').nth(1).unwrap();
            let (code, _, err) = run(folder, &["predict", &out, "--input", source, "--output", "y.csv"]);
            assert_eq!(code, 0, "{title}: {err}");
            configs += 1;
        }
    }
    assert_eq!(configs, 5, "the examples of the page");
}
