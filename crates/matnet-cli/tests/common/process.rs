//! Starting commands from tests; those of `matnet-reproduce` include this file too.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit code, standard output, standard error.
pub fn output(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Starts a command and kills it after `wait` milliseconds, again and again with a longer wait, until it ends by itself.
/// Returns how often it was killed.
pub fn kill_until_done(command: &impl Fn() -> Command, mut wait: u64) -> usize {
    for kills in 0.. {
        let mut child = command().stdout(Stdio::null()).spawn().unwrap();
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

/// As [`kill_until_done`], but at least `times` times however fast the machine is: where the command ends sooner, it starts
/// again without the folder that it writes, and is killed after half the time.
pub fn kill_at_least(times: usize, command: impl Fn() -> Command, out: &Path, mut wait: u64) {
    while kill_until_done(&command, wait) < times {
        std::fs::remove_dir_all(out).unwrap();
        wait /= 2;
    }
}
