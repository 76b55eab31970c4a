//! Helpers that the tests of the command share.
#![allow(dead_code)] // Each test file uses some of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

/// The command with these arguments, in a working directory.
pub fn matnet(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("matnet"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = matnet(folder, args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// The files of a finished run that must be reproducible: all but times, the lock, and the report, whose title is the folder.
pub fn bytes(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(run).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !["times.csv", ".lock", "report.html"].contains(&name.as_str()) {
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

/// Starts a command and kills it after `wait` milliseconds, again and again with a longer wait, until it ends by itself.
/// Returns how often it was killed.
pub fn kill_until_done(folder: &Path, args: &[&str], mut wait: u64) -> usize {
    for kills in 0.. {
        let mut child = matnet(folder, args).stdout(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(wait) {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success());
                return kills;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Longer each time, so that it ends however slow the machine is.
        wait += 5 + wait / 8;
    }
    unreachable!()
}
