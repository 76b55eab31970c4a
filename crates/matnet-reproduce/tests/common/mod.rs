//! What the tests of the command share.

#[path = "../../../matnet-cli/tests/common/process.rs"]
mod process;

use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

/// The command with these arguments, to be started in a folder.
pub fn reproduce(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("matnet-reproduce"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    process::output(reproduce(folder, args))
}

/// Starts a command and kills it, again and again, until it finishes. Returns how often it was killed.
pub fn kill_until_done(folder: &Path, args: &[&str], wait: u64) -> usize {
    process::kill_until_done(|| reproduce(folder, args), wait)
}
