//! Runs with one damaged file, and everything that commands do with a run. The tests try random damage; the fuzz target `runs` looks for
//! more.
//!
//! The rest of an input replaces a file, or edits it. Half of the inputs get valid checksums afterwards, or damage would never
//! get past them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::format::{npy, npz::NpzWriter};
use matnet_train::compare::RunSeries;
use matnet_train::report::series_page;
use matnet_train::run::BEST;
use matnet_train::task::EvalOptions;
use matnet_train::{Document, Options, Plan, Planner, Run, Split};
use safetensors::tensor::{SafeTensors, TensorView};
use serde_json::Value;
use sha2::{Digest, Sha256};

const FILES: [&str; 8] = [
    "config.toml",
    "result.json",
    "split.json",
    "metrics.csv",
    "times.csv",
    BEST,
    "last.safetensors",
    "last.ckpt",
];
const NO_CHECKSUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Finished runs of three kinds, with the bytes of their files.
struct Runs {
    _folder: tempfile::TempDir,
    cache: Cache,
    runs: Vec<Trained>,
}

struct Trained {
    folder: PathBuf,
    source: Option<String>,
    files: HashMap<&'static str, Vec<u8>>,
    plan: Box<dyn Plan>,
}

thread_local! {
    static RUNS: Runs = make();
}

fn npz(path: &Path, arrays: &[(&str, &[usize], Vec<f32>)]) {
    let mut writer = NpzWriter::new(Vec::new());
    for (name, shape, values) in arrays {
        writer.add(name, |out| npy::write_f32(&mut { out }, shape, values)).unwrap();
    }
    fs::write(path, writer.finish().unwrap()).unwrap();
}

