//! `--part`: several processes on the same runs. Whoever trains them, and whoever is killed, the bytes are the same.

mod common;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{files_below, folder_with, matnet, ok, process, run};

const CONFIG: &str = "
[data]
source = 'digits'
limit = 200
split = { valid = 40, test = 40 }
[model]
kind = 'feedforward'
hidden = [6, 6]
[train]
epochs = 6
batch_size = 20
[variant.matrix]
[variant.vector]
model.form = 'vector'
model.hidden = [12]
[search]
seeds = [101, 102]
train.learning_rate = { min = 1e-3, max = 1e-1, log = true }
model.depth = [1, 2, 3]
";

/// A command in surroundings with these variables of launchers only.
fn launched(folder: &Path, args: &[&str], variables: &str) -> Command {
    process::launched(matnet(folder, args), variables)
}

/// Asserts that two folders hold the same files.
fn same(a: &Path, b: &Path) {
    let (a, b) = (files_below(a), files_below(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{} differs", name.display());
    }
}

/// Works with eight processes, of which some are killed at work.
fn kill_some_of_eight(folder: &Path, args: &[&str], out: &str) {
    process::kill_some_of_eight(&|| matnet(folder, args), &folder.join(out));
}

#[test]
fn eight_processes_train_a_comparison_and_the_killed_ones_leave_no_trace() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["compare", "digits.toml", "--seeds", "5", "-q", "--threads", "1", "--out"];
    let (whole, _) = ok(&folder, &[&args[..], &["whole"]].concat());
    let shared = [&args[..], &["shared", "--save-every", "0"]].concat();
    kill_some_of_eight(&folder, &shared, "shared");
    // If the last of the others ended before a kill, a run is left: another process takes it up.
    let (out, _) = ok(&folder, &[&shared[..], &["--part", "1/1"]].concat());
    assert!(out.starts_with("part 1/1: ") && out.contains(" trained; the same command without"), "{out}");
    assert!(!folder.join("shared/results.csv").exists(), "that is for the command without --part");
    // Nothing is left to train, and the results are those of one process.
    let talking = ["compare", "digits.toml", "--seeds", "5", "--threads", "1", "--out", "shared"];
    let (out, err) = ok(&folder, &talking);
    assert_eq!(err.matches("finished before").count(), 10, "{err}");
    // The table has the seconds, too; its numbers are in results.csv.
    let verdict = |out: &str| out.split("\n\n").nth(1).map(str::to_owned);
    assert_eq!(verdict(&out), verdict(&whole));
    assert!(folder.join("shared/results.csv").exists());
    same(&folder.join("whole"), &folder.join("shared"));
}

#[test]
fn eight_processes_make_the_choice_of_one() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["tune", "digits.toml", "--trials", "7", "-q", "--threads", "1", "--out"];
    let (whole, _) = ok(&folder, &[&args[..], &["whole"]].concat());
    let shared = [&args[..], &["shared", "--save-every", "0"]].concat();
    kill_some_of_eight(&folder, &shared, "shared");
    assert!(!folder.join("shared/best.toml").exists(), "that is for the command without --part");
    let talking = ["tune", "digits.toml", "--trials", "7", "--threads", "1", "--out", "shared"];
    let (out, err) = ok(&folder, &talking);
    assert!(!err.contains(": trial "), "nothing is left to train: {err}");
    assert_eq!(out.replace("shared", "whole"), whole);
    same(&folder.join("whole"), &folder.join("shared"));
}

#[test]
fn a_run_in_other_hands_is_left_to_them_and_a_left_one_taken_up() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["compare", "digits.toml", "--seeds", "2", "-q", "--out"];
    ok(&folder, &[&args[..], &["whole"]].concat());
    let shared = [&args[..], &["shared"]].concat();
    let busy = folder.join("shared/matrix/seed-1");
    std::fs::create_dir_all(&busy).unwrap();
    let lock = File::create(busy.join(".lock")).unwrap();
    lock.lock().unwrap();
    // matrix/seed-1 is in its share, and another process has it.
    let (out, _) = ok(&folder, &[&shared[..], &["--part", "1/2"]].concat());
    let said =
        "part 1/2: 3 runs trained, 1 is being trained by another process; the same command without --part ";
    assert!(out.starts_with(said), "{out}");
    assert!(!busy.join("config.toml").exists());
    let (code, _, err) = run(&folder, &shared);
    assert_eq!((code, err.trim()), (1, "error: shared/matrix/seed-1: another process is training here"));
    drop(lock);
    let (out, _) = ok(&folder, &[&shared[..], &["--part", "2/2"]].concat());
    assert!(out.starts_with("part 2/2: 1 run trained; "), "{out}");
    ok(&folder, &shared);
    same(&folder.join("whole"), &folder.join("shared"));
}

