//! Helpers that the tests of the command share.
#![allow(dead_code)] // Each test file uses some of them.

pub mod process;
pub mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

/// The mean column net, all nodes at once.
pub const PAPERS: &str = "
[data]
source = 'citations'
[model]
kind = 'column-net'
hidden = 5
depth = 3
dropout = 0.2
[train]
epochs = 3
";

/// A Turing machine.
pub const COPY: &str = "
[data]
source = 'copy'
width = 3
length = [1, 4]
sequences_per_epoch = 16
valid_sequences = 4
test_sequences = 4
[model]
kind = 'turing-machine'
hidden = [4, 3]
slots = 6
slot_width = 3
[train]
epochs = 2
batch_size = 8
";

/// A small net that trains in a moment.
pub const SMALL: &str = "
[data]
source = 'optdigits'
limit = 80
[model]
kind = 'feedforward'
hidden = [3, 3]
[train]
epochs = 2
batch_size = 20
";

/// A recurrent net on sequences of different lengths.
pub const VOWELS: &str = "
[data]
source = 'vowels'
limit = 60
[model]
kind = 'sequence-classifier'
hidden = [4, 3]
[train]
epochs = 2
batch_size = 20
";

/// An encoder and a decoder.
pub const FRAMES: &str = "
[data]
source = 'moving-digits'
sequences = 24
context_length = 4
split = { valid = 4, test = 4 }
[model]
kind = 'seq2seq'
hidden = [4, 4]
cell = 'gru'
[train]
epochs = 2
batch_size = 8
";

/// The command with these arguments, in a working directory.
pub fn matnet(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("matnet"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    process::output(matnet(folder, args))
}

/// An empty folder with a config, `digits.toml`.
pub fn folder_with(config: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    std::fs::write(path.join("digits.toml"), config).unwrap();
    (folder, path)
}

/// Runs a command that must succeed; gives its output.
pub fn ok(folder: &Path, args: &[&str]) -> (String, String) {
    let (code, out, err) = run(folder, args);
    assert_eq!(code, 0, "{args:?}: {err}");
    (out, err)
}

/// Every file below a folder that must be reproducible: all but times, locks and reports, whose titles are folders.
pub fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(root: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for (name, bytes) in bytes(folder) {
            all.insert(folder.strip_prefix(root).unwrap().join(name), bytes);
        }
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                collect(root, &entry.path(), all);
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(folder, folder, &mut all);
    all
}

/// The files of a finished run that must be reproducible: all but times, the lock, and the report, whose title is the folder.
pub fn bytes(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(run).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && !["times.csv", ".lock", "report.html"].contains(&name.as_str()) {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Asserts that two runs have the same files, to the last bit.
pub fn same(a: &Path, b: &Path) {
    let (a, b) = (bytes(a), bytes(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{name} differs");
    }
}

/// Starts a command and kills it, again and again, until it ends by itself. Returns how often it was killed.
pub fn kill_until_done(folder: &Path, args: &[&str], wait: u64) -> usize {
    process::kill_until_done(&|| matnet(folder, args), wait)
}

/// Kills a command at least so many times, first after `wait` milliseconds, until it ends by itself; it writes the folder `out`.
pub fn kill_at_least(times: usize, folder: &Path, args: &[&str], out: &str, wait: u64) {
    process::kill_at_least(times, || matnet(folder, args), &folder.join(out), wait);
}

/// Asserts that a training ends in the same bytes on one, two and three threads.
pub fn same_on_any_number_of_threads(folder: &Path, args: &[&str]) {
    for threads in ["1", "2", "3"] {
        let how = ["-q", "--fresh", "--out", threads, "--threads", threads];
        let (code, out, err) = run(folder, &[&["train"], args, &how].concat());
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with(&format!("{threads}: test error ")), "{out}");
    }
    same(&folder.join("1"), &folder.join("2"));
    same(&folder.join("1"), &folder.join("3"));
}

/// The losses in `metrics.csv`.
pub fn losses(run: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
}

/// Asserts that four epochs, and two that are extended by two, end in the same bytes.
pub fn same_when_extended(folder: &Path, args: &[&str]) {
    let train = |epochs: &'static str, out: &'static str| {
        ok(folder, &[&["train", "-q", "--epochs", epochs, "--out", out], args].concat());
    };
    train("4", "at-once");
    train("2", "parts");
    train("4", "parts");
    same(&folder.join("at-once"), &folder.join("parts"));
}

/// Asserts that a training which is killed at least twice, first after `wait` milliseconds, ends in the same bytes.
pub fn same_when_killed(folder: &Path, args: &[&str], wait: u64) {
    let train = |out: &[&'static str]| [&["train", "-q"], args, out].concat();
    assert_eq!(run(folder, &train(&["--out", "whole"])).0, 0);
    kill_at_least(2, folder, &train(&["--out", "killed", "--save-every", "0"]), "killed", wait);
    same(&folder.join("whole"), &folder.join("killed"));
}