fn make() -> Runs {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let samples = folder.path().join("samples.npz");
    let numbers = |count: usize, most: usize| (0..count).map(|i| (i * 7 % most) as f32).collect::<Vec<f32>>();
    npz(&samples, &[("x", &[12, 3, 2], numbers(72, 11)), ("y", &[12], numbers(12, 2))]);
    let graph = folder.path().join("graph.npz");
    npz(
        &graph,
        &[
            ("features", &[8, 3], numbers(24, 5)),
            ("edges", &[8, 2], numbers(16, 8)),
            ("labels", &[8], numbers(8, 2)),
        ],
    );
    let configs = [
        format!(
            "[data]\nsource = '{}'\n[model]\nkind = 'feedforward'\nhidden = [2, 2]\n[train]\nepochs = 1\nbatch_size = 4",
            samples.display()
        ),
        format!(
            "[data]\nsource = '{}'\n[model]\nkind = 'gcn'\nhidden = [2]\n[train]\nepochs = 1\n",
            graph.display()
        ),
        "[data]\nsource = 'copy'\nwidth = 2\nlength = [1, 2]\nsequences_per_epoch = 4\nvalid_sequences = 2\n\
         test_sequences = 2\nextrapolation_length = 3\n[model]\nkind = 'turing-machine'\nform = 'vector'\nhidden = [2]\nslots = 4\n\
         slot_width = 2\n[train]\nepochs = 1\nbatch_size = 2"
            .to_owned(),
    ];
    let cache = Cache::new(folder.path().join("cache"));
    let runs = configs.iter().enumerate().map(|(at, text)| {
        let document = Document::parse(text).unwrap();
        let plan =
            Planner::default().plan(&document, &cache).unwrap_or_else(|error| panic!("{text}: {error}"));
        let folder = folder.path().join(format!("run-{at}"));
        plan.train(&Run::at(&folder), &Options::default(), &mut ()).unwrap();
        let files = FILES.into_iter().map(|name| (name, fs::read(folder.join(name)).unwrap())).collect();
        Trained { folder, source: document.source().map(str::to_owned), files, plan }
    });
    let runs = runs.collect();
    Runs { _folder: folder, cache, runs }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The original with insertions and deletions at places that the input names.
fn edited(original: &[u8], mut edits: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    while let [high, low, delete, insert, rest @ ..] = edits {
        let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
        let end = (at + usize::from(delete % 16)).min(bytes.len());
        let count = usize::from(insert % 16).min(rest.len());
        bytes.splice(at..end, rest[..count].iter().copied());
        edits = &rest[count..];
    }
    bytes
}

/// Weights or a checkpoint with a valid checksum, and perhaps that of another config.
fn signed(bytes: &[u8], config: Option<&str>) -> Option<Vec<u8>> {
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let entry = header.metadata().as_ref()?.get("matnet")?.clone();
    let (_, text) = entry.split_once(' ')?;
    let mut text = text.to_owned();
    if let Some(config) = config {
        let mut value: Value = serde_json::from_str(&text).ok()?;
        *value.get_mut("config")? = config.into();
        text = value.to_string();
    }
    let mut views: Vec<(String, TensorView)> = tensors.tensors();
    views.sort_by(|a, b| a.0.cmp(&b.0));
    let mut sha = Sha256::new();
    let mut add = |part: &[u8]| {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    };
    for (name, view) in &views {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    add(text.as_bytes());
    let sum: String = sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    safetensors::serialize(views, Some(HashMap::from([("matnet".to_owned(), format!("{sum} {text}"))]))).ok()
}

/// A result with valid checksums of itself and of the files beside it.
fn signed_result(bytes: &[u8], folder: &Path) -> Option<Vec<u8>> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let mut value: Value = serde_json::from_str(&text).ok()?;
    for name in ["config.toml", "split.json", "metrics.csv"] {
        *value.get_mut("sha256")?.get_mut(name)? = hex(&fs::read(folder.join(name)).ok()?).into();
    }
    *value.get_mut("result_sha256")? = NO_CHECKSUM.into();
    let text = value.to_string();
    Some(text.replace(NO_CHECKSUM, &hex(text.as_bytes())).into_bytes())
}

/// Uses a damaged run; the first byte of the input chooses the run and the file, the second how it is damaged.
pub fn try_input(data: &[u8]) {
    if let [choice, how, rest @ ..] = data {
        RUNS.with(|Runs { cache, runs, .. }| {
            damage(&runs[usize::from(*choice) / FILES.len() % runs.len()], cache, *choice, *how, rest);
        });
    }
}

/// Damages one file of a run, uses the run, and mends it again.
fn damage(trained: &Trained, cache: &Cache, choice: u8, how: u8, rest: &[u8]) {
    let name = FILES[usize::from(choice) % FILES.len()];
    let folder = &trained.folder;
    let mut bytes = match how & 1 {
        0 => rest.to_vec(),
        _ => edited(&trained.files[name], rest),
    };
    let sign = how & 2 == 2;
    if sign && (name.ends_with(".ckpt") || name.ends_with(".safetensors")) {
        bytes = signed(&bytes, None).unwrap_or(bytes);
    }
    fs::write(folder.join(name), &bytes).unwrap();
    if sign && name == "config.toml" {
        for weights in [BEST, "last.safetensors"] {
            let signed = signed(&trained.files[weights], Some(&hex(&bytes))).unwrap();
            fs::write(folder.join(weights), signed).unwrap();
        }
    }
    if sign {
        let result = fs::read(folder.join("result.json")).unwrap();
        fs::write(folder.join("result.json"), signed_result(&result, folder).unwrap_or(result)).unwrap();
    }
    use_run(trained, cache);
    for (name, bytes) in &trained.files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Everything that commands do with a run.
fn use_run(trained: &Trained, cache: &Cache) {
    let run = Run::at(&trained.folder);
    let _ = (run.result(), run.metrics(), run.times(), run.data_checksum(), run.difference("a = 1"));
    if let Ok(series) = RunSeries::read(&trained.folder) {
        let _ = series_page(&[series]);
    }
    let device = Device::flex();
    // A damaged config may name other data; what they are is none of this target's business.
    let same = run.document().is_ok_and(|document| document.source().map(str::to_owned) == trained.source);
    for weights in [BEST, "last.safetensors"] {
        let Ok(net) = run.load(weights, &device) else { continue };
        let _ = net.predict(Array::new([1, 3, 2], vec![0.5; 6]).unwrap());
        if let Some(Ok(model)) = same.then(|| net.with_run_data(cache)) {
            let _ = model.evaluate(Split::Test, &EvalOptions::default());
            let _ = model.report(None);
        }
    }
    // The same command resumes, or says why it does not.
    let _ = trained.plan.train(&run, &Options::default(), &mut ());
}
