//! What the tests of the command share.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

/// The command with these arguments, to be started in a folder.
pub fn reproduce(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("matnet-reproduce"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
pub fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = reproduce(folder, args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Starts a command and kills it, after a time that begins with `wait` milliseconds and grows, until it finishes. Returns
/// how often it was killed.
pub fn kill_until_done(folder: &Path, args: &[&str], mut wait: u64) -> usize {
    for kills in 0.. {
        let mut child = reproduce(folder, args).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(wait) {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success());
                return kills;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Longer each time, so that it finishes in the end however slow the machine is.
        wait += 5 + wait / 8;
    }
    unreachable!()
}
