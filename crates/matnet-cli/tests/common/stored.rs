//! Commands on data that stay in their files, in place of being read into memory, from a size on that is given in bytes.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{process, same};

/// Two names of runs, and from what size on their data stay in their files: any, or none.
pub const LIMITS: [(&str, &str); 2] = [("stored", "0"), ("loaded", "1000000000000")];

fn matnet(folder: &Path, args: &[&str], above: &str) -> Command {
    let mut command = super::matnet(folder, args);
    command.env("MATNET_STREAM_ABOVE", above);
    command
}

/// Runs a command that must succeed; gives its output.
pub fn ok(folder: &Path, args: &[&str], above: &str) -> String {
    let (code, out, err) = process::output(matnet(folder, args, above));
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

/// Runs a command that must fail; gives its error.
pub fn error(folder: &Path, args: &[&str], above: &str) -> String {
    let (code, _, err) = process::output(matnet(folder, args, above));
    assert!(code == 1 || code == 2, "{args:?}: {code} {err}");
    err
}

/// Asserts that so many epochs of `c.toml` from files, killed at least twice, end in the bytes of those from memory.
pub fn same_when_killed(folder: &Path, epochs: usize) {
    let epochs = format!("train.epochs={epochs}");
    let train = ["train", "c.toml", "-q", "--set", &epochs, "--out"];
    ok(folder, &[&train[..], &["whole"]].concat(), LIMITS[1].1);
    let killed = [&train[..], &["killed", "--save-every", "0"]].concat();
    process::kill_at_least(2, || matnet(folder, &killed, "0"), &folder.join("killed"), 100);
    same(&folder.join("whole"), &folder.join("killed"));
}

/// Asserts that a training of `c.toml` ends with an error if a file of its data becomes shorter meanwhile.
pub fn fails_when_cut_off(folder: &Path, file: &str, bytes: u64) {
    let args = ["train", "c.toml", "-q", "--set", "train.epochs=1000000", "--out", "x", "--save-every", "0"];
    let child = matnet(folder, &args, "0").stderr(Stdio::piped()).spawn().unwrap();
    while !folder.join("x/last.ckpt").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    File::options().write(true).open(folder.join(file)).unwrap().set_len(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(err.trim(), format!("error: {file}: was cut off while it was read"));
}
