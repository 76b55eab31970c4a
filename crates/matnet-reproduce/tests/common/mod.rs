//! What the tests of the command share.

#[path = "../../../matnet-cli/tests/common/process.rs"]
pub mod process;

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

/// Kills a command at least so many times, first after `wait` milliseconds, until it ends by itself; it writes the folder `out`.
pub fn kill_at_least(times: usize, folder: &Path, args: &[&str], out: &str, wait: u64) {
    process::kill_at_least(times, || reproduce(folder, args), &folder.join(out), wait);
}
