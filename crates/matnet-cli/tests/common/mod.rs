//! What the tests of the command share.

use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

/// The command with these arguments, to be started in a folder.
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
