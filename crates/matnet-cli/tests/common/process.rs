//! Starting commands from tests; those of `matnet-reproduce` include this file too.

use std::path::Path;
use std::process::{Child, Command, Stdio};
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

/// The variables of all launchers, so that those around the test do not count.
const VARIABLES: [&str; 13] = [
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "RANK",
    "WORLD_SIZE",
    "JOB_COMPLETION_INDEX",
];

/// A command in surroundings with these variables of launchers only.
pub fn launched(mut command: Command, variables: &str) -> Command {
    VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.envs(variables.split(' ').filter_map(|pair| pair.split_once('=')));
    command
}

/// Starts a command as eight launchers would, and kills three of the processes after some milliseconds. Gives how many of these
/// were still alive; all others end well.
fn eight_with_kills(command: &impl Fn() -> Command, wait: u64) -> usize {
    let launchers = [
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1",
        "SLURM_PROCID=1 SLURM_NTASKS=8",
        "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=8",
        "PMI_RANK=3 PMI_SIZE=8",
        "JOB_COMPLETION_INDEX=4",
        "RANK=5 WORLD_SIZE=8",
        "JOB_COMPLETION_INDEX=6 WORLD_SIZE=8",
    ];
    let parts = launchers.iter().map(|launcher| ("auto", *launcher)).chain([("8/8", "")]);
    let start = |(part, launcher)| {
        let mut command = launched(command(), launcher);
        command.args(["--part", part]).stdout(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<Child> = parts.map(start).collect();
    let mut killed = 0;
    for victim in [0, 3, 7] {
        std::thread::sleep(Duration::from_millis(wait));
        killed += usize::from(children[victim].try_wait().unwrap().is_none());
        let _ = children[victim].kill();
    }
    for (at, mut child) in children.into_iter().enumerate() {
        let status = child.wait().unwrap();
        assert!(status.success() || [0, 3, 7].contains(&at), "process {at}: {status}");
    }
    killed
}

/// Works with eight processes, of which at least one is killed at work, however fast the machine is.
pub fn kill_some_of_eight(command: &impl Fn() -> Command, out: &Path) {
    let mut wait = 150;
    while eight_with_kills(command, wait) == 0 {
        std::fs::remove_dir_all(out).unwrap();
        wait /= 2;
    }
}