#[test]
fn a_killed_process_leaves_its_run_to_another() {
    let (_temporary, folder) = folder_with(CONFIG);
    let long = ["--set", "train.epochs=40", "-q", "--out"];
    let args = [&["compare", "digits.toml"][..], &long].concat();
    ok(&folder, &[&args[..], &["whole"]].concat());
    let shared = [&args[..], &["shared", "--save-every", "0", "--part"]].concat();
    loop {
        let mut child = launched(&folder, &[&shared[..], &["1/2"]].concat(), "").spawn().unwrap();
        while !folder.join("shared/matrix/last.ckpt").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // On a machine that is faster than this test, again.
        if !folder.join("shared/matrix/result.json").exists() {
            break;
        }
        std::fs::remove_dir_all(folder.join("shared")).unwrap();
    }
    let (out, _) = ok(&folder, &[&shared[..], &["2/2"]].concat());
    assert!(out.starts_with("part 2/2: 2 runs trained; "), "{out}");
    ok(&folder, &[&args[..], &["shared"]].concat());
    same(&folder.join("whole"), &folder.join("shared"));
}

#[test]
fn a_rung_waits_for_its_last_trial() {
    let (_temporary, folder) = folder_with(CONFIG);
    let args = ["tune", "digits.toml", "--trials", "4", "-q", "--out"];
    ok(&folder, &[&args[..], &["whole"]].concat());
    let busy = folder.join("shared/matrix/trial-002/seed-102");
    std::fs::create_dir_all(&busy).unwrap();
    let lock = File::create(busy.join(".lock")).unwrap();
    lock.lock().unwrap();
    let shared = [&args[..], &["shared", "--part", "1/2"]].concat();
    let mut child = launched(&folder, &shared, "").stdout(Stdio::piped()).spawn().unwrap();
    // The other net is trained meanwhile, through all its rungs.
    let other = |trial: &str| folder.join("shared/vector").join(trial).join("seed-102/trial.json");
    let rungs = |file: &Path| std::fs::read_to_string(file).unwrap_or_default().matches("best_epoch").count();
    while (1..=4).all(|trial| rungs(&other(&format!("trial-{trial:03}"))) < 3) {
        assert!(child.try_wait().unwrap().is_none(), "it has not waited");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.try_wait().unwrap().is_none(), "it has not waited");
    for trial in 1..=4 {
        let file = format!("shared/matrix/trial-{trial:03}/seed-101/trial.json");
        assert_eq!(rungs(&folder.join(file)), 1, "trial {trial} is in the first rung");
    }
    // A process that wants the folder alone is kept out.
    let (code, _, err) = run(&folder, &[&args[..], &["shared"]].concat());
    assert_eq!((code, err.trim()), (1, "error: shared: another process is training here"));
    let (code, _, err) = run(&folder, &[&args[..], &["shared", "--fresh"]].concat());
    assert_eq!((code, err.trim()), (1, "error: shared: another process is training here"));
    drop(lock);
    assert!(child.wait().unwrap().success());
    ok(&folder, &[&args[..], &["shared"]].concat());
    same(&folder.join("whole"), &folder.join("shared"));
}

#[test]
fn a_run_that_diverges_does_not_keep_the_others() {
    let (_temporary, folder) = folder_with(CONFIG);
    let set = ["--set", "variant.matrix.train.learning_rate=1e30", "--set", "train.optimizer=\"sgd\""];
    let args = [&["compare", "digits.toml", "-q", "--out", "x", "--part", "1/1"][..], &set].concat();
    let (code, _, err) = run(&folder, &args);
    assert_eq!(code, 1);
    assert!(
        err.contains("failed: ") && err.contains("error: part 1/1: 1 run trained, 1 run failed"),
        "{err}"
    );
    assert!(folder.join("x/vector/result.json").exists());
}

#[test]
fn every_mistake_gets_one_clear_error() {
    let (_temporary, folder) = folder_with(CONFIG);
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--part", "auto"], "", "no launcher says which part this is: Open MPI (OMPI_COMM_WORLD_RANK"),
        (&["--part", "auto"], "RANK=3 WORLD_SIZE=2", "RANK=3, but WORLD_SIZE=2; it counts from 0"),
        (
            &["--part", "auto"],
            "RANK=0 WORLD_SIZE=2 PMI_RANK=1 PMI_SIZE=2",
            "says 2/2, and torchrun and others",
        ),
        (&["--part", "9/8"], "", "K/N with K from 1 to N, or `auto`, expected"),
        (&["--part", "1/2", "--fresh"], "", "cannot be used with '--fresh'"),
        (&["--part", "1/2"], "MATNET_NO_LOCKS=1", "several processes need locks, and MATNET_NO_LOCKS says"),
    ];
    for verb in ["compare", "tune"] {
        for (args, variables, said) in cases {
            let args = [&[verb, "digits.toml"], *args].concat();
            let (code, out, err) = process::output(launched(&folder, &args, variables));
            assert_eq!(code, 2, "{args:?}: {err}");
            assert!(err.contains(said) && out.is_empty(), "{args:?}: {err}");
            assert!(!folder.join("runs").exists(), "{args:?}");
        }
    }
    ok(&folder, &["compare", "digits.toml", "-q", "--set", "train.epochs=1", "--out", "x"]);
    let (code, _, err) = run(&folder, &["compare", "x/matrix", "x/vector", "--part", "1/2"]);
    assert_eq!((code, err.trim()), (2, "error: --part: there is nothing to train; give one config"));
    let (code, _, err) = run(&folder, &["compare", "digits.toml", "--out", "x", "--part", "1/2"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("x/matrix: the folder holds a run with another config (train.epochs = 1, now 6)"),
        "{err}"
    );
}
